"""Lesson 02, exercise `scale_that_was_used`: which scale did they use?"""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.variance_proof.exercises.shared import some_size, unit_rows

PROMPT = r"""`scale_that_was_used(q, K, weights)`: someone computed `weights = softmax(c * (K @ q))` and doesn't say what `c` was. Find it.

- `q`, shape `(d_k,)`: one query. `K`, shape `(n_k, d_k)`: one key a row; at least two of them score differently.
- `weights`, shape `(n_k,)`: positive, adding up to 1.
- Returns the number `c`. It may be anything: the right $1/\sqrt{d_k}$, the 1 of someone who forgot it, a negative number.

Example: {example:1}.
"""


def scale_that_was_used(q, K, weights):
    """The c in weights = softmax(c * (K @ q)) -> one number."""
    scores = K @ q
    high, low = scores.argmax(), scores.argmin()
    return np.log(weights[high] / weights[low]) / (scores[high] - scores[low])


def _scale_by_least_squares(q, K, weights):
    scores, logs = K @ q, np.log(weights)
    centred = scores - scores.mean()
    return float(centred @ logs / (centred @ centred))


def _scale_by_line(q, K, weights):
    return np.polyfit(K @ q, np.log(weights), 1)[0]


def _weights_with(rng, n_k, d_k, scale):
    q, K = rng.normal(size=d_k), rng.normal(size=(n_k, d_k))
    K /= np.abs(K @ q).max() * scale / 3 if abs(scale) > 0.5 else 1.0  # keep every weight well above 0
    return q, K, softmax(scale * (K @ q))


def _probe(rng):
    """The scale probe: the query e₁, the keys e₁ and 0, with 1/√d_k as it should be."""
    d = some_size(rng)
    q, K = np.zeros(d), np.zeros((2, d))
    q[0] = K[0, 0] = 1.0
    return q, K, softmax(K @ q / d**0.5)


def _first_two_tie(rng):
    d = some_size(rng, 5, 12)
    q, K = rng.normal(size=d), rng.normal(size=(4, d))
    K[1] = K[0]
    return q, K, softmax(K @ q / d**0.5)


def _slope(q, K, weights, of):
    scores = K @ q
    high, low = scores.argmax(), scores.argmin()
    return of(weights[high], weights[low]) / (scores[high] - scores[low])


def _all_but_one_tie(rng, n_k, other, gap):
    """Keys that all score exactly 0, but for one whose score is exactly `gap`."""
    a, b, c, d = rng.integers(1, 4, size=4).astype(float)
    K = np.tile([b, -a, d, -c, 0.0], (n_k, 1))
    K[other, -1] = gap
    q = np.array([a, b, c, d, 1.0])
    return q, K, softmax(K @ q / q.size**0.5)


def _first_and_last_tie(rng):
    d = 12
    q, K = rng.normal(size=d), rng.normal(size=(5, d))
    K[-1] = K[0]
    K[1] = K[0] + 1e-13 * q / (q @ q)  # a pair that differs, and too little to be divided by
    return q, K, softmax(K @ q / d**0.5)


def _small_weight(rng):
    """One weight is e**-60 of the other."""
    q = rng.normal(size=5)
    K = np.array([0.0, 40.0, 1.0])[:, None] * q / (q @ q)
    return q, K, softmax(1.5 * (K @ q))


def _one_coordinate(rng):
    q, K = rng.uniform(1, 2, size=1), rng.permutation([[-1.0], [0.5], [2.0]])
    return q, K, softmax(K @ q)


def _build(pair, scored, compared, end):
    def answer(q, K, weights):
        scores = scored(q, K)
        i, j = pair(scores, weights)
        return end(compared(weights[i], weights[j], scores[i] - scores[j]), q)

    return answer


def _extremes(scores, weights):
    return scores.argmax(), scores.argmin()


def _ratio(high, low, gap):
    return np.log(high / low) / gap


_PAIR = (
    "A pair of keys with equal scores came in: that is 0/0. Choose a pair whose scores differ, the largest and the "
    "smallest."
)
_EPSILON = (
    "A small number is added where you divide or take the logarithm. The weights are positive and the two scores differ: "
    "nothing has to be added, and it spoils small weights and small differences."
)

