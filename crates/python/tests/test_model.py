"""Models: training, prediction, files, interruption, threads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import meromorph as mm

X = np.linspace(0, 4, 200)


def test_a_parabola_is_learnt(square):
    assert abs(square.predict({"x": [1.5]}, device="cpu")[0] - 2.25) < 0.2
    assert (square.task, square.target, square.columns) == ("regression", "y", ["x"])
    assert square.run["epochs"] == len(square.run["history"]) == 60
    assert square.run["history"][-1]["train_loss"] < square.run["history"][0]["train_loss"] / 10


def test_classes_keep_their_order_and_sum_to_one():
    labels = np.where(X > 2, "low", np.where(X > 1, "mid", "high"))
    model = mm.Model.train({"x": X, "k": labels}, target="k", epochs=60, device="cpu", progress=False)
    assert model.classes.tolist() == ["high", "low", "mid"]
    assert model.predict({"x": [0.2, 1.5, 3.5]}, device="cpu").tolist() == ["high", "mid", "low"]
    probabilities = model.predict_proba({"x": [0.2, 1.5]}, device="cpu")
    assert probabilities.shape == (2, 3)
    assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-12)
    assert probabilities[0].argmax() == 0


def test_labels_have_the_type_of_the_column():
    whole = mm.Model.train(
        {"x": X, "k": (X > 2).astype(int) + 3},
        target="k",
        task="classification",
        epochs=20,
        device="cpu",
        progress=False,
    )
    assert whole.classes.tolist() == [3, 4]
    assert whole.predict({"x": [0.1, 3.9]}, device="cpu").tolist() == [3, 4]
    flags = mm.Model.train({"x": X, "k": X > 2}, target="k", epochs=20, device="cpu", progress=False)
    assert flags.predict({"x": [0.1, 3.9]}, device="cpu").tolist() == [False, True]
    assert mm.Model.from_bytes(flags.to_bytes()).predict({"x": [3.9]}, device="cpu").tolist() == [True]


def test_a_pole_has_no_value():
    x = np.linspace(-2, 2, 401)
    with np.errstate(divide="ignore"):
        y = 1 / x
    model = mm.Model.train({"x": x, "y": y}, target="y", head="rational", epochs=60, device="cpu", progress=False)
    found = model.predictions({"x": [0.0, 1.0]}, device="cpu")
    assert found.bottom.tolist() == [True, False]
    assert np.isnan(found.value[0])
    assert abs(found.value[1] - 1) < 0.1


def test_intervals_contain_what_they_say(square):
    found = square.predictions({"x": X}, interval=0.9, device="cpu")
    inside = (found.lower <= X**2) & (found.upper >= X**2)
    assert 0.75 < inside.mean() <= 1
    assert "lower" in found.columns()


def test_what_is_noticed_about_cells(square):
    found = square.predictions({"x": [99.0, 1.0, np.nan]}, device="cpu")
    assert found.notes == [(0, "x", "outside of the range of training"), (2, "x", found.notes[1][2])]
    texts = square.predictions({"x": ["1", "two"]}, device="cpu")
    assert np.isnan(texts.value[1]) and not np.isnan(texts.value[0])


def test_files(tmp_path, square):
    path = tmp_path / "m.safetensors"
    square.save(path)
    assert os.listdir(tmp_path) == ["m.safetensors"]
    expected = square.predict({"x": X}, device="cpu").tolist()
    assert mm.Model.load(path).predict({"x": X}, device="cpu").tolist() == expected
    assert pickle.loads(pickle.dumps(square)).predict({"x": X}, device="cpu").tolist() == expected
    with pytest.raises(FileNotFoundError):
        mm.Model.load(tmp_path / "absent")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=r"m\.safetensors"):
        mm.Model.load(path)
    with pytest.raises(ValueError):
        mm.Model.from_bytes(b"PK\x03\x04")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"epoch": 3}, TypeError, 'train: option "epoch" is unknown: did you mean "epochs"?'),
        ({"weightDecay": 3}, TypeError, 'train: option "weightDecay" is unknown: did you mean "weight_decay"?'),
        ({"epochs": -1}, ValueError, r"train: epochs: got -1, expected a whole number"),
        ({"epochs": "many"}, ValueError, 'train: epochs: got "many", expected a whole number'),
        ({"activation": "relux"}, ValueError, "train: activation"),
        ({"device": "tpu"}, ValueError, 'device "tpu"'),
        ({"target": "z"}, ValueError, 'column "z" not in data; it has "x", "y"'),
    ],
)
def test_options_that_cannot_be_used(options, error, message):
    given = {"target": "y", "device": "cpu"} | options
    with pytest.raises(error) as caught:
        mm.Model.train({"x": X, "y": X}, progress=False, **given)
    assert str(caught.value).startswith(message)


def test_options_take_numbers_of_numpy_and_none():
    options = {"epochs": np.int64(2), "hidden": np.array([8, 8]), "lr": np.float32(0.01), "batch": None}
    model = mm.Model.train({"x": X, "y": X}, target="y", device="cpu", progress=False, **options)
    assert model.run["epochs"] == 2
    assert model.info["training"]["settings"]["lr"] == pytest.approx(0.01)


def test_arguments_that_cannot_be_used():
    data = {"x": X, "y": X}
    for given, error, message in [
        ({"threads": -1}, ValueError, "threads: got -1, expected a whole number of at least 0"),
        ({"folds": 2.5}, TypeError, "folds: got 2.5, expected a whole number"),
        ({"device": None}, TypeError, "device: got None, expected the name of a device"),
        ({"epochs": 10**400}, ValueError, "train: epochs: got"),
    ]:
        with pytest.raises(error) as caught:
            mm.Model.train(data, target="y", progress=False, **{"device": "cpu"} | given)
        assert str(caught.value).startswith(message)
    own: list = []
    own.append(own)
    with pytest.raises(ValueError, match="train: hidden"):
        mm.Model.train(data, target="y", hidden=own, device="cpu", progress=False)


def test_warnings_name_the_line_of_the_program():
    with pytest.warns(UserWarning, match="stopped after epoch 1") as said:
        mm.Model.train({"x": X, "y": X}, target="y", epochs=5, device="cpu", progress=lambda event: np.bool_(False))
    assert {warning.filename for warning in said} == {__file__}


def test_predictions_are_short_and_comparable(square):
    found = square.predictions({"x": np.full(1000, 99.0)}, device="cpu")
    assert repr(found) == "<Predictions of 1000 rows: prediction, 1000 notes>"
    assert found != square.predictions({"x": [1.0]}, device="cpu")


def test_labels_of_rows_that_are_mappings():
    rows = [{"x": value, "k": bool(value > 2)} for value in X.tolist()]
    model = mm.Model.train(rows, target="k", epochs=20, device="cpu", progress=False)
    assert model.predict([{"x": 0.1}, {"x": 3.9}], device="cpu").tolist() == [False, True]


def test_every_option_of_the_command_is_listed():
    names = {option.name for option in mm.options("train")}
    assert {"epochs", "hidden", "weight_decay", "head"} <= names
    assert "global_" in {option.name for option in mm.options("fit")}
    assert "<table>" in mm.options("predict")._repr_html_()
    with pytest.raises(ValueError, match='options: got "tea", expected train'):
        mm.options("tea")


def test_folds():
    model = mm.Model.train({"x": X, "y": X**2}, target="y", folds=3, epochs=5, device="cpu", progress=False)
    assert len(model.info["training"]["folds"]) == 3


def test_a_function_follows_the_epochs_and_stops_the_run():
    seen = []

    def watch(event):
        seen.append(event["epoch"])
        return len(seen) < 4

    with pytest.warns(UserWarning, match="train: stopped after epoch 4: this is the model of epoch"):
        model = mm.Model.train({"x": X, "y": X}, target="y", epochs=50, device="cpu", progress=watch)
    assert (seen, model.run["stop"]) == ([0, 1, 2, 3], "requested")

    def fail(event):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mm.Model.train({"x": X, "y": X}, target="y", epochs=50, device="cpu", progress=fail)


LONG = """
import os, signal, threading, time
import numpy as np
import meromorph as mm
signal.signal(signal.SIGINT, signal.default_int_handler)
x = np.linspace(0, 4, 20_000)
"""


def run(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", LONG + textwrap.dedent(text)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ctrl_c_stops_a_run_with_its_best_model_and_leaves_no_thread():
    printed = run(
        """
        import warnings
        seen = []
        def watch(event):
            seen.append(event)
            if len(seen) == 2:
                os.kill(os.getpid(), signal.SIGINT)
        before = len(os.listdir("/proc/self/task"))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = mm.Model.train({"x": x, "y": x**2}, target="y", epochs=10_000, patience=0, device="cpu", threads=2, progress=watch)
        time.sleep(0.2)
        print(model.run["stop"], model.run["epochs"] < 100, len(os.listdir("/proc/self/task")) == before, any("stopped" in str(s.message) for s in said))
        """
    )
    assert printed.split() == ["requested", "True", "True", "True"]


def test_ctrl_c_before_the_first_epoch_is_an_exception():
    printed = run(
        """
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        x = np.linspace(0, 4, 400_000)
        try:
            mm.Model.train({"x": x, "y": x**2}, target="y", epochs=10_000, batch=8, device="cpu", progress=False)
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    assert printed.split() == ["interrupted"]


