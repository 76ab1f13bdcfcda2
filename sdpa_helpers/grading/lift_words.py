"""Answers in words: find them in a submission, and their result until a person has read them."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sdpa_helpers.checking.kinds.written_exercise import STUB, WrittenExercise
from sdpa_helpers.grading.result import CaseStatus, Flag, GradedCase, GradedWords

READ = "read by a person"
"""The name of a written answer's one case."""

MAX_CHARACTERS = 10_000
"""Of an answer in words; it is as much as a record keeps of any answer."""

_LINE = re.compile(
    r"(?:<!--|&lt;!--|#+|//|%)?[ \t]*exercise:[ \t]*([A-Za-z_]\w*)[ \t]*(?:-->|--&gt;)?", re.ASCII
)
_LONGEST_LINE = 200
"""Of those that name an exercise; in a longer one nothing is looked for."""

_STUBS = (STUB, STUB.strip("*"), "YOUR ANSWER HERE")  # the last one is what nbgrader hands out
_SAYS = {
    "to-review": "A person reads this answer and gives the points.",
    "not-attempted": "Nothing is written here yet.",
    "missing": "The cell of this answer was not found: its first line, `<!-- exercise: {} -->`, tells which it is.",
}


@dataclass(frozen=True)
class Words:
    """The answers in words by exercise ("" for a cell that nobody wrote in), and what looked odd on the way."""

    answers: dict[str, str]
    flags: tuple[Flag, ...] = ()


def lift_words(
    cells: list[dict[str, Any]], exercises: Iterable[WrittenExercise], handed_out: Iterable[str]
) -> Words:
    """Take the answers out of a notebook's cells; `handed_out`: the sources of the cells as they were given.

    A cell counts whatever its kind: services turn markdown into text or code.
    """
    known, answers, flags = {source.strip() for source in handed_out}, {}, []
    named = [_first_named(cell["source"]) for cell in cells]
    for exercise in exercises:
        name = exercise.name
        found = [i for i, cell in enumerate(cells) if name in named[i]]
        if not found:
            found = [i for i, cell in enumerate(cells) if _grade_id(cell) == name] or _below(
                cells, name, known
            )
            if found:
                line = f"{name}: found by its place; the line `<!-- exercise: {name} -->` is gone"
                flags.append(Flag("answer-line-missing", line))
        if not found:
            continue
        attempts = [text for i in found if (text := _text(cells, i, known))]
        if len(found) > 1:
            message = f"{name}: {len(found)} answer cells; the last one that was worked on was taken"
            flags.append(Flag("doubled-answer", message))
        text = attempts[-1] if attempts else ""
        if len(text) > MAX_CHARACTERS:
            message = f"{name}: {len(text)} characters; only the first {MAX_CHARACTERS} are read"
            flags.append(Flag("answer-too-long", message))
        answers[name] = text[:MAX_CHARACTERS].encode("utf-8", "backslashreplace").decode().strip()
    return Words(answers, tuple(flags))


def unread(exercise: WrittenExercise, text: str | None, why: str = "") -> GradedWords:
    """The result of an exercise that is answered in words, before anybody has read it.

    text: None when there is no such cell. why: what the learner reads when nothing could be taken at all.
    """
    status: CaseStatus = "missing" if text is None else "to-review" if text else "not-attempted"
    message = why or _SAYS[status].format(exercise.name)
    case = unmarked(exercise.max_points, status, message)
    return GradedWords(exercise.name, exercise.title, exercise.max_points, case, digest(text) if text else "")


def unmarked(max_points: float, status: CaseStatus = "to-review", message: str = "") -> GradedCase:
    """The one case of an answer that nobody has marked."""
    return GradedCase(READ, status, 0.0, max_points, status, message or _SAYS[status])


def digest(text: str) -> str:
    """Tells whether an answer is still the same: spaces at the ends of lines do not count."""
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _named_in(line: str) -> str:
    """The exercise that a line names, or ""; editors for formatted text write proof\\_in\\_words."""
    if "exercise:" not in line:
        return ""
    plain = line.strip(" \t")
    match = _LINE.fullmatch(plain.replace("\\_", "_")) if len(plain) <= _LONGEST_LINE else None
    return match.group(1) if match else ""


def _first_named(source: str) -> list[str]:
    """The exercises that the first lines of a cell name."""
    return [name for line in source.split("\n", 5)[:5] if (name := _named_in(line))]


def _grade_id(cell: dict[str, Any]) -> str:
    grader = cell["metadata"].get("nbgrader")
    return str(grader.get("grade_id", "")) if isinstance(grader, dict) else ""


def _below(cells: list[dict[str, Any]], name: str, known: set[str]) -> list[int]:
    """The cell under the exercise's prompt, when somebody has written it."""
    after = [i + 1 for i, cell in enumerate(cells[:-1]) if cell["source"].startswith(f"## {name}\n")]
    return [i for i in after if _own(cells[i], known)][:1]


def _own(cell: dict[str, Any], known: set[str]) -> bool:
    """Whether the learner added this cell of text."""
    source = cell["source"].strip()
    return bool(source) and cell["cell_type"] != "code" and source not in known and not _first_named(source)


def _text(cells: list[dict[str, Any]], at: int, known: set[str]) -> str:
    """What stands in an answer cell without its line and stub; if that is nothing, what was added below it."""
    text = _bare(cells[at]["source"])
    for cell in cells[at + 1 :] if not text else ():
        if not _own(cell, known):
            break
        text += "\n\n" + _bare(cell["source"])
    return text.strip()


def _bare(source: str) -> str:
    lines = source.split("\n")
    kept = [line for line in lines if not _named_in(line) and line.strip() not in _STUBS]
    return "\n".join(kept).strip()
