"""Memories that are learned from classes: they find the rows that are like another, or say that there is none."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _engine
from ._arrays import matrix
from ._files import write
from ._labels import coded, codes_among, typed
from ._progress import watcher
from ._rows import chosen, finite, named, stacked


@dataclass(frozen=True)
class Neighbours:
    """What is found for queries, a row for each."""

    #: Numbers of the rows of the memory [queries, count], nearest first.
    rows: np.ndarray
    #: Their distances [queries, count].
    distances: np.ndarray
    #: Their labels [queries, count].
    labels: np.ndarray
    #: Their weights [queries, count], whose sum is 1 for each query.
    weights: np.ndarray
    #: The label with the largest weight, and its share [queries].
    label: np.ndarray
    share: np.ndarray
    #: Whether anything in memory is like the query [queries].
    known: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, np.ndarray]:
        """The label of each query with its share, for a frame."""
        return {"label": self.label, "share": self.share, "distance": self.distances[:, 0], "known": self.known}

    def _repr_html_(self) -> str:
        from ._html import table

        return table(self.columns(), len(self))


class Memory:
    """Rows with labels, and the map under which they are compared; `meromorph.contrast` learns one, `Memory.load` reads
    one.
    """

    def __init__(self, engine: _engine.Memory, run: Mapping[str, Any] | None = None):
        self._engine = engine
        #: How the run went: `history` of the loss, `rows`, `held`, and `judged`, the figures over held rows with and
        #: without the learned map; None of a memory that was loaded.
        self.run = run
        #: What the file says of it.
        self.info: dict[str, Any] = json.loads(engine.info())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Memory:
        """The memory in a file that `save` or `mero contrast` wrote. Raises OSError without the file, ValueError for
        another kind of file.
        """
        with open(path, "rb") as file:
            return cls(_engine.Memory.load(file.read(), os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file, which the command, the browser and this package read: whole or not at all."""
        write(path, bytes(self._engine.save()))

    @property
    def classes(self) -> np.ndarray:
        """The labels."""
        header = self.info["header"]
        return typed(header["names"], header["is_numeric"])

    @property
    def labels(self) -> np.ndarray:
        """The label of each row of the memory."""
        return self.classes[self._engine.parts()[0]]

    @property
    def map(self) -> np.ndarray:
        """A [outputs, inputs]: a row x is compared as A (x - shift)."""
        return self._engine.parts()[1].reshape(self.info["outputs"], self.info["inputs"])

    @property
    def shift(self) -> np.ndarray:
        """Subtracted from each row [inputs]."""
        return self._engine.parts()[2]

    def find(self, X: Any, count: int = 10) -> Neighbours:
        """The nearest `count` rows of the memory for each row of X [queries, inputs].

        Columns with names are those of the memory, in any order; others are left out.
        """
        x, count = self._rows(X, "find"), min(count, self.info["rows"])
        rows, distances, weights, known, codes, share = self._engine.find(x.reshape(-1), count)
        rows, classes = rows.reshape(-1, count), self.classes
        labels = classes[self._engine.parts()[0]][rows]
        return Neighbours(
            rows, distances.reshape(-1, count), labels, weights.reshape(-1, count), classes[codes], share, known
        )

    def predict(self, X: Any, *, count: int = 10, unknown: Any = ...) -> np.ndarray:
        """The label with the largest weight among the nearest rows. With `unknown`, such as None, that for rows which
        nothing in memory is like.
        """
        found = self.find(X, count)
        if unknown is ... or found.known.all():
            return found.label
        labels = found.label.astype(object)
        labels[~found.known] = unknown
        return labels

    def mapped(self, X: Any) -> np.ndarray:
        """A (x - shift) for each row of X: coordinates [rows, outputs] whose distances are those of the memory."""
        return self._engine.mapped(self._rows(X, "mapped").reshape(-1)).reshape(-1, self.info["outputs"])

    def judge(self, X: Any, labels: Any) -> dict[str, Any]:
        """How well it knows rows that it does not hold: `recall` among the nearest 1, 5 and 10, `map_at_r`, `accuracy`,
        and the share that is `known`.
        """
        header = self.info["header"]
        codes = codes_among(labels, "judge", header["names"], header["is_numeric"])
        return _figures(json.loads(self._engine.judge(self._rows(X, "judge").reshape(-1), codes.tolist())))

    def _rows(self, X: Any, call: str) -> np.ndarray:
        columns = named(X, f"{call}: X")
        if columns is not None:
            X = stacked(chosen(columns, self.info["header"]["columns"], f"{call}: X"), f"{call}: X")
        return finite(matrix(X, f"{call}: X", self.info["inputs"]), call)

    def __len__(self) -> int:
        return self.info["rows"]

    def __repr__(self) -> str:
        columns = f"{self.info['inputs']} columns compared in {self.info['outputs']}"
        return f"<Memory of {len(self):,} rows, {len(self.classes)} classes, {columns}>"

    def _repr_html_(self) -> str:
        from html import escape

        about = f"<p>{escape(repr(self)[1:-1])}</p>"
        if not self.run or not self.run["judged"]:
            return about
        judged = self.run["judged"]
        names = [("accuracy", "accuracy"), ("map_at_r", "MAP@R"), ("known", "known")]
        rows = "".join(
            f"<tr><th>{title}</th>{''.join(f'<td>{judged[key][name]:.4f}</td>' for name, _ in names)}</tr>"
            for key, title in (("learned", "learned map"), ("plain", "no map"))
        )
        head = "".join(f"<th>{title}</th>" for _, title in names)
        head = f"<thead><tr><th>{self.run['held']} held rows</th>{head}</tr></thead>"
        return f"<div>{about}<table>{head}<tbody>{rows}</tbody></table></div>"

    def __getstate__(self) -> dict[str, Any]:
        return {"file": bytes(self._engine.save()), "run": self.run}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(_engine.Memory.load(state["file"], "pickled memory"), state["run"])  # type: ignore[misc]


