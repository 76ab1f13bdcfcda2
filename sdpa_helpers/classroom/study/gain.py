"""What a test before and after says: the normalised gain, and how hard each question was in both forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.classroom.teaching.exercises import FEWEST
from sdpa_helpers.classroom.teaching.numbers import draws_of, ends, means, share
from sdpa_helpers.classroom.teaching.tries import FEWEST as FEWEST_ANSWERS
from sdpa_helpers.course.interval import Interval

FORMS = ("A", "B")
TIMES = ("before", "after")
FEWEST_OF_AN_ORDER = 5
"""Learners who began with either form: below, how hard a form is can't be told from what was learned."""


@dataclass(frozen=True)
class Sat:
    """Somebody who sat a test."""

    learner: str
    time: str
    form: str
    right: tuple[bool, ...]


@dataclass(frozen=True)
class QuestionHardness:
    """How hard one question was: the share that had it right, None where too few sat it."""

    form: str
    number: int
    before: Interval | None
    after: Interval | None


@dataclass(frozen=True)
class Gain:
    """What came out."""

    both: int
    """Learners who sat both times, another form each time."""
    others: int
    """Who sat once, or the same form twice: they count for the questions alone."""
    why_not: str
    """Why there is no gain to tell, or ""."""
    before: float = 0.0
    after: float = 0.0
    gain: Interval | None = None
    """Of what the class didn't know before, the share that it knew after (Hake)."""
    forms: Interval | None = None
    """How much easier A is than B, in shares of right answers."""
    questions: tuple[QuestionHardness, ...] = ()

    @property
    def shown(self) -> bool:
        """Whether chance alone is unlikely to have made it."""
        return self.gain is not None and self.gain.low > 0


def gain_of(sat: Sequence[Sat]) -> Gain:
    """The class's gain. Each order of the forms counts the same, so that neither form's hardness is in it."""
    by: dict[str, dict[str, Sat]] = {}
    for one in sat:
        by.setdefault(one.learner, {})[one.time] = one
    both = [times for times in by.values() if set(times) == {*TIMES} and len(_forms(times)) == 2]
    rows = [[float(np.mean(times[time].right)) for time in TIMES] for times in both]
    scores = np.array(rows).reshape(len(both), 2)
    began = np.array([times["before"].form == "A" for times in both], dtype=bool)
    counted = len(both), len(by) - len(both)
    questions = _questions(sat)
    if why := _too_small(began):
        return Gain(*counted, why, questions=questions)
    weights = draws_of(len(both))
    a, b = (means(scores[group], weights[:, group]) for group in (began, ~began))
    before, after = ((a + b) / 2).T
    with np.errstate(invalid="ignore", divide="ignore"):  # a draw of those who had all right
        gains = (after - before) / (1 - before)
    if before[0] >= 1:
        return Gain(*counted, "All had all right before: there was nothing to gain.", questions=questions)
    easier = (a[:, 0] - a[:, 1] + b[:, 1] - b[:, 0]) / 2
    found, forms = (Interval(float(draws[0]), *ends(_finite(draws[1:]))) for draws in (gains, easier))
    return Gain(*counted, "", float(before[0]), float(after[0]), found, forms, questions)


def _forms(times: Mapping[str, Sat]) -> set[str]:
    return {one.form for one in times.values()}


def _too_small(began: Array) -> str:
    if len(began) < FEWEST:
        return (
            f"Too small a class: {len(began)} sat both forms, and a gain takes {FEWEST}. Put terms together."
        )
    if min(began.sum(), (~began).sum()) < FEWEST_OF_AN_ORDER:
        return (
            f"Nearly all began with the same form, so which form is harder can't be told from what was learned: "
            f"{FEWEST_OF_AN_ORDER} or more have to begin with each."
        )
    return ""


def _finite(draws: Array) -> Array:
    return np.where(np.isfinite(draws), draws, np.nan)


def _questions(sat: Sequence[Sat]) -> tuple[QuestionHardness, ...]:
    found = []
    for form in FORMS:
        of = {time: [one.right for one in sat if (one.form, one.time) == (form, time)] for time in TIMES}
        for number in range(max((len(right) for all_of in of.values() for right in all_of), default=0)):
            found.append(QuestionHardness(form, number + 1, *(_share(of[time], number) for time in TIMES)))
    return tuple(found)


def _share(answered: Sequence[tuple[bool, ...]], number: int) -> Interval | None:
    right = sum(one[number] for one in answered)
    return share(right, len(answered)) if len(answered) >= FEWEST_ANSWERS else None
