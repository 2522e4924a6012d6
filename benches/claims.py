"""Measures what the documents of Homodyne 3.0 and NLSQ claim of large fits, with `mero fit`, and writes docs/CLAIMS.md.

usage: claims.py PATH_TO_MERO PATH_TO_EXAMPLES [--out docs/CLAIMS.md] [--rows 1000000000]

PATH_TO_EXAMPLES is the folder with the built example `larger_than_memory`. Needs numpy and scipy. Every figure is measured in this run; figures that
compare two runs alternate them and take medians. Times are those of the fit, without reading a file into memory.
"""
import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit

MODEL = "a*exp(-b*t)+c*exp(-d*t)+f"
STARTS = "a=1,b=1,c=1,d=0.1,f=0"
STRATEGIES = ("standard", "large", "chunked", "streaming")
SEED_RATE = 870_000  # the seed's fastest figure, points a second (its table of batch sizes)


def decays(rows, seed=0):
    draw = np.random.default_rng(seed)
    t = draw.uniform(0, 10, rows)
    return t, 3 * np.exp(-0.7 * t) + 2 * np.exp(-0.2 * t) + 0.5 + 0.05 * draw.normal(size=rows)


class Bench:
    def __init__(self, mero, examples, folder):
        self.mero, self.examples, self.folder = mero, examples, folder

    def fit(self, file, *options, env=None):
        """The report, and the peak of memory in bytes."""
        words = [self.mero, "fit", str(self.folder / file), "--model", MODEL, "--p0", STARTS, "--y", "y", "--json", *options]
        script = "import resource,subprocess,sys\nout=subprocess.run(sys.argv[1:],stdout=subprocess.PIPE)\nsys.stdout.buffer.write(out.stdout)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nsys.exit(out.returncode)"
        out = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, env={**os.environ, **(env or {})})
        if out.returncode:
            raise RuntimeError(out.stdout + out.stderr)
        *_, report, peak = out.stdout.strip().splitlines()
        return json.loads(report), int(peak) * 1024

    def seconds(self, file, *options, rounds=5):
        return [self.fit(file, *options)[0]["seconds"] for _ in range(rounds)]

    def by_turns(self, file, choices, rounds=5):
        """Median seconds of several sets of options, run by turns after one round that does not count."""
        times = {choice: [] for choice in choices}
        for turn in range(rounds + 1):
            for choice in choices:
                took = self.fit(file, *choice)[0]["seconds"]
                if turn:
                    times[choice].append(took)
        return {choice: statistics.median(taken) for choice, taken in times.items()}

    def example(self, rows):
        """The last line of the example, and samples of its memory in bytes."""
        child = subprocess.Popen([str(Path(self.examples) / "larger_than_memory"), str(rows)], stdout=subprocess.PIPE, text=True)
        samples = []
        while child.poll() is None:
            try:
                pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
                samples.append(pages * os.sysconf("SC_PAGE_SIZE"))
            except (OSError, IndexError):
                pass
            time.sleep(0.02)
        line = child.stdout.read().strip().splitlines()[-1]
        words = line.replace(",", "").split()
        return {"seconds": float(words[4]), "rate": float(words[6]) * 1e6, "peak": int(words[-2]) << 20, "samples": samples[2:] or samples}


def values(report):
    return np.array([one["value"] for one in report["parameters"].values()]), np.array([one["stderr"] for one in report["parameters"].values()])


def apart(report, other):
    (own, error), (theirs, _) = values(report), values(other)
    return float(np.max(np.abs(own - theirs) / error))


def mib(size):
    return f"{size / 2**20:.0f} MiB"


