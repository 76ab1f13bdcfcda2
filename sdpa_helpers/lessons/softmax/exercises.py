"""Exercises of lesson 03: softmax, its logarithm, temperature; the others are in `softmax_measures`."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, read_only, strided
from sdpa_helpers.lessons.softmax.exercises_measures import ENTROPY, LARGEST_SAFE_SCORE, TEMPERATURE_FOR_RATIO

LESSON = "03_softmax"
_ATTENTION = (
    "torch.nn.functional.scaled_dot_product_attention",
    "sdpa_helpers.scaled_dot_product_attention",
)
_READY_MADE = (
    "torch.softmax",
    "torch.nn.functional.softmax",
    "torch.nn.Softmax",
    "scipy.special.softmax",
    "sdpa_helpers.softmax",
    *_ATTENTION,
)
_READY_MADE_LOG = (
    "torch.log_softmax",
    "torch.nn.functional.log_softmax",
    "torch.nn.LogSoftmax",
    "torch.logsumexp",
    "scipy.special.log_softmax",
    "scipy.special.logsumexp",
)


def _spread_rows(rng, *shape):
    """Rows whose sizes are ordinary and whose maxima differ: every shift and every axis matters."""
    return rng.normal(size=shape) * 1.5 + rng.normal(size=(*shape[:-1], 1))


def _thousands(rng):
    """A row near 1000, one near −1000, one from −1000 to 1000, one near 0 with a single −1000."""
    near = rng.uniform(-1.5, 1.5, size=(4, 6))
    near[0] += 1000
    near[1] -= 1000
    near[2, :3] += 1000
    near[2, 3:] -= 1000
    near[3, 0] -= 1000
    return near


def _around_200(rng):
    shift = np.array([200.0, -200.0])[:, None, None, None]
    return (_spread_rows(rng, 2, 3, 4, 5) + shift).astype(np.float32)


def _with_hidden(rng):
    """Ordinary scores with entries of −∞ (one, three, none a row), exact zeros and a tie."""
    x = rng.normal(size=(3, 5)) + np.array([[2.0], [-2.0], [0.5]])
    x[0, 1] = x[1, 0] = x[1, 2] = x[1, 4] = -np.inf
    x[0, 3] = x[2, 2] = 0.0
    x[2, 4] = x[2, 0]
    return x


# ---- softmax --------------------------------------------------------------------------------------------


def softmax(x, axis=-1):
    """Weights along one axis: any shape -> the same shape; entries of −∞ get weight 0."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def _plain(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def _shifted_by(shift):
    def wrong(x, axis=-1):
        e = np.exp(x - shift(x, axis))
        return e / e.sum(axis=axis, keepdims=True)

    return wrong


