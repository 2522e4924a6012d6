"""Estimators of scikit-learn."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise ImportError("the estimators need scikit-learn: pip install meromorph[sklearn]") from error

from ._arguments import Arguments
from ._checked import whole
from ._frames import categories, table_of, unmasked
from ._model import Model, Predictions

# The name of the column to predict, unless y has one of its own.
TARGET = "y"


class _Estimator(Arguments, BaseEstimator):
    """What both estimators share: X as a frame with any columns, or as an array of numbers."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = False
        return tags

    def _columns(self, X: Any, *, reset: bool) -> Any:
        """X as something that has columns; checked as scikit-learn checks it."""
        if _is_frame(X):
            # Categories, dates and texts are the engine's business.
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if isinstance(X, Mapping) and not hasattr(X, "tocsr"):
            raise TypeError(
                "X: got a mapping, expected a frame of pandas, polars or PyArrow, or an array [rows, columns]"
            )
        X = unmasked(X) if isinstance(X, np.ma.MaskedArray) else X
        if _has_texts(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return {f"x{at}": np.asarray(X)[:, at] for at in range(np.shape(X)[1])}
        X = validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
        return {f"x{at}": X[:, at] for at in range(X.shape[1])}

    def _fit(self, columns: Any, y: Any, name: str, task: str) -> Model:
        table = table_of(columns, what="X", more={name: y}, is_finite=True)
        options = {
            key: value
            for key, value in self.get_params(deep=False).items()
            if key not in {"device", "threads", "progress", "random_state"}
        }
        options |= {"task": task, "seed": _seed(self.random_state), "test": 0.0}
        return Model.train(
            table, target=name, device=self.device, threads=self.threads, progress=self.progress, **options
        )

    def _predicted(self, X: Any, **options: Any) -> Predictions:
        check_is_fitted(self, "model_")
        columns = self._columns(X, reset=False)
        return self.model_.predictions(
            table_of(columns, what="X", is_finite=True), device=self.device, threads=self.threads, **options
        )

    @property
    def n_iter_(self) -> int:
        """The epochs of the run."""
        check_is_fitted(self, "model_")
        return self.model_.info["training"]["epochs"]


class MeroRegressor(RegressorMixin, _Estimator):
    """A network that predicts numbers.

    >>> import numpy as np
    >>> from meromorph import MeroRegressor
    >>> X = np.linspace(0, 4, 200)[:, None]
    >>> regressor = MeroRegressor(epochs=60, device="cpu").fit(X, X[:, 0] ** 2)
    >>> bool(regressor.score(X, X[:, 0] ** 2) > 0.9)
    True
    """

    def fit(self, X: Any, y: Any) -> MeroRegressor:
        """Trains on X, a frame or an array [rows, columns] of numbers, in which NaN is missing, and y [rows]."""
        if y is None:
            raise ValueError("this MeroRegressor requires y to be passed, but the target y is None")
        columns = self._columns(X, reset=True)
        name = _name(y, columns)
        y = column_or_1d(unmasked(y) if isinstance(y, np.ma.MaskedArray) else y, warn=True, dtype=None)
        if y.dtype.kind in "Mm":
            raise ValueError("y: got dates or durations, expected numbers")
        if y.dtype.kind == "O":
            y = y.astype(np.float64)
        if y.dtype.kind == "c":
            raise ValueError("y: got complex numbers, expected real ones. Complex data not supported")
        if not np.all(np.isfinite(np.asarray(y, dtype=np.float64))):
            raise ValueError("y: Input y contains NaN or infinity, expected finite numbers")
        self.model_ = self._fit(columns, np.asarray(y, dtype=np.float64), name, "regression")
        return self

    def predict(self, X: Any) -> np.ndarray:
        """A number for each row; NaN where the model has none."""
        return self._predicted(X).value

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the interval around each prediction in which the target lies with this probability."""
        predicted = self._predicted(X, interval=level)
        return predicted.lower, predicted.upper  # type: ignore[return-value]


class MeroClassifier(ClassifierMixin, _Estimator):
    """A network that predicts classes.

    >>> import numpy as np
    >>> from meromorph import MeroClassifier
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> classifier = MeroClassifier(epochs=40, device="cpu").fit(X, np.where(X[:, 0] > 0, "above", "below"))
    >>> classifier.predict([[-0.9], [0.9]]).tolist()
    ['below', 'above']
    """

    def fit(self, X: Any, y: Any) -> MeroClassifier:
        """Trains on X, a frame or an array [rows, columns] of numbers, in which NaN is missing, and labels y [rows]."""
        if y is None:
            raise ValueError("this MeroClassifier requires y to be passed, but the target y is None")
        columns = self._columns(X, reset=True)
        name = _name(y, columns)
        y = column_or_1d(unmasked(y) if isinstance(y, np.ma.MaskedArray) else y, warn=True, dtype=None)
        if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
            raise ValueError("y: Input y contains NaN or infinity, expected labels")
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y: got 1 class, {classes.tolist()[0]!r}: expected at least two, or there is nothing to learn"
            )
        self.classes_ = classes
        levels = [str(label) for label in classes.tolist()]
        model = self._fit(columns, categories(codes, levels), name, "classification")
        # The engine has its own order of levels.
        self._order = [levels.index(label) for label in model.info["target"]["classes"]]
        self.model_ = model
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class [rows, classes], in the order of `classes_`."""
        given = self._predicted(X).probabilities
        assert given is not None, "a model of classes has probabilities"
        probabilities = np.zeros((len(given), len(self.classes_)))
        probabilities[:, self._order] = given
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        """The most probable label of each row; None where the model has no prediction."""
        probabilities = self.predict_proba(X)
        is_known = ~np.isnan(probabilities).any(axis=1)
        labels: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        if not is_known.all():
            labels = labels.astype(object)
            labels[~is_known] = None
        return labels


def _is_frame(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] in {"pandas", "polars", "pyarrow"} and getattr(X, "ndim", 2) == 2


def _has_texts(X: Any) -> bool:
    """Whether X is an array of texts, or of objects among which there are texts that are no numbers."""
    if hasattr(X, "tocsr"):
        return False
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "OU":
        return False
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        return all(isinstance(cell, (str, numbers.Real)) or cell is None for cell in array.flat)
    return False


def _name(y: Any, columns: Any) -> str:
    """The name of the column to predict: that of y, if it has one that no other column has."""
    name = getattr(y, "name", None)
    names = getattr(columns, "column_names", None) or getattr(columns, "columns", columns)
    taken = {str(column) for column in names}
    name = str(name) if name is not None else TARGET
    while name in taken:
        name = f"{name}_"
    return name


def _seed(random_state: Any) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        return whole("random_state", random_state)
    draw = getattr(random_state, "integers", None) or getattr(random_state, "randint", None)
    if draw is None:
        raise ValueError(f"random_state: got {random_state!r}, expected a whole number, a generator of NumPy, or None")
    return int(draw(0, 2**31 - 1))
