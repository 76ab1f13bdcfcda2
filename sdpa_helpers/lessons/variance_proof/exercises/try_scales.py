"""Lesson 02, exercise `try_scales`: data that can tell scales apart."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import COURSE_SOFTMAX, Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`try_scales(Q, K, V, scales)`: do these data notice a wrong scale? In the lesson you met data that give `[3, 4]` for every one. Find out for any data.

- `Q`, shape `(n_q, d_k)`; `K`, shape `(n_k, d_k)`; `V`, shape `(n_k, d_v)`. No leading axes here.
- `scales`, shape `(m,)`, at least two: the factors to try. A scale *is* the factor: the right one would be $1/\sqrt{d_k}$.
- Returns a tuple `(outputs, differ)`. `outputs`, shape `(m, n_q, d_v)`: $\mathrm{softmax}(\text{scale}\cdot QK^{\mathsf T})\,V$ for each scale. `differ`: `True` if *every* two of the `m` outputs differ, in at least one number, by more than `1e-6`; else `False`.
- Scores can be around 1000. Take `from sdpa_helpers import softmax`, or write it: subtract each row's maximum before `np.exp`.

Example: {example:1}. With {inputs:2} they give {result:2}.
"""


def try_scales(Q, K, V, scales):
    """The output for each scale (m, n_q, d_v), and whether every two differ."""
    outputs = []
    for scale in scales:
        scores = scale * (Q @ K.T)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        outputs.append(weights @ V)
    outputs = np.stack(outputs)
    differ = all(np.abs(outputs[a] - outputs[b]).max() > 1e-6 for a in range(len(scales)) for b in range(a))
    return outputs, differ


def _outputs(Q, K, V, scales, scale=lambda c: c, weigh=softmax):
    return np.stack([weigh(scale(c) * (Q @ K.T)) @ V for c in scales])


def _gaps(outputs):
    """The largest difference of every two outputs, (m, m)."""
    return np.abs(outputs[:, None] - outputs[None]).max(axis=(-1, -2))


def _all_differ(outputs):
    m = len(outputs)
    return bool((_gaps(outputs)[~np.eye(m, dtype=bool)] > 1e-6).all())


def _with_outputs(outputs_of):
    return lambda *inputs: (out := outputs_of(*inputs), _all_differ(out))


def _with_verdict(verdict):
    return lambda Q, K, V, scales: (out := _outputs(Q, K, V, scales), bool(verdict(out, Q, K, V, scales)))


