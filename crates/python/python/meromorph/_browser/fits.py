"""Curve fits."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from threading import Event
from typing import Any

import js
import numpy as np
from pyodide.ffi import can_run_sync

from .bridge import absent, array, engine_errors, script, typed_array, waiting
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
        lengths = [len(texts[name] if cells is None else cells) for name, cells in columns]
        if odd := next((at for at, length in enumerate(lengths) if length != lengths[0]), None):
            got = f'column "{names[odd]}" has {lengths[odd]} rows, column "{names[0]}" has {lengths[0]}'
            raise ValueError(f"{source}: {got}")
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

    def stacked(self, each: str, observed: str) -> tuple[list[str], Any, np.ndarray]:
        """The levels of a column, the columns with the rows of one level after those of another, and the rows of each.

        The npm package takes as many rows for each: fewer ones are filled up with a missing observed value.
        """
        levels, places = np.unique(np.asarray(self._columns[each]), return_inverse=True)
        counts = np.bincount(places)
        most, order = counts.max(), np.argsort(places, kind="stable")
        # The place of each row among those of its level; the last row is for those that are lacking.
        at = np.minimum(np.arange(most), counts[:, None] - 1) + (np.cumsum(counts) - counts)[:, None]
        stacked = {name: self.numbers(name)[order][at].ravel() for name in self._columns if name != each}
        lacking = np.arange(most) >= counts[:, None]
        stacked[observed] = np.where(lacking.ravel(), np.nan, stacked[observed])
        stacked["row of the fit"] = np.arange(most, dtype=np.float64)
        used = np.add.reduceat(~np.isnan(self.numbers(observed)[order]), np.cumsum(counts) - counts, dtype=np.int64)
        columns = js_object({name: typed_array(cells) for name, cells in stacked.items()})
        return [_level(level) for level in levels.tolist()], columns, used.astype(np.float64)

    def data(self) -> Any:
        """The columns as JavaScript has them."""
        return js_object({name: _crossing(cells) for name, cells in self._columns.items()})


def _level(level: float | str) -> str:
    return level if isinstance(level, str) else repr(level).removesuffix(".0")


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


@waiting("await meromorph.fit_async(…)")
async def fit(
    data: Columns, model: str, options: dict[str, Any], device: str, threads: int
) -> tuple[str, list[str], int, int, None]:
    """Fits a formula to columns. `threads` has no effect: the search runs in the calling thread.

    Returns the report as JSON, what a person should know of the data, how many rows with missing cells and how many by
    the condition are left out, and draws of the posterior, of which only the summary in the report is known here.
    """
    del threads
    given = js_object({**camel_options("fit", options, "fit"), "device": device})
    with engine_errors():
        text = js.JSON.stringify(await script("fit").fit(data.data(), model, given))
    _is_ready.set()
    absent_rows = data.rows() - json.loads(text)["rows"]
    by_condition = absent_rows if options.get("where") else 0
    return text, [], absent_rows - by_condition, by_condition, None


@waiting("await meromorph.fit_async(…) for each fit")
async def fit_many(data: Columns, model: str, options: dict[str, Any], each: str, threads: int) -> dict[str, Any]:
    """Fits a formula to the rows of each level of the column `each`: arrays by name with a number for each fit."""
    del threads
    observed = options.get("y") or _observed(data.names(), model, each)
    if observed not in data.names():
        names = ", ".join(data.names())
        raise ValueError(f"fit_many: y: got {observed!r}, expected the column of the observed values, one of {names}")
    if options.get("missing") != "drop" and np.isnan(data.numbers(observed)).any():
        raise ValueError(f'fit_many: column "{observed}" has missing cells: expected numbers, or missing="drop"')
    levels, columns, rows = data.stacked(each, observed)
    given = camel_options("fit", {**options, "y": observed, "missing": "drop"}, "fit_many")
    with engine_errors():
        fits = await script("fit").fitMany(columns, model, js_object(given))
    failures = [(one["fit"], one["message"]) for one in json.loads(js.JSON.stringify(fits.failures))]
    # NaN of a fit without an answer.
    converged = array(fits.converged) == 1
    return {
        "levels": levels,
        "parameters": _arrays(fits.parameters),
        "stderrs": _arrays(fits.stderrs),
        "rmse": array(fits.rms),
        "rows": rows,
        "converged": converged,
        "failures": failures,
    }


def _observed(names: Sequence[str], model: str, each: str) -> str | None:
    """The last column that the model does not use."""
    used = {each, *re.findall(r"[^\W\d]\w*", model)}
    return next((name for name in reversed(names) if name not in used), None)


def _arrays(named: Any) -> dict[str, np.ndarray]:
    return {name: np.array(values) for name, values in named.to_py().items()}


def residuals(data: Columns, model: str, options: dict[str, Any], saved: SavedFit) -> np.ndarray:
    """Observed values less the model's, in the rows that a fit used."""
    del model
    target = saved.report["target"]
    if target not in data.names() or options.get("where") or options.get("background"):
        raise NotImplementedError(
            "residuals: the engine in the browser knows those of a fit with y as a column, without where and "
            "background: expected y - fit.predict(data).values"
        )
    used = [target, *saved.report["columns"], *(options[name] for name in ("sigma", "sigma_x") if options.get(name))]
    missing = [np.isnan(data.numbers(name)) for name in used if name in data.names()]
    return (data.numbers(target) - saved.predict(data, None)[0])[~np.any(missing, axis=0)]


@waiting("await meromorph.fit_async(…), which needs no list of models")
async def fit_models() -> list[tuple[str, str, str, list[str]]]:
    """The formulas of models with names, with their summaries and parameters."""
    with engine_errors():
        models = json.loads(js.JSON.stringify(await script("fit").models()))
    _is_ready.set()
    return [(one["name"], one["summary"], one["formula"], one["parameters"]) for one in models]


#: Whether the WebAssembly of fits is there, so that a fit predicts without waiting.
_is_ready = Event()


class SavedFit:
    """A fit that predicts."""

    def __init__(self, text: str, source: str):
        self._text = text
        self._source = source
        self._known: Any = None

    @property
    def report(self) -> dict[str, Any]:
        """Everything that is known of the fit."""
        return json.loads(self._text)

    @staticmethod
    def parse(text: str, source: str) -> SavedFit:
        """Reads the report of a fit; `source` names it in errors.

        Where Python cannot wait, the first prediction finds them.
        """
        saved = SavedFit(text, source)
        if _is_ready.is_set() or can_run_sync():
            saved._fit()
        return saved

    def _fit(self) -> Any:
        if not _is_ready.is_set():
            fit_models()
        if self._known is None:
            with engine_errors():
                self._known = script("fit").CurveFit.new(self._text, self._source)
        return self._known

    def predict(self, data: Columns, level: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Values and half widths of the confidence band and, if it is known, of the prediction band."""
        fit = self._fit()
        with engine_errors():
            answer = fit.predict(data.data(), js_object({} if level is None else {"level": level}))
        prediction = array(answer.prediction) if hasattr(answer, "prediction") else None
        return array(answer.values), array(answer.confidence), prediction

    #: The values of each summand of the formula.
    components = staticmethod(absent("Fit.components"))

    def code(self, language: str) -> str:
        """The formula with its values as `latex`, `python` or `rust`."""
        fit = self._fit()
        with engine_errors():
            return fit.code(language)
