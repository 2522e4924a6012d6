"""Writes scm_scalar.json: what the original package (zeroproofml 0.6.1) answers about scalars, weak signs and policies.

Usage: python scm_scalar.py > scm_scalar.json
A value is null for bottom, else [re, im, is_complex]. "raises" marks what
the original refuses.
"""

import json
import random
import warnings

from zeroproof.autodiff.policies import GradientPolicy, apply_policy
from zeroproof.scm import ops
from zeroproof.scm.sign import HystereticOrientationTracker, weak_sign
from zeroproof.scm.value import SCMValue, scm_bottom

warnings.simplefilter("ignore")
RANDOM = random.Random(20)


def packed(value):
    if value.is_bottom:
        return None
    number = complex(value.payload)
    return [number.real, number.imag, isinstance(value.payload, complex)]


def answer(function, *arguments):
    try:
        return packed(function(*arguments))
    except (OverflowError, ValueError):
        return "raises"


def operands():
    fixed = [0.0, -0.0, 1.0, -2.5, 1e300, 3.0, RANDOM.uniform(-5, 5)]
    pairs = [(0, 0), (-1, 0), (0.6, -0.8), (1e200, -1e200)]
    pairs += [(RANDOM.uniform(-3, 3), RANDOM.uniform(-3, 3)) for _ in range(2)]
    values = [scm_bottom()] + [SCMValue(x) for x in fixed] + [SCMValue(complex(*pair)) for pair in pairs]
    return values


def operations(values):
    binary = {"add": ops.scm_add, "sub": ops.scm_sub, "mul": ops.scm_mul, "div": ops.scm_div}
    unary = ["inv", "neg", "log", "exp", "sqrt", "sin", "cos", "tan"]
    pairs = [(i, j) for i in range(len(values)) for j in range(len(values))]
    rows = [[name, i, j, answer(f, values[i], values[j])] for name, f in binary.items() for i, j in pairs]
    rows += [[name, i, None, answer(getattr(ops, f"scm_{name}"), a)] for name in unary for i, a in enumerate(values)]
    exponents = [0.0, 1.0, 2.0, -1.0, -3.0, 0.5, 1.7, -0.5]
    rows += [["pow", i, e, answer(ops.scm_pow, a, e)] for e in exponents for i, a in enumerate(values)]
    rows += [["weak_sign", i, None, answer(weak_sign, a)] for i, a in enumerate(values)]
    return rows


def signs(epsilon, hysteresis, values):
    tracker = HystereticOrientationTracker(epsilon=epsilon, hysteresis=hysteresis)
    return {
        "epsilon": epsilon,
        "hysteresis": hysteresis,
        "values": [packed(v) for v in values],
        "signs": [packed(tracker.update(v)) for v in values],
    }


def sequences():
    checked = [SCMValue(x) for x in [1.0, 1e-9, -1.1e-9, -1.3e-9]]
    noisy = [SCMValue(RANDOM.choice([1, -1]) * 10 ** RANDOM.uniform(-8, -4)) for _ in range(40)]
    noisy = [scm_bottom() if RANDOM.random() < 0.15 else v for v in noisy]
    turning = [SCMValue(complex(RANDOM.gauss(0, 1e-6), RANDOM.gauss(0, 1e-6))) for _ in range(20)]
    return [signs(1e-9, 0.25, checked), signs(1e-6, 0.5, noisy), signs(1e-6, 0.5, turning), signs(0.0, 0.0, noisy[:8])]


def policies():
    gradients = [0.0, 0.5, -0.5, 1.0, -1.5, 2.5, -40.0, 1e30]
    bottoms = [False, True]
    cases = [(policy, g, b) for policy in GradientPolicy for g in gradients for b in bottoms]
    return [[policy.value, g, b, float(apply_policy(g, b, policy))] for policy, g, b in cases]


VALUES = operands()
ANSWERS = {
    "values": [packed(value) for value in VALUES],
    "operations": operations(VALUES),
    "sequences": sequences(),
    "policies": policies(),
}
print(json.dumps(ANSWERS, separators=(",", ":")))
