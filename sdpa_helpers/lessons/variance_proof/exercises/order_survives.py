"""Lesson 02, exercise `order_survives`: why not divide by the maximum?"""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`order_survives(scores)`: why can't we divide each row by its maximum instead of by $\sqrt{d_k}$? Say for each row whether that would keep the order of its keys.

- `scores`, shape `(..., n_k)`: rows of finite scores, any number of leading axes, including none.
- Returns booleans of shape `(...)`. `True` if the divided row is finite and every two keys compare as before: larger stays larger, equal stays equal.

Examples: {example:1}: it becomes `[1, 0.5]`. {example:2}: it becomes `[1, 2]`. {example:3}: that is a division by 0. {example:4}: it becomes `[1, 1]`.
"""


def order_survives(scores):
    """Does dividing a row by its maximum keep its order? scores (..., n_k) -> bool (...)."""
    largest, smallest = scores.max(axis=-1), scores.min(axis=-1)
    return (largest > 0) | ((largest == smallest) & (largest != 0))


def _order_by_trying(scores):
    """Divide, and compare every pair of keys before and after."""
    divided = scores / scores.max(axis=-1, keepdims=True)
    before = np.sign(scores[..., :, None] - scores[..., None, :])
    after = np.sign(divided[..., :, None] - divided[..., None, :])
    return (before == after).all(axis=(-1, -2))


def _shifted_to_maximum(rng, shape, maxima):
    rows = rng.normal(size=shape)
    return rows - rows.max(axis=-1, keepdims=True) + np.asarray(maxima, dtype=float)[..., None]


def _rows(rng):
    """Maximum above 0, below 0, exactly 0, all equal (below 0, above 0, 0), and one row with two equal scores."""
    rows = _shifted_to_maximum(rng, (8, 5), [1.5, -1.5, 0.0, 20.0, -0.3, 1.0, 1.0, 1.0])
    rows[3:6] = np.array([-2.0, 2.0, 0.0])[:, None]
    rows[-1] = [-9.0, 1.0, -3.0, 0.5, -9.0]
    return (rows,)


def _above_zero(rng):
    """A maximum above 0 in each row; in one of them all other scores are above 0 as well, but for the first, which is 0."""
    rows = _shifted_to_maximum(rng, (4, 5), [0.5, 2.0, 30.0, 1.0])
    rows[1] = [0.0, *np.abs(rows[1, 1:])]
    return (rows,)


def _all_equal(scores):
    return scores.max(axis=-1) == scores.min(axis=-1)


def _tiny(rng):
    """Above 0, below 0, equal below 0, nearly equal below 0: nothing here is 0, and no two scores are nearly equal."""
    rows = np.array([[1.0, -2.0, 0.5], [-1.0, -2.0, -3.0], [-1.0, -1.0, -1.0], [3.0, 3.0, 3.0]])
    return (rows * rng.uniform(1, 2) * 1e-170,)  # their squares are 0 in float64


def _nearly_equal(rng):
    """Rows whose scores are a billionth apart, or whose maximum is a billionth."""
    a = rng.uniform(1, 2)
    return (np.array([[-a, -a - 1e-9], [a + 1e-9, a], [1e-9, -a], [-1e-9, -a], [-a, -a]]),)


def _late_maximum(rng):
    """Forty scores below 0 but for one of the last, which decides."""
    rows = _shifted_to_maximum(rng, (3, 40), [-1.0, -2.0, -1.0])
    rows[0, 37] = rows[2, 39] = 2.0
    return (rows,)


def _largest_in_size(scores):
    return np.take_along_axis(scores, np.abs(scores).argmax(axis=-1)[..., None], -1)[..., 0]


def _no_more_than(apart):
    return lambda scores: np.ptp(scores, axis=-1) <= apart


def _build(divisor, least, keeps, equal, whole, end):
    def answer(scores):
        m = np.broadcast_to(divisor(scores), scores.shape[:-1])
        return end(np.asarray(keeps(m, least[0]) | (equal(scores) & whole(m, least[1]))))

    return answer


_THRESHOLD = (
    "A small maximum is treated like 0 or like a negative one. Any number above 0, however small, keeps the order; only an "
    "exact 0 destroys it."
)
_NEARLY = (
    "Scores that are nearly equal count as equal. Two scores that differ, however little, have an order."
)
_ONE = "There is one answer for the whole array. Every row gets its own True or False."
_NUMBERS = "The answers come as numbers. Return True and False: an array of bool, as a comparison gives it."

MISTAKES = Products(
    (
        Factor(
            "divisor",
            lambda s: s.max(axis=-1),
            (
                Option("largest-in-size", _largest_in_size),
                Option(
                    "sum-instead-of-maximum",
                    lambda s: s.sum(axis=-1),
                    "You looked at the sum. The divisor is the maximum.",
                ),
                Option(
                    "minimum-instead-of-maximum",
                    lambda s: s.min(axis=-1),
                    "You looked at the row's minimum. The divisor is its maximum.",
                ),
                Option(
                    "first-score-instead-of-maximum",
                    lambda s: s[..., 0],
                    "You looked at the first score of the row. The divisor is the maximum.",
                ),
                Option("one-maximum-for-all-rows", lambda s: s.max()),
            ),
        ),
        Factor(
            "least",
            (0.0, 0.0),
            tuple(
                Option("threshold-for-zero", least, _THRESHOLD)
                for n in (12, 8, 10, 6, 9, 3, 15, 100)
                for least in ((10.0**-n, 10.0**-n), (10.0**-n, 0.0), (0.0, 10.0**-n))
            ),
        ),
        Factor(
            "keeps",
            lambda m, least: m > least,
            (
                Option("zero-let-through", lambda m, least: m >= least),
                Option("only-zero-is-bad", lambda m, least: abs(m) > least),
                Option(
                    "above-one-only",
                    lambda m, least: m > 1,
                    "You ask for a maximum above 1. Any maximum above 0 keeps the order.",
                ),
            ),
        ),
        Factor(
            "equal",
            _all_equal,
            (
                Option("equal-scores-forgotten", lambda s: False),
                *(
                    Option("nearly-equal-taken-for-equal", _no_more_than(10.0**-n), _NEARLY)
                    for n in (8, 6, 3, 10, 12)
                ),
                Option(
                    "nearly-equal-taken-for-equal",
                    lambda s: np.isclose(s.max(axis=-1), s.min(axis=-1)),
                    _NEARLY,
                ),
                Option(
                    "standard-deviation-asked-for-zero",
                    lambda s: s.std(axis=-1) == 0,
                    "You ask whether the standard deviation is 0. It is rounded: for equal scores it can come out above 0, "
                    "and for tiny ones that differ it is 0, as their squares are. Compare the largest with the smallest.",
                ),
                Option(
                    "some-equal-scores-are-enough",
                    lambda s: (np.diff(np.sort(s, axis=-1), axis=-1) == 0).any(axis=-1),
                    "You say True where SOME scores of a row below 0 are equal. The others are still reversed: ALL "
                    "of them must be equal.",
                ),
            ),
        ),
        Factor(
            "whole",
            lambda m, least: abs(m) > least,
            (Option("equal-zeros-let-through", lambda m, least: True),),
        ),
        Factor(
            "end",
            lambda kept: kept,
            (
                Option("turned-round", np.logical_not),
                Option("one-answer-for-all-rows", np.all, _ONE),
                Option("one-answer-for-all-rows", np.any, _ONE),
                Option(
                    "axis-kept",
                    lambda kept: kept[..., None],
                    "The last axis is still there, with length 1: leave out keepdims.",
                ),
                Option("numbers-not-booleans", lambda kept: kept.astype(float), _NUMBERS),
            ),
        ),
    ),
    _build,
)


def _by_argsort(scores):
    divided = scores / scores.max(axis=-1, keepdims=True)
    return (np.argsort(scores, axis=-1) == np.argsort(divided, axis=-1)).all(axis=-1)


EXERCISE = Exercise(
    name="order_survives",
    lesson="02_variance_proof",
    title="Why not divide by the maximum?",
    prompt=PROMPT,
    examples=(
        Example(([4, 2],), form="values", points=0.0),
        Example(([-1, -2],), form="values"),
        Example(([0, -1],), form="values"),
        Example(([-3, -3],), form="values"),
    ),
    section="7. Why not divide by the maximum?",
    difficulty=2,
    minutes=10,
    reference=order_survives,
    cases=(
        Case(
            "maximum above 0",
            _above_zero,
            says="A positive maximum keeps the order.",
        ),
        Case(
            "only negative scores",
            lambda rng: (_shifted_to_maximum(rng, (3, 4), [-0.5, -3.0, -200.0]),),
            says="A negative divisor reverses the order.",
        ),
        Case(
            "one row alone, maximum 0",
            lambda rng: (_shifted_to_maximum(rng, (6,), 0.0),),
            says="0 divided by 0 has no order.",
        ),
        Case(
            "all scores equal",
            lambda rng: (
                np.repeat((np.array([-2.0, 0.0, 3.0, -0.25]) * rng.uniform(1, 2))[:, None], 5, axis=1),
            ),
            says="Where nothing is ahead, nothing can be reversed; but 0/0 is still not a number.",
        ),
        Case("everything mixed", _rows, points=2),
        Case(
            "a batch with heads",
            lambda rng: (
                _shifted_to_maximum(rng, (2, 3, 4, 5), np.resize([1.0, -1.0, -1.0, 1.0, 1.0], (2, 3, 4))),
            ),
        ),
        Case(
            "one key",
            lambda rng: (np.array([[[1.0], [-1.0], [0.0]]]) * rng.uniform(1, 2),),
            says="One score divided by itself is 1, and nothing is reversed; but 0/0 is not a number.",
        ),
        Case(
            "one row in a batch of one",
            lambda rng: (_shifted_to_maximum(rng, (1, 1, 4), [[2.0]]),),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case("tiny scores", _tiny, says="A tiny number is not 0."),
        Case(
            "a billionth apart, a billionth above 0",
            _nearly_equal,
            says="Nearly equal is not equal, and nearly 0 is not 0.",
        ),
        Case("forty keys", _late_maximum, says="The maximum can be anywhere in the row."),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "always",
            lambda s: np.ones(s.shape[:-1], dtype=bool),
            "You say that the order always survives. Divide (−1, −2) by −1: it becomes (1, 2).",
        ),
        WrongAnswer(
            "never",
            lambda s: np.zeros(s.shape[:-1], dtype=bool),
            "You say that it never survives. Divide (4, 2) by 4: the order is the same.",
        ),
        WrongAnswer(
            "equal-scores-forgotten",
            lambda s: s.max(axis=-1) > 0,
            "A row of equal scores below 0 becomes a row of ones, and its order, all equal, is kept.",
        ),
        WrongAnswer(
            "zero-let-through",
            lambda s: (s.max(axis=-1) >= 0) | (s.max(axis=-1) == s.min(axis=-1)),
            "You let a maximum of 0 through: 0/0 is NaN, and NaN has no order.",
        ),
        WrongAnswer(
            "zero-let-through-equal-forgotten",
            lambda s: s.max(axis=-1) >= 0,
            "You let a maximum of 0 through: 0/0 is NaN. (And equal scores below 0 keep their order.)",
        ),
        WrongAnswer(
            "equal-zeros-let-through",
            lambda s: (s.max(axis=-1) > 0) | (s.max(axis=-1) == s.min(axis=-1)),
            "A row of zeros is all equal, but 0/0 is NaN: nothing is kept.",
        ),
        WrongAnswer(
            "only-zero-is-bad",
            lambda s: s.max(axis=-1) != 0,
            "You only ruled out division by 0. A negative maximum gives numbers, in the wrong order.",
        ),
        WrongAnswer(
            "all-must-be-positive",
            lambda s: s.min(axis=-1) > 0,
            "You ask that every score is above 0. A maximum above 0 is enough: then the order is kept. And where all scores are "
            "equal, and not 0, it is kept below 0 too.",
        ),
        WrongAnswer(
            "largest-in-size",
            lambda s: (
                (np.take_along_axis(s, np.abs(s).argmax(axis=-1)[..., None], -1)[..., 0] > 0)
                | ((s.max(axis=-1) == s.min(axis=-1)) & (s.max(axis=-1) != 0))
            ),
            "You looked at the score that is largest in size. The maximum is the largest with its sign.",
        ),
        WrongAnswer(
            "one-maximum-for-all-rows",
            lambda s: np.broadcast_to(s.max() > 0, s.shape[:-1]) | (_all_equal(s) & (s.max() != 0)),
            "You took one maximum for the whole array. Each row has its own.",
        ),
        WrongAnswer(
            "hard-coded-axis",
            lambda s: (s.max(axis=1) > 0) | ((s.max(axis=1) == s.min(axis=1)) & (s.max(axis=1) != 0)),
            "You took the maximum along axis 1. That is the keys' axis only where there are two; the last one, -1, always "
            "is.",
        ),
        WrongAnswer(
            "argsort-hides-nan",
            _by_argsort,
            "You compared what argsort says before and after. It puts NaN last without a word, so that 0/0 can look like "
            "an order: ask first whether the divided row is finite.",
        ),
        WrongAnswer(
            "maximum-down-the-columns",
            lambda s: s.max(axis=0) > 0,
            "You took the maximum along the first axis. Each row, along the last axis, has its own.",
        ),
        WrongAnswer(
            "turned-round",
            lambda s: ~order_survives(s),
            "The verdict is the wrong way round: True when the order is kept.",
        ),
    ),
    also_right=(
        _order_by_trying,
        lambda s: (s.max(-1) > 0) | ((np.ptp(s, axis=-1) == 0) & (s[..., 0] != 0)),
        lambda s: np.array(
            [bool(r.max() > 0 or (r.max() == r.min() != 0)) for r in s.reshape(-1, s.shape[-1])]
        ).reshape(s.shape[:-1]),
    ),
    hints=(
        "Try it by hand: (4, 2), (−1, −2), (0, −1), (−3, −3). What do you divide by each time?",
        "Dividing by a positive number keeps every order; by a negative one reverses it; by 0 destroys it.",
        "The maximum along the last axis decides. Then think of rows in which all scores are equal.",
    ),
)
