"""Files that are whole, and cells that a spreadsheet does not run."""

import contextlib
import csv
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

FORMULA = "=+-@\t\r"
"""A cell that begins with one of these is run by a spreadsheet, or breaks out of its cell."""

DRAFTS = ".*.tmp"
"""The names of files that are still being written."""


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with whole_file(path) as file:
        file.write(text)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A file to write to that takes its place when all is on the disk: no crash ever leaves half of it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("w", newline="", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def no_formula(value: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, str) and value and value[0] in FORMULA:
        return "'" + value
    return f"{value:g}" if isinstance(value, float) else value


@contextlib.contextmanager
def whole_table(path: Path, columns: Iterable[str]) -> Iterator["Table"]:
    """A CSV file to write rows to, whole or not at all."""
    with whole_file(path) as file:
        table = Table(file)
        table.add(columns)
        yield table


class Table:
    """Rows of CSV, without formulas."""

    def __init__(self, file: TextIO) -> None:
        self.writer = csv.writer(file)

    def add(self, cells: Iterable[object]) -> None:
        """Write one row."""
        self.writer.writerow(map(no_formula, cells))
