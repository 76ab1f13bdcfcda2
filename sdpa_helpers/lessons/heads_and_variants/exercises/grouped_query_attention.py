"""Lesson 08, exercise `grouped_query_attention`: several heads of queries share one head of keys and values."""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only_strided
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

PROMPT = r"""`grouped_query_attention(Q, K, V)`: attention with more heads of queries than of keys and values. No mask.

- `Q`, shape `(..., h_q, n_q, d_k)`; `K`, shape `(..., h_kv, n_k, d_k)`; `V`, shape `(..., h_kv, n_k, d_v)`. `h_kv` divides `h_q`.
- Neighboring heads of queries share: with `h_q = 6` and `h_kv = 2`, the heads 0, 1 and 2 of `Q` use head 0 of `K` and `V`, the heads 3, 4 and 5 use head 1. PyTorch's `enable_gqa` does the same.
- Returns shape `(..., h_q, n_q, d_v)`: in each head $\mathrm{softmax}(QK^{\mathsf T}/\sqrt{d_k})\,V$. Scores of ±1000 must not overflow.

Example: four heads of one query, two of one key. {inputs:1}: with one key each output is its value, {result:1}.
"""


def grouped_query_attention(Q, K, V):
    """Heads that share keys and values: (..., h_q, n_q, d_k), (..., h_kv, n_k, d_k), V -> (..., h_q, n_q, d_v)."""
    group = Q.shape[-3] // K.shape[-3]
    K, V = np.repeat(K, group, axis=-3), np.repeat(V, group, axis=-3)
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ V


