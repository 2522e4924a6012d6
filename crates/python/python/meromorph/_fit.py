"""Curve fits: the parameters of a formula from data, with their errors."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._checked import warn
from ._columns import columns_of, with_arrays
from ._files import write
from ._waiting import awaited


@dataclass(frozen=True)
class CurvePrediction:
    """Values of a model and half widths of its bands, a number per row; `np.asarray` gives the values."""

    values: np.ndarray
    #: Of the band that holds the model's true value.
    confidence: np.ndarray
    #: Of the band that holds a new observation; None if rows were weighted by sigma or the loss was robust.
    prediction: np.ndarray | None
    #: Probability of the bands.
    level: float

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.values)

    def columns(self) -> dict[str, np.ndarray]:
        """The parts by name, for a frame."""
        parts = {"value": self.values, "confidence": self.confidence}
        return parts if self.prediction is None else parts | {"prediction": self.prediction}


class Fit:
    """A solved fit; `meromorph.fit` makes one, `Fit.load` reads one."""

    def __init__(self, text: str, source: str = "fit", samples: np.ndarray | None = None, data: Any = None):
        self._engine = _engine.SavedFit.parse(text, source)
        self._text = text.removeprefix("\ufeff").rstrip("\n")
        #: Everything that is known of the fit: what `mero fit --json` prints.
        self.report: dict[str, Any] = json.loads(self._text)
        #: Draws of the posterior [draws, free], with the option `sample`; None otherwise, and of a fit that was loaded.
        self.samples = samples
        # The columns, the model and the options, for residuals.
        self._data = data

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Fit:
        """The fit in a file that `save` or `mero fit --out` wrote. Raises OSError without the file, ValueError for
        another kind of file.
        """
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{os.fspath(path)}: got a file that is no text, expected a fit as JSON") from None
        return cls(text, os.fspath(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fit as JSON, which `mero predict`, the browser and this package read."""
        write(path, f"{self._text}\n".encode())

    @property
    def model(self) -> str:
        """The formula."""
        return self.report["model"]

    @property
    def target(self) -> str:
        """What was fitted."""
        return self.report["target"]

    @property
    def columns(self) -> list[str]:
        """The columns that predictions need."""
        return [
            *self.report["columns"],
            *(name for name in self.report["level_columns"] if name not in self.report["columns"]),
        ]

    @property
    def params(self) -> dict[str, float]:
        """The value of each parameter, in the order of the formula, then of those tied to them."""
        return {name: float(one["value"]) for name, one in self.report["parameters"].items()}

    @property
    def stderr(self) -> dict[str, float]:
        """The standard error of each parameter: infinite if the data do not determine it, NaN if it is fixed."""
        return {name: _error(one) for name, one in self.report["parameters"].items()}

    @property
    def intervals(self) -> dict[str, tuple[float, float] | None]:
        """The interval of each parameter at `level`; None as for `stderr`."""
        return {name: _ends(one["interval"]) for name, one in self.report["parameters"].items()}

    @property
    def profile_intervals(self) -> dict[str, tuple[float, float] | None]:
        """The intervals from the profile of the cost, with the option `profile`."""
        return {name: _ends(one["profile_interval"]) for name, one in self.report["parameters"].items()}

    @property
    def bootstrap_intervals(self) -> dict[str, tuple[float, float] | None]:
        """The intervals from fits of drawn data, with the option `bootstrap`."""
        return {name: _ends(one["bootstrap_interval"]) for name, one in self.report["parameters"].items()}

    @property
    def derived(self) -> dict[str, tuple[float, float]]:
        """Value and standard error of each value that is computed from parameters, by the option `derive`."""
        return {
            name: (float(one["value"]), np.inf if one["stderr"] is None else float(one["stderr"]))
            for name, one in self.report["derived"].items()
        }

    @property
    def free(self) -> list[str]:
        """Names of the free parameters, in the order of `popt` and `covariance`."""
        return self.report["free"]

    @property
    def popt(self) -> np.ndarray:
        """The values of the free parameters."""
        return np.array([self.params[name] for name in self.free])

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the free parameters [free, free]; infinite where the data do not determine them."""
        return _square(self.report["covariance"], np.inf)

    pcov = covariance

    @property
    def correlation(self) -> np.ndarray:
        """The correlations of the free parameters [free, free]; NaN where a variance is infinite or 0."""
        return _square(self.report["correlation"], np.nan)

    @property
    def rmse(self) -> float:
        """√(Σ r² / rows), with sigma of the weighted residuals; NaN if it is not defined, as are the next four."""
        return _number(self.report["rmse"])

    @property
    def r2(self) -> float:
        """1 − Σ r² / Σ (y − mean)²."""
        return _number(self.report["r_squared"])

    @property
    def chi2(self) -> float:
        """Σ r², each residual over its sigma."""
        return self.reduced_chi2 * self.dof

    @property
    def reduced_chi2(self) -> float:
        """Σ r² over the degrees of freedom."""
        return _number(self.report["reduced_chi_square"])

    @property
    def aic(self) -> float:
        """Akaike's criterion."""
        return _number(self.report["aic"])

    @property
    def bic(self) -> float:
        """The Bayesian criterion."""
        return _number(self.report["bic"])

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.report["rows"]

    @property
    def dof(self) -> int:
        """Degrees of freedom: rows less free parameters."""
        return self.report["dof"]

    @property
    def level(self) -> float:
        """Probability of the intervals."""
        return self.report["level"]

    @property
    def converged(self) -> bool:
        """Whether the parameters are those of a minimum."""
        return self.report["is_converged"]

    @property
    def stop(self) -> str:
        """Why the search ended: `shift`, `cost`, `step`, `gradient` or `corner`; `evaluations` and `stuck` are not
        converged.
        """
        return self.report["stop"]

    @property
    def cautions(self) -> list[str]:
        """What to be careful about."""
        from ._fit_text import cautions

        return cautions(self.report)

    @property
    def residuals(self) -> np.ndarray:
        """Observed values less the model's, in the rows that were used. Raises ValueError for a fit without its data:
        one that was loaded.
        """
        if self._data is None:
            raise ValueError("residuals: the fit was loaded without its data: expected y - fit.predict(data).values")
        columns, model, options = self._data
        return _engine.residuals(columns, model, options, self._engine)

    def predict(
        self, data: Any, *, level: float | None = None, reading: Mapping[str, Any] | None = None
    ) -> CurvePrediction:
        """Values of the model and half widths of its bands for rows of `columns`; a row with a missing cell has NaN.

        An array with one dimension is the only column, if there is one. `level` is the probability of the bands, by
        default that of the fit.
        """
        values, confidence, prediction = self._engine.predict(self._columns(data, reading), level)
        return CurvePrediction(values, confidence, prediction, self.level if level is None else level)

    def components(self, data: Any, *, reading: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """The values of each summand of the formula by its text, such as those of two peaks; none if the formula is no
        sum, or has levels or integrals.
        """
        return dict(self._engine.components(self._columns(data, reading)))

    def _columns(self, data: Any, reading: Mapping[str, Any] | None) -> _engine.Columns:
        if len(self.columns) == 1 and not isinstance(data, (str, Mapping)) and np.ndim(data) <= 1:
            data = {self.columns[0]: np.atleast_1d(data)}
        return columns_of(data, reading)

    def code(self, language: str) -> str:
        """The fitted formula as `latex`, as a function of `python` (NumPy, SciPy) or of `rust`."""
        return self._engine.code(language)

    def __repr__(self) -> str:
        from ._fit_text import text

        return text(self.report)

    def _repr_html_(self) -> str:
        from ._fit_text import html

        return html(self, None if self._data is None else self._data[0])

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self._text, "samples": self.samples}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["file"], "pickled fit", state["samples"])  # type: ignore[misc]


