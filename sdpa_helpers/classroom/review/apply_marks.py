"""Bring marks into what was graded: results, tables, gradebook, feedback pages and the class report."""

import csv
from dataclasses import dataclass, replace
from pathlib import Path

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
from sdpa_helpers.grading.lift_words import READ, unmarked
from sdpa_helpers.grading.result import (
    Graded,
    GradedCase,
    GradedNotebook,
    GradedWords,
    ShownCriterion,
    ShownMark,
)
from sdpa_helpers.lessons.registry import LESSONS, all_written

GRADEBOOK = "SDPA_REVIEW_GRADEBOOK"
"""Environment variable that tells the panel the gradebook's URL: a password must not stand in a notebook."""


@dataclass
class Applied:
    """What bringing in marks did: submissions that changed, answers that are marked, answers that wait."""

    changed: int = 0
    marked: int = 0
    waiting: int = 0

    def __str__(self) -> str:
        return f"Answers marked: {self.marked}, waiting: {self.waiting}; submissions changed: {self.changed}."


def with_marks(result: GradedNotebook, marks: dict[Key, Mark]) -> GradedNotebook:
    """The result with the marks of its written answers. The same marks give the same result, whatever it had before."""
    return replace(result, exercises=tuple(_with_mark(result, graded, marks) for graded in result.exercises))


def _with_mark(result: GradedNotebook, graded: Graded, marks: dict[Key, Mark]) -> Graded:
    exercise = all_written().get(graded.name)
    if not isinstance(graded, GradedWords) or not graded.digest or exercise is None:
        return graded
    mark = marks.get(Key(result.student, result.notebook, graded.name, graded.digest))
    if mark is None or mark.points is None:
        return replace(graded, case=unmarked(graded.max_points), mark=None)
    points = min(max(mark.points, 0.0), graded.max_points)
    diagnosis = "" if points == graded.max_points else "marked"
    message = "A person has read this answer."
    case = GradedCase(READ, "marked", points, graded.max_points, diagnosis, message)
    return replace(graded, case=case, mark=_shown(exercise, mark))


def _shown(exercise: WrittenExercise, mark: Mark) -> ShownMark:
    """What a learner reads of a mark: every criterion with whether it is met, points on top, the comment."""
    criteria = tuple(ShownCriterion(c.asks, c.points, c.key in mark.given) for c in exercise.criteria)
    return ShownMark(criteria, mark.adjusted, mark.comment)


def apply_marks(out: Path, gradebook: str | None = None) -> Applied:
    """Bring all marks into the results in `out` and everything made from them.

    gradebook: a SQLAlchemy URL; without one the SQLite file in `out`, when there is one. Raises lock.Taken while
    a grader works in the folder, CannotWrite and CannotKeep.
    """
    done = Applied()
    with held(out):
        marks, pairs = load_marks(out), _of_last_run(out)
        for result in read_results(out, pairs):
            after = with_marks(result, marks)
            done.waiting += after.waiting
            done.marked += sum(words.case.status == "marked" for words in after.words)
            if after != result:
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
    pairs = {(result.student, result.notebook) for result in read_results(out)}
    try:
        with (out / "details.csv").open(newline="", encoding="utf-8") as file:
            named = {(row["student"], row["notebook"]) for row in csv.DictReader(file)}
    except (OSError, KeyError, ValueError, csv.Error):
        return sorted(pairs)
    return sorted(pair for pair in pairs if tuple(map(no_formula, pair)) in named)


def write_marked(out: Path, result: GradedNotebook) -> None:
    """Write the page and the result of a submission.

    The page first: a result file is the sign that all of a submission's output is there.
    """
    write_text(out / "feedback" / result.student / f"{result.notebook}.html", feedback_page(result))
    write_result(out, result)
