"""Give a mark to any exercise of a learner: find the answer that it is about, and see what is wrong with it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from sdpa_helpers.classroom.marks.digests import digest_of
from sdpa_helpers.classroom.marks.store import AnswerKey, Mark, account, append, read
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import mark_of
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import Graded, GradedNotebook, GradedWords


class CannotGive(Refusal):
    """The mark cannot be given as asked; the text says what was expected and what came."""


@dataclass(frozen=True)
class WantedMark:
    """What somebody wants to give: points, or a change of the program's, or neither and a reason alone."""

    learner: str
    exercise: str
    points: float | None = None
    change: float = 0.0
    reason: str = ""
    asks: str = ""
    """The learner's request that it answers: then what an earlier mark gave stays where nothing else is said."""
    take_back: bool = False

    @property
    def gives_points(self) -> bool:
        """Whether it is about points at all."""
        return self.points is not None or bool(self.change)


@dataclass(frozen=True)
class Answers:
    """The answers that were graded, and the marks they have: what marks are given for."""

    results: tuple[GradedNotebook, ...]
    rows: tuple[Mark, ...]

    @property
    def learners(self) -> list[str]:
        """Their names, sorted."""
        return sorted({result.student for result in self.results})

    def find(self, learner: str, exercise: str) -> tuple[GradedNotebook, Graded]:
        """An answer; CannotGive says what there is instead."""
        mine = [result for result in self.results if result.student == learner]
        if not mine:
            raise CannotGive(f"there is no learner {learner!r}; expected {_among(learner, self.learners)}")
        names = [graded.name for result in mine for graded in result.exercises]
        for result in mine:
            if exercise in names and any(graded.name == exercise for graded in result.exercises):
                return result, result.exercise(exercise)
        raise CannotGive(f"{learner} has no exercise {exercise!r}; expected {_among(exercise, names)}")


def answers_in(folder: ResultsFolder) -> Answers:
    """Those of an --out folder."""
    return Answers(tuple(folder.read_results()), read(folder.marks_db))


def give(folder: ResultsFolder, all_wanted: Iterable[WantedMark], who: str = "") -> tuple[Mark, ...]:
    """Add marks to the rows of a folder, all or none; returns them. Raises CannotGive and CannotKeep.

    Results, tables and pages know of them after `apply_marks`.
    """
    answers = answers_in(folder)
    marks = [as_mark(answers, wanted, who or account()) for wanted in all_wanted]
    return append(folder.marks_db, marks)


def as_mark(answers: Answers, wanted: WantedMark, who: str) -> Mark:
    """The row that says so; CannotGive where it makes no sense."""
    result, graded = answers.find(wanted.learner, wanted.exercise)
    _refuse(result, graded, wanted)
    known = [mark for mark in answers.rows if _is_about(mark, result, graded)]
    about = (result.student, result.notebook, graded.name, digest_of(result, graded))
    settles = any(mark.who != who for mark in known)
    new = Mark(*about, wanted.points, wanted.change, wanted.reason, who, request=wanted.asks, settles=settles)
    before = mark_of(result, graded, _by_key(known))
    if before is None or wanted.gives_points or wanted.take_back:
        return new
    return replace(new, points=before.points, change=before.change, met=before.met)


def _by_key(marks: Iterable[Mark]) -> dict[AnswerKey, Mark]:
    return {mark.key: mark for mark in marks}


def _is_about(mark: Mark, result: GradedNotebook, graded: Graded) -> bool:
    about = (result.student, result.notebook, graded.name)
    return (mark.learner, mark.notebook, mark.exercise) == about and mark.digest in (
        "",
        digest_of(result, graded),
    )


def _refuse(result: GradedNotebook, graded: Graded, wanted: WantedMark) -> None:
    where, most = f"{wanted.learner}, {wanted.exercise}", graded.max_points
    if result.no_mark in ("missing", "unreadable"):
        raise CannotGive(f"{where}: {result.notebook} is {result.no_mark}, so there is no answer to mark")
    if graded.failed:
        raise CannotGive(f"{where}: the grader itself failed on it; run `sdpa grade` again first")
    if wanted.points is not None and not 0 <= wanted.points <= most:  # NaN is refused too
        raise CannotGive(f"{where}: expected points from 0 to {most:g}, got {wanted.points:g}")
    if not -most <= wanted.change <= most:
        raise CannotGive(f"{where}: expected a change from -{most:g} to {most:g}, got {wanted.change:g}")
    if wanted.points is not None and wanted.change:
        raise CannotGive(f"{where}: expected points or a change, got both")
    if isinstance(graded, GradedWords) and wanted.change:
        raise CannotGive(f"{where}: an answer in words gets points, not a change")
    if isinstance(graded, GradedWords) and not graded.digest:
        raise CannotGive(f"{where}: nothing is written there")
    if wanted.take_back and wanted.gives_points:
        raise CannotGive(f"{where}: a mark that is taken back gives no points")
    if not wanted.reason.strip() and not wanted.take_back:
        raise CannotGive(f"{where}: expected a reason, which the learner reads; got none")


def _among(asked: str, known: list[str]) -> str:
    """Those it may have been meant to be."""
    near = get_close_matches(asked, known, 3, 0.5)
    return " or ".join(map(repr, near)) if near else f"one of {', '.join(map(repr, known[:20]))}"
