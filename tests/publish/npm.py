"""The package for npm: built, packed, and its list of files checked."""
import json
import re
import shutil

from licences import WEB, count
from project import OUT, ROOT, Package, check, empty, run, version

FOLDER = ROOT / "web"
NAMED = {"package.json", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.md"}
# Scripts, their maps, types and WebAssembly; the folders in dist are for `mero serve` and `mero export`.
BUILT = re.compile(r"dist/[a-z.-]+\.(js|js\.map|d\.ts|wasm)")
LIMIT_BYTES = 6_000_000


def make():
    run("npm", "run", "--silent", "build", cwd=FOLDER)
    folder = empty(OUT / "npm")
    [packed] = json.loads(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", folder, cwd=FOLDER))
    files = {file["path"] for file in packed["files"]}
    missing = sorted((NAMED | entries()) - files)
    check(not missing, f"npm: no {', '.join(missing)} in the package")
    strange = sorted(file for file in files - NAMED if not BUILT.fullmatch(file))
    check(not strange, f"npm: {', '.join(strange)} should not be in the package")
    check(packed["version"] == version(), f"npm: version {packed['version']}, expected {version()}")
    check(packed["size"] <= LIMIT_BYTES, f"npm: {packed['size']} bytes, expected at most {LIMIT_BYTES}")
    return [Package("npm", "meromorph", version(), packed["size"], count(WEB))]


def entries():
    """The files that package.json names as entry points and types."""
    text = json.dumps(json.loads((FOLDER / "package.json").read_text())["exports"])
    return {file.removeprefix("./") for file in re.findall(r'"(\./[^"]+)"', text) if file.startswith("./dist/")}


def site(folder):
    """Copies what `mero serve` and `mero export` read of the build."""
    built = FOLDER / "dist"
    check((built / "web.json").exists(), "web/dist/web.json: not there; the part npm makes it")
    empty(folder)
    shutil.copy(built / "web.json", folder)
    for name in ("site", "portable"):
        shutil.copytree(built / name, folder / name)
