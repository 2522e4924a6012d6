"""What the tests run in CPython and in Pyodide, and compare: `python notebook.py` prints its numbers as JSON."""

from __future__ import annotations

import json
from base64 import b64encode

import numpy as np

import meromorph as mm

ROWS = 240
X = np.linspace(-2, 2, ROWS)
#: A number, a text, and a target that is a formula of both.
DATA = {
    "x": X,
    "kind": np.where(np.arange(ROWS) % 3 == 0, "up", "down"),
    "y": np.sin(2 * X) + (np.arange(ROWS) % 3 == 0),
}
NEW = {"x": [-1.5, 0.25, 1.0], "kind": ["up", "down", "up"]}
HOW = {"target": "y", "epochs": 12, "device": "cpu", "progress": False}
CLASSES = {"x": X, "kind": X > 0.5}
DECAY = {"t": X, "signal": 2.5 * np.exp(-1.3 * X) + 0.5 + 0.05 * np.sin(7 * X)}


def notebook() -> dict[str, list[float]]:
    """The numbers of ten lines that wait."""
    model = mm.Model.train(DATA, **HOW)
    again = mm.Model.from_bytes(model.to_bytes())
    classes = mm.Model.train(CLASSES, target="kind", epochs=8, device="cpu", progress=False)
    return {
        "predicted": model.predict(NEW, device="cpu").tolist(),
        "lower": again.predictions(NEW, device="cpu", interval=0.5).lower.tolist(),
        "losses": [epoch["train_loss"] for epoch in model.run["history"]],
        "shares": classes.predict_proba({"x": [0.0, 1.0]}, device="cpu").ravel().tolist(),
        "labels": classes.predict({"x": [0.0, 1.0]}, device="cpu").tolist(),
        "r2": [model.info["training"]["test"]["r2"], model.info["parameters"]],
        **(fitted(mm.fit("a*exp(-b*t) + c", DECAY, y="signal")) if "fit" in mm.__all__ else {}),
        **(framed() if has_pandas() else {}),
    }


async def notebook_async() -> dict[str, list[float]]:
    """The same numbers by lines that are awaited."""
    model = await mm.Model.train_async(DATA, **HOW)
    again = mm.Model.from_bytes(model.to_bytes())
    classes = await mm.Model.train_async(CLASSES, target="kind", epochs=8, device="cpu", progress=False)
    labels = await classes.predictions_async({"x": [0.0, 1.0]}, device="cpu")
    return {
        "predicted": (await model.predict_async(NEW, device="cpu")).tolist(),
        "lower": (await again.predictions_async(NEW, device="cpu", interval=0.5)).lower.tolist(),
        "losses": [epoch["train_loss"] for epoch in model.run["history"]],
        "shares": labels.probabilities.ravel().tolist(),
        "labels": labels.value.tolist(),
        "r2": [model.info["training"]["test"]["r2"], model.info["parameters"]],
        **(fitted(await mm.fit_async("a*exp(-b*t) + c", DECAY, y="signal")) if "fit" in mm.__all__ else {}),
        **(await framed_async() if has_pandas() else {}),
    }


def fitted(fit: mm.Fit) -> dict[str, list[float]]:
    """What is known of a fit."""
    bands = fit.predict({"t": [0.5, 3.0]})
    return {"popt": fit.popt.tolist(), "errors": list(fit.stderr.values()), "bands": [*bands.values, *bands.prediction]}


def has_pandas() -> bool:
    """Whether there are frames."""
    from importlib.util import find_spec

    return find_spec("pandas") is not None


def framed() -> dict[str, list[float]]:
    """Predictions of a model of a frame."""
    import pandas as pd

    model = mm.Model.train(pd.DataFrame(DATA), **HOW | {"epochs": 4})
    return {"framed": model.predict(pd.DataFrame(NEW), device="cpu").tolist()}


async def framed_async() -> dict[str, list[float]]:
    """The same, awaited."""
    import pandas as pd

    model = await mm.Model.train_async(pd.DataFrame(DATA), **HOW | {"epochs": 4})
    return {"framed": (await model.predict_async(pd.DataFrame(NEW), device="cpu")).tolist()}


def described() -> dict[str, str | dict]:
    """A model with columns of every kind: its file, what is known of it, and its file with another note on labels."""
    days = [f"2024-{1 + row % 12:02}-{1 + row % 28:02}T{row % 24:02}:30" for row in range(ROWS)]
    gaps = np.where(np.arange(ROWS) % 7 == 0, np.nan, X)
    names = [f"name {row % 5}" for row in range(ROWS)]
    columns = {"x": gaps, "day": days, "kind": DATA["kind"], "name": names, "flag": X > 0.5}
    how = {"target": "flag", "epochs": 3, "device": "cpu", "progress": False, "encode": {"name": "hashed"}}
    engine = mm.Model.train(columns, **how)._engine
    files = {"file": engine.save(), "labelled": engine.labelled("number").save()}
    return {name: b64encode(bytes(file)).decode() for name, file in files.items()} | {"info": json.loads(engine.info())}


def table(columns: dict) -> str:
    """Columns as CSV, for the command."""
    lines = zip(*(np.asarray(cells).tolist() for cells in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, line)) for line in lines)]) + "\n"


if __name__ == "__main__":
    known = {"numbers": notebook(), "data": table(DATA), "new": table(NEW), "model": described()}
    print(json.dumps(known))
