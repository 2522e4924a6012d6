"""Trains networks on tables and fits curves, also where there is a division by zero.

>>> import meromorph as mm
>>> data = {"x": [i / 50 for i in range(200)], "y": [(i / 50) ** 2 for i in range(200)]}
>>> model = mm.Model.train(data, target="y", epochs=60, device="cpu", progress=False)
>>> bool(abs(model.predict({"x": [1.5]})[0] - 2.25) < 0.3)
True

`Model` trains on a table and predicts, `MeroRegressor` and `MeroClassifier` are estimators of scikit-learn. Options
have the names, ranges and defaults of the command `mero`. Nothing but this package and NumPy is needed; pandas, polars,
PyArrow and scikit-learn are used where they are there.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from . import _engine

if TYPE_CHECKING:
    from . import scm as scm
    from ._contrast import Memory as Memory
    from ._contrast import contrast as contrast
    from ._curve_fit import curve_fit as curve_fit
    from ._estimators import MeroClassifier as MeroClassifier
    from ._estimators import MeroRegressor as MeroRegressor
    from ._fit import Fit as Fit
    from ._fit import fit as fit
    from ._fit import fit_async as fit_async
    from ._fit import fit_models as fit_models
    from ._fit_many import fit_many as fit_many
    from ._listed import devices as devices
    from ._listed import options as options
    from ._model import Model as Model
    from ._model import Predictions as Predictions

__version__: str = _engine.VERSION

# Each name and the module that has it: a module is imported when the first of its names is used,
# so that importing the package is fast.
_NAMES = {
    "Model": "_model",
    "Predictions": "_model",
    "MeroRegressor": "_estimators",
    "MeroClassifier": "_estimators",
    "devices": "_listed",
    "options": "_listed",
    "fit": "_fit",
    "fit_async": "_fit",
    "fit_many": "_fit_many",
    "fit_models": "_fit",
    "Fit": "_fit",
    "curve_fit": "_curve_fit",
    "contrast": "_contrast",
    "Memory": "_contrast",
    "scm": "scm",
}

__all__ = ["__version__", *_NAMES]  # noqa: PLE0604


# Type checkers read the imports above instead.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> _Any:
        if name not in _NAMES:
            raise AttributeError(f"module 'meromorph' has no attribute {name!r}")
        module = _import_module(f".{_NAMES[name]}", __name__)
        value = module if _NAMES[name] == name else getattr(module, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
