"""Read what was handed in. All that is taken from a notebook is the source text of its cells.

What is here reads hostile text without limits of its own: `read_file` does it in a box.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdpa_helpers.checking.code.answer_cells import (
    MAX_ANSWER_CHARACTERS,
    answered_in,
    answers_in,
    defines,
    is_untouched,
)
from sdpa_helpers.checking.code.clues import Clue, clues
from sdpa_helpers.checking.code.magics import parse
from sdpa_helpers.checking.code.own_definitions import own_definitions
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.pages.rules import not_there_in, ready_in
from sdpa_helpers.grading.result import FileHandedIn, Flag, LmsIdentity
from sdpa_helpers.grading.shape import shape_of

MAX_NOTEBOOK_BYTES = 32 << 20
MAX_CELLS = 5000
MAX_OTHER_CHARACTERS = 500_000
"""How much is read beside the answers, for the names that they take from there."""

MAX_OWN_CELLS = 200
"""So many cells with definitions of the learner's own are run."""

MAX_SHOWN_NAMES, LONGEST_SHOWN_NAME = 60, 100
"""Of so few names which one was missing tells little more than that one was; see `hidden_words`."""

MAX_CLUES = 20
"""Of one kind, in one answer."""

_MARKERS = re.compile(r"^[ \t]*#[ \t]*(NBVAL_\w+|PYTEST_VALIDATE_IGNORE_OUTPUT)", re.MULTILINE)


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
class Taken:
    """The texts of a notebook's cells that can count."""

    answers: dict[str, str]
    """By exercise."""
    others: tuple[str, ...]
    """The cells that are no answers, as far as they are read."""
    flags: tuple[Flag, ...] = ()
    """What looked odd on the way."""


@dataclass(frozen=True)
class Own:
    """What counts of the learner's own cells: see `checking.code.own_definitions`."""

    texts: tuple[str, ...] = ()
    """Python code, in the order of the cells."""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """What the text of one answer shows."""

    not_there: tuple[str, ...] = ()
    """What it names and is not there when it runs: that costs nothing by itself."""
    clues: tuple[Clue, ...] = ()
    shape: str = ""
    names: tuple[str, ...] = ()
    """The names that its code reads or gives: those that feedback may say; () where there are more than
    `MAX_SHOWN_NAMES`."""
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class Lifted:
    """The answers in code of a notebook."""

    answers: dict[str, str]
    """By exercise."""
    flags: tuple[Flag, ...]
    """What looked odd on the way."""
    not_there: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By exercise: what its answer names and is not there when it runs."""
    own: tuple[str, ...] = ()
    """The learner's own definitions beside the answers, cell by cell."""
    clues: dict[str, tuple[Clue, ...]] = field(default_factory=dict)
    """By exercise: what the lines of its answer show."""
    shapes: dict[str, str] = field(default_factory=dict)
    """By exercise: its answer's `grading.shape`."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By exercise: the names in its answer that feedback may say."""


def is_notebook(filename: str) -> bool:
    """Whether a file's name ends as a notebook's does, in small letters or capitals."""
    return filename.lower().endswith(".ipynb")


def notebook_of(filename: str, notebooks: list[str]) -> str | None:
    """Which notebook a file is, without regard to capitals.

    Also "01_x (1).ipynb", "01_x-Copy1.ipynb" and "Copy of 01_x.ipynb".
    """
    stem = filename[: -len(".ipynb")] if is_notebook(filename) else filename
    named = [n for n in notebooks if in_any_case(n).search(stem)]
    return next((n for n in named if len(n) == len(stem)), next(iter(named), None))


def in_any_case(name: str) -> re.Pattern[str]:
    """Finds the name of a notebook in small letters and capitals: those of ASCII, the others are other letters."""
    return re.compile(re.escape(name), re.IGNORECASE | re.ASCII)


# ---- reading ----------------------------------------------------------------------------------------------


