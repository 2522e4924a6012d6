"""Builds and checks every package that people can install.

usage: python tests/publish [part …]   (default: all, in this order; packages go into target/publish)
"""
import sys
import time

import command
import conda
import crates
import debian
import dist
import licences
import npm
import pyodide
import version
import wheel
from project import OUT, Failure

# Later parts use what earlier ones made: the archive, the Debian package and the wheels for Pyodide contain the build for browsers.
PARTS = {
    "version": version.make,
    "licences": licences.make,
    "crates": crates.make,
    "npm": npm.make,
    "archive": command.make,
    "dist": dist.make,
    "deb": debian.make,
    "wheel": wheel.make,
    "pyodide": pyodide.make,
    "conda": conda.make,
}


def main(names):
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"publish: unknown part {unknown[0]!r}; expected {', '.join(PARTS)}")
    packages, failures = [], []
    for name in names or PARTS:
        start = time.monotonic()
        print(f"{name} …", flush=True)
        try:
            packages += PARTS[name]()
            print(f"{name}: well ({time.monotonic() - start:.0f}s)", flush=True)
        except Failure as failure:
            print(f"{name}: FAILED: {failure}", flush=True)
            failures.append(name)
    show(packages)
    sys.exit(f"publish: failed: {', '.join(failures)}" if failures else 0)


def show(packages):
    """A table of what was made."""
    rows = [("package", "kind", "version", "size", "licences")]
    for package in packages:
        licences_text = "source only" if package.licences is None else str(package.licences)
        rows.append((package.name, package.kind, package.version, size(package.size_bytes), licences_text))
    if len(rows) == 1:
        return
    widths = [max(len(row[at]) for row in rows) for at in range(5)]
    print()
    for row in rows:
        print("  " + "  ".join(cell.rjust(width) if at in (3, 4) else cell.ljust(width)
                               for at, (cell, width) in enumerate(zip(row, widths))).rstrip())
    print(f"\nin {OUT}; licences: third-party packages whose licences are inside")


def size(size_bytes):
    return f"{size_bytes / 1e6:.2f} MB" if size_bytes >= 1e6 else f"{size_bytes / 1e3:.1f} kB"


if __name__ == "__main__":
    main(sys.argv[1:])
