"""Requests for a regrade: a table of them in, a list to work through, and the answer in the feedback.

The table has a row for each: `learner, exercise, asks`, as any form or spreadsheet writes it. It is written back with
`answer`, `points` and `change` to fill in: what is filled in becomes a mark, and its reason is the answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sdpa_helpers.classroom.files import as_text, first_of, read_filled_in, typed, write_to_fill_in
from sdpa_helpers.classroom.marks.giving import Answers, CannotGive, WantedMark, answers_in, as_mark
from sdpa_helpers.classroom.marks.store import Mark, account, append, opened
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.refusal import Refusal

TO_FILL = ("answer", "points", "change")
COLUMNS = ("learner", "exercise", "asks", "has", "of", *TO_FILL, "state")
"""`has` and `of`: points now, and how many there are. `state`: "open", or who has answered."""
MOST_ASKED = 4000


class BadRequests(Refusal):
    """The table cannot be taken in; the text says which row, what was expected and what came."""


@dataclass(frozen=True, order=True)
class Request:
    """What a learner asks for."""

    learner: str
    notebook: str
    exercise: str
    asks: str


@dataclass(frozen=True)
class Synced:
    """What became of a table of requests."""

    new: int
    answered: int
    """In this run."""
    open: int


def sync_requests(folder: ResultsFolder, path: Path | None, who: str = "") -> Synced:
    """Take in the requests of a table and the answers in it, then write it as it is now.

    Without a table only what is open is counted. Raises BadRequests, and then nothing is taken in.
    """
    answers = answers_in(folder)
    rows = _rows(path) if path and path.exists() else []
    asked, marks, bad = [], [], []
    done = {_answered_by(mark) for mark in answers.rows if mark.request}
    for number, row in rows:
        try:
            request = _request(answers, row)
            asked.append(request)
            if row.get("answer", "").strip() and request not in done:
                marks.append(as_mark(answers, _wanted(request, row), who or account()))
        except (CannotGive, ValueError) as error:
            bad.append(f"{path}, line {number}: {error}")
    if bad:
        raise BadRequests(first_of(bad))
    new = _keep(folder.marks_db, asked) if asked else 0
    given = append(folder.marks_db, marks) if marks else ()
    known = requests_in(folder.marks_db)
    whole = answers_in(folder)
    if path:
        _write(path, known, whole)
    return Synced(new, len(given), sum(request not in _done(whole.rows) for request in known))


def requests_in(marks_db: Path) -> tuple[Request, ...]:
    """All that there ever were, in the order in which they came."""
    if not marks_db.is_file():
        return ()
    with opened(marks_db) as database:
        rows = database.execute("select learner, notebook, exercise, asks from requests order by id")
        return tuple(Request(*row) for row in rows)


def _done(marks: Iterable[Mark]) -> dict[Request, Mark]:
    return {_answered_by(mark): mark for mark in marks if mark.request}


def _answered_by(mark: Mark) -> Request:
    return Request(mark.learner, mark.notebook, mark.exercise, mark.request)


def _request(answers: Answers, row: dict[str, str]) -> Request:
    asks = typed(row["asks"])[:MOST_ASKED]
    if not asks:
        raise ValueError("expected what the learner asks in the column asks, got nothing")
    result, graded = answers.find(typed(row["learner"]), typed(row["exercise"]))
    return Request(result.student, result.notebook, graded.name, asks)


def _wanted(request: Request, row: dict[str, str]) -> WantedMark:
    points, change = (_number(row.get(name, ""), name) for name in ("points", "change"))
    answer = typed(row["answer"])
    return WantedMark(request.learner, request.exercise, points, change or 0.0, answer, request.asks)


def _number(cell: str, column: str) -> float | None:
    text = typed(cell).replace(",", ".")
    try:
        return float(text) if text else None
    except ValueError:
        raise ValueError(f"expected a number in the column {column}, got {cell!r}") from None


def _keep(marks_db: Path, asked: Iterable[Request]) -> int:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    rows = [(r.learner, r.notebook, r.exercise, r.asks, now) for r in dict.fromkeys(asked)]
    with opened(marks_db) as database, database:
        before = database.execute("select count(*) from requests").fetchone()[0]
        database.executemany(
            "insert or ignore into requests (learner, notebook, exercise, asks, asked_at) values (?, ?, ?, ?, ?)",
            rows,
        )
        return database.execute("select count(*) from requests").fetchone()[0] - before


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    """(line, cells by column); a row whose first cells are empty is none."""
    reader = read_filled_in(path, BadRequests)
    there = [name for name in reader.fieldnames or () if name]
    if lacking := [name for name in COLUMNS[:3] if name not in there]:
        raise BadRequests(
            f"{path}, line 1: expected the columns learner, exercise and asks, got {', '.join(there) or 'none'}: "
            f"{', '.join(lacking)} lacking"
        )
    return [(reader.line_num, row) for row in reader if row["learner"].strip() or row["asks"].strip()]


def _write(path: Path, known: Iterable[Request], answers: Answers) -> None:
    """Open ones first; of what is answered, what was answered."""
    done, rows = _done(answers.rows), []
    for request in sorted(known, key=lambda request: request in done):
        _, graded = answers.find(request.learner, request.exercise)
        mark = done.get(request)
        filled = (
            ("", "", "") if mark is None else (mark.reason, _cell(mark.points), _cell(mark.change or None))
        )
        state = "open" if mark is None else f"answered by {mark.who}"
        cells = (
            request.learner,
            request.exercise,
            request.asks,
            _cell(graded.points),
            _cell(graded.max_points),
        )
        rows.append(map(as_text, (*cells, *filled, state)))
    write_to_fill_in(path, COLUMNS, rows)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
