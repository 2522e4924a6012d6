"""Crates for crates.io: packaged in the order of their dependencies, each built from its own package."""
import json
import shutil
import tarfile

from project import OUT, TARGET, Package, check, empty, run, version

WANTED = ["description", "license", "readme", "keywords", "categories", "homepage"]
FILES = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"]
# The source and what explains it.
FOLDERS = ("src/", "shaders/", "benches/", "docs/", "examples/")
NAMED = {*FILES, "CHANGELOG.md", "Cargo.toml.orig", "Cargo.lock", ".cargo_vcs_info.json"}
LIMIT_BYTES = 2_000_000


def make():
    published = [package for package in workspace() if package["publish"] is None]
    for package in published:
        missing = [field for field in WANTED if not package[field]]
        check(not missing, f"{package['manifest_path']}: no {', '.join(missing)}")
    packages = empty(TARGET / "package")
    run("cargo", "publish", "--quiet", "--dry-run", "--locked", "--workspace")
    folder = empty(OUT / "crates")
    return [checked(package["name"], packages, folder) for package in published]


def workspace():
    return json.loads(run("cargo", "metadata", "--format-version", "1", "--no-deps"))["packages"]


def checked(name, packages, folder):
    file = f"{name}-{version()}.crate"
    # Cargo keeps them in a folder of its own choice.
    found = sorted(packages.rglob(file))
    check(found, f"{file}: not made by cargo publish")
    path = shutil.copy(found[0], folder / file)
    with tarfile.open(path) as archive:
        inside = {member.partition("/")[2] for member in archive.getnames()}
    missing = [wanted for wanted in FILES if wanted not in inside]
    check(not missing, f"{file}: no {', '.join(missing)} inside")
    strange = sorted(other for other in inside - NAMED if not other.startswith(FOLDERS))
    check(not strange, f"{file}: {', '.join(strange[:5])} should not be inside")
    size = path.stat().st_size
    check(size <= LIMIT_BYTES, f"{file}: {size} bytes, expected at most {LIMIT_BYTES}")
    return Package("crate", name, version(), size)
