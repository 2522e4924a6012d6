"""Training runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pyodide_js

from .bridge import engine_errors, script, waiting
from .models import Model, opened
from .options import camel_options
from .tables import Table, js_object


@waiting("await Model.train_async(…)")
async def train(  # noqa: PLR0917 - the arguments of the native engine
    table: Table,
    options: dict[str, Any],
    reading: dict[str, Any],
    folds: int,
    device: str,
    threads: int,
    watch: Callable[[str], bool | None] | None,
) -> tuple[Model, str]:
    """Trains a model on a table: the model and a JSON text about the run. See the native engine for `watch`."""
    # The table has it already.
    del reading
    given = camel_options("train", options, "train")
    if not given.get("target"):
        raise TypeError("train: got no target, expected the name of a column")
    if folds:
        raise NotImplementedError("train: folds: the engine in the browser has no cross-validation: expected folds=0")
    categories = [name for name in table.categories if name not in given.get("categorical", [])]
    if categories:
        given["categorical"] = [*given.get("categorical", []), *categories]
    engine = await opened(device, threads)
    following = _Following(watch)
    with engine_errors():
        run = engine.train(table.data(), js_object({**table.how(), **given}))
        end = await following.to_its_end(run)
    if end is None:
        raise following.stopped or FloatingPointError(_diverged(options))
    model, result = end
    report = following.report(result, engine.info.device)
    with engine_errors():
        return await Model.trained(model, (device, threads)), json.dumps(report)


class _Following:
    """The program's own part in a run: its function, what made it stop, and the events so far."""

    def __init__(self, watch: Callable[[str], bool | None] | None):
        self._watch = watch
        self._start: dict[str, Any] = {}
        #: Epochs by number: an event may be taken twice.
        self._history: dict[int, dict[str, Any]] = {}
        self.stopped: BaseException | None = None

    async def to_its_end(self, run: Any) -> tuple[Any, dict[str, Any]] | None:
        """The model and the last event; None if no epoch gave a model. Raises what the program's function raised."""
        read = script("engine").reader(run, pyodide_js.checkInterrupt)
        try:
            model, event = await self._end_of(read, run)
        except BaseException:
            run.dispose()
            raise
        if self.stopped is not None and not isinstance(self.stopped, KeyboardInterrupt):
            raise self.stopped
        return None if event["best_epoch"] is None and event["stop"] in ("stopped", "diverged") else (model, event)

    async def _end_of(self, read: Any, run: Any) -> tuple[Any, dict[str, Any]]:
        """Takes each event. Ctrl-C may strike anywhere here: an event that it strikes is read again."""
        number = 1
        while True:
            try:
                answer = await read(number)
                if answer is None:
                    raise KeyboardInterrupt
                event = _snake(json.loads(answer.text))
                if event["event"] == "end":
                    return answer.model, event
                self._take(event)
                number += 1
            except KeyboardInterrupt as error:
                self.stopped = self.stopped or error
            if self.stopped is not None:
                run.stop()

    def _take(self, event: dict[str, Any]) -> None:
        if event["event"] == "start":
            self._start = event
            return
        coverage = event.pop("coverage")
        event |= {"pairs": None if coverage is None else {"coverage": coverage}, "score": None}
        del event["event"]
        self._history[event["epoch"]] = event
        if self._watch is None or self.stopped is not None:
            return
        try:
            if self._watch(json.dumps(event)) is False:
                self.stopped = KeyboardInterrupt("the program stopped the run")
        except BaseException as error:
            self.stopped = error

    def report(self, end: dict[str, Any], device: str) -> dict[str, Any]:
        """What is known about the run besides its model."""
        best, start = end["best_epoch"], self._start
        return {
            "stop": "requested" if end["stop"] == "stopped" else end["stop"],
            "epochs": end["epochs"],
            "best_epoch": None if best is None else best + 1,
            "steps": end["steps"],
            "step": start["step"],
            "device": device,
            "reason": start["reason"],
            "gaps": start["gaps"] or None,
            "warnings": [_warning(one) for one in start["warnings"] + end["warnings"]],
            "history": list(self._history.values()),
        }


def _diverged(options: dict[str, Any]) -> str:
    lr = "" if options.get("lr") is None else f"got lr={options['lr']:g}, "
    return f"train: the loss diverged before a first epoch was better than none: {lr}expected a smaller learning rate"


def _warning(warning: dict[str, Any]) -> str:
    column = f'column "{warning["column"]}": ' if warning["column"] else ""
    cells = ": " + ", ".join(f'"{cell}"' for cell in warning["cells"]) if warning["cells"] else ""
    return f"{column}{warning['message']}{cells}"


def _snake(event: Any) -> Any:
    """An event with names as the native engine has them."""
    if isinstance(event, list):
        return [_snake(one) for one in event]
    if not isinstance(event, dict):
        return event
    return {
        re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", name): _snake(value) for name, value in event.items()
    }
