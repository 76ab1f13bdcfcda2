"""Lesson 07, exercise `row_that_hides_a_bug`: make a row on which broken kernels look right, until it is reversed."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import finite

PROMPT = r"""`row_that_hides_a_bug()`: whether a broken kernel is found out depends on the order of the keys. Make a row of seven scores that shows how much.

Here are three kernels for one row, with blocks of two. Each has one bug:

```python
def forgets_to_rescale(row):
    largest, total, weights = -np.inf, 0.0, np.zeros(7)
    for j in range(0, 7, 2):
        largest = max(largest, row[j : j + 2].max())
        weights[j : j + 2] = np.exp(row[j : j + 2] - largest)
        total += weights[j : j + 2].sum()
    return weights / total

def drops_the_rest(row):
    e = np.exp(row - row.max())
    e[6:] = 0                          # three full blocks, and no last one
    return e / e.sum()

def starts_at_zero(row):
    largest = max(0.0, row.max())      # where an online maximum ends that starts at 0
    e = np.exp(row - largest)
    return e / e.sum()
```

Return seven scores between −2000 and 2000, any two of them at least 0.01 apart. They earn a point for each of these, where "right" means that every weight agrees to $10^{-9}$, and "wrong" that one is off by at least 0.1, or NaN:

1. `forgets_to_rescale` is right on your row,
2. `drops_the_rest` is right on your row,
3. both are wrong on your row read from right to left,
4. `starts_at_zero` is wrong in both directions.
"""


def row_that_hides_a_bug():
    """Seven scores on which two broken kernels are right, and wrong once they are reversed -> an array (7,)."""
    return np.array([-1000.0, -1000.5, -1001, -1001.5, -1002, -1002.5, -1100])


def _forgets_to_rescale(row):
    largest, total, weights = -np.inf, 0.0, np.zeros(7)
    for j in range(0, 7, 2):
        largest = max(largest, row[j : j + 2].max())
        weights[j : j + 2] = np.exp(row[j : j + 2] - largest)
        total += weights[j : j + 2].sum()
    return weights / total


def _drops_the_rest(row):
    e = np.exp(row - row.max())
    e[6:] = 0
    return e / e.sum()


def _starts_at_zero(row):
    e = np.exp(row - max(0.0, row.max()))
    return e / e.sum()


def _off(kernel: Callable, row: np.ndarray) -> float:
    """By how much the worst weight is off; ∞ for NaN."""
    worst = float(np.abs(kernel(row) - softmax(row)).max())
    return np.inf if np.isnan(worst) else worst


def _row(value):
    """The scores, or why there are none."""
    try:
        row = finite(value, "row", (1, 1), 2000.0).astype(np.float64)
    except ValueError as error:
        raise Misses(
            "no-row", "what came back is not an array as the prompt describes it", str(error)
        ) from None
    if row.shape != (7,):
        raise Misses("no-row", "it does not hold seven scores", f"its shape is {row.shape}")
    if (close := float(np.diff(np.sort(row)).min())) < 0.01 - 1e-9:
        raise Misses("too-close", "two scores are less than a hundredth apart", f"they differ by {close:.3g}")
    return row


def _order_does_not_show(value):
    row = _row(value)
    if (off := _off(_forgets_to_rescale, row)) > 1e-9:
        seen = "a block after the first brings a larger score, and forgets_to_rescale is wrong"
        raise Misses("largest-comes-late", seen, f"a weight is off by {off:.3g}")


def _rest_does_not_show(value):
    row = _row(value)
    if (off := _off(_drops_the_rest, row)) > 1e-9:
        seen = "the last score has a weight that counts, and drops_the_rest loses it"
        raise Misses("last-score-counts", seen, f"a weight is off by {off:.3g}")


def _reversed_shows(value):
    row = _row(value)[::-1].copy()
    for name, kernel in (("forgets_to_rescale", _forgets_to_rescale), ("drops_the_rest", _drops_the_rest)):
        if (off := _off(kernel, row)) < 0.1:
            seen = f"read from right to left, {name} is not wrong by 0.1 or more"
            raise Misses("right-in-both-directions", seen, f"its worst weight is off by {off:.3g}")


def _level_shows(value):
    row = _row(value)
    if (off := _off(_starts_at_zero, row)) < 0.1:
        seen = "starts_at_zero is not wrong by 0.1 or more"
        raise Misses(
            "not-far-below-zero",
            seen,
            f"the largest score is {row.max():.5g}, its worst weight off by {off:.3g}",
        )


EXERCISE = Exercise(
    name="row_that_hides_a_bug",
    lesson="07_flash_attention",
    title="Make a row that hides a bug, and shows it in reverse",
    prompt=PROMPT,
    section="7. What goes wrong",
    difficulty=3,
    minutes=8,
    reference=row_that_hides_a_bug,
    cases=(
        criterion(
            "forgets_to_rescale is right",
            _order_does_not_show,
            says="It divides by the right sum only if no block after the first brings a larger score.",
        ),
        criterion(
            "drops_the_rest is right",
            _rest_does_not_show,
            says="Seven scores make three blocks of two, and one score is left over.",
        ),
        criterion(
            "both are wrong in reverse", _reversed_shows, says="The first score is now the one left over."
        ),
        criterion(
            "starts_at_zero is wrong",
            _level_shows,
            says="With 0 for the maximum the exponentials are those of the scores themselves. When are they all 0?",
        ),
    ),
    wrong=(
        WrongAnswer(
            "largest-comes-late",
            lambda: np.array([-1000.5, -1001, -1002, -1003, -1000, -1001.5, -1100]),
            "The largest score is not in the first block, so what was summed up before it has the wrong maximum. Put it first "
            "or second.",
        ),
        WrongAnswer(
            "last-score-counts",
            lambda: np.array([-1000.0, -1001, -1002, -1003, -1004, -1005, -1006]),
            "The last score has a weight of more than a billionth, and dropping it shows. A score 30 below the largest has "
            "practically none.",
        ),
        WrongAnswer(
            "right-in-both-directions",
            lambda: np.array([-1050.0, -1000, -1100, -1101, -1102, -1103, -1104]),
            "Read from right to left one of the two is still right, or nearly so. Your first score is then the one that is "
            "dropped, and the scores before the largest are summed up with too small a maximum: both have to matter.",
        ),
        WrongAnswer(
            "not-far-below-zero",
            lambda: np.array([3.0, 2.5, 2, 1.5, 1, 0.5, -100]),
            "`starts_at_zero` is right on your row: as long as some exp(score) is a number above 0, any maximum will do. Move "
            "the whole row down, until all of them underflow.",
        ),
        WrongAnswer(
            "too-close",
            lambda: np.full(7, -1000.0),
            "Two of your scores are less than 0.01 apart. Let all seven differ.",
        ),
        WrongAnswer(
            "no-row",
            lambda: np.zeros((2, 7)),
            "What came back is not an array of seven scores between −2000 and 2000.",
        ),
    ),
    also_right=(
        lambda: [-900, -900.6, -901.2, -901.8, -902.4, -903, -1900],
        lambda: np.array([-1001.0, -1000, -1003, -1002, -1004, -1005, -1050]),
    ),
    hints=(
        "What has to be true of the first block, and what of the last score, for each bug not to show?",
        "The largest score in the first block, and a last score with next to no weight. In reverse both come out wrong by "
        "themselves, if the first score has some weight. `starts_at_zero` does not care for the order, only for the level.",
        "Six scores that fall in steps of 0.5, and a last one 100 lower. Softmax does not change when you move the whole row: "
        "exp underflows to 0 below −745.",
    ),
)
