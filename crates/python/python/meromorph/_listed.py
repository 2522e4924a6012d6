"""The options of each task as a list that a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from . import _engine


class Option(NamedTuple):
    """An option of a task."""

    name: str
    group: str
    type: str
    default: str
    doc: str


class Options(Sequence[Option]):
    """The options of a task; notebooks show them as a table."""

    def __init__(self, rows: Sequence[Option]):
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at):  # type: ignore[no-untyped-def]
        return self._rows[at]

    def __iter__(self) -> Iterator[Option]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return "\n".join(
            f"{row.name} ({row.type.replace('`', '')}): {row.doc}" + (f"; {row.default}" if row.default else "")
            for row in self
        )

    def _repr_html_(self) -> str:
        lines = "".join(
            "<tr>" + "".join(f"<td>{escape(cell.replace('`', ''))}</td>" for cell in row) + "</tr>" for row in self
        )
        head = "".join(f"<th>{name}</th>" for name in Option._fields)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def options(task: str) -> Options:
    """The options of a task: `train`, `reading`, `predict`, `fit` or `contrast`.

    >>> import meromorph as mm
    >>> next(option.doc for option in mm.options("train") if option.name == "epochs")
    'Maximum number of passes over the training rows'
    """
    return Options([Option(*row) for row in _engine.options(task)])


def devices() -> list[str]:
    """The names of the devices that this build can use; whether this machine has one shows when it is opened.

    >>> import meromorph as mm
    >>> "cpu" in mm.devices()
    True
    """
    return list(_engine.devices())
