"""Lesson 02 begins with three questions about lesson 01. Each answer is computed."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction

_SHAPE = Prediction(
    "shape_of_the_scores",
    "`Q` has the shape (7, 4) and `K` the shape (5, 4). What is the shape of the scores QKᵀ?",
    (
        Option("(4, 4)", "That is QᵀK, if it could be computed: the 4 is what the product sums over."),
        Option("(5, 7)", "That is KQᵀ, a row for each key. Scores have a row for each query."),
        Option("(7, 4)", "That is the shape of `Q`. A score needs a query and a key."),
        Option("(7, 5)", "A row for each query, a column for each key."),
    ),
)

_MISTAKE = Prediction(
    "transposed_batch",
    "Two sentences at once: `Q` has the shape (2, 3, 4), `K` the shape (2, 5, 4), and `Q @ K.T` raises an error. "
    "What is the mistake?",
    (
        Option(
            "`.T` reverses all three axes",
            "The batch no longer comes first. `np.swapaxes(K, -1, -2)` leaves it where it is.",
            right="(4, 5, 2)",
        ),
        Option(
            "3 queries need 3 keys",
            "They don't: 3 queries and 5 keys make a 3 × 5 table of scores.",
        ),
        Option(
            "`K` must not be transposed",
            "Without a transpose, rows of 4 numbers would meet columns of 5.",
        ),
    ),
    measured="`K.T` has the shape {}",
)

_WHEN = Prediction(
    "cosine_and_score",
    "The key that points most nearly in the query's direction also has the largest score. When is that always true?",
    (
        Option("always", "A long key can overtake: its score is its cosine times its length."),
        Option("when the query has length 1", "A longer query stretches all its scores alike, and changes no order."),
        Option("when all keys have the same length", "Then score and cosine differ by one factor, the same for all."),
        Option("when all scores are positive", "Two keys may score 2 and 3, and the second be merely longer."),
    ),
)  # fmt: skip


def _shape() -> str:
    return str((np.ones((7, 4)) @ np.ones((5, 4)).T).shape)


def _mistake() -> str:
    return str(np.ones((2, 5, 4)).T.shape)


def _when() -> str:
    """The weakest condition under which largest cosine and largest score agreed in each of 300 draws."""
    rng = np.random.default_rng(1)

    def unit(x: np.ndarray) -> np.ndarray:
        return x / np.linalg.norm(x, axis=-1, keepdims=True)

    conditions: dict[str, Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
        "always": lambda q, K: (q, K),
        "when the query has length 1": lambda q, K: (unit(q), K),
        "when all scores are positive": lambda q, K: (abs(q), abs(K)),
        "when all keys have the same length": lambda q, K: (q, 3 * unit(K)),
    }

    def agree(condition: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]) -> bool:
        q, K = condition(rng.standard_normal(3), rng.standard_normal((6, 3)))
        return bool((K @ q).argmax() == (unit(K) @ q).argmax())

    return next(name for name, condition in conditions.items() if all(agree(condition) for _ in range(300)))


QUESTIONS = (Recalled(_SHAPE, _shape), Recalled(_MISTAKE, _mistake), Recalled(_WHEN, _when))

recall = recaller("02_variance_proof", QUESTIONS)
