"""How often each mistake occurs among the wrong answers that the course's tests are made of.

No class was watched. Beside the exercises' pages lie answers that were written for the tests in the ways that
learners, chatbots and public code write them, each with the mistakes that are true of it. Their counts stand in for a
class, and the pages say so.
"""

from collections import Counter
from functools import cache
from typing import NamedTuple

from sdpa_helpers.course.registry import find
from tests.corpus import GENERAL, entries


class Mistake(NamedTuple):
    """A known mistake in one exercise."""

    exercise: str
    name: str
    says: str
    answers: int
    """How many wrong answers to this exercise make it."""
    of: int
    """How many wrong answers to this exercise there are."""


def collection_size() -> tuple[int, int]:
    """(how many answers there are, how many of them are wrong)."""
    return len(entries()), sum(not entry.right for entry in entries())


def how_often(exercise: str) -> tuple[Counter[str], int]:
    """(name → how many of the wrong answers to an exercise make that mistake, how many wrong answers there are)."""
    wrong = [entry for entry in entries() if entry.exercise == exercise and not entry.right]
    return Counter(name for entry in wrong for name in set(entry.names)), len(wrong)


def likely_mistakes(lesson: str, most: int) -> list[Mistake]:
    """The mistakes in a lesson's exercises that most wrong answers make; first one of each exercise, then others.

    Only those with a name of their own: that an answer is a list, or is rounded, can happen anywhere.
    """
    wrong = [entry for entry in entries() if entry.lesson == lesson and not entry.right]
    found = [mistake for exercise in dict.fromkeys(e.exercise for e in wrong) for mistake in met_in(exercise)]
    found.sort(key=lambda m: -m.answers)
    first = {m.exercise: m for m in reversed(found)}
    leading = [m for m in found if first[m.exercise] is m]
    return [*leading, *(m for m in found if m not in leading)][:most]


def met_in(exercise: str) -> list[Mistake]:
    """The mistakes of one exercise with a name of their own, the commonest first."""
    said = _said(exercise)
    counted, of = how_often(exercise)
    known = [(name, count) for name, count in counted.items() if name not in GENERAL and name in said]
    known.sort(key=lambda pair: (-pair[1], list(said).index(pair[0])))
    return [Mistake(exercise, name, said[name], count, of) for name, count in known]


@cache
def _said(exercise: str) -> dict[str, str]:
    """Name → what learners read, of the exercise's own wrong answers."""
    return {wrong.name: wrong.says for wrong in find(exercise).wrong}
