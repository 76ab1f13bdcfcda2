"""Lesson 03, exercise `softmax_with_temperature`: temperature, with both limits."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.softmax.exercises.shared import (
    WRONG_AXES,
    cases_of_shape,
    every_axis_is,
    one_hot,
    plain_softmax,
    spread_rows,
    thousands,
    with_hidden,
)
from sdpa_helpers.lessons.softmax.exercises.softmax import softmax

PROMPT = r"""`softmax_with_temperature(x, temperature, axis=-1)`: softmax of `x / temperature`, both limits included.

- `x`: scores, any number of axes; −∞ allowed, one finite entry in each row at least.
- `temperature`: one number $T \ge 0$.
- `axis`: the axis along which the weights sum to 1.
- Returns an array of the same shape:
  - for $0 < T < \infty$ the weights $\mathrm{softmax}(x/T)$, for **any** such $T$: 1e-306 and 1e120 too;
  - for $T = 0$ their limit: the largest entries of each row share the weight equally, all others get 0;
  - for $T = \infty$ (`np.inf`) their limit: all finite entries share equally. An entry of −∞ has weight 0 at every temperature, so also here.

Examples, for `x = [2, 2, 0, -inf]`: {example:1}, {example:2}, {example:3}.
"""


def softmax_with_temperature(x, temperature, axis=-1):
    """softmax(x / T), limits included: x (any shape) -> the same shape."""
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
    """Columns with two, three and one largest entries; −∞ among them; an almost-tie; gaps that are tiny."""
    x = rng.uniform(-3, 0.5, size=(5, 4))
    x[[1, 3], 0] = 2.5
    x[[0, 2, 4], 1] = 0.75
    x[1, 1] = -np.inf
    x[:, 2] = [-7.0, -2.0, -np.inf, -2.0 - 1e-12, -5.0]
    x[:, 3] *= 1e-120  # no gap here is above any threshold, and yet one entry is the largest
    return x, 0.0, 0


def _hidden_and_cold(rng, temperature):
    return with_hidden(rng), temperature


def _tempered_in_place(x, temperature, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    return softmax_with_temperature(x, temperature, axis)


def _ties_in_the_middle(rng):
    x = np.round(rng.uniform(-2, 2, size=(2, 3, 2, 4)), 1)
    x[:, 1] = x[:, 0]
    x[0, 2, 1, :] = -np.inf
    return x, 0.0, 1


def _warm_columns(rng):
    x = spread_rows(rng, 4, 3)
    x[1, 0] = x[2, 2] = -np.inf
    return x, np.inf, 0


def _of_size(rng, size):
    """Scores and a temperature of that size: the weights are ordinary ones."""
    return size * spread_rows(rng, 3, 4), size * float(rng.uniform(0.8, 1.2))


def _over_global_maximum(x, temperature, axis):
    e = np.exp((x - x.max()) / temperature)
    return e / e.sum(axis=axis, keepdims=True)


def _largest_of_all(x, temperature, axis):
    hot = (x == x.max()) * 1.0
    return hot / hot.sum(axis=axis, keepdims=True)


def _almost_largest(x, temperature, axis):
    hot = np.isclose(x, x.max(axis=axis, keepdims=True)) * 1.0
    return hot / hot.sum(axis=axis, keepdims=True)


def _unguarded(x, temperature, axis):
    return softmax((x - x.max(axis=axis, keepdims=True)) / np.float64(temperature), axis)


def _at(temperature_used):
    """The right answer for another temperature than the given one."""
    return lambda x, t, axis=-1: softmax_with_temperature(x, temperature_used(t), axis)


def _one_for_each_largest(x, temperature, axis):
    return (x == x.max(axis=axis, keepdims=True)).astype(x.dtype)


def _as_given(t):
    return t


def _cut(t):
    return t if np.isinf(t) else np.floor(t)


def _at_least(small):
    return lambda t: max(t, small)


def _more_by(small):
    return lambda t: t + small


def _all_share(x, temperature, axis):
    return np.full_like(x, 1 / (x.size if axis is None else x.shape[axis]))


def _in_parts(*, axis, cold, warm, between):
    """softmax_with_temperature in four parts, each of which can be wrong; see MISTAKES.

    cold: what becomes of the temperature, and the branch for 0. warm: from where on it is ∞, and the branch for that.
    """
    temperature, zero = cold
    limit, infinite = warm

    def answer(x, given, axis_given=-1):
        branch = zero if given == 0 else infinite if given >= limit else between
        return branch(x, temperature(given), axis(axis_given))

    return answer


SMALL = (1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3)
"""Numbers that people put in the place of 0."""

_RIGHT = softmax_with_temperature

MISTAKES = Products(
    (
        Factor(
            "axis",
            lambda axis: axis,
            (
                Option("axis-always-last", every_axis_is(-1)),
                Option("axis-always-first", every_axis_is(0)),
                Option(
                    "axis-always-1",
                    every_axis_is(1),
                    "You always normalise over axis 1. That is the last axis of a matrix, but not of a vector, nor of "
                    "an array with a batch in front. Use `axis`.",
                ),
                Option("flattened", every_axis_is(None)),
                *WRONG_AXES,
            ),
        ),
        Factor(
            "cold",
            (_as_given, _RIGHT),
            (
                Option("integer-temperature", (_cut, _RIGHT)),
                *(Option("small-number-for-zero", (_at_least(small), _RIGHT)) for small in SMALL),
                *(
                    Option("small-number-added-to-the-temperature", (_more_by(small), _RIGHT))
                    for small in SMALL
                    if small >= 1e-8
                ),
                Option("first-of-a-tie-takes-all", (_as_given, lambda x, t, axis: one_hot(x, axis))),
                Option("ties-get-one-each", (_as_given, _one_for_each_largest)),
                Option("zero-compares-with-the-whole-array", (_as_given, _largest_of_all)),
                Option("almost-ties-share", (_as_given, _almost_largest)),
                Option("zero-is-uniform", (_as_given, _at(lambda t: np.inf))),
                Option(
                    "zero-not-handled",
                    (_as_given, _unguarded),
                    "At temperature 0 you divide by 0, and the largest entry's 0/0 is NaN. Treat 0 as its own case.",
                ),
                Option(
                    "zero-as-plain-softmax",
                    (_as_given, _at(lambda t: 1.0)),
                    "At temperature 0 you return the plain softmax. In the limit the largest entries take all.",
                ),
            ),
        ),
        Factor(
            "warm",
            (np.inf, _RIGHT),
            (
                Option("large-temperatures-as-infinite", (1e3, _at(lambda t: np.inf))),
                Option("hidden-keys-share-at-infinity", (np.inf, _all_share)),
                Option("ones-at-infinity", (np.inf, lambda x, t, axis: np.isfinite(x).astype(x.dtype))),
                Option("zeros-at-infinity", (np.inf, lambda x, t, axis: np.zeros_like(x))),
                Option(
                    "infinity-not-handled",
                    (np.inf, _unguarded),
                    "At temperature ∞ an entry of −∞ gives −∞/∞ = NaN. Treat ∞ as its own case.",
                ),
                Option(
                    "infinity-as-plain-softmax",
                    (np.inf, _at(lambda t: 1.0)),
                    "At temperature ∞ you return the plain softmax. In the limit all finite entries share equally.",
                ),
                Option(
                    "infinity-is-one-hot",
                    (np.inf, _at(lambda t: 0.0)),
                    "At temperature ∞ you give everything to the largest. That is the other limit: at ∞ all finite "
                    "entries share equally.",
                ),
            ),
        ),
        Factor(
            "between",
            _RIGHT,
            (
                Option("divides-first", lambda x, t, axis: softmax(x / t, axis)),
                Option("no-max-subtracted", lambda x, t, axis: plain_softmax(x / t, axis)),
                Option("global-max-subtracted", _over_global_maximum),
                Option("temperature-multiplied", lambda x, t, axis: softmax(x * t, axis)),
                Option("square-root-of-temperature", _at(np.sqrt)),
                Option("threshold-for-zero", _at(lambda t: t if t > 1e-3 else 0.0)),
                Option("divided-after-softmax", lambda x, t, axis: softmax(x, axis) / t),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: a limit forgotten and the wrong axis, say."""


