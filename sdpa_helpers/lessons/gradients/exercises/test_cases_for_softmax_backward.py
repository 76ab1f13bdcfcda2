"""Lesson 04, exercise `test_cases_for_softmax_backward`: test cases that catch its known wrong versions."""

import numpy as np

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import finite, so_many
from sdpa_helpers.lessons.gradients.exercises.softmax_backward import EXERCISE as SOFTMAX_BACKWARD

MOST = 3
PROMPT = prompt_of_hunt(
    "softmax_backward",
    MOST,
    "`(weights, grad_weights)`, two arrays of one shape with two to four axes and at most 60 numbers; a row of weights "
    "adds up to 1, or is all zeros.",
    "(([[1/2, 1/2]], [[3, 1]]), [[1/2, -1/2]])",
)


def test_cases_for_softmax_backward():
    """Test cases that catch every known wrong version -> [((weights, grad_weights), expected), ...]."""
    weights = [[1 / 2, 1 / 4, 1 / 4], [0.1, 0.2, 0.7]]
    grad_weights = [[1, 2, 0], [0, 4, -5]]  # averages: 1 and -2.7
    batch = [[[0, 0], [0.3, 0.7]], [[1, 0], [0.5, 0.5]], [[0.2, 0.8], [0.6, 0.4]]]  # the first row is empty
    grad_batch = [[[1, 2], [2, 1]], [[3, 1], [0, 1]], [[1, -1], [2, 0]]]
    grad_scores = [[[0, 0], [0.21, -0.21]], [[0, 0], [-0.25, 0.25]], [[0.32, -0.32], [0.48, -0.48]]]
    return [
        ((weights, grad_weights), [[0, 1 / 4, -1 / 4], [0.27, 1.34, -1.61]]),
        ((batch, grad_batch), grad_scores),
        (([[0.5, 0.5]], [[1000.01, 1000]]), [[0.0025, -0.0025]]),  # float32 loses the difference
    ]


def _promised(inputs):
    so_many(inputs, 2)
    weights, grad_weights = (
        finite(inputs[0], "weights", (2, 4)),
        finite(inputs[1], "grad_weights", (2, 4), 1e6),
    )
    if weights.shape != grad_weights.shape:
        raise ValueError("`weights` and `grad_weights` have different shapes")
    total = weights.sum(axis=-1)
    if (weights < 0).any() or not (np.isclose(total, 1) | (total == 0)).all():
        raise ValueError("a row of `weights` neither adds up to 1 nor is all zeros")
    return weights, grad_weights


def _has_empty_row(weights):
    return not weights.any(axis=-1).all()


HUNT = Hunt(
    of=SOFTMAX_BACKWARD,
    promised=_promised,
    model=test_cases_for_softmax_backward,
    most=MOST,
    blind=(
        BlindSpot(
            "one-row-only", lambda cases: all(weights.size == weights.shape[-1] for weights, _ in cases)
        ),
        BlindSpot("two-axes-only", lambda cases: all(weights.ndim == 2 for weights, _ in cases)),
        BlindSpot("no-empty-row", lambda cases: not any(_has_empty_row(weights) for weights, _ in cases)),
        BlindSpot("whole-gradients-only", lambda cases: not any((grad % 1).any() for _, grad in cases)),
    ),
)


def _those(*numbers):
    return lambda: [case for n, case in enumerate(test_cases_for_softmax_backward(), 1) if n in numbers]


def _batch_with_two_digits():
    return [(([[[0, 0], [0.5, 0.5]]], [[[1, 2], [0.5, 0]]]), [[[0, 0], [0.125, -0.125]]])]


def _no_empty_row():
    (weights, grad), expected = test_cases_for_softmax_backward()[1]
    return [*_those(1, 3)(), ((weights[1:], grad[1:]), expected[1:])]


EXERCISE = Exercise(
    name="test_cases_for_softmax_backward",
    lesson="04_gradients",
    title="Catch every wrong backward pass through softmax",
    prompt=PROMPT,
    section=SOFTMAX_BACKWARD.section,
    difficulty=3,
    minutes=12,
    reference=test_cases_for_softmax_backward,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "one-row-only",
            lambda: [(([[0.2, 0.8]], [[1, -1]]), [[0.32, -0.32]])],
            "All your inputs are one row. Averages over the wrong axis, or over everything, show only where there are "
            "several rows with different averages.",
        ),
        WrongAnswer(
            "two-axes-only",
            _those(1, 3),
            "All your arrays are matrices. Axes that are counted from the wrong end show only with a batch in front.",
        ),
        WrongAnswer(
            "no-empty-row",
            _no_empty_row,
            "None of your rows of weights is empty. The exercise promises zeros for it, and a version that divides by "
            "the row's sum gives NaN.",
        ),
        WrongAnswer(
            "whole-gradients-only",
            _those(1, 2),
            "All your gradients are small whole numbers, which float32 and even float16 hold exactly. Let two large ones "
            "differ by little.",
        ),
        WrongAnswer(
            "some-live",
            _batch_with_two_digits,
            "You look at every kind of input, and still some wrong versions get through. Read what those alive do: "
            "each one is wrong for some input; make that one.",
        ),
        *usual_mistakes(test_cases_for_softmax_backward, ([[0.5, 0.6]], [[1, 2]])),
    ),
    also_right=(
        lambda: test_cases_for_softmax_backward()[::-1],
        lambda: tuple(
            ((np.array(weights, dtype=float), np.array(grad, dtype=float)), np.array(expected))
            for (weights, grad), expected in test_cases_for_softmax_backward()
        ),
    ),
    hints=(
        "The answer needs each row's own average, weighted, over the last axis. Which other averages could somebody take?",
        "Uneven weights, rows with different averages, a batch whose size is not the number of queries, an empty row, "
        "and two large gradients that differ by little.",
        "`(([[0.5, 0.5]], [[1000.01, 1000]]), [[0.0025, -0.0025]])` catches lost digits. For the axes take weights of "
        "shape (3, 2, 2), one row of them zeros.",
    ),
)