MISTAKES = Products(
    (
        Factor(
            "pair",
            _extremes,
            (
                Option("first-two-keys", lambda s, w: (0, 1), _PAIR),
                Option(
                    "first-pair-that-differs",
                    lambda s, w: (0, int(np.argmax(s != s[0]))),
                    "You took the first two keys whose scores differ, by however little. Where that is a rounding error, "
                    "so is your quotient. Take the largest and the smallest score.",
                ),
                Option("first-and-last-key", lambda s, w: (0, -1), _PAIR),
                Option("last-two-keys", lambda s, w: (-1, -2), _PAIR),
                Option("largest-and-first", lambda s, w: (s.argmax(), 0), _PAIR),
                Option("largest-and-last", lambda s, w: (s.argmax(), -1), _PAIR),
                Option("smallest-and-first", lambda s, w: (s.argmin(), 0), _PAIR),
            ),
        ),
        Factor(
            "scored",
            lambda q, K: K @ q,
            (
                Option("cosine-for-score", lambda q, K: K @ q / np.linalg.norm(q)),
                Option(
                    "cosine-of-both",
                    lambda q, K: K @ q / np.linalg.norm(q) / np.maximum(np.linalg.norm(K, axis=-1), 1e-300),
                    "You took cosines. The softmax saw the scores K @ q, with all lengths in them.",
                ),
                Option(
                    "first-coordinate-for-score",
                    lambda q, K: K[:, 0] * q[0],
                    "You took the first coordinate for the score. That is enough for the probe only.",
                ),
            ),
        ),
        Factor(
            "compared",
            _ratio,
            (
                Option("no-logarithm", lambda high, low, gap: high / low / gap),
                Option("difference-of-weights", lambda high, low, gap: (high - low) / gap),
                Option("not-divided-by-scores", lambda high, low, gap: np.log(high / low)),
                Option("base-two", lambda high, low, gap: np.log2(high / low) / gap),
                Option("base-ten", lambda high, low, gap: np.log10(high / low) / gap),
                Option(
                    "multiplied-by-the-gap",
                    lambda high, low, gap: np.log(high / low) * gap,
                    "You multiplied by the difference of the scores. Divide by it.",
                ),
                *(
                    Option("epsilon-added", compared, _EPSILON)
                    for n in (12, 8, 10, 9, 6)
                    for e in (10.0**-n,)
                    for compared in (
                        lambda high, low, gap, e=e: np.log(high / low) / (gap + e),
                        lambda high, low, gap, e=e: np.log((high + e) / (low + e)) / gap,
                        lambda high, low, gap, e=e: np.log(high / (low + e)) / gap,
                        lambda high, low, gap, e=e: np.log(high / low + e) / gap,
                        lambda high, low, gap, e=e: np.log((high + e) / (low + e)) / (gap + e),
                    )
                ),
            ),
        ),
        Factor(
            "end",
            lambda c, q: c,
            (
                Option("the-temperature", lambda c, q: 1 / c),
                Option("relative-to-the-right-one", lambda c, q: c * q.size**0.5),
                Option("sign-turned", lambda c, q: -c),
                Option(
                    "sign-dropped",
                    lambda c, q: abs(c),
                    "You dropped the sign. A negative scale is a mistake worth finding.",
                ),
                Option(
                    "negative-cut-off",
                    lambda c, q: max(c, 0.0),
                    "A negative scale became 0. It is a mistake worth finding.",
                ),
                Option(
                    "squared",
                    lambda c, q: c * c,
                    "This is the square of the scale.",
                ),
                Option(
                    "guessed-d",
                    lambda c, q: 1 / c**2,
                    "This is 1 over the squared scale: the d_k that would explain it, not the scale.",
                ),
                *(
                    Option(
                        "rounded",
                        lambda c, q, n=n: np.round(c, n),
                        "You rounded. Return the number as it comes.",
                    )
                    for n in (3, 2, 4, 1, 5, 6)
                ),
            ),
        ),
    ),
    _build,
)


_SPARED = "Keys that tie have equal weights, and scores less than 1e-12 apart cannot be told apart by weights in float64."

