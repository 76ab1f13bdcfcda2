"""Exercises of lesson 03, continued: how spread out weights are, what a dtype can hold, sharpness to order."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, read_only

LESSON = "03_softmax"


# ---- entropy --------------------------------------------------------------------------------------------


def entropy(weights, axis=-1):
    """Entropy in nats along one axis, which disappears; a weight of 0 adds nothing."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return -np.sum(weights * logs, axis=axis)


def _weights(rng, *shape, sharp=1.5):
    return softmax(rng.normal(size=shape) * sharp)


def _sharp_rows(rng):
    """One-hot, two keys sharing, uniform over seven, and zeros among ordinary weights."""
    rows = np.zeros((4, 7))
    rows[0, rng.integers(7)] = 1.0
    rows[1, [2, 5]] = 0.5
    rows[2] = 1 / 7
    rows[3, :4] = softmax(rng.normal(size=4))
    return rows


def _entropy_in_place(weights, axis=-1):
    weights[weights == 0] = 1.0
    return -(weights * np.log(weights)).sum(axis=axis)


def _entropy_loop(weights, axis=-1):
    total = 0.0
    for w in np.moveaxis(weights, axis, 0):
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total - np.where(w > 0, w * np.log(w), 0.0)
    return total


ENTROPY = Exercise(
    name="entropy",
    lesson=LESSON,
    title="How spread out are the weights?",
    difficulty=2,
    minutes=10,
    reference=entropy,
    cases=(
        Case("one row", lambda rng: (_weights(rng, 5),)),
        Case("rows, read-only", lambda rng: (read_only(_weights(rng, 3, 6)),)),
        Case("the middle axis", lambda rng: (softmax(rng.normal(size=(2, 5, 3)), 1), 1)),
        Case(
            "one-hot, shared, uniform, some zeros",
            lambda rng: (read_only(_sharp_rows(rng)),),
            points=2,
            says="A weight of 0 adds nothing: w·ln w goes to 0 with w. One-hot has entropy 0, uniform over n has "
            "ln n.",
        ),
        Case(
            "very small weights",
            lambda rng: (softmax(np.array([0.0, 0.5, -7, -12, -16, -300, -800]) * rng.uniform(0.9, 1)),),
        ),
        Case("four axes", lambda rng: (_weights(rng, 2, 3, 2, 4),)),
    ),
    wrong=(
        WrongAnswer(
            "zero-gives-nan",
            lambda w, axis=-1: -(w * np.log(w)).sum(axis=axis),
            "For a weight of 0 this is 0 · (−∞) = NaN, and softmax does give exact zeros. Such a weight adds "
            "nothing: leave it out of the logarithm.",
            ("What is np.log(0), and what is 0 times that?",),
        ),
        WrongAnswer(
            "small-number-in-the-log",
            lambda w, axis=-1: -(w * np.log(w + 1e-8)).sum(axis=axis),
            "You added a small number inside the logarithm. It avoids NaN, but the entropy is a little too small "
            "everywhere, and below 0 for a one-hot row. Treat a weight of 0 as its own case.",
        ),
        WrongAnswer(
            "weights-clipped",
            lambda w, axis=-1: -(w * np.log(np.clip(w, 1e-3, None))).sum(axis=axis),
            "You clipped the weights inside the logarithm, so that small weights count too little. Only a weight of "
            "exactly 0 needs care.",
        ),
        WrongAnswer(
            "bits-not-nats",
            lambda w, axis=-1: entropy(w, axis) / np.log(2),
            "This is the entropy in bits: the logarithm is to base 2. Nats, the natural logarithm, are asked for.",
        ),
        WrongAnswer(
            "base-10",
            lambda w, axis=-1: entropy(w, axis) / np.log(10),
            "The logarithm is to base 10. The natural logarithm, np.log, is asked for.",
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
            "You divided by ln n, which gives a share between 0 and 1. The entropy itself is asked for.",
        ),
        WrongAnswer(
            "gap-to-uniform",
            lambda w, axis=-1: np.log(w.shape[axis]) - entropy(w, axis),
            "This is how far the entropy lies below ln n: 0 for uniform weights. The entropy itself is asked for.",
        ),
        WrongAnswer(
            "effective-number",
            lambda w, axis=-1: np.exp(entropy(w, axis)),
            "This is e to the entropy, the effective number of keys. The entropy itself is asked for.",
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
            "The numbers are right, but the axis is still there with length 1. It should disappear: leave "
            "keepdims out.",
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
            "single-precision",
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
    forbids=("scipy.stats.entropy", "scipy.special.entr", "torch.special.entr", "torch.distributions"),
)


# ---- largest_safe_score ---------------------------------------------------------------------------------


def largest_safe_score(n_k, dtype):
    """The score that n_k keys may share so that the plain sum of their exponentials just fits into the dtype."""
    largest = float(np.finfo(dtype).max)
    return float(np.log(largest) - np.log(n_k))


def _some_keys(rng, dtype):
    return int(rng.integers(100, 5000)), dtype


LARGEST_SAFE_SCORE = Exercise(
    name="largest_safe_score",
    lesson=LESSON,
    title="How large may a score be?",
    difficulty=2,
    minutes=10,
    reference=largest_safe_score,
    cases=(
        Case("4096 keys, float16", lambda rng: (4096, "float16"), says="Lesson 03 measures this one: 2.77."),
        Case("some keys, float16", lambda rng: _some_keys(rng, "float16")),
        Case("some keys, float32", lambda rng: _some_keys(rng, "float32")),
        Case("some keys, float64", lambda rng: _some_keys(rng, "float64")),
        Case(
            "one key, float32",
            lambda rng: (1, "float32"),
            says="With one key the sum is the exponential itself.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "one-key-only",
            lambda n_k, dtype: largest_safe_score(1, dtype),
            "This is where one exponential overflows. The sum of n_k of them overflows earlier: n_k · e^s has to "
            "fit.",
            ("Write down the sum of n_k equal exponentials.",),
        ),
        WrongAnswer(
            "logarithm-divided",
            lambda n_k, dtype: largest_safe_score(1, dtype) / n_k,
            "You divided the logarithm by n_k. Divide the largest number by n_k, then take the logarithm: ln(L / "
            "n_k).",
        ),
        WrongAnswer(
            "keys-multiplied",
            lambda n_k, dtype: largest_safe_score(1, dtype) + np.log(n_k),
            "More keys allow you a larger score here; it has to be a smaller one. n_k · e^s ≤ L gives s ≤ ln L − "
            "ln n_k.",
        ),
        WrongAnswer(
            "keys-subtracted",
            lambda n_k, dtype: largest_safe_score(1, dtype) - n_k,
            "You subtracted n_k itself; its logarithm belongs there.",
        ),
        WrongAnswer(
            "root-of-keys",
            lambda n_k, dtype: largest_safe_score(1, dtype) - np.log(np.sqrt(n_k)),
            "You used the root of n_k. A sum of n_k equal numbers is n_k times as large.",
        ),
        WrongAnswer(
            "no-logarithm",
            lambda n_k, dtype: float(np.finfo(dtype).max) / n_k,
            "This is how large each exponential may be. Which score has that exponential? Take the logarithm.",
        ),
        WrongAnswer(
            "base-2",
            lambda n_k, dtype: largest_safe_score(n_k, dtype) / np.log(2),
            "You took the logarithm to base 2. The exponential has base e: np.log undoes it.",
        ),
        WrongAnswer(
            "base-10",
            lambda n_k, dtype: largest_safe_score(n_k, dtype) / np.log(10),
            "You took the logarithm to base 10. The exponential has base e: np.log undoes it.",
        ),
        WrongAnswer(
            "always-float32",
            lambda n_k, dtype: largest_safe_score(n_k, "float32"),
            "You always use float32's largest number. Each dtype has its own: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "always-float64",
            lambda n_k, dtype: largest_safe_score(n_k, "float64"),
            "You always use float64's largest number. Each dtype has its own: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "always-float16",
            lambda n_k, dtype: largest_safe_score(n_k, "float16"),
            "You always use float16's largest number, 65504. Each dtype has its own: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "smallest-number",
            lambda n_k, dtype: float(np.log(float(np.finfo(dtype).tiny))) - np.log(n_k),
            "You used the smallest normal number. What overflows is the largest: np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "rounding-unit",
            lambda n_k, dtype: float(np.log(float(np.finfo(dtype).eps))) - np.log(n_k),
            "You used eps, the distance from 1 to the next number. What overflows is the largest: "
            "np.finfo(dtype).max.",
        ),
        WrongAnswer(
            "computed-in-the-small-dtype",
            lambda n_k, dtype: np.log(np.finfo(dtype).max / np.dtype(dtype).type(n_k)),
            "np.finfo(dtype).max is itself a number of that dtype, so the limit was computed in it and lost digits. "
            "Make it a Python float first.",
            ("float(np.finfo(dtype).max) is the same number in float64.",),
        ),
        WrongAnswer(
            "rounded-down",
            lambda n_k, dtype: float(np.floor(largest_safe_score(n_k, dtype))),
            "You cut the decimals off. Scores are real numbers: keep them.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda n_k, dtype: -largest_safe_score(n_k, dtype),
            "The sign is turned around: ln(n_k / L) where ln(L / n_k) is asked for.",
        ),
    ),
    also_right=(
        lambda n_k, dtype: np.log(float(np.finfo(dtype).max) / n_k),
        lambda n_k, dtype: np.log(np.float64(np.finfo(dtype).max)) - np.log(n_k),
    ),
    hints=(
        "If all n_k keys have the score s, what is the sum of their exponentials?",
        "n_k · e^s has to stay at or below the largest number of the dtype, which np.finfo knows. Solve for s.",
        "s = ln(L / n_k) with `L = float(np.finfo(dtype).max)`.",
    ),
)


# ---- temperature_for_ratio ------------------------------------------------------------------------------


def temperature_for_ratio(score_gap, ratio):
    """The temperature at which the key that is `score_gap` ahead gets `ratio` times the other's weight."""
    return score_gap / np.log(ratio)


TEMPERATURE_FOR_RATIO = Exercise(
    name="temperature_for_ratio",
    lesson=LESSON,
    title="Sharper attention, to order",
    difficulty=2,
    minutes=10,
    reference=temperature_for_ratio,
    cases=(
        Case("a gap of 2, ten times the weight", lambda rng: (2.0, 10.0)),
        Case("any gap, any ratio", lambda rng: (float(rng.uniform(0.2, 0.9)), float(rng.uniform(1.2, 2.2)))),
        Case(
            "behind, so less weight",
            lambda rng: (-float(rng.uniform(1, 3)), float(rng.uniform(0.1, 0.6))),
            says="A key that is behind (negative gap) gets a ratio below 1; the temperature is positive all the "
            "same.",
        ),
        Case("a large ratio", lambda rng: (float(rng.uniform(5, 50)), 1e200)),
    ),
    wrong=(
        WrongAnswer(
            "inverse-temperature",
            lambda gap, ratio: np.log(ratio) / gap,
            "This is 1/T, the inverse temperature: the factor to multiply scores with. The temperature divides them.",
            ("Does your temperature go up or down when you ask for a larger ratio? Which should it do?",),
        ),
        WrongAnswer(
            "no-logarithm",
            lambda gap, ratio: gap / ratio,
            "You divided by the ratio itself. Weights go with the exponential of scores, so a ratio of weights "
            "is e to the (gap / T): take its logarithm.",
        ),
        WrongAnswer(
            "multiplied",
            lambda gap, ratio: gap * np.log(ratio),
            "You multiplied where the gap has to be divided: gap / T = ln(ratio).",
        ),
        WrongAnswer(
            "gap-forgotten",
            lambda gap, ratio: 1 / np.log(ratio),
            "The gap does not come in: this is right for a gap of 1 only.",
        ),
        WrongAnswer(
            "subtracted",
            lambda gap, ratio: gap - np.log(ratio),
            "This is how much of the gap to take away. The temperature divides the gap: gap / T = ln(ratio).",
        ),
        WrongAnswer(
            "base-2",
            lambda gap, ratio: gap / np.log2(ratio),
            "You took the logarithm to base 2. Softmax uses e: np.log.",
        ),
        WrongAnswer(
            "base-10",
            lambda gap, ratio: gap / np.log10(ratio),
            "You took the logarithm to base 10. Softmax uses e: np.log.",
        ),
        WrongAnswer(
            "share-not-ratio",
            lambda gap, ratio: gap / np.log(1 + ratio),
            "You used 1 + ratio, as for a share of the whole. The ratio of the two weights is what is given.",
        ),
        WrongAnswer(
            "relative-increase",
            lambda gap, ratio: gap / (ratio - 1),
            "You used ratio − 1, which is near ln(ratio) for ratios near 1 only.",
        ),
        WrongAnswer(
            "square-root",
            lambda gap, ratio: np.sqrt(np.abs(gap / np.log(ratio))),
            "You took a square root. The scores are divided by T itself, not by T².",
        ),
        WrongAnswer(
            "square",
            lambda gap, ratio: (gap / np.log(ratio)) ** 2,
            "You squared the result, as for a d_k with T = √d_k. T itself is asked for.",
        ),
        WrongAnswer(
            "exponential",
            lambda gap, ratio: np.exp(gap) / ratio,
            "You compared the ratio at T = 1 with the wanted one. Solve e^(gap / T) = ratio for T instead.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda gap, ratio: abs(gap) / np.log(ratio),
            "You dropped the sign of the gap: with a ratio below 1, whose logarithm is negative, the temperature "
            "comes out negative. Keep both signs; they cancel.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda gap, ratio: -gap / np.log(ratio),
            "A temperature below 0 turns the order around. Check the sign of the logarithm.",
        ),
    ),
    also_right=(
        lambda gap, ratio: float(gap / np.log(ratio)),
        lambda gap, ratio: 1 / (np.log(ratio) / gap),
        lambda gap, ratio: gap / (np.log2(ratio) * np.log(2)),
    ),
    hints=(
        "Two keys, scores s and s + gap, temperature T: what is the ratio of their weights?",
        "The sum cancels in the ratio, and e^(gap / T) is left. Set it equal to `ratio` and solve for T.",
        "gap / T = ln(ratio). `np.log` is the natural logarithm.",
    ),
    invariants=(
        Invariant(
            "not-a-positive-temperature",
            "A temperature is positive.",
            lambda inputs, t: bool(t > 0),
        ),
        Invariant(
            "another-ratio",
            "At your temperature e^(gap / T) is not the ratio that was asked for.",
            lambda inputs, t: bool(np.isclose(inputs[0] / t, np.log(inputs[1]), rtol=1e-6)),
        ),
    ),
)
