"""Tables from whatever holds columns: a frame is read as the CSV file that pandas would save it as.

Columns of numbers are taken as they are. All others are written as CSV and read like a file: categories, dates, truth
values and missing cells mean here what they mean to the command, and the same in every library.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import Any

import numpy as np

from . import _engine

MISSING_CODE = 0xFFFFFFFF
#: What `reading` can say about the texts of a frame.
OF_FRAMES = ("na", "keep_na", "decimal", "thousands")


def table_of(
    data: Any,
    reading: Mapping[str, Any] | None = None,
    *,
    what: str = "data",
    more: Mapping[str, Any] | None = None,
    is_finite: bool = False,
) -> _engine.Table:
    """The table in a path, a frame, a mapping of columns, an array with two dimensions or a list of mappings.

    `more` are columns after those of the data, as arrays of numbers or as `categories`. With `is_finite` an infinite
    number is an error.
    """
    reading = dict(reading or {})
    if isinstance(data, _engine.Table):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _engine.Table.read(os.fspath(data), reading)
    for name in reading:
        if name not in OF_FRAMES:
            expected = ", ".join(OF_FRAMES)
            raise ValueError(f"reading: {name} is about files, and {what} is none: expected {expected}, or no reading")
    columns, text = _columns(data, what)
    if is_finite:
        for name, cells in columns:
            if cells is not None and np.isinf(cells).any():
                raise ValueError(
                    f'{what}: column "{name}": Input {what} contains infinity, expected finite numbers, or NaN'
                )
    columns += (more or {}).items()
    return _engine.Table.of(what, columns, text, reading)


def categories(codes: np.ndarray, levels: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """A column of texts as the number of the level of each cell, negative for a missing one, and the levels."""
    return np.where(codes < 0, MISSING_CODE, codes).astype(np.uint32), list(levels)


def labels_of(data: Any, name: str) -> str | None:
    """The type of the labels in a column, as a model notes it: `number`, `boolean`, or None for texts."""
    try:
        if _is_rows(data):
            data = {name: [row.get(name) for row in data]}
        is_plain = isinstance(data, np.ndarray) and not data.dtype.names
        column = np.asarray(data[:, int(name[1:])] if is_plain else data[name])
    except (TypeError, KeyError, IndexError, ValueError):
        return None
    if column.dtype.kind == "O":
        cells = [cell for cell in column.tolist() if not _is_missing(cell)]
        if cells and all(isinstance(cell, bool) for cell in cells):
            return "boolean"
        return "number" if cells and all(type(cell) in (int, float) for cell in cells) else None
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(column.dtype.kind)


def _is_rows(data: Any) -> bool:
    """Whether it is a list of mappings."""
    is_list = isinstance(data, Sequence) and not isinstance(data, (str, bytes)) and len(data) > 0
    return is_list and all(isinstance(row, Mapping) for row in data)


def _columns(data: Any, what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    library = type(data).__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(data, what)
    if library == "polars":
        return _of_polars(data, what)
    if library == "pyarrow":
        return _of_arrow(data, what)
    if isinstance(data, Mapping):
        return _of_mapping(data, what)
    if isinstance(data, np.ndarray):
        return _of_array(data, what), None
    if hasattr(data, "__arrow_c_stream__"):
        return _of_polars(_imported("polars", what).DataFrame(data), what)
    if _is_rows(data):
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
    array = unmasked(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{what}: got complex numbers, expected real ones. Complex data not supported")
    if array.dtype.kind == "f" and array.dtype.itemsize in (4, 8) and array.dtype.isnative:
        return array
    if array.dtype == np.float16:
        # The numbers that their shortest texts mean, which a file has of them.
        return np.array([float(str(value)) for value in array.ravel()]).reshape(array.shape)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    raise ValueError(f"{what}: got {_kind(array)}, expected numbers")


def unmasked(values: Any) -> np.ndarray:
    """An array in which masked cells are missing: NaN among numbers, else None."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    mask = np.ma.getmaskarray(values)
    if values.dtype.kind in "fiu":
        return np.where(mask, np.nan, values.data)
    cells: np.ndarray = values.data.astype(object)
    cells[mask] = None
    return cells


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
    written: list[tuple[str, list[str]]] = []
    for name, values in data.items():
        array = unmasked(values)
        place = f'{what}: column "{name}"'
        if array.ndim != 1:
            raise ValueError(f"{place}: got an array with {array.ndim} dimensions, expected one")
        if array.dtype.kind in "fiuc":
            columns.append((str(name), doubles(array, place)))
            continue
        written.append((str(name), _texts(array, str(name), what)))
        columns.append((str(name), None))
    return columns, _csv(written, what) if written else None


def _texts(array: np.ndarray, name: str, what: str) -> list[str]:
    """Cells as pandas writes them."""
    if array.dtype.kind == "M":
        texts = np.datetime_as_string(array).tolist()
        is_date = all(text == "NaT" or text[10:].strip("T0:.") == "" for text in texts)
        return ["" if text == "NaT" else text[:10] if is_date else text.replace("T", " ") for text in texts]
    if array.dtype.kind == "m":
        return [_duration(cell) for cell in array.astype("timedelta64[us]").tolist()]
    return _cells(array.tolist(), name, what)


def _cells(cells: Sequence[Any], name: str, what: str) -> list[str]:
    """Cells of any type as pandas writes them. Raises ValueError for lists and other objects."""
    if any(isinstance(cell, timedelta) for cell in cells):
        return [
            _duration(cell) if isinstance(cell, timedelta) else _cell(cell, name, row, what)
            for row, cell in enumerate(cells)
        ]
    moments = [cell for cell in cells if isinstance(cell, datetime) and not _is_missing(cell)]
    is_date = bool(moments) and all(cell.tzinfo is None and cell.time() == time() for cell in moments)
    if is_date:
        cells = [cell.date() if isinstance(cell, datetime) and not _is_missing(cell) else cell for cell in cells]
    return [_cell(cell, name, row, what) for row, cell in enumerate(cells)]


