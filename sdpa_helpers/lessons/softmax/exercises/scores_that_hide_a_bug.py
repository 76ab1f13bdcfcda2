"""Lesson 03, exercise `scores_that_hide_a_bug`: make an input on which two wrong versions of softmax look right."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.small_inputs import finite

PROMPT = r"""`scores_that_hide_a_bug()`: a wrong function can pass a badly chosen test. Choose one as badly as you can.

Here are two wrong versions of softmax over the rows:

```python
def forgets_keepdims(x):
    e = np.exp(x - x.max())
    return e / e.sum(axis=-1)

def over_the_columns(x):
    e = np.exp(x - x.max())
    return e / e.sum(axis=0, keepdims=True)
```

Return a square array of scores, with three to six rows, on which both are right. To keep it interesting, the scores lie between −10 and 10, and any two in the same row differ by at least 0.01.

Your scores earn points for these, where "right" means that every weight agrees to $10^{-12}$:

1. `forgets_keepdims` is right (1 point),
2. `over_the_columns` is right (1 point),
3. both are right, although no two of all your scores are closer than 0.01 (2 points).
"""


def scores_that_hide_a_bug():
    """Scores on which two wrong versions of softmax are right -> an array (n, n)."""
    magic_square = np.array([[8, 1, 6], [3, 5, 7], [4, 9, 2]])  # every row and every column adds up to 15
    return np.log(magic_square)


def _forgets_keepdims(x):
    e = np.exp(x - x.max())
    return e / e.sum(axis=-1)


def _over_the_columns(x):
    e = np.exp(x - x.max())
    return e / e.sum(axis=0, keepdims=True)


def _closest(numbers):
    """The smallest distance between two of them, row by row."""
    return np.diff(np.sort(numbers, axis=-1), axis=-1).min()


def _made(value):
    """The scores, or why there are none."""
    try:
        x = finite(value, "x", (2, 2), 10.0).astype(np.float64)
    except ValueError as error:
        raise Misses(
            "no-scores", "what came back is not an array as the prompt describes it", str(error)
        ) from None
    if x.shape[0] != x.shape[1] or not 3 <= x.shape[0] <= 6:
        raise Misses(
            "no-scores", "it is not a square array with three to six rows", f"its shape is {x.shape}"
        )
    if (close := float(_closest(x))) < 0.01 - 1e-9:
        raise Misses(
            "alike-in-a-row",
            "two scores of one row are less than a hundredth apart",
            f"they differ by {close:.3g}",
        )
    return x


def _keepdims_does_not_show(value):
    x = _made(value)
    off = float(np.abs(_forgets_keepdims(x) - softmax(x)).max())
    if off > 1e-12:
        seen = "the rows' sums of exponentials differ, so forgets_keepdims gives other weights"
        raise Misses("rows-differ", seen, f"by up to {off:.3g}")


def _columns_do_not_show(value):
    x = _made(value)
    off = float(np.abs(_over_the_columns(x) - softmax(x)).max())
    if off > 1e-12:
        _keepdims_does_not_show(value)
        seen = (
            "a column's sum of exponentials is not that of the rows, so over_the_columns gives other weights"
        )
        raise Misses("columns-differ", seen, f"by up to {off:.3g}")


def _all_different(value):
    _columns_do_not_show(value)
    if (close := float(_closest(_made(value).ravel()))) < 0.01 - 1e-9:
        raise Misses(
            "a-number-twice",
            "two of the scores are less than a hundredth apart",
            f"they differ by {close:.3g}",
        )


EXERCISE = Exercise(
    name="scores_that_hide_a_bug",
    lesson="03_softmax",
    title="Make scores on which a wrong softmax looks right",
    prompt=PROMPT,
    section="1. Scores in, weights out",
    difficulty=4,
    minutes=10,
    reference=scores_that_hide_a_bug,
    cases=(
        criterion(
            "forgets_keepdims is right",
            _keepdims_does_not_show,
            says="It divides column j by the sum of row j, where the whole of row i should be divided by the sum of "
            "row i.",
        ),
        criterion(
            "over_the_columns is right",
            _columns_do_not_show,
            says="It divides each column by its own sum.",
        ),
        criterion(
            "and all scores are different",
            _all_different,
            2,
            says="The exponentials of the scores may be any positive numbers, including whole ones.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "alike-in-a-row",
            lambda: np.zeros((3, 3)),
            "Two scores of one row are less than 0.01 apart. With all scores equal nearly every softmax is right: look for a less "
            "obvious input.",
        ),
        WrongAnswer(
            "rows-differ",
            lambda: np.array([[0.0, 1, 2], [2, 0, 1], [1, 2, 0.5]]),
            "The sums of the exponentials differ from row to row, and `forgets_keepdims` then divides by the wrong one. "
            "What if all rows hold the same numbers in some order?",
        ),
        WrongAnswer(
            "columns-differ",
            lambda: np.array([[0.0, 1, 2], [0, 2, 1], [1, 2, 0]]),
            "Every row has the same sum of exponentials, and the columns have others. Let each number stand once in "
            "each row and once in each column, as in a Sudoku.",
        ),
        WrongAnswer(
            "a-number-twice",
            lambda: np.array([[0.0, 1, 2], [2, 0, 1], [1, 2, 0]]),
            "Both wrong versions are right on your scores. For the last two points all numbers have to be different: "
            "look for a square of positive numbers in which every row and every column has the same sum.",
        ),
        WrongAnswer(
            "no-scores",
            lambda: np.arange(6.0).reshape(2, 3),
            "What came back is not a square array of three to six rows with scores between −10 and 10.",
        ),
    ),
    also_right=(
        lambda: np.log(np.array([[2.0, 7, 6], [9, 5, 1], [4, 3, 8]]) / 3),
        lambda: np.log([[16, 3, 2, 13], [5, 10, 11, 8], [9, 6, 7, 12], [4, 15, 14, 1]]).tolist(),  # Dürer's
    ),
    hints=(
        "What does each wrong version divide by, and when is that the same number as the row's own sum?",
        "Both are right when all rows and all columns have the same sum of exponentials. First find scores that repeat, "
        "then exponentials that do not.",
        "A magic square has one sum for all its rows and columns: 8 1 6 / 3 5 7 / 4 9 2. Which scores have these "
        "numbers as their exponentials?",
    ),
)
