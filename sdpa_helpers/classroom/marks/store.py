"""marks.db: a mark is a row that says who gave it, when, to whom, for what, how much and why.

Rows are added and on the disk before they count as kept; nothing is ever changed or deleted. A mark belongs to one
text: it is found by learner, notebook, exercise and the digest of the answer. Of several the last one counts.
Grading again, `--fresh` too, leaves the file alone.
"""

import getpass
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sdpa_helpers.grading.refusal import Refusal

VERSION = "2"
"""Of the tables, the last one of `migrations/versions/`. A file of an earlier one is brought here when it is opened."""


@dataclass(frozen=True, order=True)
class AnswerKey:
    """One answer: who gave it, where, and the digest of its text."""

    student: str
    notebook: str
    exercise: str
    digest: str


@dataclass(frozen=True)
class Mark:
    """What somebody decided about one answer, in code or in words.

    With `points` these are what counts; without, `change` is put on top of what the program gave, and neither is a
    remark alone, or takes an earlier mark back.
    """

    learner: str
    notebook: str
    exercise: str
    digest: str = ""
    """Of the answer's text, `grading.lift_words.digest`; "" holds for whatever the learner hands in."""
    points: float | None = None
    change: float = 0.0
    """Points on top; of an answer in words on top of its criteria, and `points` has them already."""
    reason: str = ""
    """What the learner reads."""
    who: str = ""
    """The name of who gave it; "" in files that knew none, and when it is added the account's name."""
    when: str = ""
    """In UTC, e.g. "2026-05-01T21:59:07.123Z"; "" is now, when it is added."""
    met: tuple[str, ...] = ()
    """Of an answer in words: the keys of the criteria that are met."""
    request: str = ""
    """What the learner had asked, where it answers a request, or ""."""
    settles: bool = False
    """Whether it was given by somebody who knew another's mark for the same answer."""

    @property
    def key(self) -> AnswerKey:
        """The answer that it is about."""
        return AnswerKey(self.learner, self.notebook, self.exercise, self.digest)

    @property
    def says_something(self) -> bool:
        """Whether it is more than an earlier mark taken back."""
        return self.points is not None or bool(self.change or self.reason or self.met)

    @property
    def gives(self) -> tuple[float | None, float]:
        """What it does to points: two marks that are the same in this do not contradict each other."""
        return self.points, 0.0 if self.points is not None else self.change


_COLUMNS = (
    "learner", "notebook", "exercise", "digest", "points", "change", "reason", "who", "given_at", "met", "request",
    "settles",
)  # fmt: skip
_READ = f"select {', '.join(_COLUMNS)} from marks order by given_at, id"
_ADD = f"insert into marks ({', '.join(_COLUMNS)}) values ({', '.join('?' * len(_COLUMNS))})"


GRADER = "SDPA_GRADER"
"""Environment variable with the name of who marks."""


class CannotKeep(Refusal):
    """Marks cannot be read or written; the text says where, and why."""


def stamp(marks_db: Path) -> tuple[int, int]:
    """Changes whenever somebody adds a mark."""
    try:
        found = marks_db.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def append(marks_db: Path, marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Add marks, all or none; when this returns they are on the disk. Returns them with who and when."""
    with opened(marks_db) as database, database:
        database.execute("begin immediate")
        last = database.execute("select max(given_at) from marks").fetchone()[0] or ""
        whole = tuple(_signed(mark, last) for mark in marks)
        database.executemany(_ADD, map(_row, whole))
    return whole


def read(marks_db: Path) -> tuple[Mark, ...]:
    """All rows in the order in which they were given; () where nobody has given any."""
    if not marks_db.is_file():
        return ()
    with opened(marks_db) as database:
        return tuple(map(_mark, database.execute(_READ)))


def counting(marks: Iterable[Mark]) -> dict[AnswerKey, Mark]:
    """The mark that counts for each answer: the last one. The order is that of these."""
    found: dict[AnswerKey, Mark] = {}
    for mark in marks:
        found.pop(mark.key, None)
        found[mark.key] = mark
    return found


def last_marks(marks_db: Path) -> dict[AnswerKey, Mark]:
    """The mark that counts for each answer, of a file."""
    return counting(read(marks_db))


def account() -> str:
    """Who works here, where nobody says otherwise: SDPA_GRADER of the environment, else the account's name."""
    try:
        return os.environ.get(GRADER, "").strip() or getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name
        return "somebody"


@contextmanager
def opened(marks_db: Path) -> Iterator[sqlite3.Connection]:
    """The database with today's tables; raises CannotKeep, also for one that a later version wrote."""
    try:
        with closing(sqlite3.connect(marks_db, timeout=20)) as database:
            if _version(database) != VERSION:
                from sdpa_helpers.classroom.marks.migrate import migrate  # brings SQLAlchemy, half a second

                migrate(marks_db)
            database.execute("pragma synchronous = extra")
            yield database
    except (sqlite3.Error, ValueError) as error:
        raise CannotKeep(f"the marks in {marks_db} cannot be used: {error}") from error


def _version(database: sqlite3.Connection) -> str:
    """Of the tables; "" where Alembic has written none."""
    try:
        found = database.execute("select version_num from alembic_version").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return ""
        raise
    return found[0] if found else ""


def _signed(mark: Mark, last: str) -> Mark:
    """With who and when: never earlier than the last one, whatever the clock says."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return replace(mark, who=mark.who or account(), when=mark.when or max(now, last))


def _row(mark: Mark) -> tuple:
    about = (mark.learner, mark.notebook, mark.exercise, mark.digest)
    said = (mark.points, mark.change, mark.reason, mark.who, mark.when)
    return (*about, *said, json.dumps(mark.met), mark.request, int(mark.settles))


def _mark(row: tuple) -> Mark:
    learner, notebook, exercise, digest, points, change, reason, who, when, met, request, settles = row
    met = tuple(json.loads(met))
    return Mark(
        learner, notebook, exercise, digest, points, change, reason, who, when, met, request, bool(settles)
    )
