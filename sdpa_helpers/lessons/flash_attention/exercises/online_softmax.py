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
from sdpa_helpers.checking.standard_cases import one_of_each

PROMPT = r"""`online_softmax(scores, block)`: what a softmax needs to know of each row, from scores that arrive `block` at a time.

- `scores`, shape `(..., n_k)`. A score may be −∞: that key is hidden. Scores can be as large as ±20,000.
- `block`: how many keys you take at a time. `n_k` need not be a multiple of it, and `block` may be larger than `n_k`.
- Returns a tuple `(largest, total)`, both of shape `(...)`, two numbers for each row: its largest score $m$, and $\ell = \sum_j e^{s_j - m}$. The weight of key $j$ is then $e^{s_j - m}/\ell$. A row with nothing but −∞ has the largest score −∞ and the sum 0.

Go over the blocks once, and keep these two numbers of what has come so far. When a block brings a larger score, what you have summed up was made with the old maximum: bring it to the new one.

Example: {example:1}. After the first block the maximum is 0 and the sum 2; the second brings $\ln 2$, so the 2 shrinks to 1 before 1/2 and 1 are added.

The check compares the two numbers. It can't see how often you read the scores; in [`tiled_attention`](#tiled_attention) it measures the memory, and there only one pass will do.
"""


def online_softmax(scores, block):
    """Scores (..., n_k), `block` at a time -> (largest, total), each (...): softmax's state after one pass."""
    largest = np.full(scores.shape[:-1], -np.inf)
    total = np.zeros(scores.shape[:-1])
    for j in range(0, scores.shape[-1], block):
        part = scores[..., j : j + block]
        before = largest
        largest = np.maximum(before, part.max(axis=-1))
        finite = np.where(largest == -np.inf, 0.0, largest)  # −∞ − (−∞) would be NaN
        exponentials = np.exp(part - finite[..., None])
        total = total * np.exp(before - finite) + exponentials.sum(axis=-1)
    return largest, total


# ---- mistakes, as products ----------------------------------------------------------------------------------


def _safe(largest):
    return np.where(largest == -np.inf, 0.0, largest)


def _running(before, part):
    return np.maximum(before, part.max(axis=-1))


def _shrunk(total, shrink, new):
    return total * shrink + new


def _turned_round(total, shrink, new):
    """Multiplied by exp(new − old); the first block, where nothing is summed up yet, left alone."""
    return np.where(shrink == 0, 0.0, total / shrink) + new


def _build(start, maximum, carried, safe, cut, finish):
    """An online softmax whose parts can be wrong. carried: how the sum meets a new maximum."""

    def online(scores, block):
        largest = np.full(scores.shape[:-1], start)
        total = np.zeros(scores.shape[:-1])
        for j in cut(scores.shape[-1], block):
            part, before = scores[..., j : j + block], largest
            largest = maximum(before, part)
            shrink, e = np.exp(before - safe(largest)), np.exp(part - safe(largest)[..., None])
            total = carried(total, shrink, e.sum(axis=-1))
        return finish(largest, total)

    return online