def _softmax_in_place(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def _one_hot(x, axis=-1):
    hot = np.zeros_like(x)
    np.put_along_axis(hot, np.expand_dims(x.argmax(axis=axis), axis), 1.0, axis=axis)
    return hot


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


def _sums_to_one(inputs, weights):
    return bool(np.allclose(weights.sum(axis=inputs[-1] if len(inputs) > 1 else -1), 1, atol=1e-6))


SOFTMAX = Exercise(
    name="softmax",
    lesson=LESSON,
    title="Softmax that survives any finite scores",
    section="5. Subtract the row's maximum",
    difficulty=2,
    minutes=15,
    reference=softmax,
    cases=(
        Case("one row", lambda rng: (rng.normal(size=5) * 2,)),
        Case(
            "a square matrix, rows",
            lambda rng: (_spread_rows(rng, 4, 4),),
            says="A square matrix hides a forgotten `keepdims`: the shapes fit and the numbers are wrong.",
        ),
        Case("the middle axis", lambda rng: (_spread_rows(rng, 3, 5, 2), 1)),
        Case("the first axis", lambda rng: (_spread_rows(rng, 5, 3), 0)),
        Case(
            "four axes, float32 around ±200, strided, read-only",
            lambda rng: (_read_only_strided(_around_200(rng)),),
            says="In float32 exp overflows above 88.7, and any number of axes may stand in front.",
        ),
        Case(
            "scores of ±1000",
            lambda rng: (_thousands(rng),),
            points=2,
            says="No score here may overflow, and no row may lose its whole sum.",
        ),
        Case(
            "entries of −∞, zeros, a tie",
            lambda rng: (_with_hidden(rng),),
            says="A score of −∞ means weight 0; a score of 0 does not.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "no-max-subtracted",
            _plain,
            "You took the exponential of the scores as they are: exp(1000) overflows to infinity, and a row of "
            "−1000 gives 0/0. Subtract each row's own maximum first; the weights stay the same.",
            ("What is np.exp(1000)? And np.exp(-1000)?",),
        ),
        WrongAnswer(
            "global-max-subtracted",
            _shifted_by(lambda x, axis: x.max()),
            "You subtracted the largest score of the whole array. A row far below it then has only exponentials "
            "of 0, and 0/0 is NaN. Each row needs its own maximum.",
            ("Which `axis` should the maximum run over, and what does `keepdims=True` do for you?",),
        ),
        WrongAnswer(
            "minimum-subtracted",
            _shifted_by(lambda x, axis: x.min(axis=axis, keepdims=True)),
            "You subtracted the minimum, so the largest score can still overflow. Subtract the maximum: then the "
            "largest exponent is 0.",
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
            "only-two-axes",
            _transposes,
            "Transposing to line the sums up works for one or two axes with `axis=-1`. `keepdims=True` works for "
            "any.",
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
            lambda x, axis=-1: softmax(x * np.log(2), axis),
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
            _one_hot,
            "You gave everything to the largest score. That is argmax, the limit of softmax at temperature 0.",
        ),
        WrongAnswer(
            "uniform",
            lambda x, axis=-1: np.full_like(x, 1 / x.shape[axis]),
            "Every entry got the same weight: the scores are not used.",
        ),
        WrongAnswer(
            "logarithm-returned",
            lambda x, axis=-1: log_softmax(x, axis),
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
            lambda x, axis=-1: _plain(np.clip(x, -50, 50), axis),
            "You clipped the scores: 1000 and 990 become equal. Subtracting the maximum keeps the differences.",
        ),
        WrongAnswer(
            "clipped-below",
            lambda x, axis=-1: softmax(np.clip(x, -10, None), axis),
            "You clipped small scores, so a score of −∞ keeps some weight and a row of small scores turns uniform.",
        ),
        WrongAnswer(
            "nan-hidden",
            lambda x, axis=-1: np.nan_to_num(_plain(x, axis)),
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
            lambda x, axis=-1: softmax(
                np.where(np.isneginf(x), x.min(where=np.isfinite(x), initial=0), x), axis
            ),
            "You replaced −∞ by another finite score, so hidden keys get weight. Leave −∞ as it is: its "
            "exponential is 0.",
        ),
        WrongAnswer(
            "zeros-left-out",
            lambda x, axis=-1: softmax(np.where(x == 0, -np.inf, x), axis),
            "You left scores of exactly 0 out. A score of 0 is a score like any other: its exponential is 1. "
            "Only −∞ means weight 0.",
        ),
        WrongAnswer(
            "half-precision",
            lambda x, axis=-1: softmax(x.astype(np.float16), axis).astype(x.dtype),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
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
        lambda x, axis=-1: softmax(np.clip(x, -1e9, None), axis),
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
            "The weights do not sum to 1 along the axis: look at what you divide by, and over which axis.",
            _sums_to_one,
        ),
        Invariant(
            "hidden-keys-weigh-something",
            "An entry of −∞ has a weight above 0. Its exponential is 0.",
            lambda inputs, w: bool((w[np.isneginf(inputs[0])] == 0).all()),
        ),
        Invariant(
            "order-not-kept",
            "A larger score has a smaller weight than another of its row. Softmax keeps the order.",
            lambda inputs, w: _order_kept(inputs[0], w, inputs[1] if len(inputs) > 1 else -1),
        ),
    ),
    forbids=_READY_MADE,
)


def _order_kept(x, weights, axis):
    order = x.argsort(axis=axis, kind="stable")
    steps = np.diff(np.take_along_axis(weights, order, axis), axis=axis)
    return not np.any(np.less(steps, -1e-12))


def _read_only_strided(array):
    view = strided(array)
    view.flags.writeable = False
    return view


# ---- log_softmax ----------------------------------------------------------------------------------------


def log_softmax(x, axis=-1):
    """The logarithm of softmax, exact also where the weight itself underflows to 0."""
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def _sum_of_exp(x, axis):
    return np.exp(x - x.max(axis=axis, keepdims=True)).sum(axis=axis, keepdims=True)


def _log_softmax_in_place(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def _log_max_without_keepdims(x, axis=-1):
    shifted = x - x.max(axis=axis)
    return shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))


