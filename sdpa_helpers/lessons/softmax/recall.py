"""Lesson 03: three questions about lessons 01 and 02."""

import numpy as np

from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def _spread() -> float:
    """The standard deviation of 20,000 raw scores of independent queries and keys of width 64."""
    q, k = np.random.default_rng(3).standard_normal((2, 20_000, 64))
    return float(np.einsum("id,id->i", q, k).std())


def _cure() -> str:
    """Which change makes a matrix of scores (4, 5) of Q (4, 3) and K (5, 3)."""
    Q, K = np.ones((4, 3)), np.ones((5, 3))
    tried = {
        "K has to be transposed": lambda: Q @ K.T,
        "Q has to be transposed": lambda: Q.T @ K,
        "the scores have to be divided by √3": lambda: Q @ K / np.sqrt(3),
    }
    return next(name for name, scores in tried.items() if _shape(scores) == (4, 5))


def _shape(scores) -> tuple[int, ...]:
    try:
        return scores().shape
    except ValueError:
        return ()


def _longer() -> str:
    """At which angles a key of twice the length scores higher."""
    acute, obtuse = (np.cos(np.radians(angles)) for angles in ((0, 30, 60, 80), (100, 120, 150, 180)))
    rises = bool((2 * acute > acute).all()), bool((2 * obtuse > obtuse).all())
    told = {(True, True): "always", (True, False): "below 90°", (False, True): "above 90°"}
    return told.get(rises, "never")


QUESTIONS = (
    Recalled(
        Prediction(
            "spread_of_raw_scores",
            "Queries and keys have 64 independent coordinates with mean 0 and variance 1. What is the standard "
            "deviation of their raw scores?",
            (
                Option(
                    "about 1",
                    "That is the result after dividing by √64. Raw scores are not divided.",
                    (0.9, 1.1),
                ),
                Option(
                    "about 8",
                    "The variance is d_{k} = 64, and the standard deviation is its root.",
                    (7.8, 8.2),
                ),
                Option("about 64", "That is the variance. The standard deviation is its root.", (62.0, 66.0)),
            ),
            measured="{:.2f}",
        ),
        _spread,
    ),
    Recalled(
        Prediction(
            "scores_that_raise_an_error",
            "`Q` has shape (4, 3), `K` has shape (5, 3), and `Q @ K` raises an error. What is the mistake?",
            (
                Option(
                    "K has to be transposed",
                    "`Q @ K.T` pairs each of 4 queries with each of 5 keys: shape (4, 5).",
                ),
                Option(
                    "Q has to be transposed",
                    "A transpose is missing, but not this one: 4 would meet 5. The inner lengths have to be the 3s.",
                ),
                Option(
                    "the scores have to be divided by √3",
                    "Attention does need that step, but it changes numbers, never a shape.",
                ),
            ),
        ),
        _cure,
    ),
    Recalled(
        Prediction(
            "when_a_longer_key_wins",
            "You double the length of a key and keep its direction. When does its score rise?",
            (
                Option("always", "Length multiplies the score. A negative score becomes more negative."),
                Option(
                    "when its angle with the query is below 90°",
                    "Then the score is positive, and twice as large is higher.",
                    "below 90°",
                ),
                Option(
                    "when its angle with the query is above 90°",
                    "Then the score is negative, and twice as much of it is lower.",
                    "above 90°",
                ),
                Option("never", "Cosine ignores length. The dot product does not."),
            ),
        ),
        _longer,
    ),
)

recall = recaller("03_softmax", QUESTIONS)
