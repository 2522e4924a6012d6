"""Tables from whatever holds columns: a frame is read as the CSV file that pandas would save it as.

Columns of numbers are taken as they are. All others are written as CSV and read like a file: categories, dates, truth
values and missing cells mean here what
they mean to the command, and the same in every library.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _engine

MISSING_CODE = 0xFFFFFFFF


def table_of(
    data: Any,
    reading: Mapping[str, Any] | None = None,
    *,
    what: str = "data",
    more: Mapping[str, Any] | None = None,
) -> _engine.Table:
    """The table in a path, a frame, a mapping of columns, an array with two dimensions or a list of mappings.

    `more` are columns after those of the data, as arrays of numbers or as `categories`.
    """
    reading = dict(reading or {})
    if isinstance(data, _engine.Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _engine.Table.read(os.fspath(data), reading)
    columns, text = _columns(data, what)
    columns += (more or {}).items()
    return _engine.Table.of(what, columns, text, reading)


def categories(codes: np.ndarray, levels: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """A column of texts as the number of the level of each cell, negative for a missing one, and the levels."""
    return np.where(codes < 0, MISSING_CODE, codes).astype(np.uint32), list(levels)


def labels_of(data: Any, name: str) -> str | None:
    """The type of the labels in a column, as a model notes it: `number`, `boolean`, or None for texts."""
    try:
        column = (
            np.asarray(data[name]) if not isinstance(data, np.ndarray) or data.dtype.names else data[:, int(name[1:])]
        )
    except (TypeError, KeyError, IndexError, ValueError):
        return None
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(column.dtype.kind)


def _columns(data: Any, what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(data, what)
    if library == "polars":
        return _of_polars(data)
    if library == "pyarrow":
        return _of_arrow(data)
    if isinstance(data, Mapping):
        return _of_mapping(data, what)
    if isinstance(data, np.ndarray):
        return _of_array(data, what), None
    if hasattr(data, "__arrow_c_stream__"):
        return _of_polars(_imported("polars", what).DataFrame(data))
    if isinstance(data, Sequence) and data and all(isinstance(row, Mapping) for row in data):
        names = list(dict.fromkeys(name for row in data for name in row))
        return _of_mapping({name: [row.get(name) for row in data] for name in names}, what)
    if hasattr(data, "__array__") or isinstance(data, Sequence):
        return _of_array(np.asarray(data), what), None
    raise TypeError(
        f"{what}: got a value of type {type(data).__name__}, expected a path, a frame of pandas, polars or PyArrow, "
        "a mapping of columns, or an array [rows, columns]"
    )


def _imported(name: str, what: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise TypeError(
            f"{what}: a stream of Arrow is read by {name}, which is not installed: pip install {name}"
        ) from None


def doubles(values: Any, what: str) -> np.ndarray:
    """Numbers as an array that the engine reads: f64 and f32 are passed on without a copy, others are converted."""
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{what}: got complex numbers, expected real ones. Complex data not supported")
    if array.dtype.kind == "f" and array.dtype.itemsize in (4, 8) and array.dtype.isnative:
        return array
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    raise ValueError(f"{what}: got {_kind(array)}, expected numbers")


def _kind(array: np.ndarray) -> str:
    names = {"O": "objects", "U": "texts", "S": "bytes", "M": "dates", "m": "durations", "V": "records"}
    return f"an array of {names.get(array.dtype.kind, str(array.dtype))}"


def _of_array(array: np.ndarray, what: str) -> list[tuple[str, Any]]:
    if array.dtype.names:
        return _of_mapping({name: array[name] for name in array.dtype.names}, what)[0]
    if array.ndim != 2:
        raise ValueError(
            f"{what}: got an array with {array.ndim} dimensions, expected two: [rows, columns]. Reshape your data"
        )
    numbers = doubles(array, what)
    return [(f"x{at}", numbers[:, at]) for at in range(array.shape[1])]


def _of_mapping(data: Mapping[Any, Any], what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    columns: list[tuple[str, Any]] = []
    written: dict[str, list[str]] = {}
    for name, values in data.items():
        array = np.asarray(values)
        if array.ndim != 1:
            raise ValueError(f'{what}: column "{name}": got an array with {array.ndim} dimensions, expected one')
        if array.dtype.kind in "fiuc":
            columns.append((str(name), doubles(array, f'{what}: column "{name}"')))
        else:
            written[str(name)] = [_cell(cell, str(name), row, what) for row, cell in enumerate(array.tolist())]
            columns.append((str(name), None))
    return columns, _csv(written, what) if written else None


def _cell(cell: Any, name: str, row: int, what: str) -> str:
    """A cell as a file would have it. Lists and other objects have no text that could be read again."""
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    if isinstance(cell, (str, bool, int, float)) or hasattr(cell, "isoformat") or type(cell).__name__ == "Decimal":
        return str(cell)
    if isinstance(cell, np.generic):
        return str(cell.item())
    got = f'{what}: row {row + 1}: column "{name}" is a value of type {type(cell).__name__}'
    raise ValueError(f"{got}, expected a number, a text, a truth value or a date")


def _csv(columns: Mapping[str, Sequence[str]], what: str) -> bytes:
    import csv

    lengths = {name: len(cells) for name, cells in columns.items()}
    if len(set(lengths.values())) > 1:
        (first, rows), *others = lengths.items()
        name, got = next((name, length) for name, length in others if length != rows)
        raise ValueError(f'{what}: column "{name}" has {got} rows, column "{first}" has {rows}')
    out = io.StringIO()
    # All cells are quoted, so that an only column that is missing is a row as well.
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return out.getvalue().encode()


def _of_pandas(frame: Any, what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    if frame.ndim == 1:
        frame = frame.to_frame()
    import pandas as pd

    columns: list[tuple[str, Any]] = []
    written: list[int] = []
    for at, name in enumerate(frame.columns):
        series = frame.iloc[:, at]
        dtype = series.dtype
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
            kind = getattr(dtype, "kind", "f")
            if kind == "c":
                raise ValueError(f'{what}: column "{name}": got complex numbers, expected real ones')
            numbers = series.to_numpy() if isinstance(dtype, np.dtype) else series.to_numpy(np.float64, na_value=np.nan)
            columns.append((str(name), doubles(numbers, f'{what}: column "{name}"')))
            continue
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            _check_objects(series, str(name), what)
        written.append(at)
        columns.append((str(name), None))
    if not written:
        return columns, None
    texts = frame.iloc[:, written]
    return columns, texts.to_csv(index=False, lineterminator="\n").encode()


def _check_objects(series: Any, name: str, what: str) -> None:
    for row, cell in enumerate(series.tolist()):
        if not isinstance(cell, (str, float, int)) and cell is not None:
            _cell(cell, name, row, what)


def _of_polars(frame: Any) -> tuple[list[tuple[str, Any]], bytes | None]:
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.Series):
        frame = frame.to_frame()
    columns: list[tuple[str, Any]] = []
    written: list[str] = []
    for name, dtype in frame.schema.items():
        if dtype.is_numeric() and not dtype.is_decimal():
            single = dtype == pl.Float32
            numbers = frame[name].cast(pl.Float32 if single else pl.Float64).to_numpy()
            columns.append((name, doubles(numbers, f'column "{name}"')))
        elif dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise ValueError(
                f'data: column "{name}" is of type {dtype}, expected numbers, texts, truth values or dates'
            )
        else:
            written.append(name)
            columns.append((name, None))
            if dtype == pl.Boolean:
                frame = frame.with_columns(pl.col(name).cast(pl.String).str.to_titlecase())
            elif dtype == pl.Datetime and (frame[name].dt.truncate("1d") == frame[name]).all():
                frame = frame.with_columns(pl.col(name).cast(pl.Date))
    text = frame.select(written).write_csv(datetime_format="%Y-%m-%d %H:%M:%S%.f") if written else ""
    return columns, text.encode() if written else None


def _of_arrow(table: Any) -> tuple[list[tuple[str, Any]], bytes | None]:
    import pyarrow as pa
    import pyarrow.csv

    if isinstance(table, pa.RecordBatchReader):
        table = table.read_all()
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    columns: list[tuple[str, Any]] = []
    written: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            single = pa.types.is_float32(kind)
            numbers = column.cast(pa.float32() if single else pa.float64(), safe=False).to_numpy()
            columns.append((name, doubles(numbers, f'column "{name}"')))
        elif pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise ValueError(f'data: column "{name}" is of type {kind}, expected numbers, texts, truth values or dates')
        else:
            written.append(name)
            columns.append((name, None))
    if not written:
        return columns, None
    out = io.BytesIO()
    pyarrow.csv.write_csv(pa.table({name: _plain(table[name]) for name in written}), out)
    return columns, out.getvalue()


def _plain(column: Any) -> Any:
    """A column of Arrow as one that its writer of CSV writes like pandas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_boolean(column.type):
        return pc.if_else(column, "True", "False")
    if (
        pa.types.is_timestamp(column.type)
        and pc.all(pc.equal(pc.floor_temporal(column, unit="day"), column)).as_py() is not False
    ):
        return column.cast(pa.date32())
    return column
