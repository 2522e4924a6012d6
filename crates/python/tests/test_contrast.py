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


def learned(labels, X=ROWS):
    return mm.contrast(X, labels, epochs=1, device="cpu", progress=False)


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 1]),
        np.array([False, True]),
        np.array([0, 1], dtype=object),
        np.array([False, True], dtype=object),
        np.array([2**53, 2**53 + 1]),
        np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([0.25, 0.5]),
        np.array(["False", "True"]),
        np.array(["1", "2"], dtype=object),
        [2**70, 2**70 + 1],
    ],
    ids=str,
)
def test_labels_keep_their_type(values, tmp_path):
    sides = (ROWS[:, 0] > 0).astype(int)
    labels = [values[side] for side in sides] if isinstance(values, list) else values[sides]
    made = learned(labels)
    made.save(tmp_path / "memory")
    for memory in (made, mm.Memory.load(tmp_path / "memory")):
        assert memory.classes.tolist() == list(values)
        assert [type(one) for one in memory.classes.tolist()] == [type(one) for one in np.array(values).tolist()]
        assert memory.labels.tolist() == list(labels)
        assert memory.judge(ROWS[:5], labels[:5])["rows"] == 5


def test_labels_that_are_none_are_errors():
    for message, labels in [
        ("row 3: got the label inf", np.where(np.arange(120) == 2, np.inf, 1.0)),
        ("row 2: got no label", [1.0, np.nan] * 60),
        ("got bytes", np.array([b"a", b"b"] * 60)),
        ("row 1: got a label of type bytes", [b"a", b"b"] * 60),
        ("row 2: got one of the truth values among numbers", [1, True] * 60),
        ("got dates", np.array(["2026-01-01", "2026-01-02"] * 60, dtype="M8[D]")),
    ]:
        with pytest.raises(ValueError, match=message):
            learned(labels)


def in_library(name, columns):
    if name == "mapping":
        return columns
    library = pytest.importorskip(name)
    return library.table(columns) if name == "pyarrow" else library.DataFrame(columns)


@pytest.mark.parametrize("library", ["mapping", "pandas", "polars", "pyarrow"])
def test_columns_are_found_by_their_names(library):
    columns = {"u": ROWS[:, 0].astype(float), "v": ROWS[:, 1].astype(float), "w": ROWS[:, 2] > 0}
    X = np.c_[ROWS[:, :2], ROWS[:, 2] > 0].astype(np.float32)
    framed = mm.contrast(
        in_library(library, {**columns, "side": LABELS.tolist()}), "side", epochs=3, device="cpu", progress=False
    )
    plain = mm.contrast(X, LABELS, epochs=3, device="cpu", progress=False)
    np.testing.assert_array_equal(framed.map, plain.map)
    assert framed.info["header"]["columns"] == ["u", "v", "w"] and framed.info["header"]["target"] == "side"
    swapped = in_library(library, {name: columns[name] for name in ("w", "u", "v")})
    np.testing.assert_array_equal(framed.find(swapped, 3).rows, plain.find(X, 3).rows)
    np.testing.assert_array_equal(plain.predict(in_library(library, columns)), plain.predict(X))
    other = in_library(library, {"u": columns["u"], "v": columns["v"], "z": columns["w"]})
    with pytest.raises(ValueError, match="find: X: got the columns u, v, z, expected u, v, w"):
        framed.find(other)
    with pytest.raises(ValueError, match=r'find: X: column "w": got .*, expected numbers'):
        framed.predict(in_library(library, {**columns, "w": LABELS.tolist()}))


def test_nullable_frames_are_numbers():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS.astype(float), columns=["u", "v", "w"]).astype("Float64")
    labels = pandas.Series(ROWS[:, 0] > 0).astype("boolean")
    made = learned(labels, frame)
    np.testing.assert_array_equal(made.map, learned(ROWS[:, 0] > 0).map)
    assert made.classes.tolist() == [False, True]
    frame.iloc[3, 1] = pandas.NA
    with pytest.raises(ValueError, match="contrast: row 4, column 2: got NaN, expected a finite number"):
        learned(labels, frame)
    labels[2] = pandas.NA
    with pytest.raises(ValueError, match="row 3: got no label"):
        learned(labels, frame)


def test_files_that_cannot_be_written_leave_nothing(memory, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        memory.save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


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
        (ValueError, "got no columns", lambda: mm.contrast(ROWS[:, :0], LABELS)),
        (ValueError, "row 1, column 1: got NaN, expected a finite number", lambda: mm.contrast(ROWS * np.nan, LABELS)),
        (ValueError, "settling layers", lambda: mm.contrast(ROWS, LABELS, hidden=[8])),
        (ValueError, "got 2 columns, expected 3", lambda: memory.find(ROWS[:, :2])),
        (ValueError, "neighbours", lambda: memory.find(ROWS, 0)),
        (ValueError, 'labels: got "up"', lambda: memory.judge(ROWS[:1], ["up"])),
    ]:
        with pytest.raises(kind, match=message):
            call()
