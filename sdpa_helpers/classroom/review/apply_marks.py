"""Bring marks into what was graded: results, tables, gradebook, feedback pages and the class report."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.classroom.gradebook import gradebook_place, write_gradebook
from sdpa_helpers.classroom.lock import held
from sdpa_helpers.classroom.marks.digests import digest_of
from sdpa_helpers.classroom.marks.store import AnswerKey, Mark, last_marks
from sdpa_helpers.classroom.pages import write_class_page, write_feedback
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.sentences.bring_in import keep_points, with_sentences
from sdpa_helpers.classroom.sentences.store import read_sentences
from sdpa_helpers.classroom.tables import graded_last, write_tables
from sdpa_helpers.classroom.term.history import Changes, Standing, keep_history, noting
from sdpa_helpers.classroom.term.policy import homework_of
from sdpa_helpers.course.registry import LESSONS, all_written
from sdpa_helpers.grading.lift_words import READ, unmarked
from sdpa_helpers.grading.result import (
    Graded,
    GradedCase,
    GradedExercise,
    GradedNotebook,
    GradedWords,
    ShownCriterion,
    ShownMark,
)

GRADEBOOK = "SDPA_REVIEW_GRADEBOOK"
"""Environment variable that tells the panel the gradebook's URL: a password must not stand in a notebook."""


@dataclass
class Applied:
    """What bringing in marks did."""

    changed: int = 0
    """Submissions that changed."""
    marked: int = 0
    """Answers in words that are marked."""
    waiting: int = 0
    """Answers that nobody has read."""
    changes: Changes = field(default_factory=Changes)
    """Which marks are others than before."""

    def __str__(self) -> str:
        return f"Answers marked: {self.marked}, waiting: {self.waiting}; submissions changed: {self.changed}."


def with_marks(result: GradedNotebook, marks: dict[AnswerKey, Mark]) -> GradedNotebook:
    """The result with the marks of its answers. The same marks give the same result, whatever it had before."""
    return replace(result, exercises=tuple(_with_mark(result, graded, marks) for graded in result.exercises))


def mark_of(result: GradedNotebook, graded: Graded, marks: dict[AnswerKey, Mark]) -> Mark | None:
    """The mark that counts for what a learner handed in: one of this text, or one of any, the later of the two."""
    about = (result.student, result.notebook, graded.name)
    found = [marks.get(AnswerKey(*about, digest)) for digest in {digest_of(result, graded), ""}]
    return max(filter(None, found), key=lambda mark: mark.when, default=None)


def _with_mark(result: GradedNotebook, graded: Graded, marks: dict[AnswerKey, Mark]) -> Graded:
    if result.no_mark in ("missing", "unreadable") or graded.failed:
        return graded
    mark = mark_of(result, graded, marks)
    if isinstance(graded, GradedExercise):
        return replace(graded, mark=None if mark is None else _on_top(graded, mark))
    return _marked_words(graded, mark)


def _on_top(graded: GradedExercise, mark: Mark) -> ShownMark | None:
    """What a person put on top of the cases' points: in all never below 0 or above the maximum."""
    wanted = graded.by_program + mark.change if mark.points is None else mark.points
    adjusted = round(min(max(wanted, 0.0), graded.max_points) - graded.by_program, 4)
    return ShownMark((), adjusted, mark.reason, mark.request) if mark.says_something else None


def _marked_words(graded: GradedWords, mark: Mark | None) -> Graded:
    if not graded.digest:
        return graded
    exercise = all_written().get(graded.name)  # it imports every lesson
    if exercise is None:
        return graded
    if mark is None or mark.points is None:
        return replace(graded, case=unmarked(graded.max_points), mark=None)
    points = min(max(mark.points, 0.0), graded.max_points)
    diagnosis = "" if points == graded.max_points else "marked"
    message = "A person has read this answer."
    case = GradedCase(READ, "marked", points, graded.max_points, diagnosis, message)
    return replace(graded, case=case, mark=_shown(exercise, mark))


def _shown(exercise: WrittenExercise, mark: Mark) -> ShownMark:
    """What a learner reads of a mark: every criterion with whether it is met, points on top, the comment."""
    criteria = tuple(ShownCriterion(c.asks, c.points, c.key in mark.met) for c in exercise.criteria)
    return ShownMark(criteria, mark.change, mark.reason, mark.request)


def apply_marks(folder: ResultsFolder, gradebook: str | None = None) -> Applied:
    """Bring all marks into the results in a folder and everything made from them.

    gradebook: a SQLAlchemy URL; without one the SQLite file in the folder, when there is one. Raises lock.Taken
    while a grader works in the folder, CannotWrite and CannotKeep.
    """
    done, rules = Applied(), homework_of(folder)
    with held(folder.lock):
        marks, pairs = last_marks(folder.marks_db), graded_last(folder)
        sentences = read_sentences(folder.names_toml)
        keep_points(folder.marks_db, folder.read_results(pairs), sentences, marks)

        def brought_in() -> Iterator[GradedNotebook]:
            for result in folder.read_results(pairs):
                after = with_marks(with_sentences(result, sentences), marks)
                done.waiting += after.waiting
                done.marked += sum(words.case.status == "marked" for words in after.words)
                if after != result:
                    write_graded(folder, after)
                    done.changed += 1
                yield after

        now: list[Standing] = []
        write_tables(folder, noting(brought_in(), now), list(LESSONS), rules)
        done.changes = keep_history(folder, now)
        if gradebook or folder.gradebook_db.is_file():
            write_gradebook(gradebook_place(folder, gradebook), folder.read_results(pairs))
        write_class_page(folder, pairs)
    return done


def write_graded(folder: ResultsFolder, result: GradedNotebook) -> None:
    """Write the page and the result of a submission.

    The page first: a result file is the sign that all of a submission's output is there.
    """
    write_feedback(folder, result)
    folder.write_result(result)