def _log_sum_without_keepdims(x, axis=-1):
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=axis))


def _log_softmax_by_reduce(x, axis=-1):
    return x - np.logaddexp.reduce(x, axis=axis, keepdims=True)


LOG_SOFTMAX = Exercise(
    name="log_softmax",
    lesson=LESSON,
    title="The logarithm, without losing the small weights",
    difficulty=3,
    minutes=10,
    reference=log_softmax,
    cases=(
        Case("one row", lambda rng: (rng.normal(size=6) * 2,)),
        Case("a square matrix, read-only", lambda rng: (read_only(_spread_rows(rng, 3, 3)),)),
        Case("the middle axis", lambda rng: (_spread_rows(rng, 2, 5, 3), 1)),
        Case(
            "scores of ±1000",
            lambda rng: (_thousands(rng),),
            points=2,
            says="A weight of e⁻²⁰⁰⁰ is 0 in every dtype, but its logarithm, −2000, is an ordinary number.",
        ),
        Case(
            "entries of −∞",
            lambda rng: (_with_hidden(rng),),
            says="Weight 0 has the logarithm −∞, and no NaN.",
        ),
        Case("four axes", lambda rng: (_spread_rows(rng, 2, 3, 2, 4),)),
    ),
    wrong=(
        WrongAnswer(
            "logarithm-of-softmax",
            lambda x, axis=-1: np.log(softmax(x, axis)),
            "You took the logarithm after softmax. A weight of e⁻²⁰⁰⁰ has become 0 by then, and its logarithm "
            "−∞. Use ln(e^a / S) = a − ln S, so that no small exponential is formed for the answer.",
            ("Which numbers can np.log no longer tell apart once np.exp has made them 0?",),
        ),
        WrongAnswer(
            "logarithm-of-plain-softmax",
            lambda x, axis=-1: np.log(_plain(x, axis)),
            "You took the logarithm of an unshifted softmax, which overflows. Subtract the row's maximum and use "
            "ln(e^a / S) = a − ln S.",
        ),
        WrongAnswer(
            "no-max-subtracted",
            lambda x, axis=-1: x - np.log(np.exp(x).sum(axis=axis, keepdims=True)),
            "The right identity, but exp(1000) overflows, and ln of a sum that is 0 is −∞. Subtract the row's "
            "maximum before the exponential.",
        ),
        WrongAnswer(
            "global-max-subtracted",
            lambda x, axis=-1: (s := x - x.max()) - np.log(np.exp(s).sum(axis=axis, keepdims=True)),
            "You subtracted the largest score of the whole array: in a row far below it every exponential is 0, and "
            "the logarithm of that sum is −∞. Each row needs its own maximum.",
        ),
        WrongAnswer(
            "max-not-added-back",
            lambda x, axis=-1: x - np.log(_sum_of_exp(x, axis)),
            "You subtracted the maximum inside the sum only: the result is off by that maximum. Subtract it from "
            "x too.",
        ),
        WrongAnswer(
            "max-subtracted-once-too-often",
            lambda x, axis=-1: (
                x - x.max(axis=axis, keepdims=True) - np.log(np.exp(x).sum(axis=axis, keepdims=True))
            ),
            "You subtracted the maximum outside, and not inside the exponential: the result is off by it, and "
            "the sum still overflows.",
        ),
        WrongAnswer(
            "weights-not-logarithms",
            lambda x, axis=-1: softmax(x, axis),
            "These are the weights. Their logarithms are asked for.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda x, axis=-1: -log_softmax(x, axis),
            "The sign is turned around: the logarithm of a number below 1 is negative.",
        ),
        WrongAnswer(
            "log-of-the-sum-only",
            lambda x, axis=-1: np.log(_sum_of_exp(x, axis)) + x.max(axis=axis, keepdims=True),
            "This is the logarithm of the sum (logsumexp). Subtract it from the scores.",
        ),
        WrongAnswer(
            "only-shifted",
            lambda x, axis=-1: x - x.max(axis=axis, keepdims=True),
            "You subtracted the maximum and stopped: the logarithm of the sum is still missing.",
        ),
        WrongAnswer(
            "sum-not-logged",
            lambda x, axis=-1: x - x.max(axis=axis, keepdims=True) - _sum_of_exp(x, axis),
            "You subtracted the sum itself; its logarithm belongs there.",
        ),
        WrongAnswer(
            "base-2",
            lambda x, axis=-1: log_softmax(x, axis) / np.log(2),
            "This is the logarithm to base 2. The natural logarithm is asked for.",
        ),
        WrongAnswer(
            "base-10",
            lambda x, axis=-1: log_softmax(x, axis) / np.log(10),
            "This is the logarithm to base 10. The natural logarithm is asked for.",
        ),
        WrongAnswer(
            "base-2-for-the-sum",
            lambda x, axis=-1: x - x.max(axis=axis, keepdims=True) - np.log2(_sum_of_exp(x, axis)),
            "The logarithm of the sum is to base 2, the exponentials are to base e: they have to match.",
        ),
        WrongAnswer(
            "small-number-in-the-log",
            lambda x, axis=-1: np.log(softmax(x, axis) + 1e-9),
            "You added a small number before the logarithm. That turns every tiny weight into the same number, "
            "here about −20.7. Use ln(e^a / S) = a − ln S.",
        ),
        WrongAnswer(
            "weights-clipped",
            lambda x, axis=-1: np.log(np.clip(softmax(x, axis), 1e-12, None)),
            "You clipped the weights before the logarithm: all tiny weights get the same logarithm. Use "
            "ln(e^a / S) = a − ln S.",
        ),
        WrongAnswer(
            "axis-always-last",
            lambda x, axis=-1: log_softmax(x, -1),
            "You always work along the last axis: the argument `axis` is not used.",
        ),
        WrongAnswer(
            "axis-always-first",
            lambda x, axis=-1: log_softmax(x, 0),
            "You always work along axis 0. Use `axis`, for the maximum and for the sum.",
        ),
        WrongAnswer(
            "axis-always-1",
            lambda x, axis=-1: log_softmax(x, 1),
            "You always work along axis 1. Use `axis`, for the maximum and for the sum.",
        ),
        WrongAnswer(
            "flattened",
            lambda x, axis=-1: (s := x - x.max()) - np.log(np.exp(s).sum()),
            "You normalised over the whole array: each row should have its own sum.",
        ),
        WrongAnswer(
            "max-without-keepdims",
            _log_max_without_keepdims,
            "The maximum lost its axis: without `keepdims=True` it lines up with the wrong axis.",
        ),
        WrongAnswer(
            "sum-without-keepdims",
            _log_sum_without_keepdims,
            "The sum lost its axis: without `keepdims=True` it lines up with the wrong axis.",
        ),
        WrongAnswer(
            "minus-infinity-replaced",
            lambda x, axis=-1: np.nan_to_num(log_softmax(x, axis), neginf=-1e9),
            "You replaced −∞ by a finite number. The logarithm of weight 0 is −∞: keep it.",
        ),
        WrongAnswer(
            "single-precision",
            lambda x, axis=-1: log_softmax(x.astype(np.float32), axis).astype(x.dtype),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _log_softmax_in_place,
            "Your function writes into the caller's array (`x -= ...`). Make a new array instead.",
        ),
    ),
    also_right=(
        lambda x, axis=-1: (
            x - (m := x.max(axis, keepdims=True)) - np.log(np.exp(x - m).sum(axis, keepdims=True))
        ),
        lambda x, axis=-1: (s := x - x.max(axis, keepdims=True)) - np.log(_sum_of_exp(s, axis)),
        _log_softmax_by_reduce,
    ),
    hints=(
        "ln of a quotient is a difference of logarithms. What is ln(e^a)?",
        "Subtract the row's maximum, then subtract the logarithm of the sum of the exponentials. The small "
        "exponentials are only ever added to a sum that is at least 1.",
        "With `shifted = x - x.max(axis=axis, keepdims=True)` the answer is `shifted` minus the np.log of a sum of "
        "np.exp(shifted), with the same axis and keepdims.",
    ),
    invariants=(
        Invariant(
            "positive-logarithms",
            "At least one number is above 0. A weight is at most 1, so its logarithm is at most 0.",
            lambda inputs, logs: bool((logs <= 1e-12).all()),
        ),
        Invariant(
            "does-not-sum-to-one",
            "The exponentials of your numbers do not sum to 1 along the axis.",
            lambda inputs, logs: _sums_to_one(inputs, np.exp(logs)),
        ),
    ),
    forbids=(*_READY_MADE_LOG, *_READY_MADE),
)


