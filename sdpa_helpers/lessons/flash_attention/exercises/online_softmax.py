"""Lesson 07, exercise `online_softmax`: softmax in one pass over the keys, a block at a time."""

import numpy as np

from sdpa_helpers.checking.exercise import (
    Case,
    Example,
    Exercise,
    Invariant,
    WrongAnswer,
    read_only_strided,
    redraw,
)
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.ready_made import READY_ATTENTION, READY_SOFTMAX
from sdpa_helpers.checking.standard_cases import one_of_each

PROMPT = r"""`online_softmax(scores, block)`: softmax over the last axis, with scores that arrive `block` at a time.

- `scores`, shape `(..., n_k)`. A score may be −∞: that key is hidden. Scores can be as large as ±20,000.
- `block`: how many keys you take at a time. `n_k` need not be a multiple of it, and `block` may be larger than `n_k`.
- Returns the weights, in the shape of `scores`: the same numbers as softmax over whole rows. A row with nothing but −∞ gets zeros.

Go over the blocks once. For every row keep two numbers, the largest score so far and the sum of the exponentials so far. When a block brings a larger score, what you have summed up was made with the old maximum: bring it to the new one.

Example: {example:1}. After the first block the maximum is 0 and the sum 2; the second brings $\ln 2$, so the 2 shrinks to 1 before 1 and 2/2 are added.

The check compares the weights. It can't see how often you read the scores; in [`tiled_attention`](#tiled_attention) it measures the memory, and there only one pass will do.
"""


def online_softmax(scores, block):
    """Softmax over the last axis, `block` scores at a time: shape (..., n_k) -> the same shape."""
    weights = np.empty(scores.shape)
    largest = np.full((*scores.shape[:-1], 1), -np.inf)
    total = np.zeros(largest.shape)
    for j in range(0, scores.shape[-1], block):
        part = scores[..., j : j + block]
        before = largest
        largest = np.maximum(before, part.max(axis=-1, keepdims=True))
        finite = np.where(largest == -np.inf, 0.0, largest)  # −∞ − (−∞) would be NaN
        shrink = np.exp(before - finite)
        weights[..., :j] *= shrink
        weights[..., j : j + block] = np.exp(part - finite)
        total = total * shrink + weights[..., j : j + block].sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1.0, total)


# ---- mistakes, as products ----------------------------------------------------------------------------------


def _safe(largest):
    return np.where(largest == -np.inf, 0.0, largest)


def _running(before, part):
    return np.maximum(before, part.max(axis=-1, keepdims=True))


def _divided(weights, total):
    return weights / np.where(total == 0, 1.0, total)


def _shrunk(total, shrink, new):
    return total * shrink + new


def _not_rescaled(total, shrink, new):
    return total + new


def _turned_round(total, shrink, new):
    """Multiplied by exp(new − old); the first block, where nothing is summed up yet, left alone."""
    return np.where(shrink == 0, 0.0, total / shrink) + new


def _kept_in_step(weights, shrink):
    return weights * shrink


def _as_they_were(weights, shrink):
    return weights


def _build(start, maximum, carried, safe, cut, finish):
    """An online softmax whose parts can be wrong. carried: how the sum, and earlier exponentials, meet a new maximum."""
    total, earlier = carried

    def online(scores, block):
        weights = np.zeros(scores.shape)
        largest = np.full((*scores.shape[:-1], 1), start)
        summed = np.zeros(largest.shape)
        for j in cut(scores.shape[-1], block):
            part, before = scores[..., j : j + block], largest
            largest = maximum(before, part)
            shrink, e = np.exp(before - safe(largest)), np.exp(part - safe(largest))
            summed = total(summed, shrink, e.sum(axis=-1, keepdims=True))
            weights[..., :j] = earlier(weights[..., :j], shrink)
            weights[..., j : j + block] = e
        return finish(weights, summed)

    return online


