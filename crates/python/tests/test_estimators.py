"""The estimators in scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from meromorph import MeroClassifier, MeroRegressor

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# Checks that cannot hold, each with the reason; scikit-learn reports them as expected failures.
EXPECTED: dict[str, str] = {}


@parametrize_with_checks(
    [MeroRegressor(device="cpu", threads=1), MeroClassifier(device="cpu", threads=1)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn(estimator, check):
    check(estimator)


RNG = np.random.default_rng(3)
X = RNG.normal(size=(160, 3))
Y = X[:, 0] - 2 * X[:, 1] * X[:, 2]
K = np.where(Y > 0, "above", "below")
QUICK = {"epochs": 15, "device": "cpu", "threads": 1}


def test_clone_search_and_pipelines():
    scores = cross_val_score(make_pipeline(StandardScaler(), MeroRegressor(**QUICK | {"epochs": 60})), X, Y, cv=3)
    assert scores.min() > 0.5
    regressor = clone(MeroRegressor(hidden=[16], **QUICK))
    assert regressor.get_params()["hidden"] == [16]
    search = GridSearchCV(MeroClassifier(**QUICK), {"lr": [1e-6, 1e-2]}, cv=2).fit(X, K)
    assert search.best_params_ == {"lr": 1e-2}


def test_pickles_and_clones_repeat_bit_for_bit():
    regressor = MeroRegressor(**QUICK).fit(X, Y)
    expected = regressor.predict(X).tolist()
    assert pickle.loads(pickle.dumps(regressor)).predict(X).tolist() == expected
    assert clone(regressor).fit(X, Y).predict(X).tolist() == expected
    assert MeroRegressor(random_state=1, **QUICK).fit(X, Y).predict(X).tolist() != expected
    lower, upper = regressor.predict_interval(X, 0.8)
    assert np.all(lower < upper)


def test_frames_with_texts_dates_and_missing_cells_need_no_transformer():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["city"] = pd.Categorical(np.where(np.arange(160) % 3 == 0, "Oslo", "Rome"))
    frame["day"] = pd.date_range("2024-01-01", periods=160)
    frame.loc[::7, "a"] = np.nan
    frame.loc[4, "city"] = None
    y = pd.Series(Y + 5.0 * (frame["city"] == "Oslo"), name="price")
    regressor = MeroRegressor(**QUICK | {"epochs": 60}).fit(frame, y)
    assert regressor.score(frame, y) > 0.7
    assert regressor.feature_names_in_.tolist() == ["a", "b", "c", "city", "day"]
    assert regressor.model_.target == "price"
    same = MeroRegressor(**QUICK | {"epochs": 60}).fit(pl.from_pandas(frame), y)
    assert same.predict(pl.from_pandas(frame)).tolist() == regressor.predict(frame).tolist()
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        regressor.predict(frame[["b", "a", "c", "city", "day"]])
    one_hot = make_pipeline(
        ColumnTransformer([("city", OneHotEncoder(), ["city"])], remainder="drop"), MeroRegressor(**QUICK)
    )
    one_hot.fit(frame.dropna(), y[frame.dropna().index])


def test_labels_of_every_type():
    for labels in (K, (Y > 0).astype(int) * 2 - 1, Y > 0, np.where(Y > 0, "none", "NA"), pd.Series(K, name="x0")):
        classifier = MeroClassifier(**QUICK | {"epochs": 40}).fit(X, labels)
        assert classifier.classes_.tolist() == np.unique(labels).tolist()
        assert (classifier.predict(X) == np.asarray(labels)).mean() > 0.75
        assert np.allclose(classifier.predict_proba(X).sum(axis=1), 1, atol=1e-12)
    order = MeroClassifier(**QUICK | {"epochs": 40}).fit(X, np.where(Y > 0, 10, 9))
    assert order.predict_proba(X)[:, 1].argmax() == order.predict_proba(X)[:, 0].argmin()
    assert order.predict(X[Y.argmax()][None]).tolist() == [10]


def test_a_row_without_a_prediction_has_no_label():
    classifier = MeroClassifier(**QUICK).fit(X, K)
    assert classifier.predict(np.vstack([X[:2] * 1e300, X[:1]])).tolist()[:2] == [None, None]


def test_generators_and_masks():
    MeroRegressor(**QUICK | {"random_state": np.random.default_rng(0)}).fit(X, Y)
    masked = np.ma.array(X, mask=np.abs(X) > 2)
    expected = MeroRegressor(**QUICK).fit(np.where(np.abs(X) > 2, np.nan, X), Y).predict(X)
    assert MeroRegressor(**QUICK).fit(masked, Y).predict(X).tolist() == expected.tolist()


def test_errors_are_those_that_scikit_learn_users_expect():
    with pytest.raises(NotFittedError):
        MeroRegressor().predict(X)
    with pytest.raises(ValueError, match="X has 2 features, but MeroRegressor is expecting 3 features"):
        MeroRegressor(**QUICK).fit(X, Y).predict(X[:, :2])
    with pytest.raises(ValueError, match="got 1 class, 'a': expected at least two"):
        MeroClassifier().fit(X, ["a"] * 160)
    with pytest.raises(ValueError, match="epochs: got -1"):
        MeroRegressor(epochs=-1).fit(X, Y)
    with pytest.raises(ValueError, match="y: got dates or durations"):
        MeroRegressor(**QUICK).fit(X, pd.Series(pd.date_range("2020", periods=160)))
    with pytest.raises(TypeError, match="X: got a mapping, expected a frame"):
        MeroRegressor(**QUICK).fit({"a": Y}, Y)
    with pytest.raises(ValueError, match='X: column "a": Input X contains infinity'):
        MeroRegressor(**QUICK).fit(pd.DataFrame({"a": np.where(Y > 1, np.inf, Y)}), Y)
    with pytest.raises(ValueError, match="random_state: got 'a', expected a whole number"):
        MeroRegressor(**QUICK | {"random_state": "a"}).fit(X, Y)
    with pytest.raises(TypeError, match="unexpected keyword argument 'epoch'"):
        MeroRegressor(epoch=1)
