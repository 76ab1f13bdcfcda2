"""Results made by hand, for tests of what is made from them."""

from collections.abc import Iterable, Mapping

from sdpa_helpers.course.registry import exercises_of, written_of
from sdpa_helpers.grading.lift_words import unread
from sdpa_helpers.grading.result import (
    CaseStatus,
    Flag,
    Graded,
    GradedCase,
    GradedExercise,
    GradedNotebook,
    LmsIdentity,
    NamedMistake,
    Status,
)
from sdpa_helpers.grading.shape import shape_of

NAME = "01_dot_product"


def case(points: float, of: float, name: str = "a", status: CaseStatus | None = None, **more) -> GradedCase:
    """One case; "passed" when it has points, unless it says otherwise."""
    return GradedCase(name, status or ("passed" if points else "failed"), points, of, **more)


def result(
    student: str,
    exercises: Iterable[Graded],
    notebook: str = NAME,
    status: Status = "graded",
    *,
    lms: LmsIdentity | None = None,
    flags: Iterable[Flag] = (),
    answers: Mapping[str, str] | None = None,
    reason: str = "",
    fingerprint: str = "f",
) -> GradedNotebook:
    """A whole result."""
    return GradedNotebook(
        student,
        notebook,
        status,
        tuple(exercises),
        reason=reason,
        flags=tuple(flags),
        answers=dict(answers or {}),
        shapes={name: shape_of(text) for name, text in (answers or {}).items()},
        lms=lms,
        fingerprint=fingerprint,
    )


MEANS = "This is what it means, & `<b>`."
"""What a mistake made by hand says of itself."""


def like_all(share: float = 0.0, mistake: str = "", unknown: str = "", **more) -> list[GradedExercise]:
    """Every exercise of the first notebook; each of their cases has this share of its points, and whatever else."""
    return [
        GradedExercise(
            e.name,
            e.title,
            e.max_points,
            tuple(case(share * c.points, c.points, c.name, **more) for c in e.cases),
            (NamedMistake(mistake, MEANS),) if mistake else (),
            unknown=unknown,
        )
        for e in exercises_of(NAME)
    ]


def in_words(student: str, notebook: str = "02_variance_proof", **answers: str) -> GradedNotebook:
    """As the grader makes it, of a notebook with nothing but these answers."""
    exercises = [unread(e, answers.get(e.name, "")) for e in written_of(notebook)]
    return result(student, exercises, notebook, answers=answers)
