"""Lesson 08, exercise `additive_attention`: scores from a small network, as before dot products."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each
from sdpa_helpers.lessons.heads_and_variants.exercises.shared import (
    CHANGED,
    HALF,
    SINGLE,
    half,
    single,
    turned,
)
from sdpa_helpers.lessons.masking.exercises.ways_to_mask import softmax

PROMPT = r"""`additive_attention(Q, K, V, W_q, W_k, w_v)`: attention whose scores come from a small network, as Bahdanau and colleagues proposed in 2014. The score of query $q_i$ and key $k_j$ is

$$s_{ij} = w_v \cdot \tanh(q_i W_q + k_j W_k)$$

- `Q`, shape `(..., n_q, d_q)`; `K`, shape `(..., n_k, d_k)`; `V`, shape `(..., n_k, d_v)`. All sizes may differ.
- `W_q`, shape `(d_q, d_a)`; `W_k`, shape `(d_k, d_a)`; `w_v`, shape `(d_a,)`: the same for all leading axes.
- Returns shape `(..., n_q, d_v)`: each query's softmax of its scores over the keys, times `V`. There is no factor $1/\sqrt{d_k}$ here. Scores of ±1000 must not overflow, nor sums of ±1000 inside tanh.

Example: {inputs:1}. The sums are 0 and 20, whose tanh is 0 and 1 to 15 digits; the scores are 0 and ln 3, and the weights 1/4 and 3/4: {result:1}.
"""

_LN3 = float(np.log(3))


def additive_attention(Q, K, V, W_q, W_k, w_v):
    """Scores w_v · tanh(q W_q + k W_k): Q (..., n_q, d_q), K (..., n_k, d_k), V (..., n_k, d_v) -> (..., n_q, d_v)."""
    sums = (Q @ W_q)[..., :, None, :] + (K @ W_k)[..., None, :, :]
    scores = np.tanh(sums) @ w_v
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ V


def _pairs(a, b):
    return a[..., :, None, :] + b[..., None, :, :]


def _dots(a, b):
    return a @ turned(b)


def _without_maximum(scores):
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)


def _by_loops(Q, K, V, W_q, W_k, w_v):
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for i in range(Q.shape[-2]):
        scores = np.tanh(Q[..., i, None, :] @ W_q + K @ W_k) @ w_v
        out[..., i, :] = (softmax(scores)[..., None] * V).sum(axis=-2)
    return out


def _by_einsum(Q, K, V, W_q, W_k, w_v):
    projected = np.einsum("...id,da->...ia", Q, W_q), np.einsum("...jd,da->...ja", K, W_k)
    scores = np.einsum("...ija,a->...ij", np.tanh(_pairs(*projected)), w_v)
    return np.einsum("...ij,...jd->...id", softmax(scores), V)


def _concatenated(Q, K, V, W_q, W_k, w_v):
    lead = (*Q.shape[:-1], K.shape[-2])
    pairs = np.concatenate(
        [
            np.broadcast_to(Q[..., :, None, :], (*lead, Q.shape[-1])),
            np.broadcast_to(K[..., None, :, :], (*lead, K.shape[-1])),
        ],
        axis=-1,
    )
    return softmax(np.tanh(pairs @ np.concatenate([W_q, W_k])) @ w_v) @ V


def _dot_product_attention(Q, K, V, W_q, W_k, w_v):
    return softmax(_dots(Q @ W_q, K @ W_k) / np.sqrt(W_q.shape[-1])) @ V


def _row_by_row(Q, K, V, W_q, W_k, w_v):
    scores = np.tanh(Q @ W_q + K @ W_k) @ w_v
    return softmax(scores)[..., None] * V


def _in_place(Q, K, V, W_q, W_k, w_v):
    Q *= 1.0
    return additive_attention(Q, K, V, W_q, W_k, w_v)


def _tanh_of_exponentials(x):
    e = np.exp(2 * x)
    return (e - 1) / (e + 1)


def _build(convert, project, join, bend, score, scale, weigh, mix) -> Callable:
    """Additive attention whose parts can be wrong."""

    def additive_attention(Q, K, V, W_q, W_k, w_v):
        Q, K, V, W_q, W_k, w_v = (convert(x) for x in (Q, K, V, W_q, W_k, w_v))
        a, b = project(Q, K, W_q, W_k)
        scores = score(bend(a, b, join), w_v)
        return mix(weigh(scores * scale(Q, W_q)), V, K)

    return additive_attention


MISTAKES = Products(
    (
        Factor(
            "project",
            lambda Q, K, W_q, W_k: (Q @ W_q, K @ W_k),
            (
                Option("matrices-swapped", lambda Q, K, W_q, W_k: (Q @ W_k, K @ W_q)),
                Option("keys-left-out", lambda Q, K, W_q, W_k: (Q @ W_q, 0 * (K @ W_k))),
                Option("matrices-transposed", lambda Q, K, W_q, W_k: (Q @ W_q.T, K @ W_k.T)),
            ),
        ),
        Factor(
            "join",
            _pairs,
            (
                Option("subtracted-not-added", lambda a, b: a[..., :, None, :] - b[..., None, :, :]),
                Option("pairs-of-matrices-only", lambda a, b: a[:, None] + b[None, :]),
                Option("multiplied-not-added", lambda a, b: a[..., :, None, :] * b[..., None, :, :]),
            ),
        ),
        Factor(
            "bend",
            lambda a, b, join: np.tanh(join(a, b)),
            (
                Option("tanh-of-each", lambda a, b, join: join(np.tanh(a), np.tanh(b))),
                Option("tanh-left-out", lambda a, b, join: join(a, b)),
                Option("sigmoid-not-tanh", lambda a, b, join: 0.5 * (1 + np.tanh(join(a, b) / 2))),
                Option("relu-not-tanh", lambda a, b, join: np.maximum(join(a, b), 0.0)),
            ),
        ),
        Factor(
            "score",
            lambda features, w_v: features @ w_v,
            (
                Option("vector-left-out", lambda features, w_v: features.sum(axis=-1)),
                Option("vector-left-out", lambda features, w_v: features.mean(axis=-1)),
                Option("mean-not-sum", lambda features, w_v: features @ w_v / w_v.size),
                Option("tanh-of-the-score", lambda features, w_v: np.tanh(features @ w_v)),
                Option("sign-flipped", lambda features, w_v: -features @ w_v),
            ),
        ),
        Factor(
            "scale",
            lambda Q, W: 1.0,
            (
                Option("scaled", lambda Q, W: Q.shape[-1] ** -0.5),
                Option("scaled", lambda Q, W: W.shape[-1] ** -0.5),
            ),
        ),
        Factor(
            "weigh",
            softmax,
            (
                Option("softmax-over-queries", lambda scores: softmax(scores, -2)),
                Option("softmax-over-axis-0", lambda scores: softmax(scores, 0)),
                Option("softmax-over-axis-1", lambda scores: softmax(scores, 1)),
                Option("softmax-over-the-matrix", lambda scores: softmax(scores, (-2, -1))),
                Option("no-softmax", lambda scores: scores),
                Option("no-maximum-subtracted", _without_maximum),
                Option("maximum-of-the-whole-array", lambda scores: _without_maximum(scores - scores.max())),
            ),
        ),
        Factor(
            "mix",
            lambda w, V, K: w @ V,
            (
                Option("keys-used-as-values", lambda w, V, K: w @ K),
                Option("weights-returned", lambda w, V, K: w),
            ),
        ),
        Factor(
            "convert",
            lambda x: x,
            (
                Option("float32-somewhere", single, rare=True),
                Option("half-precision-somewhere", half, rare=True),
            ),
        ),
    ),
    _build,
)


def _with(**parts) -> Callable:
    """The answer with these parts in place of the right ones."""
    return _build(**{factor.name: factor.right for factor in MISTAKES.factors} | parts)


def _wrong(name: str, says: str, **more) -> WrongAnswer:
    """The wrong answer with the first option of that name."""
    factor, option = next((f, o) for f in MISTAKES.factors for o in f.options if o.name == name)
    return WrongAnswer(name, _with(**{factor.name: option.value}), says, **more)


def _draw(rng, n_q, n_k, d_q, d_k, d_v, d_a, *batch):
    return (
        rng.normal(size=(*batch, n_q, d_q)),
        rng.normal(size=(*batch, n_k, d_k)),
        rng.normal(size=(*batch, n_k, d_v)),
        rng.normal(size=(d_q, d_a)),
        rng.normal(size=(d_k, d_a)),
        3 * rng.normal(size=d_a),
    )


def _of_size(rng, n_q, n_k, d_k, d_v, d_a):
    return _draw(rng, n_q, n_k, 3, d_k, d_v, d_a, 2)


def _large(rng):
    """Rows of scores far apart: the first feature of row i is ±1 or near 0, and counts 1000 times."""
    Q, K, V, W_q, W_k, w_v = _draw(rng, 4, 5, 3, 2, 6, 4, 2)
    levels = np.array([900.0, -900.0, 0.2, -0.2])
    Q[..., 0] = [levels, np.roll(levels, 1)]
    W_q[:, 0], W_k[:, 0] = np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0])
    W_q[0] = [1.0, -1.0, 0.0, 0.0]  # a large sum of either sign beside each other, and small ones
    K[..., 0] = np.array([3.0, 3.0, 3.0, -3.0, -3.0])
    w_v[0] = 1000.0
    return Q, K, V, W_q, W_k, w_v


EXERCISE = Exercise(
    name="additive_attention",
    lesson="08_heads_and_variants",
    title="Additive attention",
    prompt=PROMPT,
    examples=(Example(([[0]], [[0], [20]], [[0], [8]], [[1]], [[1]], np.array([_LN3]))),),
    section="9. Deeper: additive attention",
    difficulty=3,
    minutes=12,
    reference=additive_attention,
    cases=(
        Case("three queries, five keys", lambda rng: _draw(rng, 3, 5, 4, 6, 2, 7)),
        Case("a batch of two", lambda rng: _draw(rng, 5, 4, 2, 3, 7, 6, 2)),
        Case("two leading axes", lambda rng: _draw(rng, 3, 7, 5, 2, 4, 3, 2, 3)),
        Case(
            "rows of scores around ±1000 and ±200",
            _large,
            says="Every row needs its own maximum: the rows lie far apart. And np.tanh takes sums of ±900 too.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _draw(rng, 4, 4, 4, 4, 4, 4, 4),
            says="Every size is 4: no shape can warn you here. Queries and keys are added for every pair.",
        ),
        Case("read-only, strided", lambda rng: tuple(map(read_only_strided, _draw(rng, 2, 6, 3, 5, 4, 7)))),
        Case("a longer text", lambda rng: _draw(rng, 11, 12, 10, 9, 13, 14, 1)),
        *one_of_each(_of_size, only=("n_q", "n_k", "d_v", "d_a"), n_q=4, n_k=5, d_k=6, d_v=7, d_a=2),
    ),
    wrong=(
        _wrong(
            "tanh-of-each",
            "Your weights do not depend on the query. That happens when tanh is taken of the query's part and of the key's "
            "part and the results are added: what comes from the query is the same for all keys, and cancels in softmax. "
            "Add first, then take tanh.",
            hints=("Which of your numbers depend on the query AND the key?",),
        ),
        _wrong(
            "tanh-left-out",
            "tanh is missing. Without it the query's part is the same for all keys and cancels in softmax.",
        ),
        _wrong("sigmoid-not-tanh", "You used a sigmoid. tanh goes from −1 to 1."),
        _wrong("relu-not-tanh", "You used ReLU. The formula has tanh."),
        _wrong(
            "tanh-of-the-score", "The score went through tanh once more. It is w_v · tanh(…), a plain sum."
        ),
        _wrong("vector-left-out", "w_v is not used: the score is its dot product with the tanh features."),
        _wrong("mean-not-sum", "You divided the score by d_a. It is a dot product with w_v, a sum."),
        _wrong("sign-flipped", "The sign of the score is flipped: the worst match gets the largest weight."),
        _wrong("subtracted-not-added", "You subtracted the key's part. The parts are added."),
        _wrong(
            "pairs-of-matrices-only",
            "`[:, None]` and `[None, :]` put axes at the first and second place. With a batch these are the wrong ones: use "
            "`[..., :, None, :]` and `[..., None, :, :]`.",
        ),
        WrongAnswer(
            "one-batch-axis-only",
            lambda Q, K, V, W_q, W_k, w_v: (
                softmax(np.tanh((Q @ W_q)[:, :, None, :] + (K @ W_k)[:, None, :, :]) @ w_v) @ V
            ),
            "This works for exactly one batch axis. `[..., :, None, :]` and `[..., None, :, :]` count from the end and work "
            "for any number.",
            errors_tell=True,
        ),
        _wrong(
            "multiplied-not-added",
            "You multiplied the two parts. They are added: that is why it is called additive.",
        ),
        _wrong("matrices-swapped", "W_q and W_k are swapped: W_q belongs to the queries."),
        _wrong("keys-left-out", "The keys do not come in: each query gets the plain average of the values."),
        _wrong(
            "matrices-transposed",
            "You multiplied by the transposed matrices. Here it is Q @ W_q and K @ W_k.",
        ),
        _wrong(
            "scaled",
            "You divided the scores by a square root. That belongs to dot products; additive scores have no such factor.",
        ),
        WrongAnswer(
            "dot-product-attention",
            _dot_product_attention,
            "These are scaled dot products of the projected queries and keys. Additive attention adds the two, takes "
            "tanh, and multiplies by w_v.",
        ),
        WrongAnswer(
            "row-by-row-not-pairwise",
            _row_by_row,
            "Query i was added to key i only, which needs as many queries as keys. Every query is added to every key: "
            "give Q @ W_q an axis for the keys, and K @ W_k one for the queries.",
        ),
        _wrong(
            "softmax-over-queries",
            "The columns of your weights add up to 1, not the rows: softmax went over the queries. It goes over the "
            "keys, axis −1.",
        ),
        _wrong(
            "softmax-over-axis-0",
            "Softmax went over axis 0: the queries, or with a batch the batch. It goes over the keys, axis −1.",
        ),
        _wrong(
            "softmax-over-axis-1",
            "Softmax went over axis 1. That is right without a batch only: the keys are axis −1.",
        ),
        _wrong(
            "softmax-over-the-matrix",
            "Each matrix of weights adds up to 1 as a whole. Every row, one query, has to do so on its own.",
        ),
        _wrong("no-softmax", "Softmax is missing: the values are multiplied by the scores."),
        _wrong(
            "no-maximum-subtracted",
            "exp overflows above 709 and is 0 below −745: ∞/∞ and 0/0 are NaN. Subtract the row's maximum first.",
        ),
        _wrong(
            "maximum-of-the-whole-array",
            "You subtracted one maximum for all rows. A row far below it underflows to 0/0 = NaN. Each row needs its own.",
        ),
        _wrong("keys-used-as-values", "You mixed the keys. The output is a mixture of the values, V."),
        _wrong("weights-returned", "These are the weights. Multiply them with the values."),
        WrongAnswer(
            "tanh-overflows",
            _with(bend=lambda a, b, join: _tanh_of_exponentials(join(a, b))),
            "Your tanh is made of exponentials that overflow for large sums: ∞/∞ is NaN. `np.tanh` is 1 there, and −1.",
        ),
        WrongAnswer("changes-its-input", _in_place, CHANGED),
        _wrong("float32-somewhere", SINGLE, clue="float32"),
        _wrong("half-precision-somewhere", HALF),
    ),
    also_right=(_with(), _by_loops, _by_einsum, _concatenated),
    hints=(
        "There is one sum q_i W_q + k_j W_k for every pair (i, j), a vector of d_a numbers. What shape do all of them have?",
        "`(Q @ W_q)[..., :, None, :]` is (..., n_q, 1, d_a). Give K @ W_k the shape (..., 1, n_k, d_a), and let the sum "
        "broadcast to (..., n_q, n_k, d_a).",
        "`np.tanh(sums) @ w_v` has shape (..., n_q, n_k). Softmax of it along axis −1, with the row's own maximum, then "
        "`@ V`.",
    ),
    invariants=(
        Invariant(
            "outside-the-values",
            "At least one number lies outside the range of its column of V, which no weighted average can.",
            lambda inputs, out: bool(
                np.all(out <= inputs[2].max(axis=-2, keepdims=True) + 1e-9)
                and np.all(out >= inputs[2].min(axis=-2, keepdims=True) - 1e-9)
            ),
        ),
    ),
    mistakes=MISTAKES,
    spared=(
        (
            "exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) → exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True) / 2)",
            "the prompt promises scores up to ±1000, and exp(500) is far from overflowing",
        ),
    ),
)
