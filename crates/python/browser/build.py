"""Builds the wheels of the package for Pyodide: the Python files over the npm package, whose build must be in web/dist.

python3 crates/python/browser/build.py [FOLDER]
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
WEB = ROOT / "web"

#: Two wheels with the same files. PyPI takes the platforms of PEP 783, which Pyodide 0.29 and 314 know; the earlier
#: names are for those before, from any other address. pip never takes either on a desktop.
PLATFORMS = [
    ["pyemscripten_2025_0_wasm32", "pyemscripten_2026_0_wasm32"],
    ["pyodide_2024_0_wasm32", "pyodide_2025_0_wasm32"],
]
#: The scripts of this folder that become part of the wheel, each with its WebAssembly.
SCRIPTS = ["engine", "fit"]
MOST_BYTES = 3_000_000
#: The engine under the name of the native module.
ENGINE = (
    '"""The engine in Pyodide."""\n\nfrom ._browser import *  # noqa: F403\nfrom ._browser import VERSION as VERSION\n'
)


def main(folder: Path) -> list[Path]:
    """Writes the wheels to a folder and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    package = _package()
    return [_write(folder, package, platforms) for platforms in PLATFORMS]


def _write(folder: Path, package: dict[str, bytes], platforms: list[str]) -> Path:
    project, version = _project(), _version()
    about = f"{project['name']}-{version}.dist-info"
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in platforms)
    files = {
        **package,
        f"{about}/METADATA": _metadata(project, version).encode(),
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: meromorph\nRoot-Is-Purelib: true\n{tags}".encode(),
        **{f"{about}/licenses/{path.name}": path.read_bytes() for path in _licences()},
    }
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    wheel = folder / f"{project['name']}-{version}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            # A fixed date, so that the same files give the same wheel.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    return wheel


def _licences() -> list[Path]:
    """The licences of the project, and those of third-party code in the WebAssembly."""
    return [*sorted(ROOT.glob("LICENSE-*")), WEB / "THIRD-PARTY.md"]


def _package() -> dict[str, bytes]:
    source = HERE.parent / "python"
    files = {str(path.relative_to(source)): path.read_bytes() for path in sorted(source.rglob("*.py"))}
    files["meromorph/py.typed"] = b""
    files["meromorph/_engine.py"] = ENGINE.encode()
    files["meromorph/_browser/options.json"] = (HERE / "options.json").read_bytes()
    for name in SCRIPTS:
        files[f"meromorph/_browser/{name}.js"] = _script(name)
    return files


def _script(name: str) -> bytes:
    """A script of this folder with all that it imports, as a classic script that defines `meromorph`."""
    if not (WEB / "dist" / "inline.js").exists():
        raise SystemExit("web/dist: the npm package is not built: expected cd web && npm ci && npm run build")
    command = [
        WEB / "node_modules/.bin/esbuild",
        HERE / f"{name}.js",
        "--bundle",
        "--format=iife",
        "--global-name=meromorph",
    ]
    flags = [
        "--platform=browser",
        "--target=es2022",
        "--minify",
        "--legal-comments=none",
        "--log-level=warning",
        "--charset=utf8",
    ]
    return subprocess.run([*command, *flags], check=True, capture_output=True).stdout


def _metadata(project: dict, version: str) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {path.name}" for path in sorted(ROOT.glob("LICENSE-*"))),
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {one}" for one in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
        *(
            f'Provides-Extra: sklearn\nRequires-Dist: {one}; extra == "sklearn"'
            for one in project["optional-dependencies"]["sklearn"]
        ),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (HERE.parent / project["readme"]).read_text(encoding="utf-8")


def _project() -> dict:
    return tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _version() -> str:
    return tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    for built in main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target" / "wheels"):
        size = built.stat().st_size
        print(f"{built}: {size:,} bytes")
        if size > MOST_BYTES:
            raise SystemExit(f"the wheel is too large: got {size:,} bytes, expected at most {MOST_BYTES:,}")
