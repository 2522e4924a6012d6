"""Writes the HDF5 files of tests/engine/ranges: python tests/data/ranges.py, with h5py 3.16 and numpy 2.4."""

from pathlib import Path

import h5py
import numpy as np

FOLDER = Path(__file__).parent / "ranges"
FOLDER.mkdir(exist_ok=True)
ROWS = 300
row = np.arange(ROWS, dtype="f8")
t, y = row / 8, row * row - 0.5

# Old format, stored in one piece; every type, a text and a single number.
with h5py.File(FOLDER / "plain.h5", "w", libver="earliest") as file:
    file["t"] = t
    file["y"] = y.astype(">f4")
    file["n"] = (-row).astype(">i2")
    file["b"] = row % 3 == 0
    file["u"] = row.astype("u8") + 2**40
    file["name"] = np.array([b"first", b"second"])
    file["temperature"] = 293.15

# New format, in chunks, packed; groups and two dimensions.
with h5py.File(FOLDER / "packed.h5", "w", libver="latest") as file:
    run = file.create_group("runs/first")
    run.create_dataset("t", data=t, chunks=(64,), compression="gzip", shuffle=True)
    run.create_dataset("y", data=y, chunks=(50,), compression="gzip", fletcher32=True)
    run.create_dataset("short", data=t[:10])
    file.create_dataset("runs/table/m", data=np.stack([t, y, -t], 1).astype("f4"), chunks=(100, 2), compression="gzip")

# Chunks of a dataset that can grow, indexed by a B-tree of version 1.
with h5py.File(FOLDER / "grown.h5", "w", libver="earliest") as file:
    grown = file.create_dataset("t", shape=(0,), maxshape=(None,), chunks=(32,), dtype="f8", compression="gzip")
    grown.resize((ROWS,))
    grown[:] = t
