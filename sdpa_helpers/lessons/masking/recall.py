"""Lesson 05: three questions about lessons 01 to 04."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction

_S = np.random.default_rng(5).normal(size=(3, 4))


def _shapes() -> str:
    Q, K, V = np.zeros((3, 4)), np.zeros((5, 4)), np.zeros((5, 2))
    weights = softmax(Q @ K.T)
    return f"{weights.shape} and {(weights @ V).shape}"


def _mistake() -> str:
    """Which of three softmaxes gives columns, and not rows, that add up to 1."""
    made = {
        "softmax ran along the wrong axis": softmax(_S, axis=0),
        "the scores were not scaled": softmax(2 * _S),
        "the maximum was taken over the whole matrix": softmax(_S - _S.max()),
    }
    (name,) = (
        name
        for name, W in made.items()
        if np.allclose(W.sum(axis=0), 1) and not np.allclose(W.sum(axis=1), 1)
    )
    return name


def _shift() -> str:
    """For which kinds of shift the weights stay as they are."""
    shifts = {
        "one number for each row": np.array([[3.0], [-2.0], [50.0]]),
        "one number for each key": np.array([3.0, -2.0, 50.0, 0.0]),
    }
    free = [kind for kind, c in shifts.items() if np.allclose(softmax(_S + c), softmax(_S))]
    return {0: "never", 1: free[0] if free else "", 2: "always"}[len(free)]


QUESTIONS = (
    Recalled(
        Prediction(
            "shapes_of_weights_and_output",
            "`Q` has shape (3, 4), `K` (5, 4), `V` (5, 2). What are the shapes of the weights and of the output?",
            (
                Option(
                    "(3, 5) and (3, 2)",
                    "One weight for each pair of a query and a key; one output for each query, as wide as a value.",
                ),
                Option(
                    "(5, 3) and (5, 2)",
                    "This has a row for each key, but it is the queries that ask, and each query gets a row.",
                ),
                Option(
                    "(3, 5) and (3, 4)",
                    "The weights are right, but the output is a mixture of values, so it is as wide as a value.",
                ),
            ),
            after="A mask is a table over the same pairs: it has to fit the weights, (3, 5).",
        ),
        _shapes,
    ),
    Recalled(
        Prediction(
            "columns_add_up",
            "In a matrix of weights every **column** adds up to 1, and the rows do not. What is the mistake?",
            (
                Option(
                    "softmax ran along the wrong axis",
                    "Softmax makes whatever it runs along add up to 1. Along axis 0 the queries compete for each key.",
                ),
                Option(
                    "the scores were not scaled",
                    "That makes rows sharper. They still add up to 1.",
                ),
                Option(
                    "the maximum was taken over the whole matrix",
                    "That can turn a row into NaN. Where it does not, the row still adds up to 1.",
                ),
            ),
        ),
        _mistake,
    ),
    Recalled(
        Prediction(
            "which_shift_is_free",
            "You add numbers to a matrix of scores. When do the weights stay exactly the same, on paper?",
            (
                Option(
                    "when each row has one number added to all of it",
                    "The factor e^{c} is in every exponential of the row and in its sum, so it cancels.",
                    "one number for each row",
                ),
                Option(
                    "when each column has one number added to all of it",
                    "That favors one key over another within each row, so the gaps change.",
                    "one number for each key",
                ),
                Option(
                    "in both cases",
                    "Softmax runs along rows. Only a shift of the whole row cancels.",
                    "always",
                ),
                Option(
                    "never",
                    "That is so for a *factor*, unless all scores tie. A shift of the whole row cancels.",
                ),
            ),
            after="A mask adds 0 to some keys of a row and −∞ to others: it is meant to change the weights.",
        ),
        _shift,
    ),
)

recall = recaller("05_masking", QUESTIONS)
