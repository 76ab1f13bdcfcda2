"""Lesson 05, exercise `masked_softmax`: softmax over what may be seen."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, strided
from sdpa_helpers.checking.ready_made import READY_ATTENTION, READY_SOFTMAX
from sdpa_helpers.lessons.masking.exercises.ways_to_mask import (
    LEVELS,
    fill,
    global_maximum_unguarded,
    hide,
    lengths_mask,
    mask_then_renormalise,
    mask_then_renormalise_guarded,
    rows_add_up,
    rows_hidden,
    seen,
    share,
    softmax,
    some_empty_rows,
    unguarded,
    with_epsilon,
    without_maximum_unguarded,
    zero_scores_hidden,
)

PROMPT = """`masked_softmax(scores, mask)`: softmax over the keys that each query may see.

- `scores`, shape `(..., n_q, n_k)`: finite numbers of any size. ±1000 must not overflow.
- `mask`, dtype bool, True = may attend. It broadcasts to the shape of `scores`: `(n_q, n_k)` or `(batch, 1, 1, n_k)` are possible.
- Returns the weights, the shape of `scores`. Hidden keys have weight exactly 0, and every row adds up to 1. **A row that may see nothing gives zeros.**

Example: {example:1}.

Write it with NumPy's `exp`.
"""


def masked_softmax(scores, mask):
    """Softmax over visible keys: scores (..., n_q, n_k), mask bool -> weights."""
    visible = np.where(mask, scores, -np.inf)
    largest = visible.max(axis=-1, keepdims=True)
    largest = np.where(largest == -np.inf, 0.0, largest)
    exponentials = np.exp(visible - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1.0, total)


def _masked(softmax=softmax, hide=hide) -> Callable:
    return lambda scores, mask: softmax(hide(scores, mask))


def _softmax_then_mask(scores, mask):
    return softmax(scores) * mask


def _changes_scores(scores, mask):
    scores -= scores.max()
    return softmax(hide(scores, mask))


def _assigns_to_scores(scores, mask):
    scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    return softmax(scores)


def _indexed_by_mask(scores, mask):
    scores = scores.copy()
    scores[~mask] = -np.inf
    return softmax(scores)


def _rows_by_loops(scores, mask):
    out = np.zeros(scores.shape)
    allowed = np.broadcast_to(mask, scores.shape)
    for where in np.ndindex(*scores.shape[:-1]):
        row = scores[where][allowed[where]]
        if row.size:
            out[where][allowed[where]] = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
    return out


def _additive_guarded(scores, mask):
    visible = scores + np.where(mask, 0.0, -np.inf)
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(unguarded(visible))


def _finite_fill_then_zeroed(scores, mask):
    return np.where(mask, unguarded(np.where(mask, scores, -1e9)), 0.0)


def _with_where(scores, mask):
    allowed = np.broadcast_to(mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    e = np.exp(
        scores - np.where(np.isfinite(largest), largest, 0.0), where=allowed, out=np.zeros(scores.shape)
    )
    return share(e)


def _hidden_giants(rng, *shape):
    mask = rng.random(shape) < 0.5
    mask[..., 0], mask[..., -1] = True, False
    return np.where(mask, -1.0, 1.0) * LEVELS[:, None] + rng.normal(size=shape), mask


def _row_maximum(scores, mask):
    allowed = np.broadcast_to(mask, scores.shape)
    return np.where(allowed, scores, -1e300).max(axis=-1, keepdims=True)


EXERCISE = Exercise(
    name="masked_softmax",
    lesson="05_masking",
    title="Softmax over what may be seen",
    prompt=PROMPT,
    examples=(Example(([[2, 1, 3], [5, 5, 5]], [[True, True, False], [False, False, False]])),),
    difficulty=3,
    minutes=15,
    reference=masked_softmax,
    cases=(
        Case(
            "a causal mask, read-only",
            lambda rng: (read_only(rng.normal(size=(6, 6)) * 2), read_only(np.tri(6, dtype=bool))),
            says="Row 0 sees one key, which gets the whole weight.",
        ),
        Case(
            "padding, for a batch with heads",
            lambda rng: (
                strided(rng.normal(size=(2, 3, 4, 7)) * 2),
                lengths_mask(rng, 2, 7)[:, None, None, :],
            ),
            2,
            says="The mask broadcasts: one row of it serves all heads and all queries of a sequence.",
        ),
        Case(
            "some rows see nothing",
            lambda rng: (rng.normal(size=(2, 4, 6)) * 2, some_empty_rows(rng, 2, 4, 6)),
            2,
            says="A row without a visible key gives zeros; the other rows are as always.",
        ),
        Case(
            "large scores",
            lambda rng: (
                rng.normal(size=(4, 5)) + np.array([[1000.0], [-1000.0], [200.0], [-200.0]]),
                np.tri(4, 5, dtype=bool),
            ),
            says="Subtracting a row's own maximum changes nothing and keeps exp in range.",
        ),
        Case(
            "scores of exactly zero",
            lambda rng: (
                rng.integers(0, 2, size=(3, 6)) * rng.normal(size=(3, 6)),
                np.tri(3, 6, k=2, dtype=bool),
            ),
            says="A score of 0 is a score like any other.",
        ),
        Case(
            "hidden keys that would win by far",
            lambda rng: _hidden_giants(rng, 2, 4, 5),
            says="What is hidden has no say, neither in the maximum nor in the sum.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "minus-infinity-minus-minus-infinity",
            _masked(unguarded),
            "A row with every key hidden has the maximum −∞, and −∞ − (−∞) is NaN. Such a row has to give zeros.",
            ("What is the maximum of a row that is −∞ throughout, and what do you subtract it from?",),
        ),
        WrongAnswer(
            "finite-fill-on-an-empty-row",
            _masked(unguarded, fill(-1e9)),
            "With −1e9 (or the smallest float) in every place, all keys of an empty row tie: it gets the same weight "
            "for each hidden key. Such a row has to give zeros.",
            ("softmax of (−1e9, −1e9, −1e9) is (⅓, ⅓, ⅓).",),
        ),
        WrongAnswer(
            "finite-number-added-on-an-empty-row",
            lambda scores, mask: unguarded(scores + np.where(mask, 0.0, -1e9)),
            "You added −1e9 to hidden scores. In a row that is hidden throughout, the same number is added everywhere "
            "and cancels: the row attends as if there were no mask.",
        ),
        WrongAnswer(
            "mask-ignored",
            lambda scores, mask: softmax(scores),
            "The mask is not used: hidden keys keep their weights.",
        ),
        WrongAnswer(
            "mask-inverted",
            lambda scores, mask: softmax(hide(scores, ~mask)),
            "The mask is the wrong way round: True means that this query MAY attend to this key.",
        ),
        WrongAnswer(
            "mask-added-as-0-and-1",
            lambda scores, mask: softmax(scores + mask),
            "You added the mask: True became 1, so visible scores rose by one and hidden ones stayed. Nothing is "
            "hidden that way.",
        ),
        WrongAnswer(
            "hidden-scores-near-zero",
            _masked(softmax, fill(-1e-9)),
            "Hidden scores became 0, or −1e-9: by multiplying with the mask, by a fill of 0, or by a typing slip for "
            "−1e9. A score of 0 has weight e⁰ = 1 before the division, like any other.",
        ),
        WrongAnswer(
            "fill-of-minus-ten",
            _masked(softmax, fill(-10.0)),
            "A hidden score of −10 is small, not nothing: it keeps a weight, and wins where the visible scores are "
            "lower.",
        ),
        WrongAnswer(
            "fill-of-minus-hundred",
            _masked(softmax, fill(-100.0)),
            "A hidden score of −100 or so wins as soon as the visible scores are lower still. −∞ never does.",
        ),
        WrongAnswer(
            "fill-of-minus-thousand",
            _masked(softmax, fill(-1000.0)),
            "A hidden score of −1000 wins as soon as the visible scores are lower still. −∞ never does.",
        ),
        WrongAnswer(
            "fill-of-minus-ten-thousand",
            _masked(softmax, fill(-1e4)),
            "A hidden score of −10 000 wins as soon as the visible scores are lower still. −∞ never does.",
        ),
        WrongAnswer(
            "masked-after-softmax",
            _softmax_then_mask,
            "You zeroed weights after softmax: the rest of the row no longer adds up to 1, and the hidden scores "
            "still sit in the denominator.",
        ),
        WrongAnswer(
            "masked-after-softmax-then-divided",
            mask_then_renormalise,
            "Zeroing after softmax and dividing again is the right idea in exact arithmetic. But a row of zeros "
            "gives 0/0, and where a hidden score is the largest by far, every visible weight has become 0 already.",
        ),
        WrongAnswer(
            "hidden-key-sets-the-maximum",
            mask_then_renormalise_guarded,
            "The maximum that you subtract includes hidden scores. If a hidden one is far above the rest, every "
            "visible exponential becomes 0. Hide first, then take the maximum.",
        ),
        WrongAnswer(
            "infinity-times-zero",
            lambda scores, mask: softmax(scores + (1 - mask) * -np.inf),
            "(1 − mask) · (−∞) is NaN where the mask is 1, because 0 · ∞ is NaN. Choose with np.where instead of "
            "multiplying.",
        ),
        WrongAnswer(
            "query-rows-hidden",
            _masked(softmax, rows_hidden),
            "You hid whole rows, queries, where single keys have to be hidden. A mask hides columns of a row.",
        ),
        WrongAnswer(
            "zero-scores-hidden",
            _masked(softmax, zero_scores_hidden),
            "You took a score of exactly 0 for 'hidden'. A visible key may well score 0; ask the mask, not the score.",
        ),
        WrongAnswer(
            "normalised-over-queries",
            lambda scores, mask: softmax(hide(scores, mask), axis=-2),
            "The columns add up to 1, not the rows: softmax went over the queries. It goes over the keys, axis −1.",
        ),
        WrongAnswer(
            "normalised-over-everything",
            lambda scores, mask: softmax(hide(scores, mask), axis=(-2, -1)),
            "The whole matrix adds up to 1. Each row, one query, has to do so on its own.",
        ),
        WrongAnswer(
            "maximum-of-the-whole-array",
            _masked(global_maximum_unguarded),
            "You subtracted one maximum for all rows. A row far below it underflows to 0/0. Each row needs its own.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _masked(without_maximum_unguarded),
            "exp overflows above 709 and is 0 below −745: without subtracting the row's maximum this gives NaN.",
        ),
        WrongAnswer(
            "equal-weights",
            _masked(lambda x: share(seen(x) * 1.0)),
            "Every visible key gets the same weight: the scores do not matter.",
        ),
        WrongAnswer(
            "not-divided",
            lambda scores, mask: np.exp(hide(scores, mask)),
            "These are the exponentials. Divide each row by its sum.",
        ),
        WrongAnswer(
            "scores-not-weights",
            hide,
            "These are the masked scores: softmax is still to come.",
        ),
        WrongAnswer(
            "mask-not-broadcast",
            _indexed_by_mask,
            "Indexing with the mask, as in scores[~mask], needs a mask of the full shape. np.where broadcasts it.",
        ),
        WrongAnswer(
            "changes-its-input",
            _changes_scores,
            "Your function writes into the caller's array. Make a new one instead of using `-=` or `out=`.",
        ),
        WrongAnswer(
            "assigns-into-its-input",
            _assigns_to_scores,
            "Your function assigns into the caller's scores. np.where makes a new array; so does a copy.",
        ),
        WrongAnswer(
            "epsilon-in-the-denominator",
            _masked(with_epsilon(1e-6)),
            "A small number in the denominator keeps empty rows from NaN, and makes every other row sum to a little "
            "less than 1. Treat a sum of 0 as its own case.",
        ),
        WrongAnswer(
            "only-seven-digits",
            lambda scores, mask: softmax(np.where(mask, scores, -np.inf).astype(np.float32)),
            "Right to about seven digits only: your numbers passed through float32, or a small constant was added. "
            "Stay in the dtype that you were given.",
        ),
    ),
    also_right=(
        _rows_by_loops,
        _additive_guarded,
        _finite_fill_then_zeroed,
        _with_where,
        lambda scores, mask: share(
            np.exp(np.where(mask, scores, -np.inf) - _row_maximum(scores, mask)) * mask
        ),
    ),
    hints=(
        "Three things happen to a row: hidden keys drop out, the rest becomes exponentials, these are divided by their "
        "sum. Which of the three fails when nothing is left?",
        "Put −∞ where the mask is False, then softmax with the row's maximum. An empty row has the maximum −∞ and the "
        "sum 0: replace the first by 0 and the second by 1.",
        "`visible = np.where(mask, scores, -np.inf)`; `largest = np.where(largest == -np.inf, 0.0, largest)`; divide "
        "by `np.where(total == 0, 1.0, total)`.",
    ),
    invariants=(
        Invariant(
            "hidden-keys-get-weight",
            "A key that the mask hides has a weight that is not 0.",
            lambda inputs, w: bool(np.all(w[~np.broadcast_to(inputs[1], w.shape)] == 0)),
        ),
        Invariant(
            "rows-do-not-add-up",
            "A row of weights adds up to neither 1 nor, if it sees nothing, 0.",
            lambda inputs, w: rows_add_up(w, inputs[1]),
        ),
    ),
    forbids=(READY_SOFTMAX, READY_ATTENTION),
)
