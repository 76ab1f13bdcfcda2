"""The cells that ran in this notebook: which one defined a function, and whether that is what the learner now sees.

A grader runs the answer cells, those with a line `# exercise: NAME`, and of the others only definitions. What is found
out here keeps `check` from saying another thing than the grader: values that other cells have computed, older versions,
edits that were not run.
"""

import ast
import json
import os
import symtable
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from sdpa_helpers.checking.code.answer_cells import (
    MAX_ANSWER_CHARACTERS,
    answered_in,
    answers_in,
    is_untouched,
)
from sdpa_helpers.checking.code.own_definitions import GIVEN, Counted, own_definitions

SETUP = "import numpy as np\n\nfrom sdpa_helpers import check, hint, ladder, progress, solution"
"""The first cell of an exercise notebook, as it is handed out."""

MAX_CELLS = 500
"""How far back it is read."""
MAX_FILE_BYTES = 8 << 20


@dataclass(frozen=True)
class Saved:
    """An answer cell as it stands in the notebook's file."""

    source: str = ""
    number: int | None = None
    """Of its last run, as the file has it; None for a cell that was running, or never did."""


_stood: dict[int, dict[str, Saved]] = {}  # number of a run -> its answers as the file had them when it began


@dataclass(frozen=True)
class Cell:
    """A cell that was run."""

    number: int
    """As the notebook shows it: In [number]."""
    source: str
    """As the learner wrote it."""

    @property
    def answers(self) -> list[str]:
        """The exercises that it answers."""
        return answers_in(self.source)


@dataclass(frozen=True)
class Notebook:
    """What was run here so far."""

    shell: Any = field(repr=False)
    cells: tuple[Cell, ...]
    """In the order in which they ran."""

    @property
    def namespace(self) -> dict[str, Any]:
        """What the notebook's names mean now."""
        return self.shell.user_ns

    @property
    def file(self) -> str:
        """Where it is stored, as Jupyter or VS Code tell; "" where nobody tells."""
        return os.environ.get("JPY_SESSION_NAME") or str(self.namespace.get("__vsc_ipynb_file__") or "")

    def defining(self, function: Callable, name: str) -> Cell | None:
        """The cell that made the function that is called `name` now."""
        files = getattr(getattr(self.shell, "compile", None), "_filename_map", {})
        number = files.get(getattr(getattr(function, "__code__", None), "co_filename", None))
        own = next((cell for cell in self.cells if cell.number == number), None)
        if own is not None and name in self._bound(own):
            return own
        return self.binding(name) or own

    def binding(self, name: str) -> Cell | None:
        """The newest cell that gives something this name."""
        return next((c for c in reversed(self.cells) if name in c.source and name in self._bound(c)), None)

    def newest_answer(self, name: str) -> Cell | None:
        """The cell with the line `# exercise: name` and an answer that was run last, whatever became of it."""
        return next((cell for cell in reversed(self.cells) if name in cell.answers), None)

    def syntax_error(self, cell: Cell) -> SyntaxError | None:
        """Why a cell cannot be run at all, or None."""
        try:
            ast.parse(self.python(cell))
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError) as error:
            return SyntaxError(str(error))
        return None

    def python(self, cell: Cell) -> str:
        """A cell's text without IPython's own syntax; SyntaxError when there is no such text."""
        first, line, rest = cell.source.lstrip().partition("\n")
        return _transformed(
            self.shell, line + rest if first.startswith("%%") else cell.source
        )  # as of %%time

    def _bound(self, cell: Cell) -> set[str]:
        return _names(self, cell).bound


def this_notebook() -> Notebook | None:
    """The notebook in which this is called; None in a script."""
    try:
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
    except ImportError:
        return None
    history = getattr(getattr(shell, "history_manager", None), "input_hist_raw", None)
    if history is None:
        return None
    first = max(1, len(history) - MAX_CELLS)
    cells = (Cell(n, history[n]) for n in range(first, len(history)))
    return Notebook(shell, tuple(cell for cell in cells if len(cell.source) <= MAX_ANSWER_CHARACTERS))


def watch() -> None:
    """Note from now on what the notebook's file has of an answer when that is run: what changes later may be newer."""
    notebook = this_notebook()
    if notebook is not None and not getattr(notebook.shell, _WATCHED, False):
        setattr(notebook.shell, _WATCHED, True)
        notebook.shell.events.register("pre_run_cell", lambda info: _note(notebook, info.raw_cell))


_WATCHED = "_sdpa_notes_what_stood"


def _note(notebook: Notebook, source: str) -> None:
    if names := answers_in(source or ""):
        number = len(
            notebook.shell.history_manager.input_hist_raw
        )  # versions differ in when they count a run
        _stood[number] = {name: _saved_answer(notebook, name) for name in names}


# ---- is this what the learner sees? -----------------------------------------------------------------------


def out_of_date(notebook: Notebook, name: str, cell: Cell) -> str:
    """Why the function of `cell` is not what the learner sees now, and what was checked instead; else ""."""
    line = f"`# exercise: {name}`"
    newest = notebook.newest_answer(name)
    if newest is not None and newest.number > cell.number:
        error = notebook.syntax_error(newest)
        what = f"has a SyntaxError in line {error.lineno}" if error else f"did not define `{name}`"
        return (
            f"Your newest cell {line}, In [{newest.number}], {what}: this is the verdict on the older version "
            f"from In [{cell.number}], and its points."
        )
    saved = _saved_answer(notebook, name)
    if _is_newer(saved, _stood.get(cell.number, {}).get(name), cell):
        return (
            f"The cell {line} was changed and not run again: this is the verdict on what ran as In [{cell.number}], "
            "and its points."
        )
    return ""


