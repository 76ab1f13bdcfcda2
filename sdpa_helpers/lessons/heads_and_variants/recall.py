"""Lesson 08: three questions about earlier lessons, each about something that this one uses."""

import numpy as np

from sdpa_helpers.attention import causal_mask, scaled_dot_product_attention, softmax
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def shape_of_all_scores() -> str:
    """Of 2 sequences with 4 heads, 6 queries and 5 keys of width 3."""
    Q, K = np.ones((2, 4, 6, 3)), np.ones((2, 4, 5, 3))
    return str((Q @ np.swapaxes(K, -1, -2)).shape)


def mistake_that_lets_columns_sum_to_one() -> str:
    """Which of three mistakes makes the columns of the weights sum to 1 in place of the rows."""
    scores = np.random.default_rng(8).normal(size=(4, 5))
    made = {
        "softmax along the wrong axis": softmax(scores, axis=0),
        "the scale is missing": softmax(scores * np.sqrt(3)),
        "the mask was applied after softmax": softmax(scores) * causal_mask(4, 5),
    }
    return next(name for name, weights in made.items() if np.allclose(weights.sum(axis=0), 1))


def when_a_single_query_sees_all() -> str:
    """With is_causal=True, 1 query and 5 keys: which meaning of the diagonal lets the query see all of them."""
    rng = np.random.default_rng(8)
    q, K, V = rng.normal(size=(1, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    _, upper_left = scaled_dot_product_attention(q, K, V, is_causal=True, return_weights=True)
    _, lower_right = scaled_dot_product_attention(q, K, V, is_causal="lower_right", return_weights=True)
    seen = {"upper left": upper_left, "lower right": lower_right}
    return next(name for name, weights in seen.items() if (weights > 0).all())


QUESTIONS = (
    Recalled(
        Prediction(
            "shape_of_all_scores",
            "`Q` has the shape (2, 4, 6, 3) and `K` the shape (2, 4, 5, 3): 2 sequences, 4 heads. What is the shape "
            "of the scores?",
            (
                Option("(2, 4, 6, 5)", "Leading axes stay. In each head, 6 queries meet 5 keys."),
                Option("(2, 4, 3, 3)", "That is QᵀK: it would pair coordinates, not tokens."),
                Option("(2, 6, 5)", "This is what is left if the heads are added up. They never meet here."),
            ),
        ),
        shape_of_all_scores,
    ),
    Recalled(
        Prediction(
            "mistake_that_lets_columns_sum_to_one",
            "Each *column* of the weights sums to 1, and the rows do not. What is the mistake?",
            (
                Option(
                    "softmax along the wrong axis",
                    "Every query shares out a weight of 1 among its keys, so softmax runs along the last axis.",
                ),
                Option(
                    "the scale is missing",
                    "That makes the rows sharper. Each of them would still sum to 1.",
                ),
                Option(
                    "the mask was applied after softmax",
                    "Then rows sum to less than 1, but nothing makes the columns sum to 1.",
                ),
            ),
        ),
        mistake_that_lets_columns_sum_to_one,
    ),
    Recalled(
        Prediction(
            "when_a_single_query_sees_all",
            "One query, five keys, and a causal mask. When does the query see all five keys?",
            (
                Option(
                    "when the mask's diagonal begins at the upper left",
                    "Then query 0 sees key 0 alone. That is PyTorch's `is_causal=True`.",
                    "upper left",
                ),
                Option(
                    "when it ends at the lower right",
                    "The last query sees all keys: the right meaning for a token that comes after a cache.",
                    "lower right",
                ),
                Option("never", "A causal mask hides the future. For the newest token all keys are past."),
            ),
        ),
        when_a_single_query_sees_all,
    ),
)

recall = recaller("08_heads_and_variants", QUESTIONS)
