"""Marking without a notebook: a table of the written answers, filled in with a spreadsheet or a text editor."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from sdpa_helpers.classroom.files import as_text, first_of, read_filled_in, typed, write_to_fill_in
from sdpa_helpers.classroom.marks.store import AnswerKey
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.decisions import NOTHING, Decision, load_decisions, save_decision
from sdpa_helpers.classroom.review.session import MAX_COMMENT, answers_of, points_for
from sdpa_helpers.course.registry import all_written
from sdpa_helpers.grading.refusal import Refusal

COLUMNS = ("id", "exercise", "answer", "points", "max_points", "met", "comment", "state")
"""`met`: keys of criteria, e.g. "sum moments". `state` tells whether a row was changed since it was written."""

CRITERIA = "criteria"
"""One more, to read: which keys there are for `met`, and what each is worth."""

_FILLED = ("points", "met", "comment")


class BadTable(Refusal):
    """The table cannot be read in; the text says which row, what was expected and what came."""


@dataclass
class _Table:
    """A table as it was found: rows by their id, and columns that somebody added."""

    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    delimiter: str = ","


def sync_table(folder: ResultsFolder, path: Path) -> tuple[int, int]:
    """Read what was filled in into the marks of an --out folder, then write the table as it is now.

    Returns (marks that changed, rows). Without a file at `path` it is only written. A row without points is not
    marked; with `met` alone it gets the points of these criteria. Raises BadTable, and then nothing is changed.
    """
    found = _read(path) if path.exists() else _Table()
    answers = answers_of(folder.read_results())
    marks, todo, bad = load_decisions(folder.marks_db), [], []
    for answer in answers:
        row = found.rows.get(answer_id(answer.key))
        if row and row["state"].strip() != _state(row):
            try:
                mark = _mark(row, answer.key, f"{path}: the row {row['id']}")
            except BadTable as error:
                bad.append(str(error))
                continue
            if mark != marks.get(answer.key, NOTHING):
                todo.append((answer.key, mark))
    if bad:
        raise BadTable(first_of(bad))
    for key, mark in todo:
        save_decision(folder.marks_db, key, mark)
    _write(path, found, [(a.key, a.text) for a in answers], load_decisions(folder.marks_db))
    return len(todo), len(answers)


def answer_id(key: AnswerKey) -> str:
    """Names an answer without telling who wrote it."""
    parts = (key.student, key.notebook, key.exercise, key.digest)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _state(row: dict[str, str]) -> str:
    return "s" + hashlib.sha256("\0".join(row[c].strip() for c in _FILLED).encode()).hexdigest()[:8]


def _write(
    path: Path, found: _Table, answers: list[tuple[AnswerKey, str]], marks: dict[AnswerKey, Decision]
) -> None:
    rows = []
    for key, words in answers:
        mark = marks.get(key, NOTHING)
        row = {
            "id": answer_id(key),
            "exercise": key.exercise,
            "answer": words,
            "points": "" if mark.points is None else f"{mark.points:g}",
            "max_points": f"{all_written()[key.exercise].max_points:g}",
            "met": " ".join(mark.given),
            "comment": mark.comment,
        }
        row = {name: as_text(cell) for name, cell in row.items()}
        kept = found.rows.get(row["id"], {})
        added = (kept.get(name, "") for name in found.added)
        rows.append((*row.values(), _state(row), _criteria(key.exercise), *added))
    write_to_fill_in(path, (*COLUMNS, CRITERIA, *found.added), rows, found.delimiter)


def _criteria(exercise: str) -> str:
    return ", ".join(f"{c.key} ({c.points:g})" for c in all_written()[exercise].criteria)


def _read(path: Path) -> _Table:
    reader = read_filled_in(path, BadTable)
    names = [name for name in reader.fieldnames or () if name]
    if lacking := [name for name in COLUMNS if name not in names and name != "answer"]:
        raise BadTable(
            f"{path} lacks {', '.join(lacking)}; expected a table with the columns {', '.join(COLUMNS)}"
        )
    rows = {row["id"].strip(): row for row in reader}
    added = [name for name in names if name not in (*COLUMNS, CRITERIA)]
    return _Table(rows, added, reader.reader.dialect.delimiter)


def _mark(row: dict[str, str], key: AnswerKey, where: str) -> Decision:
    exercise = all_written()[key.exercise]
    known = [c.key for c in exercise.criteria]
    met = row["met"].replace(",", " ").split()
    if unknown := sorted(set(met) - set(known)):
        raise BadTable(
            f"{where}: {', '.join(unknown)}: expected criteria of {exercise.name}: {', '.join(known)}"
        )
    given = tuple(k for k in known if k in met)
    comment = typed(row["comment"]).strip()[:MAX_COMMENT]
    text = row["points"].strip().lstrip("'").replace(",", ".")
    if not text:
        return Decision(given, 0.0, points_for(exercise, given, 0.0) if given else None, comment)
    try:
        points = float(text)
        if not 0 <= points <= exercise.max_points:
            raise ValueError
    except ValueError:
        expected = f"expected a number from 0 to {exercise.max_points:g}"
        raise BadTable(f"{where}: points {row['points']!r}; {expected}") from None
    adjusted = points - sum(c.points for c in exercise.criteria if c.key in given)
    return Decision(given, round(adjusted, 2), points, comment)
