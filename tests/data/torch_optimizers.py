"""Parameters of a small perceptron after 10 and 100 full-batch updates by torch's Muon (with AdamW for the rest) and Adafactor, in f64.

torch makes Muon's matrices orthogonal in bfloat16; here its code runs in f64. `python tests/data/torch_optimizers.py > tests/data/torch_optimizers.txt`
with torch 2.15. A line holds a name, its steps and all parameters in order: 3 inputs, tanh layers of 4 and 3, one output.
"""

import inspect
import sys

import numpy as np
import torch
from torch.optim import _muon

source = inspect.getsource(_muon._zeropower_via_newtonschulz)
assert "grad.to(dtype=torch.bfloat16, copy=True)" in source
if "--bfloat16" not in sys.argv:
    exec(source.replace("grad.to(dtype=torch.bfloat16, copy=True)", "grad.clone()"), _muon.__dict__)

WIDTHS = [3, 4, 3, 1]
ROWS = 8


def numbers(count, first):
    return torch.from_numpy(np.sin(np.arange(first, first + count, dtype=np.float64)).astype(np.float32).astype(np.float64))


def start():
    parameters, first = [], 1
    for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
        for shape in ([outputs, inputs], [outputs]):
            count = int(np.prod(shape))
            parameters.append((numbers(count, first) / 2).reshape(shape).requires_grad_())
            first += count
    return parameters


def loss(parameters, x, y):
    for weight, bias in zip(parameters[:-2:2], parameters[1:-2:2]):
        x = torch.tanh(x @ weight.T + bias)
    return ((x @ parameters[-2].T + parameters[-1] - y) ** 2).mean()


def run(name, optimizers):
    x, y = numbers(ROWS * 3, 100).reshape(ROWS, 3), numbers(ROWS, 200).reshape(ROWS, 1)
    parameters = start()
    optimizers = optimizers(parameters)
    for step in range(1, 101):
        for optimizer in optimizers:
            optimizer.zero_grad()
        value = loss(parameters, x, y)
        value.backward()
        for optimizer in optimizers:
            optimizer.step()
        if step in (10, 100):
            flat = [f"{v:.10f}" for p in parameters for v in p.detach().flatten().tolist()]
            print(name, step, *flat)
    print(name, loss(parameters, x, y).item(), file=sys.stderr)


def muon(lr, decay, **more):
    def both(parameters):
        hidden = parameters[0], parameters[2]
        rest = [p for p in parameters if not any(p is h for h in hidden)]
        return [
            torch.optim.Muon(hidden, lr=lr, weight_decay=decay, **more),
            torch.optim.AdamW(rest, lr=lr, weight_decay=decay),
        ]

    return both


EPS = float(np.finfo(np.float32).eps)
run("muon", muon(0.002, 0.1))
run("muon-rms", muon(0.002, 0.0, nesterov=False, adjust_lr_fn="match_rms_adamw"))
run("adafactor", lambda p: [torch.optim.Adafactor(p, eps=(EPS, 1e-3))])
run("adafactor-decay", lambda p: [torch.optim.Adafactor(p, lr=0.01, beta2_decay=-0.6, eps=(EPS, 0.02), d=1.1, weight_decay=0.05)])
