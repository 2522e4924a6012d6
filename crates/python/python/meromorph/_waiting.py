"""Calls of the engine that a program awaits: in CPython they run in a thread, in Pyodide they are promises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


async def awaited(call: Callable[..., Any], *args: Any) -> Any:
    """The result of a function of the engine, while other tasks run."""
    later = getattr(call, "later", None)
    return await (asyncio.to_thread(call, *args) if later is None else later(*args))


class Stoppable:
    """What follows a run in another thread, and stops it."""

    def __init__(self, watch: Callable[[str], bool | None] | None):
        self._watch = watch
        self._is_stopped = False

    def __call__(self, text: str) -> bool | None:
        if self._is_stopped:
            return False
        return None if self._watch is None else self._watch(text)

    def stop(self) -> None:
        """Ends the run after its current epoch."""
        self._is_stopped = True
