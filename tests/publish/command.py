"""The program `mero`: built for release, with its pages of the manual, completions and web files, as an archive."""
import gzip
import hashlib
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

import npm
from licences import NATIVE, count
from project import OUT, ROOT, TARGET, Package, check, empty, run, version

# What packages of the program have in them and is not among the files of the project; cargo-dist and cargo-deb read it here.
MADE = ROOT / "crates/mero/packaging/made"
PLAIN = ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "docs/CHANGELOG.md", NATIVE[0]]
SHELLS = {"bash": "mero.bash", "zsh": "_mero", "fish": "mero.fish", "powershell": "_mero.ps1", "elvish": "mero.elv"}
LIMIT_BYTES = 25_000_000


def make():
    program = build()
    name = f"mero-{platform()}"
    folder = empty(OUT / "archive")
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / name
        tree.mkdir()
        shutil.copy(program, tree / "mero")
        for file in PLAIN:
            shutil.copy(ROOT / file, tree)
        for part in ("man", "completions", "web"):
            shutil.copytree(MADE / part, tree / part)
        path = packed(tree, folder / f"{name}.tar.xz")
    unpacked_works(path, name)
    size = path.stat().st_size
    check(size <= LIMIT_BYTES, f"{path.name}: {size} bytes, expected at most {LIMIT_BYTES}")
    return [Package("archive", name, version(), size, count(NATIVE))]


def build():
    """Builds the program and what is made by it. Returns the program without symbols."""
    run("cargo", "build", "--quiet", "--release", "--locked", "--package", "mero", "--features", "cuda")
    program = OUT / "mero"
    OUT.mkdir(parents=True, exist_ok=True)
    run("strip", "-o", program, TARGET / "release/mero")
    empty(MADE)
    run(program, "man", "--dir", MADE / "man")
    (MADE / "completions").mkdir()
    for shell, file in SHELLS.items():
        (MADE / "completions" / file).write_text(run(program, "completions", shell))
    npm.site(MADE / "web")
    for source, name in ((NATIVE[0], "THIRD-PARTY.md.gz"), ("docs/CHANGELOG.md", "changelog.gz")):
        (MADE / name).write_bytes(gzip.compress((ROOT / source).read_bytes(), mtime=0))
    return program


def platform():
    return re.search(r"host: (.+)", run("rustc", "-vV"))[1]


def packed(tree, path):
    """Packs a folder, the same files to the same bytes, with a digest next to the archive."""
    when = int(run("git", "log", "-1", "--format=%ct"))

    def plain(member):
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = when
        return member

    with tarfile.open(path, "w:xz", preset=9) as archive:
        archive.add(tree, arcname=tree.name, filter=plain)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".sha256").write_text(f"{digest}  {path.name}\n")
    return path


def unpacked_works(path, name):
    """Trains, and exports a page, which takes the web files of the archive."""
    run("sha256sum", "--check", "--quiet", f"{path.name}.sha256", cwd=path.parent)
    with tempfile.TemporaryDirectory() as folder:
        run("tar", "-xf", path, cwd=folder)
        works(pathlib.Path(folder) / name / "mero", folder)


def works(program, folder):
    """The program, and its web files, do what they are for, away from the project's files."""
    said = run(program, "--version", cwd=folder).strip()
    check(said == f"mero {version()}", f"{program}: --version prints {said!r}, expected 'mero {version()}'")
    table = ROOT / "examples/data/houses.csv"
    run(program, "train", table, "--target", "price", "--epochs", "3", "--device", "cpu", "--out", "houses.safetensors", cwd=folder)
    run(program, "export", "houses.safetensors", "--html", "houses.html", cwd=folder)
    check("<html" in (pathlib.Path(folder) / "houses.html").read_text(), "mero export: the page is empty")
    needed = set(re.findall(r"NEEDED +Shared library: \[(.+?)\]", subprocess.run(
        ["readelf", "-d", program], capture_output=True, text=True, check=True).stdout))
    usual = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
    check(needed <= usual, f"{program}: needs {', '.join(sorted(needed - usual))}, which a plain system does not have")
