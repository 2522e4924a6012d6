"""The training step of 5-64-64-64-1 (SiLU, mse, AdamW, f32) against other engines: equal work, run by turns, ratios of medians.

usage: race.py PATH_TO_MERO [--rounds N] [--threads 1,2] [--batch 256] [--device cpu] [--peer NAME=COMMAND ...]

PyTorch runs where it can be imported: the strongest plain loop (batches by index_select, fused AdamW). A further peer is any
command whose last line of output is JSON with `us_per_step` or `steps_per_s`. Absolute times mean little on a shared machine.
"""
import argparse
import json
import shlex
import statistics
import subprocess
import sys

TORCH = """
import json, sys, time
import torch
batch, threads, steps = map(int, sys.argv[1:4])
torch.manual_seed(0)
torch.set_num_threads(threads)
rows = 40 * batch
x, y = torch.randn(rows, 5), torch.randn(rows, 1)
net = torch.nn.Sequential(
    torch.nn.Linear(5, 64), torch.nn.SiLU(), torch.nn.Linear(64, 64), torch.nn.SiLU(),
    torch.nn.Linear(64, 64), torch.nn.SiLU(), torch.nn.Linear(64, 1))
rule = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-6, fused=True)
loss_of = torch.nn.MSELoss()
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
run(50)
windows = sorted(run(steps // 8) for _ in range(8))
print(json.dumps({"us_per_step": (windows[3] + windows[4]) / 2}))
"""


def last_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"race: {command[0]} failed: {done.stderr.strip()[-400:]}")
    row = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    return row["us_per_step"] if "us_per_step" in row else 1e6 / row["steps_per_s"]


def runners(args, threads):
    mero = [args.mero, "bench", "mlp", "--device", args.device, "--batch", str(args.batch), "--steps", "400",
            "--threads", str(threads), "--json"]
    every = {"mero": mero}
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode == 0:
        every["torch"] = [sys.executable, "-c", TORCH, str(args.batch), str(threads), "400"]
    for peer in args.peer:
        name, command = peer.split("=", 1)
        every[name] = shlex.split(command)
    return every


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mero")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--peer", action="append", default=[])
    args = parser.parse_args()
    print("| threads | engine | µs/step, median | best | times ours |")
    print("| --- | --- | --- | --- | --- |")
    for threads in map(int, args.threads.split(",")):
        every = runners(args, threads)
        seen = {name: [] for name in every}
        for _ in range(args.rounds):
            for name, command in every.items():
                seen[name].append(last_json(command))
        ours = statistics.median(seen["mero"])
        for name, times in seen.items():
            middle = statistics.median(times)
            print(f"| {threads} | {name} | {middle:.0f} | {min(times):.0f} | {middle / ours:.2f} |")


if __name__ == "__main__":
    main()
