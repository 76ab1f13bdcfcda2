"""Lesson 04 begins with three questions about lessons 01 to 03: scores' spread, softmax's axis, softmax's shift."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def _spread_of_scores() -> float:
    """Sampled; the standard error is 0.04."""
    q, k = np.random.default_rng(0).standard_normal((2, 20_000, 64))
    return float(np.einsum("nd,nd->n", q, k).std())


def _what_gives_columns_of_one() -> str:
    S = np.random.default_rng(1).standard_normal((4, 5))
    e = np.exp(S)
    weights = {
        "softmax ran over the queries": e / e.sum(axis=0),
        "the scale is missing": softmax(S * 8),
        "softmax was applied twice": softmax(softmax(S)),
    }
    (mistake,) = [name for name, A in weights.items() if np.allclose(A.sum(axis=0), 1)]
    return mistake


def _when_a_shift_matters() -> str:
    rng = np.random.default_rng(2)
    moved = [
        np.abs(softmax(x + c) - softmax(x)).max()
        for x in rng.standard_normal((20, 5))
        for c in (-7.0, 0.1, 1000.0)
    ]
    return "never" if max(moved) < 1e-9 else "sometimes"


QUESTIONS = (
    Recalled(
        Prediction(
            "spread_of_scores",
            "The coordinates of *q* and *k* are independent, with mean 0 and variance 1, and d_{k} = 64. "
            "What is the standard deviation of the raw score q · k?",
            (
                Option("1", "That is the standard deviation *after* dividing by √d_{k}.", right=(0.95, 1.05)),
                Option(
                    "8",
                    "The variances of the 64 products add up to 64, and its square root is 8 (lesson 02).",
                    right=(7.8, 8.2),
                ),
                Option(
                    "64", "That is the variance. The standard deviation is its square root.", right=(63, 65)
                ),
            ),
            measured="{:.1f}",
        ),
        _spread_of_scores,
    ),
    Recalled(
        Prediction(
            "columns_add_up",
            "Four queries, five keys. Every *column* of a colleague's weights adds up to 1, and the rows do not. "
            "Which mistake is that?",
            (
                Option(
                    "the scale is missing",
                    "Then the weights are sharper, but each row still adds up to 1.",
                    right="the scale is missing",
                ),
                Option(
                    "softmax ran over the queries",
                    "Softmax makes its own axis add up to 1. It belongs on the axis of the keys, the last one "
                    "(lesson 03).",
                    right="softmax ran over the queries",
                ),
                Option(
                    "softmax was applied twice",
                    "Then the weights are nearly equal, but each row still adds up to 1.",
                    right="softmax was applied twice",
                ),
            ),
        ),
        _what_gives_columns_of_one,
    ),
    Recalled(
        Prediction(
            "shift_of_scores",
            "You add one number to all scores of a row, in exact arithmetic. When do the weights change?",
            (
                Option(
                    "never", "The factor e^{c} stands above and below the fraction, and cancels (lesson 03)."
                ),
                Option(
                    "only if the number is large",
                    "A large number can overflow *in floats*. On paper it cancels.",
                ),
                Option("always", "Multiplying all scores changes the weights. Adding one number does not."),
            ),
            after="So no gradient can point that way: remember it when rows of *dS* turn out to add up to 0.",
        ),
        _when_a_shift_matters,
    ),
)

recall = recaller("04_gradients", QUESTIONS)