def _where_based(x, temperature, axis=-1):
    gaps = x - x.max(axis=axis, keepdims=True)
    if temperature == 0:
        hot = np.where(gaps == 0, 1.0, 0.0)
    elif temperature == float("inf"):
        hot = np.where(x == -np.inf, 0.0, 1.0)
    else:
        hot = np.exp(gaps * (1.0 / temperature)) if temperature > 1e-300 else np.where(gaps == 0, 1.0, 0.0)
    return hot / hot.sum(axis=axis, keepdims=True)


EXERCISE = Exercise(
    name="softmax_with_temperature",
    lesson="03_softmax",
    title="Temperature, with both limits",
    prompt=PROMPT,
    examples=(
        Example(([2, 2, 0, -np.inf], 0), writes=("temperature",)),
        Example(([2, 2, 0, -np.inf], np.inf), writes=("temperature",), shows="[1/3, 1/3, 1/3, 0]"),
        Example(([2, 2, 0, -np.inf], 1), writes=("temperature",)),
    ),
    section="4. Temperature",
    difficulty=3,
    minutes=15,
    reference=softmax_with_temperature,
    cases=(
        Case("temperature 1/4, rows", lambda rng: (spread_rows(rng, 3, 5), 0.25)),
        Case(
            "temperature 3, middle axis",
            lambda rng: (spread_rows(rng, 2, 5, 3, 4), 3.0, -3),
            says="An axis can be counted from the end: −3 of four is the second.",
        ),
        Case(
            "scores of ±1000, read-only", lambda rng: (read_only(thousands(rng)), float(rng.uniform(1.5, 2)))
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
            lambda rng: (thousands(rng), 1e-306),
            says="1000 / 10⁻³⁰⁶ is beyond float64; a difference of 0 stays 0, by whatever temperature it is divided.",
        ),
        Case(
            "a temperature of 10⁻¹²⁰, scores of that size",
            lambda rng: _of_size(rng, 1e-120),
            says="No temperature above 0 is small by itself: what counts is a gap divided by it.",
        ),
        Case(
            "a temperature of 10¹²⁰, scores of that size",
            lambda rng: _of_size(rng, 1e120),
            says="No finite temperature is large by itself: what counts is a gap divided by it.",
        ),
        Case("temperature 0 with ties, four axes", _ties_in_the_middle),
        Case("temperature ∞, first axis", _warm_columns),
        *cases_of_shape(lambda x: (x, 0.7)),
    ),
    wrong=(
        WrongAnswer(
            "limits-not-handled",
            lambda x, temperature, axis=-1: softmax(
                (x - x.max(axis=axis, keepdims=True)) / np.float64(temperature), axis
            ),
            "At temperature 0 this is 0/0, and at ∞ an entry of −∞ gives −∞/∞, both NaN. Treat 0 and ∞ as their own "
            "cases.",
            ("What does softmax(x / T) approach as T falls to 0? Who gets the weight?",),
        ),
        WrongAnswer(
            "divides-first-limits-not-handled",
            lambda x, temperature, axis=-1: softmax(x / np.float64(temperature), axis),
            "At temperature 0 and for tiny temperatures the division gives infinities, and ∞ − ∞ is NaN; at ∞ an entry "
            "of −∞ gives −∞/∞ = NaN. Subtract the maximum before dividing, and treat 0 and ∞ as their own cases.",
            ("What does softmax(x / T) approach as T falls to 0? Who gets the weight?",),
        ),
        WrongAnswer(
            "nothing-guarded",
            lambda x, temperature, axis=-1: plain_softmax(x / np.float64(temperature), axis),
            "This is the plain formula with x / T put in. The exponential overflows for large quotients; at T = 0 every "
            "quotient is ±∞ or NaN, and at ∞ an entry of −∞ gives −∞/∞ = NaN. Subtract the maximum first, then divide, "
            "and treat 0 and ∞ as their own cases.",
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
            _tempered(between=lambda x, t, axis: plain_softmax(x / t, axis)),
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
            _tempered(zero=lambda x, t, axis: one_hot(x, axis)),
            "At temperature 0 you give everything to the first of several equal largest entries. They share equally: "
            "that is the limit of softmax.",
        ),
        WrongAnswer(
            "ties-get-one-each",
            _tempered(zero=_one_for_each_largest),
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
            "small-number-for-zero",
            lambda x, temperature, axis=-1: softmax_with_temperature(x, max(temperature, 1e-6), axis),
            "A small number stands where the temperature is 0, put there by max(...) or added. Entries whose gap is "
            "as small as it still share; in the limit they do not. Treat 0 as its own case.",
        ),
        WrongAnswer(
            "small-number-added-to-the-temperature",
            _at(_more_by(1e-8)),
            "You added a small number to the temperature. At 0 that is a temperature, not the limit, and every other "
            "temperature is slightly off. Treat 0 as its own case.",
        ),
        WrongAnswer(
            "threshold-for-zero",
            _tempered(between=_at(lambda t: t if t > 1e-3 else 0.0)),
            "You treat small temperatures as 0. Where the gaps are as small as the temperature the weights are "
            "ordinary ones: only T = 0 is the limit.",
        ),
        WrongAnswer(
            "large-temperatures-as-infinite",
            _tempered(between=_at(lambda t: t if t < 1e3 else np.inf)),
            "You treat large temperatures as ∞. Where the gaps are as large as the temperature the weights are "
            "ordinary ones: only T = ∞ is the limit.",
        ),
        WrongAnswer(
            "integer-temperature",
            lambda x, temperature, axis=-1: softmax_with_temperature(x, _cut(temperature), axis),
            "Your temperature lost its decimals: 1/4 became 0. Look for int(...) or //.",
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
            "float32-somewhere",
            lambda x, temperature, axis=-1: softmax_with_temperature(
                x.astype(np.float32), temperature, axis
            ).astype(x.dtype),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _tempered_in_place,
            "Your function writes into the caller's array. Make a new array: no `-=`, `/=` or `out=` on x.",
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
            "An entry of −∞ has a weight that is not 0. It is 0 at every temperature.",
            lambda inputs, w: bool((w[np.isneginf(inputs[0])] == 0).all()),
        ),
    ),
    mistakes=MISTAKES,
)
