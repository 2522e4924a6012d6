"""Everything of Meromorph that a GPU has to show, in one table: the suites and the speed on each GPU device, next to PyTorch and JAX.

usage: run.py [--mero PATH] [--devices cuda,webgpu] [--suites FOLDER | --no-suites] [--rounds N] [--out FILE]

Nothing is downloaded. What is absent (a device, PyTorch, JAX) is skipped, and its lines say why. By default cargo builds the binary and runs the
suites; --suites takes a folder of test binaries built elsewhere (`cargo test --release --features cuda --no-run`), some of which start the `mero` that was
built with them, where it was built. Times are medians of rounds in which all sides run by turns; ratios are medians of the rounds' ratios. Send the
table with an issue, whatever your GPU is.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SUITES = (
    "kernels", "gradients", "training", "updates", "networks", "plans", "recompute", "optimizers", "mixed_precision", "losses", "second_order",
    "normal", "scm", "heads", "precision", "profile",
)


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, **more)


def reason(done):
    lines = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()
    return lines[-1][:160]


def rows(command):
    """The JSON lines that a command prints, or why there are none."""
    done = run(command)
    if done.returncode != 0:
        return reason(done)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


class Report:
    def __init__(self):
        self.lines = []

    def add(self, line, figure, bar="", verdict=""):
        self.lines.append(f"| {line} | {figure} | {bar} | {verdict} |")
        print(self.lines[-1], flush=True)

    def compare(self, line, value, bar, is_met, unit=""):
        self.add(line, f"{value:.3g}{unit}", bar, "met" if is_met else "not met")


def suites(report, device, folder):
    for name in SUITES:
        environment = {**os.environ, "MERO_GPU": device}
        if name == "kernels" and device.startswith("cuda"):
            # Compiling the sizes of each of hundreds of cases takes minutes; the suite `training` runs kernels with sizes compiled in.
            environment["MERO_GENERIC"] = "1"
        if folder:
            binary = Path(folder) / name
            if not binary.exists():
                report.add(f"{device}: suite {name}", "skipped: not in the folder")
                continue
            done = run([str(binary)], env=environment)
        else:
            done = run(["cargo", "test", "-q", "--release", "--features", "cuda", "--test", name], env=environment, cwd=HERE.parent.parent)
        results = [line for line in done.stdout.splitlines() if line.startswith("test result")]
        figure = results[-1].split("; finished")[0].removeprefix("test result: ") if results else reason(done)
        report.add(f"{device}: suite {name}", figure, "all pass", "met" if done.returncode == 0 else "not met")
        if done.returncode != 0:
            print(done.stdout[-6000:], file=sys.stderr)


def step_commands(mero, devices, batch):
    """What makes a training step, by name; each prints a JSON line with `us_per_step`."""
    every = {}
    for device in devices:
        every[device] = [mero, "bench", "mlp", "--device", device, "--batch", str(batch), "--steps", "2048", "--windows", "5", "--json"]
        if device.startswith("cuda") and os.name == "posix":
            every[f"{device}, one kernel"] = ["env", "MERO_CUDA_WHOLE=1", *every[device]]
    for peer in ("torch eager", "torch graph", "jax scan"):
        every[peer] = [sys.executable, str(HERE / "step.py"), peer, str(batch)]
    return every


def steps(report, mero, devices, rounds, batch):
    seen = {name: [] for name in step_commands(mero, devices, batch)}
    absent = {}
    for _ in range(rounds):
        for name, command in step_commands(mero, devices, batch).items():
            if name in absent:
                continue
            found = rows(command)
            if isinstance(found, str):
                absent[name] = found
                continue
            seen[name].append(found[-1]["us_per_step"])
    what = f"step of 5-64-64-64-1, {batch} rows"
    for name, times in seen.items():
        report.add(f"{what}: {name}", f"skipped: {absent[name]}" if name in absent else f"{statistics.median(times):.1f} µs")

    def ratio(one, other, bar, is_met):
        if seen.get(one) and seen.get(other):
            value = statistics.median(a / b for a, b in zip(seen[one], seen[other]))
            report.compare(f"{what}: {one} / {other}", value, bar, is_met(value))

    if batch == 256 and seen.get("cuda"):
        report.compare(f"{what}: step time, cuda", statistics.median(seen["cuda"]), "≤ 40 µs", statistics.median(seen["cuda"]) <= 40, " µs")
        if seen.get("cuda, one kernel"):
            whole = statistics.median(seen["cuda, one kernel"])
            report.compare(f"{what}: step time, cuda, one kernel", whole, "≤ 15 µs", whole <= 15, " µs")
        ratio("torch eager", "cuda", "≥ 10", lambda value: value >= 10)
        ratio("torch graph", "cuda", "≥ 2", lambda value: value >= 2)
        ratio("jax scan", "cuda", "≥ 2", lambda value: value >= 2)
        ratio("webgpu", "cuda", "≤ 2.5", lambda value: value <= 2.5)


# Bytes per number: what is read and written, a mask being one bit.
TRAFFIC = {"copy": 8, "plain_div": 12, "scm_div": 12 + 3 / 8, "sum": 4, "scm_sum": 4 + 1 / 8}


def bandwidth(report, mero, device, numbers):
    found = rows([mero, "bench", "scm", "--device", device, "--n", str(numbers), "--windows", "15", "--json"])
    if isinstance(found, str):
        return report.add(f"{device}: {numbers} numbers", f"skipped: {found}")
    rate = {row["case"]: TRAFFIC[row["case"]] * row["n"] / row["ms"] / 1e6 for row in found if row["case"] in TRAFFIC}
    report.add(f"{device}: copy of {numbers:.0e} numbers", f"{rate['copy']:.0f} GB/s")
    least = 0.80 if device.startswith("cuda") else 0.70
    for case in ("plain_div", "scm_div", "sum", "scm_sum"):
        share = rate[case] / rate["copy"]
        report.compare(f"{device}: {case} of {numbers:.0e} numbers / copy", share, f"≥ {least}", share >= least)


def products(report, mero, devices, size):
    peer = rows([sys.executable, str(HERE / "step.py"), "torch product", str(size)])
    library = None if isinstance(peer, str) else peer[-1]["gflops"]
    report.add(f"f32 product {size}³: cuBLAS through PyTorch", f"skipped: {peer}" if library is None else f"{library / 1e3:.1f} TFLOP/s")
    for device in devices:
        found = rows([mero, "bench", "matmul", "--device", device, "--products", "own", "--size", str(size), "--windows", "5", "--json"])
        if isinstance(found, str):
            report.add(f"{device}: f32 product {size}³", f"skipped: {found}")
            continue
        rate = found[-1]["gflops"]
        report.add(f"{device}: f32 product {size}³", f"{rate / 1e3:.2f} TFLOP/s")
        if library:
            least = 0.55 if device.startswith("cuda") else 0.45
            report.compare(f"{device}: f32 product {size}³ / cuBLAS", rate / library, f"≥ {least}", rate / library >= least)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--mero")
    parser.add_argument("--devices", default="cuda,webgpu")
    parser.add_argument("--suites")
    parser.add_argument("--no-suites", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--numbers", type=int, default=100_000_000)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--out")
    args = parser.parse_args()
    if not args.mero:
        built = subprocess.run(["cargo", "build", "-q", "--release", "--features", "cuda"], cwd=HERE.parent.parent)
        if built.returncode != 0:
            sys.exit("run.py: cargo did not build mero")
        target = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target"))
        args.mero = str(target / "release" / "mero")
    report = Report()
    print(f"{platform.platform()}, Python {platform.python_version()}")
    print(run([args.mero, "devices"]).stdout)
    print("| line | figure | bar | |\n| --- | --- | --- | --- |")
    devices = []
    for device in args.devices.split(","):
        opened = run([args.mero, "bench", "matmul", "--device", device, "--size", "64", "--windows", "1", "--json"])
        if opened.returncode == 0:
            devices.append(device)
        else:
            report.add(f"{device}", f"skipped: {reason(opened)}")
    for batch in (256, 2048):
        steps(report, args.mero, devices, args.rounds, batch)
    for device in devices:
        bandwidth(report, args.mero, device, args.numbers)
    products(report, args.mero, devices, args.size)
    for device in devices if not args.no_suites else []:
        suites(report, device, args.suites)
    if args.out:
        Path(args.out).write_text("\n".join(["| line | figure | bar | |", "| --- | --- | --- | --- |", *report.lines]) + "\n")


if __name__ == "__main__":
    main()