def _duration(span: timedelta | None) -> str:
    """A duration as pandas writes it: `1 days 02:00:00`."""
    if _is_missing(span):
        return ""
    assert span is not None
    seconds, rest = divmod(span.seconds, 60)
    hours, minutes = divmod(seconds, 60)
    fraction = f".{span.microseconds:06}" if span.microseconds else ""
    return f"{span.days} days {hours:02}:{minutes:02}:{rest:02}{fraction}"


def _is_missing(cell: Any) -> bool:
    """Whether a cell is None, NaN, NaT or NA."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def _cell(cell: Any, name: str, row: int, what: str) -> str:
    """A cell as a file would have it. Lists and other objects have no text that could be read again."""
    if _is_missing(cell):
        return ""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "replace")
    is_plain = isinstance(cell, (str, bool, int, float)) or type(cell).__name__ in ("Decimal", "Interval", "Period")
    if is_plain or hasattr(cell, "isoformat"):
        return str(cell)
    if isinstance(cell, np.generic):
        return str(cell.item())
    got = f'{what}: row {row + 1}: column "{name}" is a value of type {type(cell).__name__}'
    raise ValueError(f"{got}, expected a number, a text, a truth value or a date")


def _csv(columns: Sequence[tuple[str, Sequence[str]]], what: str) -> bytes:
    """Columns as CSV, after a column of row numbers: without it a row whose cells are all missing is a blank line."""
    (first, cells), *others = columns
    for name, more in others:
        if len(more) != len(cells):
            raise ValueError(f'{what}: column "{name}" has {len(more)} rows, column "{first}" has {len(cells)}')
    out = io.StringIO()
    # With this end of a line, cells that hold either of its characters are quoted.
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_unused([name for name, _ in columns]), *(name for name, _ in columns)])
    writer.writerows(zip(range(len(cells)), *(cells for _, cells in columns), strict=True))
    return out.getvalue().encode()


def _unused(names: Sequence[str]) -> str:
    """A name that no column has."""
    name = "row"
    while name in names:
        name += "_"
    return name


def _of_pandas(frame: Any, what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    if frame.ndim == 1:
        frame = frame.to_frame()
    import pandas as pd

    columns: list[tuple[str, Any]] = []
    written: list[int] = []
    for at, name in enumerate(frame.columns):
        series = frame.iloc[:, at]
        dtype, place = series.dtype, f'{what}: column "{name}"'
        if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
            if getattr(dtype, "kind", "f") == "c":
                raise ValueError(f"{place}: got complex numbers, expected real ones")
            single = np.float32 if str(dtype) == "Float32" else np.float64
            numbers = series.to_numpy() if isinstance(dtype, np.dtype) else series.to_numpy(single, na_value=np.nan)
            columns.append((str(name), doubles(numbers, place)))
            continue
        if isinstance(dtype, np.dtype) and dtype.kind == "O":
            for row, cell in enumerate(series.tolist()):
                _cell(cell, str(name), row, what)
        written.append(at)
        columns.append((str(name), None))
    if not written:
        return columns, None
    names = [str(frame.columns[at]) for at in written]
    # Numbers of the rows come first: without them a row whose cells are all missing is a blank line.
    texts = frame.iloc[:, written].reset_index(drop=True).set_axis(names, axis=1)
    return columns, texts.to_csv(index_label=_unused(names), lineterminator="\r\n").encode()


def _of_polars(frame: Any, what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.Series):
        frame = frame.to_frame()
    columns: list[tuple[str, Any]] = []
    written: list[tuple[str, list[str]]] = []
    for name, dtype in frame.schema.items():
        column, place = frame[name], f'{what}: column "{name}"'
        if dtype.is_numeric() and not dtype.is_decimal():
            single = dtype == pl.Float32
            columns.append((name, doubles(column.cast(pl.Float32 if single else pl.Float64).to_numpy(), place)))
            continue
        if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
            raise ValueError(f"{place} is of type {dtype}, expected numbers, texts, truth values or dates")
        is_moment = dtype == pl.Datetime and getattr(dtype, "time_zone", None) is None
        written.append(
            (name, _texts(column.to_numpy(), name, what) if is_moment else _cells(column.to_list(), name, what))
        )
        columns.append((name, None))
    return columns, _csv(written, what) if written else None


def _of_arrow(table: Any, what: str) -> tuple[list[tuple[str, Any]], bytes | None]:
    import pyarrow as pa

    if isinstance(table, pa.RecordBatchReader):
        table = table.read_all()
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    columns: list[tuple[str, Any]] = []
    written: list[tuple[str, list[str]]] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind, place = column.type, f'{what}: column "{name}"'
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            single = pa.types.is_float32(kind)
            numbers = column.cast(pa.float32() if single else pa.float64(), safe=False).to_numpy()
            columns.append((name, doubles(numbers, place)))
            continue
        if pa.types.is_nested(kind) or pa.types.is_binary(kind):
            raise ValueError(f"{place} is of type {kind}, expected numbers, texts, truth values or dates")
        is_moment = pa.types.is_timestamp(kind) and kind.tz is None
        cells = column.to_numpy() if is_moment or pa.types.is_duration(kind) else column.to_pylist()
        written.append(
            (name, _texts(cells, name, what) if isinstance(cells, np.ndarray) else _cells(cells, name, what))
        )
        columns.append((name, None))
    return columns, _csv(written, what) if written else None
