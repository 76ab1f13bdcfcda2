"""Lesson 03, exercise `test_cases_for_softmax`: test cases that catch the known wrong versions of softmax."""

import numpy as np

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import floats, so_many, whole
from sdpa_helpers.lessons.softmax.exercises.softmax import EXERCISE as SOFTMAX

MOST = 6
PROMPT = prompt_of_hunt(
    "softmax",
    MOST,
    "`(x,)` for the last axis or `(x, axis)`; `x` is an array of at most 60 numbers with one to four axes.",
    "(([0, 0],), [1/2, 1/2])",
)


def test_cases_for_softmax():
    """Test cases that catch every known wrong softmax -> [(inputs, expected), ...]."""
    log3 = np.log(3)
    return [
        (([3000, 3000, -3000],), [1 / 2, 1 / 2, 0]),  # too large for exp, half of it too
        (([[-1000, log3 - 1000], [0, log3]],), [[1 / 4, 3 / 4], [1 / 4, 3 / 4]]),  # rows far apart
        (([[0, 0, np.log(2)], [log3, 0, log3]], 0), [[1 / 4, 1 / 2, 2 / 5], [3 / 4, 1 / 2, 3 / 5]]),
        # a hidden key, a score of 0 that is none, and scores below every number put in the place of −∞
        (([[-np.inf, 0, -log3], [-np.inf, -1e37, -3e37]],), [[0, 3 / 4, 1 / 4], [0, 1, 0]]),
        ((np.zeros((2, 3, 4)), -2), np.full((2, 3, 4), 1 / 3)),  # an axis in the middle, from the end
        (([0, 10],), [1 / (1 + np.exp(10)), 1 / (1 + np.exp(-10))]),  # a small weight
    ]


def _promised(inputs):
    so_many(inputs, 1, 2)
    x = floats(inputs[0], "x", (1, 4))
    axis = tuple(whole(axis, "axis", -x.ndim, x.ndim - 1) for axis in inputs[1:])
    if np.isposinf(x).any() or np.isneginf(x.max(axis=axis or -1)).any():
        raise ValueError("`x` holds +∞, or nothing but −∞ along the axis")
    return (x, *axis)


def _only_small(cases):
    return all(np.abs(x[np.isfinite(x)]).max() < 80 for x, *_ in cases)


def _only_the_last_axis(cases):
    return all(not axis or axis[0] in (-1, x.ndim - 1) for x, *axis in cases)


HUNT = Hunt(
    of=SOFTMAX,
    promised=_promised,
    model=test_cases_for_softmax,
    most=MOST,
    blind=(
        BlindSpot("one-row-only", lambda cases: all(x.ndim == 1 for x, *_ in cases)),
        BlindSpot("small-scores-only", _only_small),
        BlindSpot("last-axis-only", _only_the_last_axis),
        BlindSpot("nothing-hidden", lambda cases: not any(np.isneginf(x).any() for x, *_ in cases)),
    ),
)


def _those(*numbers):
    return lambda: [case for n, case in enumerate(test_cases_for_softmax(), 1) if n in numbers]


EXERCISE = Exercise(
    name="test_cases_for_softmax",
    lesson="03_softmax",
    title="Catch every wrong softmax",
    prompt=PROMPT,
    section=SOFTMAX.section,
    difficulty=3,
    minutes=15,
    reference=test_cases_for_softmax,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "one-row-only",
            _those(1, 6),
            "All your inputs are one row. A maximum or a sum over the wrong axis, or a forgotten `keepdims`, shows "
            "only where there are several.",
        ),
        WrongAnswer(
            "small-scores-only",
            _those(3, 5, 6),
            "All your scores are small. Whoever forgets to subtract the maximum, or subtracts something else, gets "
            "away with it until `exp` overflows or comes to 0.",
        ),
        WrongAnswer(
            "last-axis-only",
            _those(1, 2, 4, 6),
            "All your cases work along the last axis, so an answer may ignore `axis`. Try the first axis, and one in "
            "the middle.",
        ),
        WrongAnswer(
            "nothing-hidden",
            _those(1, 2, 3, 5, 6),
            "No score of yours is −∞. The exercise promises weight 0 for it, and several wrong versions give it some.",
        ),
        WrongAnswer(
            "some-live",
            _those(1, 3, 4),
            "You look at every kind of input, and still some wrong versions get through. Read what those alive do: "
            "each one is wrong for some input; make that one.",
        ),
        *usual_mistakes(test_cases_for_softmax, ([-np.inf, -np.inf],)),
    ),
    also_right=(
        lambda: test_cases_for_softmax()[::-1],
        lambda: tuple(
            ((np.array(i[0], dtype=float), *i[1:]), np.array(e)) for i, e in test_cases_for_softmax()
        ),
    ),
    hints=(
        "List what a softmax can get wrong: the axis, the shift, the sum, a score of −∞, a weight that is small.",
        "One case can catch many: rows that lie far apart need their own maximum, and numbers such as `np.log(3)` give "
        "weights that you know exactly, 1/4 and 3/4.",
        "`(([[-1000, np.log(3) - 1000], [0, np.log(3)]],), [[1/4, 3/4], [1/4, 3/4]])` catches most. Add an axis in the "
        "middle, once counted from the end, a score of −∞ beside a score of 0 and beside −1e37, and a weight far below a "
        "thousandth.",
    ),
)
