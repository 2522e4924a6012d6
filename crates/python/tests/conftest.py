"""What the tests share."""

from __future__ import annotations

import json
import os
import signal
import struct
from pathlib import Path

import numpy as np
import pytest

import meromorph as mm


@pytest.fixture(autouse=True)
def interrupts():
    """Ctrl-C is an exception, also where a shell started the tests in the background, with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def mero() -> str:
    """The command of the same build, given by the variable MERO."""
    path = os.environ.get("MERO")
    if not path:
        pytest.fail("the variable MERO is not set, expected the path of the command mero of the same build")
    return str(Path(path).resolve())


@pytest.fixture(scope="session")
def square() -> mm.Model:
    """y = x² on 200 rows."""
    x = np.linspace(0, 4, 200)
    return mm.Model.train({"x": x, "y": x**2}, target="y", epochs=60, device="cpu", progress=False)


def parts(model: mm.Model) -> tuple[dict, bytes]:
    """The header of a model file, without what names its table, and the bytes of its tensors."""
    data = model.to_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    metadata.pop("checksum")
    training = json.loads(metadata.pop("meromorph.training"))
    training.pop("source")
    return {"tensors": header, "training": training, **metadata}, data[8 + length :]
