"""What the exports share: learners' points, and the rosters that learning systems export themselves.

With a roster its ids and its other columns are kept, and its rows are matched by id where the submissions' names say
it. Nothing is written for learners who are not in it.
"""

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdpa_helpers.classroom.exports.order import CannotExport
from sdpa_helpers.classroom.files import is_formula, whole_file
from sdpa_helpers.classroom.term.policy import ANY, Homework
from sdpa_helpers.grading.result import GRADER_FAILED, GradedNotebook, GradedWords, LmsIdentity

TOTAL = "total"


@dataclass
class Totals:
    """One learner's points."""

    student: str
    lms: LmsIdentity | None
    rules: Homework = ANY
    """What counts of a whole homework."""
    points: dict[str, tuple[float, float]] = field(default_factory=dict)
    """By notebook: (points, of how many); of those without a mark the points are 0."""
    no_mark: dict[str, str] = field(default_factory=dict)
    """By notebook: the word in the place of a mark."""
    notes: list[str] = field(default_factory=list)
    """What to say of each exercise."""

    @property
    def name(self) -> str:
        """What the learning system calls them, else what the submissions do."""
        return (self.lms.name if self.lms else "") or self.student

    def id_in(self, system: str) -> str:
        """Their id in a learning system; "" when nobody knows."""
        return self.lms.id if self.lms and self.lms.system == system else ""

    def of(self, notebook: str) -> tuple[float, float] | None:
        """(points, maximum) for a notebook, or for all together under "total"; None where that is no mark."""
        if notebook != TOTAL and len(self.points) > 1:
            return None if notebook in self.no_mark else self.points.get(notebook)
        if notebook not in (TOTAL, *self.points):
            return None
        if GRADER_FAILED in self.no_mark.values() or len(self.no_mark) == len(self.points):
            return None
        points, most = (sum(each) for each in zip(*self.points.values(), strict=True))
        return self.rules.counted(points, most)


def totals_of(results: Iterable[GradedNotebook], rules: Homework = ANY) -> list[Totals]:
    """Every learner's points, by name."""
    found: dict[str, Totals] = {}
    for result in results:
        totals = found.setdefault(result.student, Totals(result.student, result.lms, rules))
        totals.points[result.notebook] = (0.0 if result.no_mark else result.points, result.max_points)
        if result.no_mark:
            totals.no_mark[result.notebook] = result.no_mark
            totals.notes.append(f"{result.notebook}: no mark, {result.no_mark}")
            continue
        if result.late_penalty:
            totals.notes.append(
                f"late: {100 * result.late_penalty:.4g} % of {result.earned:g} points taken off"
            )
        for exercise in result.exercises:
            waits = isinstance(exercise, GradedWords) and exercise.waits
            earned = "not read yet" if waits else f"{exercise.points:g} of {exercise.max_points:g}"
            totals.notes.append(f"{exercise.name}: {earned}")
    return [found[student] for student in sorted(found)]


# ---- rosters ----------------------------------------------------------------------------------------------


@dataclass
class Roster:
    """A CSV that a learning system exported: its header and rows as they are."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","

    def column(self, *names: str) -> int | None:
        """The index of the first of these columns that is there."""
        return next((self.header.index(n) for n in names if n in self.header), None)


def read_roster(path: Path) -> Roster:
    """Read a roster; CannotExport when it is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = text.split("\n", 1)[0]
        delimiter = ";" if first.count(";") > first.count(",") else ","
        rows = [
            row
            for row in csv.reader(io.StringIO(text), delimiter=delimiter)
            if any(cell.strip() for cell in row)
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CannotExport(f"--roster {path} cannot be read: {error}") from None
    if not rows:
        raise CannotExport(f"--roster {path} is empty")
    width = len(rows[0])
    return Roster([h.strip() for h in rows[0]], [(row + [""] * width)[:width] for row in rows[1:]], delimiter)


MatchBy = tuple[int | None, Callable[[Totals], str]]
"""A column of a roster, and what a learner's cell in it would hold."""


def match(rows: list[list[str]], learners: list[Totals], keys: list[MatchBy]) -> dict[int, Totals]:
    """Row index → learner. The surest key comes first; a tie matches nobody."""
    matched: dict[int, Totals] = {}
    left = list(learners)
    for column, key in keys:
        if column is None:
            continue
        cells: dict[str, list[int]] = {}
        for i, row in enumerate(rows):
            cells.setdefault(_plain(row[column]), []).append(i)
        wanted: dict[str, list[Totals]] = {}
        for learner in left:
            wanted.setdefault(_plain(key(learner)), []).append(learner)
        for value, who in wanted.items():
            where = [i for i in cells.get(value, []) if i not in matched]
            if value and len(who) == 1 and len(where) == 1:
                matched[where[0]] = who[0]
        left = [learner for learner in left if learner not in matched.values()]
    return matched


def _plain(text: str) -> str:
    """For comparing: case, spaces, commas and the order of names do not count."""
    return " ".join(sorted(re.findall(r"\w+", text.lower())))


def squeezed(text: str) -> str:
    """For comparing titles: letters and digits alone."""
    return "".join(re.findall(r"[^\W_]", text.lower()))


# ---- numbers and files --------------------------------------------------------------------------------------


def scaled_to(points: tuple[float, float], worth: float) -> float:
    """(points, maximum) as part of what the system's own column is worth."""
    return points[0] * worth / points[1] if points[1] else points[0]


def points_cell(learner: Totals, notebook: str, worth: float) -> str:
    """The cell of a learner in a notebook's column; "" for one who has no mark for it."""
    points = learner.of(notebook)
    return "" if points is None else number_cell(scaled_to(points, worth))


def number_cell(value: float) -> str:
    """A number as learning systems read it."""
    return f"{round(value, 2):.12g}"


def as_number(text: str) -> float | None:
    """The number in a cell, with a point or a comma; None when there is none."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def note_without_ids(learners: list[Totals], system: str) -> tuple[str, ...]:
    """What to tell the instructor when the files' names do not say who is who in the system."""
    without = [learner for learner in learners if not learner.id_in(system)]
    if not without:
        return ()
    return (
        f"{len(without)} of {len(learners)} learners have no {system.capitalize()} id in their files' names: give "
        "the file that the system exports with --roster",
    )


def refuse_strangers(path: Path, learners: list[Totals], matched: dict[int, Totals]) -> None:
    """A roster that has none of the learners is another course's: CannotExport."""
    if learners and not matched:
        raise CannotExport(
            f"--roster {path}: none of the {len(learners)} learners was found in it: is it this course's?"
        )


def notes_unmatched(learners: list[Totals], matched: dict[int, Totals], people: int) -> tuple[str, ...]:
    """What to tell the instructor of learners and rows of the roster that found no partner."""
    notes = [f"not in the roster: {t.student}" for t in learners if t not in matched.values()]
    if people > len(matched):
        left = people - len(matched)
        who = (
            "1 person of the roster has no marks; the row is"
            if left == 1
            else f"{left} people of the roster have no marks; their rows are"
        )
        notes.append(f"{who} left out")
    return tuple(notes)


def write_rows(target: Path, header: list[str], rows: list[list[Any]], delimiter: str = ",") -> None:
    """Write a CSV file, whole or not at all."""
    with whole_file(target) as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *(map(_cell, row) for row in rows)])


def _cell(value: Any) -> Any:
    """A cell of a roster comes back as it was, also "-" and "-1"; what a spreadsheet would run does not."""
    if isinstance(value, str) and len(value) > 1 and is_formula(value) and as_number(value) is None:
        return "'" + value
    return value
