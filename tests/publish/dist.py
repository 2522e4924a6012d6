"""Archives for other platforms and installers: what cargo-dist would make, by the configuration in Cargo.toml."""
import re
import tempfile
from pathlib import Path

from project import ROOT, cargo_tool, check, run, version

INSIDE = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "THIRD-PARTY.md", "completions", "man", "web"]
# What docs/PUBLISHING.md adds once the source has an address, here with one that does not exist.
ADDRESS = [
    # `dist generate` writes the workflow, so that there is none to compare with here.
    ("Cargo.toml", "ci = []", 'ci = "github"\nallow-dirty = ["ci"]\ninstallers = ["shell", "powershell", "homebrew"]'),
    ("Cargo.toml", "\nhomepage = ", '\nrepository = "https://github.com/nobody/meromorph"\nhomepage = '),
    ("crates/mero/Cargo.toml", "\nhomepage.workspace = true", "\nhomepage.workspace = true\nrepository.workspace = true"),
]
INSTALLERS = ["mero-installer.sh", "mero-installer.ps1", "mero.rb"]


def make():
    wanted = re.search(r'^cargo-dist-version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    tool = cargo_tool("cargo-dist", wanted)
    archives = planned(tool, ROOT)
    with tempfile.TemporaryDirectory() as folder:
        run("git", "clone", "--quiet", ROOT, folder)
        for name, before, after in ADDRESS:
            path = Path(folder) / name
            text = path.read_text()
            check(before in text, f"{name}: no line {before.strip()!r}")
            path.write_text(text.replace(before, after, 1))
        with_installers = run(tool, "plan", cwd=folder)
    missing = [name for name in INSTALLERS if name not in with_installers]
    check(not missing, f"dist plan with an address: no {', '.join(missing)}")
    print(f"  planned, not built: {', '.join(archives)}; with an address {', '.join(INSTALLERS)}")
    return []


def planned(tool, folder):
    """The archives of the plan. Errors if one is missing or lacks a file."""
    plan = run(tool, "plan", cwd=folder)
    check(f"mero {version()}" in plan, f"dist plan: no mero {version()}:\n{plan}")
    targets = re.search(r"^targets = \[(.+?)\]", (ROOT / "Cargo.toml").read_text(), re.MULTILINE | re.DOTALL)[1]
    archives = []
    for target in re.findall(r'"(.+?)"', targets):
        found = re.search(rf"^ +(mero-{target}\.(?:tar\.xz|zip))\n +\[bin\] mero(?:\.exe)?\n +\[misc\] (.+)$", plan, re.MULTILINE)
        check(found, f"dist plan: no archive for {target}:\n{plan}")
        check(found[2].split(", ") == INSIDE, f"dist plan: {found[1]} contains {found[2]}, expected {', '.join(INSIDE)}")
        archives.append(found[1])
    return archives
