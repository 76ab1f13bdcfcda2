"""Lesson 03, exercise `softmax_with_temperature`: temperature, with both limits."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only
from sdpa_helpers.checking.ready_made import READY_ATTENTION, READY_SOFTMAX
from sdpa_helpers.lessons.softmax.exercises.shared import (
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
  - for $0 < T < \infty$ the weights $\mathrm{softmax}(x/T)$, for **any** such $T$: 1e-306 too;
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
    """Columns with two, three and one largest entries; −∞ among them; an almost-tie."""
    x = rng.uniform(-3, 0.5, size=(5, 4))
    x[[1, 3], 0] = 2.5
    x[[0, 2, 4], 1] = 0.75
    x[1, 1] = -np.inf
    x[:, 2] = [-7.0, -2.0, -np.inf, -2.0 - 1e-12, -5.0]
    x[:, 3] = np.round(x[:, 3], 2) - 4
    return x, 0.0, 0


def _hidden_and_cold(rng, temperature):
    return with_hidden(rng), temperature


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
    section="6. Temperature",
    difficulty=3,
    minutes=15,
    reference=softmax_with_temperature,
    cases=(
        Case("temperature 1/4, rows", lambda rng: (spread_rows(rng, 3, 5), 0.25)),
        Case("temperature 3, middle axis", lambda rng: (spread_rows(rng, 2, 5, 3), 3.0, 1)),
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
    forbids=(READY_SOFTMAX, READY_ATTENTION),
)
