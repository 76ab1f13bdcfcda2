"""Cells of a stored lesson: run them, or read a table in them."""

from functools import cache
from pathlib import Path
from typing import Any

import nbformat

COURSE = Path(__file__).parents[2]


@cache
def _cells(lesson: str) -> dict[str, str]:
    notebook = nbformat.read(COURSE / "notebooks" / f"{lesson}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in notebook.cells}


def run(lesson: str, *ids: str) -> dict[str, Any]:
    """What these code cells define, run one after the other, the lesson's setup before them."""
    names: dict[str, Any] = {}
    for cell in ("setup", *ids):
        exec(compile(_cells(lesson)[cell], f"{lesson}, {cell}", "exec"), names)
    return names


def rows(lesson: str, cell: str) -> list[dict[str, str]]:
    """The table in a text cell: a row is {heading: entry}, without the signs for code."""
    lines = [line for line in _cells(lesson)[cell].split("\n") if line.startswith("|")]
    head, _, *entries = [
        [part.strip().replace("`", "") for part in line.strip("| ").split(" |")] for line in lines
    ]
    return [dict(zip(head, entry, strict=True)) for entry in entries]
