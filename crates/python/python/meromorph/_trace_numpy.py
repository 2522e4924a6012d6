"""The functions of NumPy and of `scipy.special` that formulas have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._trace import HINT, Symbol, Trace, TraceError, call

#: Functions whose counterpart is one operator or function of formulas.
SAME = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/", "negative": "neg", "power": "^",
    "float_power": "^", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
    "not_equal": "!=", "logical_and": "&", "logical_or": "|", "bitwise_and": "&", "bitwise_or": "|",
    "logical_not": "not", "invert": "not", "bitwise_not": "not", "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "sqrt": "sqrt", "sin": "sin", "cos": "cos",
    "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "hypot": "hypot",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "absolute": "abs", "fabs": "abs",
    "sign": "sign", "floor": "floor", "ceil": "ceil", "rint": "round", "maximum": "max", "minimum": "min",
    "fmax": "max", "fmin": "min", "erf": "erf", "erfc": "erfc", "gamma": "gamma", "gammaln": "lgamma",
    "loggamma": "lgamma", "expit": "sigmoid", "j0": "j0", "j1": "j1", "voigt_profile": "voigt",
}  # fmt: skip

#: Functions that are composed of others.
COMPOSED: dict[str, Callable[..., Any]] = {
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "cbrt": lambda x: call("sign", x) * call("^", call("abs", x), 1 / 3),
    "arccosh": lambda x: call("log", x + call("sqrt", x * x - 1.0)),
    "arctanh": lambda x: 0.5 * (call("log1p", x) - call("log1p", -x)),
    "trunc": lambda x: call("sign", x) * call("floor", call("abs", x)),
    "heaviside": lambda x, h: call("where", call("==", x, 0.0), h, call(">", x, 0.0)),
    "logaddexp": lambda a, b: call("max", a, b) + call("log1p", call("exp", -call("abs", call("-", a, b)))),
    "deg2rad": lambda x: x * (np.pi / 180),
    "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi),
    "degrees": lambda x: x * (180 / np.pi),
    "remainder": lambda a, b: call("-", a, call("*", b, call("floor", call("/", a, b)))),
    "floor_divide": lambda a, b: call("floor", call("/", a, b)),
    "clip": lambda x, low, high: call("min", call("max", x, low), high),
    "exp10": lambda x: call("exp", x * float(np.log(10))),
    "psi": lambda x: call("polygamma", 0.0, x),
    "ndtr": lambda x: 0.5 * call("erfc", x * -(0.5**0.5)),
    "logit": lambda p: call("log", p) - call("log1p", -p),
    "log_expit": lambda x: -call("softplus", -x),
    # 0 where x is 0, with the slope log y by x where y has a logarithm.
    "xlogy": lambda x, y: call(
        "*", x, call("log", call("where", call("&", call("==", x, 0.0), call("<=", y, 0.0)), 1.0, y))
    ),
    "softplus": lambda x: call("softplus", x),
}


def applied(trace: Trace, ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """What a universal function is in a formula."""
    name = ufunc.__name__
    if method != "__call__":
        raise TraceError(
            f"f cannot be traced: np.{name}.{method} combines rows, expected an operation on each row; {HINT}"
        )
    options = {key: value for key, value in options.items() if key not in ("out", "dtype", "casting")}
    if options:
        raise TraceError(
            f"f cannot be traced: np.{name} with {', '.join(options)}, expected np.where(condition, a, b); {HINT}"
        )
    if any(isinstance(value, np.ndarray) and value.dtype == object for value in inputs):
        # An array of symbols, such as the coefficients of np.polyval, is computed one by one.
        return ufunc(*(_single(value) if isinstance(value, Symbol) else value for value in inputs))
    symbols = [trace.symbol(value) for value in inputs]
    if name in SAME:
        return call(SAME[name], *symbols)
    if name == "jv" and symbols[0].what in (0.0, 1.0):
        return call(f"j{symbols[0].what:.0f}", symbols[1])
    if name in COMPOSED:
        return COMPOSED[name](*symbols)
    raise TraceError(
        f"f cannot be traced: formulas have no function like {name}, expected one of "
        f"{', '.join(sorted({*SAME, *COMPOSED}))}"
    )


def _single(symbol: Symbol) -> np.ndarray:
    array = np.empty((), dtype=object)
    array[()] = symbol
    return array


def function_of(trace: Trace, function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """What a function of NumPy is in a formula."""
    name = function.__name__
    if name not in FUNCTIONS:
        raise TraceError(
            f"f cannot be traced: np.{name} is no operation on each row that formulas have, expected one of "
            f"{', '.join(sorted(FUNCTIONS))}; {HINT}"
        )
    return FUNCTIONS[name](trace, *args, **options)


def clip(x: Any, low: Any, high: Any) -> Any:
    """x within limits, of which one may be None."""
    x = x if low is None else call("max", x, low)
    return x if high is None else call("min", x, high)


def _clip(_: Trace, x: Any, a_min: Any = None, a_max: Any = None, **more: Any) -> Any:
    return clip(x, more.get("min", a_min), more.get("max", a_max))


def _where(_: Trace, condition: Any, *branches: Any) -> Symbol:
    if len(branches) != 2:
        raise TraceError(
            "f cannot be traced: np.where(condition) gives places of rows, expected np.where(condition, a, b)"
        )
    return call("where", condition, *branches)


def _select(trace: Trace, condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = call("where", trace.symbol(condition), choice, result)
    return result


def _piecewise(trace: Trace | None, x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **options: Any) -> Any:
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    values = [one(x, *args, **options) if callable(one) else one for one in funclist]
    symbols = [one for one in (*conditions, *values) if isinstance(one, Symbol)]
    if trace is None and not symbols:
        return np.piecewise(np.asarray(x), condlist, funclist, *args, **options)
    trace = trace or symbols[0].trace
    result = values[-1] if len(values) > len(conditions) else 0.0
    # The last condition that holds counts.
    for condition, value in zip(conditions, values, strict=False):
        result = call("where", trace.symbol(condition), value, result)
    return result


class Data(np.ndarray):
    """Data that functions are called with. The branches of np.piecewise are called with all rows, as they may meet
    parameters.
    """

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        if function is np.piecewise:
            return _piecewise(None, *args, **options)
        return super().__array_function__(function, types, args, options)


def _same(_: Trace, x: Any, *__: Any, **___: Any) -> Any:
    return x


def _constant(value: float) -> Callable[..., Any]:
    return lambda _, x, *__, **___: np.full(x.shape, value) if x.shape else value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "select": _select,
    "piecewise": _piecewise,
    "clip": _clip,
    "sinc": lambda _, x: call("sinc", x * np.pi),
    "ravel": lambda _, x, *__, **___: x.ravel(),
    "reshape": lambda _, x, shape, *__, **___: x.reshape(shape),
    "real": _same,
    "copy": _same,
    "zeros_like": _constant(0.0),
    "ones_like": _constant(1.0),
    "full_like": lambda _, x, value, *__, **___: np.full(x.shape, value) if x.shape else value,
    "round": lambda _, x, decimals=0, **__: (
        call("round", x) if decimals == 0 else call("round", x * 10.0**decimals) / 10.0**decimals
    ),
    "around": lambda _, x, decimals=0, **__: (
        call("round", x) if decimals == 0 else call("round", x * 10.0**decimals) / 10.0**decimals
    ),
    "shape": lambda _, x: x.shape or (),
    "size": lambda _, x: x.size,
    "ndim": lambda _, x: x.ndim,
}
