"""A fit for people: the text of the command, and a table with a picture for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._engine import Columns
    from ._fit import Fit

#: Dots of a picture, at most.
MOST_DOTS = 500
PLACES = 200
#: Correlations beyond this are named.
STRONG = 0.95


def text(report: Mapping[str, Any]) -> str:
    """The fit as the command prints it."""
    lines = [f"{report['target']} = {report['model']}", _counted(report["rows"], "row"), ""]
    lines += table_lines(*parameters(report))
    if report["derived"]:
        lines += ["", *table_lines(*_derived(report))]
    known = [
        ("R²", report["r_squared"]),
        ("weighted rms residual" if report["is_weighted"] else "rms residual", report["rmse"]),
    ]
    shown = [f"{name} {figure(value)}" for name, value in known if value is not None]
    shown.append(f"{_counted(report['dof'], 'degree')} of freedom")
    shown += [f"AIC {figure(report['aic'])}"] if report["aic"] is not None else []
    lines += ["", "   ".join(shown)]
    if report["reduced_chi_square"] is not None:
        reduced = report["reduced_chi_square"]
        lines.append(f"χ² {figure(reduced * report['dof'])}   reduced χ² {figure(reduced)}")
    lines += [stop(report), *cautions(report)]
    pairs = strong(report)
    return "\n".join(lines + ([f"strongly correlated: {', '.join(pairs)}"] if pairs else []))


def stop(report: Mapping[str, Any]) -> str:
    """Whether the search converged, and after how much work."""
    spent = _counted(report["evaluations"], "evaluation")
    if report["expected_shift_in_sigma"] is not None:
        spent += f" (expected shift {figure(report['expected_shift_in_sigma'])} standard errors)"
    if report["stop"] == "evaluations":
        return f"not converged in {spent}: raise max_evaluations, or start nearer with p0"
    if report["stop"] == "stuck":
        return f"not converged: stuck after {spent}; start elsewhere with p0, or set bounds"
    if report["stop"] == "corner":
        return f"converged in {spent}, at a corner of the cost"
    return f"converged in {spent}" + ("" if report["is_compared"] else "; only the given start was tried")


def cautions(report: Mapping[str, Any]) -> list[str]:
    """What a reader of the parameters has to know."""
    all_of = []
    if report["flat_derivatives"]:
        all_of.append(f"{_counted(report['flat_derivatives'], 'derivative')} of the model not finite, counted as 0")
    if report["recovery"]:
        all_of.append(f"the first search failed; tried after it: {', '.join(report['recovery'])}")
    if report["bootstrap"] and report["bootstrap"]["failed"]:
        all_of.append(
            f"{report['bootstrap']['failed']} of {report['bootstrap']['fits']} fits of drawn data did not converge"
        )
    all_of += [f"the data do not determine {what}" for what in report["undetermined"]]
    return all_of + [one.replace("--", "") for one in report["cautions"]]


def strong(report: Mapping[str, Any]) -> list[str]:
    """Pairs of parameters with a strong correlation."""
    free, matrix = report["free"], report["correlation"]
    pairs = [(j, i) for i in range(len(free)) for j in range(i)]
    return [
        f"{free[i]} and {free[j]} {matrix[i][j]:.3f}"
        for i, j in pairs
        if matrix[i][j] is not None and abs(matrix[i][j]) > STRONG
    ]


def parameters(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of parameters."""
    ties = {tie["name"] for tie in report["ties"]}
    percent = f"{100 * report['level']:.4g} % interval"
    more = [
        name
        for name in ("profile_interval", "bootstrap_interval")
        if any(one[name] for one in report["parameters"].values())
    ]
    head = [
        "parameter",
        "value",
        "standard error",
        percent,
        *({"profile_interval": "from the profile", "bootstrap_interval": "from drawn data"}[name] for name in more),
        "",
    ]
    rows = []
    for name, one in report["parameters"].items():
        error = one["stderr"] or 0.0
        note = (
            "fixed"
            if one["is_fixed"]
            else "at a bound"
            if one["is_at_bound"]
            else "tied"
            if name in ties
            else "not determined"
            if one["stderr"] is None
            else ""
        )
        stderr = "–" if one["stderr"] is None else figure(one["stderr"])
        rows.append(
            [
                name,
                precise(one["value"], error),
                stderr,
                _interval(one["interval"], error),
                *(_interval(one[key], error) for key in more),
                note,
            ]
        )
    return head, rows


