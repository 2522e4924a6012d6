"""Masked arithmetic."""

import pickle

import numpy as np
import pytest

from meromorph import scm


def of(masked):
    return [
        None if bottom else float(value)
        for value, bottom in zip(masked.values.ravel(), masked.bottom.ravel(), strict=True)
    ]


X = scm.Masked([1.0, 0.0, -4.0, np.nan])


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (lambda: X + 1, [2, 1, -3, None]),
        (lambda: 1 - X, [0, 1, 5, None]),
        (lambda: X * X, [1, 0, 16, None]),
        (lambda: 1 / X, [1, None, -0.25, None]),
        (lambda: X / 0, [None] * 4),
        (lambda: X**2, [1, 0, 16, None]),
        (lambda: X**0.5, [1, 0, None, None]),
        (lambda: abs(-X), [1, 0, 4, None]),
        (lambda: np.sqrt(X), [1, 0, None, None]),
        (lambda: np.log(X), [0, None, None, None]),
        (lambda: np.exp(X * 100), [None, 1, 0, None]),
        (lambda: np.maximum(X, [0.0, 0.0, 0.0, 0.0]), [1, 0, 0, None]),
        (lambda: X > -1, [1, 1, 0, None]),
        (lambda: scm.where(X > 0, X, 7.0), [1, 7, 7, None]),
        (lambda: np.where(X > 0, X, 7.0), [1, 7, 7, None]),
        (lambda: np.clip(X, -1, 0.5), [0.5, 0, -1, None]),
        (lambda: np.array([2.0, 2.0, 2.0, 2.0], dtype=np.float32) * X, [2, 0, -8, None]),
        (lambda: 3e38 * X + 3e38, [None, np.float32(3e38), None, None]),
        (lambda: scm.evaluate("x / (y - 1)", x=[1.0, 2.0], y=[1.0, 3.0]), [None, 1]),
    ],
)
def test_every_operation_has_a_result(result, expected):
    found = result()
    assert of(found) == [None if one is None else pytest.approx(float(one)) for one in expected]
    assert found.values.dtype == np.float32 and np.all(found.values[found.bottom] == 0)


def test_reductions_take_bottom_as_they_are_told():
    y = scm.Masked([[1.0, 2.0, 3.0], [4.0, np.inf, 8.0]])
    assert of(y.sum()) == [None] and of(y.sum(axis=1)) == [6, None] and of(y.sum(axis=0)) == [5, None, 11]
    assert of(y.sum(axis=1, bottoms="drop")) == [6, 12] and of(y.mean(axis=1, bottoms="drop")) == [2, 6]
    assert of(y.prod(axis=1, bottoms="drop")) == [6, 32] and of(np.sum(y, axis=0)) == [5, None, 11]
    assert of(scm.Masked([np.nan]).sum(bottoms="drop")) == [None]
    assert y.coverage == pytest.approx(5 / 6)
    with pytest.raises(ValueError, match='expected "strict" or "drop"'):
        y.sum(bottoms="ignore")


def test_shapes_broadcast():
    column, row = scm.Masked([[1.0], [2.0]]), scm.Masked([1.0, 0.0, 4.0])
    assert of(column / row) == [1, None, 0.25, 2, None, 0.5] and (column / row).shape == (2, 3)
    assert of((column / row)[1]) == [2, None, 0.5] and of((column * row).reshape(-1)) == [1, 0, 4, 2, 0, 8]


def test_many_numbers_are_as_few():
    values = np.linspace(-2, 2, 200_001, dtype=np.float32)
    whole = np.log(scm.Masked(values))
    assert whole.bottom.sum() == 100_001 and not whole.bottom[-1]
    np.testing.assert_array_equal(whole.values[-1000:], np.log(scm.Masked(values[-1000:])).values)


def test_numbers_go_in_and_out():
    values = np.array([1.0, 2.0], dtype=np.float32)
    assert scm.Masked(values).values is values
    marked = scm.Masked([1.0, 2.0], bottom=[True, False])
    assert of(marked) == [None, 2] and repr(marked) == "Masked([⊥, 2])"
    np.testing.assert_array_equal(marked.to_numpy(-1.0), [-1, 2])
    np.testing.assert_array_equal(np.asarray(marked), [np.nan, 2])
    assert of(pickle.loads(pickle.dumps(marked))) == [None, 2]
    assert of(scm.Masked(1e300)) == [None], "a double beyond single precision"


def test_mistakes_are_explained():
    for kind, message, call in [
        (TypeError, "expected one of add", lambda: np.spacing(X)),
        (TypeError, "np.median", lambda: np.median(X)),
        (ValueError, "broadcast", lambda: X + [1.0, 2.0, 3.0]),
        (ValueError, "truth values", lambda: scm.Masked([1.0], bottom=[0.5])),
        (ValueError, "neither true nor false", lambda: bool(scm.Masked(np.nan) > 0)),
        (ValueError, "unknown name", lambda: scm.evaluate("x + z", x=1.0)),
        (ValueError, "in parts", lambda: scm.evaluate("a+b+c+d", **dict.fromkeys("abcd", X))),
        (ValueError, "complex", lambda: scm.Masked([1j])),
    ]:
        with pytest.raises(kind, match=message):
            call()


def test_clips_have_one_limit_or_two():
    x = scm.Masked([-1.0, np.nan, 3.0])
    is_new = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
    for clipped, expected in [
        (np.clip(x, 0, None), [0, np.nan, 3]),
        (np.clip(x, None, 2), [-1, np.nan, 2]),
        (np.clip(x, a_min=0, a_max=2), [0, np.nan, 2]),
        *([(np.clip(x, min=2), [2, np.nan, 3]), (np.clip(x, max=2), [-1, np.nan, 2])] if is_new else []),
    ]:
        assert isinstance(clipped, scm.Masked)
        np.testing.assert_array_equal(clipped.to_numpy(), np.array(expected, dtype=np.float32))
    with pytest.raises(TypeError, match=r"np\.clip with where"):
        np.clip(x, 0, 1, where=[True, True, False])


def test_series_and_masked_numbers_are_masked():
    pandas = pytest.importorskip("pandas")
    for product in (
        pandas.Series([1.0, 2.0]) * scm.Masked([3.0, np.nan]),
        scm.Masked([3.0, np.nan]) * pandas.Series([1.0, 2.0]),
    ):
        assert repr(product) == "Masked([3, ⊥])"
