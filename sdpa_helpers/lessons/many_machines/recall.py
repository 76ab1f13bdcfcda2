"""Lesson 09: three questions about lessons 05, 07 and 08."""

import numpy as np

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.attention.merge import merge
from sdpa_helpers.lessons.predicting import Recalled, recaller
from sdpa_helpers.show.predict import Option, Prediction


def _share_of_the_second() -> float:
    """How much of a merged output comes from a part with LSE ln 3, where the other has LSE 0."""
    (merged,), _ = merge(np.zeros((1, 1)), np.zeros(1), np.ones((1, 1)), np.log([3.0]))
    return float(merged.item())


def _keys_of_a_slice() -> str:
    """What query 4 sees where is_causal is told of rows 4 to 7 and keys 0 to 7: its row of the mask."""
    seen = np.flatnonzero(causal_mask(4, 8)[0]).tolist()
    told = {(0, 1, 2, 3, 4): "keys 0 to 4", (0,): "key 0 only", tuple(range(8)): "all eight keys"}
    return told[tuple(seen)]


def _heads_for_a_quarter() -> int:
    """How many heads of keys and values take a quarter of the memory of 32."""
    whole = np.zeros((2, 32, 5, 3)).nbytes
    return next(heads for heads in (4, 8, 16) if 4 * np.zeros((2, heads, 5, 3)).nbytes == whole)


QUESTIONS = (
    Recalled(
        Prediction(
            "share_of_the_second_part",
            "Lesson 07. Two parts of a row are merged. Their LSEs are 0 and ln 3. What share of the output comes from "
            "the second part?",
            (
                Option("0.5", "That is the plain average. It would be right if both LSEs were equal."),
                Option(
                    "0.75",
                    "The sums of exponentials are 1 and 3, and 3 of 4 is three quarters.",
                    (0.749, 0.751),
                ),
                Option("1.0", "Its LSE is larger, but merging is soft: the first part keeps its share."),
            ),
            measured="{:.2f}",
        ),
        _share_of_the_second,
    ),
    Recalled(
        Prediction(
            "is_causal_for_a_slice",
            "Lesson 05. A machine has the queries 4 to 7 and the keys 0 to 7. It calls attention with "
            "`is_causal=True`. What does query 4 see?",
            (
                Option("keys 0 to 4", "It should. But the call knows nothing of the queries before it."),
                Option(
                    "key 0 only",
                    "The mask starts at the top left: the first row that it gets counts as row 0. Here that is a bug.",
                ),
                Option("all eight keys", "Then nothing would be hidden. The mask hides too much here."),
            ),
        ),
        _keys_of_a_slice,
    ),
    Recalled(
        Prediction(
            "smaller_by_sharing",
            "Lesson 08. 32 query heads share heads of keys and values. With how many of those does the cache shrink to "
            "a quarter?",
            (
                Option("4", "Eight query heads would share each of them, and the cache would be an eighth."),
                Option("8", "Four query heads share each, so a quarter of the keys and values is left."),
                Option("16", "That is half of them. Two query heads would share each."),
            ),
        ),
        _heads_for_a_quarter,
    ),
)

recall = recaller("09_many_machines", QUESTIONS)