def _repeated(x, h_q):
    return np.repeat(x, h_q // x.shape[-3], axis=-3)


def _tiled(x, h_q):
    return np.concatenate([x] * (h_q // x.shape[-3]), axis=-3)


def _first_head(x, h_q):
    return x[..., :1, :, :]


def _mean_head(x, h_q):
    return x.mean(axis=-3, keepdims=True)


def _as_they_are(x, h_q):
    return x


def _without_maximum(scores):
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)


def _all_groups_at_once(Q, K, V):
    """Groups are right, and softmax runs over a group's rows together: all its heads compete."""
    shape = (*Q.shape[:-3], K.shape[-3], -1, *Q.shape[-2:])
    scores = Q.reshape(shape) @ turned(K)[..., None, :, :] / np.sqrt(Q.shape[-1])
    return (softmax(scores, (-3, -1)) @ V[..., None, :, :]).reshape(*Q.shape[:-1], V.shape[-1])


def _heads_at_axis_1(Q, K, V):
    group = Q.shape[1] // K.shape[1]
    K, V = np.repeat(K, group, axis=1), np.repeat(V, group, axis=1)
    return softmax(Q @ turned(K) / np.sqrt(Q.shape[-1])) @ V


def _heads_of_a_group_averaged(Q, K, V):
    out = grouped_query_attention(Q, K, V)
    return out.reshape(*out.shape[:-3], K.shape[-3], -1, *out.shape[-2:]).mean(axis=-3)


def _by_groups(Q, K, V):
    shape = (*Q.shape[:-3], K.shape[-3], -1, *Q.shape[-2:])
    scores = Q.reshape(shape) @ turned(K)[..., None, :, :] / np.sqrt(Q.shape[-1])
    return (softmax(scores) @ V[..., None, :, :]).reshape(*Q.shape[:-1], V.shape[-1])


def _by_index(Q, K, V):
    group = Q.shape[-3] // K.shape[-3]
    heads = []
    for h in range(Q.shape[-3]):
        k, v = K[..., h // group, :, :], V[..., h // group, :, :]
        heads.append(softmax(Q[..., h, :, :] * Q.shape[-1] ** -0.5 @ turned(k)) @ v)
    return np.stack(heads, axis=-3)


def _queries_stacked(Q, K, V):
    rows = Q.reshape(*Q.shape[:-3], K.shape[-3], -1, Q.shape[-1])
    out = softmax(rows @ turned(K) / np.sqrt(Q.shape[-1])) @ V
    return out.reshape(*Q.shape[:-1], V.shape[-1])


def _in_place(Q, K, V):
    Q /= np.sqrt(Q.shape[-1])
    return _with(scale=lambda Q, K, V: 1.0)(Q, K, V)


def _build(convert, share, scale, match, weigh, mix) -> Callable:
    """Grouped-query attention whose parts can be wrong."""

    def grouped_query_attention(Q, K, V):
        Q, K, V = (convert(x) for x in (Q, K, V))
        K, V = (share_one(x, Q.shape[-3]) for share_one, x in zip(share, (K, V), strict=True))
        return mix(weigh(match(Q, K, V) * scale(Q, K, V)), V, K)

    return grouped_query_attention


MISTAKES = Products(
    (
        Factor(
            "share",
            (_repeated, _repeated),
            (
                Option("tiled-not-repeated", (_tiled, _tiled)),
                Option("keys-and-values-of-other-heads", (_repeated, _tiled)),
                Option("keys-and-values-of-other-heads", (_tiled, _repeated)),
                Option("first-head-for-all", (_first_head, _first_head)),
                Option("shared-heads-averaged", (_mean_head, _mean_head)),
                Option("heads-not-shared-out", (_as_they_are, _as_they_are)),
            ),
        ),
        Factor(
            "scale",
            lambda Q, K, V: Q.shape[-1] ** -0.5,
            (
                Option("no-scaling", lambda Q, K, V: 1.0),
                Option("divided-by-d_k", lambda Q, K, V: 1 / Q.shape[-1]),
                Option("scaled-by-all-heads", lambda Q, K, V: (Q.shape[-1] * Q.shape[-3]) ** -0.5),
                Option("scaled-by-the-number-of-heads", lambda Q, K, V: Q.shape[-3] ** -0.5),
                Option("scaled-by-d_v", lambda Q, K, V: V.shape[-1] ** -0.5),
                Option("scaled-by-n_k", lambda Q, K, V: K.shape[-2] ** -0.5),
                Option("multiplied-by-the-root", lambda Q, K, V: Q.shape[-1] ** 0.5),
            ),
        ),
        Factor(
            "match",
            lambda Q, K, V: Q @ turned(K),
            (
                Option("values-used-as-keys", lambda Q, K, V: Q @ turned(V)),
                Option(
                    "reshaped-not-transposed",
                    lambda Q, K, V: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]),
                ),
                Option("not-transposed", lambda Q, K, V: Q @ K),
            ),
        ),
        Factor(
            "weigh",
            softmax,
            (
                Option("softmax-over-queries", lambda x: softmax(x, -2)),
                Option("softmax-over-heads", lambda x: softmax(x, -3)),
                Option("softmax-over-axis-1", lambda x: softmax(x, 1)),
                Option("softmax-over-axis-2", lambda x: softmax(x, 2)),
                Option("softmax-over-the-matrix", lambda x: softmax(x, (-2, -1))),
                Option("no-maximum-subtracted", _without_maximum),
                Option("maximum-of-the-whole-array", lambda x: _without_maximum(x - x.max())),
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


def _draw(rng, h_q, h_kv, n_q, n_k, d_k, d_v, *batch):
    return (
        rng.normal(size=(*batch, h_q, n_q, d_k)),
        rng.normal(size=(*batch, h_kv, n_k, d_k)),
        rng.normal(size=(*batch, h_kv, n_k, d_v)),
    )


def _of_size(rng, n_q, n_k, d_k, d_v):
    return _draw(rng, 4, 2, n_q, n_k, d_k, d_v, 2)


def _large(rng):
    Q, K, V = _draw(rng, 4, 2, 4, 5, 3, 6)
    Q[..., 0] = np.array([1000.0, -1000.0, 200.0, -200.0]) * np.sqrt(3)
    K[..., 0] = np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    return Q, K, V


EXERCISE = Exercise(
    name="grouped_query_attention",
    lesson="08_heads_and_variants",
    title="Grouped-query attention",
    prompt=PROMPT,
    examples=(Example(([[[1]], [[2]], [[3]], [[4]]], [[[1]], [[1]]], [[[5]], [[7]]])),),
    section="2. Sharing keys and values",
    difficulty=3,
    minutes=10,
    reference=grouped_query_attention,
    cases=(
        Case(
            "six heads of queries, two of keys",
            lambda rng: _draw(rng, 6, 2, 3, 5, 4, 7),
            says="Heads 0, 1, 2 of Q use head 0 of K and V; heads 3, 4, 5 use head 1.",
        ),
        Case("a batch of two, groups of two", lambda rng: _draw(rng, 6, 3, 4, 7, 5, 2, 2)),
        Case("two leading axes", lambda rng: _draw(rng, 4, 2, 3, 4, 2, 5, 2, 3)),
        Case(
            "one head of keys",
            lambda rng: _draw(rng, 5, 1, 3, 4, 2, 6, 2),
            says="Multi-query attention: all heads share one head of keys and values.",
        ),
        Case(
            "as many heads of keys as of queries",
            lambda rng: _draw(rng, 3, 3, 4, 2, 5, 6),
            says="Each head has its own keys and values: multi-head attention.",
        ),
        Case(
            "scores of ±1000 and ±200",
            _large,
            says="Every row needs its own maximum: the rows lie far apart.",
        ),
        Case(
            "all sizes but the heads equal",
            lambda rng: _draw(rng, 6, 2, 4, 4, 4, 4, 4),
            says="All sizes but the numbers of heads are 4: no shape can warn you here.",
        ),
        Case("read-only, strided", lambda rng: tuple(map(read_only_strided, _draw(rng, 6, 2, 2, 3, 7, 5)))),
        Case("one head", lambda rng: _draw(rng, 1, 1, 3, 4, 2, 5)),
        Case("a longer text", lambda rng: _draw(rng, 10, 5, 11, 12, 10, 13, 1)),
        *one_of_each(_of_size, only=("n_q", "n_k", "d_k", "d_v"), n_q=3, n_k=5, d_k=6, d_v=7),
    ),
    wrong=(
        _wrong(
            "tiled-not-repeated",
            "The shared heads are dealt out in turns, as np.tile does it: 0, 1, 0, 1. Neighboring heads of queries share: "
            "0, 0, 1, 1, as np.repeat makes it.",
            hints=("With h_q = 4 and h_kv = 2, which head of K should head 1 of Q use?",),
        ),
        _wrong(
            "keys-and-values-of-other-heads",
            "Keys and values are shared out in two different ways, so a head gets its weights from one head and its "
            "values from another. Use np.repeat for both.",
        ),
        _wrong(
            "first-head-for-all",
            "All heads of queries use head 0 of K and V. That is multi-query attention; here each group has its own.",
        ),
        _wrong(
            "shared-heads-averaged",
            "You averaged the heads of K and V. Each group of queries uses one of them as it is.",
        ),
        _wrong(
            "heads-not-shared-out",
            "Q meets K as they came, which works only where there is one head of keys or as many as heads of queries. "
            "Repeat each head of K and V for its group, or give Q an axis for groups.",
            errors_tell=True,
        ),
        WrongAnswer(
            "heads-taken-for-axis-1",
            _heads_at_axis_1,
            "You took axis 1 for the heads. That is their place with exactly one batch axis; axis −3 is right for any "
            "number.",
            errors_tell=True,
        ),
        WrongAnswer(
            "heads-of-a-group-averaged",
            _heads_of_a_group_averaged,
            "You averaged the outputs of a group, so h_kv heads came back. Each of the h_q heads has its own output.",
        ),
        WrongAnswer(
            "softmax-over-the-group",
            _all_groups_at_once,
            "Softmax went over all heads of a group together. Each query of each head has its own row of weights.",
        ),
        _wrong("no-scaling", "The scores are not scaled: divide them by √d_k before softmax."),
        _wrong(
            "divided-by-d_k",
            "The scores are divided by d_k: the square root is missing, or the scale came in twice.",
        ),
        _wrong(
            "scaled-by-all-heads",
            "You divided by √(h_q · d_k), the root of the whole width. A score is a sum over the d_k products of one head.",
        ),
        _wrong(
            "scaled-by-the-number-of-heads", "You divided by the root of the number of heads. It is √d_k."
        ),
        _wrong(
            "scaled-by-d_v",
            "You divided by √d_v, the width of the values. The scores are sums over d_k products.",
        ),
        _wrong(
            "scaled-by-n_k", "You divided by the root of the number of keys. d_k is the length of one key."
        ),
        _wrong("multiplied-by-the-root", "You multiplied by √d_k. It divides."),
        _wrong("values-used-as-keys", "You compared the queries with the values. Queries meet keys."),
        _wrong(
            "reshaped-not-transposed",
            "You reshaped K where it has to be transposed: the columns are not keys.",
        ),
        _wrong("not-transposed", "K is not transposed: the rows of K have to become columns."),
        _wrong(
            "softmax-over-queries",
            "The columns of your weights add up to 1, not the rows: softmax went over the queries. It goes over the "
            "keys, axis −1.",
        ),
        _wrong("softmax-over-heads", "Softmax went over the heads. It goes over the keys, axis −1."),
        _wrong(
            "softmax-over-axis-1",
            "Softmax went over axis 1. Counted from the front an axis changes its meaning with every leading axis: the "
            "keys are axis −1.",
        ),
        _wrong(
            "softmax-over-axis-2",
            "Softmax went over axis 2. That is right without a batch only: the keys are axis −1.",
        ),
        _wrong(
            "softmax-over-the-matrix",
            "Each head's matrix of weights adds up to 1 as a whole. Every row, one query, has to do so on its own.",
        ),
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
        WrongAnswer("changes-its-input", _in_place, CHANGED),
        _wrong("float32-somewhere", SINGLE, clue="float32"),
        _wrong("half-precision-somewhere", HALF),
    ),
    also_right=(_with(), _by_groups, _by_index, _queries_stacked),
    hints=(
        "How many heads of queries does one head of keys serve, and which ones?",
        "Make K and V as long along axis −3 as Q, each head repeated h_q // h_kv times in a row. Then it is attention as "
        "always.",
        "`np.repeat(K, Q.shape[-3] // K.shape[-3], axis=-3)`, the same for V; then softmax of Q Kᵀ/√d_k along axis −1, "
        "times V.",
    ),
    mistakes=MISTAKES,
    spared=(
        (
            "exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True)) → exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True) / 2)",
            "the prompt promises scores up to ±1000, and exp(500) is far from overflowing",
        ),
    ),
)
