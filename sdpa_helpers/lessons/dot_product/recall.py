"""Lesson 01: three questions about lesson 00, and about what one brings along."""

import numpy as np

from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def _shape_of_a_product() -> str:
    return str((np.ones((2, 3)) @ np.ones((3, 4))).shape)


_SLIPS = {
    "the sum at the end": np.sum,
    "the mean at the end": np.mean,
    "the square root at the end": lambda products: np.sqrt(products.max()),
}
"""What may have been left out after the products were taken."""


def _what_is_missing() -> str:
    """Which last step turns the answer that was handed in into the right one."""
    q, k = np.array([1, 0, -1]), np.array([1, 0, -0.5])
    handed_in = q * k
    (found,) = [name for name, step in _SLIPS.items() if np.isclose(step(handed_in), q @ k)]
    return found


_KINDS = ("any weights", "weights that add up to 1", "positive weights that add up to 1")


def _when_a_mean_stays_inside() -> str:
    """The weakest of three conditions on weights under which no weighted mean of 4, 5 and 9 leaves 4 to 9."""
    rng = np.random.default_rng(0)
    free = rng.normal(size=(1000, 3))
    drawn = (free, free - (free.sum(axis=-1, keepdims=True) - 1) / 3, rng.dirichlet([1, 1, 1], size=1000))
    means = (weights @ [4.0, 5.0, 9.0] for weights in drawn)
    return next(kind for kind, mean in zip(_KINDS, means, strict=True) if mean.min() >= 4 and mean.max() <= 9)


QUESTIONS = (
    Recalled(
        Prediction(
            "shape_of_a_product",
            "A matrix of shape (2, 3) times a matrix of shape (3, 4): what is the shape of the product?",
            (
                Option("(2, 4)", "The inner size, 3, is summed over. The outer ones stay."),
                Option("(3, 3)", "The two 3s are the ones that go: they are summed over."),
                Option("(4, 2)", "The outer sizes, but in the wrong order: rows come from the left matrix."),
                Option("none: it is an error", "It would be, if the two inner sizes differed."),
            ),
        ),
        _shape_of_a_product,
    ),
    Recalled(
        Prediction(
            "what_is_missing",
            "In lesson 00 somebody wrote the dot product of (1, 0, −1) and (1, 0, −0.5), and their function returned "
            "[1, 0, 0.5]. What did they forget?",
            (
                Option("the mean at the end", "That would give 0.5. A dot product is a sum, not a mean."),
                Option("the sum at the end", "1 + 0 + 0.5 = 1.5: a dot product is one number."),
                Option("the square root at the end", "That belongs to a length: the root of q · q."),
            ),
        ),
        _what_is_missing,
    ),
    Recalled(
        Prediction(
            "when_a_mean_stays_inside",
            "You mix the numbers 4, 5 and 9 with three weights. "
            "Which weights are sure to give a result between 4 and 9?",
            (
                Option("any weights", "Weights 1, 1, 1 already give 18."),
                Option("weights that add up to 1", "2, 0, −1 add up to 1 and give −1."),
                Option(
                    "positive weights that add up to 1",
                    "Then the result is an average, and an average stays in the range of its numbers.",
                ),
            ),
        ),
        _when_a_mean_stays_inside,
    ),
)

recall = recaller("01_dot_product", QUESTIONS)