MISTAKES = Products(
    (
        Factor(
            "start",
            -np.inf,
            (
                Option("maximum-started-at-zero", 0.0),
                Option("maximum-started-at-a-finite-number", -100.0, rare=True),
            ),
        ),
        Factor(
            "maximum",
            _running,
            (
                Option("no-maximum-subtracted", lambda before, part: np.zeros(before.shape)),
                Option("one-maximum-for-all-rows", lambda before, part: np.maximum(before, part.max())),
                Option(
                    "maximum-of-this-block-only", lambda before, part: part.max(axis=-1, keepdims=True) + 0.0
                ),
            ),
        ),
        Factor(
            "carried",
            (_shrunk, _kept_in_step),
            (
                Option("sum-not-rescaled", (_not_rescaled, _kept_in_step)),
                Option("sum-rescaled-the-wrong-way", (_turned_round, _kept_in_step)),
                Option("sum-of-the-last-block-only", (lambda total, shrink, new: new, _kept_in_step)),
                Option(
                    "new-exponentials-rescaled-too",
                    (lambda total, shrink, new: (total + new) * shrink, _kept_in_step),
                ),
                Option("earlier-exponentials-not-rescaled", (_shrunk, _as_they_were)),
                Option("nothing-rescaled", (_not_rescaled, _as_they_were)),
            ),
        ),
        Factor("safe", _safe, (Option("minus-infinity-minus-minus-infinity", lambda largest: largest),)),
        Factor(
            "cut",
            lambda n, block: range(0, n, block),
            (
                Option("last-block-dropped", lambda n, block: range(0, n // block * block, block)),
                Option("first-block-only", lambda n, block: range(0, 1)),
            ),
        ),
        Factor(
            "finish",
            _divided,
            (
                Option("not-divided", lambda weights, total: weights),
                Option("empty-row-is-nan", lambda weights, total: weights / total),
                Option(
                    "empty-row-uniform",
                    lambda weights, total: np.where(
                        total == 0, 1 / weights.shape[-1], _divided(weights, total)
                    ),
                ),
                Option("small-number-in-the-denominator", lambda weights, total: weights / (total + 1e-6)),
            ),
        ),
    ),
    _build,
)
_RIGHT = {factor.name: factor.right for factor in MISTAKES.factors}


def _with(**parts):
    return _build(**(_RIGHT | parts))


def _option(name):
    """The answer that deviates in this option alone."""
    return next(d.function for d in MISTAKES.deviants(1) if d.names == (name,))


# ---- mistakes of other kinds --------------------------------------------------------------------------------


def _softmax(x, axis=-1):
    e = np.exp(x - _safe(x.max(axis=axis, keepdims=True)))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


def _each_by_itself(scores, block):
    parts = [_softmax(scores[..., j : j + block]) for j in range(0, scores.shape[-1], block)]
    return np.concatenate(parts, axis=-1)


def _blocks_share_equally(scores, block):
    return _each_by_itself(scores, block) / len(range(0, scores.shape[-1], block))


def _divided_in_every_block(scores, block):
    """Divides by the sum so far in every block, and never takes it back."""
    largest = np.full((*scores.shape[:-1], 1), -np.inf)
    total, parts = np.zeros(largest.shape), []
    for j in range(0, scores.shape[-1], block):
        part, before = scores[..., j : j + block], largest
        largest = _running(before, part)
        e = np.exp(part - _safe(largest))
        total = total * np.exp(before - _safe(largest)) + e.sum(axis=-1, keepdims=True)
        parts.append(e / np.where(total == 0, 1.0, total))
    return np.concatenate(parts, axis=-1)


def _maximum_comes_too_late(scores, block):
    """The exponentials of a block are made with the maximum of the blocks before it."""
    weights = np.zeros(scores.shape)
    largest = scores[..., :1]
    total = np.zeros(largest.shape)
    for j in range(0, scores.shape[-1], block):
        part, before = scores[..., j : j + block], largest
        e = np.exp(part - _safe(before))
        largest = _running(before, part)
        shrink = np.exp(_safe(before) - _safe(largest))
        total = total * shrink + e.sum(axis=-1, keepdims=True)
        weights[..., :j] *= shrink
        weights[..., j : j + block] = e
    return weights / np.where(total == 0, 1.0, total)


def _hidden_as_zero(scores, block):
    return _with()(np.where(np.isneginf(scores), 0.0, scores), block)


def _two_axes_only(scores, block):
    parts = [scores[:, j : j + block] for j in range(0, scores.shape[1], block)]
    largest = np.max([part.max(axis=1) for part in parts], axis=0)[:, None]
    e = np.exp(scores - _safe(largest))
    total = e.sum(axis=1)[:, None]
    return e / np.where(total == 0, 1.0, total)


def _twice_read(scores, block):
    """The maximum and the sum in one pass, the weights from them in the end."""
    largest = np.full((*scores.shape[:-1], 1), -np.inf)
    total = np.zeros(largest.shape)
    for j in range(0, scores.shape[-1], block):
        part, before = scores[..., j : j + block], largest
        largest = _running(before, part)
        total = total * np.exp(before - _safe(largest))
        total = total + np.exp(part - _safe(largest)).sum(axis=-1, keepdims=True)
    return np.exp(scores - _safe(largest)) / np.where(total == 0, 1.0, total)


def _with_lse(scores, block):
    """One number a row, the LSE so far."""
    lse = np.full((*scores.shape[:-1], 1), -np.inf)
    for j in range(0, scores.shape[-1], block):
        part = scores[..., j : j + block]
        lse = np.logaddexp(lse, np.logaddexp.reduce(part, axis=-1, keepdims=True))
    return np.exp(scores - _safe(lse))


def _very_low_start(scores, block):
    return _with(start=-1e30)(scores, block)


def _one_by_one(scores, block):
    rows = np.reshape(scores, (-1, scores.shape[-1]))
    out = np.zeros(rows.shape)
    for r, row in enumerate(rows):
        largest, total = -np.inf, 0.0
        for s in row:
            if s > largest:
                total, largest = total * np.exp(largest - s), s
            total += np.exp(s - largest) if s > -np.inf else 0.0
        if total:
            out[r] = np.exp(row - largest) / total
    return out.reshape(scores.shape)


# ---- cases --------------------------------------------------------------------------------------------------


def _rising(rng, rows, n):
    """Scores that rise along each row by about 1 a step: every block brings a new maximum."""
    return np.cumsum(rng.uniform(0.2, 1.2, size=(rows, n)), axis=-1) - 2.0


def _normal(rng, shape, block, size=2.0):
    """Scores at random, of which some row has its largest well after the first block, where there are several."""

    def rises(scores, _block):
        rest = scores[..., block:]
        return not rest.size or bool((rest.max(axis=-1) > scores[..., :block].max(axis=-1) + 0.5).any())

    return redraw(rng, lambda rng: (size * rng.normal(size=shape), block), rises)


def _up_and_down(rng):
    """Rows up to ±1000: one falls, one rises, one lies low."""
    low, high = -1000.0 + rng.normal(size=7), 1000.0 + rng.normal(size=7)
    falls = np.where(np.arange(7) < 3, high, low)
    return np.stack([falls, falls[::-1], np.roll(falls, 2), rng.normal(size=7)]), 2


def _far_below(rng):
    return np.array([[-800.0], [-20000.0], [-2000.0]]) + _normal(rng, (3, 5), 2)[0], 2


def _hidden(rng):
    scores = _rising(rng, 4, 7)
    scores[0, :3] = -np.inf  # its first blocks are hidden, one and a half of them
    scores[1, 4:] = -np.inf
    scores[2, [1, 2, 3, 6]] = -np.inf
    return scores, 2


def _some_empty(rng):
    scores = 3 * rng.normal(size=(2, 3, 5))
    scores[0, 1] = scores[1, 2] = -np.inf
    scores[1, 0] = -np.abs(scores[1, 0])
    scores[1, 0, 2:4] = 0.0  # a maximum of 0, and a tie
    return scores, 2


def _drawn(rng, rows, n):
    return _normal(rng, (rows, n), 2)


def _sums_to_one(inputs, weights):
    seen = ~np.isneginf(inputs[0]).all(axis=-1)
    return bool(np.allclose(weights.sum(axis=-1)[seen], 1.0, rtol=0, atol=1e-9))


EXERCISE = Exercise(
    name="online_softmax",
    lesson="07_flash_attention",
    title="Softmax in one pass",
    prompt=PROMPT,
    examples=(Example(([[0, 0, 0, np.log(2)]], 2), shows="[[1/5, 1/5, 1/5, 2/5]]"),),
    difficulty=3,
    minutes=15,
    reference=online_softmax,
    section="1. A sum that can be carried along",
    cases=(
        Case(
            "the largest score comes last",
            lambda rng: (_rising(rng, 1, 6)[0], 2),
            says="One row in three blocks. Each block has a larger maximum than the one before. (NaN everywhere? With a maximum that "
            "starts at −∞, exp(new − old) is ∞, and ∞ · 0 is NaN.)",
        ),
        Case(
            "the largest score comes first",
            lambda rng: (_rising(rng, 3, 6)[:, ::-1].copy(), 3),
            says="Here nothing has to be rescaled: a plain running sum is right.",
        ),
        Case(
            "a last block that is smaller",
            lambda rng: (_rising(rng, 5, 7), 3),
            points=2,
            says="Seven scores in blocks of three: 3, 3 and 1.",
        ),
        Case("one score at a time", lambda rng: _normal(rng, (2, 5), 1, 3.0)),
        Case(
            "one block for everything",
            lambda rng: (2 * rng.normal(size=(4, 3)), 20),
            says="A block larger than n_k takes all scores at once.",
        ),
        Case(
            "batch and heads, strided, read-only",
            lambda rng: (read_only_strided(_normal(rng, (2, 3, 4, 5), 2, 3.0)[0]), 2),
        ),
        Case(
            "scores of ±1000",
            _up_and_down,
            points=2,
            says="One row falls from 1000 to −1000, another rises: neither exponential nor factor may overflow.",
        ),
        Case(
            "all scores far below zero",
            _far_below,
            says="Every score of a row is near −800, −2000 or −20,000. Its weights are as ordinary as near 0.",
        ),
        Case(
            "blocks of hidden keys",
            _hidden,
            points=2,
            says="In one row the first blocks hold nothing but −∞: there −∞ − (−∞) lies in wait.",
        ),
        Case("rows of nothing but −∞", _some_empty, says="There is nothing to attend to: zeros."),
        Case(
            "all sizes equal",
            lambda rng: _normal(rng, (3, 3, 3), 2),
            says="Three axes of length 3: no error tells that an axis is not the one it should be.",
        ),
        Case(
            "a long row",
            lambda rng: _normal(rng, (2, 23), 5),
            says="23 scores in blocks of five: the sum has to survive five blocks.",
        ),
        *one_of_each(_drawn, rows=4, n=5),
        Case(
            "a batch of one",
            lambda rng: _normal(rng, (1, 2, 4), 3),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "maximum-started-at-zero",
            _option("maximum-started-at-zero"),
            "The running maximum starts at 0, so in a row of scores far below 0 it stays there: every exponential "
            "underflows to 0, and no weight is left. Start at −∞.",
        ),
        WrongAnswer(
            "maximum-started-at-a-finite-number",
            _option("maximum-started-at-a-finite-number"),
            "The running maximum starts at a finite number, and a row of scores far below that number loses all its "
            "weights to underflow. Start at −∞.",
        ),
        WrongAnswer(
            "sum-not-rescaled",
            _option("sum-not-rescaled"),
            "When a block brought a larger maximum, you did not rescale the sum. What was summed up before was made with "
            "the old maximum, and has to be multiplied by exp(old − new).",
            (
                "Take one row, `[0, 1]`, in blocks of one. What is the sum after each block, and what should it be?",
            ),
        ),
        WrongAnswer(
            "sum-rescaled-the-wrong-way",
            _option("sum-rescaled-the-wrong-way"),
            "You rescaled the sum by exp(new − old), which makes it grow. With a larger maximum the old exponentials "
            "become smaller: the factor is exp(old − new), at most 1.",
        ),
        WrongAnswer(
            "sum-of-the-last-block-only",
            _option("sum-of-the-last-block-only"),
            "You divided by the sum of the last block alone: every block overwrites the sum of those before it.",
        ),
        WrongAnswer(
            "new-exponentials-rescaled-too",
            _option("new-exponentials-rescaled-too"),
            "You rescaled the new exponentials as well. They were made with the new maximum already: only what was summed "
            "up before has to shrink.",
        ),
        WrongAnswer(
            "earlier-exponentials-not-rescaled",
            _option("earlier-exponentials-not-rescaled"),
            "The sum is right, and the exponentials of earlier blocks still have the maximum of their time. Multiply them "
            "by the same factor, or make them all at the end with the final maximum.",
        ),
        WrongAnswer(
            "nothing-rescaled",
            _option("nothing-rescaled"),
            "Nothing is rescaled when the maximum rises, neither the sum nor the exponentials of earlier blocks. A row "
            "then adds up to 1, with weights that favor early keys.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _option("no-maximum-subtracted"),
            "No maximum is subtracted: the exponential overflows for scores near 1000, and underflows near −1000.",
        ),
        WrongAnswer(
            "one-maximum-for-all-rows",
            _option("one-maximum-for-all-rows"),
            "All rows share one maximum. A row that lies far below it has exponentials of 0 only. Each row needs its own: "
            "`axis=-1, keepdims=True`.",
        ),
        WrongAnswer(
            "maximum-of-this-block-only",
            _option("maximum-of-this-block-only"),
            "You took the maximum of each block alone. Where it is far below that of an earlier block, the factor for what "
            "was summed up overflows, and −∞ loses everything. Keep the larger: `np.maximum(before, …)`.",
        ),
        WrongAnswer(
            "maximum-updated-too-late",
            _maximum_comes_too_late,
            "The exponentials of a block are made with the maximum of the blocks before it. One that is much larger "
            "overflows. Update the maximum first, and then take the exponentials.",
        ),
        WrongAnswer(
            "minus-infinity-minus-minus-infinity",
            _option("minus-infinity-minus-minus-infinity"),
            "As long as a row has only seen hidden keys its maximum is −∞, and −∞ − (−∞) is NaN, which then spoils the "
            "whole row. Subtract 0 there: `np.where(largest == -np.inf, 0, largest)`.",
        ),
        WrongAnswer(
            "empty-row-is-nan",
            _option("empty-row-is-nan"),
            "A row of nothing but −∞ ends with 0/0. Its weights should be 0: divide by 1 where the sum is 0.",
        ),
        WrongAnswer(
            "empty-row-uniform",
            _option("empty-row-uniform"),
            "A row of nothing but −∞ gets the same weight for every key. It may attend to none of them: zeros.",
        ),
        WrongAnswer(
            "nan-hidden",
            _with(safe=lambda largest: largest, finish=lambda w, total: np.nan_to_num(w / total)),
            "You replaced NaN by 0 at the end. That is right for rows that see nothing, and wipes out those whose first "
            "block is hidden. See to it that no NaN arises: −∞ − (−∞) is where it comes from.",
        ),
        WrongAnswer(
            "last-block-dropped",
            _option("last-block-dropped"),
            "The last, smaller block is left out: `n_k // block` counts full blocks only.",
        ),
        WrongAnswer(
            "first-block-only",
            _option("first-block-only"),
            "Only the first block got weights: is the `return` inside the loop?",
        ),
        WrongAnswer(
            "not-divided",
            _option("not-divided"),
            "These are the exponentials. Divide them by the sum of the row, once, after the last block.",
        ),
        WrongAnswer(
            "each-block-by-itself",
            _each_by_itself,
            "Each block has a softmax of its own, so a row adds up to the number of blocks. One sum has to run through "
            "all of them.",
        ),
        WrongAnswer(
            "blocks-share-equally",
            _blocks_share_equally,
            "Each block has a softmax of its own and an equal share of the row. A block with larger scores has to get "
            "more: one sum has to run through all of them.",
        ),
        WrongAnswer(
            "divided-in-every-block",
            _divided_in_every_block,
            "Every block is divided by the sum so far. The earlier blocks then have too large a weight: the final sum is "
            "known only after the last one. Divide once, at the end.",
        ),
        WrongAnswer(
            "small-number-in-the-denominator",
            _option("small-number-in-the-denominator"),
            "A small number in the denominator makes every row add up to less than 1. The sum is at least 1 wherever a "
            "key is seen; only where it is 0 you need another denominator.",
        ),
        WrongAnswer(
            "hidden-keys-as-zero",
            _hidden_as_zero,
            "You turned −∞ into 0, and a score of 0 has the exponential 1: hidden keys get weight. exp(−∞) is 0 by itself.",
        ),
        WrongAnswer(
            "softmax-over-the-rows",
            lambda scores, block: _softmax(scores, axis=-2),
            "Softmax runs over the last axis but one. The keys are on the last axis: each row adds up to 1.",
        ),
        WrongAnswer(
            "axis-always-1",
            lambda scores, block: _softmax(scores, axis=1),
            "Softmax runs over axis 1. That is the last axis of a matrix only: use `axis=-1` and `scores[..., j : j + block]`.",
        ),
        WrongAnswer(
            "two-axes-only",
            _two_axes_only,
            "This works for two axes only. `scores[..., j : j + block]` and `axis=-1` work for any number of them.",
        ),
        WrongAnswer(
            "logarithm-returned",
            lambda scores, block: np.log(_with()(scores, block)),
            "These are the logarithms of the weights. Take the exponential.",
        ),
        WrongAnswer(
            "exp2",
            lambda scores, block: _with()(scores * float(np.log(2)), block),
            "You raised 2, not e, to the scores. Kernels do that too, with scores that were multiplied by log₂ e before.",
        ),
    ),
    also_right=(
        _twice_read,
        _with_lse,
        _very_low_start,
        _one_by_one,
        lambda scores, block: _with()(scores, 1),
    ),
    hints=(
        "Which numbers of the blocks before do you need when a new block arrives? Two for each row are enough.",
        "The largest score so far, and the sum of exp(score − largest). When the largest grows, multiply the sum by "
        "exp(old − new), and the exponentials you keep, too.",
        "`before = largest`, `largest = np.maximum(before, part.max(axis=-1, keepdims=True))`, then `total = total * "
        "np.exp(before - largest) + np.exp(part - largest).sum(axis=-1, keepdims=True)`; where `largest` is still −∞, "
        "subtract 0.",
    ),
    invariants=(
        Invariant(
            "negative-weights",
            "At least one weight is negative. An exponential never is.",
            lambda inputs, w: bool((w >= 0).all()),
        ),
        Invariant("does-not-sum-to-one", "A row that sees some key does not add up to 1.", _sums_to_one),
        Invariant(
            "hidden-keys-weigh-something",
            "A score of −∞ has a weight that is not 0. Its exponential is 0.",
            lambda inputs, w: bool((w[np.isneginf(inputs[0])] == 0).all()),
        ),
    ),
    forbids=(READY_SOFTMAX, READY_ATTENTION),
    mistakes=MISTAKES,
    spared=(
        (
            "largest = np.full((*scores.shape[:-1], 1), -np.inf) → largest = np.full((*scores.shape[:-1], 1), -1000000000.0)",
            "the prompt promises scores up to ±20,000, and a start far below them all is as good as −∞",
        ),
        (
            "largest = np.full((*scores.shape[:-1], 1), -np.inf) → largest = np.full((*scores.shape[:-1], 1), -np.finfo(np.float32).max)",
            "the prompt promises scores up to ±20,000, and a start far below them all is as good as −∞",
        ),
    ),
)
