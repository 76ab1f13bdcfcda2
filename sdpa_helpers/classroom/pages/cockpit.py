"""The cockpit: one page with all learners and all exercises, to be searched, sorted and read with keys.

It needs no network and no library. What came from a submission goes into it as data, which the page shows as text.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from markupsafe import Markup

from sdpa_helpers.classroom.pages.class_report import environment
from sdpa_helpers.classroom.pages.groups import Group
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.result import Graded, GradedExercise, GradedNotebook, GradedWords, is_untouched

FULL, NONE, UNTRIED, WAITS, NO_MARK, UNREADABLE, ABSENT = "F", "0", "u", "w", "x", "r", "."
"""Of a cell: all points, none, not attempted, not read yet, the grader failed, the file can't be read, nothing came.
Else 1 to 4: the quarter of the points that was reached."""


@dataclass(frozen=True)
class Column:
    """One exercise."""

    name: str
    title: str
    notebook: str
    max: float


@dataclass
class LearnerRow:
    """One learner."""

    name: str
    number: int = 0
    """What they are called where names are hidden: it has nothing to do with the order of names."""
    points: float = 0.0
    max: float = 0.0
    cells: str = ""
    """A letter for each exercise."""
    earned: list[float] = field(default_factory=list)
    mistakes: dict[int, list[str]] = field(default_factory=dict)
    """By column, the names of mistakes."""
    flags: int = 0


@dataclass(frozen=True)
class Cockpit:
    """What the page shows."""

    columns: tuple[Column, ...]
    rows: tuple[LearnerRow, ...]
    groups: tuple[Group, ...]


def cockpit(results: Iterable[GradedNotebook], groups: Iterable[Group] = ()) -> Cockpit:
    """All results by learner and exercise."""
    by_learner: dict[str, dict[str, GradedNotebook]] = {}
    columns: dict[tuple[str, str], Column] = {}
    for result in results:
        if result.notebook in LESSONS:
            by_learner.setdefault(result.student, {})[result.notebook] = result
            for graded in result.exercises:
                key = (result.notebook, graded.name)
                columns.setdefault(key, Column(graded.name, graded.title, result.notebook, graded.max_points))
    order = list(LESSONS)
    ordered = tuple(sorted(columns.values(), key=lambda column: order.index(column.notebook)))
    rows = tuple(_row(name, by_learner[name], ordered) for name in sorted(by_learner))
    for number, row in enumerate(sorted(rows, key=lambda row: hashlib.sha256(row.name.encode()).digest()), 1):
        row.number = number
    return Cockpit(ordered, rows, tuple(groups))


def _row(name: str, notebooks: dict[str, GradedNotebook], columns: tuple[Column, ...]) -> LearnerRow:
    row = LearnerRow(name)
    given = {(n, graded.name): graded for n, result in notebooks.items() for graded in result.exercises}
    for number, column in enumerate(columns):
        result = notebooks.get(column.notebook)
        status = result.status if result else "missing"
        graded = None if status in ("missing", "unreadable") else given.get((column.notebook, column.name))
        row.cells += _cell(graded) if graded else UNREADABLE if status == "unreadable" else ABSENT
        row.earned.append(0.0 if graded is None else graded.points)
        if isinstance(graded, GradedExercise) and graded.mistakes:
            row.mistakes[number] = [mistake.name for mistake in graded.mistakes]
    row.points = round(sum(r.points for r in notebooks.values() if not r.no_mark), 4)
    row.max = sum(r.max_points for r in notebooks.values())
    row.flags = sum(len(r.flags) for r in notebooks.values())
    return row


def _cell(graded: Graded) -> str:
    if graded.failed:
        return NO_MARK
    if isinstance(graded, GradedWords) and graded.waits:
        return WAITS
    if is_untouched(graded):
        return UNTRIED
    if graded.points >= graded.max_points:
        return FULL
    return NONE if graded.points <= 0 else str(min(4, 1 + int(4 * graded.points / graded.max_points)))


_HERE = Path(__file__).parent / "templates"


def cockpit_page(shown: Cockpit, folder: ResultsFolder) -> str:
    """The page as HTML, to be written into `folder`: its links lead to the feedback pages there."""
    links = {
        row.name: {c: folder.feedback_link(row.name, c) for c in _handed_in(row, shown)} for row in shown.rows
    }
    data = json.dumps(asdict(shown) | {"links": links}, ensure_ascii=True, separators=(",", ":"))
    return (
        environment()
        .get_template("cockpit.html")
        .render(
            data=Markup(data.replace("<", "\\u003c").replace("&", "\\u0026")),
            script=Markup((_HERE / "cockpit.js").read_text(encoding="utf-8")),
            style=Markup((_HERE / "cockpit.css").read_text(encoding="utf-8")),
            learners=len(shown.rows),
            exercises=len(shown.columns),
            similar=folder.similar_page.name,
            report=folder.class_page.name,
        )
    )


def _handed_in(row: LearnerRow, shown: Cockpit) -> list[str]:
    pairs = zip(row.cells, shown.columns, strict=True)
    return list(dict.fromkeys(column.notebook for cell, column in pairs if cell != ABSENT))
