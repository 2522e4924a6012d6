"""Labels as numbers of classes, and classes as the labels that they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

TRUTHS = ("False", "True")
#: Whole numbers up to this are doubles of their own.
EXACT = 2.0**53


def coded(labels: Any, call: str) -> tuple[np.ndarray, list[str], bool]:
    """The class of each label, the names of the classes in order, and whether those are numbers or truth values."""
    array = _labels(labels, call)
    levels, codes = np.unique(array, return_inverse=True)
    return codes.reshape(-1).astype(np.uint32), [_name(level) for level in levels.tolist()], array.dtype.kind != "U"


def codes_among(labels: Any, call: str, names: Sequence[str], is_numeric: bool) -> np.ndarray:
    """The class of each label, all of which have to be among the names."""
    codes, texts, _ = coded(labels, call)
    places = {str(name): at for at, name in enumerate(names)}
    if is_numeric:
        values = {value: at for at, value in enumerate(typed(names, is_numeric).tolist())}
        places |= {text: values[_value(text)] for text in texts if _value(text) in values}
    unknown = [text for text in texts if text not in places]
    if unknown:
        raise ValueError(f'{call}: labels: got "{unknown[0]}", expected one of {", ".join(names)}')
    return np.array([places[text] for text in texts], dtype=np.uint32)[codes]


def typed(names: Sequence[str], is_numeric: bool) -> np.ndarray:
    """The labels of the names of classes: texts, or truth values, whole numbers or numbers."""
    if not is_numeric:
        return np.array(names)
    values = [_value(name) for name in names]
    if all(isinstance(value, bool) for value in values):
        return np.array(values)
    if any(isinstance(value, float) and (not value.is_integer() or abs(value) > EXACT) for value in values):
        return np.array([float(value) for value in values])
    return _whole([int(value) for value in values])


def _value(name: str) -> bool | int | float | str:
    if name in TRUTHS:
        return name == "True"
    if re.fullmatch(r"[+-]?[0-9]+", name):
        return int(name)
    try:
        return float(name)
    except ValueError:
        return name


def _name(level: Any) -> str:
    return str(int(level)) if isinstance(level, float) and level.is_integer() and abs(level) <= EXACT else str(level)


def _whole(values: list[int]) -> np.ndarray:
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(values, dtype=dtype)
        except OverflowError:
            pass
    return np.array(values, dtype=object)


def _labels(labels: Any, call: str) -> np.ndarray:
    """Labels of one kind: texts, truth values or numbers."""
    # NumPy would make texts of numbers among texts, and numbers of truth values among numbers.
    array = np.array(labels, dtype=object) if isinstance(labels, (list, tuple)) else np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{call}: labels: got an array with {array.ndim} dimensions, expected one")
    kind = array.dtype.kind
    if kind in "OT":
        return _of_objects(array.astype(object).tolist(), call)
    if kind not in "biufU":
        what = {"S": "bytes", "M": "dates", "m": "durations", "c": "complex numbers"}.get(kind, str(array.dtype))
        raise ValueError(f"{call}: labels: got {what}, expected texts, numbers or truth values")
    if kind == "f":
        array = array.astype(np.float64)
        _check_finite(array, call)
    return array


def _check_finite(values: np.ndarray, call: str) -> None:
    is_wrong = ~np.isfinite(values)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        got = "got no label" if np.isnan(values[row]) else f"got the label {values[row]}"
        raise ValueError(f"{call}: row {row + 1}: {got}, expected one for each row, and finite numbers")


def _of_objects(cells: list[Any], call: str) -> np.ndarray:
    kinds = [_kind(cell) for cell in cells]
    for row, (cell, kind) in enumerate(zip(cells, kinds, strict=True), 1):
        if kind == "missing":
            raise ValueError(f"{call}: row {row}: got no label, expected one for each row")
        if not kind:
            got = f"got a label of type {type(cell).__name__}"
            raise ValueError(f"{call}: row {row}: {got}, expected a text, a number or a truth value")
        if kind != kinds[0]:
            got = f"got one of the {kind} among {kinds[0]}"
            raise ValueError(f"{call}: labels: row {row}: {got}, expected labels of one kind")
    if not cells or kinds[0] == "texts":
        return np.array(cells, dtype=str)
    if kinds[0] == "truth values":
        return np.array(cells, dtype=bool)
    if all(isinstance(cell, (int, np.integer)) for cell in cells):
        return _whole([int(cell) for cell in cells])
    _check_finite(np.array([float(cell) for cell in cells]), call)
    # Whole numbers among others are compared as they are: doubles would make one of some.
    return np.array([cell.item() if isinstance(cell, np.generic) else cell for cell in cells], dtype=object)


def _kind(cell: Any) -> str:
    """What a label is; nothing for what is none."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell):
        return "missing"
    if isinstance(cell, (bool, np.bool_)):
        return "truth values"
    if isinstance(cell, (int, float, np.integer, np.floating)):
        return "numbers"
    return "texts" if isinstance(cell, str) else ""
