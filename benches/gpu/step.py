"""The other side of run.py, on the GPU: a training step of a perceptron 5-64-64-64-1 (SiLU, mean squared error, AdamW, f32) or a product.

usage: step.py "torch eager" | "torch graph" | "jax scan" BATCH, or step.py "torch product" SIZE. Prints one JSON line.
Rows stay on the GPU, and each step takes a batch of 40 in turn, as Meromorph does.
"""

import json
import statistics
import sys
import time

BATCHES = 40
WINDOWS = 9


def medians(window, steps):
    """Microseconds per step of `window(steps)`, which runs the steps and waits for them."""
    window(steps)
    times = []
    for _ in range(WINDOWS):
        start = time.perf_counter()
        window(steps)
        times.append((time.perf_counter() - start) / steps * 1e6)
    return statistics.median(times)


def torch_step(batch, is_graph):
    import torch
    from torch import nn

    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    gpu = torch.device("cuda")
    x, y = torch.randn(BATCHES * batch, 5, device=gpu), torch.randn(BATCHES * batch, 1, device=gpu)
    sizes = [5, 64, 64, 64]
    layers = [layer for i, o in zip(sizes, sizes[1:]) for layer in (nn.Linear(i, o), nn.SiLU())]
    net = nn.Sequential(*layers, nn.Linear(64, 1)).to(gpu)
    rule = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-6, fused=True, capturable=is_graph)
    loss_of = nn.MSELoss()
    order = torch.randperm(BATCHES * batch, device=gpu)
    at = torch.zeros(batch, dtype=torch.long, device=gpu)

    def step():
        rule.zero_grad(set_to_none=True)
        loss_of(net(x.index_select(0, at)), y.index_select(0, at)).backward()
        rule.step()

    if is_graph:
        # As PyTorch's manual has it: warm up on another stream, then capture.
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        once = graph.replay
    else:
        once = step

    def window(steps):
        for number in range(steps):
            first = number % BATCHES * batch
            at.copy_(order[first:first + batch])
            once()
        torch.cuda.synchronize()

    return medians(window, 2000 if is_graph else 400)


def jax_step(batch):
    import jax
    import jax.numpy as jnp
    import optax

    if jax.default_backend() != "gpu":
        sys.exit("JAX sees no GPU")
    jax.config.update("jax_default_matmul_precision", "highest")
    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    x = jax.random.normal(keys[0], (BATCHES * batch, 5))
    y = jax.random.normal(keys[1], (BATCHES * batch, 1))
    sizes = [5, 64, 64, 64, 1]
    weights = [
        (jax.random.normal(key, (i, o)) / i**0.5, jnp.zeros(o)) for key, i, o in zip(keys[2:], sizes, sizes[1:])
    ]
    rule = optax.adamw(1e-3, weight_decay=1e-6)
    order = jax.random.permutation(keys[7], BATCHES * batch)

    def loss(weights, x, y):
        for w, b in weights[:-1]:
            x = jax.nn.silu(x @ w + b)
        w, b = weights[-1]
        return jnp.mean((x @ w + b - y) ** 2)

    def step(carry, number):
        weights, state = carry
        at = jax.lax.dynamic_slice_in_dim(order, number % BATCHES * batch, batch)
        value, gradient = jax.value_and_grad(loss)(weights, x[at], y[at])
        change, state = rule.update(gradient, state, weights)
        return (optax.apply_updates(weights, change), state), value

    steps = 2000
    many = jax.jit(lambda carry: jax.lax.scan(step, carry, jnp.arange(steps)))
    carry = (weights, rule.init(weights))

    def window(_):
        nonlocal carry
        carry, losses = many(carry)
        losses.block_until_ready()

    return medians(window, steps)


def torch_product(size):
    import torch

    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))

    def window(count):
        for _ in range(count):
            torch.matmul(a, b)
        torch.cuda.synchronize()

    return 2 * size**3 / medians(window, 10) / 1e3


def main():
    what, number = sys.argv[1], int(sys.argv[2])
    if what == "torch product":
        return print(json.dumps({"gflops": torch_product(number)}))
    us = jax_step(number) if what == "jax scan" else torch_step(number, what == "torch graph")
    print(json.dumps({"us_per_step": us}))


if __name__ == "__main__":
    try:
        main()
    except ImportError as error:
        sys.exit(f"{error.name} is not installed")