EXERCISE = Exercise(
    name="scale_that_was_used",
    lesson="02_variance_proof",
    title="Which scale did they use?",
    prompt=PROMPT,
    examples=(
        Example(([1, 0, 0, 0], [[1, 0, 0, 0], [0, 0, 0, 0]], [0.6224593312018546, 0.3775406687981454])),
    ),
    section="8. Which scale did the code use?",
    difficulty=3,
    minutes=10,
    reference=scale_that_was_used,
    cases=(
        Case("the probe: e₁ against e₁ and 0", _probe, says="Raw scores 1 and 0: the scale is log(w₀/w₁)."),
        Case(
            "no scale at all",
            lambda rng: _weights_with(rng, 5, 7, 1.0),
            says="Someone forgot it: the answer is 1.",
        ),
        Case(
            "any scale, read-only",
            lambda rng: tuple(read_only(x) for x in _weights_with(rng, 4, 6, float(rng.uniform(0.1, 0.4)))),
        ),
        Case(
            "a negative scale",
            lambda rng: _weights_with(rng, 3, 5, float(rng.uniform(-2, -0.6))),
            says="A sign error.",
        ),
        Case(
            "the first two keys are equal",
            _first_two_tie,
            says="A pair with equal scores tells nothing: 0/0.",
        ),
        Case(
            "multiplied instead of divided",
            lambda rng: _weights_with(rng, 6, d := some_size(rng, 5, 12), d**0.5),
            says="The fraction bar got lost.",
        ),
        Case(
            "the first and the last key are equal",
            _first_and_last_tie,
            says="A pair with equal scores tells nothing, whichever it is, and one with nearly equal scores hardly more.",
        ),
        Case(
            "only one of twelve keys differs",
            lambda rng: _all_but_one_tie(rng, 12, 9, 2.0),
            says="One pair with different scores is all there is: look for it.",
        ),
        Case(
            "scores that hardly differ",
            lambda rng: _all_but_one_tie(rng, 3, 1, -1e-5),
            says="A small difference is a difference: nothing may be added to it.",
        ),
        Case(
            "one weight is tiny",
            _small_weight,
            says="A small weight is positive: its logarithm is exact as it is.",
        ),
        Case(
            "one coordinate",
            _one_coordinate,
            says="With d_k = 1 a score is one product.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "the-scale-that-should-be",
            lambda q, K, w: q.size**-0.5,
            "You returned 1/√d_k, the scale that SHOULD be used. Read from the weights which one WAS used.",
        ),
        WrongAnswer(
            "the-temperature",
            lambda q, K, w: 1 / scale_that_was_used(q, K, w),
            "This is the number that the scores were divided by, the temperature. The factor is 1 over it.",
        ),
        WrongAnswer(
            "relative-to-the-right-one",
            lambda q, K, w: scale_that_was_used(q, K, w) * q.size**0.5,
            "You multiplied by √d_k: that is the scale in units of the right one. Return the factor itself.",
        ),
        WrongAnswer(
            "no-logarithm",
            lambda q, K, w: _slope(q, K, w, lambda high, low: high / low),
            "You used the ratio of two weights. It is e to the power c·(difference of scores): take its logarithm.",
        ),
        WrongAnswer(
            "difference-of-weights",
            lambda q, K, w: _slope(q, K, w, lambda high, low: high - low),
            "You took the difference of two weights. Weights are exponentials of scores: compare their logarithms.",
        ),
        WrongAnswer(
            "not-divided-by-scores",
            lambda q, K, w: np.log(w[(K @ q).argmax()] / w[(K @ q).argmin()]),
            "log(w_i/w_j) is c times the difference of the two scores. Divide by that difference.",
        ),
        WrongAnswer(
            "only-for-the-probe",
            lambda q, K, w: np.log(w[0] / w[1]),
            "log(w₀/w₁) is the scale only for the probe, whose raw scores differ by 1. In general divide by the "
            "difference of the two scores, and choose keys whose scores differ.",
        ),
        WrongAnswer(
            "distance-of-keys",
            lambda q, K, w: (
                np.log(w[(i := (K @ q).argmax())] / w[(j := (K @ q).argmin())]) / np.linalg.norm(K[i] - K[j])
            ),
            "You divided by the distance of two keys. What the softmax saw is their scores with q.",
        ),
        WrongAnswer(
            "one-weight-only",
            lambda q, K, w: np.log(w.max()) / (K @ q)[w.argmax()],
            "You used one weight. log w = c·s − log Σ: the unknown sum cancels only in a difference of two.",
        ),
        WrongAnswer(
            "cosine-for-score",
            lambda q, K, w: scale_that_was_used(unit_rows(q), K, w),
            "You made q one unit long first. The scores are with q as it is.",
        ),
        WrongAnswer(
            "intercept-forgotten",
            lambda q, K, w: float((K @ q) @ np.log(w) / ((K @ q) @ (K @ q))),
            "You fitted log w = c·s through the origin. log w = c·s − log Σ: the unknown sum is an intercept, so subtract "
            "the means first.",
        ),
        WrongAnswer(
            "base-two",
            lambda q, K, w: scale_that_was_used(q, K, w) / np.log(2),
            "You took the logarithm to base 2. Softmax uses e: take np.log.",
        ),
        WrongAnswer(
            "base-ten",
            lambda q, K, w: scale_that_was_used(q, K, w) / np.log(10),
            "You took the logarithm to base 10. Softmax uses e: take np.log.",
        ),
        WrongAnswer(
            "sign-turned",
            lambda q, K, w: -scale_that_was_used(q, K, w),
            "The sign is reversed: subtract scores and logarithms in the same order.",
        ),
    ),
    also_right=(
        _scale_by_least_squares,
        _scale_by_line,
        lambda q, K, w: np.log(w.max() / w.min()) / ((K[w.argmax()] - K[w.argmin()]) @ q),
    ),
    hints=(
        "Write down the weights of two keys. What do you divide by what to get rid of the sum in the denominator?",
        "log(w_i / w_j) = c·(s_i − s_j), for every pair of keys.",
        "Take the keys with the largest and the smallest score, so that the difference isn't 0.",
    ),
    spared=(
        (
            "high, low = (scores.argmax(), scores.argmin()) → high, low = (len(scores) - 1 - np.argmax(scores[::-1]), scores.argmin())",
            _SPARED,
        ),
        (
            "high, low = (scores.argmax(), scores.argmin()) → high, low = (scores.argmax(), len(scores) - 1 - np.argmin(scores[::-1]))",
            _SPARED,
        ),
        (
            "return np.log(weights[high] / weights[low]) / (scores[high] - scores[low]) → return np.log(weights[high] / weights[low]) / np.maximum(scores[high] - scores[low], 1e-12)",
            _SPARED,
        ),
    ),
)
