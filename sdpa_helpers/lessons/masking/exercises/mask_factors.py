"""A masked softmax, made of parts that can be wrong: the factors that `masked_softmax` and `attention` share.

Parts: what the mask means, where and how it hides, the numerics of softmax, the axis it goes along. Learners get two
of them wrong at once more often than one: hardly any first draft looks after a row that sees nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sdpa_helpers.checking.products import Factor, Option
from sdpa_helpers.lessons.masking.exercises.ways_to_mask import (
    added,
    fill,
    hide,
    rows_hidden,
)


@dataclass(frozen=True)
class Numerics:
    """How exponentials become shares."""

    maximum: Literal["row", "all", "none"] = "row"
    empty: Literal["zeros", "no care", "nan to zero"] | float = "zeros"
    """What is done for a row without a visible key; a number is added to every sum."""
    hide: Callable = hide
    """What becomes of hidden scores, where nothing else is said."""


@dataclass(frozen=True)
class Hiding:
    """Where the mask comes in, and how."""

    stage: Literal["scores", "by index", "exponentials", "weights"] = "scores"
    change: Callable | None = None
    """What is done to the scores; None: as `Numerics.hide` says."""


@dataclass(frozen=True)
class Sums:
    """Along which axis maximum and sum are taken, and how they are put back beside the numbers."""

    axis: Any = -1
    maximum_back: Literal["kept", "None"] = "kept"
    sum_back: Literal["kept", "None"] = "kept"

    def beside(self, reduced: np.ndarray, how: str) -> np.ndarray:
        """The maximum or sum in a shape that broadcasts, or is meant to."""
        if how == "kept":
            return reduced
        return np.squeeze(reduced, axis=self.axis)[:, None]


def weigh(
    scores: np.ndarray, mask: np.ndarray | None, hiding: Hiding, numerics: Numerics, sums: Sums
) -> np.ndarray:
    """Weights from scores, in whatever wrong way the parts say."""
    if mask is not None and hiding.stage == "scores":
        scores = (hiding.change or numerics.hide)(scores, mask)
    if mask is not None and hiding.stage == "by index":
        scores = by_index(scores, mask, numerics.hide)
    e = np.exp(scores - _maximum(scores, numerics, sums))
    if mask is not None and hiding.stage == "exponentials":
        e = e * mask
    total = sums.beside(e.sum(axis=sums.axis, keepdims=True), sums.sum_back)
    if numerics.empty == "zeros":
        weights = e / np.where(total == 0, 1.0, total)
    elif isinstance(numerics.empty, float):
        weights = e / (total + numerics.empty)
    else:
        weights = e / total
    if numerics.empty == "nan to zero":
        weights = np.nan_to_num(weights)
    return weights * mask if mask is not None and hiding.stage == "weights" else weights


def _maximum(scores: np.ndarray, numerics: Numerics, sums: Sums) -> np.ndarray | float:
    if numerics.maximum == "none":
        return 0.0
    if numerics.maximum == "all":
        return scores.max()
    largest = sums.beside(scores.max(axis=sums.axis, keepdims=True), sums.maximum_back)
    if numerics.empty in ("no care", "nan to zero"):
        return largest
    return np.where(np.isfinite(largest), largest, 0.0)


def by_index(scores: np.ndarray, mask: np.ndarray, hide: Callable = hide) -> np.ndarray:
    """Hidden by `scores[~mask] = ...`: that takes a mask of the same shape."""
    scores, hidden = scores.copy(), hide(scores, np.zeros(scores.shape, dtype=bool))
    scores[~mask] = hidden[~mask]
    return scores


def rows_opened(mask: np.ndarray) -> np.ndarray:
    """A row that sees nothing sees everything."""
    return mask | ~mask.any(axis=-1, keepdims=True)


TOO_NEAR = (
    "Hidden scores became a finite number that is not far enough below: a hidden key keeps a weight, or wins where the "
    "visible scores are lower still. −∞ never does."
)

NUMERICS = Factor(
    "numerics",
    Numerics(),
    (
        Option("minus-infinity-minus-minus-infinity", Numerics(empty="no care")),
        Option("finite-fill-on-an-empty-row", Numerics(empty="no care", hide=fill(-1e9))),
        *(
            Option("finite-number-added-on-an-empty-row", Numerics(empty="no care", hide=added(number)))
            for number in (-1e9, -1e10, -1e12)
        ),
        Option("no-maximum-subtracted", Numerics("none", "no care")),
        Option("no-maximum-subtracted-but-guarded", Numerics("none")),
        Option("no-maximum-and-nan-to-zero", Numerics("none", "nan to zero")),
        Option("maximum-of-the-whole-array", Numerics("all", "no care")),
        Option("maximum-of-the-whole-array-but-guarded", Numerics("all")),
        *(Option("epsilon-in-the-denominator", Numerics(empty=epsilon)) for epsilon in (1e-6, 1e-7, 1e-5)),
    ),
)

HIDING = Factor(
    "hiding",
    Hiding(),
    (
        Option("mask-multiplied-into-scores", Hiding(change=fill(0.0))),
        Option("mask-added-as-0-and-1", Hiding(change=lambda s, mask: s + mask)),
        Option("masked-after-softmax", Hiding("weights")),
        Option("hidden-key-sets-the-maximum", Hiding("exponentials")),
        Option("infinity-times-zero", Hiding(change=lambda s, mask: s + (1 - mask) * -np.inf)),
        Option("query-rows-hidden", Hiding(change=rows_hidden)),
        Option("mask-not-broadcast", Hiding("by index")),
        *(
            Option("finite-fill-too-near", Hiding(change=fill(number)), TOO_NEAR)
            for number in (-100.0, -10.0, -1000.0, -1e4, -20.0, -5.0)
        ),
        *(
            Option("finite-number-added-too-small", Hiding(change=added(number)))
            for number in (-1e4, -1000.0, -100.0)
        ),
    ),
)

MEANING = Factor(
    "meaning",
    lambda mask: mask,
    (
        Option("mask-inverted", lambda mask: ~mask),
        Option("mask-ignored", lambda mask: None),
        Option("mask-transposed", lambda mask: np.swapaxes(mask, -1, -2)),
        Option("empty-rows-opened", rows_opened),
        Option("first-mask-of-the-batch", lambda mask: mask.reshape(-1, *mask.shape[-2:])[0]),
    ),
)

SAYS = {
    "minus-infinity-minus-minus-infinity": "Where all that softmax runs over is hidden the maximum is −∞, and −∞ − "
    "(−∞) is NaN. A row with every key hidden has to give zeros.",
    "finite-fill-on-an-empty-row": "With one finite number in every place (−1e9, say), all keys of an "
    "empty row tie, and each gets the same weight. Such a row has to give zeros.",
    "finite-number-added-on-an-empty-row": "You added a number like −1e9 to hidden scores. In a row that is hidden "
    "throughout, it is added everywhere and cancels: the row attends as if there were no mask.",
    "empty-rows-opened": "A row that may see nothing attends in your answer as if it had no mask. A finite number "
    "added to all of its scores cancels in softmax; opening the row by hand does the same. Such a row has to give "
    "zeros.",
    "no-maximum-subtracted": "exp overflows above 709 and is 0 below −745, also where a whole row is hidden: ∞/∞ and 0/0 "
    "are NaN. Subtract the row's maximum, and treat an empty row as its own case.",
    "no-maximum-subtracted-but-guarded": "exp overflows above 709 and is 0 below −745. Your guard turns 0/0 into 0, but "
    "the weights are lost: subtract the row's maximum first.",
    "no-maximum-and-nan-to-zero": "The exponentials are taken without subtracting the row's maximum, and NaN becomes 0 "
    "afterwards. That hides the overflow and loses the weights of rows with large scores.",
    "maximum-of-the-whole-array": "You subtracted one maximum for all rows. A row far below it underflows to 0/0 = NaN. "
    "Each row needs its own maximum.",
    "maximum-of-the-whole-array-but-guarded": "You subtracted one maximum for all rows. A row far below it underflows to "
    "zeros. Each row needs its own.",
    "epsilon-in-the-denominator": "A small number in the denominator keeps empty rows from NaN, and makes every other "
    "row sum to a little less than 1. Treat a sum of 0 as its own case.",
    "mask-added-as-0-and-1": "You added the mask: True became 1, so visible scores rose by one and hidden ones stayed as "
    "they were. Nothing is hidden that way.",
    "masked-after-softmax": "You zeroed weights after softmax: the rest of the row no longer adds up to 1, and the hidden "
    "scores still sit in the denominator.",
    "masked-after-softmax-then-divided": "Zeroing after softmax and dividing again is the right idea in exact arithmetic. "
    "But an empty row gives 0/0, and where a hidden score is the largest by far, every visible weight has become 0 "
    "already.",
    "hidden-key-sets-the-maximum": "The maximum that you subtract includes hidden scores. If a hidden one is far above "
    "the rest, every visible exponential becomes 0. Hide first, then take the maximum.",
    "infinity-times-zero": "(1 − mask) · (−∞) is NaN where the mask is 1, because 0 · ∞ is NaN. Choose with np.where "
    "instead of multiplying.",
    "query-rows-hidden": "You hid whole rows, queries, where single keys have to be hidden. A mask hides columns of a "
    "row.",
    "zero-scores-hidden": "You took a score of exactly 0 for 'hidden'. A visible key may well score 0; ask the mask, not "
    "the score.",
    "mask-not-broadcast": "This works for a mask of the full shape only. Indexing, as in scores[~mask], does not "
    "broadcast: a smaller mask is an error, or hides whole rows. np.where broadcasts it.",
    "fill-of-minus-ten": "Hidden scores became a number in the region of −10. That is small, not nothing: a hidden key "
    "keeps a weight, and wins where visible scores are lower.",
    "fill-of-minus-hundred": "Hidden scores became a number in the region of −100. A hidden key wins as soon as the "
    "visible scores are lower still. −∞ never does.",
    "fill-of-minus-thousand": "Hidden scores became a number in the region of −1000. A hidden key wins as soon as the "
    "visible scores are lower still. −∞ never does.",
    "fill-of-minus-ten-thousand": "Hidden scores became a number in the region of −10,000. A hidden key wins as soon as "
    "the visible scores are lower still. −∞ never does.",
    "finite-number-added-too-small": "You added a negative number to hidden scores that is not large enough: a hidden "
    "key wins where its score is far above the others, and in a row that is hidden throughout the number cancels. Put "
    "−∞ there, and treat an empty row as its own case.",
    "mask-ignored": "The mask is not used: hidden keys keep their weights.",
    "mask-inverted": "The mask is the wrong way round: True means that this query MAY attend to this key.",
    "mask-transposed": "The mask is transposed: its rows belong to queries, its columns to keys.",
    "first-mask-of-the-batch": "The first mask of the batch was used for every batch entry. Each has its own: let the "
    "mask broadcast as it is.",
    "equal-weights": "Every visible key gets the same weight: the scores do not matter.",
}
"""What is said of the mistakes that both exercises know."""
