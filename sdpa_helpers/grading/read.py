"""Read what was handed in. All that is taken from a notebook is the source text of its answer cells."""

import ast
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from sdpa_helpers.checking.answer_cells import MAX_ANSWER_CHARACTERS, answered_in, is_untouched
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.rules import dynamic_calls, forbidden_in, reaches_for_the_course
from sdpa_helpers.grading.result import FileHandedIn, Flag, LmsIdentity

MAX_NOTEBOOK_BYTES = 32 << 20
MAX_CELLS = 5000
MAX_OTHER_CHARACTERS = 500_000
"""How much is read beside the answers, for the names that they take from there."""

_MARKERS = re.compile(r"^\s*#\s*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)", re.MULTILINE)


class Unreadable(Exception):
    """A notebook that cannot be graded; its text tells the learner why, and what to do."""


@dataclass(frozen=True)
class Submission:
    """One student's file for one notebook."""

    student: str
    notebook: str
    path: Path | None
    """None when nothing was handed in."""
    flags: tuple[Flag, ...] = ()
    lms: LmsIdentity | None = None
    """Who the student is in a learning system, when the file's name says so."""
    handed_in: tuple[FileHandedIn, ...] = ()
    """Every file that was handed in for this notebook."""
    late_penalty: float = 0.0
    """The share of its points that being late costs, from 0 to 1."""
    why_missing: str = ""
    """Where there is a file and it is not to be graded: why, for the learner."""


@dataclass(frozen=True)
class Lifted:
    """The answers in code of a notebook."""

    answers: dict[str, str]
    """By exercise."""
    flags: tuple[Flag, ...]
    """What looked odd on the way."""
    forbidden: dict[str, tuple[str, ...]]
    """By exercise: what its answer uses and must not."""


def notebook_of(filename: str, notebooks: list[str]) -> str | None:
    """Which notebook a file is: also "01_x (1).ipynb", "01_x-Copy1.ipynb" and "Copy of 01_x.ipynb"."""
    stem = filename.removesuffix(".ipynb")
    return next((n for n in notebooks if n == stem), next((n for n in notebooks if n in stem), None))


# ---- reading ----------------------------------------------------------------------------------------------


def read_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook as dicts with cell_type, source and metadata; raises Unreadable."""
    size = path.stat().st_size
    if size > MAX_NOTEBOOK_BYTES:
        limit = MAX_NOTEBOOK_BYTES >> 20
        raise Unreadable(
            f"The file has {size >> 20} MiB; at most {limit} are read. Clear all outputs and save it again."
        )
    if size == 0:
        raise Unreadable("The file is empty. Save the notebook again and hand in that file.")
    try:
        data = json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable(
            "The file is not text in UTF-8, so it is no notebook. Hand in the .ipynb file itself."
        ) from None
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"The file is not valid JSON (line {error.lineno}: {error.msg}), so it is no notebook. It may have been "
            "cut off or edited by hand: open it in JupyterLab, save it, and hand in that file."
        ) from None
    except (RecursionError, ValueError, MemoryError):
        raise Unreadable("The file's JSON is nested too deeply or holds numbers that are too long.") from None
    cells = _cells_of(data)
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells; at most {MAX_CELLS} are read.")
    return [_clean(cell) for cell in cells if isinstance(cell, dict)]


def _cells_of(data: Any) -> list[Any]:
    if isinstance(data, dict) and isinstance(data.get("worksheets"), list):  # nbformat 3 and older
        try:
            data = nbformat.convert(nbformat.from_dict(data), 4)
        except Exception as error:
            raise Unreadable(
                f"The notebook is in an old format that could not be converted ({error})."
            ) from None
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise Unreadable(
            "The file is JSON but no notebook: it has no list of cells. Hand in the .ipynb file."
        )
    return data["cells"]


def _clean(cell: dict) -> dict[str, Any]:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    metadata = cell.get("metadata")
    return {
        "cell_type": cell.get("cell_type"),
        "source": source.replace("\r\n", "\n").replace("\r", "\n") if isinstance(source, str) else "",
        "metadata": metadata if isinstance(metadata, dict) else {},
    }


# ---- lifting ----------------------------------------------------------------------------------------------


def lift(cells: list[dict[str, Any]], exercises: tuple[Exercise, ...], stubs: dict[str, str]) -> Lifted:
    """Take the answers out of a notebook's cells. `stubs`: the answer cells as they were handed out."""
    code = [c["source"] for c in cells if c["cell_type"] == "code"]
    flags: list[Flag] = []
    answers = {}
    for exercise in exercises:
        source = _answer_to(exercise.name, code, stubs.get(exercise.name, ""), flags)
        if source is not None:
            answers[exercise.name] = source
    flags += _edited_checks(cells)
    forbidden = {}
    for exercise in exercises:
        names = forbidden_in(
            exercise, answers.get(exercise.name, ""), others=_others(exercise.name, answers, code)
        )
        if names:
            forbidden[exercise.name] = names
            reaches = any(map(reaches_for_the_course, names))
            what = (
                "belongs to the course, not into an answer" if reaches else "is not allowed in this exercise"
            )
            flags.append(Flag("forbidden-call", f"{exercise.name}: {', '.join(names)} {what}"))
        elif hidden := dynamic_calls(answers.get(exercise.name, "")):
            text = (
                f"{exercise.name}: {', '.join(hidden)}: what this uses cannot be told by reading; please look"
            )
            flags.append(Flag("dynamic-code", text))
    return Lifted(answers, tuple(flags), forbidden)


