"""A window of the contrastive rule against PyTorch on the CPU: equal work, by turns, ratios of medians.

usage: contrast.py PATH_TO_MERO [--size small,middle,large] [--rounds N] [--threads 2] [--device cpu]

Both sides retrieve with 64 steps of relaxation in each of two nudged phases, from random queries, keys and states, take the gradient by the map from
the pulls, and make a step. torch keeps costs that are constant in a window, and does without a tape. Its distances are computed in two ways, through
all differences and through an expanded product; the faster one counts.
"""
import argparse
import json
import statistics
import subprocess
import sys

TORCH = """
import json, sys, time
import torch
rows, keys, width, threads = map(int, sys.argv[1:5])
twin, windows = sys.argv[5], int(sys.argv[6])
torch.set_num_threads(threads)
torch.manual_seed(0)
n, steps, beta, nudge, rate, eps = 8, 64, 2.0, 0.1, 0.25, 1e-6
x, c = torch.randn(rows, n), torch.randn(keys, n)
s, y_star = torch.randn(keys, width) / width ** 0.5, torch.randn(rows, width) / width ** 0.5
log_g, theta = torch.zeros(n), torch.tensor([0.1, -0.2, 0.3, 0.2, -0.1, 0.4])
planes = [(0, 1), (2, 3), (4, 5), (6, 7), (1, 2), (3, 4)]
s_t = s.t().contiguous()
@torch.inference_mode()
def turned(angles, by=None):
    q = torch.eye(n)
    for at, (a, b) in enumerate(planes):
        t = angles[at] + (torch.pi / 2 if by == at else 0.0)
        cos, sin = torch.cos(t), torch.sin(t)
        upper, lower = cos * q[a] - sin * q[b], sin * q[a] + cos * q[b]
        if by == at:
            q = torch.zeros(n, n)
        q[a], q[b] = upper, lower
    return q
@torch.inference_mode()
def window():
    global log_g, theta
    root = torch.exp(0.5 * log_g)
    q_map = turned(theta)
    a = root[:, None] * q_map
    z, k = x @ a.t(), c @ a.t()
    if twin == "broadcast":
        square = (k[None] - z[:, None]).square().sum(2)
    else:
        square = torch.addmm(z.square().sum(1, keepdim=True) + k.square().sum(1), z, k.t(), alpha=-2.0).clamp_min_(0.0)
    apart = torch.sqrt(square + eps)
    base = -beta * apart
    free = torch.softmax(base, 1) @ s
    def phase(b):
        y = free
        for _ in range(steps):
            w = torch.softmax(torch.addmm(base, y - y_star, s_t, alpha=-beta * b), 1)
            y = torch.lerp(y, w @ s, rate)
        return torch.softmax(torch.addmm(base, y - y_star, s_t, alpha=-beta * b), 1)
    pull = (phase(nudge) - phase(-nudge)) / (2 * nudge) / apart
    by_query = pull.sum(1, keepdim=True) * z - pull @ k
    by_key = pull.sum(0)[:, None] * k - pull.t() @ z
    grad = by_query.t() @ x + by_key.t() @ c
    by_log = 0.5 * (grad * a).sum(1)
    by_theta = torch.stack([(grad * (root[:, None] * turned(theta, at))).sum() for at in range(6)])
    g = torch.exp(log_g)
    log_g = (g - 0.1 / rows * by_log / g).clamp(0.01, 100.0).log()
    theta = theta - 0.03 / rows * by_theta
times = []
for at in range(windows + 2):
    start = time.perf_counter()
    window()
    times.append((time.perf_counter() - start) * 1e3)
times = sorted(times[2:])
print(json.dumps({"ms": times[len(times) // 2]}))
"""

SIZES = {"small": (8, 256, 64), "middle": (32, 2048, 64), "large": (32, 16384, 512)}


def last_line(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mero")
    parser.add_argument("--size", default="small,middle,large")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    for size in args.size.split(","):
        windows = {"small": 40, "middle": 10, "large": 1}[size]
        ratios, times = [], []
        for _ in range(args.rounds):
            ours = last_line([args.mero, "bench", "contrast", "--json", "--only", "speed", "--size", size,
                              "--samples", str(windows), "--device", args.device, "--threads", args.threads])[-1]["ms"][1]
            twins = {twin: last_line([sys.executable, "-c", TORCH, *map(str, SIZES[size]), args.threads, twin, str(windows)])[-1]["ms"]
                     for twin in ("broadcast", "product")}
            times.append((ours, twins))
            ratios.append(min(twins.values()) / ours)
        ours = statistics.median(ms for ms, _ in times)
        twins = {twin: statistics.median(twins[twin] for _, twins in times) for twin in ("broadcast", "product")}
        print(f"{size}: torch over ours {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}); "
              f"ours {ours:.2f} ms, torch {', '.join(f'{twin} {ms:.2f} ms' for twin, ms in twins.items())}", flush=True)


main()
