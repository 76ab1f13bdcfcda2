"""Lesson 03, exercise `log_softmax`: the logarithm, without losing the small weights."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.softmax.exercises.shared import (
    WRONG_AXES,
    cases_of_shape,
    every_axis_is,
    plain_softmax,
    spread_rows,
    sums_to_one,
    thousands,
    with_hidden,
)
from sdpa_helpers.lessons.softmax.exercises.softmax import softmax

PROMPT = r"""`log_softmax(x, axis=-1)`: the logarithms of the softmax weights. Losses are computed from these.

- `x`: scores, any number of axes, none larger in size than a million; −∞ allowed, one finite entry in each row at least.
- `axis`: the axis along which the weights sum to 1.
- Returns an array of the same shape, $\ln \mathrm{softmax}(x)$.

It has to be exact where the weight itself is too small for any float. {example:1}, although $e^{-2000}$ is stored as 0.
An entry of −∞ gives −∞.
"""


def log_softmax(x, axis=-1):
    """Logarithms of the weights along one axis: x (any shape) -> the same shape."""
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


def _in_parts(*, axis, shift, combine, after):
    """log_softmax in four parts, each of which can be wrong; see MISTAKES."""

    def answer(x, axis_given=-1):
        along = axis(axis_given)
        largest = shift(x, along)
        return after(combine(x, largest, np.exp(x - largest), along))

    return answer


def _sum(e, axis):
    return e.sum(axis=axis, keepdims=True)


def _weights_plus(small):
    return lambda x, m, e, axis: np.log(e / _sum(e, axis) + small)


def _weights_from(small):
    return lambda x, m, e, axis: np.log(np.maximum(e / _sum(e, axis), small))


def _sum_plus(small):
    return lambda x, m, e, axis: x - m - np.log(_sum(e, axis) + small)


def _finite_from(lowest):
    return lambda logs: np.where(np.isneginf(logs), lowest, logs)


MISTAKES = Products(
    (
        Factor(
            "axis",
            lambda axis: axis,
            (
                Option("axis-always-last", every_axis_is(-1)),
                Option("axis-always-first", every_axis_is(0)),
                Option("axis-always-1", every_axis_is(1)),
                Option("flattened", every_axis_is(None)),
                *WRONG_AXES,
            ),
        ),
        Factor(
            "shift",
            lambda x, axis: x.max(axis=axis, keepdims=True),
            (
                Option("no-max-subtracted", lambda x, axis: 0.0),
                Option("global-max-subtracted", lambda x, axis: x.max()),
                Option(
                    "mean-subtracted",
                    lambda x, axis: x.mean(axis=axis, keepdims=True),
                    "You subtracted the mean. The largest score can still lie hundreds above it and overflow, and one "
                    "−∞ makes the mean −∞. Subtract the maximum.",
                ),
                Option("max-without-keepdims", lambda x, axis: x.max(axis=axis)),
            ),
        ),
        Factor(
            "combine",
            lambda x, m, e, axis: x - m - np.log(_sum(e, axis)),
            (
                Option("logarithm-of-softmax", lambda x, m, e, axis: np.log(e / _sum(e, axis))),
                Option("weights-not-logarithms", lambda x, m, e, axis: e / _sum(e, axis)),
                Option("max-not-added-back", lambda x, m, e, axis: x - np.log(_sum(e, axis))),
                Option("only-shifted", lambda x, m, e, axis: x - m),
                Option("sum-not-logged", lambda x, m, e, axis: x - m - _sum(e, axis)),
                Option("log-of-the-sum-only", lambda x, m, e, axis: np.log(_sum(e, axis)) + m),
                Option("base-2-for-the-sum", lambda x, m, e, axis: x - m - np.log2(_sum(e, axis))),
                Option("sum-without-keepdims", lambda x, m, e, axis: x - m - np.log(e.sum(axis=axis))),
                Option(
                    "mean-of-the-exponentials",
                    lambda x, m, e, axis: x - m - np.log(e.mean(axis=axis, keepdims=True)),
                    "Your numbers are ln n too large: the logarithm is that of the mean of the exponentials, and the "
                    "sum belongs there.",
                ),
                *(
                    Option("small-number-in-the-log", _weights_plus(10.0**-n))
                    for n in (5, 6, 7, 8, 10, 12, 15, 20)
                ),
                *(Option("weights-clipped", _weights_from(10.0**-n)) for n in (5, 6, 7, 8, 9, 10, 15, 20)),
                *(
                    Option(
                        "small-number-in-the-sum",
                        _sum_plus(10.0**-n),
                        "You added a small number to the sum. It is not needed: once the row's maximum is subtracted "
                        "the sum is at least 1.",
                    )
                    for n in (5, 6, 7)
                ),
            ),
        ),
        Factor(
            "after",
            lambda logs: logs,
            (
                Option("sign-flipped", lambda logs: -logs),
                Option("base-2", lambda logs: logs / np.log(2)),
                Option("base-10", lambda logs: logs / np.log(10)),
                *(
                    Option("minus-infinity-replaced", _finite_from(lowest))
                    for lowest in (-1e9, -1e10, -1e4, -1e30, 0.0, float(np.finfo(np.float64).min))
                ),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: the logarithm of softmax, over the wrong axis."""