def _others(name: str, answers: dict[str, str], code: list[str]) -> list[str]:
    """The cells from which an answer may take a name: the other answers first, then what is no answer at all."""
    rest, left = [], MAX_OTHER_CHARACTERS
    for source in code:
        left -= len(source)
        if left > 0 and len(source) <= MAX_ANSWER_CHARACTERS and not answered_in(source):
            rest.append(source)
    return [*(source for other, source in answers.items() if other != name), *rest]


def _answer_to(name: str, code: list[str], stub: str, flags: list[Flag]) -> str | None:
    found = [s for s in code if name in answered_in(s)]
    if not found:
        found = [s for s in code if _defines(s, name)]
        if found:
            flags.append(
                Flag(
                    "answer-line-missing",
                    f"{name}: found by its function; the line `# exercise: {name}` is gone",
                )
            )
    if not found:
        return None
    attempts = [s for s in found if s.strip() != stub.strip() and not is_untouched(s)] or found
    if len(found) > 1:
        flags.append(
            Flag(
                "doubled-answer",
                f"{name}: {len(found)} answer cells; the last one that was worked on was taken",
            )
        )
    source = attempts[-1]
    if len(source) > MAX_ANSWER_CHARACTERS:
        flags.append(
            Flag(
                "answer-too-long",
                f"{name}: {len(source)} characters; at most {MAX_ANSWER_CHARACTERS} are read",
            )
        )
        return None
    if _MARKERS.search(source):
        flags.append(
            Flag("test-marker", f"{name}: a comment that steers the test runner was found; it had no effect")
        )
    return source


def _defines(source: str, name: str) -> bool:
    """Whether a cell defines the function; a cell that does not parse is compared as text."""
    if f"def {name}" not in source or len(source) > MAX_ANSWER_CHARACTERS:
        return False
    try:
        return any(isinstance(n, ast.FunctionDef) and n.name == name for n in ast.parse(source).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True


def _edited_checks(cells: list[dict[str, Any]]) -> list[Flag]:
    flags = []
    for cell in cells:
        grader = cell["metadata"].get("nbgrader")
        name = str(grader.get("grade_id", "")).removesuffix("-check") if isinstance(grader, dict) else ""
        if (
            name
            and str(grader.get("grade_id")).endswith("-check")
            and cell["source"].strip() != f"check({name})"
        ):
            flags.append(
                Flag("edited-check", f"{name[:60]}: the check cell was edited; the original one was used")
            )
    return flags
