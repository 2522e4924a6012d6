"""Masked arithmetic compared with the original package, zeroproofml 0.6.1 on NumPy: over a million f32 per operation (telling bit patterns,
random bits, ordinary numbers, results near the largest float), masks compared exactly, values within a bound. Prints a table of what
differs and why; a difference without a reason fails.

usage: parity.py COMMAND_THAT_RUNS_OUR_HALF...   (`cargo test ... --test engine parity -- --ignored`)
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
from zeroproof.scm import ops

RANDOM, ORDINARY, NEAR = 600_000, 300_000, 200_000
DEVICES = ["cpu"] if "MERO_NO_GPU" in os.environ else ["cpu", "webgpu"]
BINARY = {"add", "sub", "mul", "div", "pow"}
LARGEST = float(np.finfo(np.float32).max)
# Relative and absolute error compared with NumPy. A device without subnormals may differ by the smallest normal float; WGSL allows errors of
# 2.5 units in the last place for a quotient, 2^-21 for a logarithm near 1, 3 + 2 |x| units for e^x, and for a power those of both.
EXACT = {name: (0.0, 0.0) for name in ("add", "sub", "mul", "div", "inv", "neg", "sqrt")}
BOUNDS = {
    "cpu": EXACT | {"log": (4e-7, 1e-9), "exp": (4e-7, 3e-45), "sin": (4e-7, 3e-7), "cos": (4e-7, 3e-7), "tan": (4e-7, 1e-9), "pow": (4e-7, 3e-45)},
    "webgpu": {name: (4e-7, 2.4e-38) for name in EXACT}
    | {"log": (5e-7, 6e-7), "exp": (2e-5, 2.4e-38), "sin": (1e-6, 4e-7), "cos": (1e-6, 4e-7), "tan": (4e-6, 1e-7), "pow": (4e-5, 2.4e-38)},
}


def telling():
    words = [0, 1, 2, 0x200000, 0x200001, 0x7FFFFF, 0x800000, 0x800001, 0x1A000000, 0x1A000001, 0x1F7FFFFF, 0x1F800000, 0x20000000,
             0x20000001, 0x3C000000, 0x3EFFFFFF, 0x3F000000, 0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3FC00000, 0x40000000, 0x40400000,
             0x42B17217, 0x42B17218, 0x42FFFFFF, 0x43000000, 0x43150000, 0x4B800001, 0x5F7FFFFF, 0x5F800000, 0x60000000, 0x74453ACB,
             0x7E000000, 0x7EFFFFFF, 0x7F000000, 0x7F340000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF]
    words = np.array(words, np.uint32)
    return np.concatenate([words, words | 0x80000000]).view(np.float32)


def numbers(name, rng):
    """The columns of arguments of an operation."""
    bits = lambda count: rng.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    ordinary = lambda: np.where(rng.random(ORDINARY) < 0.01, 0, rng.normal(size=ORDINARY) * 3).astype(np.float32)
    special = telling()
    if name not in BINARY:
        limit = {"exp": 88.7228, "inv": 2.0**-128}.get(name, 1.0)
        near = (limit * (1 + rng.normal(size=NEAR) * 1e-6)).astype(np.float32)
        return [np.concatenate([special, bits(RANDOM), ordinary(), near])]
    x, y = (column.ravel() for column in np.meshgrid(special, special))
    a = bits(NEAR)
    # The divisor, factor, summand or exponent for which the result is the largest float.
    size = np.abs(a.astype(np.float64))
    partner = {
        "add": LARGEST - a, "sub": a - LARGEST, "mul": LARGEST / a.astype(np.float64), "div": size / LARGEST,
        "pow": 128 / np.log2(size),
    }[name]
    if name == "div":
        partner = np.where(rng.random(NEAR) < 0.5, partner, np.sqrt(partner))
    partner = (partner * (1 + rng.normal(size=NEAR) * 1e-7)).astype(np.float32)
    return [np.concatenate([x, bits(RANDOM), ordinary(), a]), np.concatenate([y, bits(RANDOM), ordinary(), partner])]


def words_of(mask):
    packed = np.packbits(mask, bitorder="little")
    return np.pad(packed, (0, -len(packed) % 4)).view("<u4")


def reasons(name, columns):
    """Where a mask may differ, and why."""
    if name == "pow":
        power = np.power(np.abs(columns[0].astype(np.float64)), columns[1].astype(np.float64))
        yield "the power is within 1e-6 of the largest float, where NumPy's own rounding decides", np.abs(power / LARGEST - 1) < 1e-6


def compare(name, device, columns, folder, expected, expected_mask):
    """Lines of the table, and whether something differs without a reason."""
    got = np.fromfile(folder / f"{name}.{device}.values", "<f4")
    mask = np.unpackbits(np.fromfile(folder / f"{name}.{device}.mask", np.uint8), bitorder="little")[: len(got)].astype(bool)
    lines, off = [], mask != expected_mask
    for reason, where in reasons(name, columns):
        if (off & where).any():
            lines.append(f"{(off & where).sum()} masks: {reason}")
        off &= ~where
    relative, absolute = BOUNDS[device][name]
    both = ~mask & ~expected_mask
    error = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    far = both & ~(error <= relative * np.abs(expected.astype(np.float64)) + absolute)
    dirty = mask & (got.view(np.uint32) != 0)
    for what, where in (("masks", off), ("values", far), ("values under a mask", dirty)):
        if where.any():
            at = np.flatnonzero(where)[0]
            given = ", ".join(float(column[at]).hex() for column in columns)
            lines.append(f"WITHOUT A REASON: {where.sum()} {what}, first {name}({given}): {got[at]!r} for {expected[at]!r}")
    return lines, bool(off.any() or far.any() or dirty.any())


def main():
    rng = np.random.default_rng(7)
    rows, is_bad = [], False
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        folder = pathlib.Path(place)
        made = {}
        for name in EXACT | {"log": 0, "exp": 0, "sin": 0, "cos": 0, "tan": 0, "pow": 0}:
            columns = numbers(name, rng)
            masks = [rng.random(len(column)) < 0.01 for column in columns]
            for at, (column, mask) in enumerate(zip(columns, masks)):
                column.astype("<f4").tofile(folder / f"{name}.{at}.values")
                words_of(mask).tofile(folder / f"{name}.{at}.mask")
            made[name] = columns, masks
        command = dict(MERO_PARITY=place, MERO_PARITY_DEVICES=",".join(DEVICES))
        subprocess.run(sys.argv[1:], env=os.environ | command, check=True, stdout=subprocess.DEVNULL)
        for name, (columns, masks) in made.items():
            function = getattr(ops, f"scm_{name}_numpy")
            if name == "pow":
                # There the exponent has no mask of its own.
                expected, expected_mask = function(*columns, mask=masks[0] | masks[1])
            elif name in BINARY:
                expected, expected_mask = function(*columns, mask_x=masks[0], mask_y=masks[1])
            else:
                expected, expected_mask = function(columns[0], mask=masks[0])
            for device in DEVICES:
                lines, bad = compare(name, device, columns, folder, expected, expected_mask)
                is_bad |= bad
                rows.append((name, device, len(expected), int(expected_mask.sum()), "; ".join(lines) or "none"))
    print(f"{'operation':<10} {'device':<7} {'numbers':>9} {'bottoms':>9}  differences")
    for name, device, count, bottoms, text in rows:
        print(f"{name:<10} {device:<7} {count:>9} {bottoms:>9}  {text}")
    sys.exit("masked arithmetic differs from the original package without a reason" if is_bad else 0)


if __name__ == "__main__":
    main()