MISTAKES = Products(
    (
        Factor(
            "start",
            -np.inf,
            (
                Option("maximum-started-at-zero", 0.0),
                Option("maximum-started-at-a-finite-number", -100.0, rare=True),
                Option("empty-row-keeps-its-start", -1e30, rare=True),
                Option("empty-row-keeps-its-start", -1e9, rare=True),
            ),
        ),
        Factor(
            "maximum",
            _running,
            (
                Option("no-maximum-subtracted", lambda before, part: np.zeros(before.shape)),
                Option("one-maximum-for-all-rows", lambda before, part: np.maximum(before, part.max())),
                Option("maximum-of-this-block-only", lambda before, part: part.max(axis=-1) + 0.0),
            ),
        ),
        Factor(
            "carried",
            _shrunk,
            (
                Option("sum-not-rescaled", lambda total, shrink, new: total + new),
                Option("sum-rescaled-the-wrong-way", _turned_round),
                Option("sum-of-the-last-block-only", lambda total, shrink, new: new),
                Option("new-exponentials-rescaled-too", lambda total, shrink, new: (total + new) * shrink),
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
            lambda largest, total: (largest, total),
            (
                Option("empty-row-is-nan", lambda largest, total: (largest, total * total / total)),
                Option("empty-row-sums-to-one", lambda m, total: (m, np.where(total == 0, 1.0, total))),
                Option("empty-row-has-a-largest-score", lambda largest, total: (_safe(largest), total)),
                Option("small-number-added-to-the-sum", lambda largest, total: (largest, total + 1e-6)),
                Option("axis-of-the-keys-kept", lambda m, total: (m[..., None], total[..., None])),
                Option("logarithm-of-the-sum", lambda largest, total: (largest, np.log(total))),
                Option("largest-added-to-the-logarithm", lambda m, total: (m, _safe(m) + np.log(total))),
                Option("one-over-the-sum", lambda largest, total: (largest, 1 / total)),
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


def _state(x, axis=-1):
    """Both numbers, all at once."""
    largest = x.max(axis=axis, keepdims=True)
    return largest.squeeze(axis), np.exp(x - _safe(largest)).sum(axis=axis)


def _weights(scores, block):
    largest, total = _state(scores)
    return np.exp(scores - _safe(largest)[..., None]) / np.where(total == 0, 1.0, total)[..., None]


def _each_by_itself(scores, block):
    """The sum that each block has with a maximum of its own, added up."""
    parts = [_state(scores[..., j : j + block])[1] for j in range(0, scores.shape[-1], block)]
    return scores.max(axis=-1), np.sum(parts, axis=0)


def _maximum_comes_too_late(scores, block):
    """The exponentials of a block are made with the maximum of the blocks before it."""
    largest = scores[..., 0]
    total = np.zeros(largest.shape)
    for j in range(0, scores.shape[-1], block):
        part, before = scores[..., j : j + block], largest
        e = np.exp(part - _safe(before)[..., None])
        largest = _running(before, part)
        total = total * np.exp(_safe(before) - _safe(largest)) + e.sum(axis=-1)
    return largest, total


def _sum_without_maximum(scores, block):
    return scores.max(axis=-1), np.exp(scores).sum(axis=-1)


def _hidden_as_zero(scores, block):
    return _with()(np.where(np.isneginf(scores), 0.0, scores), block)


def _two_axes_only(scores, block):
    parts = [scores[:, j : j + block] for j in range(0, scores.shape[1], block)]
    largest = np.max([part.max(axis=1) for part in parts], axis=0)
    return largest, np.exp(scores - _safe(largest)[:, None]).sum(axis=1)


# ---- other right answers ------------------------------------------------------------------------------------


def _with_lse(scores, block):
    """The LSE so far in place of the sum."""
    largest, lse = np.full(scores.shape[:-1], -np.inf), np.full(scores.shape[:-1], -np.inf)
    for j in range(0, scores.shape[-1], block):
        part = scores[..., j : j + block]
        largest = np.maximum(largest, part.max(axis=-1))
        lse = np.logaddexp(lse, np.logaddexp.reduce(part, axis=-1))
    return largest, np.exp(lse - _safe(largest))


def _very_low_start(scores, block):
    """From a number that no score reaches, put right at the end."""
    largest, total = np.full(scores.shape[:-1], -1e30), np.zeros(scores.shape[:-1])
    for j in range(0, scores.shape[-1], block):
        new = np.maximum(largest, scores[..., j : j + block].max(axis=-1))
        total = total * np.exp(largest - new) + np.exp(scores[..., j : j + block] - new[..., None]).sum(
            axis=-1
        )
        largest = new
    return np.where(total == 0, -np.inf, largest), total


def _one_by_one(scores, block):
    rows = np.reshape(scores, (-1, scores.shape[-1]))
    largest, total = np.full(len(rows), -np.inf), np.zeros(len(rows))
    for r, row in enumerate(rows):
        for s in row:
            if s > largest[r]:
                total[r], largest[r] = total[r] * np.exp(largest[r] - s), s
            total[r] += np.exp(s - largest[r]) if s > -np.inf else 0.0
    return largest.reshape(scores.shape[:-1]), total.reshape(scores.shape[:-1])


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
    scores = np.array([[-800.0], [-19_990.0], [-2000.0]]) + _normal(rng, (3, 5), 2)[0]
    scores[2, :2] = -np.inf
    return scores, 2


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


def _within_reach(inputs, state):
    """Each row's sum lies between 1 and the number of its keys, and is 0 where there is none."""
    keys = (~np.isneginf(inputs[0])).sum(axis=-1)
    return bool((state[1] >= np.minimum(keys, 1) - 1e-9).all() and (state[1] <= keys + 1e-9).all())


EXERCISE = Exercise(
    name="online_softmax",
    lesson="07_flash_attention",
    title="Softmax in one pass",
    prompt=PROMPT,
    examples=(Example(([[0, 0, 0, np.log(2)]], 2), shows="([ln 2], [2.5])"),),
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
            says="Every score of a row is near −800, −2000 or −20,000; near −2000 the first block is hidden. Its sum is as "
            "ordinary as near 0. (NaN? A sum of 0 times a factor that overflows.)",
        ),
        Case(
            "blocks of hidden keys",
            _hidden,
            points=2,
            says="In one row the first blocks hold nothing but −∞: there −∞ − (−∞) lies in wait.",
        ),
        Case(
            "rows of nothing but −∞",
            _some_empty,
            says="There is nothing to attend to: the largest score is −∞, and the sum 0.",
        ),
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
            "underflows to 0, and the sum is 0. Start at −∞.",
        ),
        WrongAnswer(
            "maximum-started-at-a-finite-number",
            _option("maximum-started-at-a-finite-number"),
            "The running maximum starts at a finite number, and a row of scores far below that number loses all its "
            "exponentials to underflow. Start at −∞.",
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
            "The sum is that of the last block alone: every block overwrites the sum of those before it.",
        ),
        WrongAnswer(
            "new-exponentials-rescaled-too",
            _option("new-exponentials-rescaled-too"),
            "You rescaled the new exponentials as well. They were made with the new maximum already: only what was summed "
            "up before has to shrink.",
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
            "last-block-dropped",
            _option("last-block-dropped"),
            "The last, smaller block is left out: `n_k // block` counts full blocks only.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _option("no-maximum-subtracted"),
            "No maximum is subtracted, and the first number is 0: the exponential overflows for scores near 1000, and "
            "underflows near −1000.",
        ),
        WrongAnswer(
            "sum-without-the-maximum",
            _sum_without_maximum,
            "The largest score is right, and the sum is made of the exponentials of the scores as they are: it overflows near "
            "1000. The maximum of the time has to be subtracted in the exponent.",
        ),
        WrongAnswer(
            "empty-row-is-nan",
            _option("empty-row-is-nan"),
            "A row of nothing but −∞ ends with NaN. Its largest score is −∞ and its sum 0.",
        ),
        WrongAnswer(
            "empty-row-keeps-its-start",
            _option("empty-row-keeps-its-start"),
            "A row of nothing but −∞ has a finite largest score in your answer: the number that the maximum started at. It is "
            "−∞: start there, or put it there at the end.",
        ),
        WrongAnswer(
            "empty-row-sums-to-one",
            _option("empty-row-sums-to-one"),
            "A row of nothing but −∞ has the sum 1 in your answer. There is nothing to sum up: it is 0. Guard the division, "
            "where somebody divides; the sum itself has to tell that the row is empty.",
        ),
        WrongAnswer(
            "empty-row-has-a-largest-score",
            _option("empty-row-has-a-largest-score"),
            "A row of nothing but −∞ has the largest score 0 in your answer: what you subtract there to keep NaN away. The "
            "largest score itself stays −∞, or a later block with scores below 0 loses.",
        ),
        WrongAnswer(
            "nan-hidden",
            _with(
                safe=lambda largest: largest, finish=lambda largest, total: (largest, np.nan_to_num(total))
            ),
            "You replaced NaN by 0 at the end. That is right for rows that see nothing, and wipes out those whose first "
            "block is hidden. See to it that no NaN arises: −∞ − (−∞) is where it comes from.",
        ),
        WrongAnswer(
            "first-block-only",
            _option("first-block-only"),
            "Only the first block was looked at: is the `return` inside the loop?",
        ),
        WrongAnswer(
            "weights-returned",
            _weights,
            "These are the weights. Two numbers for each row are asked for, its largest score and its sum: one pass can't know "
            "the weights before its end.",
        ),
        WrongAnswer(
            "lse-returned",
            lambda scores, block: np.logaddexp.reduce(scores, axis=-1),
            "This is one number for each row, the logarithm of the sum, with the largest score added. Return the two: "
            "`(largest, total)`.",
        ),
        WrongAnswer(
            "logarithm-of-the-sum",
            _option("logarithm-of-the-sum"),
            "The second number is the logarithm of the sum. Return the sum itself.",
        ),
        WrongAnswer(
            "largest-added-to-the-logarithm",
            _option("largest-added-to-the-logarithm"),
            "The second number is the LSE: the logarithm of the sum, with the largest score added. Return the sum itself.",
        ),
        WrongAnswer(
            "one-over-the-sum",
            _option("one-over-the-sum"),
            "The second number is 1 over the sum. Return the sum itself: blocks can be added to it.",
        ),
        WrongAnswer(
            "each-block-by-itself",
            _each_by_itself,
            "Each block's exponentials are made with the block's own maximum, and the sums are added as they are. They have to "
            "be brought to one maximum first: multiply each by exp(own − largest).",
        ),
        WrongAnswer(
            "small-number-added-to-the-sum",
            _option("small-number-added-to-the-sum"),
            "A small number is added to the sum. It is at least 1 wherever a key is seen, and 0 says that there is none.",
        ),
        WrongAnswer(
            "axis-of-the-keys-kept",
            _option("axis-of-the-keys-kept"),
            "Both parts keep an axis of length 1 where the keys were. Return shape `(...)`: take it off with `[..., 0]`.",
        ),
        WrongAnswer(
            "over-the-rows",
            lambda scores, block: _state(scores, axis=-2 if scores.ndim > 1 else -1),
            "Maximum and sum run over the last axis but one. The keys are on the last axis: two numbers for each row.",
        ),
        WrongAnswer(
            "axis-always-1",
            lambda scores, block: _state(scores, axis=1),
            "Maximum and sum run over axis 1. That is the last axis of a matrix only: use `axis=-1` and "
            "`scores[..., j : j + block]`.",
        ),
        WrongAnswer(
            "hidden-keys-as-zero",
            _hidden_as_zero,
            "You turned −∞ into 0, and a score of 0 has the exponential 1: hidden keys count. exp(−∞) is 0 by itself.",
        ),
        WrongAnswer(
            "two-axes-only",
            _two_axes_only,
            "This works for two axes only. `scores[..., j : j + block]` and `axis=-1` work for any number of them.",
        ),
        WrongAnswer(
            "exp2",
            lambda scores, block: _with()(scores * float(np.log(2)), block),
            "You raised 2, not e, to the scores. Kernels do that too, with scores that were multiplied by log₂ e before.",
        ),
    ),
    also_right=(
        lambda scores, block: _state(scores),
        _with_lse,
        _very_low_start,
        _one_by_one,
        lambda scores, block: _with()(scores, 1),
    ),
    hints=(
        "Which numbers of the blocks before do you need when a new block arrives? Two for each row are enough.",
        "The largest score so far, and the sum of exp(score − largest). When the largest grows, multiply the sum by "
        "exp(old − new).",
        "`before = largest`, `largest = np.maximum(before, part.max(axis=-1))`, then `total = total * np.exp(before - largest) + "
        "np.exp(part - largest[..., None]).sum(axis=-1)`; where `largest` is still −∞, subtract 0.",
    ),
    invariants=(
        Invariant(
            "not-the-largest-score",
            "The first number of at least one row is no score of it, or not the largest.",
            lambda inputs, state: bool((state[0] == inputs[0].max(axis=-1)).all()),
        ),
        Invariant(
            "sum-out-of-reach",
            "A sum lies below 1, or above the number of the row's keys. The largest score gives 1, each other one less or as much.",
            _within_reach,
        ),
    ),
    mistakes=MISTAKES,
)
