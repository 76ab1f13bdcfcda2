"""Lesson 03, exercise `entropy`: how spread out are the weights?"""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.softmax.exercises.shared import WRONG_AXES, cases_of_shape, every_axis_is

PROMPT = r"""`entropy(weights, axis=-1)`: how spread out a row of weights is, in nats.

- `weights`: any number of axes; not negative, and summing to 1 along `axis`. Exact zeros occur.
- Returns $-\sum_i w_i \ln w_i$ along `axis`; that axis disappears. A weight of 0 adds nothing: $0 \cdot \ln 0 = 0$.

Examples: {example:1}; {example:2}; {example:3}.
Shape `(2, 5, 3)` with `axis=1` gives shape `(2, 3)`.
"""


def entropy(weights, axis=-1):
    """Entropy in nats along one axis, which disappears."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -np.sum(weights * logs, axis=axis)


def _weights(rng, *shape):
    return softmax(rng.normal(size=shape) * 1.5)


def _sharp_rows(rng):
    """One-hot, two keys sharing, uniform over seven, and zeros among ordinary weights."""
    rows = np.zeros((4, 7))
    rows[0, rng.integers(7)] = 1.0
    rows[1, [2, 5]] = 0.5
    rows[2] = 1 / 7
    rows[3, :4] = softmax(rng.normal(size=4))
    return rows


def _small_weights(rng):
    """Down to 1e-8 beside two large ones, and about 1e-9 and 1e-10 beside one that holds all but a billionth."""
    scores = np.array([[0.0, 0.5, -7, -12, -16, -300, -800], [0.0, -18.7, -21, -21.5, -23.3, -23.5, -800]])
    return softmax(scores * np.array([[rng.uniform(0.9, 1)], [rng.uniform(0.99, 1)]]))


def _entropy_in_place(weights, axis=-1):
    weights[weights == 0] = 1.0
    return -(weights * np.log(weights)).sum(axis=axis)


def _entropy_loop(weights, axis=-1):
    total = 0.0
    for w in np.moveaxis(weights, axis, 0):
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total - np.where(w > 0, w * np.log(w), 0.0)
    return total


def _in_parts(*, guard, weigh, logarithm, axis, add, sign):
    """entropy in six parts, each of which can be wrong; see MISTAKES."""

    def answer(weights, axis_given=-1):
        factor, safe = guard(weights)
        terms = weigh(factor) * logarithm(safe)
        return sign * -add(terms, axis(axis_given))

    return answer


def _only_positive(w):
    return w, np.where(w > 0, w, 1.0)


def _plus(small):
    return lambda w: (w, w + small)


def _plus_in_both(small):
    return lambda w: (w + small, w + small)


def _clipped(small):
    return lambda w: (w, np.maximum(w, small))


def _clipped_in_both(small, largest):
    return lambda w: (clipped := np.clip(w, small, largest), clipped)


def _above(small):
    return lambda w: (w, np.where(w > small, w, 1.0))


def _share_of_at_least_two(terms, axis):
    n = terms.size if axis is None else terms.shape[axis]
    return terms.sum(axis=axis) / np.log(max(n, 2))


MISTAKES = Products(
    (
        Factor(
            "guard",
            _only_positive,
            (
                Option("zero-gives-nan", lambda w: (w, w)),
                *(Option("small-number-in-the-log", _plus(10.0**-n)) for n in (5, 6, 7, 8, 9, 10, 12)),
                *(Option("small-number-in-the-log", _plus_in_both(10.0**-n)) for n in (6, 8, 9, 10, 12)),
                *(Option("weights-clipped", _clipped(10.0**-n)) for n in (2, 3, 4, 5, 6, 7, 8)),
                *(
                    Option("weights-clipped", _clipped_in_both(10.0**-n, largest))
                    for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
                    for largest in (1.0, 1 - 10.0**-n)
                ),
                *(Option("threshold-for-zero", _above(10.0**-n)) for n in (2, 3, 4, 5, 6, 7, 8, 9, 10)),
            ),
        ),
        Factor("weigh", lambda w: w, (Option("weights-left-out", lambda w: 1.0),)),
        Factor("logarithm", np.log, (Option("bits-not-nats", np.log2), Option("base-10", np.log10))),
        Factor(
            "axis",
            lambda axis: axis,
            (
                Option("axis-always-last", every_axis_is(-1)),
                Option("axis-always-first", every_axis_is(0)),
                Option("axis-always-1", every_axis_is(1)),
                Option("one-number-for-all", every_axis_is(None)),
                *WRONG_AXES,
            ),
        ),
        Factor(
            "add",
            lambda terms, axis: terms.sum(axis=axis),
            (
                Option("mean-not-sum", lambda terms, axis: terms.mean(axis=axis)),
                Option("share-of-the-most", _share_of_at_least_two),
                Option("not-summed", lambda terms, axis: terms),
                Option("axis-kept", lambda terms, axis: terms.sum(axis=axis, keepdims=True)),
                Option("mean-over-rows", lambda terms, axis: terms.sum(axis=axis).mean()),
            ),
        ),
        Factor("sign", 1, (Option("minus-forgotten", -1),)),
    ),
    _in_parts,
)
"""Mistakes that come together: zeros that give NaN, and bits."""


EXERCISE = Exercise(
    name="entropy",
    lesson="03_softmax",
    title="How spread out are the weights?",
    prompt=PROMPT,
    examples=(
        Example(([0.5, 0.5, 0],), form="values", shows="ln 2 = 0.6931…"),
        Example(([0, 1, 0],), form="values", points=0.0),
        Example(([0.25, 0.25, 0.25, 0.25],), form="values", shows="ln 4 = 1.3862…", points=0.0),
    ),
    difficulty=2,
    minutes=10,
    reference=entropy,
    cases=(
        Case("one row", lambda rng: (_weights(rng, 5),)),
        Case("rows, read-only", lambda rng: (read_only(_weights(rng, 3, 6)),)),
        Case(
            "the middle axis",
            lambda rng: (softmax(rng.normal(size=(2, 5, 3, 4)), 1), -3),
            points=2,
            says="An axis can be counted from the end: −3 of four is the second.",
        ),
        Case(
            "one-hot, shared, uniform, some zeros",
            lambda rng: (read_only(_sharp_rows(rng)),),
            points=2,
            says="A weight of 0 adds nothing: w·ln w goes to 0 with w. One-hot has entropy 0, uniform over n has "
            "ln n.",
        ),
        Case(
            "very small weights",
            lambda rng: (_small_weights(rng),),
            points=2,
            says="However small a weight is, it adds −w·ln w: only a weight of exactly 0 adds nothing.",
        ),
        Case("four axes, the first", lambda rng: (softmax(rng.normal(size=(4, 3, 2, 5)), 0), 0)),
        *cases_of_shape(lambda x: (softmax(x),)),
    ),
    wrong=(
        WrongAnswer(
            "zero-gives-nan",
            lambda w, axis=-1: -(w * np.log(w)).sum(axis=axis),
            "A weight of 0 makes your result NaN, and softmax does give exact zeros. Either 0 · ln 0 was computed, which "
            "is 0 · (−∞), or `where=` without `out=` left memory that nobody wrote. Such a weight adds nothing: put a "
            "harmless number into the logarithm.",
            ("What is np.log(0), and what is 0 times that?",),
        ),
        WrongAnswer(
            "small-number-in-the-log",
            lambda w, axis=-1: -(w * np.log(w + 1e-8)).sum(axis=axis),
            "You added a small number inside the logarithm. It avoids NaN, but every entropy is a little off, and that "
            "of a one-hot row is no longer 0. Treat a weight of 0 as its own case.",
        ),
        WrongAnswer(
            "weights-clipped",
            lambda w, axis=-1: -(w * np.log(np.clip(w, 1e-3, None))).sum(axis=axis),
            "You clipped the weights, so that small ones no longer count as what they are. Only a weight of exactly 0 "
            "needs care.",
        ),
        WrongAnswer(
            "threshold-for-zero",
            lambda w, axis=-1: -np.sum(w * np.log(np.where(w > 1e-6, w, 1.0)), axis=axis),
            "Small weights are left out as if they were 0. Only a weight of exactly 0 adds nothing.",
        ),
        WrongAnswer(
            "bits-not-nats",
            lambda w, axis=-1: entropy(w, axis) / np.log(2),
            "This is the entropy in bits: the logarithm is to base 2. Use the natural logarithm, for nats.",
        ),
        WrongAnswer(
            "base-10",
            lambda w, axis=-1: entropy(w, axis) / np.log(10),
            "The logarithm is to base 10. Use the natural logarithm, np.log.",
        ),
        WrongAnswer(
            "minus-forgotten",
            lambda w, axis=-1: -entropy(w, axis),
            "The minus sign is missing: logarithms of weights are negative, and an entropy is not.",
        ),
        WrongAnswer(
            "weights-left-out",
            lambda w, axis=-1: -np.log(np.where(w > 0, w, 1.0)).sum(axis=axis),
            "You summed −ln w. Each term has to be weighted: w times ln w.",
        ),
        WrongAnswer(
            "mean-not-sum",
            lambda w, axis=-1: entropy(w, axis) / w.shape[axis],
            "This is the mean of −w·ln w, n times too small. The weights are the averaging already: sum.",
        ),
        WrongAnswer(
            "share-of-the-most",
            lambda w, axis=-1: entropy(w, axis) / np.log(w.shape[axis]),
            "You divided by ln n, which gives a share between 0 and 1. Return the entropy itself.",
        ),
        WrongAnswer(
            "gap-to-uniform",
            lambda w, axis=-1: np.log(w.shape[axis]) - entropy(w, axis),
            "This is how far the entropy lies below ln n: 0 for uniform weights. Return the entropy itself.",
        ),
        WrongAnswer(
            "effective-number",
            lambda w, axis=-1: np.exp(entropy(w, axis)),
            "This is e to the entropy, the effective number of keys. Return the entropy itself.",
        ),
        WrongAnswer(
            "largest-weight-only",
            lambda w, axis=-1: -np.log(w.max(axis=axis)),
            "This looks at the largest weight alone (the min-entropy). Sum −w·ln w over all of them.",
        ),
        WrongAnswer(
            "one-minus-squares",
            lambda w, axis=-1: 1 - (w * w).sum(axis=axis),
            "This is 1 minus the sum of squares, another measure of spread (Gini). Entropy uses w·ln w.",
        ),
        WrongAnswer(
            "sum-of-squares-log",
            lambda w, axis=-1: -np.log((w * w).sum(axis=axis)),
            "This is the logarithm of the sum of squares (Rényi's entropy of order 2). Sum −w·ln w.",
        ),
        WrongAnswer(
            "log-of-one-plus",
            lambda w, axis=-1: (w * np.log1p(w)).sum(axis=axis),
            "np.log1p(w) is ln(1 + w), another number than ln w. Treat a weight of 0 as its own case instead.",
        ),
        WrongAnswer(
            "not-summed",
            lambda w, axis=-1: -w * np.log(np.where(w > 0, w, 1.0)),
            "These are the terms −w·ln w. Add them up along the axis.",
        ),
        WrongAnswer(
            "axis-kept",
            lambda w, axis=-1: np.expand_dims(entropy(w, axis), axis),
            "The axis is still there with length 1. It should disappear: leave keepdims out.",
        ),
        WrongAnswer(
            "one-number-for-all",
            lambda w, axis=-1: entropy(w, axis).sum(),
            "You summed over the whole array. Each row has its own entropy: sum along `axis` only.",
        ),
        WrongAnswer(
            "mean-over-rows",
            lambda w, axis=-1: entropy(w, axis).mean(),
            "You averaged over the rows. Each row has its own entropy.",
        ),
        WrongAnswer(
            "axis-always-last",
            lambda w, axis=-1: entropy(w, -1),
            "You always sum over the last axis: the argument `axis` is not used.",
        ),
        WrongAnswer(
            "axis-always-first",
            lambda w, axis=-1: entropy(w, 0),
            "You always sum over axis 0. Use `axis`.",
        ),
        WrongAnswer(
            "axis-always-1",
            lambda w, axis=-1: entropy(w, 1),
            "You always sum over axis 1. That is the last axis of a matrix, but not of a vector. Use `axis`.",
        ),
        WrongAnswer(
            "softmax-again",
            lambda w, axis=-1: entropy(softmax(w, axis), axis),
            "You applied softmax once more. The input holds weights already.",
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda w, axis=-1: entropy(w.astype(np.float32), axis).astype(w.dtype),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _entropy_in_place,
            "Your function writes into the caller's array. Use np.where to make a new one.",
        ),
    ),
    also_right=(
        lambda w, axis=-1: -np.nansum(w * np.log(w), axis=axis),
        lambda w, axis=-1: np.sum(w * -np.log(np.maximum(w, 1e-320)), axis=axis),
        lambda w, axis=-1: -np.sum(w * np.log(w, out=np.zeros_like(w), where=w > 0), axis=axis),
        lambda w, axis=-1: -np.sum(np.where(w == 0, 0.0, w * np.log(w)), axis=axis),
        lambda w, axis=-1: -np.sum(w * np.log(w + 1e-300), axis=axis),
        lambda w, axis=-1: -np.sum(w * np.log2(np.where(w > 0, w, 1)), axis=axis) * np.log(2),
        _entropy_loop,
    ),
    hints=(
        "Take one row of weights: which number does each weight add, and what does a weight of 0 add?",
        "The entropy is −Σ w·ln w. Where w is 0 the term is 0, so put any harmless number into the logarithm there.",
        "`np.where(weights > 0, weights, 1.0)` is safe to take the logarithm of: ln 1 = 0. Multiply by the "
        "weights, sum over `axis`, mind the sign.",
    ),
    invariants=(
        Invariant(
            "outside-zero-to-ln-n",
            "An entropy lies between 0 (all on one key) and ln n (the same for all n keys).",
            lambda inputs, h: bool(
                (h >= -1e-9).all()
                and (h <= np.log(inputs[0].shape[inputs[1] if len(inputs) > 1 else -1]) + 1e-9).all()
            ),
        ),
    ),
    mistakes=MISTAKES,
)
