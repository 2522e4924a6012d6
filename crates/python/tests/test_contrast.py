"""Learned memories."""

import pickle

import numpy as np
import pytest

import meromorph as mm

ANGLE = np.linspace(0, 6, 120)
ROWS = np.c_[np.cos(ANGLE), np.sin(ANGLE), 0.1 * np.sin(17 * ANGLE)].astype(np.float32)
LABELS = np.where(ROWS[:, 0] > 0, "right", "left")


@pytest.fixture(scope="module")
def memory():
    return mm.contrast(ROWS, LABELS, epochs=3, device="cpu", progress=False)


def test_neighbours_are_the_nearest_under_the_map(memory):
    found = memory.find(ROWS[:4], 5)
    mapped, queries = (ROWS - memory.shift) @ memory.map.T, memory.mapped(ROWS[:4])
    np.testing.assert_allclose(queries, mapped[:4], atol=1e-4)
    distances = np.linalg.norm(queries[:, None] - mapped[None], axis=2)
    np.testing.assert_array_equal(found.rows, np.argsort(distances, axis=1, kind="stable")[:, :5])
    np.testing.assert_allclose(found.distances, np.sort(distances, axis=1)[:, :5], atol=1e-3)
    np.testing.assert_array_equal(found.labels, LABELS[found.rows])
    np.testing.assert_allclose(found.weights.sum(axis=1), 1)
    weights = np.exp(-memory.info["header"]["sharpness"] * found.distances.astype(float))
    np.testing.assert_allclose(found.weights, weights / weights.sum(axis=1, keepdims=True), rtol=1e-5)


def test_labels_are_predicted_or_unknown(memory):
    np.testing.assert_array_equal(memory.predict(ROWS), LABELS)
    assert memory.predict([[1e6, 0, 0], ROWS[0]], unknown=None).tolist() == [None, "right"]
    assert memory.predict(ROWS[0]).tolist() == ["right"]
    judged = memory.judge(ROWS[:5], LABELS[:5])
    assert judged["rows"] == 5 and judged["recall"][1] == 1.0 and judged["accuracy"] == 1.0


def test_labels_keep_their_type():
    numbered = mm.contrast(ROWS, (ROWS[:, 0] > 0).astype(int), epochs=1, device="cpu", progress=False)
    assert numbered.classes.tolist() == [0, 1] and numbered.predict(ROWS[:1]).dtype.kind == "i"


def test_frames_have_columns_and_labels(memory):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["u", "v", "w"]).assign(side=LABELS)
    framed = mm.contrast(frame, "side", epochs=3, device="cpu", progress=False)
    np.testing.assert_array_equal(framed.map, memory.map)
    assert framed.info["header"]["columns"] == ["u", "v", "w"] and framed.info["header"]["target"] == "side"
    np.testing.assert_array_equal(framed.predict(frame), LABELS)


def test_files_and_pickles_are_the_same_memory(memory, tmp_path):
    memory.save(tmp_path / "memory.safetensors")
    for other in (mm.Memory.load(tmp_path / "memory.safetensors"), pickle.loads(pickle.dumps(memory))):
        np.testing.assert_array_equal(other.map, memory.map)
        np.testing.assert_array_equal(other.find(ROWS, 3).rows, memory.find(ROWS, 3).rows)
    (tmp_path / "other").write_bytes(b"no memory")
    with pytest.raises(ValueError, match="other"):
        mm.Memory.load(tmp_path / "other")


def test_a_seed_gives_the_same_memory(memory):
    again = mm.contrast(ROWS.astype(np.float64), LABELS, epochs=3, device="cpu", progress=False)
    np.testing.assert_array_equal(again.map, memory.map)


def test_runs_are_followed_and_stopped(memory):
    events = []
    mm.contrast(ROWS, LABELS, epochs=2, device="cpu", progress=events.append)
    assert [event["epoch"] for event in events] == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        mm.contrast(ROWS, LABELS, epochs=50, device="cpu", progress=lambda _: False)
    assert len(memory.run["history"]) == 3 and memory.run["held"] == 24
    assert "MAP@R" in memory._repr_html_() and "120 rows, 2 classes" in repr(memory)


def test_mistakes_are_explained(memory):
    for kind, message, call in [
        (TypeError, "epoch", lambda: mm.contrast(ROWS, LABELS, epoch=3)),
        (ValueError, "got 119 labels for 120 rows", lambda: mm.contrast(ROWS, LABELS[1:])),
        (ValueError, "row 1: got no label", lambda: mm.contrast(ROWS, [None, *LABELS[1:]])),
        (ValueError, "two: .rows, columns.", lambda: mm.contrast(ROWS[:, 0], LABELS)),
        (ValueError, "expected a finite number", lambda: mm.contrast(ROWS * np.nan, LABELS)),
        (ValueError, "settling layers", lambda: mm.contrast(ROWS, LABELS, hidden=[8])),
        (ValueError, "got 2 columns, expected 3", lambda: memory.find(ROWS[:, :2])),
        (ValueError, "neighbours", lambda: memory.find(ROWS, 0)),
        (ValueError, 'labels: got "up"', lambda: memory.judge(ROWS[:1], ["up"])),
    ]:
        with pytest.raises(kind, match=message):
            call()
