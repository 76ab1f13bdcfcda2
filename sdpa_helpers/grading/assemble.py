"""Lay answers into the pristine notebook and put hidden check cells behind them.

The assembled notebook holds inputs, never expected values: it is what the learner's kernel gets to see.
"""

import ast
import inspect
import re
import secrets
import textwrap
from collections.abc import Collection
from functools import cache, lru_cache

import nbformat
from nbformat import NotebookNode

from sdpa_helpers.attention import numpy_formula
from sdpa_helpers.checking.answers.carried import question
from sdpa_helpers.checking.code.answer_cells import ANSWER_LINE
from sdpa_helpers.checking.exercise import COURSE_SOFTMAX, Exercise
from sdpa_helpers.checking.judging.judge import Truth, with_own_calls
from sdpa_helpers.course.exercise_notebook import exercise_notebook
from sdpa_helpers.course.registry import LESSONS, exercises_of

ROLE = "sdpa"
"""Cell metadata key: {"role": "setup" | "own" | "answer" | "check", "exercise", "case", "memory"}."""

_CHECK_LINE = re.compile(r"^check\((\w+)\)$")


@cache
def pristine_notebook(name: str) -> NotebookNode:
    """The exercise notebook as it is handed out, made once by each process; not to be changed."""
    return exercise_notebook(name)


@cache
def pristine_text(name: str) -> str:
    """The same as it is stored: changes whenever what is handed out does."""
    return nbformat.v4.writes(pristine_notebook(name))


def answer_cells(pristine: NotebookNode) -> dict[str, str]:
    """The untouched stubs of an exercise notebook, by exercise."""
    return {name: cell.source for cell in pristine.cells if (name := exercise_of(cell))}


def exercise_of(cell: NotebookNode) -> str:
    """The exercise that an answer cell belongs to, or ""."""
    match = ANSWER_LINE.match(cell.source.split("\n")[0]) if cell.cell_type == "code" else None
    return match.group(1) if match else ""


def assemble(
    pristine: NotebookNode,
    answers: dict[str, str],
    truths: dict[str, tuple[Truth, ...]],
    checked: list[str],
    own: tuple[str, ...] = (),
) -> NotebookNode:
    """The notebook to run: setup cells as handed out, the learner's answers, hidden checks for `checked`.

    own: the learner's definitions beside the answers, which come before all of these. The course's softmax is there
    where one of the exercises allows it.
    """
    metadata = NotebookNode(kernelspec=NotebookNode(name="python3", display_name="Python 3"))
    notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata=metadata, cells=[])
    if any(COURSE_SOFTMAX in exercise.allows for exercise in _exercises(truths)):
        notebook.cells.append(_cell(the_softmax(), role="setup"))
    for cell in pristine.cells:
        if cell.cell_type != "code":
            continue
        name = exercise_of(cell)
        if name and name in answers:
            notebook.cells.append(_cell(answers[name], role="answer", exercise=name))
        elif "setup" in cell.metadata.get("tags", []):
            notebook.cells.append(_cell(cell.source, role="setup"))
            notebook.cells += [_cell(text, role="own") for text in own]
        elif (match := _CHECK_LINE.match(cell.source.strip())) and match.group(1) in checked:
            asked = with_own_calls(truths[match.group(1)])
            notebook.cells += [_hidden_check(match.group(1), truth) for truth in asked]
    return notebook


def _cell(source: str, **role: str | bool) -> NotebookNode:
    # As nbformat's own new_code_cell, which would compare every cell with a schema.
    metadata = NotebookNode({ROLE: NotebookNode(role)})
    kind = {"cell_type": "code", "id": secrets.token_hex(4), "execution_count": None}
    return NotebookNode(source=source, metadata=metadata, outputs=[], **kind)


def _exercises(names: Collection[str]) -> list[Exercise]:
    """The exercises with these names, all of one lesson; later lessons are not imported for it."""
    lessons = (exercises_of(lesson) for lesson in LESSONS)
    found = ([exercise for exercise in each if exercise.name in names] for each in lessons)
    return next(filter(None, found), [])


def _hidden_check(exercise: str, truth: Truth) -> NotebookNode:
    role = {"role": "check", "exercise": exercise, "case": truth.case.name, "memory": truth.watch.memory}
    return _cell(_question(exercise, truth.packed, truth.watched), **role)


_question = lru_cache(maxsize=1 << 10)(question)
"""What asks for one case: the same text in all notebooks of a run."""


@cache
def the_softmax() -> str:
    """A cell that makes `sdpa_helpers.softmax`: the formula's own source, and what the package says of its input."""
    (formula,) = ast.parse(inspect.getsource(numpy_formula.softmax)).body
    assert isinstance(formula, ast.FunctionDef)
    formula.returns = None
    for argument in formula.args.args:
        argument.annotation = None
    return _SOFTMAX.replace("    FORMULA", textwrap.indent(ast.unparse(formula), "    "))


_SOFTMAX = """\
def _():
    import numpy as np
    import sdpa_helpers

    FORMULA

    def checked(x, axis=-1):
        if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
            raise TypeError("x must be a NumPy array of floats: np.array(x, dtype=np.float64) makes one")
        working = np.result_type(x.dtype, np.float32)
        return softmax(np.asarray(x, dtype=working), axis).astype(x.dtype, copy=False)

    checked.__name__ = checked.__qualname__ = "softmax"
    sdpa_helpers.softmax = checked


_()
del _
"""
