"""Lesson 02, exercise `try_scales`: data that can tell scales apart."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, redraw
from sdpa_helpers.checking.ready_made import COURSE_SOFTMAX
from sdpa_helpers.lessons.variance_proof.exercises.shared import unit_rows

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
    def draw(rng):
        Q, K, V = rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(4, 5))
        return 1000 * unit_rows(Q), K, V, np.array([1.0, 1e-3, 1e-3])

    return redraw(rng, draw, lambda Q, K, V, scales: (Q @ K.T).max() > 900)  # exp overflows above 709.78


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
            says="exp(1000) overflows: subtract each row's maximum. And two of the scales are equal here.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "scale-not-used",
            _with_outputs(lambda Q, K, V, scales: _outputs(Q, K, V, scales, lambda c: 1.0)),
            "Every output is the same: the scale is not used.",
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
            "exponentials-overflow",
            lambda Q, K, V, scales: (
                out := _outputs(
                    Q, K, V, scales, weigh=lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True)
                ),
                _all_differ(out),
            ),
            "exp of a large score overflows and gives NaN. Subtract each row's maximum first; the weights stay.",
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
            "sums-compared",
            _with_verdict(lambda out, *_: _all_differ(out.sum(axis=(-1, -2), keepdims=True))),
            "You compared sums of outputs. Two outputs can differ and have the same sum: compare number by number.",
        ),
        WrongAnswer(
            "sign-kept-in-the-difference",
            _with_verdict(
                lambda out, *_: all((out[a] - out[b]).max() > 1e-6 for a in range(len(out)) for b in range(a))
            ),
            "The largest difference may be a negative one: take the absolute value before the maximum.",
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
            "outputs-not-stacked",
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
            "You returned the weights. The outputs are asked for: weights @ V.",
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
)
