"""Who hands in what the course hands out: `solution(f)` shows a right answer, and pasted it earns full points.

Compared is `grading.shape`: the code without comments and with the names taken out. An answer is equal when the
whole body of a handed-out one stands in it. Only solutions that are long enough to tell are asked about; short ones
have one natural form. Of 220 right answers by other people to the others none was equal.
"""

from dataclasses import dataclass, field
from functools import cache

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.grading.result import GradedNotebook
from sdpa_helpers.grading.shape import shape_of, source_of

LONG_ENOUGH = 30
"""Tokens of a solution's body from which being equal to it tells something."""

FEWEST = 3
"""So many equal answers at least before a learner is listed."""

SHARE = 0.75
"""And so large a share of the learner's answers to exercises that can tell."""


@dataclass
class Answered:
    """A learner's answers to exercises whose solution is long enough to tell."""

    student: str
    notebook: str
    """The first in which one is equal, for the link."""
    equal: list[str] = field(default_factory=list)
    """The exercises whose answer is equal to a handed-out one."""
    asked: int = 0
    """How many could tell."""

    @property
    def listed(self) -> bool:
        """Whether it is a good part of them."""
        return len(self.equal) >= FEWEST and len(self.equal) >= SHARE * self.asked


def count_equal(found: dict[str, Answered], result: GradedNotebook) -> None:
    """Add one submission to what is known of its learner."""
    exercises = exercises_of(result.notebook) if result.notebook in LESSONS else ()
    for exercise in exercises:
        shape, known = result.shapes.get(exercise.name, ""), handed_out(exercise)
        if not shape or not known:
            continue
        learner = found.setdefault(result.student, Answered(result.student, result.notebook))
        learner.asked += 1
        if any(f" {body} " in f" {shape} " for body in known):
            learner.notebook = learner.notebook if learner.equal else result.notebook
            learner.equal.append(exercise.name)


@cache
def handed_out(exercise: Exercise) -> tuple[str, ...]:
    """The bodies of the reference and of other right answers of ours; () where the reference is too short to tell."""
    bodies = [_body(function) for function in (exercise.reference, *exercise.also_right)]
    if len(bodies[0].split()) < LONG_ENOUGH:
        return ()
    return tuple(dict.fromkeys(body for body in bodies if len(body.split()) >= LONG_ENOUGH))


def _body(function) -> str:
    """The shape of a function without its first line; "" where it has no text of its own, as a lambda."""
    source = source_of(function)
    return shape_of(source).partition(" NEWLINE ")[2] if source.startswith("def ") else ""
