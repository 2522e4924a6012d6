"""From a Python function of x and parameters to a formula: the function is called once, with the data as they are and
symbols for the parameters.

What is computed from data alone is computed by NumPy and becomes a column. What meets a parameter becomes a part of the
formula, one operation after another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

#: Names that the formula language has for numbers.
RESERVED = frozenset({"e", "pi"})
HINT = "write it with NumPy functions over whole arrays, or give the formula as a text"


class TraceError(TypeError):
    """A function that is no formula."""


class Trace:
    """What a function has done so far."""

    def __init__(self, size: int, taken: Iterable[str]):
        #: Observed values.
        self.size = size
        self._taken = set(taken)
        # The last column from each place. A place may be written to between two uses, or hold another array.
        self._known: dict[tuple[Any, ...], Symbol] = {}
        self.columns: dict[str, np.ndarray] = {}
        self._wanted: dict[tuple[Any, ...], str] = {}

    def called(self, array: np.ndarray, name: str) -> None:
        """The name that the column of an array will have. Nothing may change the array: it is not copied."""
        self._wanted[_place(array)] = name

    def parameter(self, name: str) -> Symbol:
        """A symbol for a parameter."""
        safe = name
        while safe in RESERVED or safe in self._taken or not safe.isascii():
            safe = f"{safe if safe.isascii() else 'p'}_"
        self._taken.add(safe)
        return Symbol(self, safe, (), None)

    def symbol(self, value: Any) -> Symbol:
        """Whatever meets a symbol, as one."""
        if isinstance(value, Symbol):
            return value
        array = np.asarray(value)
        if array.dtype.kind == "O" and array.ndim == 0 and isinstance(array[()], Symbol):
            return array[()]
        if array.dtype.kind == "O":
            raise TraceError(
                f"f makes an array {list(array.shape)} of single values, as a loop over data does, expected "
                f"operations on whole arrays; {HINT}"
            )
        if array.dtype.kind not in "fiub":
            kind = "complex numbers" if array.dtype.kind == "c" else f"values of type {array.dtype}"
            raise TraceError(f"f combines a parameter with {kind}, expected real numbers; {HINT}")
        if array.ndim == 0:
            number = float(array)
            if not np.isfinite(number):
                raise TraceError(f"f combines a parameter with {number}, expected finite numbers")
            return Symbol(self, number, (), None)
        return self._column(array)

    def _column(self, array: np.ndarray) -> Symbol:
        place = _place(array)
        is_data = place in self._wanted
        known = self._known.get(place)
        if known is not None and (is_data or _has_bits(array, self.columns[known.what])):
            return known
        if array.size != self.size:
            raise TraceError(
                f"f combines a parameter with an array of the shape {list(array.shape)}, expected one of "
                f"{self.size} numbers, as y has; x[mask] becomes np.where(mask, a, b)"
            )
        base = name = self._wanted.get(place, "d")
        number = 1
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        # f may change what it has computed after this, as by `t -= 1` or `out=t`.
        made = np.ascontiguousarray if is_data else np.array
        self.columns[name] = made(array, dtype=np.float64).reshape(-1)
        self._known[place] = Symbol(self, name, (), array.shape)
        return self._known[place]


def _place(array: np.ndarray) -> tuple[Any, ...]:
    return (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)


def _has_bits(array: np.ndarray, column: np.ndarray) -> bool:
    values = np.ascontiguousarray(array, dtype=np.float64).reshape(-1)
    return np.array_equal(values.view(np.int64), column.view(np.int64))


def _operator(what: str) -> Any:
    """The methods of an operator with a symbol on the left, and on the right."""

    def forward(self: Symbol, other: Any) -> Any:
        return call(what, self, other) if _is_operand(other) else NotImplemented

    def backward(self: Symbol, other: Any) -> Any:
        return call(what, other, self) if _is_operand(other) else NotImplemented

    return forward, backward


def _is_operand(value: Any) -> bool:
    return isinstance(value, (Symbol, int, float, np.ndarray, np.generic, Sequence)) or hasattr(value, "__array__")


class Symbol:
    """A parameter, a column, a number, or an operation on them."""

    __slots__ = ("parts", "shape", "trace", "what")
    __array_priority__ = 1e6
    __pandas_priority__ = 10**6
    __hash__ = None  # type: ignore[assignment]
    __add__, __radd__ = _operator("+")
    __sub__, __rsub__ = _operator("-")
    __mul__, __rmul__ = _operator("*")
    __truediv__, __rtruediv__ = _operator("/")
    __pow__, __rpow__ = _operator("^")
    __and__, __rand__ = _operator("&")
    __or__, __ror__ = _operator("|")
    __lt__, _ = _operator("<")
    __le__, _ = _operator("<=")
    __gt__, _ = _operator(">")
    __ge__, _ = _operator(">=")
    __eq__, _ = _operator("==")
    __ne__, _ = _operator("!=")
    del _

    def __init__(self, trace: Trace, what: Any, parts: tuple[Symbol, ...], shape: tuple[int, ...] | None):
        #: A name or a number, or with parts an operator or a function.
        self.what, self.parts, self.trace = what, parts, trace
        #: None of a single number.
        self.shape = shape

    @property
    def ndim(self) -> int:
        return len(self.shape or ())

    @property
    def size(self) -> int:
        return self.trace.size if self.shape else 1

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float64)

    @property
    def real(self) -> Symbol:
        return self

    @property
    def T(self) -> Symbol:  # noqa: N802
        return self if self.ndim < 2 else self._cannot(".T", "transposed arrays of data")

    def astype(self, dtype: Any, **_: Any) -> Symbol:
        return self if np.dtype(dtype).kind == "f" else self._cannot(f".astype({dtype})", "floats")

    def copy(self) -> Symbol:
        return self

    def ravel(self, *_: Any) -> Symbol:
        return self._flat()

    flatten = ravel

    def reshape(self, *shape: Any) -> Symbol:
        return (
            self._flat()
            if shape in ((-1,), ((-1,),), (self.size,), ((self.size,),))
            else self._cannot(".reshape", ".ravel()")
        )

    def _flat(self) -> Symbol:
        # All columns of a trace are flat: the others have the shape of y.
        return Symbol(self.trace, self.what, self.parts, (self.size,)) if self.shape else self

    def clip(self, low: Any = None, high: Any = None) -> Symbol:
        from ._trace_numpy import clip

        return clip(self, low, high)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from ._trace_numpy import applied

        return applied(self.trace, ufunc, method, inputs, options)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, options: Any) -> Any:
        from ._trace_numpy import function_of

        return function_of(self.trace, function, args, options)

    def __getattr__(self, name: str) -> Any:
        # The functions of NumPy call methods of their names on what an array of objects holds.
        from ._trace_numpy import COMPOSED, SAME

        if name in SAME:
            return lambda *more: call(SAME[name], self, *more)
        if name in COMPOSED:
            return lambda *more: COMPOSED[name](self, *more)
        raise AttributeError(f"symbols have no {name}")

    def __bool__(self) -> bool:
        return self._cannot(
            "a branch on a value (if, while, and, or, not, min, max)", "np.where(condition, a, b), & and |"
        )

    def __float__(self) -> float:
        return self._cannot(
            "a conversion to float, such as by the module math or by y[mask] = …",
            "the function of NumPy, such as np.exp for math.exp, and np.where for masks",
        )

    __int__ = __index__ = __complex__ = __float__

    def __len__(self) -> int:
        return self.trace.size if self.shape else self._cannot("len()", "len() of data")

    def __iter__(self) -> Any:
        return self._cannot("a loop over values", "whole arrays")

    def sum(self, *_: Any, **__: Any) -> Symbol:
        return self._cannot(".sum() over rows", "sums over data only")

    mean = min = max = std = prod = dot = sum

    def _cannot(self, what: str, instead: str) -> Any:
        raise TraceError(f"f cannot be traced: it has {what}, expected {instead}; or give the formula as a text")

    def __neg__(self) -> Symbol:
        return call("neg", self)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return call("abs", self)

    def __invert__(self) -> Symbol:
        return call("not", self)

    def __mod__(self, other: Any) -> Symbol:
        return call("-", self, call("*", other, self // other))

    def __rmod__(self, other: Any) -> Symbol:
        return call("-", other, call("*", self, other // self))

    def __floordiv__(self, other: Any) -> Symbol:
        return call("floor", call("/", self, other))

    def __rfloordiv__(self, other: Any) -> Symbol:
        return call("floor", call("/", other, self))

    def __round__(self, *_: Any) -> Symbol:
        return call("round", self)


def call(what: str, *parts: Any) -> Symbol:
    """An operator or a function of symbols and numbers; numbers alone are computed."""
    trace = next(part.trace for part in parts if isinstance(part, Symbol))
    symbols = tuple(trace.symbol(part) for part in parts)
    shapes = [symbol.shape for symbol in symbols if symbol.shape]
    if any(shape != shapes[0] for shape in shapes):
        raise TraceError(
            f"f combines arrays of the shapes {list(shapes[0])} and "
            f"{list(next(shape for shape in shapes if shape != shapes[0]))}, expected the same"
        )
    return Symbol(trace, what, symbols, shapes[0] if shapes else None)