EXERCISE = Exercise(
    name="log_softmax",
    lesson="03_softmax",
    title="The logarithm, without losing the small weights",
    prompt=PROMPT,
    examples=(Example(([0, -2000],), form="values"),),
    difficulty=3,
    minutes=10,
    reference=log_softmax,
    cases=(
        Case("one row", lambda rng: (rng.normal(size=6) * 2,)),
        Case("a square matrix, read-only", lambda rng: (read_only(spread_rows(rng, 3, 3)),)),
        Case(
            "the middle axis",
            lambda rng: (spread_rows(rng, 2, 5, 3, 4), -3),
            says="An axis can be counted from the end: −3 of four is the second.",
        ),
        Case(
            "scores of ±1000",
            lambda rng: (thousands(rng),),
            points=2,
            says="A weight of e⁻²⁰⁰⁰ is 0 in every dtype, but its logarithm, −2000, is an ordinary number.",
        ),
        Case(
            "entries of −∞",
            lambda rng: (with_hidden(rng),),
            says="Weight 0 has the logarithm −∞, and no NaN.",
        ),
        Case("four axes, the first", lambda rng: (spread_rows(rng, 4, 3, 2, 5), 0)),
        Case(
            "gaps from 5 to 45",
            lambda rng: (rng.permutation(-5.0 * np.arange(10)) + rng.uniform(-2, 2, size=10),),
            says="A weight of e⁻⁴⁵ is tiny, and its logarithm is about −45: no smallest weight is taken for others.",
        ),
        *cases_of_shape(),
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
            lambda x, axis=-1: np.log(plain_softmax(x, axis)),
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
            "These are the weights. Return their logarithms.",
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
            "This is the logarithm to base 2. Use the natural logarithm.",
        ),
        WrongAnswer(
            "base-10",
            lambda x, axis=-1: log_softmax(x, axis) / np.log(10),
            "This is the logarithm to base 10. Use the natural logarithm.",
        ),
        WrongAnswer(
            "base-2-for-the-sum",
            lambda x, axis=-1: x - x.max(axis=axis, keepdims=True) - np.log2(_sum_of_exp(x, axis)),
            "The logarithm of the sum is to base 2, the exponentials are to base e: they have to match.",
        ),
        WrongAnswer(
            "small-number-in-the-log",
            lambda x, axis=-1: np.log(softmax(x, axis) + 1e-9),
            "You added a small number to the weights before the logarithm. That gives all weights far below it the "
            "same logarithm. Use ln(e^a / S) = a − ln S.",
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
            "float32-somewhere",
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
            lambda inputs, logs: sums_to_one(inputs, np.exp(logs)),
        ),
    ),
    mistakes=MISTAKES,
)
