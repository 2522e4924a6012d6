"""The programs in documents and notebooks run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import meromorph

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = ["docs/PYTHON.md", "docs/CURVES_IN_PYTHON.md", "crates/python/README.md"]
NOTEBOOKS = sorted((ROOT / "examples" / "python").glob("*.ipynb"))
MODULES = [info.name for info in pkgutil.iter_modules(meromorph.__path__) if info.name not in {"_engine", "_browser"}]

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_programs_of_a_document_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    programs = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert programs
    space: dict = {}
    for number, program in enumerate(programs, 1):
        if program.startswith(">>>"):
            session = doctest.DocTestParser().get_doctest(program, space, f"{name}, program {number}", name, 0)
            said: list[str] = []
            failed, _ = doctest.DocTestRunner().run(session, out=said.append, clear_globs=False)
            assert failed == 0, "".join(said)
            space |= session.globs
        else:
            exec(compile(program, f"{name}, program {number}", "exec"), space)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"meromorph.{name}")
    found = doctest.testmod(module)
    assert found.failed == 0


def test_the_package_has_an_example():
    assert doctest.testmod(meromorph).attempted > 2


@pytest.mark.parametrize("name", meromorph.__all__)
def test_every_public_name_has_a_document_and_an_example(name):
    value = getattr(meromorph, name)
    if isinstance(value, str):
        return
    assert value.__doc__
    examples = doctest.DocTestFinder(recurse=True).find(value, name)
    if not isinstance(value, type) or name.startswith("Mero"):
        assert any(example.examples for example in examples), f"{name} has no example that runs"


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["curve", "images", "memory", "pole", "table"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    runner = Path(__file__).resolve().parents[1] / "notebooks.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", runner, path], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
