"""Many fits of one formula: the pixels of a stack of images, the wells of a plate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._arrays import as_array, numbers
from ._columns import columns_of

#: Rows that are fitted between two looks for Ctrl-C: less than a second of work.
PART_ROWS = 500_000
#: The column that numbers the fits: no formula can name it.
EACH = "number of the fit"
#: What the engine says of rows of which none is left, and of levels of which one is.
NO_ROW = ("no row has all values", "holds in no row")
ONE_LEVEL = f'column "{EACH}" has one level'


@dataclass(frozen=True)
class ManyFits:
    """Fits of one formula, arrays with a number for each. A fit without an answer has NaN everywhere."""

    #: What each fit is of: the levels of the column `each`, or the numbers of the fits.
    levels: np.ndarray
    params: dict[str, np.ndarray]
    #: Of the free parameters: infinite where the data do not determine one, NaN where it is fixed.
    stderr: dict[str, np.ndarray]
    #: Root mean square of each fit's residuals, with sigma of the weighted ones.
    rmse: np.ndarray
    converged: np.ndarray
    #: The places of fits without an answer, and why.
    failures: list[tuple[int, str]]

    def __len__(self) -> int:
        return len(self.levels)

    def columns(self) -> dict[str, np.ndarray]:
        """Everything by name, for a frame."""
        parts: dict[str, np.ndarray] = {"level": self.levels}
        for name, values in self.params.items():
            parts[name] = values
            if name in self.stderr:
                parts[f"{name}_stderr"] = self.stderr[name]
        return parts | {"rmse": self.rmse, "converged": self.converged}

    def __repr__(self) -> str:
        from ._fit_text import figure, table_lines

        head = ["parameter", "least", "5 %", "median", "95 %", "largest", "median standard error"]
        rows = []
        for name, values in self.params.items():
            finite = values[np.isfinite(values)]
            spread = np.quantile(finite, [0, 0.05, 0.5, 0.95, 1]) if finite.size else np.full(5, np.nan)
            errors = self.stderr.get(name, np.array([]))
            errors = errors[np.isfinite(errors)]
            rows.append([name, *(figure(value) for value in spread), figure(np.median(errors)) if errors.size else "–"])
        return "\n".join(
            [*table_lines(head, rows), "", f"{int(self.converged.sum()):,} of {len(self):,} fits converged"]
        )

    def _repr_html_(self) -> str:
        from ._html import table

        return table(self.columns(), len(self))


def fit_many(
    formula: str,
    data: Any,
    *,
    each: str | None = None,
    threads: int = 0,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> ManyFits:
    """Fits a formula to each of many sets of rows: those of each level of the column `each`.

    Without `each`, `data` is a mapping in which `y` has two dimensions [fits, rows], and other columns have either the
    same shape or the rows that all fits share. The options are those of `meromorph.fit`, without `tie`, `sigma_x`,
    `profile`, `bootstrap`, `sample` and `derive`; `p0`, `bounds` and `fix` hold for every fit.

    >>> import numpy as np, meromorph as mm
    >>> t, a = np.linspace(0, 4, 30), np.array([[1.0], [2.0], [4.0]])
    >>> fits = mm.fit_many("a*exp(-b*t)", {"t": t, "y": a*np.exp(-0.7*t)})
    >>> fits.params["a"].round(6), bool(fits.converged.all())
    (array([1., 2., 4.]), True)
    """
    if each is not None:
        return _of_levels(formula, columns_of(data, reading), each, threads, options)
    if not isinstance(data, Mapping):
        raise TypeError(
            f"fit_many: got a {type(data).__name__} without each, expected a mapping with y [fits, rows], or each "
            "with the column of the fits"
        )
    return _of_stack(
        formula, {name: as_array(values, f'data: column "{name}"') for name, values in data.items()}, threads, options
    )


def _of_levels(formula: str, columns: _engine.Columns, each: str, threads: int, options: dict[str, Any]) -> ManyFits:
    if each not in columns.names():
        raise ValueError(f'fit_many: each: got "{each}", expected a column, one of {", ".join(columns.names())}')
    parts = _engine.fit_many(columns, formula, options, each, threads)
    texts = parts["levels"]
    try:
        levels = np.array([float(text) for text in texts])
    except ValueError:
        levels = np.array(texts)
    return ManyFits(levels, parts["parameters"], parts["stderrs"], parts["rmse"], parts["converged"], parts["failures"])


def _of_stack(formula: str, data: dict[str, np.ndarray], threads: int, options: dict[str, Any]) -> ManyFits:
    shape = next((array.shape for array in data.values() if array.ndim == 2), None)
    if shape is None or 0 in shape:
        raise ValueError(
            "fit_many: got no column with two dimensions [fits, rows], expected y with them, or each with the column "
            "of the fits"
        )
    fits, rows = shape
    for name, array in data.items():
        if array.shape not in (shape, (rows,)):
            raise ValueError(
                f'fit_many: column "{name}": got the shape {list(array.shape)}, expected [{rows}] or [{fits}, {rows}]'
            )
    if "y" not in options:
        stacked = [name for name, array in data.items() if array.ndim == 2]
        options = {**options, "y": "y" if "y" in stacked else stacked[-1]}
    size = max(1, PART_ROWS // rows)
    parts = []
    for first in range(0, fits, size):
        count = min(size, fits - first)
        own = {
            name: numbers(
                array[first : first + count] if array.ndim == 2 else np.broadcast_to(array, (count, rows)), name
            ).reshape(-1)
            for name, array in data.items()
        }
        own[EACH] = np.repeat(np.arange(first, first + count, dtype=np.float64), rows)
        parts.append(_part(formula, own, Place(first, count, rows), threads, options))
    return _joined(parts)


@dataclass(frozen=True)
class Place:
    """Where a part is in a stack: the number of its first fit, of its fits, and of the rows of each."""

    first: int
    count: int
    rows: int

    def located(self, text: str, options: Mapping[str, Any]) -> str:
        """A message about a row of the part as one about a row of a fit."""
        if not text.startswith("data") and ("where" in options or options.get("missing") == "drop"):
            # These are counted without the rows that are left out.
            return re.sub(r"\brow (\d+)", rf"row \1 of those that are used from fit {self.first} on", text)

        def row(found: re.Match[str]) -> str:
            fit, row = divmod(int(found[1]) - 1, self.rows)
            return f"fit {self.first + fit % self.count}, row {row + 1}"

        return re.sub(r"\brow (\d+)", row, text)


def _part(
    formula: str, own: dict[str, np.ndarray], place: Place, threads: int, options: dict[str, Any]
) -> tuple[Place, ManyFits | str]:
    """Fits of a part, or why none of them has a row."""
    try:
        return place, _numbered(_of_rows(formula, own, threads, options), place, options)
    except ValueError as error:
        why = str(error)
        if any(text in why for text in NO_ROW):
            return place, why
        raise ValueError(place.located(why, options)) from None


def _of_rows(formula: str, own: dict[str, np.ndarray], threads: int, options: dict[str, Any]) -> ManyFits:
    try:
        return _of_levels(formula, columns_of(own), EACH, threads, options)
    except ValueError as error:
        if ONE_LEVEL not in str(error):
            raise
    # Levels have to be two: an only fit that has rows is there again, with a number below 0.
    twice = {name: np.tile(array, 2) for name, array in own.items()}
    twice[EACH][own[EACH].size :] = -1 - own[EACH]
    return _of_levels(formula, columns_of(twice), EACH, threads, options)


def _joined(parts: list[tuple[Place, ManyFits | str]]) -> ManyFits:
    known = next((part for _, part in parts if isinstance(part, ManyFits)), None)
    if known is None:
        raise ValueError(parts[0][1])
    whole = [_absent(place, known) if isinstance(part, str) else part for place, part in parts]
    params, stderr = (
        {name: np.concatenate([getattr(part, kind)[name] for part in whole]) for name in getattr(known, kind)}
        for kind in ("params", "stderr")
    )
    levels, rmse, converged = (
        np.concatenate([getattr(part, name) for part in whole]) for name in ("levels", "rmse", "converged")
    )
    return ManyFits(levels, params, stderr, rmse, converged, [failure for part in whole for failure in part.failures])


def _absent(place: Place, like: ManyFits) -> ManyFits:
    """Fits none of which has a row."""
    nothing = {name: np.empty(0) for name in like.params}
    errors = {name: np.empty(0) for name in like.stderr}
    none = ManyFits(np.empty(0), nothing, errors, np.empty(0), np.empty(0, dtype=bool), [])
    return _numbered(none, place, {})


def _numbered(part: ManyFits, place: Place, options: Mapping[str, Any]) -> ManyFits:
    """Fits by their numbers, with those all of whose rows are left out."""
    first, count = place.first, place.count
    places = part.levels.astype(np.int64) - first
    inside = part.levels >= 0
    failures = [(int(places[at]) + first, place.located(why, options)) for at, why in part.failures if inside[at]]
    absent = sorted(set(range(count)) - set(places.tolist()))
    failures += [(first + at, "no row has all values: expected at least one") for at in absent]

    def placed(values: np.ndarray, absent: Any) -> np.ndarray:
        whole = np.full(count, absent, dtype=values.dtype)
        whole[places[inside]] = values[inside]
        return whole

    params, stderr = (
        {name: placed(values, np.nan) for name, values in named.items()} for named in (part.params, part.stderr)
    )
    return ManyFits(
        np.arange(first, first + count),
        params,
        stderr,
        placed(part.rmse, np.nan),
        placed(part.converged, False),
        sorted(failures),
    )
