"""What the inputs have in common on which an answer fails, and on no others: where nothing better is known."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Tried

TWO = 2
"""Cases that fail, and cases that pass: of one alone too much is true."""
LARGE = 100

Trait = tuple[str, Callable[[Any], bool]]


def what_fails(exercise: Exercise, tried: list[Tried]) -> str:
    """One sentence: in exactly the cases that fail something is so; "" where nothing is, or too few fail or pass."""
    passed = [t.verdict.passed for t in tried]
    if min(passed.count(True), passed.count(False)) < TWO or any(t.answer is None for t in tried):
        return ""
    inputs = [t.truth.inputs for t in tried]
    for says, has in _traits(exercise):
        there = [_asked(has, given) for given in inputs]
        if there == [not ok for ok in passed]:
            return f"It fails in exactly the cases in which {says}."
        if there == passed:
            return f"It is right in exactly the cases in which {says}."
    return ""


def _asked(has: Callable[[tuple], bool], given: tuple) -> bool:
    try:
        return bool(has(given))
    except (AttributeError, IndexError, TypeError, ValueError):  # an input of another kind
        return False


def _traits(exercise: Exercise) -> Iterator[tuple[str, Callable[[tuple], bool]]]:
    """What can be asked of the inputs of a case, in words; what concerns one argument says which."""
    yield "an input has more than two axes", lambda given: any(a.ndim > 2 for a in _arrays(given))
    yield "an input is float32", lambda given: any(a.dtype == np.float32 for a in _arrays(given))
    names = list(inspect.signature(exercise.reference).parameters)
    if names[:2] == ["Q", "K"]:
        yield "queries and keys are equally many", lambda given: given[0].shape[-2] == given[1].shape[-2]
    for n, (name, about) in enumerate(inspect.signature(exercise.reference).parameters.items()):
        default = about.default
        if default is not inspect.Parameter.empty:
            yield f"`{name}` isn't {default}", _of(n, lambda x, d=default: x is not d and not _same(x, d))
        for says, has in _OF_ARRAYS:
            yield f"`{name}` {says}", _of(n, has)


def _of(n: int, has: Callable[[Any], bool]) -> Callable[[tuple], bool]:
    return lambda given: n < len(given) and has(given[n])


def _same(value: object, default: object) -> bool:
    return not isinstance(value, np.ndarray) and value == default


def _arrays(given: tuple) -> list[np.ndarray]:
    return [value for value in given if isinstance(value, np.ndarray)]


def _finite(x: np.ndarray) -> np.ndarray:
    return np.abs(x[np.isfinite(x)])


_OF_ARRAYS: tuple[Trait, ...] = (
    ("has one axis", lambda x: x.ndim == 1),
    ("has two axes", lambda x: x.ndim == 2),
    ("has an axis of length 1", lambda x: 1 in x.shape),
    ("is empty", lambda x: x.size == 0),
    ("is square", lambda x: x.ndim > 1 and x.shape[-1] == x.shape[-2]),
    ("holds NaN", lambda x: np.isnan(x).any()),
    ("holds an infinite number", lambda x: np.isinf(x).any()),
    ("holds a number of 100 or more in size", lambda x: _finite(x).max(initial=0) >= LARGE),
    ("holds a negative number", lambda x: x.dtype != bool and (x < 0).any()),
    ("holds an exact 0", lambda x: x.dtype != bool and (x == 0).any()),
    ("has a row without True", lambda x: x.dtype == bool and not x.any(axis=-1).all()),
)
