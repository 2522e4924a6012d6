"""Curve fits against SciPy's least_squares with an analytic Jacobian, and against NLSQ if it is installed: the same data, model and start, engines by
turns, medians of the ratios.

usage: fit.py PATH_TO_MERO [--rows 1000000] [--rounds N] [--threads N] [--many]

With --many, 100,000 fits of 50 points with 4 parameters in one command, on all threads, against a loop of SciPy's curve_fit on one, which
is timed on 1,000 of them.
Three models: a decay (3 parameters), two decays and a constant (5), two peaks, a decay and a constant (9). Only the time of the fit counts, not that
of reading the data. SciPy runs with method "lm" (MINPACK), which is its fastest here; NumPy and JAX use as many threads as they like. NLSQ is compiled by a
fit that does not count.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit, least_squares

try:
    import jax.numpy as jnp
    import nlsq
except ImportError:
    nlsq = None


def decay(x, p, np=np):
    e = np.exp(-p[1] * x)
    return p[0] * e + p[2], [e, -p[0] * x * e, np.ones_like(x)]


def decays(x, p, np=np):
    e, f = np.exp(-p[1] * x), np.exp(-p[3] * x)
    return p[0] * e + p[2] * f + p[4], [e, -p[0] * x * e, f, -p[2] * x * f, np.ones_like(x)]


def peaks(x, p, np=np):
    value, slopes = np.zeros_like(x), []
    for height, center, sigma in (p[0:3], p[3:6]):
        z = (x - center) / sigma
        e = np.exp(-0.5 * z * z)
        value = value + height * e
        slopes += [e, height * e * z / sigma, height * e * z * z / sigma]
    f = np.exp(-p[7] * x)
    return value + p[6] * f + p[8], [*slopes, f, -p[6] * x * f, np.ones_like(x)]


GAUSS = "h{0}*exp(-0.5*((c0-m{0})/s{0})^2)"
MODELS = {
    3: ("a*exp(-b*c0)+c", "abc", decay, [3, 1.1, 0.5], [1, 1, 0]),
    5: ("a*exp(-b*c0)+c*exp(-d*c0)+e1", ["a", "b", "c", "d", "e1"], decays, [3, 2.5, 2, 0.4, 0.5], [2, 2, 1, 0.5, 0]),
    9: (f"{GAUSS.format(1)}+{GAUSS.format(2)}+a*exp(-b*c0)+c", ["h1", "m1", "s1", "h2", "m2", "s2", "a", "b", "c"], peaks,
        [2, 1.5, 0.3, 1, 3.5, 0.4, 3, 1.1, 0.5], [1.8, 1.4, 0.35, 1.2, 3.4, 0.35, 2.5, 1, 0.4]),
}


def ours(mero, file, formula, names, start, threads):
    given = ",".join(f"{name}={value}" for name, value in zip(names, start))
    command = [mero, "fit", file, "--model", formula, "--y", "c1", "--p0", given, "--threads", str(threads), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fit: {done.stderr}")
    report = json.loads(done.stdout)
    return report["seconds"], [report["parameters"][name]["value"] for name in names], report["evaluations"]


def theirs(model, x, y, start):
    jacobian = lambda p: np.column_stack(model(x, p)[1])
    begin = time.perf_counter()
    found = least_squares(lambda p: model(x, p)[0] - y, start, jacobian, method="lm")
    return time.perf_counter() - begin, found.x, found.nfev


def by_nlsq(model, x, y, start):
    """A fit of NLSQ, as a function that is compiled once and returns its time and the values."""
    fitter = nlsq.CurveFit()
    value = lambda x, *p: model(x, p, jnp)[0]

    def run():
        begin = time.perf_counter()
        found, _ = fitter.curve_fit(value, x, y, p0=np.asarray(start, float))
        return time.perf_counter() - begin, np.asarray(found)

    run()
    return run


def many(mero, rounds, threads):
    """Fits of a peak on a constant, one for each level of a column."""
    fits, rows = 100_000, 50
    random = np.random.default_rng(0)
    x = np.tile(np.linspace(-5, 5, rows), fits)
    truth = random.uniform([1, -1, 0.8, 0], [3, 1, 1.6, 1], (fits, 4))
    h, m, s, c = np.repeat(truth, rows, axis=0).T
    peak = lambda x, h, m, s, c: h * np.exp(-(((x - m) / s) ** 2)) + c
    y = peak(x, h, m, s, c) + 0.02 * random.standard_normal(fits * rows)

    def slopes(x, h, m, s, c):
        z = (x - m) / s
        e = np.exp(-z * z)
        return np.column_stack([e, 2 * h * e * z / s, 2 * h * e * z * z / s, np.ones_like(x)])

    start = [2, 0.1, 1.1, 0.4]
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "data.npy")
        np.save(file, np.column_stack([np.repeat(np.arange(fits), rows), x, y]))
        formula = "h[c0]*exp(-((c1-m[c0])/s[c0])^2)+c[c0]"
        given = ",".join(f"{name}={value}" for name, value in zip("hmsc", start))
        command = [mero, "fit", file, "--model", formula, "--y", "c2", "--p0", given, "--threads", str(threads), "--json"]
        for _ in range(rounds):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"fit: {done.stderr}")
            own = json.loads(done.stdout.splitlines()[-1])["seconds"] / fits
            begin = time.perf_counter()
            for at in range(0, 1_000 * rows, rows):
                curve_fit(peak, x[at : at + rows], y[at : at + rows], start, jac=slopes)
            ratios.append((time.perf_counter() - begin) / 1_000 / own)
    print(f"{fits:,} fits of {rows} points, 4 parameters: {spread(ratios)} times as fast as a loop of curve_fit; {1 / own:,.0f} fits a second")


def spread(ratios):
    return f"{statistics.median(ratios):.1f} | {min(ratios):.1f} – {max(ratios):.1f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mero")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--many", action="store_true")
    args = parser.parse_args()
    if args.many:
        return many(args.mero, args.rounds, args.threads)
    random = np.random.default_rng(0)
    print("| parameters | rows | ours, s | SciPy, s | ours is … times as fast | from – to | passes, ours and SciPy | NLSQ, s | ours is … times as fast | from – to |")
    print("| --- |" + " --- |" * 9)
    for count, (formula, names, model, truth, start) in MODELS.items():
        x = random.uniform(0, 5, args.rows)
        y = model(x, truth)[0] + 0.02 * random.standard_normal(args.rows)
        third = by_nlsq(model, x, y, start) if nlsq else None
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "data.npy")
            np.save(file, np.column_stack([x, y]))
            times = []
            for _ in range(args.rounds):
                own, values, passes = ours(args.mero, file, formula, list(names), start, args.threads)
                other, known, calls = theirs(model, x, y, start)
                last, found = third() if third else (float("nan"), values)
                for name, got in (("SciPy", known), ("NLSQ", found)):
                    if not np.allclose(values, got, rtol=1e-6):
                        print(f"fit: {formula}: got {values}, {name} {list(got)}", file=sys.stderr)
                times.append((own, other, last))
        own, other, last = (statistics.median(each) for each in zip(*times))
        row = f"| {count} | {args.rows:,} | {own:.3f} | {other:.3f} | {spread([other / own for own, other, _ in times])} | {passes}, {calls} |"
        print(row + (f" {last:.3f} | {spread([last / own for own, _, last in times])} |" if third else " | | |"), flush=True)


if __name__ == "__main__":
    main()
