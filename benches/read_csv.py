"""Time to read a CSV file: `mero bench read` against pandas' `read_csv` (its default engine, in C), interleaved, as medians.

usage: read_csv.py PATH_TO_MERO [--rows 1000000] [--numbers 10] [--texts 2] [--repeats 5]
needs: pip install pandas numpy

The file has random numbers of 6 and of all digits, integers, and texts of 20 and of 10,000 values. Both read it from memory.
"""
import argparse
import io
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd


def table(rows, numbers, texts):
    random = np.random.default_rng(1)
    columns = {}
    for at in range(numbers):
        values = random.normal(size=rows) * 100
        columns[f"x{at}"] = [values, values.round(6), random.integers(0, 100_000, rows)][at % 3]
    for at in range(texts):
        names = np.array([f"name {value}" for value in range([20, 10_000][at % 2])])
        columns[f"t{at}"] = names[random.integers(0, len(names), rows)]
    return pd.DataFrame(columns)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mero")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--numbers", type=int, default=10)
    parser.add_argument("--texts", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.csv")
        table(args.rows, args.numbers, args.texts).to_csv(path, index=False)
        with open(path, "rb") as file:
            text = file.read()
        times = {"mero": [], "pandas": []}
        for _ in range(args.repeats):
            out = subprocess.run([args.mero, "bench", "read", path, "--windows", "1", "--json"], capture_output=True, check=True)
            times["mero"].append(json.loads(out.stdout)["ms"] / 1e3)
            start = time.perf_counter()
            pd.read_csv(io.BytesIO(text))
            times["pandas"].append(time.perf_counter() - start)
    print(f"{args.rows} rows, {len(text) / 1e6:.0f} MB, {os.cpu_count()} cores")
    for name, seconds in times.items():
        print(f"{name:8} {statistics.median(seconds):.3f} s  ({min(seconds):.3f} to {max(seconds):.3f})")


if __name__ == "__main__":
    main()
