"""Rows of numbers from frames and mappings, whose columns have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import numbers


def named(data: Any, what: str) -> dict[str, Any] | None:
    """The columns by name of a frame of pandas, polars or PyArrow, a mapping or an array of records; None of what has
    no names.
    """
    library = type(data).__module__.partition(".")[0]
    if isinstance(data, Mapping):
        pairs = list(data.items())
    elif library == "pyarrow" and hasattr(data, "column_names"):
        pairs = list(zip(data.column_names, data.columns, strict=True))
    elif library == "pandas" and hasattr(data, "columns"):
        pairs = [(name, data.iloc[:, at]) for at, name in enumerate(data.columns)]
    elif hasattr(data, "collect_schema") and hasattr(data, "collect"):
        return named(data.collect(), what)
    elif hasattr(data, "columns"):
        pairs = [(name, data[name]) for name in data.columns]
    elif isinstance(data, np.ndarray) and data.dtype.names:
        pairs = [(name, data[name]) for name in data.dtype.names]
    else:
        return None
    columns = {str(name): column for name, column in pairs}
    if len(columns) < len(pairs):
        names = [str(name) for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f'{what}: got two columns "{twice}", expected columns with names of their own')
    return columns


def chosen(columns: dict[str, Any], names: Sequence[str], what: str) -> dict[str, Any]:
    """The columns of these names in this order. Columns x0, x1, … are those of an array, which had no names."""
    absent = [name for name in names if name not in columns]
    if not absent:
        return {name: columns[name] for name in names}
    if len(absent) == len(names) == len(columns) and list(names) == [f"x{at}" for at in range(len(names))]:
        return columns
    raise ValueError(f"{what}: got the columns {', '.join(columns)}, expected {', '.join(names)}")


def stacked(columns: dict[str, Any], what: str) -> np.ndarray:
    """Columns as rows in single precision [rows, columns]; truth values are 0 and 1, missing cells NaN."""
    parts = {name: _column(column, f'{what}: column "{name}"') for name, column in columns.items()}
    if not parts:
        return np.empty((0, 0), dtype=np.float32)
    first, count = next((name, len(part)) for name, part in parts.items())
    rows = np.empty((count, len(parts)), dtype=np.float32)
    for at, (name, part) in enumerate(parts.items()):
        if len(part) != count:
            raise ValueError(f'{what}: column "{name}" has {len(part)} rows, column "{first}" has {count}')
        # A number beyond single precision is infinite there.
        with np.errstate(over="ignore"):
            rows[:, at] = part
    return rows


def _column(column: Any, what: str) -> np.ndarray:
    library = type(column).__module__.partition(".")[0]
    if library == "pandas":
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        is_number = is_numeric_dtype(column.dtype) or is_bool_dtype(column.dtype)
        if is_number and not isinstance(column.dtype, np.dtype):
            column = column.to_numpy(np.float64, na_value=np.nan)
    elif library == "polars":
        import polars as pl

        if column.dtype.is_numeric() or column.dtype == pl.Boolean:
            column = column.cast(pl.Float64).to_numpy()
    elif library == "pyarrow":
        import pyarrow as pa

        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            column = pa.chunked_array([column]) if isinstance(column, pa.Array) else column
            column = column.cast(pa.float64(), safe=False).to_numpy()
    values = numbers(column, what)
    if values.ndim != 1:
        raise ValueError(f"{what}: got an array with {values.ndim} dimensions, expected one")
    return values


def finite(rows: np.ndarray, call: str) -> np.ndarray:
    """The rows, all of whose numbers have to be finite."""
    is_finite = np.isfinite(rows)
    if not is_finite.all():
        row, column = np.argwhere(~is_finite)[0]
        got = "NaN" if np.isnan(rows[row, column]) else f"{rows[row, column]}"
        raise ValueError(f"{call}: row {row + 1}, column {column + 1}: got {got}, expected a finite number")
    return rows
