"""The wheels for Pyodide: the Python files over the npm package, which the part npm has built."""
import zipfile

from licences import WEB, count
from project import OUT, PYTHON, ROOT, Package, check, empty, run, version
from wheel import LICENCES

LIMIT_BYTES = 3_000_000


def make():
    folder = empty(OUT / "pyodide")
    run(PYTHON, ROOT / "crates/python/browser/build.py", folder)
    wheels = sorted(folder.glob("*.whl"))
    check(wheels, "crates/python/browser/build.py: made no wheel")
    return [checked(wheel) for wheel in wheels]


def checked(wheel):
    check(f"-{version()}-" in wheel.name, f"{wheel.name}: expected version {version()}")
    inside = zipfile.ZipFile(wheel).namelist()
    missing = [name for name in LICENCES if not any(file.endswith(f".dist-info/licenses/{name}") for file in inside)]
    check(not missing, f"{wheel.name}: no {', '.join(missing)} inside")
    size = wheel.stat().st_size
    check(size <= LIMIT_BYTES, f"{wheel.name}: {size} bytes, expected at most {LIMIT_BYTES}")
    return Package("wheel", wheel.name, version(), size, count(WEB))
