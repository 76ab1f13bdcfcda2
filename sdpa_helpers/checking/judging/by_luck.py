"""An answer that never changes is right here and there by luck, and earns nothing by it.

`return np.inf` is right wherever two gradients cannot be compared, and `return True` wherever the truth is True. A case
passed so shows nothing, so it does not count: for an answer whose numbers are one and the same in every case that it
answered, or in nearly every one, when that is wrong in many. What it says apart from that number counts, and where that
holds several numbers and is right, nothing is luck: a mask that shows everything may be meant so.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.conduct import Tried

BY_LUCK = "same-for-all"
"""The fault of such a case."""

ALWAYS = "Your function returns the same number in all cases or most, also where it is wrong."

_SEEN = "right here by luck: the same number comes back in all cases or most"


def without_luck(tried: list[Tried]) -> list[Tried]:
    """The cases, of which those that are passed by luck have failed."""
    if not any(t.verdict.passed for t in tried) or all(t.verdict.passed for t in tried):
        return tried
    lucky = _lucky_number(tried)
    if lucky is None:
        return tried
    return [_failed(t) if t.verdict.passed and numbers_of(t) == {lucky} else t for t in tried]


def _lucky_number(tried: list[Tried]) -> complex | str | None:
    """The number that comes back in nearly every case, and in many where it is wrong; None where there is none."""
    answered = [t for t in tried if t.answer is not None and t.answer.kind in ("array", "number", "tuple")]
    alone = [next(iter(numbers)) for t in answered if len(numbers := numbers_of(t)) == 1]
    if len(answered) < 2 or not alone:
        return None
    number, times = Counter(alone).most_common(1)[0]
    wrong = sum(not t.verdict.passed for t in answered if numbers_of(t) == {number})
    of_two = (
        len(alone) == len(answered) and len(set(alone)) == 2 and not any(map(_is_true_or_false, answered))
    )
    if times == len(answered):
        return number if wrong else None
    if any(t.verdict.passed and len(numbers_of(t)) > 1 for t in answered):
        return None
    nearly = times >= NEARLY_ALL * len(answered) or (of_two and times >= len(answered) / 2)
    return number if nearly and wrong >= times * OFTEN_WRONG else None


NEARLY_ALL = 3 / 4
"""Of the cases. Of only two different numbers, half is enough, but not of True and False."""
OFTEN_WRONG = 1 / 3
"""Of the cases with that number: an answer that tells them apart is wrong in fewer."""


def _is_true_or_false(t: Tried) -> bool:
    return t.answer is not None and t.answer.array is not None and t.answer.array.dtype == bool


def numbers_of(t: Tried) -> set[complex | str]:
    """The first two different numbers that came back; NaN is one of them."""
    return _numbers(t.answer) if t.answer is not None else set()


def _numbers(answer: Answer) -> set[complex | str]:
    """The first two different numbers in an answer; NaN is one of them."""
    found = set().union(*map(_numbers, answer.items))
    values = np.array([]) if answer.array is None else answer.array.ravel()
    for number in (*values[:1], *values[values != values[:1]][:1]) if values.size else ():
        found.add("nan" if np.isnan(number) else complex(number))
    return found


def _failed(t: Tried) -> Tried:
    return replace(t, verdict=replace(t.verdict, status="failed", points=0.0, fault=BY_LUCK, seen=_SEEN))