def _blind_data(rng):
    """An article's exercise, with other numbers: two equal scores, one 0 (or reversed), values in arithmetic steps."""
    start, step = rng.uniform(-3, 3, size=2), rng.uniform(1, 3, size=2) * [1, -1]
    return (
        np.array([[1.0, 0.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        start + np.array([[0.0], [1.0], [2.0]]) * step,
    )


def _article(rng):
    """Scores 1, 0, 1: keys 0 and 2 share the rest evenly, and the middle value is their average."""
    return (*_blind_data(rng), np.array([2**-0.5, 1.0, 0.5, float(rng.uniform(2, 10))]))


def _mended(rng):
    Q, K, V = _blind_data(rng)
    V[2, 1] += rng.uniform(1, 4)
    return Q, K, V, np.array([2**-0.5, 1.0, 0.5])


def _wide(rng, scales):
    """Every value adds up to 0, and so does every output: who compares sums sees nothing."""
    V = rng.normal(size=(5, 4))
    V -= V.mean(axis=-1, keepdims=True)
    return rng.normal(size=(2, 3)), rng.normal(size=(5, 3)), V, np.array(scales)


def _one_query_sees(rng):
    Q, K, V = _blind_data(rng)
    return np.vstack([Q, [[0.3, 1.7]]]), K, V, np.array([2**-0.5, 1.0, 0.5])


def _same_keys(rng):
    return (
        rng.normal(size=(2, 3)),
        np.tile(rng.normal(size=3), (4, 1)),
        rng.normal(size=(4, 5)),
        np.array([0.5, 1.0]),
    )


def _large_scores(rng):
    """One query far above all keys but for one, one far below: neither the mean nor the largest of all is a help."""
    K = rng.normal(size=(4, 3))
    K[:, 0] = rng.permutation([-0.1, -0.05, 0.0, 1.0]) * rng.uniform(0.95, 1)
    return (
        np.array([[1000.0, 0.0, 0.0], [-1000.0, 0.0, 0.0]]),
        K,
        rng.normal(size=(4, 5)),
        np.array([1e-3, 1e-3, 1.0, -1.0]),
    )


def _with_gap(rng, gap, offset=0.0):
    """Two scales whose outputs differ by at most `gap`: in all by clearly more, and on average by clearly less.

    The first number differs most, and some query's numbers by clearly less: who asks more of the others is told apart.
    """

    def draw(rng):
        Q, K, V = rng.normal(size=(3, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 4))
        return Q, K, V, np.array([0.5, 1.5])

    def telling(*inputs):
        apart = np.abs(np.subtract(*_outputs(*inputs)))
        most, less = apart.max(), max(apart.mean(), apart.max(axis=-1).min())
        return apart[0, 0] == most and np.linalg.norm(apart) > 1.5 * most and less < 0.7 * most

    Q, K, V, scales = redraw(rng, draw, telling)
    return Q, K, V * gap / _gaps(_outputs(Q, K, V, scales))[0, 1] + offset, scales


def _one_key(rng):
    return rng.normal(size=(2, 1)), rng.normal(size=(1, 1)), rng.normal(size=(1, 1)), np.array([0.5, 1.0])


def _nine_scales(rng):
    Q, K, V = rng.normal(size=(10, 9)), rng.normal(size=(12, 9)), rng.normal(size=(12, 11))
    return Q, K, V, np.array([0.1, 0.2, 0.3, 0.4, 0.1, 0.6, 0.7, 0.9, 1.1])


def _build(scaled, weigh, verdict, form):
    def answer(Q, K, V, scales):
        weights = np.stack([weigh(scaled(c, Q) * (Q @ K.T)) for c in scales])
        out = weights @ V
        return form(out, bool(verdict(out, scales, weights)), weights)

    return answer


def _every_two(differ):
    """Whether every two outputs differ, in the sense of `differ`."""
    return lambda out, *_: all(differ(out[a], out[b]) for a in range(len(out)) for b in range(a))


def _exponentials(scores):
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True)


def _less_the_largest_of_all(scores):
    return _exponentials(scores - scores.max())


def _largest_subtracted_first(Q, K, V, scales):
    scores = Q @ K.T
    below = scores - scores.max(axis=-1, keepdims=True)
    return np.stack([_exponentials(c * below) @ V for c in scales])


def _sums_compared(out, *_):
    return _all_differ(out.sum(axis=(-1, -2), keepdims=True))


_SIGNED = "The largest difference may be a negative one: take the absolute value before the maximum."
_LIMIT = (
    "Your limit is another one. Two outputs differ when the LARGEST difference is more than 1e-6. A sum, a mean or a norm "
    "of the differences is another number; and `np.allclose` adds a part that grows with the outputs, unless rtol=0."
)
_OVERFLOW = (
    "An exponential overflows, or all of a row's become 0, and 0/0 is NaN. Subtract each ROW's maximum first; the weights "
    "stay as they are."
)

MISTAKES = Products(
    (
        Factor(
            "scaled",
            lambda c, Q: c,
            (
                Option("scale-not-used", lambda c, Q: 1.0),
                Option("divided-by-the-scale", lambda c, Q: 1 / c),
                Option("scaled-by-root-d-as-well", lambda c, Q: c / Q.shape[-1] ** 0.5),
                Option(
                    "root-of-the-scale",
                    lambda c, Q: c**-0.5,
                    "A square root of the scale was taken. A scale is the factor itself.",
                ),
                Option("root-of-the-scale", lambda c, Q: c**0.5),
                Option(
                    "scaled-twice",
                    lambda c, Q: c * c,
                    "The scale comes in twice.",
                ),
            ),
        ),
        Factor(
            "weigh",
            softmax,
            (
                Option("no-softmax", lambda s: s),
                Option("softmax-over-queries", lambda s: softmax(s, axis=0)),
                Option("softmax-over-everything", lambda s: softmax(s.ravel()).reshape(s.shape)),
                Option("exponentials-overflow", _exponentials, _OVERFLOW),
                Option("exponentials-overflow", _less_the_largest_of_all, _OVERFLOW),
                Option(
                    "not-normalised",
                    lambda s: np.exp(s - s.max(axis=-1, keepdims=True)),
                    "The weights don't add up to 1: divide each row by its sum.",
                ),
                Option(
                    "argmax-for-softmax",
                    lambda s: (s == s.max(axis=-1, keepdims=True)).astype(float),
                    "Each query took its best key alone. Softmax gives every key a share.",
                ),
            ),
        ),
        Factor(
            "verdict",
            lambda out, scales, weights: _all_differ(out),
            (
                Option("some-differ", lambda out, *_: (_gaps(out) > 1e-6).any()),
                Option("compared-with-the-first-only", lambda out, *_: (_gaps(out)[0, 1:] > 1e-6).all()),
                Option(
                    "compared-with-the-next-only", lambda out, *_: (np.diagonal(_gaps(out), 1) > 1e-6).all()
                ),
                Option(
                    "first-and-last-compared",
                    lambda out, *_: _gaps(out)[0, -1] > 1e-6,
                    "You compared the first output with the last one only. Any two may be equal.",
                ),
                Option(
                    "first-two-compared",
                    lambda out, *_: _gaps(out)[0, 1] > 1e-6,
                    "You compared the first two outputs only. Any two may be equal.",
                ),
                Option("verdict-turned-round", lambda out, *_: not _all_differ(out)),
                Option(
                    "scales-compared-not-outputs",
                    lambda out, scales, weights: len(set(scales)) == len(scales),
                ),
                Option("weights-compared-not-outputs", lambda out, scales, weights: _all_differ(weights)),
                Option("first-query-only", lambda out, *_: _all_differ(out[:, :1])),
                Option(
                    "first-number-only",
                    lambda out, *_: _all_differ(out[:, :1, :1]),
                    "You looked at the first number of each output only. Any number that differs is enough.",
                ),
                Option("compared-exactly", _every_two(lambda a, b: (a != b).any())),
                Option(
                    "sums-compared",
                    _sums_compared,
                    "You compared sums or means of outputs. Two outputs can differ and have the same sum: compare number by number.",
                ),
                Option("sums-compared", lambda out, *_: _all_differ(out.mean(axis=(-1, -2), keepdims=True))),
                Option("sign-kept-in-the-difference", _every_two(lambda a, b: (a - b).max() > 1e-6), _SIGNED),
                Option("sign-kept-in-the-difference", _every_two(lambda a, b: (b - a).max() > 1e-6), _SIGNED),
                Option("every-number-must-differ", _every_two(lambda a, b: (np.abs(a - b) > 1e-6).all())),
                Option(
                    "every-query-must-see-it",
                    _every_two(lambda a, b: (np.abs(a - b).max(axis=-1) > 1e-6).all()),
                    "You ask that every query sees a difference. One number that differs is enough.",
                ),
                Option(
                    "another-limit-than-1e-6", _every_two(lambda a, b: np.abs(a - b).mean() > 1e-6), _LIMIT
                ),
                Option(
                    "another-limit-than-1e-6", _every_two(lambda a, b: np.abs(a - b).sum() > 1e-6), _LIMIT
                ),
                Option(
                    "another-limit-than-1e-6", _every_two(lambda a, b: np.linalg.norm(a - b) > 1e-6), _LIMIT
                ),
                Option("another-limit-than-1e-6", _every_two(lambda a, b: not np.allclose(a, b)), _LIMIT),
                Option(
                    "another-limit-than-1e-6",
                    _every_two(lambda a, b: not np.allclose(a, b, atol=1e-6)),
                    _LIMIT,
                ),
                Option(
                    "another-limit-than-1e-6",
                    _every_two(lambda a, b: not np.allclose(a, b, rtol=1e-6)),
                    _LIMIT,
                ),
                Option(
                    "another-limit-than-1e-6",
                    _every_two(lambda a, b: not np.allclose(a, b, rtol=1e-6, atol=1e-6)),
                    _LIMIT,
                ),
                *(
                    Option(
                        "another-limit-than-1e-6",
                        _every_two(lambda a, b, t=t: np.abs(a - b).max() > t),
                        _LIMIT,
                    )
                    for t in (1e-8, 1e-7, 1e-5, 1e-4, 1e-3)
                ),
                Option(
                    "always-true",
                    lambda *_: True,
                    "You say True for all data. Some cannot tell two scales apart.",
                ),
                Option(
                    "always-false",
                    lambda *_: False,
                    "You say False for all data. Some tell every two scales apart.",
                ),
            ),
        ),
        Factor(
            "form",
            lambda out, differ, weights: (out, differ),
            (
                Option(
                    "scales-on-the-last-axis", lambda out, differ, weights: (np.moveaxis(out, 0, -1), differ)
                ),
                Option("weights-not-outputs", lambda out, differ, weights: (weights, differ)),
                Option("verdict-missing", lambda out, differ, weights: out),
                Option(
                    "verdict-first",
                    lambda out, differ, weights: (differ, out),
                    "The verdict comes first in your tuple. The outputs come first.",
                ),
                Option(
                    "last-output-only",
                    lambda out, differ, weights: (out[-1], differ),
                    "One output came back. Return all m of them, one for each scale.",
                ),
                Option(
                    "outputs-side-by-side",
                    lambda out, differ, weights: (np.concatenate(out), differ),
                    "The outputs are joined along an axis that was there. They go on a new first axis: np.stack.",
                ),
            ),
        ),
    ),
    _build,
)


_SPARED = "The prompt says at least two scales."

EXERCISE = Exercise(
    name="try_scales",
    lesson="02_variance_proof",
    title="Data that can tell scales apart",
    prompt=PROMPT,
    examples=(
        Example(([[1, 0]], [[1, 0], [0, 1], [1, 1]], [[1, 2], [3, 4], [5, 6]], [0.5, 1])),
        Example(([[1, 0]], [[1, 0], [0, 1], [1, 1]], [[1, 2], [3, 4], [5, 9]], [0.5, 1]), writes=("V",)),
    ),
    section="8. Which scale did the code use?",
    difficulty=3,
    minutes=15,
    reference=try_scales,
    cases=(
        Case(
            "an article's data: blind",
            _article,
            says="Every scale gives the same output here: the data can't tell them apart.",
        ),
        Case("the same data, mended", _mended, says="One number of V was moved, and now the scales differ."),
        Case("two queries, five keys", lambda rng: _wide(rng, [1.0, 0.25, 0.0625])),
        Case(
            "two neighbours are nearly equal",
            lambda rng: _wide(rng, [1.0, 0.5, 0.5 + 1e-9, 0.25]),
            says="Scales 1 and 2 differ by 1e-9, and so do their outputs: that is below 1e-6.",
        ),
        Case(
            "the first and the last are nearly equal",
            lambda rng: _wide(rng, [0.7, 0.2, 0.7 + 1e-9]),
            says="Scales 0 and 2 differ by 1e-9, and so do their outputs: that is below 1e-6.",
        ),
        Case(
            "only the second query sees it",
            _one_query_sees,
            says="One query that tells them apart is enough.",
        ),
        Case(
            "all keys are the same", _same_keys, says="Equal scores give equal weights, whatever the scale."
        ),
        Case(
            "scores up to about 1000",
            _large_scores,
            says="exp(1000) overflows, and exp(-2000) is 0, unless each ROW's maximum is subtracted. Two of the scales "
            "are equal here, and one is negative.",
        ),
        Case(
            "a little more than 1e-6 apart",
            lambda rng: _with_gap(rng, 1.2e-6),
            says="The largest difference is 1.2e-6: these two differ.",
        ),
        Case(
            "a little less than 1e-6 apart",
            lambda rng: _with_gap(rng, 0.8e-6),
            says="The largest difference is 0.8e-6: these two count as equal.",
        ),
        Case(
            "large values, a thousandth apart",
            lambda rng: _with_gap(rng, 1e-3, 2000.0),
            says="The limit is 1e-6 for the difference itself, however large the outputs are.",
        ),
        Case(
            "one key, one coordinate, values of one number",
            _one_key,
            says="One key gets the whole weight, whatever the scale.",
        ),
        Case(
            "nine scales, twelve keys",
            _nine_scales,
            says="Two of the nine scales are equal, the first and the fifth.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "scale-not-used",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, lambda c: 1.0)),
            "Every output is the same: the scale is not used.",
        ),
        WrongAnswer(
            "maximum-subtracted-before-the-scale",
            _with_outputs(_largest_subtracted_first),
            "You subtracted each row's maximum before you multiplied by the scale. A negative scale turns the smallest "
            "score into the largest, and its exponential overflows. Multiply first, then subtract.",
        ),
        WrongAnswer(
            "divided-by-the-scale",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, lambda c: 1 / c)),
            "You divided the scores by the scale. A scale is a factor: 1/√d_k is one.",
        ),
        WrongAnswer(
            "scaled-by-root-d-as-well",
            lambda Q, K, V, scales: (
                out := _outputs(Q / Q.shape[-1] ** 0.5, K, V, scales),
                _all_differ(out),
            ),
            "You divided by √d_k as well: the scale that is given is the whole scale.",
        ),
        WrongAnswer(
            "no-softmax",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, weigh=lambda s: s)),
            "The softmax is missing: scores are not weights yet.",
        ),
        WrongAnswer(
            "softmax-over-queries",
            _with_outputs(
                lambda Q, K, V, scales: _outputs(Q, K, V, scales, weigh=lambda s: softmax(s, axis=0))
            ),
            "You applied softmax over the queries: each query's row of weights has to add up to 1.",
        ),
        WrongAnswer(
            "softmax-over-everything",
            _with_outputs(
                lambda Q, K, V, scales: _outputs(
                    Q, K, V, scales, weigh=lambda s: softmax(s.ravel()).reshape(s.shape)
                )
            ),
            "All weights of all queries together add up to 1: apply softmax row by row.",
        ),
        WrongAnswer(
            "scaled-after-softmax",
            _with_outputs(lambda Q, K, V, scales: np.stack([c * softmax(Q @ K.T) @ V for c in scales])),
            "You multiplied the weights by the scale. It belongs to the scores, before the softmax.",
        ),
        WrongAnswer(
            "some-differ",
            _with_verdict(lambda out, *_: (_gaps(out) > 1e-6).any()),
            "You say True as soon as SOME two outputs differ. EVERY two of them must, or a wrong scale stays hidden.",
        ),
        WrongAnswer(
            "compared-with-the-first-only",
            _with_verdict(lambda out, *_: (_gaps(out)[0, 1:] > 1e-6).all()),
            "You compared every output with the first one only. Two later ones may be equal.",
        ),
        WrongAnswer(
            "compared-with-the-next-only",
            _with_verdict(lambda out, *_: (np.diagonal(_gaps(out), 1) > 1e-6).all()),
            "You compared neighbours only. Two outputs further apart may be equal.",
        ),
        WrongAnswer(
            "verdict-turned-round",
            _with_verdict(lambda out, *_: not _all_differ(out)),
            "The verdict is the wrong way round: True when the data tell every two scales apart.",
        ),
        WrongAnswer(
            "scales-compared-not-outputs",
            _with_verdict(lambda out, Q, K, V, scales: len(set(scales)) == len(scales)),
            "You compared the scales. Different scales can give equal outputs: that is what this exercise is about.",
        ),
        WrongAnswer(
            "weights-compared-not-outputs",
            _with_verdict(
                lambda out, Q, K, V, scales: _all_differ(np.stack([softmax(c * (Q @ K.T)) for c in scales]))
            ),
            "You compared the weights. They differ, and the outputs can still be equal, when the values are symmetric.",
        ),
        WrongAnswer(
            "first-query-only",
            _with_verdict(lambda out, *_: _all_differ(out[:, :1])),
            "You looked at the first query only. Any query that sees a difference is enough.",
        ),
        WrongAnswer(
            "compared-exactly",
            _with_verdict(lambda out, *_: (_gaps(out)[~np.eye(len(out), dtype=bool)] > 0).all()),
            "You compared exactly. Rounding makes equal outputs differ in the last digit: ask for more than 1e-6.",
        ),
        WrongAnswer(
            "every-number-must-differ",
            _with_verdict(
                lambda out, *_: all(
                    (np.abs(out[a] - out[b]) > 1e-6).all() for a in range(len(out)) for b in range(a)
                )
            ),
            "You ask that EVERY number of two outputs differs. One that does is enough.",
        ),
        WrongAnswer(
            "list-not-array",
            lambda Q, K, V, scales: (list(out := _outputs(Q, K, V, scales)), _all_differ(out)),
            "The outputs come as a list. Stack them into one array of shape (m, n_q, d_v): np.stack.",
        ),
        WrongAnswer(
            "scales-on-the-last-axis",
            lambda Q, K, V, scales: (np.moveaxis(out := _outputs(Q, K, V, scales), 0, -1), _all_differ(out)),
            "The scales are on the last axis; they belong on the first: (m, n_q, d_v).",
        ),
        WrongAnswer(
            "weights-not-outputs",
            lambda Q, K, V, scales: (
                np.stack([softmax(c * (Q @ K.T)) for c in scales]),
                _all_differ(_outputs(Q, K, V, scales)),
            ),
            "You returned the weights. Return the outputs: weights @ V.",
        ),
        WrongAnswer(
            "outputs-missing",
            lambda Q, K, V, scales: _all_differ(_outputs(Q, K, V, scales)),
            "The outputs are missing: return them AND whether every two of them differ.",
        ),
        WrongAnswer(
            "verdict-missing",
            lambda Q, K, V, scales: _outputs(Q, K, V, scales),
            "The verdict is missing: return the outputs AND whether every two of them differ.",
        ),
    ),
    also_right=(
        lambda Q, K, V, scales: (out := _outputs(Q, K, V, scales), _all_differ(out)),
        lambda Q, K, V, scales: (
            out := softmax(np.asarray(scales)[:, None, None] * (Q @ K.T)) @ V,
            np.bool_(_all_differ(out)),
        ),
        lambda Q, K, V, scales: (
            out := _outputs(Q, K, V, scales),
            not any(
                np.allclose(out[a], out[b], rtol=0, atol=1e-6)
                for a in range(len(out))
                for b in range(a + 1, len(out))
            ),
        ),
    ),
    hints=(
        "Two parts: the outputs, one for each scale; then one yes or no about all pairs of them.",
        "For each scale: scores, softmax over the keys (subtract the row's maximum), weights @ V. "
        "Then compare a with b for all a and b < a.",
        "`np.abs(outputs[a] - outputs[b]).max() > 1e-6` for one pair; `all(...)` over the pairs.",
    ),
    allows=(COURSE_SOFTMAX,),
    spared=(
        (
            "weights = np.exp(scores - scores.max(axis=-1, keepdims=True)) → weights = np.exp(scores - scores.max(axis=-1, keepdims=True) / 2)",
            "the prompt promises scores up to ±1000, and exp(500) is far from overflowing",
        ),
        ("→ scales = np.squeeze(scales)", _SPARED),
        ("→ if np.ndim(scales) >= 1 and np.shape(scales)[-1] == 1: raise ValueError", _SPARED),
    ),
)
