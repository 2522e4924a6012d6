"""Runs notebooks: all their cells, in one namespace each, without Jupyter.

`python notebooks.py [FILE …]` runs those of examples/python and fails where a cell does; with `--write` it also stores
what each cell shows.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "python"


def run(path: Path) -> list[list[dict[str, Any]]]:
    """What each cell of code shows, in the format of notebooks. Raises what a cell raises, with its number."""
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    space: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    with contextlib.chdir(path.parent):
        for number, cell in enumerate(cells, 1):
            try:
                shown.append(cell_shows("".join(cell["source"]), space, f"{path.name}, cell {number}"))
            except Exception as error:
                raise RuntimeError(f"{path.name}, cell {number}: {type(error).__name__}: {error}") from error
    return shown


def cell_shows(source: str, space: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """What a cell prints, and its last expression as text and HTML."""
    tree = ast.parse(source, name)
    last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, outputs = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        value = eval(compile(last, name, "eval"), space) if last else None
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        html = getattr(value, "_repr_html_", lambda: None)()
        if html:
            data["text/html"] = html.splitlines(True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def write(path: Path, shown: list[list[dict[str, Any]]]) -> None:
    """Stores what the cells show."""
    notebook = json.loads(path.read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, shown, strict=True), 1):
        cell["execution_count"] = number
        cell["outputs"] = [
            output | ({"execution_count": number} if "execution_count" in output else {}) for output in outputs
        ]
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main(arguments: list[str]) -> None:
    """The command."""
    is_written = "--write" in arguments
    paths = [Path(name) for name in arguments if name != "--write"] or sorted(FOLDER.glob("*.ipynb"))
    for path in paths:
        started = time.monotonic()
        shown = run(path)
        if is_written:
            write(path, shown)
        print(f"{os.path.relpath(path)}: {len(shown)} cells in {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
