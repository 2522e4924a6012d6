"""Fits 200 random problems with `mero fit` and with SciPy's curve_fit and compares parameters and covariances.

usage: curve_fit.py PATH_TO_MERO [PROBLEMS]

The problems differ in model, number of rows, noise, weights (none, relative, absolute), loss and bounds (none, inactive, active). SciPy
searches with complex-step derivatives and tolerances near rounding. Parameters must agree within 1e-4 standard errors and the entries of
the covariance, with the linear loss, within 1e-6 of the product of the standard errors.
"""
import inspect
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

# Formula, the same in NumPy, ranges of the true parameters, range of x.
MODELS = [
    ("a*exp(-b*x)+c", lambda x, a, b, c: a * np.exp(-b * x) + c, [(1, 5), (0.2, 2), (-1, 1)], (0, 5)),
    ("a*exp(-0.5*((x-m)/s)^2)+c", lambda x, a, m, s, c: a * np.exp(-0.5 * ((x - m) / s) ** 2) + c, [(1, 5), (-1, 1), (0.5, 1.5), (0, 1)], (-4, 4)),
    ("l/(1+exp(-k*(x-m)))", lambda x, l, k, m: l / (1 + np.exp(-k * (x - m))), [(1, 10), (0.5, 3), (-1, 1)], (-4, 4)),
    ("a*x^b", lambda x, a, b: a * x**b, [(0.5, 5), (0.3, 2.5)], (0.2, 6)),
    ("v*x/(k+x)", lambda x, v, k: v * x / (k + x), [(1, 20), (0.5, 5)], (0.1, 20)),
    ("a*exp(-d*x)*sin(w*x+p)", lambda x, a, d, w, p: a * np.exp(-d * x) * np.sin(w * x + p), [(1, 4), (0.05, 0.4), (1.5, 3), (-1, 1)], (0, 8)),
    ("(a+b*x)/(1+c*x)", lambda x, a, b, c: (a + b * x) / (1 + c * x), [(1, 3), (1, 5), (0.2, 2)], (0, 6)),
    ("a+b*x+c*x^2+d*x^3", lambda x, a, b, c, d: a + b * x + c * x**2 + d * x**3, [(-2, 2)] * 4, (-2, 2)),
    ("a/(1+((x-m)/g)^2)+c", lambda x, a, m, g, c: a / (1 + ((x - m) / g) ** 2) + c, [(1, 5), (-1, 1), (0.3, 1.5), (0, 1)], (-5, 5)),
]
LOSSES = ["linear", "soft_l1", "huber", "cauchy", "arctan"]
PARAMETER_BOUND, COVARIANCE_BOUND = 1e-4, 1e-6
# Of J with columns of length 1: beyond, the minimum is a valley and neither search ends in it.
MOST_CONDITION, MOST_SKIPPED = 1e5, 5


def names(model):
    return list(inspect.signature(model).parameters)[1:]


