"""Licences of third-party code: what cargo-deny allows, and the list that each package has with it.

The lists are files of the project, THIRD-PARTY.md, so that every way to make a package finds them. `MERO_WRITE=1` writes them.
"""
import json
import os
import pathlib
import re
import tempfile
import tomllib

from project import ROOT, Failure, cargo_tool, check, run

DENY, ABOUT = "0.20.2", "0.9.3"
DESKTOP = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin", "x86_64-pc-windows-msvc"]

# Part of the project: its list, its crate, features, targets, npm packages that are bundled with it.
NATIVE = ("crates/mero/THIRD-PARTY.md", "crates/mero", ["--features", "cuda"], DESKTOP, ["uplot"])
WEB = ("web/THIRD-PARTY.md", "web/crates/core", [], ["wasm32-unknown-unknown"], [])
PYTHON = ("crates/python/THIRD-PARTY.md", "crates/python", [], DESKTOP, [])

HEAD = """# Licences of third-party code

This package contains compiled code of the packages below, or was built with them. They have their own licences; where a
package offers several, one was chosen. The Rust standard library is part of it too: copyright The Rust Project
Contributors, MIT or Apache-2.0.

| package | version | licence |
| --- | --- | --- |
"""


def make():
    # Lists are made of what the lock file names, without asking a registry again.
    run("cargo", "fetch", "--locked", "--quiet")
    deny = cargo_tool("cargo-deny", DENY)
    run(deny, "--workspace", "check", "--hide-inclusion-graph", "licenses", "bans", "sources")
    try:
        run(deny, "--workspace", "check", "--hide-inclusion-graph", "advisories")
        print("  advisories: none of the dependencies has one")
    except Failure as failure:
        check("failed to fetch advisory database" in str(failure), failure)
        print("  ADVISORIES NOT CHECKED: their database, a Git repository of RustSec, cannot be reached from here")
    for part in (NATIVE, WEB, PYTHON):
        compare(ROOT / part[0], document(*part[1:]))
    covers_all_of_web()
    return []


def covers_all_of_web():
    """The list is that of one crate; the other parts of the build for browsers must need nothing else."""
    listed = set(re.findall(r"^\| (\S+) \|", (ROOT / WEB[0]).read_text(), re.MULTILINE))
    names = re.findall(r'crate: "(.+?)"', (ROOT / "web/parts.mjs").read_text())
    packages = [word for name in names if name != "evidence" for word in ("--package", f"meromorph-web-{name}")]
    tree = run("cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--target", *WEB[3], *packages)
    needed = {line.split(" ")[0] for line in tree.splitlines() if line}
    missing = sorted(name for name in needed - listed if not name.startswith("meromorph"))
    check(not missing, f"{WEB[0]}: no {', '.join(missing)}")


def compare(path, text):
    if os.environ.get("MERO_WRITE"):
        path.write_text(text)
    check(path.exists() and path.read_text() == text,
          f"{path.relative_to(ROOT)} is not up to date: MERO_WRITE=1 bash tests/run publish licences")


def count(part):
    """The number of packages in the list of a part."""
    return len(re.findall(r"^\| (?!package|---)", (ROOT / part[0]).read_text(), re.MULTILINE))


def document(crate, features, targets, bundled):
    found = harvest(crate, features, targets)
    rows, texts = [], {}
    for licence in found["licenses"]:
        for user in licence["used_by"]:
            package = user["crate"]
            # Crates of the project have no source; their licence is that of the whole package.
            if not package["source"]:
                continue
            name = f"{package['name']} {package['version']}"
            rows.append((name, licence["id"]))
            texts.setdefault((licence["id"], tidy(licence["text"])), set()).add(name)
            for notice in sorted(pathlib.Path(package["manifest_path"]).parent.glob("NOTICE*")):
                texts.setdefault(("Notice", tidy(notice.read_text())), set()).add(name)
    for module in bundled:
        folder = ROOT / "web/node_modules" / module
        described = json.loads((folder / "package.json").read_text())
        name = f"{module} {described['version']}"
        rows.append((name, described["license"]))
        texts.setdefault((described["license"], tidy((folder / "LICENSE").read_text())), set()).add(name)
    lines = [f"| {' | '.join(name.split(' '))} | {licence} |" for name, licence in merged(rows)]
    parts = [f"## {licence}\n\n{', '.join(sorted(names))}\n\n```text\n{text}\n```\n"
             for (licence, text), names in sorted(texts.items(), key=lambda item: (item[0][0], sorted(item[1]), item[0][1]))]
    return HEAD + "\n".join(lines) + "\n\n" + "\n".join(parts)


def merged(rows):
    """One row for each package; those under several licences at once have them joined."""
    names = sorted({name for name, _ in rows})
    return [(name, " AND ".join(sorted({licence for other, licence in rows if other == name}))) for name in names]


def tidy(text):
    lines = [line.rstrip() for line in text.replace("\f", "\n").splitlines()]
    return "\n".join(lines).strip("\n")


def harvest(crate, features, targets):
    """What cargo-about finds: for each text of a licence the crates that have it."""
    about = cargo_tool("cargo-about", ABOUT, "--features", "cli")
    accepted = tomllib.loads((ROOT / ".deny.toml").read_text())["licenses"]["allow"]
    # Texts of licences are at the top of a package; deeper ones are of its tests.
    settings = {"accepted": accepted, "targets": targets, "ignore-build-dependencies": True, "ignore-dev-dependencies": True, "max-depth": 1}
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "about.toml"
        config.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()))
        manifest = ROOT / crate / "Cargo.toml"
        text = run(about, "generate", "-c", config, "-m", manifest, *features, "--locked", "--offline", "--format", "json")
    return json.loads(text)
