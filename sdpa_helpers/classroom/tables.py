"""grades.csv, details.csv, handed_in.csv and left_out.csv: what a spreadsheet opens."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from sdpa_helpers.classroom.files import no_formula, whole_table
from sdpa_helpers.classroom.results_folder import Pair, ResultsFolder
from sdpa_helpers.classroom.term.policy import ANY, Homework
from sdpa_helpers.grading.result import GRADER_FAILED, GradedNotebook

DETAILS = ("student", "notebook", "exercise", "case", "points", "max_points", "status", "diagnosis")
LEFT_OUT = ("file", "why")
EXCUSED = "excused"
"""In the total of somebody for whom a homework does not count."""
HANDED_IN = ("student", "notebook", "file", "time", "late", "graded")


@dataclass
class StudentRow:
    """A row of grades.csv."""

    student: str
    points: dict[str, float | str] = field(default_factory=dict)
    """By notebook, or the word that stands in their place; one that nobody handed in is not among them."""
    worth: float = 0.0
    """Points of all notebooks."""
    rules: Homework = ANY
    """What counts of it."""

    @property
    def total(self) -> float | str:
        """Points in all notebooks that count: what is missing or unreadable adds none.

        "grader-failed" where one of them is, "excused" for who is.
        """
        if self.student in self.rules.excused:
            return EXCUSED
        if GRADER_FAILED in self.points.values():
            return GRADER_FAILED
        points = sum((cell for cell in self.points.values() if not isinstance(cell, str)), 0.0)
        return self.rules.counted(points, self.worth)[0]

    @property
    def max_points(self) -> float:
        """Of how many points the total is."""
        return self.rules.counted(0.0, self.worth)[1]

    def add(self, result: GradedNotebook) -> None:
        """Count one notebook."""
        self.points[result.notebook] = result.no_mark or result.points
        self.worth += result.max_points


def rows_of(results: Iterable[GradedNotebook], rules: Homework = ANY) -> list[StudentRow]:
    """The rows of grades.csv, by name."""
    rows: dict[str, StudentRow] = {}
    for result in results:
        rows.setdefault(result.student, StudentRow(result.student, rules=rules)).add(result)
    return [rows[student] for student in sorted(rows)]


def write_tables(
    folder: ResultsFolder, results: Iterable[GradedNotebook], notebooks: list[str], rules: Homework = ANY
) -> list[StudentRow]:
    """Write the three tables from results, which are taken one at a time; returns the rows of grades.csv.

    A notebook that nobody handed in stays blank and does not count.
    """
    rows: dict[str, StudentRow] = {}
    with (
        whole_table(folder.details_csv, DETAILS) as details,
        whole_table(folder.handed_in_csv, HANDED_IN) as files,
    ):
        for result in results:
            who = (result.student, result.notebook)
            for exercise in result.exercises:
                for c in exercise.counted:
                    details.add((*who, exercise.name, c.case, c.points, c.max_points, c.status, c.diagnosis))
            for file in result.handed_in:
                files.add((*who, file.file, file.time, _yes(file.late), _yes(file.graded)))
            rows.setdefault(result.student, StudentRow(result.student, rules=rules)).add(result)
    ordered = [rows[student] for student in sorted(rows)]
    with whole_table(folder.grades_csv, ("student", *notebooks, "total", "max")) as grades:
        for row in ordered:
            points = (row.points.get(notebook, "") for notebook in notebooks)
            grades.add((row.student, *points, row.total, row.max_points))
    return ordered


def write_left_out(path: Path, left_out: Iterable[tuple[str, str]]) -> None:
    """Write (file, why) of what was not read."""
    with whole_table(path, LEFT_OUT) as table:
        for row in left_out:
            table.add(row)


def graded_last(folder: ResultsFolder) -> list[Pair]:
    """What the last run graded, as its tables say: earlier runs may have left more."""
    pairs = folder.read_pairs()
    try:
        with folder.details_csv.open(newline="", encoding="utf-8") as file:
            named = {(row["student"], row["notebook"]) for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError, csv.Error):
        return sorted(pairs)
    return sorted(pair for pair in pairs if tuple(map(no_formula, pair)) in named)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