def read_cells(path: Path) -> list[dict[str, Any]]:
    """The cells of a notebook as dicts with cell_type, source and metadata; raises Unreadable."""
    size = path.stat().st_size
    if size > MAX_NOTEBOOK_BYTES:
        limit = MAX_NOTEBOOK_BYTES >> 20
        raise Unreadable(
            f"The file has {size:,} bytes; at most {limit} MiB are read. Clear all outputs and save it again."
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
    except (RecursionError, ValueError):
        raise Unreadable("The file's JSON is nested too deeply or holds numbers that are too long.") from None
    cells = _cells_of(data)
    if len(cells) > MAX_CELLS:
        raise Unreadable(f"The notebook has {len(cells)} cells; at most {MAX_CELLS} are read.")
    return [_clean(cell) for cell in cells if isinstance(cell, dict)]


def _cells_of(data: Any) -> list[Any]:
    if isinstance(data, dict) and isinstance(data.get("worksheets"), list):  # nbformat 3 and older
        return [cell for sheet in data["worksheets"] for cell in _older_cells(sheet)]
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise Unreadable(
            "The file is JSON but no notebook: it has no list of cells. Hand in the .ipynb file."
        )
    return data["cells"]


def _older_cells(sheet: Any) -> list[Any]:
    """The cells of a worksheet of nbformat 3, as far as they are text, in today's form."""
    cells = sheet.get("cells") if isinstance(sheet, dict) else None
    found = [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []
    return [{**cell, "source": cell["input"]} if "input" in cell else cell for cell in found]


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
    taken = take(cells, exercises, stubs)
    analyses = {e.name: analyse(e, taken) for e in exercises if e.name in taken.answers}
    return lifted(taken, own_of(taken, ()), analyses)


def lifted(taken: Taken, own: Own, analyses: Mapping[str, Analysis], flags: Iterable[Flag] = ()) -> Lifted:
    """What was taken and what it shows, together. flags: about what could not be read."""
    more = [flag for analysis in analyses.values() for flag in analysis.flags]
    return Lifted(
        taken.answers,
        (*taken.flags, *own.flags, *more, *flags),
        own=own.texts,
        not_there={name: a.not_there for name, a in analyses.items() if a.not_there},
        clues={name: a.clues for name, a in analyses.items()},
        shapes={name: a.shape for name, a in analyses.items()},
        names={name: a.names for name, a in analyses.items()},
    )


def take(cells: list[dict[str, Any]], exercises: tuple[Exercise, ...], stubs: dict[str, str]) -> Taken:
    """The texts that count. `stubs`: the answer cells as they were handed out."""
    code = [c["source"] for c in cells if c["cell_type"] == "code"]
    text_cells = [c["source"] for c in cells if c["cell_type"] != "code"]
    flags: list[Flag] = []
    answers = {}
    for exercise in exercises:
        stub = stubs.get(exercise.name, "")
        source = _answer_to(exercise.name, code, stub, flags)
        if source is None and (texts := [text for text in text_cells if exercise.name in answers_in(text)]):
            source = _answer_to(exercise.name, texts, stub, flags)
            message = (
                f"{exercise.name}: its cell is one of text, as the key m makes it; the code in it was taken"
            )
            flags.append(Flag("not-a-code-cell", message))
        if source is not None:
            answers[exercise.name] = source
    flags += _edited_checks(cells)
    return Taken(answers, _others(code), tuple(flags))


def own_of(taken: Taken, handed_out: Iterable[str]) -> Own:
    """The definitions in the learner's own cells. handed_out: the sources of the cells as they were given."""
    known = {source.strip() for source in handed_out}
    cells = [
        text for text in taken.others if text.strip() not in known and text not in taken.answers.values()
    ]
    every = [counted.text for counted in own_definitions(cells, taken.answers) if counted.text]
    texts = [text for text in every[:MAX_OWN_CELLS] if len(text) <= MAX_ANSWER_CHARACTERS]
    while sum(map(len, texts)) > MAX_OTHER_CHARACTERS:
        texts.pop()
    flags = []
    if len(texts) < len(every):
        message = f"beside the answers, {len(every)} cells hold definitions; those of {len(texts)} were taken"
        flags.append(Flag("too-many-definitions", message))
    return Own(tuple(texts), tuple(flags))


def analyse(exercise: Exercise, taken: Taken) -> Analysis:
    """What the text of the answer to one exercise shows."""
    source = taken.answers[exercise.name]
    others = [*(text for name, text in taken.answers.items() if name != exercise.name), *taken.others]
    seen = _first_of_each_kind(clues(source, exercise.name))
    flags = [
        Flag("ready-made", f"{exercise.name}: {_READY.format(_in_numpys_words(name))}")
        for name in ready_in(exercise, source, others)
    ]
    return Analysis(not_there_in(source, others), seen, shape_of(source), shown_names(source), tuple(flags))


_READY = "{} is ready in NumPy; whether this was understood can't be told"


def _in_numpys_words(name: str) -> str:
    return name.replace("numpy", "np", 1) if "." in name else "NumPy, passed on whole: what this needs"


def shown_names(source: str) -> tuple[str, ...]:
    """The names that code reads or gives to something, never those in its texts and comments; () for too many."""
    try:
        found = {node.id for node in ast.walk(parse(source)) if isinstance(node, ast.Name)}
    except (RecursionError, MemoryError):
        return ()
    few = len(found) <= MAX_SHOWN_NAMES and all(len(name) <= LONGEST_SHOWN_NAME for name in found)
    return tuple(sorted(found)) if few else ()


def _first_of_each_kind(found: tuple[Clue, ...]) -> tuple[Clue, ...]:
    counted = Counter[str]()
    kept = []
    for clue in found:
        counted[clue.kind] += 1
        if counted[clue.kind] <= MAX_CLUES:
            kept.append(clue)
    return tuple(kept)


def _others(code: list[str]) -> tuple[str, ...]:
    """The cells that are no answers: an answer may take a name from them."""
    rest, left = [], MAX_OTHER_CHARACTERS
    for source in code:
        left -= len(source)
        if left > 0 and len(source) <= MAX_ANSWER_CHARACTERS and not answers_in(source):
            rest.append(source)
    return tuple(rest)


def _answer_to(name: str, code: list[str], stub: str, flags: list[Flag]) -> str | None:
    marked = [s for s in code if name in answered_in(s)]
    found = [s for s in marked if name in answers_in(s)]
    worked_on = [s for s in marked if s.strip() != stub.strip() and not is_untouched(s)]
    attempts = [s for s in worked_on if s in found]
    if not attempts and (unmarked := _unmarked(name, code, found)):
        marked = attempts = unmarked
        message = f"{name}: found by its function; the line `# exercise: {name}` is not in its cell"
        flags.append(Flag("answer-line-missing", message))
    attempts = attempts or worked_on or found or marked
    if not attempts:
        return None
    if len(marked) > 1:
        flags.append(
            Flag(
                "doubled-answer",
                f"{name}: {len(marked)} answer cells; the last one that defines it was taken",
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


def _unmarked(name: str, code: list[str], stubs: list[str]) -> list[str]:
    """Cells without the line that define the function; where there is a stub, cells of the learner's own below it."""
    if not stubs:
        return [s for s in code if defines(s, name)]
    return [s for s in code[code.index(stubs[-1]) + 1 :] if not answered_in(s) and defines(s, name)]


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
