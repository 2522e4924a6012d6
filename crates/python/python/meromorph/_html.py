"""What notebooks show of a result."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._model import Model

MOST_ROWS = 10


def table(columns: Mapping[str, Any], rows: int) -> str:
    """The first rows of columns by name."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    lines = []
    for row in range(min(rows, MOST_ROWS)):
        cells = "".join(f"<td>{escape(_text(column[row]))}</td>" for column in columns.values())
        lines.append(f"<tr><th>{row}</th>{cells}</tr>")
    more = f"<p>{rows} rows</p>" if rows > MOST_ROWS else ""
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{more}"


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return "–"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def model(model: Model) -> str:
    """A model, how well it does and what it uses."""
    about = model.info
    training = about["training"] or {}
    parts = [
        ("validation", training.get("val")),
        ("test", training.get("test")),
        ("without inputs", training.get("baseline")),
    ]
    parts = [(name, figures) for name, figures in parts if figures]
    names = list(
        dict.fromkeys(
            name
            for _, figures in parts
            for name, value in figures.items()
            if value is not None and not isinstance(value, (list, dict))
        )
    )
    columns = {"": [name for name, _ in parts]} | {name: [figures.get(name) for _, figures in parts] for name in names}
    head = f"<b>{escape(about['task'])}</b> of <code>{escape(model.target)}</code> from {len(model.columns)} columns, {about['parameters']:,} parameters"
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(_text(columns[name][at]))}</td>' for name in columns)}</tr>"
        for at in range(len(parts))
    )
    heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
    curve = _curve(model.run["history"]) if model.run and len(model.run["history"]) > 1 else ""
    return f"<div>{head}<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{curve}</div>"


def _curve(history: list[dict[str, Any]]) -> str:
    """The losses of a run as a picture, on a logarithmic scale where they are positive."""
    from math import log10

    series = [("train_loss", "#888", "training"), ("val_loss", "#06c", "validation")]
    values = {key: [epoch.get(key) for epoch in history] for key, _, _ in series}
    present = [value for key in values for value in values[key] if value is not None]
    is_log = all(value > 0 for value in present)
    scaled = [log10(value) if is_log else value for value in present]
    low, high = min(scaled), max(scaled)
    width, height = 360, 120
    lines = []
    for key, colour, name in series:
        points = [
            f"{10 + at * (width - 20) / (len(history) - 1):.1f},{10 + (high - (log10(value) if is_log else value)) * (height - 20) / ((high - low) or 1):.1f}"
            for at, value in enumerate(values[key])
            if value is not None
        ]
        if points:
            lines.append(
                f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.5"><title>{name} loss</title></polyline>'
            )
    label = f"loss of {len(history)} epochs, from {max(present):.3g} to {min(present):.3g}"
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{label}">{"".join(lines)}</svg><p>{label}: training grey, validation blue</p>'
