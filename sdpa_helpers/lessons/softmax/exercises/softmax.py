"""Lesson 03, exercise `softmax`: softmax that survives any finite scores."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.softmax.exercises.shared import (
    WRONG_AXES,
    cases_of_shape,
    every_axis_is,
    one_hot,
    plain_softmax,
    spread_rows,
    sums_to_one,
    thousands,
    with_hidden,
)

PROMPT = r"""`softmax(x, axis=-1)`: scores to weights, along one axis.

- `x`: scores, any number of axes, float64 or float32. Any finite size: ±1000 is nothing special.
- `axis`: the axis along which the weights sum to 1.
- Returns an array of the same shape, $\dfrac{e^{x_i}}{\sum_j e^{x_j}}$ along `axis`.
- An entry of −∞ gets weight 0. No row here is −∞ throughout: what to return then is lesson 05's subject.

Example: {example:1}, and so does the same matrix plus 1000.
With `axis=0` the columns sum to 1.
"""


def softmax(x, axis=-1):
    """Weights along one axis: x (any shape) -> the same shape."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def _around_200(rng):
    shift = np.array([200.0, -200.0])[:, None, None, None]
    return (spread_rows(rng, 2, 3, 4, 5) + shift).astype(np.float32)


def _hidden_beside_far_below(rng):
    """with_hidden, and a row whose finite scores lie below every number that people put in the place of −∞."""
    far = -float(rng.uniform(1, 9)) * 1e37
    return np.vstack([with_hidden(rng), [-np.inf, far, -np.inf, 2 * far, 4 * far]])


def _shifted_by(shift):
    def wrong(x, axis=-1):
        e = np.exp(x - shift(x, axis))
        return e / e.sum(axis=axis, keepdims=True)

    return wrong


