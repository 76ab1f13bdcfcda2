"""Cells without Jupyter, for a page: as much of its shell as the engine asks for, and the verdict that goes back."""

import __future__

import ast
import linecache
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sdpa_helpers.checking.answers.printed import kept
from sdpa_helpers.course.notebook_cells import SETUP, Cell, Notebook

MOST_PRINTED = 20_000
"""Characters of what an answer prints, and of a value."""
NOT_IN_A_PAGE = (
    "this page has NumPy and this course, and draws no plots. Your notebook does, on your machine."
)


@dataclass(frozen=True)
class ShownVerdict:
    """What a page shows of a check."""

    card: str
    """HTML with its own style; "" where the answer did not run."""
    text: str
    """The same as plain text, or what stopped the answer."""
    points: float = 0.0
    of: float = 0.0
    passed: bool = False
    mistake: str = ""
    """The name of the mistake that explains all failures, or ""."""
    printed: str = ""
    """What the answer's cell printed, cut after MOST_PRINTED characters."""
    answer: str = ""
    """Of a check that failed for no known reason: the key that goes into the log."""


@dataclass(frozen=True)
class Ran:
    """What came of a cell."""

    printed: str
    problem: str
    """The error that stopped it, with the learner's own lines; "" where it ran."""
    value: str = ""
    """What its last line is, where that was asked for and is something."""


class _Files:
    """Where `Notebook` looks up which cell a function is from."""

    def __init__(self) -> None:
        self._filename_map: dict[str, int] = {}


class Shell:
    """As much of IPython's shell as `Notebook` asks for."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"__name__": "__main__"}
        self.user_ns_hidden: tuple[str, ...] = ()
        self.compile = _Files()
        self.cells: list[Cell] = []
        self.transform_cell: Callable[[str], str] = str

    @property
    def notebook(self) -> Notebook:
        return Notebook(self, tuple(self.cells))

    def run(self, source: str, shows: bool = False) -> Ran:
        """Run a cell; nothing it raises comes out. shows: its last expression's value is asked for too."""
        number = len(self.cells) + 1
        self.cells.append(Cell(number, source))
        file = f"<your cell {number}>"
        self.compile._filename_map[file] = number
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        with kept(MOST_PRINTED) as printed:
            value, problem = _outcome(source, file, self.user_ns, shows)
        return Ran(printed.text, problem, value)


def run_alone(source: str, ready: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """(what code defines, the error that stopped it or ""); `np`, `math` and what is `ready` need no import there."""
    shell = Shell()
    shell.run(SETUP)
    shell.run("import math")
    shell.user_ns |= ready
    return shell.user_ns, shell.run(source).problem


def _outcome(source: str, file: str, space: dict[str, Any], shows: bool) -> tuple[str, str]:
    """(the last expression's value if it is to be shown, the error that stopped the cell); "" where there is none."""
    try:
        tree = ast.parse(source, file)
        last = tree.body[-1] if shows and tree.body else None
        if not isinstance(last, ast.Expr):
            exec(
                compile(tree, file, "exec", __future__.annotations.compiler_flag), space
            )  # their names may be missing
            return "", ""
        exec(compile(ast.Module(tree.body[:-1], []), file, "exec"), space)
        value = eval(compile(ast.Expression(last.value), file, "eval"), space)
        return "" if value is None else _cut(repr(value)), ""
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return "", _told(error, file)


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= MOST_PRINTED
        else f"{text[:MOST_PRINTED]}\n… cut after {MOST_PRINTED:,} characters"
    )


def _told(error: BaseException, file: str) -> str:
    """An error with the lines of the learner's cell that led to it, and no lines of ours."""
    theirs = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    lines = [f"line {frame.lineno}: {frame.line}" for frame in theirs[-5:]]
    if isinstance(error, SyntaxError) and error.filename == file:  # Python's own words name the cell's file
        told = f"{type(error).__name__}: {error.msg}"
        return "\n".join([*lines, f"line {error.lineno}: {(error.text or '').strip()}", told])[:MOST_PRINTED]
    if isinstance(error, ModuleNotFoundError) and error.name:  # Pyodide's own words are for who builds a page
        lines.append(f"ModuleNotFoundError: no {error.name.partition('.')[0]} here: {NOT_IN_A_PAGE}")
    else:
        lines += [line.rstrip() for line in traceback.format_exception_only(error)]
    return "\n".join(lines)[:MOST_PRINTED]
