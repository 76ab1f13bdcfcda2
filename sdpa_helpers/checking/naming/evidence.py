"""How much it says that an answer agrees with a known one: numbers that nobody meets by chance say most."""

from collections.abc import Iterator

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.difference import close

ENOUGH = 2.0
"""Evidence for a name. A number that no one would meet by chance counts 2; 0, 1, an int, True up to 1."""
TWO = 2
"""Cases whose numbers have to tell, for a name that some right cases deny."""


def evidence_in(tried: list[Tried]) -> float:
    """The weight of the numbers that differ from the truth; errors hold none."""
    return sum(
        _weight(want, got) for t in tried if t.answer for want, got in _arrays(t.truth.expected, t.answer)
    )


def tells(t: Tried) -> bool:
    """Whether a finite float is wrong that no one would meet by chance: NaN, True, 0 and whole numbers tell little."""
    pairs = _arrays(t.truth.expected, t.answer) if t.answer else ()
    return any(got.dtype.kind == "f" and _weight(want, got) >= ENOUGH for want, got in pairs)


def off_as_in(dtype: type, pairs: list[tuple[Answer, Answer]], *, shown: bool) -> bool:
    """Whether numbers are off because they passed through a narrower dtype: the source shows it, or the numbers do.

    Finite differences and small numbers added somewhere are off as little. But they are not all numbers of the dtype.
    """
    off = False
    for known, came in _aligned(pairs):
        wide = came.astype(float)
        if not close(known, came).all() and any(np.array_equal(np.round(wide, n), wide) for n in range(3, 9)):
            return False  # cut to so many decimals
        with np.errstate(all="ignore"):
            if not shown and not np.array_equal(came.astype(dtype), came, equal_nan=True):
                return False
        off |= not bool(close(known, came).all())
    return off


def _aligned(pairs: list[tuple[Answer, Answer]]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The arrays of floats that stand in the same place, in the same shape."""
    for known, answer in pairs:
        for want, got in _arrays(known, answer):
            if want is not None and want.dtype.kind == got.dtype.kind == "f" and want.shape == got.shape:
                yield want, got


def _arrays(expected: Answer, answer: Answer) -> Iterator[tuple[np.ndarray | None, np.ndarray]]:
    if answer.kind == "tuple":
        for n, item in enumerate(answer.items):
            want = expected.items[n] if n < len(expected.items) else Answer("none")
            yield from _arrays(want, item)
    elif answer.array is not None:
        yield expected.array, answer.array


def _weight(expected: np.ndarray | None, values: np.ndarray) -> float:
    """The weight of an array's numbers that differ from the truth, or of all where the array itself does."""
    differing = values.ravel()
    if expected is not None and (expected.shape, expected.dtype.kind) == (values.shape, values.dtype.kind):
        differing = values[~close(expected, values)]
    if differing.dtype.kind != "f":
        return min(float(differing.size), ENOUGH)
    numbers = np.unique(differing[np.isfinite(differing)])
    with np.errstate(all="ignore"):
        telling = numbers[np.abs(numbers * 8 - np.round(numbers * 8)) > 1e-9]
    return min(2.0 * telling.size + 0.5 * min(differing.size, 2), ENOUGH)
