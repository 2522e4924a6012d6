"""The engine in Pyodide: what the native module `_engine` has, over the WebAssembly of the npm package.

The engine answers with promises. A function that waits for one is `Waiting`: a call waits, and its attribute `later` is
the same as a coroutine.
"""

from importlib.metadata import version as _version

from .bridge import absent as _absent
from .fits import Columns, SavedFit, fit, fit_many, fit_models, residuals
from .models import Model, devices
from .options import options
from .tables import Table
from .training import train

VERSION = _version("meromorph")

formula_parameters = _absent("curve_fit of a text")
scm_evaluate = _absent("scm")
scm_reduce = _absent("scm")
contrast = _absent("contrast")
Memory = _absent("Memory")

__all__ = [
    "VERSION",
    "Columns",
    "Memory",
    "Model",
    "SavedFit",
    "Table",
    "contrast",
    "devices",
    "fit",
    "fit_many",
    "fit_models",
    "formula_parameters",
    "options",
    "residuals",
    "scm_evaluate",
    "scm_reduce",
    "train",
]
