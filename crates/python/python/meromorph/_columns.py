"""The columns of a fit, from whatever holds them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _engine
from ._arrays import numbers
from ._frames import _columns, table_of

#: Options whose values may be given as an array instead of the name of a column.
ARRAYS = ("y", "sigma", "sigma_x")


def columns_of(data: Any, reading: Mapping[str, Any] | None = None, what: str = "data") -> _engine.Columns:
    """The columns of a table where they are; texts are those of the CSV file that a frame would be saved as."""
    if isinstance(data, _engine.Columns):
        return data
    if isinstance(data, (str, os.PathLike, _engine.Table)):
        return _engine.Columns.of_table(table_of(data, reading))
    if isinstance(data, Mapping):
        data = {name: _unmasked(values, name, what) for name, values in data.items()}
    columns, text = _columns(data, what)
    texts = [(name, None) for name, array in columns if array is None]
    written = None if text is None else _engine.Table.of(what, texts, text, dict(reading or {}))
    arrays = [(name, None if array is None else numbers(array, f'{what}: column "{name}"')) for name, array in columns]
    return _engine.Columns.of(what, arrays, written)


def _unmasked(values: Any, name: Any, what: str) -> Any:
    is_foreign = isinstance(values, np.ma.MaskedArray) or (
        hasattr(values, "__dlpack__") and not isinstance(values, np.ndarray)
    )
    return numbers(values, f'{what}: column "{name}"') if is_foreign else values


def with_arrays(data: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Options that are arrays become columns of their names."""
    given = {
        name: options[name] for name in ARRAYS if options.get(name) is not None and not isinstance(options[name], str)
    }
    if not given:
        return data, options
    if not isinstance(data, Mapping):
        raise TypeError(
            f"fit: {next(iter(given))}: got an array with a {type(data).__name__}, expected a mapping of columns, "
            "or the name of a column"
        )
    for name in given:
        if name in data:
            raise ValueError(f'fit: {name}: got an array, and data have a column "{name}": expected one of both')
    return {**data, **given}, {**options, **{name: name for name in given}}
