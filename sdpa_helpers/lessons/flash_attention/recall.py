"""Lesson 07: three questions about earlier lessons, each about something that this one uses."""

import numpy as np

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def readings_of_keys() -> int:
    """How often tiles of 128 query rows read K and V, for 4,096 queries."""
    return len(range(0, 4096, 128))


def what_an_empty_row_divides() -> str:
    """What softmax, with its maximum subtracted, meets in a row of −∞."""
    row = np.full(3, -np.inf)
    with np.errstate(invalid="ignore"):
        shifted = row - row.max()
    return "−∞ − (−∞)" if np.isnan(shifted).all() else "0 / 0"


def when_a_mask_saves_time() -> str:
    """Of a causal mask in tiles of 4: what is left to compute, when a kernel knows it and when it does not."""
    tiles = causal_mask(16, 16).reshape(4, 4, 4, 4)
    visited, all_tiles = int(tiles.any(axis=(1, 3)).sum()), 16
    return (
        "when the kernel knows which tiles it may skip"
        if visited < all_tiles
        else "never, all pairs are computed"
    )


QUESTIONS = (
    Recalled(
        Prediction(
            "readings_of_keys",
            "Lesson 06. 4,096 tokens in tiles of 128 query rows: how many times are K and V read from memory?",
            (
                Option(
                    "1",
                    "That would take one tile with all queries. Here each tile of queries needs all keys.",
                ),
                Option(
                    "32", "There are 4,096 / 128 = 32 tiles of queries, and each reads all keys and values."
                ),
                Option("128", "That is the number of rows in a tile: they share one reading."),
                Option("4,096", "That would be so if every query read them for itself.", 4096),
            ),
        ),
        readings_of_keys,
    ),
    Recalled(
        Prediction(
            "what_an_empty_row_divides",
            "Lesson 05. In a fully masked row all scores are −∞, and softmax gives NaN. Where does the NaN come from?",
            (
                Option("log 0", "The usual softmax takes no logarithm."),
                Option(
                    "0 / 0",
                    "That comes out if you forget to subtract the maximum: e^{−∞} = 0, and so is the sum.",
                ),
                Option("−∞ − (−∞)", "The maximum of the row is −∞, and it is subtracted from every score."),
            ),
        ),
        what_an_empty_row_divides,
    ),
    Recalled(
        Prediction(
            "when_a_mask_saves_time",
            "Lessons 05 and 06. When does hiding half of the pairs make attention faster?",
            (
                Option(
                    "always", "In the formula the hidden scores are computed first and replaced afterwards."
                ),
                Option(
                    "when the kernel knows which tiles it may skip",
                    "Only a tile that is never computed saves time: `is_causal` says which ones those are.",
                ),
                Option(
                    "when the mask is boolean",
                    "A boolean mask takes fewer bytes, but every score may still be computed.",
                ),
                Option(
                    "never, all pairs are computed", "True of the formula. A kernel in tiles can do better."
                ),
            ),
        ),
        when_a_mask_saves_time,
    ),
)

recall = recaller("07_flash_attention", QUESTIONS)
