"""Crates for crates.io: packaged in the order of their dependencies, each built from its own package."""
import json
import tarfile

from project import OUT, TARGET, Package, check, empty, run, version

WANTED = ["description", "license", "readme", "keywords", "categories", "homepage"]
FILES = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"]
# crates.io takes 10 MB.
LIMIT_BYTES = 2_000_000


def make():
    published = [package for package in workspace() if package["publish"] is None]
    for package in published:
        missing = [field for field in WANTED if not package[field]]
        check(not missing, f"{package['manifest_path']}: no {', '.join(missing)}")
    packages = empty(TARGET / "package")
    run("cargo", "publish", "--quiet", "--dry-run", "--workspace")
    folder = empty(OUT / "crates")
    return [checked((packages / f"{package['name']}-{version()}.crate").rename(folder / f"{package['name']}-{version()}.crate"), package["name"]) for package in published]


def workspace():
    return json.loads(run("cargo", "metadata", "--format-version", "1", "--no-deps"))["packages"]


def checked(path, name):
    with tarfile.open(path) as archive:
        inside = {member.partition("/")[2] for member in archive.getnames()}
    missing = [file for file in FILES if file not in inside]
    check(not missing, f"{path.name}: no {', '.join(missing)} inside")
    strange = sorted(file for file in inside if file.startswith(("tests/", "target/", "packaging/", "web/")))
    check(not strange, f"{path.name}: {', '.join(strange[:5])} should not be inside")
    size = path.stat().st_size
    check(size <= LIMIT_BYTES, f"{path.name}: {size} bytes, expected at most {LIMIT_BYTES}")
    return Package("crate", name, version(), size)
