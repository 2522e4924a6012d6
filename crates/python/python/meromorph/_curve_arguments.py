"""The arguments of `curve_fit` as the engine takes them, with the errors of SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import as_array, numbers

#: Options of SciPy's searches that change how near the minimum a search ends, and how derivatives are estimated. Here
#: it ends where no step lowers the cost in double precision, and derivatives are exact.
WITHOUT_EFFECT = {
    "ftol",
    "xtol",
    "gtol",
    "x_scale",
    "diff_step",
    "epsfcn",
    "factor",
    "diag",
    "col_deriv",
    "tr_solver",
    "tr_options",
    "jac_sparsity",
    "verbose",
    "f_scale",
}


def checked(
    xdata: Any, ydata: Any, sigma: Any, check_finite: bool | None, nan_policy: str | None
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """The data as arrays of doubles, without what the policy leaves out."""
    if nan_policy not in (None, "raise", "omit"):
        refused = (
            "`nan_policy='propagate'` is not supported by this function"
            if nan_policy == "propagate"
            else f"nan_policy: got {nan_policy!r}"
        )
        raise ValueError(f"curve_fit: {refused}: expected None, 'raise' or 'omit'")
    y = numbers(ydata, "ydata")
    x = (
        xdata
        if is_table(xdata)
        else numbers(np.asarray(xdata) if isinstance(xdata, (list, tuple)) else as_array(xdata, "xdata"), "xdata")
    )
    if y.size == 0:
        raise ValueError(
            "curve_fit: `ydata` must not be empty: got no values, expected at least one for each parameter"
        )
    sigma = None if sigma is None else _sigma(numbers(sigma, "sigma"), y.size)
    checks = nan_policy is None if check_finite is None else check_finite
    tables = [numbers(x[name], f"xdata[{name!r}]") for name in x] if is_table(x) else [x]
    parts = [("xdata", part) for part in tables] + [("ydata", y)]
    for name, part in parts:
        is_wrong = not np.all(np.isfinite(part)) if checks else nan_policy == "raise" and bool(np.isnan(part).any())
        if is_wrong:
            what = "infs or NaNs" if checks else "NaNs"
            raise ValueError(
                f"curve_fit: {name}: array must not contain {what}: expected finite numbers, or check_finite=False "
                "and nan_policy='omit'"
            )
    if nan_policy == "omit" and not checks:
        kept = ~np.isnan(y)
        for _, part in parts[:-1]:
            kept = kept & ~(np.isnan(part).any(axis=tuple(range(part.ndim - 1))) if part.ndim > 1 else np.isnan(part))
        x = {name: part[..., kept] for name, part in zip(x, tables, strict=True)} if is_table(x) else x[..., kept]
        y, sigma = y[kept], None if sigma is None else np.ascontiguousarray(sigma[kept])
    return x, np.ascontiguousarray(y), sigma


def is_table(data: Any) -> bool:
    return isinstance(data, Mapping) or type(data).__name__ == "DataFrame"


def _sigma(sigma: np.ndarray, size: int) -> np.ndarray:
    if sigma.shape == (size, size) and size > 1:
        if np.count_nonzero(sigma - np.diag(np.diagonal(sigma))):
            raise ValueError(
                f"curve_fit: sigma: got a covariance matrix [{size}, {size}] of correlated errors, expected standard "
                "deviations, or a diagonal matrix"
            )
        if np.any(np.diagonal(sigma) <= 0):
            raise ValueError(
                "curve_fit: `sigma` must be positive definite: got a variance of 0 or below, expected variances above 0"
            )
        return np.sqrt(np.diagonal(sigma))
    if sigma.size == 1:
        return np.full(size, float(sigma.reshape(-1)[0]))
    if sigma.shape != (size,):
        raise ValueError(
            f"curve_fit: `sigma` has incorrect shape: got {list(sigma.shape)}, expected [{size}], as y has"
        )
    return sigma


def bounds_of(bounds: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    ends = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") and hasattr(bounds, "ub") else bounds
    if len(ends) != 2:
        raise ValueError(f"curve_fit: bounds: got {len(ends)} values, expected two: lower and upper bounds")
    low, high = (np.asarray(end, dtype=np.float64) for end in ends)
    for end in (low, high):
        if end.ndim > 0 and end.shape != (count,):
            raise ValueError(
                f"curve_fit: bounds: got the shape {list(end.shape)}, expected [{count}] or a single number: "
                "inconsistent shapes between bounds and parameters"
            )
    low, high = np.broadcast_to(low, count), np.broadcast_to(high, count)
    if np.any(low >= high):
        raise ValueError("curve_fit: bounds: each lower bound must be strictly less than each upper bound")
    return low, high


def start_within(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Where SciPy begins: 1, or within the bounds."""
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    middle = 0.5 * (np.where(has_low, low, 0.0) + np.where(has_high, high, 0.0))
    return np.select([has_low & has_high, has_low, has_high], [middle, low + 1, high - 1], 1.0)


def options_of(method: str | None, is_bounded: bool, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The options of the engine."""
    if method not in (None, "lm", "trf"):
        raise ValueError(f"curve_fit: method: got {method!r}, expected 'lm' or 'trf'")
    if method == "lm" and is_bounded:
        raise ValueError("curve_fit: Method 'lm' only works for unconstrained problems: got bounds, expected 'trf'")
    options: dict[str, Any] = {"method": method} if method else {}
    for name, value in kwargs.items():
        if name in ("maxfev", "max_nfev"):
            options |= {"max_evaluations": value} if value else {}
        elif name == "loss":
            options |= {"loss": value} | (
                {"loss_scale": kwargs["f_scale"]} if "f_scale" in kwargs and value != "linear" else {}
            )
        elif name == "global_":
            options["global_"] = value
        elif name == "args":
            raise ValueError(
                "curve_fit: 'args' is not a supported keyword argument: expected a function of x and parameters"
            )
        elif name not in WITHOUT_EFFECT:
            raise TypeError(f"curve_fit: got an unexpected keyword argument {name!r}")
    return options