# ---- softmax_with_temperature ---------------------------------------------------------------------------


def softmax_with_temperature(x, temperature, axis=-1):
    """softmax(x / T), with the limits T = 0 (the largest share equally) and T = inf (all finite share equally)."""
    gaps = x - np.max(x, axis=axis, keepdims=True)
    if temperature == 0:
        shares = (gaps == 0).astype(x.dtype)
    elif np.isinf(temperature):
        shares = np.isfinite(gaps).astype(x.dtype)
    else:
        shares = np.exp(gaps / temperature)
    return shares / np.sum(shares, axis=axis, keepdims=True)


def _tempered(zero=None, infinite=None, between=None):
    """The right answer with one of its three branches replaced."""

    def answer(x, temperature, axis=-1):
        branch = zero if temperature == 0 else infinite if np.isinf(temperature) else between
        return (branch or softmax_with_temperature)(x, temperature, axis)

    return answer


def _ties(rng):
    """Columns with two, three and one largest entries; −∞ among them; an almost-tie."""
    x = rng.uniform(-3, 0.5, size=(5, 4))
    x[[1, 3], 0] = 2.5
    x[[0, 2, 4], 1] = 0.75
    x[1, 1] = -np.inf
    x[:, 2] = [-7.0, -2.0, -np.inf, -2.0 - 1e-12, -5.0]
    x[:, 3] = np.round(x[:, 3], 2) - 4
    return x, 0.0, 0