def _softmax_in_place(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def _max_without_keepdims(x, axis=-1):
    e = np.exp(x - x.max(axis=axis))
    return e / e.sum(axis=axis, keepdims=True)


def _sum_without_keepdims(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis)


def _no_keepdims(x, axis=-1):
    e = np.exp(x - x.max(axis=axis))
    return e / e.sum(axis=axis)


def _exponentials(x, axis=-1):
    return np.exp(x - x.max(axis=axis, keepdims=True))


def _flat(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum()


def _lined_up_by_none(x, axis=-1):
    e = np.exp(x - x.max(axis=axis)[:, None])
    return e / e.sum(axis=axis)[:, None]


def _transposes(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return (e.T / e.sum(axis=axis)).T


def _renormalised(weigh):
    def wrong(x, axis=-1):
        e = weigh(x, axis)
        return e / e.sum(axis=axis, keepdims=True)

    return wrong


def _softmax_rows_by_loop(x, axis=-1):
    moved = np.moveaxis(x, axis, -1)
    out = np.empty(moved.shape, dtype=x.dtype)
    for place in np.ndindex(moved.shape[:-1]):
        row = moved[place]
        e = np.exp(row - max(row))
        out[place] = e / sum(e)
    return np.moveaxis(out, -1, axis)


def _softmax_by_log_sum(x, axis=-1):
    largest = x.max(axis=axis, keepdims=True)
    return np.exp(x - largest - np.log(np.exp(x - largest).sum(axis=axis, keepdims=True)))


def _order_kept(x, weights, axis):
    order = x.argsort(axis=axis, kind="stable")
    steps = np.diff(np.take_along_axis(weights, order, axis), axis=axis)
    return not np.any(np.less(steps, -1e-12))


def _in_parts(*, axis, scores, hidden, shift, total, after):
    """softmax in six parts, each of which can be wrong; see MISTAKES."""

    def answer(x, axis_given=-1):
        along = axis(axis_given)
        x = scores(hidden(x), along)
        e = np.exp(x - shift(x, along))
        return after(e / total(e, along))

    return answer


def _sum(e, axis):
    return e.sum(axis=axis, keepdims=True)


def _axis_options():
    axes = {"last": -1, "first": 0, "1": 1, "2": 2}
    always = tuple(Option(f"axis-always-{word}", every_axis_is(axis)) for word, axis in axes.items())
    return (
        *always,
        Option("over-the-queries", every_axis_is(-2)),
        Option("flattened", every_axis_is(None)),
        *WRONG_AXES,
    )


MISTAKES = Products(
    (
        Factor("axis", lambda axis: axis, _axis_options()),
        Factor(
            "scores",
            lambda x, axis: x,
            (
                Option("exp2", lambda x, axis: x * float(np.log(2))),
                Option("exp-squared", lambda x, axis: 2 * x),
                Option(
                    "scaled-by-root-n", lambda x, axis: x / np.sqrt(x.size if axis is None else x.shape[axis])
                ),
                Option("sign-flipped", lambda x, axis: np.where(np.isinf(x), x, -x)),
                Option("sign-dropped", lambda x, axis: np.abs(x)),
            ),
        ),
        Factor(
            "hidden",
            lambda x: x,
            (
                Option("minus-infinity-as-zero", lambda x: np.where(np.isneginf(x), 0.0, x)),
                *(
                    Option("hidden-keys-counted-in", lambda x, low=low: np.where(np.isneginf(x), low, x))
                    for low in (-1e9, -1e4, -1e30)
                ),
                Option("zeros-left-out", lambda x: np.where(x == 0, -np.inf, x)),
                Option("scores-clipped", lambda x: np.clip(x, -50, 50)),
                Option("scores-clipped", lambda x: np.clip(x, -500, 500)),
                Option("scores-clipped", lambda x: np.clip(x, -100, 100)),
            ),
        ),
        Factor(
            "shift",
            lambda x, axis: x.max(axis=axis, keepdims=True),
            (
                Option("no-max-subtracted", lambda x, axis: 0.0),
                Option("no-max-subtracted", lambda x, axis: np.zeros((1,) * x.ndim)),  # float64 whatever x is
                Option("global-max-subtracted", lambda x, axis: x.max()),
                Option("minimum-subtracted", lambda x, axis: x.min(axis=axis, keepdims=True)),
                Option("half-the-maximum-subtracted", lambda x, axis: x.max(axis=axis, keepdims=True) / 2),
                Option("mean-subtracted", lambda x, axis: x.mean(axis=axis, keepdims=True)),
                Option("largest-size-subtracted", lambda x, axis: np.abs(x).max(axis=axis, keepdims=True)),
                *(
                    Option(
                        "zero-start-of-a-running-maximum",
                        lambda x, axis, dtype=dtype: np.maximum(
                            x.max(axis=axis, keepdims=True).astype(dtype or x.dtype), 0
                        ),
                    )
                    for dtype in (None, np.float64)
                ),
                Option("max-without-keepdims", lambda x, axis: x.max(axis=axis)),
                Option("max-over-last-axis", lambda x, axis: x.max(axis=-1, keepdims=True)),
                Option("max-over-first-axis", lambda x, axis: x.max(axis=0, keepdims=True)),
            ),
        ),
        Factor(
            "total",
            _sum,
            (
                Option("not-divided", lambda e, axis: 1.0),
                Option("divided-by-mean", lambda e, axis: e.mean(axis=axis, keepdims=True)),
                Option("sum-without-keepdims", lambda e, axis: e.sum(axis=axis)),
                Option("sum-over-last-axis", lambda e, axis: e.sum(axis=-1, keepdims=True)),
                Option("one-added-to-the-sum", lambda e, axis: 1 + _sum(e, axis)),
                *(
                    Option("small-number-in-the-denominator", lambda e, axis, eps=eps: _sum(e, axis) + eps)
                    for eps in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
                ),
            ),
        ),
        Factor(
            "after",
            lambda w: w,
            (
                Option("logarithm-returned", lambda w: np.log(w)),
                *(Option("rounded", lambda w, digits=digits: np.round(w, digits)) for digits in (2, 3, 4, 6)),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: the wrong axis and the wrong maximum, say."""


EXERCISE = Exercise(
    name="softmax",
    lesson="03_softmax",
    title="Softmax that survives any finite scores",
    prompt=PROMPT,
    examples=(Example(([[0, 0, 10], [1, 2, 3]],), form="values"),),
    section="3. Subtract the row's maximum",
    difficulty=2,
    minutes=15,
    reference=softmax,
    cases=(
        Case("one row", lambda rng: (rng.normal(size=5) * 2,)),
        Case(
            "a square matrix, rows",
            lambda rng: (spread_rows(rng, 4, 4),),
            says="A square matrix hides a forgotten `keepdims`: the shapes fit and the numbers are wrong.",
        ),
        Case(
            "the middle axis",
            lambda rng: (spread_rows(rng, 3, 5, 2, 4), -3),
            says="An axis can be counted from the end: −3 of four is the second.",
        ),
        Case("the first axis", lambda rng: (spread_rows(rng, 5, 3), 0)),
        Case(
            "four axes, float32 around ±200, strided, read-only",
            lambda rng: (read_only_strided(_around_200(rng)),),
            says="In float32 exp overflows above 88.7, and any number of axes may stand in front.",
        ),
        Case(
            "scores of ±1000",
            lambda rng: (thousands(rng),),
            points=2,
            says="No score here may overflow, and no row may lose its whole sum.",
        ),
        Case(
            "entries of −∞, zeros, a tie",
            lambda rng: (_hidden_beside_far_below(rng),),
            says="A score of −∞ means weight 0; a score of 0 does not, nor does any other finite one.",
        ),
        *cases_of_shape(),
    ),
    wrong=(
        WrongAnswer(
            "no-max-subtracted",
            plain_softmax,
            "No maximum is subtracted before the exponential. It overflows above 709, in float32 above 88, and is 0 far "
            "below: ∞/∞ and 0/0 are NaN. Subtract each row's own maximum first; the weights stay the same.",
            ("What is np.exp(1000)? And np.exp(-1000)?",),
        ),
        WrongAnswer(
            "small-number-and-no-max",
            lambda x, axis=-1: (e := np.exp(x)) / (e.sum(axis=axis, keepdims=True) + 1e-12),
            "You took the exponential of the scores as they are, and a small number added to the sum hides 0/0: a row "
            "of −1000 gets weights of 0, and exp(1000) is infinite all the same. Subtract each row's maximum; then "
            "nothing has to be added.",
            ("What is np.exp(1000)? And np.exp(-1000)?",),
        ),
        WrongAnswer(
            "divided-by-the-maximum",
            lambda x, axis=-1: plain_softmax(x / x.max(axis=axis, keepdims=True), axis),
            "You divided the scores by the row's maximum, which changes their differences, and turns them round where "
            "it is negative. Subtract it.",
        ),
        WrongAnswer(
            "global-max-subtracted",
            _shifted_by(lambda x, axis: x.max()),
            "You subtracted the largest score of the whole array. In a row far below it all exponentials are 0, "
            "and 0/0 is NaN. Each row needs its own maximum.",
            ("Which `axis` should the maximum run over, and what does `keepdims=True` do for you?",),
        ),
        WrongAnswer(
            "minimum-subtracted",
            _shifted_by(lambda x, axis: x.min(axis=axis, keepdims=True)),
            "You subtracted the minimum, so the largest score can still overflow. Subtract the maximum: then the "
            "largest exponent is 0.",
        ),
        WrongAnswer(
            "half-the-maximum-subtracted",
            _shifted_by(lambda x, axis: x.max(axis=axis, keepdims=True) / 2),
            "You subtract less than the row's maximum, so a row of thousands still overflows, and one far below 0 loses its "
            "whole sum. Subtract the maximum itself: then the largest exponent is 0.",
        ),
        WrongAnswer(
            "mean-subtracted",
            _shifted_by(lambda x, axis: x.mean(axis=axis, keepdims=True)),
            "You subtracted the mean. The largest score can still lie hundreds above it and overflow, and one −∞ "
            "makes the mean −∞. Subtract the maximum.",
        ),
        WrongAnswer(
            "largest-size-subtracted",
            _shifted_by(lambda x, axis: np.abs(x).max(axis=axis, keepdims=True)),
            "You subtracted the largest absolute value. For a row near −1000 that goes down to −2000, and every "
            "exponential is 0. Subtract the maximum with its sign.",
        ),
        WrongAnswer(
            "zero-start-of-a-running-maximum",
            _shifted_by(lambda x, axis: np.maximum(x.max(axis=axis, keepdims=True), 0)),
            "What you subtract is never below 0: a maximum that is looked for starting from 0 stays there when all "
            "scores are negative. In a row near −1000 all exponentials are 0 then, and 0/0 is NaN. Start from −∞.",
        ),
        WrongAnswer(
            "max-over-first-axis",
            _shifted_by(lambda x, axis: x.max(axis=0, keepdims=True)),
            "Your maximum runs over axis 0, the sum over `axis`. Subtracting different numbers inside one row "
            "changes its weights. Maximum and sum need the same axis.",
        ),
        WrongAnswer(
            "max-over-last-axis",
            _shifted_by(lambda x, axis: x.max(axis=-1, keepdims=True)),
            "Your maximum always runs over the last axis, whatever `axis` says. Use the same axis as for the sum.",
        ),
        WrongAnswer(
            "sum-over-last-axis",
            lambda x, axis=-1: (e := _exponentials(x, axis)) / e.sum(axis=-1, keepdims=True),
            "Your sum always runs over the last axis, whatever `axis` says. Use the same axis as for the maximum.",
        ),
        WrongAnswer(
            "axis-always-last",
            lambda x, axis=-1: softmax(x, -1),
            "You always normalise over the last axis: the argument `axis` is not used.",
        ),
        WrongAnswer(
            "axis-always-first",
            lambda x, axis=-1: softmax(x, 0),
            "You always normalise over axis 0. For scores of shape (n_q, n_k) those are the queries: the columns "
            "sum to 1, not the rows.",
        ),
        WrongAnswer(
            "axis-always-1",
            lambda x, axis=-1: softmax(x, 1),
            "You always normalise over axis 1. That is the last axis of a matrix, but not of a vector, nor of an "
            "array with a batch in front. Use `axis`.",
        ),
        WrongAnswer(
            "axis-always-2",
            lambda x, axis=-1: softmax(x, 2),
            "You always normalise over axis 2. That is the last axis of a (batch, n_q, n_k) array only. Use `axis`.",
        ),
        WrongAnswer(
            "over-the-queries",
            lambda x, axis=-1: softmax(x, -2),
            "You normalise over the last axis but one: over the queries. The weights of one query, a row, must "
            "sum to 1.",
        ),
        WrongAnswer(
            "flattened",
            _flat,
            "You normalised over the whole array: all entries together sum to 1, not each row.",
            ("Print `weights.sum(axis=axis)`: which numbers do you expect?",),
        ),
        WrongAnswer(
            "flattened-and-unshifted",
            lambda x, axis=-1: np.exp(x) / np.exp(x).sum(),
            "You divided by the sum over the whole array, and the exponentials overflow for large scores. Use `axis` "
            "with keepdims, and subtract each row's maximum.",
        ),
        WrongAnswer(
            "max-without-keepdims",
            _max_without_keepdims,
            "The maximum lost its axis: without `keepdims=True` it is lined up with the wrong axis, which fails or, "
            "for a square matrix, silently mixes rows.",
        ),
        WrongAnswer(
            "sum-without-keepdims",
            _sum_without_keepdims,
            "The sum lost its axis: without `keepdims=True` row i is divided by the sum of another row, or the "
            "shapes do not fit at all.",
        ),
        WrongAnswer(
            "no-keepdims",
            _no_keepdims,
            "Maximum and sum both lost their axis. `keepdims=True` keeps it with length 1, so that each row "
            "meets its own maximum and its own sum.",
        ),
        WrongAnswer(
            "none-index-for-keepdims",
            _lined_up_by_none,
            "You put the lost axis back at place 1, as `[:, None]` does. That is its place for the rows of a matrix; "
            "for one row, for axis 0 or with a batch in front it is another. `keepdims=True` keeps it where it was.",
        ),
        WrongAnswer(
            "transposed-to-line-up",
            _transposes,
            "You turned all axes around to line the sums up, as `.T` does. That works for the rows of a matrix. "
            "`keepdims=True` works for any axis of any array.",
            clue="transpose-all",
        ),
        WrongAnswer(
            "not-divided",
            _exponentials,
            "You stopped at the exponentials (or divided by the largest of them): the largest is 1, but the row does "
            "not sum to 1. Divide by their sum.",
        ),
        WrongAnswer(
            "divided-by-mean",
            lambda x, axis=-1: (e := _exponentials(x, axis)) / e.mean(axis=axis, keepdims=True),
            "You divided by the mean of the exponentials, so a row sums to its length. Divide by the sum.",
        ),
        WrongAnswer(
            "divided-by-length",
            lambda x, axis=-1: (e := _exponentials(x, axis)) / np.sqrt((e * e).sum(axis=axis, keepdims=True)),
            "You divided by the Euclidean length: the squares sum to 1. The weights themselves should.",
        ),
        WrongAnswer(
            "in-proportion",
            _renormalised(lambda x, axis: x),
            "You divided the scores by their sum, with no exponential: negative scores then give negative weights.",
        ),
        WrongAnswer(
            "absolute-values-in-proportion",
            _renormalised(lambda x, axis: np.abs(x)),
            "You divided the sizes of the scores by their sum: a score of −5 then weighs more than one of 2. Use the "
            "exponential, which keeps the order.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda x, axis=-1: softmax(np.abs(x), axis),
            "You dropped the signs of the scores: a large negative score must give a small weight.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda x, axis=-1: softmax(np.where(np.isinf(x), x, -x), axis),
            "Your largest weight goes to the smallest score: a sign is turned around.",
        ),
        WrongAnswer(
            "exp2",
            lambda x, axis=-1: softmax(x * float(np.log(2)), axis),
            "You raised 2, not e, to the scores: the weights come out too even.",
            ("np.exp is eˣ; np.exp2 and 2**x are another softmax, at temperature 1/ln 2.",),
        ),
        WrongAnswer(
            "exp-squared",
            lambda x, axis=-1: softmax(2 * x, axis),
            "Your exponentials are squared (or the scores doubled): the weights come out too sharp.",
        ),
        WrongAnswer(
            "scaled-by-root-n",
            lambda x, axis=-1: softmax(x / np.sqrt(x.shape[axis]), axis),
            "You divided the scores by the root of the axis's length. Softmax itself has no scale; 1/√d_k belongs "
            "to attention, before it, and d_k is not known here.",
        ),
        WrongAnswer(
            "sigmoid",
            lambda x, axis=-1: 1 / (1 + np.exp(-x)),
            "This is the sigmoid of each score by itself: the row does not sum to 1, because no score knows the "
            "others.",
        ),
        WrongAnswer(
            "one-hot",
            one_hot,
            "You gave everything to the largest score. That is argmax, the limit of softmax at temperature 0.",
        ),
        WrongAnswer(
            "uniform",
            lambda x, axis=-1: np.full_like(x, 1 / x.shape[axis]),
            "Every entry got the same weight: the scores are not used.",
        ),
        WrongAnswer(
            "logarithm-returned",
            lambda x, axis=-1: np.log(softmax(x, axis)),
            "These are the logarithms of the weights. Take the exponential, or leave the logarithm out.",
        ),
        WrongAnswer(
            "softmax-twice",
            lambda x, axis=-1: softmax(softmax(x, axis), axis),
            "You applied softmax to its own result: weights between 0 and 1, taken as scores, give nearly equal "
            "weights.",
        ),
        WrongAnswer(
            "one-added-to-the-sum",
            lambda x, axis=-1: (e := _exponentials(x, axis)) / (1 + e.sum(axis=axis, keepdims=True)),
            "You added 1 to the sum, so a part of the weight is lost and a row sums to less than 1.",
        ),
        WrongAnswer(
            "small-number-in-the-denominator",
            lambda x, axis=-1: (e := _exponentials(x, axis)) / (e.sum(axis=axis, keepdims=True) + 1e-6),
            "You added a small number to the denominator. It is not needed: once the row's maximum is subtracted "
            "the sum is at least 1. It only makes the row sum to less than 1.",
        ),
        WrongAnswer(
            "scores-clipped",
            lambda x, axis=-1: plain_softmax(np.clip(x, -50, 50), axis),
            "You clipped the scores: 1000 and 990 become equal. Subtracting the maximum keeps the differences.",
        ),
        WrongAnswer(
            "clipped-below",
            lambda x, axis=-1: softmax(np.clip(x, -10, None), axis),
            "You clipped small scores, so a score of −∞ keeps some weight and a row of small scores turns uniform.",
        ),
        WrongAnswer(
            "nan-hidden",
            lambda x, axis=-1: np.nan_to_num(plain_softmax(x, axis)),
            "You replaced NaN by 0 at the end. That hides the overflow: the largest score now gets weight 0. "
            "Subtract the maximum, and no NaN arises.",
        ),
        WrongAnswer(
            "minus-infinity-as-zero",
            lambda x, axis=-1: softmax(np.where(np.isneginf(x), 0.0, x), axis),
            "You turned −∞ into 0. A score of 0 has weight e⁰/Σ, so hidden keys come back. exp(−∞) is 0 by itself: "
            "nothing special is needed.",
        ),
        WrongAnswer(
            "hidden-keys-counted-in",
            lambda x, axis=-1: softmax(np.where(np.isneginf(x), -1e9, x), axis),
            "You replaced −∞ by a finite score, such as −1e9. Beside scores that lie further below, hidden keys get weight then. Leave −∞ as it is: its "
            "exponential is 0.",
        ),
        WrongAnswer(
            "zeros-left-out",
            lambda x, axis=-1: softmax(np.where(x == 0, -np.inf, x), axis),
            "You left scores of exactly 0 out. A score of 0 is a score like any other: its exponential is 1. "
            "Only −∞ means weight 0.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            lambda x, axis=-1: softmax(x.astype(np.float16), axis).astype(x.dtype),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda x, axis=-1: softmax(x.astype(np.float32), axis).astype(x.dtype),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "rounded",
            lambda x, axis=-1: np.round(softmax(x, axis), 4),
            "You rounded the weights. Small weights are lost, and a row no longer sums to 1 exactly.",
        ),
        WrongAnswer(
            "changes-its-input",
            _softmax_in_place,
            "Your function writes into the caller's array (`x -= ...` or `out=x`). The scores are needed again "
            "elsewhere: make a new array.",
        ),
    ),
    also_right=(
        lambda x, axis=-1: (e := np.exp(x - x.max(axis, keepdims=True))) / e.sum(axis, keepdims=True),
        lambda x, axis=-1: (
            (e := np.exp(x - np.expand_dims(np.max(x, axis), axis))) / np.expand_dims(e.sum(axis), axis)
        ),
        lambda x, axis=-1: np.exp(x - np.logaddexp.reduce(x, axis=axis, keepdims=True)),
        lambda x, axis=-1: (
            (e := np.exp2((x - x.max(axis, keepdims=True)) * np.log2(np.e))) / e.sum(axis, keepdims=True)
        ),
        lambda x, axis=-1: softmax(np.clip(x, np.finfo(x.dtype).min, None), axis),
        lambda x, axis=-1: softmax(x.astype(np.longdouble), axis).astype(np.float64),
        _softmax_rows_by_loop,
        _softmax_by_log_sum,
    ),
    hints=(
        "Write the formula for one row first. Then ask which step can overflow when a score is 1000.",
        "Subtracting one number from a whole row changes no weight. Take the row's maximum: the largest exponent "
        "is then 0, so nothing overflows and the sum is at least 1.",
        "`x.max(axis=axis, keepdims=True)` keeps the axis with length 1, so that it lines up with `x`; use the "
        "same axis and `keepdims=True` for the sum of the exponentials.",
    ),
    invariants=(
        Invariant(
            "negative-weights",
            "At least one weight is negative. An exponential never is.",
            lambda inputs, w: bool((w >= 0).all()),
        ),
        Invariant(
            "does-not-sum-to-one",
            "The weights do not sum to 1 along the axis.",
            sums_to_one,
        ),
        Invariant(
            "hidden-keys-weigh-something",
            "An entry of −∞ has a weight that is not 0. Its exponential is 0.",
            lambda inputs, w: bool((w[np.isneginf(inputs[0])] == 0).all()),
        ),
        Invariant(
            "order-not-kept",
            "A larger score has a smaller weight than another of its row. Softmax keeps the order.",
            lambda inputs, w: _order_kept(inputs[0], w, inputs[1] if len(inputs) > 1 else -1),
        ),
    ),
    mistakes=MISTAKES,
)