def problem(at, random):
    formula, model, ranges, (low, high) = MODELS[at % len(MODELS)]
    truth = np.array([random.uniform(*each) for each in ranges])
    rows = int(random.integers(20, 300))
    x = np.sort(random.uniform(low, high, rows))
    exact = model(x, *truth)
    noise = 0.02 * np.ptp(exact)
    sigma = noise * random.uniform(0.5, 2.0, rows)
    y = exact + sigma * random.standard_normal(rows)
    loss = LOSSES[at // len(MODELS) % len(LOSSES)]
    if loss != "linear":
        outliers = random.random(rows) < 0.05
        y[outliers] += 10 * noise * random.standard_normal(outliers.sum())
    weights = at % 3
    bounds = [np.full(len(truth), -np.inf), np.full(len(truth), np.inf)]
    kind = at // 7 % 3
    start = truth * random.uniform(0.9, 1.1, len(truth)) + 0.01
    if kind == 1:
        bounds = [truth - 3 - np.abs(truth), truth + 3 + np.abs(truth)]
    if kind == 2:
        # One parameter is kept from its best value by an upper bound.
        held = int(random.integers(len(truth)))
        bounds[1][held] = truth[held] - 0.1 * abs(truth[held]) - 0.05
        start[held] = bounds[1][held] - 0.05
    scale = {0: 2 * noise, 1: 2.0, 2: 2.0}[weights]
    return formula, model, x, y, sigma, weights, loss, scale, bounds, start


def ours(mero, folder, given):
    formula, model, x, y, sigma, weights, loss, scale, (low, high), start = given
    table = Path(folder) / "data.csv"
    table.write_text("x,y,sd\n" + "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in zip(x.tolist(), y.tolist(), sigma.tolist())))
    keys = names(model)
    command = [mero, "fit", str(table), "--model", formula, "--y", "y", "--loss", loss, "--json"]
    command += ["--loss-scale", repr(float(scale))] if loss != "linear" else []
    command += ["--p0", ",".join(f"{key}={float(value)!r}" for key, value in zip(keys, start))]
    end = lambda value: repr(float(value)) if np.isfinite(value) else ""
    limits = [f"{key}={end(a)}:{end(b)}" for key, a, b in zip(keys, low, high) if np.isfinite(a) or np.isfinite(b)]
    command += ["--bounds", ",".join(limits)] if limits else []
    command += ["--sigma", "sd"] if weights else []
    command += ["--absolute-sigma"] if weights == 2 else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"curve_fit: {formula}: {done.stderr}")
    report = json.loads(done.stdout)
    order = [report["free"].index(key) for key in keys]
    return np.array([report["parameters"][key]["value"] for key in keys]), np.array(report["covariance"])[np.ix_(order, order)]


def theirs(given):
    """What curve_fit(method="trf") returns; next to a bound the search may use up its evaluations, which curve_fit takes for a failure."""
    _, model, x, y, sigma, weights, loss, scale, bounds, start = given
    weight = 1 / sigma if weights else 1.0
    tight = dict(ftol=1e-15, xtol=1e-15, gtol=1e-15, x_scale="jac", max_nfev=1_000)
    found = least_squares(lambda p: (model(x, *p) - y) * weight, start, jac="cs", bounds=tuple(bounds), method="trf", loss=loss,
                          f_scale=scale, **tight)
    covariance = np.linalg.pinv(found.jac.T @ found.jac)
    condition = np.linalg.cond(found.jac / np.linalg.norm(found.jac, axis=0))
    return found.x, covariance if weights == 2 else covariance * 2 * found.cost / (len(x) - len(start)), condition


def main():
    mero, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    random = np.random.default_rng(5)
    failures, worst, skipped = [], [0.0, 0.0], 0
    with tempfile.TemporaryDirectory() as folder:
        for at in range(count):
            given = problem(at, random)
            known, known_covariance, condition = theirs(given)
            if condition > MOST_CONDITION:
                skipped += 1
                continue
            value, covariance = ours(mero, folder, given)
            errors = np.sqrt(np.diag(known_covariance))
            apart = np.max(np.abs(value - known) / errors)
            # Robust covariances are those of an M-estimator, which SciPy has not: tests in Rust have those of statsmodels.
            off = np.max(np.abs(covariance - known_covariance) / np.outer(errors, errors)) if given[6] == "linear" else 0.0
            worst = [max(worst[0], apart), max(worst[1], off)]
            if not (apart <= PARAMETER_BOUND and off <= COVARIANCE_BOUND):
                failures.append(f"problem {at}, {given[0]}, loss {given[6]}, weights {given[5]}, bounds {at // 7 % 3}: parameters {apart:.1e} standard errors apart, covariance {off:.1e}")
    print(f"{count - skipped - len(failures)} of {count - skipped} fits agree ({skipped} without a unique minimum left out); at most {worst[0]:.1e} standard errors and {worst[1]:.1e} of the covariance apart")
    if skipped > MOST_SKIPPED:
        failures.append(f"{skipped} problems have no unique minimum, expected at most {MOST_SKIPPED}")
    if failures:
        sys.exit("curve_fit: " + "\ncurve_fit: ".join(failures))


if __name__ == "__main__":
    main()
