"""Runs and predictions that a program awaits."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import meromorph as mm

DATA = {"x": np.linspace(0, 4, 200), "y": np.linspace(0, 4, 200) ** 2}
HOW = {"target": "y", "device": "cpu", "progress": False}


def test_an_awaited_run_gives_the_same_model():
    async def work():
        model = await mm.Model.train_async(DATA, epochs=3, **HOW)
        return model, await model.predict_async(DATA, device="cpu"), await model.predictions_async(DATA, interval=0.5)

    model, predicted, more = asyncio.run(work())
    same = mm.Model.train(DATA, epochs=3, **HOW)
    assert model.to_bytes() == same.to_bytes()
    assert np.array_equal(predicted, same.predict(DATA, device="cpu"))
    assert np.array_equal(more.lower, same.predictions(DATA, interval=0.5).lower)


def test_other_tasks_run_meanwhile():
    async def work():
        seen = []
        run = asyncio.create_task(mm.Model.train_async(DATA, epochs=400, patience=0, **HOW))
        while not run.done():
            seen.append(1)
            await asyncio.sleep(0)
        await run
        return len(seen)

    assert asyncio.run(work()) > 10


def test_a_cancelled_run_ends_after_its_epoch():
    epochs = []

    async def work():
        run = asyncio.create_task(
            mm.Model.train_async(DATA, epochs=100_000, patience=0, **HOW | {"progress": epochs.append})
        )
        while not epochs:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    # The loop ends only when the thread of the run has ended.
    asyncio.run(work())
    assert len(epochs) < 100_000


def test_errors_are_those_of_train():
    with pytest.raises(TypeError, match='option "epoch" is unknown: did you mean "epochs"'):
        asyncio.run(mm.Model.train_async(DATA, epoch=3, **HOW))


def test_an_awaited_fit_gives_the_same_parameters():
    data = {"t": DATA["x"], "y": 2.5 * np.exp(-1.3 * DATA["x"]) + 0.5}
    found = asyncio.run(mm.fit_async("a*exp(-b*t) + c", data))
    assert np.array_equal(found.popt, mm.fit("a*exp(-b*t) + c", data).popt)
    assert found.popt == pytest.approx([2.5, 1.3, 0.5])
