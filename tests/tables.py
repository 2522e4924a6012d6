"""Real tables, as a person would train on them: writes scikit-learn's data sets as CSV, runs `mero`, reads its report.

usage: tables.py PATH_TO_MERO
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from sklearn import datasets

# name, loader, required result on the test rows
CASES = [
    ("breast_cancer", datasets.load_breast_cancer, "accuracy", 0.95),
    ("digits", datasets.load_digits, "accuracy", 0.96),
    ("wine", datasets.load_wine, "accuracy", 0.95),
    ("diabetes", datasets.load_diabetes, "r2", 0.40),
]
SEED = "1"


def write(path, data):
    with path.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow([*[str(name).replace(" ", "_") for name in data.feature_names], "target"])
        rows.writerows([*x, y] for x, y in zip(data.data, data.target))


def train(mero, folder, name, data):
    table, model = folder / f"{name}.csv", folder / f"{name}.safetensors"
    write(table, data)
    command = [mero, "train", table, "--target", "target", "--seed", SEED, "--device", "cpu", "--out", model, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    mero = pathlib.Path(sys.argv[1]).resolve()
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name, load, metric, expected in CASES:
            report = train(mero, pathlib.Path(folder), name, load())
            got = report["test"][metric]
            print(f"{name}: test {metric} {got:.4f} (expected {expected}), {report['epochs']} epochs, {report['step']} step")
            if not got >= expected:
                bad.append(name)
    sys.exit(f"below what is asked: {', '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
