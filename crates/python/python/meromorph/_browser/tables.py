"""Tables that cross to JavaScript as typed arrays, or as the bytes of a file."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from typing import Any

import js
import numpy as np
from pyodide.ffi import to_js

from .bridge import byte_array, engine_errors, script, typed_array, waiting
from .options import camel_options

MISSING_CODE = 0xFFFFFFFF

#: A table of these columns alone is taken for arrays without names by the npm package.
ARRAYS = {"x", "y", "bottom"}


class Table:
    """A table: columns of numbers and of texts, or a file."""

    def __init__(self, source: str, reading: dict[str, Any]):
        self.source = source
        self.reading = camel_options("reading", reading, "reading")
        #: Names of columns whose texts are categories, also those that could be numbers.
        self.categories: list[str] = []
        self._columns: dict[str, np.ndarray | list[str]] = {}
        self._file: bytes | None = None
        self._about: dict[str, Any] | None = None

    @staticmethod
    def of(source: str, columns: Sequence[tuple[str, Any]], text: bytes | None, reading: dict[str, Any]) -> Table:
        """A table of columns by name. A column that is None is the one of this name in `text`, a table as CSV."""
        table = Table(source, reading)
        written = _written(text)
        for name, cells in columns:
            if name in table._columns:
                raise ValueError(f'{source}: got two columns "{name}", expected different names')
            if isinstance(cells, tuple):
                table.categories.append(name)
            table._columns[name] = written[name] if cells is None else _column(name, cells)
        lengths = {name: len(cells) for name, cells in table._columns.items()}
        for name, length in lengths.items():
            first, rows = next(iter(lengths.items()))
            if length != rows:
                raise ValueError(f'{source}: column "{name}" has {length} rows, column "{first}" has {rows}')
        return table

    @staticmethod
    def read(path: str, reading: dict[str, Any]) -> Table:
        """The table of a file in the file system of Pyodide."""
        table = Table(os.path.basename(path), reading)
        with open(path, "rb") as file:
            table._file = file.read()
        return table

    def has_names(self) -> bool:
        """Whether the names of the columns are known without reading a file."""
        return self._file is None

    def names(self) -> list[str]:
        """The names of the columns."""
        return (
            list(self._columns) if self._file is None else [column["name"] for column in self._described()["columns"]]
        )

    def is_numeric(self) -> list[bool]:
        """Whether each column holds numbers."""
        if all(isinstance(cells, np.ndarray) for cells in self._columns.values()) and self._file is None:
            return [True] * len(self._columns)
        return [
            column["isNumeric"] and column["name"] not in self.categories for column in self._described()["columns"]
        ]

    def rows(self) -> int:
        """The number of rows."""
        if self._file is None:
            return len(next(iter(self._columns.values()), ()))
        return self._described()["rows"]

    def notes(self) -> list[str]:
        """What a person should know about how a file was read: the run has it."""
        return []

    def columns(self) -> dict[str, np.ndarray | list[str]]:
        """The columns by name. Raises NotImplementedError for a file, which only runs and predictions read."""
        if self._file is not None:
            raise NotImplementedError(
                f"{self.source}: the engine in the browser fits columns, not files: expected pandas.read_csv"
            )
        return self._columns

    def data(self) -> Any:
        """The table as JavaScript has it."""
        if self._file is not None:
            return js.File.new([byte_array(self._file)], self.source)
        if self._is_of_numbers():
            return js_object({name: typed_array(np.asarray(cells)) for name, cells in self._columns.items()})
        return js.File.new([byte_array(self._csv())], self.source)

    def how(self) -> dict[str, Any]:
        """How the table is written that `data` gives."""
        if self._file is not None or self._is_of_numbers():
            return self.reading
        return {**self.reading, "header": True, "delimiter": ",", "decimal": self._decimal()}

    def _is_of_numbers(self) -> bool:
        return not ARRAYS.issuperset(self._columns) and all(
            isinstance(cells, np.ndarray) for cells in self._columns.values()
        )

    def _decimal(self) -> str:
        return self.reading.get("decimal", ".")

    def _csv(self) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self._columns)
        writer.writerows(zip(*(_cells(cells, self._decimal()) for cells in self._columns.values()), strict=True))
        return out.getvalue().encode()

    def _described(self) -> dict[str, Any]:
        if self._about is None:
            self._about = json.loads(_describe(self.data(), self.how()))
        return self._about


@waiting("Model.train_async, which needs no description of the table")
async def _describe(data: Any, how: dict[str, Any]) -> str:
    with engine_errors():
        where = js_object({**how, "worker": False})
        return js.JSON.stringify(await script("engine").describe(data, where))


def js_object(fields: dict[str, Any]) -> Any:
    """A plain object of JavaScript."""
    return to_js(fields, dict_converter=js.Object.fromEntries)


def _written(text: bytes | None) -> dict[str, list[str]]:
    if text is None:
        return {}
    names, *rows = csv.reader(io.StringIO(text.decode(), newline=""))
    return {name: [row[at] if at < len(row) else "" for row in rows] for at, name in enumerate(names)}


def _column(name: str, cells: Any) -> np.ndarray | list[str]:
    if isinstance(cells, tuple):
        codes, levels = cells
        return ["" if code == MISSING_CODE else levels[code] for code in codes.tolist()]
    if cells.dtype == np.float32:
        # The number that the shortest text of a number in single precision means: what a file has of it.
        return cells.astype(str).astype(np.float64)
    if cells.dtype == np.float64:
        return np.ascontiguousarray(cells)
    raise TypeError(f'column "{name}": got an array of {cells.dtype}, expected an array of numbers')


def _cells(cells: np.ndarray | list[str], decimal: str) -> list[str]:
    if isinstance(cells, list):
        return cells
    texts = ["" if cell != cell else repr(cell) for cell in cells.tolist()]
    return texts if decimal == "." else [text.replace(".", decimal) for text in texts]
