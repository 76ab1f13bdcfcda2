"""Lesson 06: three questions about earlier lessons, each about something that this one uses."""

import numpy as np

from sdpa_helpers.attention import causal_mask, softmax
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def pairs_that_a_causal_mask_allows() -> int:
    """Of 6 queries and 6 keys."""
    return int(causal_mask(6, 6).sum())


def step_that_was_left_out() -> str:
    """Which of three steps is missing when softmax of scores near 1,000 is NaN."""
    scores = np.array([1000.0, 1001.0])
    with np.errstate(over="ignore", invalid="ignore"):
        weights = {
            "subtracting the maximum": np.exp(scores) / np.exp(scores).sum(),
            "dividing by √dₖ": softmax(scores * 8.0),
            "dividing by the sum": np.exp(scores - scores.max()),
        }
    (missing,) = (step for step, row in weights.items() if np.isnan(row).any())
    return missing


def shift_that_changes_nothing() -> str:
    """What may be added to a matrix of scores without a change in the weights: the widest of three."""
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(4, 5))
    added = {
        "any number for each score": rng.normal(size=(4, 5)),
        "one number for each column": rng.normal(size=(1, 5)),
        "one number for each row": rng.normal(size=(4, 1)),
        "nothing": np.zeros((4, 5)),
    }
    return next(what for what, c in added.items() if np.allclose(softmax(scores + c), softmax(scores)))


QUESTIONS = (
    Recalled(
        Prediction(
            "pairs_that_a_causal_mask_allows",
            "Lesson 05. With 6 tokens and a causal mask, how many of the 36 pairs of a query and a key are allowed?",
            (
                Option("15", "That is the part below the diagonal. But a token may attend to itself, too."),
                Option("18", "That is half of 36, but the whole diagonal is allowed."),
                Option("21", "1 + 2 + … + 6 = 6 · 7 / 2: the lower triangle with its diagonal."),
                Option("36", "Some programs compute all pairs, but the mask hides the later keys."),
            ),
        ),
        pairs_that_a_causal_mask_allows,
    ),
    Recalled(
        Prediction(
            "step_that_was_left_out",
            "Lesson 03. Softmax of the scores 1,000 and 1,001 comes out as NaN. Which step was left out?",
            (
                Option(
                    "dividing by √dₖ",
                    "The scale makes scores smaller, but softmax is defined for scores of any size.",
                ),
                Option(
                    "subtracting the maximum",
                    "e^{1000} overflows to ∞, and ∞/∞ is NaN. Minus the maximum, no exponential exceeds 1.",
                ),
                Option(
                    "dividing by the sum",
                    "Without it the weights would not add up to 1, but they would be finite.",
                ),
            ),
        ),
        step_that_was_left_out,
    ),
    Recalled(
        Prediction(
            "shift_that_changes_nothing",
            "Lesson 03. You add something to a matrix of scores, and no weight changes. When is that certain?",
            (
                Option(
                    "any number for each score",
                    "Then gaps between scores change, and weights depend on the gaps.",
                ),
                Option(
                    "one number for each column",
                    "That favors some keys over others, in every row.",
                ),
                Option(
                    "one number for each row",
                    "All scores of a query move together, so the gaps between them stay.",
                ),
                Option(
                    "nothing",
                    "Adding nothing is certainly safe, but so is more: only gaps within a row count.",
                ),
            ),
        ),
        shift_that_changes_nothing,
    ),
)

recall = recaller("06_complexity", QUESTIONS)