def _hidden_and_cold(rng, temperature):
    return _with_hidden(rng), temperature


def _tempered_without_keepdims(x, temperature, axis=-1):
    e = np.exp((x - x.max(axis=axis, keepdims=True)) / temperature)
    return e / e.sum(axis=axis)


def _tempered_in_place(x, temperature, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    return softmax_with_temperature(x, temperature, axis)


def _where_based(x, temperature, axis=-1):
    gaps = x - x.max(axis=axis, keepdims=True)
    if temperature == 0:
        hot = np.where(gaps == 0, 1.0, 0.0)
    elif temperature == float("inf"):
        hot = np.where(x == -np.inf, 0.0, 1.0)
    else:
        hot = np.exp(gaps * (1.0 / temperature)) if temperature > 1e-300 else np.where(gaps == 0, 1.0, 0.0)
    return hot / hot.sum(axis=axis, keepdims=True)


SOFTMAX_WITH_TEMPERATURE = Exercise(
    name="softmax_with_temperature",
    lesson=LESSON,
    title="Temperature, with both limits",
    section="6. Temperature",
    difficulty=3,
    minutes=15,
    reference=softmax_with_temperature,
    cases=(
        Case("temperature 1/4, rows", lambda rng: (_spread_rows(rng, 3, 5), 0.25)),
        Case("temperature 3, middle axis", lambda rng: (_spread_rows(rng, 2, 5, 3), 3.0, 1)),
        Case(
            "scores of ±1000, read-only", lambda rng: (read_only(_thousands(rng)), float(rng.uniform(1.5, 2)))
        ),
        Case(
            "temperature 0 with ties, first axis",
            _ties,
            points=2,
            says="At temperature 0 the largest entries share everything equally. An almost-tie, 10⁻¹² below, "
            "gets nothing.",
        ),
        Case(
            "temperature ∞ with entries of −∞",
            lambda rng: _hidden_and_cold(rng, float("inf")),
            says="At temperature ∞ all entries that are not −∞ share equally. An entry of −∞ has weight 0 at every "
            "temperature.",
        ),
        Case(
            "a temperature of 10⁻³⁰⁶",
            lambda rng: (_thousands(rng), 1e-306),
            says="1000 / 10⁻³⁰⁶ is beyond float64. Subtract the maximum before you divide: 0 divided by any "
            "temperature stays 0.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "limits-not-handled",
            lambda x, temperature, axis=-1: softmax(
                (x - x.max(axis=axis, keepdims=True)) / np.float64(temperature), axis
            ),
            "The formula is right for ordinary temperatures; at 0 it is 0/0, and at ∞ an entry of −∞ gives −∞/∞, "
            "both NaN. Treat 0 and ∞ as their own cases.",
            ("What does softmax(x / T) approach as T falls to 0? Who gets the weight?",),
        ),
        WrongAnswer(
            "divides-first-limits-not-handled",
            lambda x, temperature, axis=-1: softmax(x / np.float64(temperature), axis),
            "The formula is right for ordinary temperatures. At 0, at ∞ and for tiny temperatures the division gives "
            "infinities and NaN. Subtract the maximum before dividing, and treat 0 and ∞ as their own cases.",
            ("What does softmax(x / T) approach as T falls to 0? Who gets the weight?",),
        ),
        WrongAnswer(
            "divides-first",
            _tempered(between=lambda x, t, axis: softmax(x / t, axis)),
            "You divide by the temperature before you subtract the maximum: with a tiny temperature the quotient "
            "overflows, and ∞ − ∞ is NaN. Subtract first; 0 divided by the temperature stays 0.",
        ),
        WrongAnswer(
            "no-max-subtracted",
            _tempered(between=lambda x, t, axis: _plain(x / t, axis)),
            "You took the exponential without subtracting the row's maximum: it overflows for large scores, and for "
            "ordinary scores at low temperature.",
        ),
        WrongAnswer(
            "global-max-subtracted",
            _tempered(
                between=lambda x, t, axis: (e := np.exp((x - x.max()) / t)) / e.sum(axis=axis, keepdims=True)
            ),
            "You subtracted the largest score of the whole array: rows far below it come out as 0/0. Each row "
            "needs its own maximum.",
        ),
        WrongAnswer(
            "temperature-multiplied",
            _tempered(between=lambda x, t, axis: softmax(x * t, axis)),
            "You multiplied by the temperature. Scores are divided by it: a low temperature makes the weights "
            "sharper.",
            ("Should a temperature of 1/4 make the row sharper or flatter?",),
        ),
        WrongAnswer(
            "limits-swapped",
            _tempered(
                zero=lambda x, t, axis: softmax_with_temperature(x, np.inf, axis),
                infinite=lambda x, t, axis: softmax_with_temperature(x, 0.0, axis),
            ),
            "The two limits are swapped: temperature 0 is the sharpest, temperature ∞ the flattest.",
        ),
        WrongAnswer(
            "temperature-ignored",
            lambda x, temperature, axis=-1: softmax(x, axis),
            "The temperature is not used.",
        ),
        WrongAnswer(
            "limits-as-plain-softmax",
            _tempered(zero=lambda x, t, axis: softmax(x, axis), infinite=lambda x, t, axis: softmax(x, axis)),
            "At 0 and ∞ you return the plain softmax. The limits are different: all weight to the largest, and equal "
            "weight for all.",
        ),
        WrongAnswer(
            "square-root-of-temperature",
            _tempered(
                between=lambda x, t, axis: softmax((x - x.max(axis, keepdims=True)) / np.sqrt(t), axis)
            ),
            "You divided by the root of the temperature. The root in attention comes from d_k; here T is the "
            "divisor itself.",
        ),
        WrongAnswer(
            "divided-after-softmax",
            _tempered(between=lambda x, t, axis: softmax(x, axis) / t),
            "You divided the weights, not the scores: they no longer sum to 1, and their ratios did not change.",
        ),
        WrongAnswer(
            "power-not-renormalised",
            _tempered(between=lambda x, t, axis: softmax(x, axis) ** (1 / t)),
            "Raising the weights to the power 1/T has the right ratios, but the row has to be divided by its sum "
            "again.",
        ),
        WrongAnswer(
            "power-of-weights",
            _tempered(
                between=lambda x, t, axis: (w := softmax(x, axis) ** (1 / t)) / w.sum(axis, keepdims=True)
            ),
            "A power of the weights is right in exact numbers. In floats a tiny temperature makes every power of a "
            "number below 1 zero, and a shared first place becomes 0/0. Work on the scores.",
        ),
        WrongAnswer(
            "first-of-a-tie-takes-all",
            _tempered(zero=lambda x, t, axis: _one_hot(x, axis)),
            "At temperature 0 you give everything to the first of several equal largest entries. They share equally: "
            "that is the limit of softmax.",
        ),
        WrongAnswer(
            "ties-get-one-each",
            _tempered(zero=lambda x, t, axis: (x == x.max(axis=axis, keepdims=True)).astype(x.dtype)),
            "At temperature 0 every one of the equal largest entries gets weight 1: the row sums to more than 1. "
            "Divide by how many there are.",
        ),
        WrongAnswer(
            "zero-compares-with-the-whole-array",
            _tempered(zero=lambda x, t, axis: (h := (x == x.max()) * 1.0) / h.sum(axis=axis, keepdims=True)),
            "At temperature 0 you compare with the largest entry of the whole array. Each row has its own maximum.",
        ),
        WrongAnswer(
            "almost-ties-share",
            _tempered(
                zero=lambda x, t, axis: (
                    (h := np.isclose(x, x.max(axis=axis, keepdims=True)) * 1.0)
                    / h.sum(axis=axis, keepdims=True)
                )
            ),
            "At temperature 0 you let entries share that are only close to the largest. However small a gap is, "
            "T → 0 makes gap/T as large as you like: only exact ties share.",
        ),
        WrongAnswer(
            "tiny-number-for-zero",
            _tempered(
                zero=lambda x, t, axis: softmax_with_temperature(x, 1e-12, axis),
                between=lambda x, t, axis: softmax_with_temperature(x, max(t, 1e-12), axis),
            ),
            "You replaced temperature 0 by a tiny one. Entries that differ by as little as that tiny number "
            "still share; in the limit they do not.",
        ),
        WrongAnswer(
            "small-number-for-zero",
            _tempered(
                zero=lambda x, t, axis: softmax_with_temperature(x, 1e-6, axis),
                between=lambda x, t, axis: softmax_with_temperature(x, max(t, 1e-6), axis),
            ),
            "You replaced temperature 0 by a small one. Entries that differ by less than that small number still "
            "share; in the limit they do not.",
        ),
        WrongAnswer(
            "zero-is-uniform",
            _tempered(zero=lambda x, t, axis: softmax_with_temperature(x, np.inf, axis)),
            "At temperature 0 you give equal weights. That is the other limit: at 0 the largest takes all.",
        ),
        WrongAnswer(
            "zero-as-index",
            _tempered(zero=lambda x, t, axis: x.argmax(axis=axis)),
            "At temperature 0 you return the place of the largest entry. Return weights, in the shape of x.",
        ),
        WrongAnswer(
            "hidden-keys-share-at-infinity",
            _tempered(infinite=lambda x, t, axis: np.full_like(x, 1 / x.shape[axis])),
            "At temperature ∞ you give every entry 1/n, also those of −∞. Their weight is 0 at every temperature, so "
            "it is 0 in the limit.",
        ),
        WrongAnswer(
            "ones-at-infinity",
            _tempered(infinite=lambda x, t, axis: np.isfinite(x).astype(x.dtype)),
            "At temperature ∞ every finite entry gets weight 1. Divide by how many there are.",
        ),
        WrongAnswer(
            "zeros-at-infinity",
            _tempered(infinite=lambda x, t, axis: np.zeros_like(x)),
            "At temperature ∞ all your weights are 0. The scores go to 0, and softmax of equal scores is uniform.",
        ),
        WrongAnswer(
            "axis-always-last",
            lambda x, temperature, axis=-1: softmax_with_temperature(x, temperature, -1),
            "You always normalise over the last axis: the argument `axis` is not used.",
        ),
        WrongAnswer(
            "axis-always-first",
            lambda x, temperature, axis=-1: softmax_with_temperature(x, temperature, 0),
            "You always normalise over axis 0. Use `axis`.",
        ),
        WrongAnswer(
            "flattened",
            _tempered(between=lambda x, t, axis: (e := np.exp((x - x.max()) / t)) / e.sum()),
            "You normalised over the whole array: each row has to sum to 1.",
        ),
        WrongAnswer(
            "single-precision",
            lambda x, temperature, axis=-1: softmax_with_temperature(
                x.astype(np.float32), temperature, axis
            ).astype(x.dtype),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _tempered_in_place,
            "Your function writes into the caller's array. Make a new array instead of using `-=` or `/=` on x.",
        ),
    ),
    also_right=(
        _where_based,
        lambda x, temperature, axis=-1: (
            softmax(np.where(x == x.max(axis, keepdims=True), 0.0, -np.inf), axis)
            if temperature < 1e-300
            else softmax(np.where(np.isneginf(x), x, 0.0), axis)
            if temperature == np.inf
            else softmax(x / temperature, axis)
        ),
    ),
    hints=(
        "Write softmax(x / T) for an ordinary T first, then ask what becomes of the weights at T = 0 and at T = ∞.",
        "The ratio of two weights is exp((xᵢ − xⱼ) / T). As T → 0 any gap becomes infinite, as T → ∞ any finite gap "
        "becomes 0. A gap of exactly 0 stays 0, and −∞ stays −∞.",
        "With `gaps = x - x.max(axis=axis, keepdims=True)` the shares are `gaps == 0` at T = 0, "
        "`np.isfinite(gaps)` at T = ∞ and `np.exp(gaps / T)` between. Divide the shares by their sum.",
    ),
    invariants=(
        Invariant(
            "does-not-sum-to-one",
            "The weights do not sum to 1 along the axis, which they do at every temperature.",
            lambda inputs, w: bool(
                np.allclose(w.sum(axis=inputs[2] if len(inputs) > 2 else -1), 1, atol=1e-6)
            ),
        ),
        Invariant(
            "hidden-keys-weigh-something",
            "An entry of −∞ has a weight above 0. It stays 0 at every temperature.",
            lambda inputs, w: bool((w[np.isneginf(inputs[0])] == 0).all()),
        ),
    ),
    forbids=_READY_MADE,
)


EXERCISES = (
    SOFTMAX,
    SOFTMAX_WITH_TEMPERATURE,
    ENTROPY,
    LOG_SOFTMAX,
    LARGEST_SAFE_SCORE,
    TEMPERATURE_FOR_RATIO,
)
