"""An answer that never changes is right here and there by luck, and earns nothing by it.

`return np.inf` is right wherever two gradients cannot be compared, and `return True` wherever the truth is True. A case
passed so shows nothing, so it does not count: for an answer all of whose numbers, in every case that it answered, are
one and the same, when that is wrong somewhere.
"""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.conduct import Tried
from sdpa_helpers.checking.observe import Answer

BY_LUCK = "same-for-all"
"""The fault of such a case."""

ALWAYS = "Your function returns the same number in every case, whatever it is given."

_SEEN = "right here by luck: the answer is the same in every case"


def without_luck(tried: list[Tried]) -> list[Tried]:
    """The cases, of which those that are passed by luck have failed."""
    if not any(t.verdict.passed for t in tried) or not _always_the_same(tried):
        return tried
    return [_failed(t) if t.verdict.passed else t for t in tried]


def _always_the_same(tried: list[Tried]) -> bool:
    """Whether the same number came back everywhere, in several cases, also where it is wrong."""
    answered = [t for t in tried if t.answer is not None and t.answer.kind in ("array", "number", "tuple")]
    if len(answered) < 2 or all(t.verdict.passed for t in answered):
        return False
    return len(set().union(*(_numbers(t.answer) for t in answered if t.answer))) == 1


def _numbers(answer: Answer) -> set[complex | str]:
    """The first two different numbers in an answer; NaN is one of them."""
    found = set().union(*map(_numbers, answer.items))
    values = np.array([]) if answer.array is None else answer.array.ravel()
    for number in (*values[:1], *values[values != values[:1]][:1]) if values.size else ():
        found.add("nan" if np.isnan(number) else complex(number))
    return found


def _failed(t: Tried) -> Tried:
    return replace(t, verdict=replace(t.verdict, status="failed", points=0.0, fault=BY_LUCK, seen=_SEEN))
