"""What notebooks show of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._model import Model

MOST_ROWS = 10
# Size of a picture and its margin, in pixels.
WIDTH, HEIGHT, MARGIN = 360, 120, 10


def table(columns: Mapping[str, Any], rows: int) -> str:
    """The first rows of columns by name."""
    shown = min(rows, MOST_ROWS)
    lines = [[str(row), *(column[row] for column in columns.values())] for row in range(shown)]
    more = f"<p>{rows} rows</p>" if rows > shown else ""
    return _grid(["", *columns], lines) + more


def _grid(head: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(_text(cell))}</td>" for cell in line) + "</tr>" for line in lines)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return "–"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def model(model: Model) -> str:
    """A model, how well it does and how its losses fell."""
    about = model.info
    training = about["training"] or {}
    named = [("validation", "val"), ("test", "test"), ("without inputs", "baseline")]
    parts = [(name, training[key]) for name, key in named if training.get(key)]
    figures = {name: None for _, part in parts for name, value in part.items() if isinstance(value, (int, float))}
    lines = [[name, *(part.get(figure) for figure in figures)] for name, part in parts]
    head = f"<b>{escape(about['task'])}</b> of <code>{escape(model.target)}</code>"
    size = f"{len(model.columns)} columns, {about['parameters']:,} parameters"
    curve = losses(model.run["history"]) if model.run else ""
    return f"<div>{head} from {size}{_grid(['', *figures], lines)}{curve}</div>"


def losses(history: Sequence[Mapping[str, Any]]) -> str:
    """The losses of a run as a picture, on a logarithmic scale where they are positive."""
    training = [epoch["train_loss"] for epoch in history]
    validation = [epoch["val_loss"] for epoch in history if epoch.get("val_loss") is not None]
    present = [loss for loss in training + validation if loss == loss]
    if len(history) < 2 or not present:
        return ""
    scale = log10 if min(present) > 0 else float
    low, high = scale(min(present)), scale(max(present))
    lines = _line(training, "#888", scale, (low, high)) + _line(validation, "#06c", scale, (low, high))
    label = f"loss of {len(history)} epochs, from {max(present):.3g} to {min(present):.3g}"
    picture = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{label}">'
    return f"{picture}{lines}</svg><p>{label}: training grey, validation blue</p>"


def _line(values: Sequence[float], colour: str, scale: Any, ends: tuple[float, float]) -> str:
    if len(values) < 2:
        return ""
    low, high = ends
    step = (WIDTH - 2 * MARGIN) / (len(values) - 1)
    rise = (HEIGHT - 2 * MARGIN) / ((high - low) or 1)
    points = [
        f"{MARGIN + at * step:.1f},{MARGIN + (high - scale(value)) * rise:.1f}" for at, value in enumerate(values)
    ]
    return f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
