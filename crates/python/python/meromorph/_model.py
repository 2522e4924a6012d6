"""Models that are trained on a table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from . import _engine
from ._checked import name_of_device, warn, whole
from ._files import write
from ._frames import labels_of, table_of
from ._progress import watcher
from ._waiting import Stoppable, awaited

if TYPE_CHECKING:
    from ._options import PredictOptions, ReadingOptions, TrainOptions


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Predictions of rows, and how far they can be trusted.

    `value` has a number or a label for each row, NaN or None where there is none. Absent parts are None.
    """

    value: np.ndarray
    #: [rows, classes], in the order of `Model.classes`.
    probabilities: np.ndarray | None = None
    #: Standard deviations, of a model that predicts them.
    deviation: np.ndarray | None = None
    #: Where a model with poles has no value, is near a pole, and met a number that is not finite.
    bottom: np.ndarray | None = None
    gap: np.ndarray | None = None
    fault: np.ndarray | None = None
    #: Ends of the interval at the given level.
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    #: (row, column, what was noticed), rows from 0.
    notes: list[tuple[int, str, str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        more = f", {len(self.notes)} notes" if self.notes else ""
        return f"<Predictions of {len(self)} rows: {', '.join(self.columns())}{more}>"

    def columns(self) -> dict[str, Any]:
        """Every part that is there, by name, for a frame."""
        parts = {"prediction": self.value}
        for name in ("deviation", "lower", "upper", "bottom", "gap", "fault"):
            if getattr(self, name) is not None:
                parts[name] = getattr(self, name)
        return parts

    def _repr_html_(self) -> str:
        from ._html import table

        return table(self.columns(), len(self))


class Model:
    """A model that was trained on a table; `Model.train` makes one, `Model.load` reads one."""

    def __init__(self, engine: _engine.Model, run: Mapping[str, Any] | None = None):
        self._engine = engine
        self._about: dict[str, Any] | None = None
        #: How the run went: `history`, `stop`, `epochs`, `best_epoch`, `warnings`; None of a model that was loaded.
        self.run = run

    @classmethod
    def train(
        cls,
        data: Any,
        *,
        target: str,
        folds: int = 0,
        device: str = "auto",
        threads: int = 0,
        progress: bool | Callable[[dict[str, Any]], Any] | None = None,
        reading: ReadingOptions | None = None,
        **options: Unpack[TrainOptions],
    ) -> Model:
        """Trains a model that predicts the column `target` of a table from its other columns.

        `data` is a frame of pandas, polars or PyArrow, a mapping of columns, an array [rows, columns], or the path of a
        file; `reading` says how a file is written, as in `{"decimal": ","}`. `options` are those of `mero train`, with
        underscores; `meromorph.options("train")` lists them. With `folds` the model is cross-validated first.

        `progress` shows a bar, or is called with each epoch, and stops the run by returning False. Ctrl-C stops it as
        well. The model is then that of the best epoch so far.

        >>> import meromorph as mm
        >>> table = {"x": [0.0, 1.0, 2.0, 3.0] * 20, "y": [1.5, 3.5, 5.5, 7.5] * 20}
        >>> mm.Model.train(table, target="y", hidden=[16], epochs=5, device="cpu", progress=False)
        <Model of y: regression from 1 columns, 97 parameters>

        Raises ValueError for options and data that cannot be used, TypeError for unknown options, FloatingPointError if
        the loss diverges.
        """
        how = (whole("folds", folds), name_of_device(device), whole("threads", threads))
        table = table_of(data, reading)
        given = {"target": target, **options}
        watch = watcher(progress, options.get("epochs"))
        try:
            engine, report = _engine.train(table, given, dict(reading or {}), *how, watch)
        finally:
            if watch is not None:
                watch.close()
        return cls._of_run(engine, report, data, target)

    @classmethod
    async def train_async(
        cls,
        data: Any,
        *,
        target: str,
        folds: int = 0,
        device: str = "auto",
        threads: int = 0,
        progress: bool | Callable[[dict[str, Any]], Any] | None = None,
        reading: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Model:
        """Trains as `train` does, while other tasks run: `model = await Model.train_async(df, target="price")`.

        `progress` is called in another thread. If the task is cancelled, the run ends after its current epoch.
        """
        how = (whole("folds", folds), name_of_device(device), whole("threads", threads))
        table = table_of(data, reading)
        given = {"target": target, **options}
        watch = watcher(progress, options.get("epochs"))
        stoppable = Stoppable(watch)
        try:
            call = (table, given, dict(reading or {}), *how, stoppable)
            engine, report = await awaited(_engine.train, *call)
        finally:
            stoppable.stop()
            if watch is not None:
                watch.close()
        return cls._of_run(engine, report, data, target)

    @classmethod
    def _of_run(cls, engine: _engine.Model, report: str, data: Any, target: str) -> Model:
        """The model of a run, after its warnings."""
        labels = labels_of(data, target) if json.loads(engine.info())["task"] == "classification" else None
        run = json.loads(report)
        if labels:
            engine = engine.labelled(labels)
        for warning in run["warnings"]:
            warn(f"train: {warning}")
        if run["stop"] == "requested":
            best, epochs = run["best_epoch"], run["epochs"]
            warn(f"train: stopped after epoch {epochs}: this is the model of epoch {best}, the best so far")
        return cls(engine, run)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """The model of a file that `save` or the command wrote. Raises OSError without the file, ValueError for another
        kind of file."""
        with open(path, "rb") as file:
            return cls(_engine.Model.load(file.read(), os.fspath(path)))

    @classmethod
    def from_bytes(cls, data: bytes) -> Model:
        """The model in the bytes of a file."""
        return cls(_engine.Model.load(data, "model"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file, which the command, the browser and this package read: whole or not at all."""
        write(path, self.to_bytes())

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return self._engine.save()

    @property
    def info(self) -> dict[str, Any]:
        """What the model is and how it was trained: what `mero info --json` prints."""
        if self._about is None:
            self._about = json.loads(self._engine.info())
        return self._about

    @property
    def task(self) -> str:
        """`regression` or `classification`."""
        return self.info["task"]

    @property
    def target(self) -> str:
        """The name of the column that it predicts."""
        return self.info["target"]["name"]

    @property
    def columns(self) -> list[str]:
        """The names of the columns that it needs."""
        return [column["name"] for column in self.info["columns"]]

    @property
    def classes(self) -> np.ndarray:
        """The labels that it predicts, in the order of the probabilities; empty of a model of numbers."""
        return _typed((self.info["target"] or {}).get("classes", []), self.info["labels"])

    def predict(
        self,
        data: Any,
        *,
        device: str = "auto",
        threads: int = 0,
        reading: ReadingOptions | None = None,
        **options: Unpack[PredictOptions],
    ) -> np.ndarray:
        """A number or a label for each row of a table; NaN or None where there is none.

        `options` are those of `mero predict`, such as `unknown="refuse"`. `predictions` has the rest of what is known
        of each row.
        """
        return self.predictions(data, device=device, threads=threads, reading=reading, **options).value

    def predict_proba(
        self,
        data: Any,
        *,
        device: str = "auto",
        threads: int = 0,
        reading: ReadingOptions | None = None,
        **options: Unpack[PredictOptions],
    ) -> np.ndarray:
        """The probability of each class [rows, classes], in the order of `classes`. Raises ValueError for a model of
        numbers."""
        probabilities = self.predictions(data, device=device, threads=threads, reading=reading, **options).probabilities
        if probabilities is None:
            raise ValueError(f'predict_proba: the model predicts numbers of "{self.target}", expected one of classes')
        return probabilities

    def predictions(
        self,
        data: Any,
        *,
        device: str = "auto",
        threads: int = 0,
        reading: ReadingOptions | None = None,
        **options: Unpack[PredictOptions],
    ) -> Predictions:
        """The prediction of each row with all that is known of it.

        `predictions(df, interval=0.9)` has `lower` and `upper`.
        """
        how = (name_of_device(device), whole("threads", threads))
        return self._of_parts(self._engine.predict(self._table(data, reading), dict(options), *how))

    async def predict_async(self, data: Any, **options: Any) -> np.ndarray:
        """Predicts as `predict` does, with the same arguments, while other tasks run."""
        return (await self.predictions_async(data, **options)).value

    async def predictions_async(
        self,
        data: Any,
        *,
        device: str = "auto",
        threads: int = 0,
        reading: ReadingOptions | None = None,
        **options: Unpack[PredictOptions],
    ) -> Predictions:
        """Predicts as `predictions` does, while other tasks run."""
        table = self._table(data, reading)
        how = (name_of_device(device), whole("threads", threads))
        return self._of_parts(await awaited(self._engine.predict, table, dict(options), *how))

    def _of_parts(self, parts: dict[str, Any]) -> Predictions:
        value = parts.pop("value", None)
        code, probabilities = parts.pop("code", None), parts.pop("probabilities", None)
        if code is not None:
            value, probabilities = _labels(self.classes, code), probabilities.reshape(len(code), -1)
        return Predictions(value=value, probabilities=probabilities, **parts)

    def _table(self, data: Any, reading: ReadingOptions | None) -> _engine.Table:
        if isinstance(data, np.ndarray) and data.dtype.names is None and data.ndim == 2:
            if data.shape[1] != len(self.columns):
                expected = f"{len(self.columns)}: {', '.join(self.columns)}"
                raise ValueError(f"predict: X has {data.shape[1]} columns, expected {expected}")
            data = dict(zip(self.columns, data.T, strict=True))
        return table_of(data, reading)

    def __repr__(self) -> str:
        about = self.info
        size = f"{len(self.columns)} columns, {about['parameters']} parameters"
        return f"<Model of {self.target}: {about['task']} from {size}>"

    def _repr_html_(self) -> str:
        from ._html import model

        return model(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"file": self.to_bytes(), "run": self.run}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(_engine.Model.load(state["file"], "pickled model"), state["run"])  # type: ignore[misc]


def _typed(levels: Sequence[str], labels: str | None) -> np.ndarray:
    """Labels in the type that they had where the model was trained."""
    if labels == "number":
        numbers = np.array([float(level) for level in levels])
        return numbers.astype(np.int64) if np.all(numbers == np.floor(numbers)) else numbers
    if labels == "boolean":
        return np.array([level.lower() == "true" for level in levels])
    return np.array(levels, dtype=object if not levels else None)


def _labels(classes: np.ndarray, code: np.ndarray) -> np.ndarray:
    """The label of each row; None where there is none."""
    if np.all(code >= 0):
        return classes[code]
    labels = classes.astype(object)[code]
    labels[code < 0] = None
    return labels
