"""Lesson 01, exercise `test_cases_for_cosine_similarity`: test cases that catch its known wrong versions."""

import math

import numpy as np

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import finite, so_many
from sdpa_helpers.lessons.dot_product.exercises.cosine_similarity import EXERCISE as COSINE_SIMILARITY

MOST = 6
PROMPT = prompt_of_hunt(
    "cosine_similarity",
    MOST,
    "`(q, k)`, two vectors of the same length, with at most 20 coordinates. Lengths down to $10^{-140}$ occur.",
    "(([1, 0], [0, 1]), 0)",
)


def test_cases_for_cosine_similarity():
    """Test cases that catch every known wrong cosine -> [((q, k), expected), ...]."""
    return [
        (([3, 4], [0, -2]), -0.8),
        (([0, 0], [1, 2]), 0),
        (([1, 2], [0, 0]), 0),
        (([3e-140, 4e-140], [3e-140, 4e-140]), 1),
        (([1, -1], [2, -1]), 3 / np.sqrt(10)),
        (([1, 0], [0.003, 1]), 0.003 / np.sqrt(1.000009)),  # digits that rounding loses
    ]


def _promised(inputs):
    so_many(inputs, 2)
    q, k = (
        finite(value, name, (1, 1), 1e140).astype(np.float64)
        for value, name in zip(inputs, "qk", strict=True)
    )
    if q.size != k.size or q.size > 20:
        raise ValueError("`q` and `k` need the same number of coordinates, 20 at most")
    if any(0 < math.hypot(*v) < 0.999e-140 for v in (q, k)):  # rounding may take a little off 1e-140
        raise ValueError("a length is below 1e-140, and not 0")
    return q, k


def _zero(vector):
    return not vector.any()


HUNT = Hunt(
    of=COSINE_SIMILARITY,
    promised=_promised,
    model=test_cases_for_cosine_similarity,
    most=MOST,
    blind=(
        BlindSpot("no-zero-vector", lambda cases: not any(_zero(q) or _zero(k) for q, k in cases)),
        BlindSpot(
            "one-zero-vector-only", lambda cases: not all(any(_zero(c[n]) for c in cases) for n in (0, 1))
        ),
        BlindSpot(
            "nothing-tiny", lambda cases: all(_zero(v) or np.abs(v).max() > 1e-20 for c in cases for v in c)
        ),
        BlindSpot("no-angle-above-90", lambda cases: all(q @ k >= 0 for q, k in cases)),
    ),
)


def _those(*numbers):
    return lambda: [case for n, case in enumerate(test_cases_for_cosine_similarity(), 1) if n in numbers]


EXERCISE = Exercise(
    name="test_cases_for_cosine_similarity",
    lesson="01_dot_product",
    title="Catch every wrong cosine",
    prompt=PROMPT,
    section=COSINE_SIMILARITY.section,
    difficulty=3,
    minutes=12,
    reference=test_cases_for_cosine_similarity,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "no-zero-vector",
            _those(1, 4, 5, 6),
            "None of your vectors is zero. Most wrong versions differ exactly there: what they return for a vector "
            "without a direction.",
        ),
        WrongAnswer(
            "one-zero-vector-only",
            _those(1, 2, 4, 5, 6),
            "Your zero vectors stand in one place only. A version that looks at one of its two arguments gets away.",
        ),
        WrongAnswer(
            "nothing-tiny",
            _those(1, 2, 3, 5, 6),
            "None of your vectors is tiny. A small constant in the denominator, or a threshold, shows only beside "
            "lengths that are smaller still.",
        ),
        WrongAnswer(
            "no-angle-above-90",
            _those(2, 3, 4, 6),
            "None of your angles is above 90°, so a version that drops the sign gets away.",
        ),
        WrongAnswer(
            "some-live",
            _those(1, 2, 3, 4),
            "You look at every kind of input, and still some wrong versions get through. Read what those alive do: "
            "each one is wrong for some input; make that one.",
        ),
        *usual_mistakes(test_cases_for_cosine_similarity, ([1, 2], [1, 2, 3])),
    ),
    also_right=(
        lambda: test_cases_for_cosine_similarity()[::-1],
        lambda: tuple(
            ((np.array(q), np.array(k)), float(c)) for (q, k), c in test_cases_for_cosine_similarity()
        ),
    ),
    hints=(
        "Where does the formula divide by 0? What is added to a denominator to avoid that, and beside what does it show?",
        "Take a zero vector in each place, two vectors of length about 1e-140, an angle above 90°, and numbers whose "
        "sum or largest coordinate is not their length.",
        "`(([3e-140, 4e-140], [3e-140, 4e-140]), 1)` catches what adds a small constant; `(([3, 4], [0, -2]), -0.8)` "
        "catches most others.",
    ),
)
