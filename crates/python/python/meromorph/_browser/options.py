"""Options as the package names them, and as the npm package does."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

TASKS = ("train", "reading", "predict", "fit", "contrast")


@cache
def _tables() -> dict[str, list[list[str]]]:
    return json.loads(files(__package__).joinpath("options.json").read_text(encoding="utf-8"))


def options(task: str) -> list[list[str]]:
    """Name, group, type and range, default and document of every option of a task."""
    if task not in TASKS:
        raise ValueError(f'options: got "{task}", expected train, reading, predict, fit or contrast')
    return _tables()[task]


def _camel(name: str) -> str:
    """The name of an option in JavaScript: `weight_decay` is weightDecay, `global_` is global."""
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name.removesuffix("_"))


@cache
def _by_camel() -> dict[str, str]:
    names = {_camel(row[0]): row[0] for task in TASKS for row in options(task)}
    return {camel: name for camel, name in names.items() if camel != name and camel.lower() != camel}


def snake_names(message: str) -> str:
    """A message of the npm package with the names that options have in Python."""
    return re.sub(r"\w+", lambda word: _by_camel().get(word[0], word[0]), message)


def camel_options(task: str, given: Mapping[str, Any], call: str) -> dict[str, Any]:
    """The options of a call by their names in JavaScript; None counts as unset. Raises TypeError for an unknown one."""
    # A name that is a word of Python may be given without its underscore, too.
    rows = {row[0].removesuffix("_"): row for row in options(task)}
    known: dict[str, Any] = {}
    for given_name, value in given.items():
        name = given_name.removesuffix("_")
        if name not in rows:
            near = get_close_matches(name, rows, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"expected one of {', '.join(rows)}"
            raise TypeError(f'{call}: option "{given_name}" is unknown: {hint}')
        if value is not None:
            known[_camel(name)] = _plain(value, f"{call}: {name}", rows[name][2])
    return known


def _plain(value: Any, where: str, expected: str) -> Any:
    """A value of lists, mappings, texts, numbers and truth values only, as JavaScript knows them."""
    if isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        # Larger whole numbers would become BigInt.
        return value if abs(value) < 2**53 else float(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(one, where, expected) for name, one in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), where, expected)
    if isinstance(value, (list, tuple)):
        return [_plain(one, where, expected) for one in _opened(value)]
    raise ValueError(f"{where}: got a value of type {type(value).__name__}, expected {expected.replace('`', '')}")


def _opened(items: Sequence[Any]) -> Sequence[Any]:
    """A range with infinite ends for those that are None."""
    if len(items) != 2:
        return items
    low, high = items
    return [-math.inf if low is None else low, math.inf if high is None else high]
