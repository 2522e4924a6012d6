"""Progress of a run: a bar in a notebook or a terminal, or a function of the program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

WIDTH = 24
SECONDS = 0.2


class Watcher:
    """Is called with the JSON text of each epoch."""

    def __init__(self, function: Callable[[dict[str, Any]], Any]):
        self._function = function

    def __call__(self, text: str) -> bool | None:
        answer = self._function(json.loads(text))
        # The False of NumPy is one as well.
        is_flag = isinstance(answer, bool) or type(answer).__name__ in ("bool", "bool_")
        return False if is_flag and not answer else None

    def close(self) -> None:
        """The run is over."""
        close = getattr(self._function, "close", None)
        if close is not None:
            close()


class Bar:
    """One line that is written again, at most five times a second."""

    def __init__(self, epochs: int | None):
        self._epochs = epochs
        self._handle: Any = None
        self._shown = 0.0
        self._last = ""

    def __call__(self, event: dict[str, Any]) -> None:
        if "fold" in event:
            self._last = f"fold {event['fold']} of {event['folds']}"
        else:
            loss = event["val_loss"] if event.get("val_loss") is not None else event["train_loss"]
            what = "validation loss" if event.get("val_loss") is not None else "loss"
            of = f" of {self._epochs}" if self._epochs else ""
            self._last = f"epoch {event['epoch'] + 1}{of}, {what} {loss:.5g}"
        if time.monotonic() - self._shown >= SECONDS:
            self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        if _in_notebook():
            from IPython.display import display

            if self._handle is None:
                self._handle = display(_Line(self._last), display_id=True)
            else:
                self._handle.update(_Line(self._last))
        else:
            sys.stderr.write(f"\r\x1b[K{self._last}")
            sys.stderr.flush()

    def close(self) -> None:
        """Shows the last epoch."""
        if self._last:
            self._show()
            if not _in_notebook():
                sys.stderr.write("\n")


class _Line:
    """A text that notebooks show as it is."""

    def __init__(self, text: str):
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


def watcher(progress: bool | Callable[[dict[str, Any]], Any] | None, epochs: Any) -> Watcher | None:
    """What follows a run: by default a bar where a person looks."""
    if callable(progress):
        return Watcher(progress)
    is_seen = sys.stderr is not None and (_in_notebook() or sys.stderr.isatty())
    if (progress is None and not is_seen) or progress is False:
        return None
    return Watcher(Bar(epochs if isinstance(epochs, int) else None))
