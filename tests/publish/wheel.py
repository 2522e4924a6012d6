"""The source package and the wheel for PyPI: the wheel is built from the source package, installed into a fresh environment, and used."""
import hashlib
import re
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from licences import PYTHON, count
from project import OUT, PYTHON as INTERPRETER, ROOT, Package, check, empty, pip_install, run, version

FOLDER = ROOT / "crates/python"
# A wheel serves every later version of Python as well.
STABLE = re.compile(r"-cp3\d+-abi3-")
LICENCES = ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md"]
LIMIT_BYTES = 8_000_000
USE = """
import importlib.metadata, math, sys
import meromorph
assert importlib.metadata.version("meromorph") == meromorph.__version__ == sys.argv[1], meromorph.__version__
model = meromorph.Model.train(sys.argv[2], target="price", epochs=3, device="cpu", progress=False)
house = {"area": [80], "rooms": [3], "year": [1998], "heating": ["gas"], "distance": [4]}
assert math.isfinite(model.predict(house)[0])
"""


def make():
    pip_install("maturin>=1.9,<2")
    folder = empty(OUT / "wheel")
    run(INTERPRETER, "-m", "maturin", "sdist", "--out", folder, cwd=FOLDER)
    [source] = folder.glob("*.tar.gz")
    wheel = built(source, folder)
    for path, inside in ((source, source_files(source)), (wheel, zipfile.ZipFile(wheel).namelist())):
        check(f"-{version()}" in path.name, f"{path.name}: expected version {version()}")
        missing = [name for name in LICENCES if not any(file.endswith(f"/{name}") for file in inside)]
        check(not missing, f"{path.name}: no {', '.join(missing)} inside")
    check(STABLE.search(wheel.name), f"{wheel.name}: not a wheel for all versions of Python (abi3)")
    size = wheel.stat().st_size
    check(size <= LIMIT_BYTES, f"{wheel.name}: {size} bytes, expected at most {LIMIT_BYTES}")
    works(wheel)
    made = [("wheel", wheel, count(PYTHON)), ("sdist", source, None)]
    return [Package(kind, path.name, version(), path.stat().st_size, licences) for kind, path, licences in made]


def built(source, folder):
    """The wheel, built in the unpacked source package, away from the project: what that lacks is not found next to it."""
    # One place for the same sources, so that nothing is built twice. Files in it have a fixed date: in one place for all sources
    # cargo would not see a change.
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    scratch = empty(Path(tempfile.gettempdir()) / f"meromorph-{digest}")
    with tarfile.open(source) as archive:
        archive.extractall(scratch, filter="data")
    [tree] = scratch.iterdir()
    run(INTERPRETER, "-m", "maturin", "build", "--release", "--out", folder, cwd=tree)
    [wheel] = folder.glob("*.whl")
    return wheel


def source_files(source):
    with tarfile.open(source) as archive:
        links = [member.name for member in archive if member.issym()]
        check(not links, f"{source.name}: {', '.join(links)} are links, expected files")
        return archive.getnames()


def works(wheel):
    """Away from the project's files, the package trains and predicts."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin/python"
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        run(python, "-c", USE, version(), ROOT / "examples/data/houses.csv", cwd=folder)