def fit(
    formula: str,
    data: Any,
    *,
    device: str = "cpu",
    threads: int = 0,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> Fit:
    """Fits a formula to the columns of a table.

    Names in the formula that are not columns are parameters; named models such as `gaussian(x) + line(x)` have their
    own (`meromorph.fit_models`). `data` is a mapping of arrays, a frame of pandas, polars or PyArrow, an array [rows,
    columns] with columns x0, x1, …, or the path of a file. Contiguous arrays of doubles are read where they are.
    `options` are those of `mero fit`: `p0`, `bounds`, `fix`, `tie`, `y`, `sigma`, `where`, `missing`, `loss`, `derive`,
    `profile`, `bootstrap`, `sample` and others, and `global_` for `global`; `y` and `sigma` are columns, formulas over
    columns, or arrays. Ctrl-C ends the search.

    Raises ValueError for formulas, options and data that cannot be used, TypeError for unknown options. A fit that did
    not converge warns.

    >>> import numpy as np, meromorph as mm
    >>> x = np.linspace(0, 4, 50)
    >>> decay = mm.fit("a*exp(-b*x) + c", {"x": x, "y": 2.5*np.exp(-1.3*x) + 0.5})
    >>> {name: round(value, 6) for name, value in decay.params.items()}
    {'a': 2.5, 'b': 1.3, 'c': 0.5}
    """
    data, options = with_arrays(data, options)
    columns = columns_of(data, reading)
    return _solved(_engine.fit(columns, formula, options, device, threads), (columns, formula, options))


async def fit_async(
    formula: str,
    data: Any,
    *,
    device: str = "cpu",
    threads: int = 0,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> Fit:
    """Fits as `fit` does, while other tasks run.

    >>> import asyncio, meromorph as mm
    >>> line = asyncio.run(mm.fit_async("a*x + b", {"x": [0.0, 1.0, 2.0], "y": [1.0, 3.0, 5.0]}))
    >>> line.popt.round(6)
    array([2., 1.])
    """
    data, options = with_arrays(data, options)
    columns = columns_of(data, reading)
    return _solved(await awaited(_engine.fit, columns, formula, options, device, threads), (columns, formula, options))


def _solved(found: tuple[Any, ...], data: Any) -> Fit:
    """The fit, after its warnings."""
    report, notes, dropped, _excluded, samples = found
    solved = Fit(report, samples=samples, data=data)
    for note in notes:
        warn(f"fit: {note}")
    if dropped:
        warn(f"fit: {dropped} row{'s' if dropped > 1 else ''} with missing cells left out")
    if not solved.converged:
        why = f"fit: not converged ({solved.stop}): the parameters are not those of a minimum"
        warn(why, RuntimeWarning)
    return solved


def fit_models() -> dict[str, tuple[str, str, list[str]]]:
    """The models with names: for each what it describes, its formula over x, and its parameters.

    >>> import meromorph as mm
    >>> mm.fit_models()["line"][1:]
    ('offset + slope*x', ['offset', 'slope'])
    """
    return {name: (summary, formula, parameters) for name, summary, formula, parameters in _engine.fit_models()}


def _error(parameter: Mapping[str, Any]) -> float:
    if parameter["is_fixed"]:
        return np.nan
    return np.inf if parameter["stderr"] is None else float(parameter["stderr"])


def _ends(interval: list[float | None] | None) -> tuple[float, float] | None:
    if interval is None:
        return None
    low, high = interval
    return (-np.inf if low is None else float(low), np.inf if high is None else float(high))


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _square(rows: list[list[float | None]], absent: float) -> np.ndarray:
    count = len(rows)
    return np.array([absent if entry is None else entry for row in rows for entry in row], dtype=np.float64).reshape(
        count, count
    )
