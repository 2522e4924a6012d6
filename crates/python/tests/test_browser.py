"""The engine in Pyodide has what the native engine has; `browser/test.sh` runs it."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "meromorph"


def interface(*files: Path) -> dict[str, set[str]]:
    """The public names of files, and of each class its own."""
    found: dict[str, set[str]] = {}
    for node in (node for file in files for node in ast.parse(file.read_text("utf-8")).body):
        if isinstance(node, ast.ClassDef):
            found[node.name] = {name for inner in node.body for name in names(inner)}
        else:
            found |= {name: set() for name in names(node)}
    return {name: {own for own in owns if own[0] != "_"} for name, owns in found.items() if name[0] != "_"}


def names(node: ast.stmt) -> list[str]:
    """What a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_the_engine_in_pyodide_has_every_name_of_the_native_one():
    native, browser = interface(PACKAGE / "_engine.pyi"), interface(*(PACKAGE / "_browser").glob("*.py"))
    (listed,) = (
        ast.literal_eval(node.value)
        for node in ast.parse((PACKAGE / "_browser" / "__init__.py").read_text("utf-8")).body
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"
    )
    assert set(listed) == set(native)
    # A class that is a name for what is absent has no methods.
    classes = [name for name in native if native[name] and browser.get(name)]
    assert classes == ["Table", "Model", "Columns", "SavedFit"]
    assert {name: native[name] - browser[name] for name in classes} == {name: set() for name in classes}