def _is_newer(saved: Saved, stood: Saved | None, ran: Cell) -> bool:
    """Whether what the file has of an answer was changed after it ran.

    When it was saved says nothing: a save that began before the run may end after it. But such a file does not know of
    the run yet; one that has the run's number and another text is newer, unless it had both when the run began, from an
    earlier kernel.
    """
    return (
        stood is not None
        and saved != stood
        and saved.number == ran.number
        and saved.source.strip() != ran.source.strip()
    )


def _saved_answer(notebook: Notebook, name: str) -> Saved:
    """The answer in the notebook's file; an empty one where there is none."""
    path = notebook.file
    try:
        if not path or Path(path).stat().st_size > MAX_FILE_BYTES:
            return Saved()
        cells = json.loads(Path(path).read_bytes())["cells"]
        every = [_as_saved(cell) for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Saved()
    found = [saved for saved in every if name in answers_in(saved.source)]
    return ([saved for saved in found if not is_untouched(saved.source)] or found or [Saved()])[-1]


def _as_saved(cell: Any) -> Saved:
    return Saved("".join(cell["source"]), cell.get("execution_count"))


# ---- what does it need that a grader does not have? -------------------------------------------------------


@dataclass(frozen=True)
class Elsewhere:
    """Names that an answer takes from elsewhere, and that a grader does not have."""

    names: tuple[str, ...]
    at_once: bool
    """Whether the answer cell itself stops without them, not only the function when it is called."""


def elsewhere(notebook: Notebook, name: str, cell: Cell, earlier: list[str]) -> Elsewhere:
    """What the answer in `cell` uses and a grader does not have. earlier: the exercises before it in their notebook."""
    if not any(answered_in(c.source) or c.source.strip() == SETUP for c in notebook.cells):
        return Elsewhere((), at_once=False)  # no exercise notebook
    marked = notebook.newest_answer(name)
    if marked is not None and is_untouched(marked.source) and not answered_in(cell.source):
        marked = None  # its stub: a function below it counts
    if name not in cell.answers and marked is not None and marked.number < cell.number:
        return Elsewhere((name,), at_once=True)
    own = _names(notebook, cell)
    cells = [found for other in earlier if (found := notebook.newest_answer(other)) and found is not cell]
    counted = _counted(notebook, name, cell)
    before = [*(_names(notebook, other) for other in cells), *(names_in(part.text) for part in counted)]
    known = GIVEN | set(getattr(notebook.shell, "user_ns_hidden", ())) | own.bound
    known = known.union(*(other.bound for other in before), *(_names_of(part.stars) for part in counted))
    needed = own.at_once | own.later
    while more := set[str]().union(*(other.later for other in before if needed & other.bound)) - needed:
        needed |= more
    here = set(notebook.namespace) - known
    at_once = own.at_once & here
    return Elsewhere(tuple(sorted(at_once or needed & here)), at_once=bool(at_once))


def _counted(notebook: Notebook, name: str, answer: Cell) -> tuple[Counted, ...]:
    """What a grader takes of the cells that are no answers."""
    answered = {name}.union(*(cell.answers for cell in notebook.cells))
    others = [
        c.source for c in notebook.cells if not c.answers and c is not answer and c.source.strip() != SETUP
    ]
    return own_definitions(tuple(dict.fromkeys(reversed(others)))[::-1], answered)


def _names_of(modules: tuple[str, ...]) -> set[str]:
    """The names that `from module import *` gives."""
    found = [vars(sys.modules[name]) for name in modules if name in sys.modules]
    return {str(name) for space in found for name in space.get("__all__", ()) or _public(space)}


def _public(space: dict[str, Any]) -> list[str]:
    return [name for name in space if not name.startswith("_")]


def where_is(notebook: Notebook, name: str) -> str:
    """ " (In [4])" for a name that a cell gave; "" where none is known."""
    found = notebook.binding(name)
    return f" (In [{found.number}])" if found else ""


@lru_cache(maxsize=1024)
def _transformed(shell: Any, source: str) -> str:
    return shell.transform_cell(source)


@dataclass(frozen=True)
class Names:
    """What a text has to do with the names of a notebook."""

    bound: set[str]
    """What a cell defines for the whole notebook."""
    at_once: set[str]
    """Names of the notebook that it needs when it is run."""
    later: set[str]
    """Names of the notebook that its functions need when they are called."""


def _names(notebook: Notebook, cell: Cell) -> Names:
    try:
        return names_in(notebook.python(cell))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names(set(), set(), set())


def names_in(text: str) -> Names:
    """Of Python code; nothing for what is none."""
    try:
        top = symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names(set(), set(), set())
    symbols = top.get_symbols()
    bound = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported() or s.is_namespace()}
    at_once = {s.get_name() for s in symbols if s.is_referenced()} - bound
    later: set[str] = set()
    for table in _below(top):
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                later.add(symbol.get_name())
            elif symbol.is_declared_global():
                bound.add(symbol.get_name())
    return Names(bound, at_once, later - bound)


def _below(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _below(child)
