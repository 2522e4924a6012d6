"""Arrays from whatever holds numbers: NumPy, the buffer protocol, and `__dlpack__` (PyTorch, JAX, CuPy on the CPU)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._frames import doubles


def numbers(values: Any, what: str, dtype: Any = np.float64) -> np.ndarray:
    """Real numbers as a contiguous array that the engine reads; not copied if it already is one of `dtype`.

    Another type of numbers, byte order or stride is converted, and masked elements are NaN. Raises ValueError for
    complex numbers and for what is none.

    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> numbers(x, "x") is x, numbers(x.astype(">f8"), "x"), numbers(np.arange(6)[::2], "x")
    (True, array([1., 2.]), array([0., 2., 4.]))
    """
    array = doubles(as_array(values, what), what)
    if is_plain(array, dtype):
        return array
    # A number beyond single precision is infinite there.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


def is_plain(array: np.ndarray, dtype: Any) -> bool:
    """Whether the engine reads an array where it is."""
    return array.dtype == dtype and array.dtype.isnative and array.flags.c_contiguous and array.flags.aligned


def as_array(values: Any, what: str) -> np.ndarray:
    """An array of any type, without a copy where the values are in an array already."""
    if isinstance(values, np.ma.MaskedArray):
        is_real = values.dtype.kind == "f"
        return np.ma.filled(values if is_real else values.astype(np.float64), np.nan)
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array_interface__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError) as error:
            raise ValueError(
                f"{what}: got a value of type {type(values).__name__}, expected numbers on the CPU: {error}"
            ) from None
    return np.asarray(values)


def matrix(values: Any, what: str, columns: int | None = None) -> np.ndarray:
    """Rows of numbers in single precision [rows, columns]; one row may be given as a vector."""
    array = numbers(values, what, np.float32)
    if array.ndim == 1 and columns == array.shape[0]:
        array = array.reshape(1, -1)
    if array.ndim != 2:
        raise ValueError(
            f"{what}: got an array with {array.ndim} dimensions, expected two: [rows, columns]. Reshape your data"
        )
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{what}: got {array.shape[1]} columns, expected {columns}")
    return array
