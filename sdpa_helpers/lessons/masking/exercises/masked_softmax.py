"""Lesson 05, exercise `masked_softmax`: softmax over what may be seen."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each
from sdpa_helpers.lessons.masking.exercises.mask_factors import (
    HIDING,
    MEANING,
    NUMERICS,
    SAYS,
    Hiding,
    Numerics,
    Sums,
    by_index,
    rows_opened,
    weigh,
)
from sdpa_helpers.lessons.masking.exercises.ways_to_mask import (
    LEVELS,
    added,
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

- `scores`, shape `(..., n_q, n_k)`: finite numbers, up to a million in size. Nothing may overflow.
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


def _build(meaning, hiding, numerics, sums) -> Callable:
    """A masked softmax whose parts can be wrong."""
    return lambda scores, mask: weigh(scores, meaning(mask), hiding, numerics, sums)


def _built(hiding=HIDING.right, numerics=NUMERICS.right, sums=Sums()) -> Callable:  # noqa: B008
    return _build(MEANING.right, hiding, numerics, sums)


SUMS = Factor(
    "sums",
    Sums(),
    (
        Option("normalised-over-queries", Sums(-2)),
        Option("normalised-over-axis-0", Sums(0)),
        Option("normalised-over-axis-1", Sums(1)),
        Option("normalised-over-everything", Sums((-2, -1))),
        Option("none-in-place-of-keepdims", Sums(-1, "None", "None")),
        Option("none-in-place-of-keepdims", Sums(-1, "kept", "None")),
    ),
)


_HIDING = Factor(
    HIDING.name,
    HIDING.right,
    tuple(
        replace(option, name="hidden-scores-near-zero")
        if option.name == "mask-multiplied-into-scores"
        else option
        for option in HIDING.options
    ),
)


def _zero_scores(rng):
    """Half of the scores are 0; in the first row 0 is the largest that may be seen."""
    scores = rng.integers(0, 2, size=(3, 6)) * rng.normal(size=(3, 6))
    scores[0, :3] = [0.0, *-rng.uniform(0.5, 1, size=2)]
    return scores, np.tri(3, 6, k=2, dtype=bool)


def _scores_and_mask(rng, n_q, n_k, batch):
    """Scores of a batch, and a causal mask as wide as they are."""
    return rng.normal(size=(batch, n_q, n_k)) * 2, np.tri(n_q, n_k, k=1, dtype=bool)


def _large(rng):
    """Rows near 1000, −1000, 200 and −200, in two of which a key that is seen lies thousands below, and one near −1e6:
    a maximum that starts at a finite number, and a fill, are above all of it."""
    levels = [1000.0, -1000.0, 200.0, -200.0, -rng.uniform(5e5, 9e5)]
    scores = rng.normal(size=(5, 6)) + np.array(levels)[:, None]
    scores[[2, 3], [1, 2]] -= rng.uniform(3000, 20_000)
    return scores, np.tri(5, 6, dtype=bool)


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
            _large,
            says="Subtracting a row's own maximum changes nothing and keeps exp in range.",
        ),
        Case(
            "scores of exactly zero",
            _zero_scores,
            says="A score of 0 is a score like any other, also where it is the largest of its row.",
        ),
        Case(
            "hidden keys that would win by far",
            lambda rng: _hidden_giants(rng, 2, 4, 5),
            says="What is hidden has no say, neither in the maximum nor in the sum.",
        ),
        *one_of_each(_scores_and_mask, only=("n_q", "batch"), n_q=4, n_k=5, batch=2),
        Case(
            "one key, which not every query may see",
            lambda rng: (rng.normal(size=(1, 4, 1)), np.array([[True], [False], [True], [True]])),
            says="The mask has shape (n_q, 1). A query that does not see the one key gives zeros.",
        ),
        Case(
            "as many entries as queries and keys",
            lambda rng: (rng.normal(size=(4, 4, 4)) * 2, np.tri(4, dtype=bool)),
            says="Batch, queries and keys are all 4: here no error tells that an axis is not the one it should be.",
        ),
        Case(
            "a longer text",
            # so many hidden keys that a row tells if each has but a ten-billionth
            lambda rng: (rng.normal(size=(36, 240)) * 3, np.tri(36, 240, k=4, dtype=bool)),
            says="36 queries and 240 keys: every size is larger than in the other cases. Hidden keys have weight exactly 0.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "minus-infinity-minus-minus-infinity",
            _masked(unguarded),
            SAYS["minus-infinity-minus-minus-infinity"],
            ("What is the maximum of a row that is −∞ throughout, and what do you subtract it from?",),
        ),
        WrongAnswer(
            "finite-fill-on-an-empty-row",
            _masked(unguarded, fill(-1e9)),
            SAYS["finite-fill-on-an-empty-row"],
            ("softmax of (−1e9, −1e9, −1e9) is (⅓, ⅓, ⅓).",),
        ),
        WrongAnswer(
            "finite-number-added-on-an-empty-row",
            lambda scores, mask: unguarded(scores + np.where(mask, 0.0, -1e9)),
            SAYS["finite-number-added-on-an-empty-row"],
        ),
        WrongAnswer(
            "mask-ignored",
            lambda scores, mask: softmax(scores),
            SAYS["mask-ignored"],
        ),
        WrongAnswer(
            "mask-inverted",
            lambda scores, mask: softmax(hide(scores, ~mask)),
            SAYS["mask-inverted"],
        ),
        WrongAnswer(
            "mask-added-as-0-and-1",
            lambda scores, mask: softmax(scores + mask),
            SAYS["mask-added-as-0-and-1"],
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
            SAYS["fill-of-minus-ten"],
        ),
        WrongAnswer(
            "fill-of-minus-hundred",
            _masked(softmax, fill(-100.0)),
            SAYS["fill-of-minus-hundred"],
        ),
        WrongAnswer(
            "fill-of-minus-thousand",
            _masked(softmax, fill(-1000.0)),
            SAYS["fill-of-minus-thousand"],
        ),
        WrongAnswer(
            "fill-of-minus-ten-thousand",
            _masked(softmax, fill(-1e4)),
            SAYS["fill-of-minus-ten-thousand"],
        ),
        WrongAnswer(
            "masked-after-softmax",
            _softmax_then_mask,
            SAYS["masked-after-softmax"],
        ),
        WrongAnswer(
            "masked-after-softmax-then-divided",
            mask_then_renormalise,
            SAYS["masked-after-softmax-then-divided"],
        ),
        WrongAnswer(
            "hidden-key-sets-the-maximum",
            mask_then_renormalise_guarded,
            SAYS["hidden-key-sets-the-maximum"],
        ),
        WrongAnswer(
            "infinity-times-zero",
            lambda scores, mask: softmax(scores + (1 - mask) * -np.inf),
            SAYS["infinity-times-zero"],
        ),
        WrongAnswer(
            "query-rows-hidden",
            _masked(softmax, rows_hidden),
            SAYS["query-rows-hidden"],
        ),
        WrongAnswer(
            "zero-scores-hidden",
            _masked(softmax, zero_scores_hidden),
            SAYS["zero-scores-hidden"],
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
            SAYS["maximum-of-the-whole-array"],
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _masked(without_maximum_unguarded),
            SAYS["no-maximum-subtracted"],
        ),
        WrongAnswer(
            "no-maximum-subtracted-but-guarded",
            _built(numerics=Numerics("none")),
            SAYS["no-maximum-subtracted-but-guarded"],
        ),
        WrongAnswer(
            "no-maximum-and-nan-to-zero",
            _built(numerics=Numerics("none", "nan to zero")),
            SAYS["no-maximum-and-nan-to-zero"],
        ),
        WrongAnswer(
            "maximum-of-the-whole-array-but-guarded",
            _built(numerics=Numerics("all")),
            SAYS["maximum-of-the-whole-array-but-guarded"],
        ),
        WrongAnswer(
            "empty-rows-opened",
            lambda scores, mask: softmax(hide(scores, rows_opened(mask))),
            SAYS["empty-rows-opened"],
        ),
        WrongAnswer(
            "one-empty-row-empties-all",
            lambda scores, mask: masked_softmax(scores, mask) * mask.any(axis=-1).all(),
            "One row without a visible key made everything zero. Only that row has to be zero.",
        ),
        WrongAnswer(
            "finite-number-added-too-small",
            _built(Hiding(change=added(-1e4))),
            SAYS["finite-number-added-too-small"],
        ),
        WrongAnswer(
            "mask-transposed",
            lambda s, mask: softmax(hide(s, np.swapaxes(mask, -1, -2))),
            SAYS["mask-transposed"],
        ),
        WrongAnswer(
            "first-mask-of-the-batch",
            lambda scores, mask: softmax(hide(scores, mask.reshape(-1, *mask.shape[-2:])[0])),
            SAYS["first-mask-of-the-batch"],
        ),
        WrongAnswer(
            "truth-of-an-array",
            lambda scores, mask: masked_softmax(scores, mask or np.True_),
            "Python cannot say whether an array is true: `if mask`, `mask or ...` and `not mask` raise an error as soon "
            "as it holds more than one entry.",
            clue="truth-of-array",
        ),
        WrongAnswer(
            "normalised-over-axis-0",
            _built(sums=Sums(0)),
            "Softmax went over axis 0: the queries, or with a batch the batch. It goes over the keys, axis −1.",
        ),
        WrongAnswer(
            "normalised-over-axis-1",
            _built(sums=Sums(1)),
            "Softmax went over axis 1. That is right for two axes only; axis −1 is right for any number.",
        ),
        WrongAnswer(
            "none-in-place-of-keepdims",
            _built(sums=Sums(-1, "None", "None")),
            "`[:, None]` puts an axis at the second place. With a batch that is the wrong one: use keepdims=True, or "
            "`[..., None]`.",
        ),
        WrongAnswer(
            "softmax-twice",
            _masked(lambda x: softmax(softmax(x))),
            "Softmax was applied twice: the weights are nearly equal, and hidden keys have weight again.",
        ),
        WrongAnswer(
            "equal-weights",
            _masked(lambda x: share(seen(x) * 1.0)),
            SAYS["equal-weights"],
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
            _masked(hide=by_index),
            SAYS["mask-not-broadcast"],
        ),
        WrongAnswer(
            "changes-its-input",
            _changes_scores,
            "Your function writes into the caller's array. Make a new one: no `-=`, `out=` or `scores[...] =`; "
            "np.where makes one.",
        ),
        WrongAnswer(
            "epsilon-in-the-denominator",
            _masked(with_epsilon(1e-6)),
            SAYS["epsilon-in-the-denominator"],
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda scores, mask: softmax(hide(scores, mask).astype(np.float32)).astype(float),
            "Somewhere your numbers passed through float32, which keeps about seven digits. Stay in the dtype that "
            "you were given.",
            clue="float32",
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
            "A row of weights does not add up to what it should: 1, or 0 if it sees nothing.",
            lambda inputs, w: rows_add_up(w, inputs[1]),
        ),
    ),
    mistakes=Products((NUMERICS, MEANING, _HIDING, SUMS), _build),
)
