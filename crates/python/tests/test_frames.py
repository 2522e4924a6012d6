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
