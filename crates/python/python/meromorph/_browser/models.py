"""Trained models: the bytes of a file, and what engines made of them."""

from __future__ import annotations

import asyncio
import json
import weakref
from typing import Any

import js
import numpy as np
from pyodide.ffi import can_run_sync

from . import modelfile
from .bridge import array, byte_array, engine_errors, script, waiting
from .options import camel_options
from .tables import Table, js_object

#: Engines by device and number of threads, as tasks.
_engines: dict[tuple[str, int], asyncio.Future[Any]] = {}

#: What the native engine says of a cell.
NOTED = {
    "outside": "outside of the range of training",
    "unseen": "was not seen by training",
    "filled": "missing, filled in",
}


def devices() -> list[str]:
    """The names of the devices that programs can choose."""
    return ["auto", "webgpu", "cpu"]


async def opened(device: str, threads: int) -> Any:
    """The engine on a device. It runs in a worker where there are workers, so that a page stays responsive."""
    if device not in devices():
        raise ValueError(f'device "{device}" is unknown; there are {", ".join(devices())}')
    key = (device, threads)
    if key not in _engines:
        how = {"device": device, "threads": threads or 1, "worker": hasattr(js, "Worker")}
        _engines[key] = asyncio.ensure_future(script("engine").open(js_object(how)))
    try:
        with engine_errors():
            return await _engines[key]
    except BaseException:
        _engines.pop(key, None)
        raise


class Model:
    """A trained model."""

    def __init__(self, file: bytes, source: str, loaded: dict[tuple[str, int], Any] | None = None):
        self._file = file
        self._source = source
        self._header = modelfile.header(file, source)
        self._loaded = loaded if loaded is not None else {}
        weakref.finalize(self, _dispose, self._loaded)

    @staticmethod
    async def trained(model: Any, key: tuple[str, int]) -> Model:
        """The model that an engine trained."""
        return Model((await model.save()).to_py().tobytes(), "model", {key: model})

    @staticmethod
    def load(bytes: bytes, source: str) -> Model:
        """The model in the bytes of a file. Where Python cannot wait, damage is found by the first prediction."""
        model = Model(bytes, source)
        if can_run_sync():
            model._load("cpu", 0)
        return model

    def save(self) -> bytes:
        """The bytes of its file."""
        return self._file

    def labelled(self, labels: str) -> Model:
        """The same model with a note on the type that the labels of its classes had."""
        if self._labels() == labels:
            return self
        return Model(modelfile.with_labels(self._file, labels), self._source)

    def info(self) -> str:
        """What the model is and how it was trained, as JSON."""
        return json.dumps(modelfile.described(self._header))

    @waiting("await model.predict_async(…)")
    async def predict(self, table: Table, options: dict[str, Any], device: str, threads: int) -> dict[str, Any]:
        """Predictions of every row of a table: arrays by name, as the native engine gives them."""
        given = camel_options("predict", options, "predict")
        self._check_columns(table)
        model = await self._on(device, threads)
        with engine_errors():
            return self._parts(await model.predict(table.data(), js_object({**table.how(), **given})))

    @waiting("await model.predict_async(…)")
    async def _load(self, device: str, threads: int) -> None:
        await self._on(device, threads)

    async def _on(self, device: str, threads: int) -> Any:
        """The model on a device."""
        key = (device, threads)
        if key not in self._loaded:
            engine = await opened(device, threads)
            with engine_errors():
                self._loaded[key] = await engine.load(js.File.new([byte_array(self._file)], self._source))
        return self._loaded[key]

    def _check_columns(self, table: Table) -> None:
        """The npm package fills in columns that all rows lack; here they are an error, as in a file."""
        if not table.has_names():
            return
        names = table.names()
        for column in modelfile.columns(self._header):
            if column not in names:
                has = ", ".join(f'"{name}"' for name in names)
                raise ValueError(f'column "{column}" is missing from {table.source}; it has {has}')

    def _labels(self) -> str | None:
        return modelfile.labels(self._header)

    def _parts(self, answer: Any) -> dict[str, Any]:
        parts: dict[str, Any] = {}
        classes = modelfile.classes(self._header)
        if classes:
            codes = {_label(name, self._labels()): code for code, name in enumerate(classes)}
            value = answer.value.to_py()
            parts["code"] = np.array([codes.get(label, -1) for label in value], dtype=np.int64)
            shares = answer.probabilities.to_py()
            parts["probabilities"] = np.stack([np.asarray(shares[name]) for name in classes], axis=1).ravel()
        else:
            parts["value"] = array(answer.value)
        for name in ("deviation", "lower", "upper"):
            if hasattr(answer, name):
                parts[name] = array(getattr(answer, name))
        for name in ("bottom", "gap", "fault"):
            if hasattr(answer, name):
                parts[name] = array(getattr(answer, name), bool)
        if "bottom" in parts:
            parts["value"][parts["bottom"]] = np.nan
        notes = json.loads(js.JSON.stringify(answer.notes))
        parts["notes"] = [(one["row"], one["column"], NOTED.get(one["kind"], one["message"])) for one in notes]
        return parts


def _label(name: str, labels: str | None) -> Any:
    """The label that the npm package gives for a class."""
    if labels == "boolean":
        return {"true": True, "false": False}.get(name, name)
    if labels == "number":
        try:
            return float(name)
        except ValueError:
            return name
    return name


def _dispose(loaded: dict[tuple[str, int], Any]) -> None:
    for model in loaded.values():
        model.dispose()
