"""Masked arithmetic: every number is a float or ⊥ ("bottom"), every operation has a result, and ⊥ absorbs.

x / 0, log x for x <= 0, √x for x < 0, and results that are not representable are ⊥; there is no NaN and no infinity.
Numbers are in single precision, as on every device of the engine: arrays of float32 are read where they are, others are
converted. Results have the bits that the engine gives on the CPU.

>>> import numpy as np
>>> from meromorph import scm
>>> x = scm.Masked([1.0, 0.0, 4.0])
>>> 1 / x
Masked([1, ⊥, 0.25])
>>> scm.evaluate("x / (y - 1)", x=[1.0, 2.0], y=[1.0, 3.0])
Masked([⊥, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _engine
from ._arrays import numbers

__all__ = ["Masked", "evaluate", "where"]

#: Universal functions of NumPy and `scipy.special`, and what the engine calls them.
FUNCTIONS = {
    "add": "add(a, b)", "subtract": "sub(a, b)", "multiply": "mul(a, b)", "divide": "ratio(a, b)",
    "true_divide": "ratio(a, b)", "power": "pow(a, b)", "negative": "neg(a)", "positive": "a", "absolute": "abs(a)",
    "fabs": "abs(a)", "sign": "sign(a)", "square": "square(a)", "reciprocal": "recip(a)", "sqrt": "sqrt(a)",
    "exp": "exp(a)", "exp2": "exp2(a)", "expm1": "expm1(a)", "log": "ln(a)", "log2": "log2(a)", "log10": "log10(a)",
    "log1p": "log1p(a)", "sin": "sin(a)", "cos": "cos(a)", "tan": "tan(a)", "arcsin": "asin(a)", "arccos": "acos(a)",
    "arctan": "atan(a)", "arctan2": "atan2(a, b)", "hypot": "hypot(a, b)", "sinh": "sinh(a)", "cosh": "cosh(a)",
    "tanh": "tanh(a)", "arcsinh": "asinh(a)", "floor": "floor(a)", "ceil": "ceil(a)", "rint": "round(a)",
    "maximum": "max(a, b)", "minimum": "min(a, b)", "clip": "clamp(a, b, c)", "less": "lt(a, b)",
    "less_equal": "le(a, b)", "greater": "gt(a, b)", "greater_equal": "ge(a, b)", "equal": "eq(a, b)",
    "not_equal": "ne(a, b)", "logical_and": "and(a, b)", "logical_or": "or(a, b)", "logical_not": "not(a)",
    "erf": "erf(a)", "erfc": "erfc(a)", "gamma": "gamma(a)", "gammaln": "lgamma(a)", "expit": "sigmoid(a)",
    "j0": "j0(a)", "j1": "j1(a)",
}  # fmt: skip


def _operator(name: str) -> Any:
    """The methods of an operator with masked numbers on the left, and on the right."""
    text = FUNCTIONS[name]

    def forward(self: Masked, other: Any) -> Masked:
        return _applied(text, {"a": self, "b": other})

    def backward(self: Masked, other: Any) -> Masked:
        return _applied(text, {"a": other, "b": self})

    return forward, backward


class Masked:
    """Numbers or ⊥, of any shape. Values that are not finite are ⊥; under ⊥ the value is 0.

    Operators broadcast, and functions of NumPy apply: `np.exp(m)`. Comparisons are 1 where they hold, else 0, and ⊥
    where an operand is.
    """

    __array_priority__ = 1e6
    __pandas_priority__ = 10**6
    __hash__ = None  # type: ignore[assignment]
    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")
    __pow__, __rpow__ = _operator("power")
    __and__, __rand__ = _operator("logical_and")
    __or__, __ror__ = _operator("logical_or")
    __lt__, _ = _operator("less")
    __le__, _ = _operator("less_equal")
    __gt__, _ = _operator("greater")
    __ge__, _ = _operator("greater_equal")
    __eq__, _ = _operator("equal")
    __ne__, _ = _operator("not_equal")
    del _

    def __init__(self, values: Any, bottom: Any = None):
        array = numbers(values, "scm: values", np.float32)
        mask = ~np.isfinite(array)
        if bottom is not None:
            given = np.asarray(bottom)
            if given.shape != array.shape or given.dtype.kind not in "biu":
                raise ValueError(
                    f"scm: bottom: got an array of {given.dtype} {list(given.shape)}, expected truth values "
                    f"{list(array.shape)}"
                )
            mask |= given.astype(bool)
        self._set(np.where(mask, np.float32(0), array) if mask.any() else array, mask)

    def _set(self, values: np.ndarray, bottom: np.ndarray) -> None:
        #: float32; 0 under ⊥.
        self.values = values
        #: True where there is no number.
        self.bottom = bottom

    @classmethod
    def _of(cls, parts: tuple[np.ndarray, np.ndarray], shape: tuple[int, ...]) -> Masked:
        made = cls.__new__(cls)
        made._set(parts[0].reshape(shape), parts[1].reshape(shape))
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self.values.shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.values.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.values.size

    @property
    def coverage(self) -> float:
        """The share of elements that are not ⊥; 1 for no elements."""
        return 1.0 - float(self.bottom.mean()) if self.size else 1.0

    def to_numpy(self, bottom: float = np.nan) -> np.ndarray:
        """The values with a number of your choice for ⊥."""
        return np.where(self.bottom, np.float32(bottom), self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.to_numpy().astype(dtype or np.float32)

    def reshape(self, *shape: Any) -> Masked:
        """The same numbers in another shape."""
        return self._of((self.values.reshape(*shape), self.bottom.reshape(*shape)), self.values.reshape(*shape).shape)

    def __getitem__(self, key: Any) -> Masked:
        values = np.asarray(self.values[key])
        return self._of((values, np.asarray(self.bottom[key])), values.shape)

    def __len__(self) -> int:
        return len(self.values)

    def sum(self, axis: int | Sequence[int] | None = None, *, bottoms: str = "strict") -> Masked:
        """The sum along axes. A ⊥ among the numbers makes it ⊥; with `bottoms="drop"` it is ignored, and a sum of no
        numbers is ⊥.
        """
        return self._reduced("sum", axis, bottoms)

    def mean(self, axis: int | Sequence[int] | None = None, *, bottoms: str = "strict") -> Masked:
        """The mean along axes, with ⊥ as in `sum`."""
        return self._reduced("mean", axis, bottoms)

    def prod(self, axis: int | Sequence[int] | None = None, *, bottoms: str = "strict") -> Masked:
        """The product along axes, with ⊥ as in `sum`."""
        return self._reduced("prod", axis, bottoms)

    def _reduced(self, kind: str, axis: int | Sequence[int] | None, bottoms: str) -> Masked:
        if bottoms not in ("strict", "drop"):
            raise ValueError(f'scm: bottoms: got {bottoms!r}, expected "strict" or "drop"')
        axes = tuple(range(self.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = (
            tuple(np.lib.array_utils.normalize_axis_tuple(axes, self.ndim))
            if hasattr(np.lib, "array_utils")
            else tuple(at % self.ndim for at in axes)
        )
        kept = [at for at in range(self.ndim) if at not in axes]
        shape = tuple(self.shape[at] for at in kept)
        order = [*kept, *axes]
        values, bottom = (
            np.ascontiguousarray(part.transpose(order)).reshape(-1) for part in (self.values, self.bottom)
        )
        return self._of(_engine.scm_reduce(kind, (values, bottom), int(np.prod(shape)), bottoms == "drop"), shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        name = ufunc.__name__
        if method == "reduce" and name in ("add", "multiply"):
            return (
                Masked.sum(inputs[0], options.get("axis", 0))
                if name == "add"
                else Masked.prod(inputs[0], options.get("axis", 0))
            )
        if method != "__call__" or options or name not in FUNCTIONS:
            what = name if method == "__call__" else f"{name}.{method}"
            extra = f" with {', '.join(options)}" if options else ""
            raise TypeError(f"scm: got np.{what}{extra}, expected one of {', '.join(FUNCTIONS)}")
        return _applied(FUNCTIONS[name], dict(zip("abc", inputs, strict=False)))

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        known: dict[Any, Callable[..., Any]] = {
            np.where: where,
            np.clip: _clip,
            np.sum: Masked.sum,
            np.mean: Masked.mean,
            np.prod: Masked.prod,
        }
        if function not in known:
            raise TypeError(
                f"scm: got np.{function.__name__}, expected one of where, sum, mean, prod, clip, or a function of "
                "each element"
            )
        return known[function](*args, **options)

    def __neg__(self) -> Masked:
        return _applied(FUNCTIONS["negative"], {"a": self})

    def __abs__(self) -> Masked:
        return _applied(FUNCTIONS["absolute"], {"a": self})

    def __invert__(self) -> Masked:
        return _applied(FUNCTIONS["logical_not"], {"a": self})

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"scm: got {self.size} numbers where one truth value is expected: use scm.where(condition, a, b)"
            )
        if self.bottom.any():
            raise ValueError("scm: got ⊥, which is neither true nor false: look at .bottom first")
        return bool(self.values)

    def __float__(self) -> float:
        return float(self.to_numpy())

    def __repr__(self) -> str:
        return f"Masked({_text(self.values, self.bottom)})"

    def __getstate__(self) -> dict[str, Any]:
        return {"values": self.values, "bottom": self.bottom}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(state["values"], state["bottom"])


def evaluate(formula: str, **operands: Any) -> Masked:
    """A formula over operands by name, in masked form: `evaluate("x / (y - 1)", x=…, y=…)`. Operands are arrays,
    numbers or `Masked`, broadcast.

    Where the formula has no value, or an operand or part of it is ⊥, the result is ⊥. At most six arrays, counting
    masks of operands with ⊥.
    """
    return _applied(formula, operands)


def where(condition: Any, x: Any, y: Any) -> Masked:
    """x where the condition is not 0, else y; ⊥ where any of them is, as in every operation."""
    return _applied("select(c, x, y)", {"c": condition, "x": x, "y": y})


def _clip(x: Any, a_min: Any = None, a_max: Any = None, **more: Any) -> Masked:
    """x within limits, of which one may be None, as by the function of NumPy."""
    low, high = more.pop("min", a_min), more.pop("max", a_max)
    if more:
        raise TypeError(f"scm: got np.clip with {', '.join(more)}, expected limits only")
    x = x if isinstance(x, Masked) else Masked(x)
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _applied(formula: str, operands: dict[str, Any]) -> Masked:
    if not operands:
        raise TypeError("scm: got a formula without operands, expected arrays by name")
    masked = {name: value if isinstance(value, Masked) else Masked(value) for name, value in operands.items()}
    shape = np.broadcast_shapes(*(one.shape for one in masked.values()))
    count = int(np.prod(shape))
    parts = [_operand(one, shape) for one in masked.values()]
    return Masked._of(_engine.scm_evaluate(formula, list(masked), parts, count), shape)


def _operand(one: Masked, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray | None]:
    """Values and mask as the engine takes them: all elements, or one."""

    def flat(array: np.ndarray) -> np.ndarray:
        whole = array if array.size == 1 else np.broadcast_to(array, shape)
        return np.ascontiguousarray(whole).reshape(-1)

    return flat(one.values), flat(one.bottom) if one.bottom.any() else None


def _text(values: np.ndarray, bottom: np.ndarray) -> str:
    if values.ndim == 0:
        return "⊥" if bottom else f"{float(values):g}"
    shown = [_text(value, mask) for value, mask in zip(values[:20], bottom[:20], strict=True)]
    return f"[{', '.join(shown)}{', …' if len(values) > 20 else ''}]"
