"""Perceptrons of 5 inputs and 1 output (SiLU, mse, AdamW, f32) against other engines: equal work, engines by turns, ratios of medians.

usage: race.py PATH_TO_MERO [--hidden 64,64,64] [--batch 256] [--rounds N] [--threads 1,2] [--device cpu] [--deep LAYERS]
               [--predict ROWS] [--burn flex|wgpu ...] [--peer NAME=COMMAND ...]

Training runs against PyTorch, where it can be imported: the strongest plain loop (batches by index_select, fused AdamW). With --deep it
trains LAYERS residual layers with layer norm instead. Prediction runs against onnxruntime, in one call and in chunks of 4,096 rows. --burn
trains with Burn too, on its CPU or its GPU path, which uses all threads; cargo builds it first (ten minutes, once). A further peer is any
command whose last line of output is JSON with `us_per_step` or `steps_per_s`. Each ratio is the median over the
rounds of a peer's time over ours in the same round, with its smallest and largest. Absolute times mean little on a shared machine.
"""
import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TORCH = """
import json, sys, time
import torch
from torch import nn
batch, threads, steps, deep = map(int, sys.argv[1:5])
hidden = [int(width) for width in sys.argv[5].split(",")]
torch.manual_seed(0)
torch.set_num_threads(threads)
rows = 40 * batch
x, y = torch.randn(rows, 5), torch.randn(rows, 1)
class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU())
    def forward(self, x):
        return x + self.inner(x)
if deep:
    width = hidden[0]
    layers = [nn.Linear(5, width), nn.SiLU(), *(Residual(width) for _ in range(deep)), nn.Linear(width, 1)]
else:
    sizes = [5, *hidden]
    layers = [layer for i, o in zip(sizes, hidden) for layer in (nn.Linear(i, o), nn.SiLU())] + [nn.Linear(sizes[-1], 1)]
net = nn.Sequential(*layers)
rule = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-6, fused=True)
loss_of = nn.MSELoss()
order = torch.randperm(rows)
def run(steps):
    start = time.perf_counter()
    for step in range(steps):
        at = order[(step % 40) * batch:(step % 40 + 1) * batch]
        xb, yb = x.index_select(0, at), y.index_select(0, at)
        rule.zero_grad(set_to_none=True)
        loss_of(net(xb), yb).backward()
        rule.step()
    return (time.perf_counter() - start) / steps * 1e6
run(max(steps // 8, 2))
windows = sorted(run(max(steps // 8, 1)) for _ in range(8))
print(json.dumps({"us_per_step": (windows[3] + windows[4]) / 2}))
"""

ONNX = """
import json, sys, time
import numpy as np
import onnxruntime as ort
rows, threads, chunk = map(int, sys.argv[2:5])
options = ort.SessionOptions()
options.intra_op_num_threads = threads
session = ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
name = session.get_inputs()[0].name
x = np.random.default_rng(0).standard_normal((rows, 5), dtype=np.float32)
def run():
    start = time.perf_counter()
    for first in range(0, rows, chunk):
        session.run(None, {name: x[first:first + chunk]})
    return (time.perf_counter() - start) * 1e6
run(); run()
print(json.dumps({"us_per_step": sorted(run() for _ in range(9 if rows > 1 else 999))[4 if rows > 1 else 499]}))
"""


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


def last_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"race: {command[0]} failed: {done.stderr.strip()[-400:]}")
    row = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    return next(row[key] if key.startswith("us") else 1e6 / row[key] for key in ("us_per_step", "us_per_call", "steps_per_s") if key in row)


def training(args, threads):
    steps = str(args.steps or max(int(4e9 / (args.batch * work(args))), 16))
    mero = [args.mero, "bench", "mlp", "--device", args.device, "--hidden", args.hidden, "--batch", str(args.batch),
            "--steps", steps, "--threads", str(threads), "--json"]
    if args.deep:
        mero += ["--deep", str(args.deep)]
    every = {"mero": mero}
    if has("torch"):
        every["torch"] = [sys.executable, "-c", TORCH, str(args.batch), str(threads), steps, str(args.deep), args.hidden]
    if args.burn and args.deep:
        sys.exit("race: --burn trains perceptrons without residual layers: leave out --deep")
    for device in args.burn:
        every[f"burn, {device}"] = [burn(), device, args.hidden, str(args.batch), steps]
    return every


def burn():
    """Builds benches/burn and returns its program."""
    folder = Path(__file__).parent / "burn"
    target = folder / "target"
    command = ["cargo", "build", "-q", "--release", "--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(target)]
    if subprocess.run(command).returncode != 0:
        sys.exit("race: Burn was not built")
    return str(target / "release" / "burn-peer")


def predicting(args, threads, folder):
    model = str(Path(folder) / "model.onnx")
    shared = ["--hidden", args.hidden, "--rows", str(args.predict), "--threads", str(threads), "--device", args.device, "--json"]
    every = {"mero": [args.mero, "bench", "predict", *shared, "--onnx", model]}
    last_json(every["mero"])
    if has("onnxruntime"):
        run = [sys.executable, "-c", ONNX, model, str(args.predict), str(threads)]
        every["onnxruntime"] = [*run, str(args.predict)]
        if args.predict > 4096:
            every["onnxruntime, 4096 rows a call"] = [*run, "4096"]
    return every


def work(args):
    """Multiplications of a forward pass per row, about."""
    sizes = [5, *map(int, args.hidden.split(",")), 1]
    return sum(a * b for a, b in zip(sizes, sizes[1:])) + args.deep * sizes[1] ** 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mero")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--hidden", default="64,64,64")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--deep", type=int, default=0)
    parser.add_argument("--predict", type=int)
    parser.add_argument("--burn", action="append", default=[], choices=["flex", "wgpu"])
    parser.add_argument("--peer", action="append", default=[])
    args = parser.parse_args()
    print("| threads | engine | µs, median | ours is … times as fast | from – to |")
    print("| --- | --- | --- | --- | --- |")
    for threads in map(int, args.threads.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            every = predicting(args, threads, folder) if args.predict else training(args, threads)
            for peer in args.peer:
                name, command = peer.split("=", 1)
                every[name] = shlex.split(command)
            seen = {name: [] for name in every}
            for _ in range(args.rounds):
                for name, command in every.items():
                    seen[name].append(last_json(command))
        for name, times in seen.items():
            ratios = sorted(time / ours for time, ours in zip(times, seen["mero"]))
            spread = f"{ratios[0]:.2f} – {ratios[-1]:.2f}"
            print(f"| {threads} | {name} | {statistics.median(times):.1f} | {statistics.median(ratios):.2f} | {spread} |", flush=True)


if __name__ == "__main__":
    main()
