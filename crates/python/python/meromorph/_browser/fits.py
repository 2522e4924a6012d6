"""Curve fits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import js
import numpy as np
from pyodide.ffi import to_js

from .bridge import array, engine_errors, script, typed_array, waiting
from .options import camel_options
from .tables import Table, js_object


class Columns:
    """Columns by name: arrays of numbers, or texts."""

    def __init__(self, source: str, columns: dict[str, np.ndarray | list[str]]):
        self.source = source
        self._columns = columns

    @staticmethod
    def of(source: str, columns: Sequence[tuple[str, Any]], written: Table | None) -> Columns:
        """Arrays of numbers by name; a column that is None is the one of this name in `written`."""
        texts = {} if written is None else written.columns()
        names = [name for name, _ in columns]
        if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
            raise ValueError(f'{source}: got two columns "{twice}", expected different names')
        return Columns(source, {name: texts[name] if cells is None else cells for name, cells in columns})

    @staticmethod
    def of_table(table: Table) -> Columns:
        """All columns of a table."""
        return Columns(table.source, table.columns())

    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self._columns.values()), ()))

    def numbers(self, name: str) -> np.ndarray:
        """A column as numbers."""
        cells = self._columns[name]
        return cells if isinstance(cells, np.ndarray) else np.array([float(cell) if cell else np.nan for cell in cells])

    def data(self) -> Any:
        """The columns as JavaScript has them."""
        return js_object({name: _crossing(cells) for name, cells in self._columns.items()})


def _crossing(cells: np.ndarray | list[str]) -> Any:
    if isinstance(cells, np.ndarray):
        return typed_array(cells)
    # One text crosses faster than its cells.
    return js.JSON.parse(json.dumps([_cell(cell) for cell in cells]))


def _cell(cell: str) -> float | str | None:
    """A cell as a file would be read: a number, a text, or nothing."""
    if cell == "":
        return None
    try:
        return float(cell)
    except ValueError:
        return cell


def _given(options: dict[str, Any], call: str) -> Any:
    return {name: js_object(value) if isinstance(value, dict) else to_js(value) for name, value in camel_options("fit", options, call).items()}


@waiting("await meromorph.fit_async(…)")
async def fit(
    data: Columns, model: str, options: dict[str, Any], device: str, threads: int
) -> tuple[str, list[str], int, int, None]:
    """Fits a formula to columns. Returns the report as JSON, notes, rows with missing cells and by the condition left out, and draws: here None."""
    given = js_object({**_given(options, "fit"), "device": device})
    with engine_errors():
        found = await script("fit").fit(data.data(), model, given)
        return js.JSON.stringify(found), [], 0, 0, None


@waiting("await meromorph.fit_many_async(…)")
async def fit_many(data: Columns, model: str, options: dict[str, Any], each: str, threads: int) -> dict[str, Any]:
    """Fits a formula to the rows of each level of the column `each`. Returns arrays by name with a number for each fit."""
    if each not in data.names():
        raise ValueError(f'fit_many: each: no column "{each}", expected one of {", ".join(data.names())}')
    raise NotImplementedError("TODO")


@waiting("await meromorph.fit_models_async()")
async def fit_models() -> list[tuple[str, str, str, list[str]]]:
    """The formulas of models with names, with their summaries and parameters."""
    with engine_errors():
        all_models = json.loads(js.JSON.stringify(await script("fit").models()))
    return [(one["name"], one["summary"], one["formula"], one["parameters"]) for one in all_models]


class SavedFit:
    """A fit that predicts."""

    def __init__(self, text: str, source: str):
        self._text = text
        self._source = source
        self._fit: Any = None

    @staticmethod
    def parse(text: str, source: str) -> SavedFit:
        """Reads the report of a fit; `source` names it in errors."""
        return SavedFit(text, source)

    def predict(self, data: Columns, level: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Values and half widths of the confidence band and, if it is known, of the prediction band."""
        fit = self._loaded()
        with engine_errors():
            answer = fit.predict(data.data(), js_object({} if level is None else {"level": level}))
        prediction = array(answer.prediction) if hasattr(answer, "prediction") else None
        return array(answer.values), array(answer.confidence), prediction

    def code(self, language: str) -> str:
        """The formula with its values as `latex`, `python` or `rust`."""
        with engine_errors():
            return self._loaded().code(language)
