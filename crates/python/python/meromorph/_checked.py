"""Arguments that are checked before the engine sees them, and warnings that name the user's line."""

from __future__ import annotations

import os
import sys
import warnings
from numbers import Integral
from typing import Any

FOLDER = os.path.dirname(__file__)


def whole(name: str, value: Any) -> int:
    """A whole number of at least 0. Raises TypeError for another type, ValueError for a negative one.

    >>> whole("threads", 2)
    2
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}: got {value!r}, expected a whole number of at least 0")
    if value < 0:
        raise ValueError(f"{name}: got {value}, expected a whole number of at least 0")
    return int(value)


def name_of_device(value: Any) -> str:
    """The name of a device. Raises TypeError for anything but a text."""
    if not isinstance(value, str):
        raise TypeError(f'device: got {value!r}, expected the name of a device such as "cpu"')
    return value


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns of something at the first line of the stack that is not of this package."""
    level, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(FOLDER):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, category, stacklevel=level)
