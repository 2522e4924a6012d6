"""Frames, mappings and arrays as tables: the same model, bit for bit, as the command trains on their CSV file."""

from __future__ import annotations

import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import parts

import meromorph as mm
from meromorph._frames import table_of

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def frame(rows: int = 240) -> pd.DataFrame:
    """Numbers of every kind, categories, dates, truth values and texts, with missing cells."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=rows),
            "whole": rng.integers(0, 5, rows),
            "single": rng.normal(size=rows).astype(np.float32),
            "city": pd.Categorical(rng.choice(["Oslo", "Bern, CH", 'the "Hague"'], rows)),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, rows), "D"),
            "moment": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, rows), "s"),
            "flag": rng.random(rows) > 0.5,
            "text": rng.choice(["low", "high", None], rows),
            "code": rng.choice(["007", "010", "100"], rows),
        }
    )
    table.loc[::17, "number"] = np.nan
    table.loc[3::29, "city"] = None
    table.loc[5::31, "day"] = pd.NaT
    table["nullable"] = table["whole"].astype("Int64")
    table.loc[7, "nullable"] = pd.NA
    table["y"] = 2 * table["number"].fillna(0) + table["whole"] + table["flag"] + 2.0 * (table["city"] == "Oslo")
    return table


def trained(data: object, **options: object) -> mm.Model:
    return mm.Model.train(data, target="y", epochs=8, device="cpu", progress=False, **options)


@pytest.mark.parametrize("options", [{}, {"members": 2, "categorical": ["whole"]}], ids=["plain", "members"])
def test_a_frame_trains_the_model_of_its_csv_bit_for_bit(tmp_path, mero, options):
    table = frame()
    path, out = tmp_path / "t.csv", tmp_path / "t.safetensors"
    table.to_csv(path, index=False)
    flags = [
        word
        for name, value in options.items()
        for word in (f"--{name}", ",".join(value) if isinstance(value, list) else str(value))
    ]
    subprocess.run(
        [mero, "train", path, "--target", "y", "--epochs", "8", "--device", "cpu", "-o", out, *flags],
        check=True,
        capture_output=True,
    )
    command = parts(mm.Model.load(out))
    import pyarrow as pa

    for data in (table, pl.from_pandas(table), pa.Table.from_pandas(table, preserve_index=False), path):
        assert parts(trained(data, **options)) == command, type(data)


def test_predictions_are_those_of_the_command_bit_for_bit(tmp_path, mero):
    table = frame()
    path, out = tmp_path / "t.csv", tmp_path / "t.safetensors"
    table.to_csv(path, index=False)
    model = trained(table)
    model.save(out)
    printed = subprocess.run(
        [mero, "predict", out, path, "--device", "cpu"], check=True, capture_output=True, text=True
    ).stdout
    command = [float(line.split(",")[0]) for line in printed.splitlines()[1:]]
    assert model.predict(table, device="cpu").tolist() == command
    assert model.predict(pl.from_pandas(table), device="cpu").tolist() == command


def described(data: object) -> list[dict]:
    """What training saw of the columns of a table, besides y."""
    return trained(data).info["columns"]


def test_an_only_column_of_texts_keeps_its_missing_rows():
    for data in (pd.DataFrame({"c": ["a", " ", None]}), pl.DataFrame({"c": ["a", None, "b"]}), {"c": [None, "a", ""]}):
        assert table_of(data).rows() == 3
    rows = {"x": np.arange(40.0), "c": ["a", None] * 20}
    assert table_of(pl.DataFrame(rows)).rows() == table_of(pd.DataFrame(rows)).rows() == 40


def test_names_that_look_like_something_else():
    import pyarrow as pa

    names = [0, "2019", " c ", "#d", "a;b", "\ufeffe", "('f', 1)", "row"]
    frame = pd.DataFrame({name: ["p", "q"] * 3 for name in names})
    texts = [str(name) for name in names]
    assert table_of(frame).names() == texts
    assert table_of({name: ["p", "q"] * 3 for name in names}).names() == texts
    assert table_of(pa.table({str(name): ["p", "q"] for name in names})).names() == texts
    levels = pd.DataFrame([["p", 1.0]] * 3, columns=pd.MultiIndex.from_tuples([("f", 1), ("f", 2)]))
    assert table_of(levels).names() == ["('f', 1)", "('f', 2)"]


def test_dates_and_durations_are_the_same_in_every_library():
    import pyarrow as pa

    y = np.linspace(0.5, 3, 60)
    spans = pd.to_timedelta(np.arange(60) * 3601, "s")
    for days in (
        pd.date_range("2020-01-01", periods=60),
        pd.date_range("2020-01-01", periods=60, freq="7h"),
        pd.date_range("2020-01-01", periods=60, tz="Europe/Berlin"),
        pd.date_range("2020-01-01", periods=60, freq="7h", tz="Europe/Berlin"),
    ):
        frame = pd.DataFrame({"day": days, "span": spans, "y": y})
        expected = described(frame)
        assert [column["kind"] for column in expected][:1] == ["date"]
        assert described(pl.from_pandas(frame)) == expected
        assert described(pa.Table.from_pandas(frame, preserve_index=False)) == expected
        if days.tz is None:
            assert described({"day": days.to_numpy(), "span": spans.to_numpy(), "y": y}) == expected
            assert described({"day": days.to_pydatetime(), "span": spans.to_pytimedelta(), "y": y}) == expected


def test_short_floats_are_the_numbers_of_their_texts(tmp_path, mero):
    x = np.linspace(0.1, 4, 60)
    for kind in ("float16", "Float32"):
        table = pd.DataFrame({"x": pd.array(x.astype("f2" if kind == "float16" else "f4"), dtype=kind), "y": x})
        table.to_csv(tmp_path / "t.csv", index=False)
        assert parts(trained(table)) == parts(trained(tmp_path / "t.csv")), kind


def test_masked_and_missing_cells_of_every_kind():
    x = np.linspace(0, 4, 60)
    masked = np.ma.array(np.where(x > 3, 1e9, x), mask=x > 3)
    assert described({"x": masked, "y": x})[0]["max"] < 3.1
    objects = pd.Series(["a", pd.NA, None, np.nan, pd.NaT, "b"] * 10, dtype=object)
    for column in (objects, objects.astype("string"), pd.Categorical(objects)):
        (levels,) = described({"c": column, "y": x})
        assert levels["levels"] == ["a", "b"]
        assert described(pd.DataFrame({"c": column, "y": x})) == [levels]


def test_texts_with_ends_of_lines_and_quotes_are_cells():
    texts = ['a"b', "c\rd", "e\nf", "g,h"] * 15
    for data in ({"c": texts, "y": np.arange(60) / 7}, pd.DataFrame({"c": texts, "y": np.arange(60) / 7})):
        assert sorted(described(data)[0]["levels"]) == sorted(set(texts))


def test_reading_is_about_files():
    with pytest.raises(ValueError, match="reading: header is about files, and data is none: expected na, keep_na"):
        trained({"x": np.arange(20.0), "y": np.arange(20.0)}, reading={"header": False})
    assert table_of({"c": ["a", "-9"]}, {"na": ["-9"]}).rows() == 2


def test_columns_of_numbers_and_texts():
    table = table_of(
        {
            "a": [1, 2, 3],
            "b": ["x", None, "z"],
            "c": [True, False, True],
            "d": np.array([1.5, np.nan, 2], dtype=np.float32),
        }
    )
    assert (table.names(), table.is_numeric(), table.rows()) == (["a", "b", "c", "d"], [True, False, False, True], 3)
    assert table_of([{"a": 1, "b": "x"}, {"b": "y"}]).names() == ["a", "b"]
    assert table_of(np.zeros((4, 2))).names() == ["x0", "x1"]
    assert table_of(np.zeros(4, dtype=[("u", "f8"), ("v", "i4")])).names() == ["u", "v"]


def test_another_byte_order_strides_and_read_only_arrays_are_the_same_numbers(square):
    x = np.linspace(0, 4, 9)
    expected = square.predict({"x": x}, device="cpu")
    locked = x.copy()
    locked.flags.writeable = False
    for other in (x.astype(">f8"), np.repeat(x, 3)[::3], locked, np.asfortranarray(np.stack([x, x]))[1], x[::-1][::-1]):
        assert square.predict({"x": other}, device="cpu").tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"x": np.array([1 + 2j, 3])}, ValueError, 'data: column "x": got complex numbers, expected real ones'),
        ({"x": [[1, 2], [3, 4]]}, ValueError, 'data: column "x": got an array with 2 dimensions, expected one'),
        (
            {"x": np.array([{}, {}])},
            ValueError,
            'data: row 1: column "x" is a value of type dict, expected a number, a text',
        ),
        (
            pd.DataFrame({"x": [[1], [2]]}),
            ValueError,
            'data: row 1: column "x" is a value of type list, expected a number, a text',
        ),
        (pd.DataFrame({"x": [1j, 2]}), ValueError, 'data: column "x": got complex numbers'),
        (
            pl.DataFrame({"x": [[1], [2]]}),
            ValueError,
            'data: column "x" is of type List(Int64), expected numbers, texts',
        ),
        (np.zeros(4), ValueError, "data: got an array with 1 dimensions, expected two: [rows, columns]"),
        (np.array([["a"]]), ValueError, "data: got an array of texts, expected numbers"),
        (7, TypeError, "data: got a value of type int, expected a path, a frame of pandas"),
        ("absent.csv", FileNotFoundError, "absent.csv: there is no such file"),
        ({"a": [1], "b": ["x", "y"]}, ValueError, 'data: column "b" has 2 rows, column "a" has 1'),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), ValueError, 'data: two columns are named "x"'),
    ],
)
def test_data_that_cannot_be_used(data, error, message):
    with pytest.raises(error) as caught:
        table_of(data)
    assert str(caught.value).startswith(message)


def test_a_column_that_is_absent_and_columns_in_another_order(square):
    with pytest.raises(ValueError, match='column "x" is missing from data; it has "z"'):
        square.predict({"z": [1.0]}, device="cpu")
    x = np.linspace(0, 4, 50)
    both = mm.Model.train({"a": x, "b": -3 * x, "y": x - x**2}, target="y", epochs=5, device="cpu", progress=False)
    rows = {"a": [1.0, 2.0], "b": [-3.0, -6.0]}
    assert (
        both.predict(rows, device="cpu").tolist() == both.predict(dict(reversed(rows.items())), device="cpu").tolist()
    )
    with pytest.raises(ValueError, match="predict: X has 3 columns, expected 2: a, b"):
        both.predict(np.zeros((1, 3)))
