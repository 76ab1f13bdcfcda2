"""Exercises whose answer cell holds code from the start: an answer that does what that did was not attempted.

What counts is what it returns, not its text: a comment mends nothing. Where `Exercise.whole` says so, there are points
only once every case passes: most of them pass with the bug in, and what works may not break.
"""

from dataclasses import replace

from sdpa_helpers.checking.answers.observe import alike, quiet
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.judge import Verdict, outcome

FAULT = "as-it-came"
"""The fault of a case in it."""

SEEN = "the code does what it did when it came"


def is_as_it_came(exercise: Exercise, tried: list[Tried]) -> bool:
    """Whether an answer returns in every case what the starter returns."""
    if exercise.starter is None:
        return False
    with quiet():
        return all(
            t.answer is not None and alike(outcome(t.truth, exercise.starter), t.answer) for t in tried
        )


def not_attempted(tried: list[Tried]) -> list[Tried]:
    """The cases of an answer that is as it came. Its bug is not named: to find it is an exercise of its own."""
    untouched = [
        Verdict(t.verdict.case, "not-attempted", 0.0, t.verdict.max_points, FAULT, SEEN) for t in tried
    ]
    return [replace(t, verdict=verdict) for t, verdict in zip(tried, untouched, strict=True)]


def all_or_nothing(exercise: Exercise, tried: list[Tried]) -> list[Tried]:
    """The cases with their points, or without, where all have to pass and one does not."""
    if not exercise.whole or all(t.verdict.passed for t in tried):
        return tried
    return [replace(t, verdict=replace(t.verdict, points=0.0)) for t in tried]
