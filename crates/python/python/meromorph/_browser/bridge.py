"""What Python and JavaScript pass to each other: scripts of the npm package, promises, arrays and errors."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import files
from typing import Any, NoReturn

import numpy as np
from pyodide.code import run_js
from pyodide.ffi import JsException, can_run_sync, run_sync, to_js

from .options import snake_names


@cache
def script(name: str) -> Any:
    """The exports of a script in this folder."""
    text = files(__package__).joinpath(f"{name}.js").read_text(encoding="utf-8")
    return run_js(f"(() => {{ {text}\nreturn meromorph; }})()")


class Waiting:
    """A function that waits for promises. A call waits, `later` is the same as a coroutine."""

    def __init__(self, later: Callable[..., Awaitable[Any]], instead: str):
        self.later = later
        self._instead = instead

    def __get__(self, instance: Any, owner: type | None = None) -> Waiting:
        return self if instance is None else Waiting(partial(self.later, instance), self._instead)

    def __call__(self, *args: Any) -> Any:
        if not can_run_sync():
            raise RuntimeError(
                f"Python cannot wait for the engine here: expected {self._instead}, or a runtime with JavaScript "
                "Promise Integration (Chromium 137, Node 24) that runs the program with runPythonAsync"
            )
        value, error = run_sync(_outcome(self.later(*args)))
        if error is not None:
            raise error
        return value


async def _outcome(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """A value or an error: KeyboardInterrupt would end the event loop."""
    try:
        return await work, None
    except BaseException as error:
        return None, error


def waiting(instead: str) -> Callable[[Callable[..., Awaitable[Any]]], Waiting]:
    """Makes a coroutine function one that waits. `instead` is what a program awaits where waiting is impossible."""
    return lambda later: Waiting(later, instead)


def absent(what: str) -> Callable[..., NoReturn]:
    """A function for what this build of the engine lacks."""

    def refuse(*_args: Any, **_options: Any) -> NoReturn:
        raise NotImplementedError(
            f"{what}: the engine in the browser does not have it: expected the package for CPython"
        )

    return refuse


@contextmanager
def engine_errors() -> Iterator[None]:
    """Errors of the engine as exceptions of Python: ValueError of usage and data, else RuntimeError."""
    try:
        yield
    except JsException as error:
        message = snake_names(str(error.message))
        kind = getattr(error, "kind", None)
        if kind == "usage" and re.search(r"option \".*\" is unknown", message):
            raise TypeError(message) from None
        if kind in ("usage", "input"):
            raise ValueError(message) from None
        raise RuntimeError(message if kind else f"{error.name}: {message}") from None


def typed_array(values: np.ndarray) -> Any:
    """A copy of an array with one dimension as a typed array of JavaScript."""
    return to_js(np.ascontiguousarray(values))


def byte_array(data: bytes) -> Any:
    """A copy of bytes as a Uint8Array."""
    return to_js(memoryview(data))


def array(values: Any, dtype: Any = np.float64) -> np.ndarray:
    """A copy of a typed array as one of NumPy."""
    return np.array(values.to_py(), dtype=dtype)
