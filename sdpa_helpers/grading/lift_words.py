"""Answers in words: find them in a submission, and what the record says of them until a person has read them."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sdpa_helpers.checking.written_exercise import STUB, WrittenExercise
from sdpa_helpers.grading.read import Flag

TO_REVIEW, MARKED = "to-review", "marked"
"""The status of a written answer's one case: waiting for a reader, and read."""

READ = "read by a person"
"""The name of that case."""

MAX_CHARACTERS = 10_000
"""Of an answer in words; it is as much as a record keeps of any answer."""

_LINE = re.compile(
    r"^[ \t]*(?:<!--|&lt;!--|#+|//|%)?[ \t]*exercise:[ \t]*([A-Za-z_]\w*)[ \t]*(?:-->|--&gt;)?[ \t]*$"
)
_STUBS = (STUB, STUB.strip("*"), "YOUR ANSWER HERE")  # the last one is what nbgrader hands out
_SAYS = {
    TO_REVIEW: "A person reads this answer and gives the points.",
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
    for exercise in exercises:
        name = exercise.name
        found = [i for i, cell in enumerate(cells) if _names(cell["source"], name)]
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
            told = f"{name}: {len(found)} answer cells; the last one that was worked on was taken"
            flags.append(Flag("doubled-answer", told))
        text = attempts[-1] if attempts else ""
        if len(text) > MAX_CHARACTERS:
            told = f"{name}: {len(text)} characters; only the first {MAX_CHARACTERS} are read"
            flags.append(Flag("answer-too-long", told))
        answers[name] = text[:MAX_CHARACTERS].encode("utf-8", "backslashreplace").decode().strip()
    return Words(answers, tuple(flags))


def entry(exercise: WrittenExercise, text: str | None, why: str = "") -> dict[str, Any]:
    """What a record says of an exercise that is answered in words, before anybody has read it.

    text: None when there is no such cell. why: what the learner reads when nothing could be taken at all.
    """
    status = "missing" if text is None else TO_REVIEW if text else "not-attempted"
    return {
        "title": exercise.title,
        "points": 0.0,
        "max_points": exercise.max_points,
        "mistake": "",
        "written": True,
        "digest": digest(text) if text else "",
        "cases": [unmarked(status, exercise.max_points, why or _SAYS[status].format(exercise.name))],
    }


def unmarked(status: str, max_points: float, message: str = _SAYS[TO_REVIEW]) -> dict[str, Any]:
    """The one case of an answer that nobody has marked."""
    return {
        "case": READ,
        "passed": False,
        "points": 0.0,
        "max_points": max_points,
        "status": status,
        "diagnosis": status,
        "message": message,
    }


def waits(graded: dict[str, Any]) -> bool:
    """Whether an exercise of a record still waits for somebody to read it."""
    return bool(graded.get("written")) and graded["cases"][0]["status"] == TO_REVIEW


def digest(text: str) -> str:
    """Tells whether an answer is still the same: spaces at the ends of lines do not count."""
    lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
    return hashlib.sha256(lines.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _names(source: str, name: str) -> bool:
    """Whether one of the first lines names the exercise; editors for formatted text write proof\\_in\\_words."""
    lines = source.replace("\\_", "_").split("\n")[:5]
    return any(match.group(1) == name for line in lines if (match := _LINE.match(line)))


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
    return bool(source) and cell["cell_type"] != "code" and source not in known and not _any_name(source)


def _any_name(source: str) -> bool:
    return any(map(_LINE.match, source.replace("\\_", "_").split("\n")[:5]))


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
    kept = [
        line for line in lines if not _LINE.match(line.replace("\\_", "_")) and line.strip() not in _STUBS
    ]
    return "\n".join(kept).strip()
