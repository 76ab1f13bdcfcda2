"""Lesson 08, exercise `linear_attention`: the sums over the keys first, and no matrix of scores."""

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

PROMPT = r"""`linear_attention(Q, K, V)`: attention whose weights are products of features, as Katharopoulos and colleagues proposed in 2020. No mask, no scale:

$$o_i = \frac{\sum_j \big(\varphi(q_i)\cdot\varphi(k_j)\big)\, v_j}{\sum_j \varphi(q_i)\cdot\varphi(k_j)}, \qquad \varphi(x) = \begin{cases} x + 1 & x > 0\\ e^{x} & x \le 0\end{cases} \quad\text{for each coordinate.}$$

- `Q`, shape `(..., n_q, d_k)`; `K`, shape `(..., n_k, d_k)`; `V`, shape `(..., n_k, d_v)`. The numbers in `Q` and `K` lie between −10 and 10.
- Returns shape `(..., n_q, d_v)`.
- Never hold an `n_q × n_k` matrix: sum over the keys first, then let each query read the sums. One case has a thousand queries and a thousand keys and looks at the memory.
- Add nothing to the denominator: it is always positive, even where it is small.

Example: {inputs:1}. φ(Q) is (1, 2) and φ(K) has the rows (1, 1) and (2, 1), so the weights are 3/7 and 4/7, and the output is {result:1}.
"""


def linear_attention(Q, K, V):
    """Linear attention, φ = elu + 1: Q (..., n_q, d_k), K (..., n_k, d_k), V (..., n_k, d_v) -> (..., n_q, d_v)."""
    Q, K = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0.0))) for x in (Q, K))
    state = np.swapaxes(K, -1, -2) @ V
    total = K.sum(axis=-2)[..., None]
    return Q @ state / (Q @ total)


def _features(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0.0)))


def _two_sums(Q, K, V):
    return Q @ (turned(K) @ V), Q @ K.sum(axis=-2)[..., None]


def _causal_sums(Q, K, V):
    seen = np.tri(Q.shape[-2], K.shape[-2]) * (Q @ turned(K))
    return seen @ V, seen.sum(axis=-1, keepdims=True)


def _all_weights_of_two_axes(Q, K, V):
    weights = Q @ K.T
    return weights @ V, weights.sum(axis=-1, keepdims=True)


def _key_by_key(Q, K, V):
    Q, K = _features(Q), _features(K)
    state = np.zeros((*K.shape[:-2], K.shape[-1], V.shape[-1]))
    total = np.zeros((*K.shape[:-2], K.shape[-1]))
    for j in range(K.shape[-2]):
        state += K[..., j, :, None] * V[..., j, None, :]
        total += K[..., j, :]
    return Q @ state / (Q @ total[..., None])


def _by_einsum(Q, K, V):
    Q, K = (np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))) + 1 for x in (Q, K))
    above = np.einsum("...id,...de->...ie", Q, np.einsum("...jd,...je->...de", K, V))
    return above / np.einsum("...id,...d->...i", Q, K.sum(axis=-2))[..., None]


def _ones_beside_the_values(Q, K, V):
    Q, K = _features(Q), _features(K)
    both = Q @ (turned(K) @ np.concatenate([V, np.ones((*V.shape[:-1], 1))], axis=-1))
    return both[..., :-1] / both[..., -1:]


def _all_weights_first(Q, K, V):
    weights = _features(Q) @ turned(_features(K))
    return weights @ V / weights.sum(axis=-1, keepdims=True)


def _softmax_attention(Q, K, V):
    return softmax(Q @ turned(K) / np.sqrt(Q.shape[-1])) @ V


def _one_total_for_all(above, below, Q, K):
    return above / below.sum(axis=-2, keepdims=True)


def _in_place(Q, K, V):
    K[...] = _features(K)
    Q = _features(Q)
    return Q @ (turned(K) @ V) / (Q @ K.sum(axis=-2)[..., None])


def _build(convert, features, sums, divide) -> Callable:
    """Linear attention whose parts can be wrong."""
    of_queries, of_keys = features

    def linear_attention(Q, K, V):
        Q, K, V = (convert(x) for x in (Q, K, V))
        Q, K = of_queries(Q), of_keys(K)
        return divide(*sums(Q, K, V), Q, K)

    return linear_attention


def _both(feature: Callable) -> tuple[Callable, Callable]:
    return feature, feature