def test_two_threads_train_at_once_and_others_run():
    """While one thread trains, another trains too, and the interpreter answers."""
    both, ticks, done = threading.Barrier(2, timeout=60), [], threading.Event()

    def train(seed: int) -> None:
        met = False

        def watch(event):
            nonlocal met
            if not met:
                met = True
                # Each waits for the first epoch of the other: one after the other would never get here.
                both.wait()

        mm.Model.train({"x": X, "y": X}, target="y", epochs=20, seed=seed, device="cpu", threads=1, progress=watch)

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    threads = [threading.Thread(target=train, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    done.set()
    clock.join()
    assert not any(thread.is_alive() for thread in threads)
    assert both.n_waiting == 0 and not both.broken
    assert len(ticks) > 5


def test_importing_loads_nothing_else():
    text = "import sys, meromorph; print([name for name in ('numpy', 'sklearn', 'pandas', 'scipy') if name in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_html_shows_the_figures_of_the_model(square):
    text = square._repr_html_()
    assert "regression" in text and "<svg" in text and "validation" in text
    found = square.predictions({"x": ["<b>", "1"]}, device="cpu")
    assert "<b>" not in found._repr_html_() and found._repr_html_().count("<tr>") == 3
    assert repr(square).startswith("<Model of y: regression from 1 columns")