def measure(bench, most):
    rows = []

    def row(number, claim, how, figure):
        rows.append((number, claim, how, figure))
        print(f"{number}: {figure}", flush=True)

    n = 10_000_000
    t, y = decays(n)
    np.savez(bench.folder / "data.npz", t=t, y=y)
    small, big = bench.example(10_000_000), bench.example(most)
    row(1, "Streaming takes constant memory, below 2 GB", f"peak memory at {most:,} and at 10,000,000 rows that are computed in each pass", f"{mib(big['peak'])} and {mib(small['peak'])}, ratio {big['peak'] / small['peak']:.2f}")
    samples = np.array(big["samples"])
    row(2, "Memory varies by less than 20 % between batches, peak below twice the mean", "memory every 20 ms during that run", f"variation {samples.std() / samples.mean():.3f}, peak / mean {samples.max() / samples.mean():.2f}")
    row(3, "More than 380,000 points a second", "that run: rows / seconds, and rows of all passes / seconds", f"{most / big['seconds'] / 1e6:.0f} and {big['rate'] / 1e6:.0f} million a second ({most / big['seconds'] / SEED_RATE:.0f} and {big['rate'] / SEED_RATE:.0f} times 870,000)")
    limits = {s: (("--strategy", s) if s != "chunked" else ("--strategy", s, "--memory-limit", "120MB")) for s in STRATEGIES}
    times = bench.by_turns("data.npz", list(limits.values()))
    of = {s: times[limits[s]] for s in STRATEGIES}
    row(4, "Streaming has 90 % of the speed of rows in memory", "10,000,000 rows of an NPZ file in the page cache: large / streaming", f"{of['large'] / of['streaming']:.2f}")
    row(5, "500,000, 450,000, 400,000 and 380,000 points a second for the four strategies", "the same data, million rows a second in the whole fit", ", ".join(f"{s} {n / of[s] / 1e6:.0f}" for s in STRATEGIES))
    peaks = {s: bench.fit("data.npz", *limits[s])[1] for s in STRATEGIES}
    row(6, "10 million rows and 5 parameters: 118.7 to 135.2 s, 1.78 to 2.45 GB", "the same data: seconds and peak memory of the process", "; ".join(f"{s} {of[s]:.2f} s, {mib(peaks[s])}" for s in STRATEGIES))
    row(7, "Batch sizes from 5,000 to 100,000: 320 to 230 s for 200 million rows", "there is no batch size to choose: parts have 32,768 rows, and the answer does not depend on them", "–")
    row(8, "Fast mode without checks: 597 s instead of 600 s", "checks are part of the sums (a sum that is not finite has a row that is not), so that there is nothing to switch off", "–")
    row(9, "Small batches are 15 to 25 % slower", "see 7", "–")
    log = bench.folder / "log.jsonl"
    saved = ("--checkpoint", str(bench.folder / "ckpt"), "--checkpoint-every", "0", "--log", str(log), "--log-threshold", "0")
    lines = []
    for _ in range(10):
        bench.fit("data.npz", *saved)
        lines += [json.loads(line) for line in log.read_text().splitlines()]
    saves = [line for line in lines if line["event"] == "checkpoint"]
    took = sorted(1e3 * line["seconds"] for line in saves)
    row(10, "A checkpoint takes less than 2 s", f"{len(took)} checkpoints with flush to disk: median, 99 % and longest", f"{took[len(took) // 2]:.1f}, {took[int(0.99 * (len(took) - 1))]:.1f}, {took[-1]:.1f} ms")
    row(11, "Without compression checkpoints are 30 to 50 % faster and 2 to 3 times larger", "bytes of a checkpoint, which is not compressed", f"at most {max(line['bytes'] for line in saves):,} bytes")
    every = bench.by_turns("data.npz", [(), saved[:4], saved[:2]])
    row(12, "Checkpoints cost 0.5 to 3 %", "after each part of a pass, and by default every 30 s, against none", f"{100 * (every[saved[:4]] / every[()] - 1):+.1f} %, {100 * (every[saved[:2]] / every[()] - 1):+.1f} %")
    both = ("--checkpoint", str(bench.folder / "ckpt"), "--log", str(log))
    fault = bench.by_turns("data.npz", [(), both, ("--no-recovery",)])
    row(13, "Fault tolerance costs less than 5 %", "checkpoint and log, against neither and no recovery", f"{100 * (fault[both] / fault[('--no-recovery',)] - 1):+.1f} %")
    row(14, "Checks cost 0.5 %", "see 8", "–")
    limited = {limit: bench.fit("data.npz", "--memory-limit", limit) for limit in ("400MB", "200MB", "100MB", "50MB")}
    row(15, "Half the memory limit: half the memory, 10 to 20 % more time", "peak memory of the process, strategy, seconds under a limit", "; ".join(f"{limit}: {mib(peak)}, {report['strategy']}, {report['seconds']:.2f}" for limit, (report, peak) in limited.items()))
    row(16, "Without cache 10 to 20 % less memory, 5 to 10 % more time", "streaming against large: memory, time", f"{100 * (peaks['streaming'] / peaks['large'] - 1):+.0f} %, {100 * (of['streaming'] / of['large'] - 1):+.0f} %")
    _, often = bench.fit("data.npz", "--strategy", "streaming", *saved[:4])
    row(17, "Fewer checkpoints save 100 MB each", "peak memory of streaming with and without checkpoints", f"{mib(often)} and {mib(peaks['streaming'])}")
    row(18, "Streaming handles 100 times more data", f"rows in the memory of row 1, against rows that fit as f64 columns into it", f"{most / (big['peak'] / 16):,.0f} times")
    one, two = (bench.fit("data.npz", "--threads", str(threads))[0] for threads in (1, 2))
    row(19, "Several devices work in parallel by themselves", "one and two threads: same bits, times", f"{'same bits' if (values(one)[0] == values(two)[0]).all() else 'other bits'}, {one['seconds'] / two['seconds']:.2f} times as fast")
    plan = subprocess.run([bench.mero, "fit", str(bench.folder / "data.npz"), "--model", MODEL, "--y", "y", "--plan", "--json"], capture_output=True, text=True, env={**os.environ, "SLURM_MEM_PER_NODE": "1000"})
    plan = json.loads(plan.stdout)
    row(20, "80 % of the memory that SLURM allocates is used", "SLURM_MEM_PER_NODE=1000 (MiB): the limit of the plan", f"{plan['limit'] / 2**20:.0f} MiB, {plan['limited_by']}")
    bench.fit("data.npz", "--log", str(log), "--log-threshold", "1000")
    row(21, "Only what takes longer than 0.1 s is logged", "lines of the log with thresholds of 0 and of 1,000 s", f"{len(lines) // 10} and {len(log.read_text().splitlines())}")
    whole = bench.fit("data.npz")[0]
    same, kills, random_time = 0, 0, random.Random(0)
    words = [bench.mero, "fit", str(bench.folder / "data.npz"), "--model", MODEL, "--p0", STARTS, "--y", "y", "--json", *saved[:4]]
    fits = 0
    began = time.time()
    subprocess.run(words, capture_output=True, check=True)
    span = time.time() - began
    while kills < 50:
        fits += 1
        while True:
            child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                out, _ = child.communicate(timeout=random_time.uniform(0.4, 1.1) * span)
                same += json.loads(out.splitlines()[-1])["parameters"] == whole["parameters"]
                break
            except subprocess.TimeoutExpired:
                child.kill()
                child.communicate()
                kills += 1
    row(22, "A run that ended is resumed", f"kill -9 at {kills} random times in {fits} fits", f"{same} of {fits} ended with the same bits")
    m = 1_000_000
    few = decays(m, 1)
    np.savez(bench.folder / "few.npz", t=few[0], y=few[1])

    def model(t, a, b, c, d, f):
        return a * np.exp(-b * t) + c * np.exp(-d * t) + f

    def slopes(t, a, b, c, d, f):
        e, g = np.exp(-b * t), np.exp(-d * t)
        return np.stack([e, -a * t * e, g, -c * t * g, np.ones_like(t)], 1)

    ratios = []
    for _ in range(3):
        began = time.time()
        curve_fit(model, *few, p0=[1, 1, 1, 0.1, 0], jac=slopes)
        ratios.append((time.time() - began) / statistics.median(bench.seconds("few.npz", rounds=3)))
    row(23, "NLSQ: 150 to 270 times as fast as SciPy on a GPU", "curve_fit with exact slopes on the same CPU, 1,000,000 rows, 5 parameters", f"{statistics.median(ratios):.0f} times as fast as SciPy")
    row(24, "NLSQ: 100 million points in 12.5 minutes", "the example with 100,000,000 rows", f"{bench.example(100_000_000)['seconds']:.1f} s")
    reports = [bench.fit("data.npz", *limits[s])[0] for s in STRATEGIES]
    row(25, "The batch size does not change the quality", "largest distance between the parameters of the four strategies, in standard errors", f"{max(apart(report, reports[0]) for report in reports):.0e}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mero")
    parser.add_argument("examples")
    parser.add_argument("--out", default="docs/CLAIMS.md")
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Bench(args.mero, args.examples, Path(folder)), args.rows)
    cpu = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.machine())
    head = f"""# Claims about large fits, measured

Written by `python3 benches/claims.py PATH_TO_MERO PATH_TO_EXAMPLES` (it needs numpy and scipy) on {time.strftime('%Y-%m-%d')}: {cpu}, {os.cpu_count()} processors,
no GPU. The claims are those of Homodyne 3.0 and NLSQ 0.1.5, by the numbers of their list; most of them were never measured there. The model has five
parameters, `{MODEL}`, and the data two columns of f64. Times are those of the whole fit, and machines are shared: ratios hold, seconds do not.

| | claim | how it is measured | figure |
| --- | --- | --- | --- |
"""
    lines = [f"| {number} | {claim} | {how} | {figure} |" for number, claim, how, figure in rows]
    # What `mero bench claims` writes comes after it and stays.
    mark = "<!-- written by mero bench claims -->"
    before = Path(args.out).read_text() if Path(args.out).exists() else ""
    rest = "\n" + before[before.index(mark):] if mark in before else ""
    Path(args.out).write_text(head + "\n".join(lines) + "\n" + rest)


if __name__ == "__main__":
    main()