MISTAKES = Products(
    (
        Factor(
            "features",
            _both(_features),
            (
                Option("features-left-out", _both(lambda x: x)),
                Option("features-of-queries-only", (_features, lambda x: x)),
                Option("features-of-keys-only", (lambda x: x, _features)),
                Option("elu-without-1", _both(lambda x: _features(x) - 1)),
                Option("relu-not-elu", _both(lambda x: np.maximum(x, 0.0))),
                Option("relu-and-1", _both(lambda x: np.maximum(x, 0.0) + 1)),
                Option("exp-everywhere", _both(np.exp)),
                Option(
                    "exp-without-1-above-0", _both(lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0.0))))
                ),
                Option("exp-and-1", _both(lambda x: np.where(x > 0, x, np.exp(np.minimum(x, 0.0))) + 1)),
                Option("softmax-as-features", (softmax, lambda x: softmax(x, -2))),
                Option("scaled", (lambda x: _features(x / np.sqrt(x.shape[-1])), _features)),
                Option("scaled", _both(lambda x: _features(x / x.shape[-1] ** 0.25))),
            ),
        ),
        Factor(
            "sums",
            _two_sums,
            (
                Option("causal", _causal_sums),
                Option("all-axes-transposed", lambda Q, K, V: (Q @ (K.T @ V), Q @ K.sum(axis=-2)[..., None])),
                Option("all-axes-transposed", _all_weights_of_two_axes),
                Option("keys-used-as-values", lambda Q, K, V: _two_sums(Q, K, K)),
                Option(
                    "only-diagonal-of-the-state",
                    lambda Q, K, V: (Q * (K * V).sum(axis=-2, keepdims=True), _two_sums(Q, K, V)[1]),
                ),
            ),
        ),
        Factor(
            "divide",
            lambda above, below, Q, K: above / below,
            (
                Option("normalizer-left-out", lambda above, below, Q, K: above),
                Option("divided-by-the-number-of-keys", lambda above, below, Q, K: above / K.shape[-2]),
                Option(
                    "normalizer-without-the-query",
                    lambda above, below, Q, K: above / K.sum(axis=(-2, -1))[..., None, None],
                ),
                Option(
                    "normalizer-without-the-keys", lambda above, below, Q, K: above / Q.sum(-1, keepdims=True)
                ),
                Option("normalizer-lost-its-axis", lambda above, below, Q, K: above / below[..., 0]),
                Option("normalizer-lost-its-axis", lambda above, below, Q, K: above / (Q @ K.sum(axis=-2))),
                Option("one-normalizer-for-all-queries", _one_total_for_all),
                *(
                    Option("epsilon-in-the-denominator", lambda above, below, Q, K, e=e: above / (below + e))
                    for e in (1e-6, 1e-8, 1e-5, 1e-12)
                ),
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


def _draw(rng, n_q, n_k, d_k, d_v, *batch):
    return (
        rng.normal(size=(*batch, n_q, d_k)),
        rng.normal(size=(*batch, n_k, d_k)),
        rng.normal(size=(*batch, n_k, d_v)),
    )


def _of_size(rng, n_q, n_k, d_k, d_v):
    return _draw(rng, n_q, n_k, d_k, d_v, 2)


def _far_from_zero(rng):
    """Queries and keys between −10 and −7, and between 7 and 10: tiny and large features."""
    Q, K, V = _draw(rng, 4, 5, 3, 6, 2)
    Q, K = (np.sign(x) * rng.uniform(7, 10, size=x.shape) for x in (Q, K))
    Q[..., :2, :] = -np.abs(Q[..., :2, :])
    K[0] = -np.abs(K[0])
    return Q, K, V


EXERCISE = Exercise(
    name="linear_attention",
    lesson="08_heads_and_variants",
    title="Linear attention",
    prompt=PROMPT,
    examples=(Example(([[0, 1]], [[0, 0], [1, 0]], [[0], [7]])),),
    section="7. Linear attention: leave out the softmax",
    difficulty=3,
    minutes=12,
    reference=linear_attention,
    cases=(
        Case("three queries, five keys", lambda rng: _draw(rng, 3, 5, 4, 7)),
        Case("a batch of two", lambda rng: _draw(rng, 5, 4, 3, 2, 2)),
        Case("two leading axes", lambda rng: _draw(rng, 4, 7, 2, 5, 2, 3)),
        Case(
            "numbers far from 0",
            _far_from_zero,
            says="With −10 in each coordinate of a query its features, and so its denominator, are tiny, and still positive.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _draw(rng, 4, 4, 4, 4, 4),
            says="Every size is 4: no shape can warn you here.",
        ),
        Case("read-only, strided", lambda rng: tuple(map(read_only_strided, _draw(rng, 2, 6, 3, 5)))),
        Case(
            "a thousand queries, a thousand keys",
            lambda rng: _draw(rng, 1000, 1000, 9, 10, 1),
            says="A matrix with a number for each query and key would take 8 MB here. The sums over the keys take "
            "d_k × d_v numbers.",
            peak_bytes=2 * 2**20,
        ),
        *one_of_each(_of_size, only=("n_q", "n_k", "d_k", "d_v"), n_q=3, n_k=5, d_k=6, d_v=7),
    ),
    wrong=(
        _wrong(
            "normalizer-left-out",
            "You did not divide: the weights of a query have to add up to 1. Divide by φ(q) · Σ φ(k).",
            hints=("With V = 1 everywhere, what should come out?",),
        ),
        _wrong(
            "divided-by-the-number-of-keys",
            "You divided by the number of keys. The weights add up to φ(q) · Σ φ(k), which differs from query to query.",
        ),
        _wrong(
            "normalizer-without-the-query",
            "You divided by the sum of the keys' features alone. The query's features belong in the denominator too: "
            "φ(q) · Σ φ(k).",
        ),
        _wrong(
            "normalizer-without-the-keys",
            "You divided by the sum of the query's features alone. The denominator is φ(q) · Σ φ(k).",
        ),
        _wrong(
            "one-normalizer-for-all-queries",
            "You divided by a sum over all queries. Each query has its own denominator.",
        ),
        _wrong(
            "normalizer-lost-its-axis",
            "The denominators have lost their last axis, so they meet the coordinates instead of the queries, or do not "
            "fit. They need shape (..., n_q, 1): use keepdims=True or `[..., None]`.",
        ),
        _wrong(
            "epsilon-in-the-denominator",
            "A small number in the denominator is not small beside features like e⁻¹⁰: it pulls outputs toward 0. The "
            "denominator is positive by itself.",
        ),
        _wrong(
            "features-left-out",
            "φ is missing: you multiplied queries and keys themselves. Such weights can be negative, and their sum 0.",
        ),
        _wrong("features-of-queries-only", "φ is applied to the queries only. The keys need it too."),
        _wrong("features-of-keys-only", "φ is applied to the keys only. The queries need it too."),
        _wrong(
            "elu-without-1", "This is elu itself, which goes down to −1. φ is elu + 1, and always positive."
        ),
        _wrong("relu-not-elu", "You took ReLU. A coordinate below 0 gives e to that power here, not 0."),
        _wrong(
            "relu-and-1", "You took ReLU + 1. A coordinate below 0 gives e to that power, which is below 1."
        ),
        _wrong("exp-everywhere", "You took exp of every coordinate. Above 0 the feature is x + 1."),
        _wrong("exp-without-1-above-0", "Above 0 the feature is x + 1; you have x."),
        _wrong("exp-and-1", "You added 1 below 0 as well. There the feature is eˣ."),
        _wrong(
            "softmax-as-features",
            "Your features are a softmax of the queries and of the keys, as in another paper (Shen et al. 2018). Here φ is "
            "elu + 1.",
        ),
        _wrong("scaled", "You divided by a root of d_k. There is no scale here."),
        WrongAnswer(
            "softmax-attention",
            _softmax_attention,
            "This is softmax attention. Here the weight of a key is φ(q)·φ(k), divided by the sum of these.",
        ),
        WrongAnswer(
            "too-much-memory",
            _all_weights_first,
            "You made the n_q × n_k matrix of all weights first. Multiply φ(K)ᵀ with V before a "
            "query comes in: then it is never needed.",
        ),
        _wrong(
            "all-axes-transposed",
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two, with `np.swapaxes(K, -1, -2)`.",
        ),
        _wrong("causal", "You hid later keys. There is no mask here: every query sees every key."),
        _wrong(
            "keys-used-as-values", "You mixed the keys' features. The output is a mixture of the values, V."
        ),
        _wrong(
            "only-diagonal-of-the-state",
            "You multiplied φ(k) and v coordinate by coordinate. The state holds every product: φ(K)ᵀ V, d_k × d_v "
            "numbers.",
        ),
        WrongAnswer("changes-its-input", _in_place, CHANGED),
        _wrong("float32-somewhere", SINGLE, clue="float32"),
        _wrong("half-precision-somewhere", HALF),
    ),
    also_right=(_with(), _key_by_key, _by_einsum, _ones_beside_the_values),
    hints=(
        "φ(q) does not depend on j. What can be taken out of the two sums over j, and what is left inside?",
        "Inside are Σ φ(k_j) v_jᵀ, a matrix of d_k × d_v numbers, and Σ φ(k_j), a vector. Both are the same for all "
        "queries.",
        "`state = np.swapaxes(phi_K, -1, -2) @ V` and `total = phi_K.sum(axis=-2)[..., None]`. Then `phi_Q @ state` over "
        "`phi_Q @ total`.",
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
            "return Q @ state / (Q @ total) → return Q @ state / np.maximum(Q @ total, 1e-12)",
            "Entries lie between −10 and 10, so the denominator is at least e⁻²⁰ = 2·10⁻⁹.",
        ),
    ),
)
