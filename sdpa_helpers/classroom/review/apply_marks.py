"""Bring marks into what was graded: records, tables, gradebook, feedback pages and the class report."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL

from sdpa_helpers.checking.written_exercise import WrittenExercise
from sdpa_helpers.classroom.lock import held
from sdpa_helpers.classroom.pages.class_report import class_page, summarise
from sdpa_helpers.classroom.pages.feedback import feedback_page
from sdpa_helpers.classroom.results_folder import (
    no_formula,
    read_results,
    write_gradebook,
    write_result,
    write_tables,
    write_text,
)
from sdpa_helpers.classroom.review.marks_store import Key, Mark, load_marks
from sdpa_helpers.grading.grade_one import Record
from sdpa_helpers.grading.lift_words import MARKED, TO_REVIEW, unmarked, waits
from sdpa_helpers.lessons.registry import LESSONS, all_written

GRADEBOOK = "SDPA_REVIEW_GRADEBOOK"
"""Environment variable that tells the panel the gradebook's URL: a password must not stand in a notebook."""


@dataclass
class Applied:
    """What bringing in marks did: submissions that changed, answers that are marked, answers that wait."""

    changed: int = 0
    marked: int = 0
    waiting: int = 0

    def told(self) -> str:
        """The same in words."""
        return f"Answers marked: {self.marked}, waiting: {self.waiting}; submissions changed: {self.changed}."


def with_marks(record: Record, marks: dict[Key, Mark]) -> Record:
    """The record with the marks of its written answers. The same marks give the same record, whatever it had before."""
    exercises = {
        name: _with_mark(record, name, graded, marks) for name, graded in record["exercises"].items()
    }
    points = sum(graded["points"] for graded in exercises.values())
    return {**record, "points": points, "exercises": exercises}


def _with_mark(record: Record, name: str, graded: dict[str, Any], marks: dict[Key, Mark]) -> dict[str, Any]:
    if not graded.get("written") or not graded["digest"]:
        return graded
    plain = {key: value for key, value in graded.items() if key != "mark"}
    mark = marks.get(Key(record["student"], record["notebook"], name, graded["digest"]))
    exercise = all_written().get(name)
    if exercise is None:
        return graded
    if mark is None or mark.points is None:
        return {**plain, "points": 0.0, "cases": [unmarked(TO_REVIEW, graded["max_points"])]}
    points = min(max(mark.points, 0.0), graded["max_points"])
    full = points == graded["max_points"]
    case = unmarked(MARKED, graded["max_points"], "A person has read this answer.")
    case |= {"passed": full, "points": points, "diagnosis": "" if full else MARKED}
    return {**plain, "points": points, "cases": [case], "mark": _told(exercise, mark)}


def _told(exercise: WrittenExercise, mark: Mark) -> dict[str, Any]:
    """What a learner reads of a mark: every criterion with whether it is met, points on top, the comment."""
    criteria = [{"asks": c.asks, "points": c.points, "given": c.key in mark.given} for c in exercise.criteria]
    return {"criteria": criteria, "adjusted": mark.adjusted, "comment": mark.comment}


def apply_marks(out: Path, gradebook: str | None = None) -> Applied:
    """Bring all marks into the results in `out` and everything made from them.

    gradebook: a SQLAlchemy URL; without one the SQLite file in `out`, when there is one. Raises lock.Taken while
    a grader works in the folder, record.CannotWrite and marks.CannotKeep.
    """
    done = Applied()
    with held(out):
        marks, pairs = load_marks(out), _of_last_run(out)
        for record in read_results(out, pairs):
            after = with_marks(record, marks)
            written = [graded for graded in after["exercises"].values() if graded.get("written")]
            done.waiting += sum(map(waits, written))
            done.marked += sum(graded["cases"][0]["status"] == MARKED for graded in written)
            if after != record:
                write_marked(out, after)
                done.changed += 1
        write_tables(out, read_results(out, pairs), list(LESSONS))
        book = out / "gradebook.db"
        if gradebook or book.is_file():
            url = gradebook or URL.create("sqlite", database=str(book.resolve()))
            write_gradebook(url, read_results(out, pairs))
        write_text(out / "class.html", class_page(summarise(read_results(out, pairs)), out))
    return done


def _of_last_run(out: Path) -> list[tuple[str, str]]:
    """(student, notebook) of what the last run graded, as its tables tell: earlier runs may have left more."""
    pairs = {(record["student"], record["notebook"]) for record in read_results(out)}
    try:
        with (out / "details.csv").open(newline="", encoding="utf-8") as file:
            told = {(row["student"], row["notebook"]) for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError, csv.Error):
        return sorted(pairs)
    return sorted(pair for pair in pairs if tuple(map(no_formula, pair)) in told)


def write_marked(out: Path, record: Record) -> None:
    """Write the page and the result of a submission.

    The page first: a result file is the sign that all of a submission's output is there.
    """
    write_text(out / "feedback" / record["student"] / f"{record['notebook']}.html", feedback_page(record))
    write_result(out, record)


def to_review(record: Record) -> int:
    """How many answers of a record wait for a reader."""
    return sum(map(waits, record["exercises"].values()))
