"""What grades say of a class, as arrays: who earned which share of which exercise, and who made which mistake."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.course.attempts import Attempt
from sdpa_helpers.grading.result import Graded, GradedExercise, GradedNotebook, GradedWords, is_untouched

Log = tuple[Attempt, ...]
"""Of one learner, the oldest first."""
Rounds = tuple[dict[str, int], dict[str, int]]
"""Of a question: the first votes and the second, learner → option."""


@dataclass(frozen=True)
class Made:
    """A mistake, and who made it."""

    exercise: str
    name: str
    says: str
    who: frozenset[int]
    """By their place among the learners."""


@dataclass(frozen=True)
class Marks:
    """The grades of a class."""

    learners: tuple[str, ...]
    exercises: tuple[str, ...]
    shares: Array
    """learners × exercises, from 0 to 1; NaN where somebody has not tried, or has no mark."""
    mistakes: tuple[Made, ...] = ()


def marks_of(results: Iterable[GradedNotebook]) -> Marks:
    """The grades of all notebooks together."""
    found: dict[str, dict[str, float]] = {}
    made: dict[tuple[str, str], tuple[str, set[str]]] = {}
    exercises: dict[str, None] = {}
    for result in results:
        shares = found.setdefault(result.student, {})
        exercises |= dict.fromkeys(graded.name for graded in result.exercises)
        if result.status in ("missing", "unreadable"):
            continue
        for graded in filter(_has_a_mark, result.exercises):
            shares[graded.name] = min(1.0, max(0.0, graded.points / graded.max_points))
            if isinstance(graded, GradedExercise):
                for mistake in graded.mistakes:
                    made.setdefault((graded.name, mistake.name), (mistake.says, set()))[1].add(result.student)
    learners = tuple(sorted(found))
    place = {name: number for number, name in enumerate(learners)}
    table = [[found[who].get(name, np.nan) for name in exercises] for who in learners]
    mistakes = (Made(*key, says, frozenset(place[name] for name in who)) for key, (says, who) in made.items())
    return Marks(
        learners, tuple(exercises), np.array(table).reshape(len(learners), len(exercises)), tuple(mistakes)
    )


def _has_a_mark(graded: Graded) -> bool:
    waits = isinstance(graded, GradedWords) and graded.waits
    return graded.max_points > 0 and not (graded.failed or waits or is_untouched(graded))
