"""Lesson 02, exercise `test_cases_for_scaled_scores`: test cases that catch the known wrong versions of it."""

import numpy as np

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import finite, so_many
from sdpa_helpers.lessons.variance_proof.exercises.scaled_scores import EXERCISE as SCALED_SCORES

MOST = 3
PROMPT = prompt_of_hunt(
    "scaled_scores",
    MOST,
    "`(Q, K)`, each an array of at most 60 numbers with two to four axes; the axes in front of the last two are the "
    "same in both.",
    "(([[2, 0, 0, 0]], [[2, 1, 1, 1]]), [[2]])",
)


def test_cases_for_scaled_scores():
    """Test cases that catch every known wrong version -> [((Q, K), expected), ...]."""
    Q, K = [[3, 0, 0], [0, 0, -0.003]], [[1, 2, 3], [2, 0, 1], [0, 1, 0.1], [-2, 5, 2]]
    scores = np.array([[3, 6, 0, -6], [-0.009, -0.003, -0.0003, -0.006]])
    batch_Q = [[[1, 2]], [[3, 4]], [[0, -1]]]
    batch_K = [
        [[1, 0], [0, 1], [1, -1], [2, 5]],
        [[2, 1], [1, 1], [3, 0], [1, 0]],
        [[1, 3], [5, 0], [2, 2], [0, 1]],
    ]
    batch_scores = np.array([[[1, 2, -1, 12]], [[10, 7, 9, 3]], [[-3, 0, -2, -1]]])
    return [
        ((Q, K), scores / np.sqrt(3)),
        ((batch_Q, batch_K), batch_scores / np.sqrt(2)),
        (([[1000.01, 1]], [[1, -1000]]), [[0.01 / np.sqrt(2)]]),  # float32 loses what is left
    ]


def _promised(inputs):
    so_many(inputs, 2)
    Q, K = (finite(value, name, (2, 4), 1e6) for value, name in zip(inputs, "QK", strict=True))
    if Q.shape[:-2] != K.shape[:-2] or Q.shape[-1] != K.shape[-1]:
        raise ValueError("`Q` and `K` need the same last axis, and the same axes in front of the last two")
    return Q, K


def _square(Q, K):
    return Q.shape[-2] == K.shape[-2]


HUNT = Hunt(
    of=SCALED_SCORES,
    promised=_promised,
    model=test_cases_for_scaled_scores,
    most=MOST,
    blind=(
        BlindSpot("two-axes-only", lambda cases: all(Q.ndim == 2 for Q, _ in cases)),
        BlindSpot("as-many-queries-as-keys", lambda cases: all(_square(Q, K) for Q, K in cases)),
        BlindSpot("a-batch-only", lambda cases: not any(Q.ndim == 2 for Q, _ in cases)),
        BlindSpot("whole-numbers-only", lambda cases: all(not (Q % 1).any() for Q, _ in cases)),
    ),
)


def _those(*numbers):
    return lambda: [case for n, case in enumerate(test_cases_for_scaled_scores(), 1) if n in numbers]


def _square_batch():
    Q = np.array([[[1, 2], [0, 1]], [[3, 4], [1, 0]], [[0, -1], [1, 1]]])
    return [((Q, Q), Q @ Q.swapaxes(-1, -2) / np.sqrt(2))]


def _whole():
    (Q, K), scores = test_cases_for_scaled_scores()[0]
    whole = ((np.round(np.array(Q) * [1, 1, 1000]), K), np.array(scores) * [[1], [1000]])
    return [whole, test_cases_for_scaled_scores()[1]]


EXERCISE = Exercise(
    name="test_cases_for_scaled_scores",
    lesson="02_variance_proof",
    title="Catch every wrong scaling",
    prompt=PROMPT,
    section=SCALED_SCORES.section,
    difficulty=3,
    minutes=12,
    reference=test_cases_for_scaled_scores,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "two-axes-only",
            _those(1, 3),
            "All your arrays are matrices. What goes wrong with a batch in front, an axis counted from the wrong end "
            "or `.T` on three axes, does not show.",
        ),
        WrongAnswer(
            "as-many-queries-as-keys",
            _square_batch,
            "You have as many queries as keys everywhere, so versions that divide by the wrong length, or swap the two, "
            "get away. Let all lengths differ.",
        ),
        WrongAnswer(
            "a-batch-only",
            _those(2),
            "None of your cases is without a batch. A version that always expects one more axis gets away.",
        ),
        WrongAnswer(
            "whole-numbers-only",
            _whole,
            "All entries of your queries are whole numbers, which float32 holds exactly, and float16 up to 2,048. Versions that "
            "lose digits show where small differences are left of large numbers, or with numbers that are not round.",
        ),
        WrongAnswer(
            "some-live",
            lambda: [*_square_batch(), test_cases_for_scaled_scores()[0]],
            "You look at every kind of input, and still some wrong versions get through. Read what those alive do: "
            "each one is wrong for some input; make that one.",
        ),
        *usual_mistakes(test_cases_for_scaled_scores, ([[1, 2]], [[1, 2, 3]])),
    ),
    also_right=(
        lambda: test_cases_for_scaled_scores()[::-1],
        lambda: tuple(
            ((np.array(Q, dtype=float), np.array(K, dtype=float)), scores.tolist() if n < 2 else scores)
            for n, ((Q, K), scores) in enumerate(test_cases_for_scaled_scores())
        ),
    ),
    hints=(
        "Which lengths could somebody divide by in place of the right one? Give each of them another value.",
        "One case without a batch, with three or more different lengths. One with a batch whose size is none of these. "
        "And one whose result is what is left of two large numbers.",
        "For the digits: `(([[1000.01, 1]], [[1, -1000]]), [[0.01 / np.sqrt(2)]])`. For the axes: `Q` of shape "
        "(3, 1, 2) and `K` of shape (3, 4, 2).",
    ),
)
