"""A twin of `scipy.optimize.curve_fit`."""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _engine
from ._arrays import numbers
from ._curve_arguments import bounds_of, checked, is_table, options_of, start_within
from ._trace import HINT, Trace, TraceError
from ._trace_numpy import Data
from ._trace_text import formula, names

#: Columns that no formula can name.
OBSERVED, DEVIATIONS, ONES = "observed values", "standard deviations", "ones"


class OptimizeWarning(UserWarning):
    """The covariance of the parameters could not be estimated."""


def curve_fit(  # noqa: PLR0917
    f: str | Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    jac: Any = None,  # noqa: ARG001
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    threads: int = 0,
    **kwargs: Any,
) -> Any:
    """Parameters of a function and their covariance, as `scipy.optimize.curve_fit` gives them.

    `f(x, *parameters)` is called once, with the data and symbols for the parameters: what it does with whole arrays
    becomes a formula, which the engine fits. It may use operators, comparisons and functions of NumPy such as `np.exp`,
    `np.where`, `np.piecewise`, and of `scipy.special` such as `erf` and `expit`. A text is a formula: its columns are
    `x`, or `x0`, `x1`, … of an array [k, M], or those of a mapping, and its parameters are in the order of their first
    use.

    The search begins at `p0`, by default 1 for each parameter, or within the bounds, and elsewhere if it finds no
    minimum from there. `method` is `lm` or `trf`. `sigma` are standard deviations; a covariance matrix has to be
    diagonal. `maxfev` or `max_nfev`, `loss` and `f_scale` are those of SciPy, `global_` is that of `meromorph.fit`;
    tolerances and `jac` have no effect, as the search ends where no step lowers the cost, and derivatives are exact.

    Raises TypeError for a function that is no formula, ValueError for data and options that cannot be used,
    RuntimeError if the search does not converge. Warns if the covariance cannot be estimated; it is infinite then.

    >>> import numpy as np
    >>> x = np.linspace(0, 4, 50)
    >>> popt, pcov = curve_fit(lambda x, a, b, c: a * np.exp(-b * x) + c, x, 2.5 * np.exp(-1.3 * x) + 0.5)
    >>> popt.round(6)
    array([2.5, 1.3, 0.5])
    """
    x, y, sigma = checked(xdata, ydata, sigma, check_finite, nan_policy)
    flat = y.reshape(-1)
    columns, text, parameters, used = _formula_of(f, x, flat, None if p0 is None else np.atleast_1d(p0).size)
    count = len(parameters)
    if len(used) == 0:
        raise ValueError("curve_fit: f uses none of its parameters, expected a function of x and parameters")
    low, high = bounds_of(bounds, count)
    start = start_within(low, high) if p0 is None else np.atleast_1d(numbers(p0, "p0"))
    if start.size != count:
        raise ValueError(
            f"curve_fit: p0: got {start.size} values, expected {count}, one for each of {', '.join(parameters)}"
        )
    is_bounded = bool(np.any(np.isfinite(low) | np.isfinite(high)))
    options = options_of(method, is_bounded, kwargs)
    if method != "trf" and not is_bounded and count > flat.size:
        raise TypeError(
            f"curve_fit: got {count} parameters and {flat.size} values, expected at least as many values: the number "
            "of func parameters must not exceed them"
        )
    columns[OBSERVED] = flat
    if sigma is not None or absolute_sigma:
        columns[DEVIATIONS] = np.ones(flat.size) if sigma is None else sigma
        options |= {"sigma": DEVIATIONS, "absolute_sigma": bool(absolute_sigma)}
    options |= {"y": OBSERVED, "p0": {name: float(start[parameters.index(name)]) for name in used}}
    options["bounds"] = {
        name: [low[at], high[at]]
        for at, name in enumerate(parameters)
        if name in used and (np.isfinite(low[at]) or np.isfinite(high[at]))
    }
    engine = _engine.Columns.of("curve_fit", list(columns.items()), None)
    report = json.loads(_engine.fit(engine, text, options, "cpu", threads)[0])
    if p0 is None and _is_doubtful(report):
        # Nobody chose this start: the engine looks for others.
        other = json.loads(_engine.fit(engine, text, {**options, "p0": None}, "cpu", threads)[0])
        if other["is_converged"] and (not report["is_converged"] or other["cost"] < report["cost"]):
            report = other
    if not report["is_converged"]:
        raise RuntimeError(f"Optimal parameters not found: {_why(report)}")
    popt = np.array(
        [
            float(report["parameters"][name]["value"]) if name in used else start[at]
            for at, name in enumerate(parameters)
        ]
    )
    pcov = _covariance(report, parameters)
    if not np.all(np.isfinite(pcov)):
        pcov = np.full((count, count), np.inf)
        warnings.warn("Covariance of the parameters could not be estimated", _warning(), stacklevel=2)
    if not full_output:
        return popt, pcov
    values = flat - _engine.residuals(engine, text, options, _engine.SavedFit.parse(json.dumps(report), "curve_fit"))
    residuals = (values - flat) / columns.get(DEVIATIONS, 1.0)
    return (
        popt,
        pcov,
        {"nfev": report["evaluations"], "fvec": residuals},
        f"The search ended by its {report['stop']}.",
        1,
    )


