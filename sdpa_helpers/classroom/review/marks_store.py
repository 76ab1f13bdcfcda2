"""The marks that people give, in a database file of their own. Grading again, `--fresh` too, leaves it alone.

Every save adds a row and is on the disk before it counts as saved; nothing is ever changed or deleted. A mark belongs
to one text: it is found by student, notebook, exercise and the digest of the answer. What was marked last counts.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.grading.refusal import Refusal

_TABLE = """
create table if not exists marks (
  id integer primary key, student text not null, notebook text not null, exercise text not null,
  digest text not null, given text not null, adjusted real not null, points real, comment text not null,
  saved text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')));
create index if not exists marks_of_an_answer on marks (student, notebook, exercise, digest);
"""
_COLUMNS = "student, notebook, exercise, digest, given, adjusted, points, comment"


@dataclass(frozen=True, order=True)
class AnswerKey:
    """One answer: who gave it, where, and the digest of its text."""

    student: str
    notebook: str
    exercise: str
    digest: str


@dataclass(frozen=True)
class Mark:
    """What a reader decided."""

    given: tuple[str, ...] = ()
    """The keys of the criteria that are met."""
    adjusted: float = 0.0
    """Points on top of those of the criteria."""
    points: float | None = None
    """What counts, as it was when the mark was given; None when there is only a comment so far."""
    comment: str = ""


NOTHING = Mark()


class CannotKeep(Refusal):
    """Marks cannot be read or written; the text says where, and why."""


def stamp(marks_db: Path) -> tuple[int, int]:
    """Changes whenever somebody saves a mark."""
    try:
        found = marks_db.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def load_marks(marks_db: Path) -> dict[AnswerKey, Mark]:
    """The marks that count: the last one of every answer. {} where nobody has marked anything."""
    return {key: mark for key, mark in _last_rows(marks_db).items() if mark != NOTHING}


def save_mark(marks_db: Path, key: AnswerKey, mark: Mark) -> None:
    """Keep a mark; when this returns it is on the disk. Mark() takes one back."""
    values = (key.student, key.notebook, key.exercise, key.digest)
    row = (*values, json.dumps(mark.given), mark.adjusted, mark.points, mark.comment)
    with _open(marks_db) as database:
        database.executescript(_TABLE)
        with database:
            database.execute(f"insert into marks ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)", row)


def _last_rows(marks_db: Path) -> dict[AnswerKey, Mark]:
    if not marks_db.is_file():
        return {}
    with _open(marks_db) as database:
        database.executescript(_TABLE)
        rows = database.execute(f"select {_COLUMNS} from marks order by id")
        found = {}
        for student, notebook, exercise, digest, given, adjusted, points, comment in rows:
            key = AnswerKey(student, notebook, exercise, digest)
            found.pop(key, None)  # the order of the dictionary is that of the last saves
            found[key] = Mark(tuple(json.loads(given)), adjusted, points, comment)
        return found


@contextmanager
def _open(marks_db: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(marks_db, timeout=20)) as database:
            database.execute("pragma synchronous = extra")
            yield database
    except (sqlite3.Error, ValueError) as error:
        raise CannotKeep(f"the marks in {marks_db} cannot be used: {error}") from error