def _derived(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    head = ["computed", "value", "standard error", f"{100 * report['level']:.4g} % interval"]
    rows = []
    for name, one in report["derived"].items():
        error = one["stderr"] or 0.0
        rows.append(
            [
                name,
                precise(one["value"], error),
                "–" if one["stderr"] is None else figure(error),
                _interval(one["interval"], error),
            ]
        )
    return head, rows


def _interval(ends: Sequence[float | None] | None, error: float) -> str:
    if ends is None:
        return "–"
    low, high = ("open" if end is None else precise(end, error) for end in ends)
    return f"{low} to {high}"


def precise(value: float | None, error: float) -> str:
    """As many digits as a standard error leaves, with two of its own; six at least."""
    if not value or not isfinite(value):
        return "–" if value is None else f"{value:g}"
    size = abs(value)
    certain = floor(log10(size)) - floor(log10(error)) if error > 0 else 0
    decimals = min(max(certain + 1, 5), 15)
    if not 1e-3 <= size < 1e6:
        return _power(f"{value:.{decimals}e}")
    return f"{value:.{max(decimals - floor(log10(size)), 0)}f}"


def figure(value: float) -> str:
    """Four significant digits in plain letters, or a power of ten where that is shorter."""
    if value == 0 or not isfinite(value):
        return f"{value:g}"
    if not 1e-3 <= abs(value) < 1e6:
        return _power(f"{value:.3e}")
    return f"{value:.{max(3 - floor(log10(abs(value))), 0)}f}"


def _power(text: str) -> str:
    """Without the zeros of the exponent."""
    lead, exponent = text.split("e")
    return f"{lead}e{int(exponent)}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; columns of numbers are aligned on the right."""
    columns = list(zip(head, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    are_numbers = [all(cell[:1] in "0123456789-–i" and cell for cell in column[1:]) for column in columns]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if is_number else cell.ljust(width)
            for cell, width, is_number in zip(row, widths, are_numbers, strict=True)
        ]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines


def html(fit: Fit, data: Columns | None) -> str:
    """The fit as a table, with a picture if it is of one column whose data are there."""
    report = fit.report
    tables = [parameters(report), *([_derived(report)] if report["derived"] else [])]
    body = "".join(_html_table(head, rows) for head, rows in tables)
    figures = [
        f"{name} {figure(value)}"
        for name, value in (("R²", fit.r2), ("rms residual", fit.rmse), ("AIC", fit.aic))
        if isfinite(value)
    ]
    notes = "".join(f"<p>{escape(line)}</p>" for line in (stop(report), *cautions(report)))
    head = f"<code>{escape(report['target'])} = {escape(report['model'])}</code>, {_counted(report['rows'], 'row')}"
    return f"<div>{head}{body}<p>{escape(', '.join(figures))}</p>{notes}{_picture(fit, data)}</div>"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _picture(fit: Fit, data: Columns | None) -> str:
    if data is None or fit.report["level_columns"] or len(fit.columns) != 1:
        return ""
    x = data.numbers(fit.columns[0])
    finite = x[np.isfinite(x)]
    if finite.size == 0 or finite.min() == finite.max():
        return ""
    places = np.linspace(finite.min(), finite.max(), PLACES)
    curve = fit.predict(places)
    widths = np.nan_to_num(curve.confidence if curve.prediction is None else curve.prediction)
    low, high = curve.values - widths, curve.values + widths
    y = data.numbers(fit.target)[:: len(x) // MOST_DOTS + 1] if fit.target in data.names() else np.array([])
    ends = np.concatenate([low, high, y])
    ends = ends[np.isfinite(ends)]
    if ends.size == 0:
        return ""
    width, height, margin = 420, 220, 10
    spans = [(finite.min(), finite.max(), margin, width - margin), (ends.min(), ends.max(), height - margin, margin)]

    def points(xs: np.ndarray, ys: np.ndarray) -> list[str]:
        columns = [
            a + (values - least) * (b - a) / ((most - least) or 1.0)
            for values, (least, most, a, b) in zip((xs, ys), spans, strict=True)
        ]
        return [f"{px:.1f},{py:.1f}" for px, py in zip(*columns, strict=True) if isfinite(px) and isfinite(py)]

    band = " ".join(points(np.concatenate([places, places[::-1]]), np.concatenate([low, high[::-1]])))
    dots = "".join(
        f'<circle cx="{px}" cy="{py}" r="1.8" fill="#666"/>'
        for px, py in (point.split(",") for point in points(x[:: len(x) // MOST_DOTS + 1][: len(y)], y))
    )
    line = " ".join(points(places, curve.values))
    which = "the curve" if curve.prediction is None else "new rows"
    label = f"{fit.target} over {fit.columns[0]}: data, model, and the band of {100 * fit.level:.4g} % of {which}"
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">'
        f'<polygon points="{band}" fill="#06c" fill-opacity="0.15"/>{dots}<polyline points="{line}" fill="none" '
        'stroke="#06c" stroke-width="1.5"/></svg>'
        f"<p>{escape(label)}</p>"
    )
