"""The Debian package of the command: made by cargo-deb, checked by lintian, unpacked and run."""
import email.utils
import pathlib
import re
import shutil
import tempfile

import command
from licences import NATIVE, count
from project import OUT, ROOT, Package, cargo_tool, check, empty, run, version

CARGO_DEB = "3.8.0"
LIMIT_BYTES = 25_000_000
INSIDE = ["usr/bin/mero", "usr/share/doc/mero/copyright", "usr/share/doc/mero/THIRD-PARTY.md.gz", "usr/share/man/man1/mero.1.gz",
          "usr/share/man/man1/mero-train.1.gz", "usr/share/bash-completion/completions/mero", "usr/share/meromorph/web/site/index.html"]


def make():
    command.build()
    (command.MADE / "changelog").write_text(changelog())
    folder = empty(OUT / "deb")
    run(cargo_tool("cargo-deb", CARGO_DEB), "--package", "mero", "--no-build", "--locked", "--output", folder)
    [path] = folder.glob("*.deb")
    control = run("dpkg-deb", "--field", path)
    check(f"Version: {version()}-1" in control, f"{path.name}: {control}")
    check(re.search(r"^Depends: .*libc6 \(>= ", control, re.MULTILINE), f"{path.name}: no dependency on libc6:\n{control}")
    check("libvulkan1" in control, f"{path.name}: the loader of Vulkan is not recommended:\n{control}")
    print("  " + re.search(r"^Depends: .*", control, re.MULTILINE)[0])
    run("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", "--allow-root", path)
    unpacked_works(path)
    size = path.stat().st_size
    check(size <= LIMIT_BYTES, f"{path.name}: {size} bytes, expected at most {LIMIT_BYTES}")
    return [Package("deb", path.stem, version(), size, count(NATIVE))]


def changelog():
    """In Debian's form. The notes themselves are in the changelog of the project, which the package has too."""
    maintainer = re.search(r'maintainer = "(.+)"', (ROOT / "crates/mero/Cargo.toml").read_text())[1]
    when = email.utils.formatdate(int(run("git", "log", "-1", "--format=%ct")))
    return f"mero ({version()}-1) unstable; urgency=medium\n\n  * Release {version()}; see changelog.gz.\n\n -- {maintainer}  {when}\n"


def unpacked_works(path):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        run("dpkg-deb", "--extract", path, root)
        missing = [file for file in INSIDE if not (root / file).exists()]
        check(not missing, f"{path.name}: no {', '.join(missing)} inside")
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        command.works(root / "usr/bin/mero", work)
        if shutil.which("man"):
            page = run("man", "--local-file", "--warnings", root / "usr/share/man/man1/mero-train.1.gz", MANWIDTH="80")
            check("mero-train" in page, f"{path.name}: the page of mero train does not show its name")
