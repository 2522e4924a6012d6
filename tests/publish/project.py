"""Where things are, how commands run, and what is known of a package that was made."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools"
PYTHON = pathlib.Path(sys.executable)
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
# The packages; made anew by every run.
OUT = TARGET / "publish"
# Programs whose name is not that of their crate.
PROGRAMS = {"cargo-dist": "dist"}


class Failure(Exception):
    """A check that failed, in words for the person who publishes."""


@dataclasses.dataclass
class Package:
    """`licences` is the number of third-party packages whose licences the package has with it; None: it has no such code."""

    kind: str
    name: str
    version: str
    size_bytes: int
    licences: int | None = None


def version():
    """The version of everything: that of the workspace in Cargo.toml."""
    text = (ROOT / "Cargo.toml").read_text()
    return re.search(r'\[workspace\.package\]\nversion = "(.+?)"', text)[1]


def run(*command, cwd=ROOT, **environment):
    """Runs a command; what it prints is shown if it fails. Returns its standard output."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    except FileNotFoundError:
        raise Failure(f"{command[0]}: not there; bash tests/run publish installs or names what is missing") from None
    if done.returncode:
        raise Failure(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-8000:]}")
    return done.stdout


def check(is_true, message):
    if not is_true:
        raise Failure(message)


def empty(folder):
    """The folder, without contents."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def cargo_tool(name, tool_version, *features):
    """The path of a command from crates.io, installed in .tools if that version is not there."""
    path = TOOLS / "bin" / PROGRAMS.get(name, name)
    is_there = path.exists() and tool_version in subprocess.run(
        [path, "--version"], capture_output=True, text=True).stdout
    if not is_there:
        print(f"  installing {name} {tool_version} (minutes)", flush=True)
        # Not among the packages that are made: tools have their own versions of the same libraries.
        run("cargo", "install", "--quiet", "--locked", name, "--version", tool_version, *features, "--root", TOOLS,
            CARGO_TARGET_DIR=str(TARGET / "tools"))
    return path


def pip_install(*packages):
    run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