def _formula_of(
    f: Any, x: Any, y: np.ndarray, count: int | None
) -> tuple[dict[str, np.ndarray], str, list[str], list[str]]:
    """The columns, the formula over them, all parameters in order, and those that it uses."""
    named = _named(x)
    if isinstance(f, str):
        columns = {name: numbers(array, f"xdata: column {name}") for name, array in named.items()}
        text, parameters = _engine.formula_parameters(f, list(columns))
        return columns, text, parameters, parameters
    if not callable(f):
        raise TypeError(
            f"curve_fit: f: got a {type(f).__name__}, expected a function f(x, *parameters) or the text of a formula"
        )
    given = _parameters(f, count)
    trace = Trace(y.size, [OBSERVED, DEVIATIONS])
    for name, array in named.items():
        trace.called(array, name)
    symbols = [trace.parameter(name) for name in given]
    data = _Columns((name, _data(array)) for name, array in named.items()) if is_table(x) else _data(x)
    try:
        result = f(data, *symbols)
        if result is None:
            raise TraceError("f returned None, expected the values of the function: it may have no return")
        root = trace.symbol(result)
    except TraceError as error:
        raise TypeError(f"curve_fit: {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        if "read-only" in str(error):
            raise TypeError(
                f"curve_fit: f changes its data in place ({error}), expected a new array, as by x = x.copy() first"
            ) from error
        raise TypeError(
            f"curve_fit: f cannot be traced, as it is called with symbols for its parameters: {error}; {HINT}"
        ) from error
    known = [symbol.what for symbol in symbols]
    used = [name for name in known if name in names(root)]
    text = formula(root, {*known, *trace.columns})
    if root.shape is None:
        # A constant is the same in all rows.
        trace.columns[ONES] = np.ones(y.size)
        lines, _, last = text.rpartition("; ")
        text = f"{lines}{'; ' if lines else ''}({last})*{ONES}"
    return trace.columns, text, known, used


def _data(array: np.ndarray) -> np.ndarray:
    """Data as f gets them: its own arrays may be written to, those of the caller not."""
    view = array.view(Data)
    view.flags.writeable = False
    return view


class _Columns(dict[str, np.ndarray]):
    """Columns by name, as items and as attributes, like those of a frame."""

    def __getattr__(self, name: str) -> np.ndarray:
        if name in self:
            return self[name]
        raise AttributeError(f"xdata has no column {name!r}: it has {', '.join(self)}")


def _named(x: Any) -> dict[str, np.ndarray]:
    """The columns of x: a vector is x, the rows of a matrix are x0, x1, …."""
    if is_table(x):
        return {str(name): numbers(x[name], f"xdata[{name!r}]") for name in x}
    if x.ndim < 2:
        return {"x": x}
    return {f"x{at}": row for at, row in enumerate(x)}


def _parameters(f: Callable[..., Any], count: int | None) -> list[str]:
    try:
        given = list(inspect.signature(f).parameters.values())
    except ValueError:
        given = []
    positional = [one.name for one in given if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)][1:]
    if count is None:
        if not positional:
            raise ValueError(
                "curve_fit: unable to determine number of fit parameters: got f without named ones, expected p0 with "
                "a start for each"
            )
        return positional
    if len(positional) >= count:
        return positional[:count]
    return positional + [f"p{at}" for at in range(len(positional), count)]


def _is_doubtful(report: Mapping[str, Any]) -> bool:
    """Whether a search may have ended elsewhere than at the minimum: no parameter is known."""
    known = [one for one in report["parameters"].values() if not one["is_fixed"]]
    return not report["is_converged"] or all(
        one["stderr"] is not None and one["stderr"] > abs(one["value"]) for one in known
    )


def _covariance(report: Mapping[str, Any], parameters: list[str]) -> np.ndarray:
    free = report["free"]
    places = [free.index(name) if name in free else None for name in parameters]
    rows = report["covariance"]
    if report["dof"] == 0 and not report["is_absolute"]:
        return np.full((len(places), len(places)), np.inf)

    def entry(i: int | None, j: int | None) -> float:
        value = None if i is None or j is None else rows[i][j]
        return np.inf if value is None else float(value)

    return np.array([[entry(i, j) for j in places] for i in places])


def _why(report: Mapping[str, Any]) -> str:
    spent = report["evaluations"]
    if report["stop"] == "evaluations":
        what = f"The maximum number of function evaluations is exceeded: got {spent}"
        return f"{what}, expected fewer from a nearer p0, or a larger max_nfev."
    return f"The search got stuck after {spent} evaluations: expected another p0, or bounds."


def _warning() -> type[Warning]:
    """SciPy's own warning, where a program has SciPy."""
    scipy = sys.modules.get("scipy.optimize")
    return OptimizeWarning if scipy is None else scipy.OptimizeWarning
