"""Cells of a stored lesson: run them, or read a table in them."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import numpy as np

COURSE = Path(__file__).parents[2]


@cache
def _cells(lesson: str) -> dict[str, str]:
    notebook = nbformat.read(COURSE / "notebooks" / f"{lesson}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in notebook.cells}


def setup(lesson: str) -> str:
    """The cell with what the others use: one of its own, or the first of the lesson's short."""
    imports = (cell for cell, source in _cells(lesson).items() if source.startswith("import numpy as np"))
    return "setup" if "setup" in _cells(lesson) else next(imports)


def run(lesson: str, *ids: str) -> dict[str, Any]:
    """What these code cells define, run one after the other, the lesson's setup before them."""
    names: dict[str, Any] = {}
    for cell in (setup(lesson), *ids):
        exec(compile(_cells(lesson)[cell], f"{lesson}, {cell}", "exec"), names)
    return names


def functions(lesson: str, **given: Any) -> dict[str, Any]:
    """Every function that the lesson defines at the top of a cell, by name; `given` is what else they use."""
    names: dict[str, Any] = {"np": np, **given}
    for source in _cells(lesson).values():
        try:
            body = ast.parse(source).body
        except SyntaxError:  # a text
            continue
        for node in body:
            if isinstance(node, ast.FunctionDef):
                exec(ast.unparse(node), names)
    return names


def source_of(lesson: str, cell: str) -> str:
    """What stands in a cell."""
    return _cells(lesson)[cell]


def rows(lesson: str, cell: str) -> list[dict[str, str]]:
    """The table in a text cell: a row is {heading: entry}, without the signs for code."""
    lines = [line for line in _cells(lesson)[cell].split("\n") if line.startswith("|")]
    head, _, *entries = [
        [part.strip().replace("`", "") for part in line.strip("| ").split(" |")] for line in lines
    ]
    return [dict(zip(head, entry, strict=True)) for entry in entries]