def contrast(
    X: Any,
    labels: Any,
    *,
    device: str = "auto",
    threads: int = 0,
    progress: bool | Callable[[dict[str, Any]], Any] | None = None,
    **options: Any,
) -> Memory:
    """Learns a memory of rows X [rows, inputs] with labels: a map under which rows of one class are near each other.

    X is an array, a frame or a mapping of numbers, of which `labels` may name a column; it is held in single precision,
    and float32 is taken as it is. Labels are texts, numbers or truth values, and stay so. `options` are those of `mero
    contrast`: `map`, `outputs`, `epochs`, `batch`, `lr`, `memory`, `sharpness`, `test`, `seed` and others. `progress`
    shows a bar, or is called with each epoch; it stops the run by returning False. Ctrl-C ends the run.

    Raises ValueError for data and options that cannot be used, TypeError for unknown options.

    >>> import numpy as np, meromorph as mm
    >>> angle = np.linspace(0, 6, 60)
    >>> X = np.c_[np.cos(angle), np.sin(angle), 50 * np.sin(17 * angle)]
    >>> memory = mm.contrast(X, np.where(X[:, 0] > 0, "right", "left"), epochs=20, device="cpu", progress=False)
    >>> memory.predict([[1.0, 0.1, 0.0]])
    array(['right'], dtype='<U5')
    """
    target = labels if isinstance(labels, str) else str(getattr(labels, "name", None) or "label")
    columns = named(X, "contrast: X")
    if isinstance(labels, str):
        if columns is None or labels not in columns:
            raise ValueError(
                f'contrast: labels: got "{labels}", expected a column of a frame, or an array with a label for each row'
            )
        labels = columns.pop(labels)
    names = None if columns is None else list(columns)
    x = matrix(X if columns is None else stacked(columns, "contrast: X"), "contrast: X")
    if x.shape[1] == 0:
        raise ValueError("contrast: X: got no columns, expected at least one column of numbers")
    codes, classes, is_numeric = coded(labels, "contrast")
    if len(codes) != len(x):
        raise ValueError(f"contrast: got {len(codes)} labels for {len(x)} rows, expected one for each")
    finite(x, "contrast")
    about = {
        "columns": names or [f"x{at}" for at in range(x.shape[1])],
        "target": target,
        "names": classes,
        "is_numeric": is_numeric,
    }
    watch = watcher(progress, options.get("epochs", 30))
    try:
        engine, report = _engine.contrast(x.reshape(-1), codes, about, options, device, threads, watch)
    finally:
        if watch is not None:
            watch.close()
    run = json.loads(report)
    if run["judged"]:
        run["judged"] = {name: _figures(figures) for name, figures in run["judged"].items()}
    return Memory(engine, run)


def _figures(judged: dict[str, Any]) -> dict[str, Any]:
    return judged | {"recall": {int(count): share for count, share in judged["recall"].items()}}
