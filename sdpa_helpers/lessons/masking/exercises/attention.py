"""Lesson 05, exercise `attention`: scaled dot-product attention, with a mask."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only, strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.masking.exercises.mask_factors import (
    HIDING,
    MEANING,
    NUMERICS,
    SAYS,
    Hiding,
    Numerics,
    Sums,
    by_index,
    rows_opened,
    weigh,
)
from sdpa_helpers.lessons.masking.exercises.masked_softmax import masked_softmax
from sdpa_helpers.lessons.masking.exercises.ways_to_mask import (
    LEVELS,
    added,
    fill,
    global_maximum_unguarded,
    hide,
    lengths_mask,
    mask_then_renormalise,
    mask_then_renormalise_guarded,
    rows_add_up,
    rows_hidden,
    seen,
    share,
    softmax,
    some_empty_rows,
    unguarded,
    with_epsilon,
    without_maximum_unguarded,
    zero_scores_hidden,
)
from sdpa_helpers.lessons.torch_habits import TRANSPOSE_OF_TORCH

PROMPT = r"""`attention(Q, K, V, mask=None)`: the whole of it,

$$\mathrm{softmax}\!\left(\frac{QK^{\mathsf T}}{\sqrt{d_k}}\right) V$$

- `Q`, shape `(..., n_q, d_k)`; `K`, shape `(..., n_k, d_k)`; `V`, shape `(..., n_k, d_v)`. All four sizes may differ.
- `mask`: None, or dtype bool with True = may attend. It broadcasts to `(..., n_q, n_k)`.
- Returns a tuple `(output, weights)` of shapes `(..., n_q, d_v)` and `(..., n_q, n_k)`.
- A query that may attend to nothing gets weights 0 and output 0. Other rows of the same batch are not affected.
- Scores of ±1000 must not overflow. Don't change the arrays you are given.

Example: {inputs:1}. The scores are $2/\sqrt2$, 0 and hidden; output and weights are {result:1}.

This is the central exercise of the course. You may call what you wrote above.
"""


def attention(Q, K, V, mask=None):
    """Attention: Q, K, V, bool mask -> (output (..., n_q, d_v), weights (..., n_q, n_k))."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    largest = np.where(largest == -np.inf, 0.0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total == 0, 1.0, total)
    return weights @ V, weights


def _turn(x):
    return np.swapaxes(x, -1, -2)


def _without_maximum(x):
    e = np.exp(x)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1.0, total)


def _global_maximum(x):
    return _without_maximum(x - x.max())


def _hard(x):
    return np.where(seen(x), x == x.max(axis=-1, keepdims=True), 0.0)


def _sigmoid(x):
    return np.where(seen(x), 1 / (1 + np.exp(-np.where(seen(x), x, 0.0))), 0.0)


def _one_more_key(mask):
    wider = mask.copy()
    wider[..., 1:] |= mask[..., :-1]
    return wider


def _diagonal(scores):
    return np.eye(*scores.shape[-2:], dtype=bool)


def _scaled(Q, K, V):
    return Q @ _turn(K) / np.sqrt(Q.shape[-1])


def _attend(score=_scaled, hide=hide, softmax=softmax, mix=None) -> Callable:
    """An attention made of pieces. mix(weights, V, Q, K): what is returned, when not (weights @ V, weights)."""

    def attention(Q, K, V, mask=None):
        scores = score(Q, K, V)
        if mask is not None:
            scores = hide(scores, mask)
        weights = softmax(scores)
        return (weights @ V, weights) if mix is None else mix(weights, V, Q, K)

    return attention


def _factor(number: Callable) -> Callable:
    """Attention with another factor in place of 1/√d_k."""
    return _attend(lambda Q, K, V: Q @ _turn(K) * number(Q, K, V))


def _quarter_powers(Q, K, V):
    root = Q.shape[-1] ** 0.25
    return (Q / root) @ _turn(K / root)


def _unit(X):
    length = np.linalg.norm(X, axis=-1, keepdims=True)
    return X / np.where(length == 0, 1.0, length)


def _cosines(Q, K, V):
    return _unit(Q) @ _turn(_unit(K))


def _reshaped(Q, K, V):
    return Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])


def _distances(Q, K, V):
    return -np.linalg.norm(Q[..., :, None, :] - K[..., None, :, :], axis=-1) / np.sqrt(Q.shape[-1])


def _after_softmax(Q, K, V, mask=None):
    weights = softmax(_scaled(Q, K, V))
    weights = weights if mask is None else weights * mask
    return weights @ V, weights


def _after_softmax_divided(Q, K, V, mask=None):
    weights = softmax(_scaled(Q, K, V))
    weights = weights if mask is None else mask_then_renormalise(_scaled(Q, K, V), mask)
    return weights @ V, weights


def _after_softmax_guarded(Q, K, V, mask=None):
    weights = softmax(_scaled(Q, K, V))
    weights = weights if mask is None else mask_then_renormalise_guarded(_scaled(Q, K, V), mask)
    return weights @ V, weights


def _weights_of_unmasked(Q, K, V, mask=None):
    return attention(Q, K, V, mask)[0], softmax(_scaled(Q, K, V))


def _scores_for_weights(Q, K, V, mask=None):
    scores = _scaled(Q, K, V)
    return attention(Q, K, V, mask)[0], scores if mask is None else hide(scores, mask)


def _nan_only_in_weights(Q, K, V, mask=None):
    scores = _scaled(Q, K, V)
    weights = unguarded(scores if mask is None else hide(scores, mask))
    return np.nan_to_num(weights @ V), weights


def _average_of_empty_rows(Q, K, V, mask=None):
    scores = _scaled(Q, K, V)
    if mask is None:
        return attention(Q, K, V)
    weights = unguarded(np.where(mask, scores, -1e30))
    return weights @ V, np.where(mask, weights, 0.0)


def _transposed_as_in_torch(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else hide(scores, mask))
    return weights @ V, weights


def _all_or_nothing(Q, K, V, mask=None):
    output, weights = attention(Q, K, V, mask)
    if mask is not None and not mask.any(axis=-1).all():
        return 0 * output, 0 * weights
    return output, weights


def _always_causal(Q, K, V, mask=None):
    triangle = np.tri(Q.shape[-2], K.shape[-2], dtype=bool)
    return attention(Q, K, V, triangle if mask is None else triangle & mask)


def _zero_keys_hidden(Q, K, V, mask=None):
    real = K.any(axis=-1)[..., None, :]
    return attention(Q, K, V, real if mask is None else real & mask)


def _truth_of_the_mask(Q, K, V, mask=None):
    mask = mask or np.True_
    return attention(Q, K, V, mask)


def _in_place(Q, K, V, mask=None):
    Q /= np.sqrt(Q.shape[-1])
    return _attend(lambda Q, K, V: Q @ _turn(K))(Q, K, V, mask)


def _in_float32(Q, K, V, mask=None):
    output, weights = _in_dtype(np.float32)(Q, K, V, mask)
    return output.astype(float), weights.astype(float)


def _in_dtype(dtype) -> Callable:
    def attention_(Q, K, V, mask=None):
        Q, K, V = (x.astype(dtype) for x in (Q, K, V))
        return _attend(lambda Q, K, V: Q @ _turn(K) / dtype(np.sqrt(Q.shape[-1])))(Q, K, V, mask)

    return attention_


def _first_entry(Q, K, V, mask=None):
    at = (0,) * (Q.ndim - 2)
    output, weights = attention(Q, K, V, mask)
    return output[at], weights[at]


def _two_axes(Q, K, V, mask=None):
    scores = np.einsum("id,jd->ij", Q, K) / np.sqrt(Q.shape[-1])
    weights = softmax(scores if mask is None else hide(scores, mask))
    return weights @ V, weights


def _with_einsum(Q, K, V, mask=None):
    scores = np.einsum("...id,...jd->...ij", Q, K) * Q.shape[-1] ** -0.5
    weights = masked_softmax(scores, True if mask is None else mask)
    return np.einsum("...ij,...jd->...id", weights, V), weights


def _with_loops(Q, K, V, mask=None):
    lead = Q.shape[:-2]
    output, weights = np.zeros((*Q.shape[:-1], V.shape[-1])), np.zeros((*Q.shape[:-1], K.shape[-2]))
    allowed = np.broadcast_to(True if mask is None else mask, weights.shape)
    for at in np.ndindex(*lead):
        for i in range(Q.shape[-2]):
            keys = [j for j in range(K.shape[-2]) if allowed[at][i, j]]
            scores = [Q[at][i] @ K[at][j] / np.sqrt(Q.shape[-1]) for j in keys]
            e = [np.exp(s - max(scores)) for s in scores]
            for j, numerator in zip(keys, e, strict=True):
                weights[at][i, j] = numerator / sum(e)
                output[at][i] += weights[at][i, j] * V[at][j]
    return output, weights


def _with_log_of_mask(Q, K, V, mask=None):
    scores = _scaled(Q, K, V)
    if mask is not None:
        with np.errstate(divide="ignore"):
            scores = scores + np.log(mask.astype(float))
    with np.errstate(invalid="ignore"):
        weights = np.nan_to_num(unguarded(scores))
    return weights @ V, weights


def _with_large_finite_fill(Q, K, V, mask=None):
    scores = _scaled(Q, K, V)
    if mask is None:
        weights = unguarded(scores)
    else:
        weights = unguarded(np.where(mask, scores, -1e9)) * np.any(mask, axis=-1, keepdims=True)
    return weights @ V, weights


def _with_large_finite_number_added(Q, K, V, mask=None):
    weights = unguarded(_scaled(Q, K, V) + (0.0 if mask is None else (1.0 - mask) * -1e9))
    weights = weights if mask is None else np.where(mask, weights, 0.0)
    return weights @ V, weights


def _inputs(rng, n_q, n_k, d_k, d_v, *batch):
    return (
        rng.normal(size=(*batch, n_q, d_k)),
        rng.normal(size=(*batch, n_k, d_k)),
        rng.normal(size=(*batch, n_k, d_v)),
    )


def _large(rng):
    """Rows of scaled scores around 1000, −1000, 200 and −200."""
    Q, K, V = _inputs(rng, 4, 6, 5, 3, 2)
    Q *= 4  # far enough apart for weights below a thousandth
    Q[..., 0] = np.array([1000.0, -1000.0, 200.0, -200.0]) * np.sqrt(5)
    K[..., 0] = 1.0
    K[..., 2, 0] = -1.0  # in a row, too, scores lie far apart
    return Q, K, V


def _causal(rng):
    """A square causal mask; one key is the zero vector."""
    Q, K, V = _inputs(rng, 6, 6, 5, 3)
    K[2] = 0.0
    return tuple(read_only(x) for x in (Q, K, V, np.tri(6, dtype=bool)))


def _zero_scores(rng):
    """Half of the keys are at right angles to every query. The values are such that with 0 for each hidden score
    the output is nearly 0: then a hidden score of −1e-9 can be told from one of 0."""
    Q, K, V = _inputs(rng, 3, 6, 4, 2)
    Q[:, 2:], K[:3, :2] = 0.0, 0.0
    mask = np.tri(3, 6, k=2, dtype=bool)
    if_zero = softmax(_scaled(Q, K, V) * mask)
    V = V - np.linalg.pinv(if_zero) @ (if_zero @ V) + 1e-4 * rng.uniform(1, 2, size=2)
    return Q, K, V, mask


def _giants(rng):
    """Scaled scores far below zero where the mask allows, far above where it hides."""
    Q, K, V = _inputs(rng, 4, 6, 5, 3, 2, 3)
    mask = np.broadcast_to(np.arange(6) % 2 == rng.integers(2), (2, 1, 4, 6)).copy()
    Q[..., 0] = LEVELS * np.sqrt(5)
    K[..., 0] = np.where(mask[:, :, 0, :], -1.0, 1.0)
    return Q, K, V, mask


def _all_equal(rng):
    """Every size is 4, also the batch; the mask has two axes."""
    return (*_inputs(rng, 4, 4, 4, 4, 4), np.tri(4, dtype=bool))


def _one_key(rng):
    Q, K, V = _inputs(rng, 4, 1, 3, 2, 1)
    return Q, K, V, np.array([[True], [False], [True], [True]])


def _padded(rng):
    Q, K, V = (strided(x) for x in _inputs(rng, 4, 7, 5, 6, 2, 3))
    return Q, K, V, lengths_mask(rng, 2, 7)[:, None, None, :]


def _is_softmax_with_other_factor(inputs, weights) -> bool:
    """Whether log-weights are linear in QKᵀ with a slope that is not 1/√d_k."""
    Q, K = inputs[:2]
    if not np.all(weights > 0):
        return False
    scores, logs = Q @ _turn(K), np.log(weights)
    scores = (scores - scores.mean(axis=-1, keepdims=True)).ravel()
    logs = (logs - logs.mean(axis=-1, keepdims=True)).ravel()
    if not (scores @ scores > 0 and logs @ logs > 0):
        return False
    slope = (scores @ logs) / (scores @ scores)
    return bool(np.allclose(logs, slope * scores, atol=1e-6) and abs(slope * np.sqrt(Q.shape[-1]) - 1) > 1e-6)


@dataclass(frozen=True)
class _Rest:
    """What else can be wrong about attention: these are not combined with one another."""

    match: Callable = lambda Q, K, V: Q @ _turn(K)
    mask: Callable = lambda mask, scores: mask
    """The mask that is used, also where none is given."""
    mix: Callable = lambda w, V, Q, K: (w @ V, w)


def _causal_too(mask, scores):
    triangle = np.tri(*scores.shape[-2:], dtype=bool)
    return triangle if mask is None else triangle & mask


def _causal_if_none(mask, scores):
    return np.tri(*scores.shape[-2:], dtype=bool) if mask is None else mask


def _matrices_in_a_batch(w, V, Q, K):
    return ((w @ V)[None], w[None]) if w.ndim == 2 else (w @ V, w)


def _build(scale, rest, meaning, hiding, numerics, sums) -> Callable:
    """An attention whose parts can be wrong."""

    def attention(Q, K, V, mask=None):
        scores = rest.match(Q, K, V) * scale(Q, K, V)
        mask = None if mask is None else meaning(mask)
        weights = weigh(scores, rest.mask(mask, scores), hiding, numerics, sums)
        return rest.mix(weights, V, Q, K)

    return attention


SCALE = Factor(
    "scale",
    lambda Q, K, V: Q.shape[-1] ** -0.5,
    (
        Option("no-scaling", lambda Q, K, V: 1.0),
        Option("divided-by-d_k", lambda Q, K, V: 1 / Q.shape[-1]),
        Option("scaled-by-d_v", lambda Q, K, V: V.shape[-1] ** -0.5),
        Option("scaled-by-n_k", lambda Q, K, V: K.shape[-2] ** -0.5),
        Option("multiplied-by-the-root", lambda Q, K, V: Q.shape[-1] ** 0.5),
        Option("d_k-read-from-axis-1", lambda Q, K, V: Q.shape[1] ** -0.5),
        Option("softmax-of-the-negative", lambda Q, K, V: -(Q.shape[-1] ** -0.5)),
    ),
)
REST = Factor(
    "rest",
    _Rest(),
    (
        Option("all-axes-transposed", _Rest(match=lambda Q, K, V: Q @ K.T)),
        Option("not-transposed", _Rest(match=lambda Q, K, V: Q @ K)),
        Option("reshaped-not-transposed", _Rest(match=_reshaped)),
        Option("values-used-as-keys", _Rest(match=lambda Q, K, V: Q @ _turn(V))),
        Option("queries-and-keys-swapped", _Rest(match=lambda Q, K, V: K @ _turn(Q))),
        Option("mixes-batch-entries", _Rest(match=lambda Q, K, V: np.dot(Q, _turn(K)))),
        Option("mixes-batch-entries", _Rest(match=lambda Q, K, V: np.dot(Q, K.T))),
        Option(
            "mixes-batch-entries",
            _Rest(match=lambda Q, K, V: np.dot(Q, K.T), mix=lambda w, V, Q, K: (np.dot(w, V), w)),
        ),
        Option("always-causal", _Rest(mask=_causal_too)),
        Option("causal-without-a-mask", _Rest(mask=_causal_if_none)),
        Option("extra-leading-axis", _Rest(mix=_matrices_in_a_batch)),
        Option("two-axes-only", _Rest(match=lambda Q, K, V: np.einsum("id,jd->ij", Q, K))),
        Option("keys-used-as-values", _Rest(mix=lambda w, V, Q, K: (w @ K, w))),
        Option("weights-not-returned", _Rest(mix=lambda w, V, Q, K: w @ V)),
        Option("weights-before-output", _Rest(mix=lambda w, V, Q, K: (w, w @ V))),
    ),
)
SUMS = Factor(
    "sums",
    Sums(),
    (
        Option("softmax-over-queries", Sums(-2)),
        Option("softmax-over-axis-0", Sums(0)),
        Option("softmax-over-axis-1", Sums(1)),
        Option("softmax-over-the-matrix", Sums((-2, -1))),
        Option("none-in-place-of-keepdims", Sums(-1, "None", "None")),
        Option("none-in-place-of-keepdims", Sums(-1, "kept", "None")),
    ),
)


EXERCISE = Exercise(
    name="attention",
    lesson="05_masking",
    title="Scaled dot-product attention, with a mask",
    prompt=PROMPT,
    examples=(Example(([[1, 0]], [[2, 0], [0, 5], [9, 9]], [[1], [3], [100]], [[True, True, False]])),),
    difficulty=4,
    minutes=25,
    reference=attention,
    cases=(
        Case("three queries, five keys, no mask", lambda rng: _inputs(rng, 3, 5, 6, 4)),
        Case(
            "scores of ±1000 and ±200",
            _large,
            2,
            says="Every row needs its own maximum: the rows lie far apart.",
        ),
        Case(
            "a causal mask, read-only",
            _causal,
            says="A square mask of True on and below the diagonal; one key is the zero vector.",
        ),
        Case(
            "padding, for a batch with heads",
            _padded,
            2,
            says="The mask has shape (batch, 1, 1, n_k) and broadcasts over heads and queries.",
        ),
        Case(
            "some rows see nothing",
            lambda rng: (*_inputs(rng, 4, 6, 5, 3, 2), some_empty_rows(rng, 2, 4, 6)),
            2,
            says="A query that may attend to nothing gets weights 0 and output 0; the others are as always.",
        ),
        Case(
            "scores of exactly zero",
            _zero_scores,
            says="A score of exactly 0 is a score like any other: its key gets a weight.",
        ),
        Case(
            "hidden keys that would win by far",
            _giants,
            says="What is hidden has no say, neither in the maximum nor in the sum. The mask is (batch, 1, n_q, n_k).",
        ),
        Case(
            "all sizes equal",
            _all_equal,
            says="Batch, queries, keys and widths are all 4: here no error tells that an axis is not the one it should be.",
        ),
        Case(
            "one query",
            lambda rng: _inputs(rng, 1, 5, 6, 4, 2, 1),
            says="Decoding: one query, here with one head. An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "one key, which not every query may see",
            _one_key,
            says="The mask has shape (n_q, 1), the batch has one entry. An axis of length 1 stays, and a query that "
            "does not see the one key gives zeros.",
        ),
        Case(
            "keys and values of length one",
            lambda rng: _inputs(rng, 3, 4, 1, 1, 2),
            says="With d_k = 1 the score is a plain product. An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "a longer text",
            lambda rng: (*_inputs(rng, 36, 40, 11, 10), np.tri(36, 40, k=4, dtype=bool)),
            says="36 queries and 40 keys with a mask: every size is larger than in the other cases.",
        ),
    ),
    wrong=(
        # Rows that see nothing. First, because they often come together with another mistake.
        WrongAnswer(
            "minus-infinity-minus-minus-infinity",
            _attend(softmax=unguarded),
            SAYS["minus-infinity-minus-minus-infinity"],
            ("What is the maximum of a row that is −∞ throughout, and what do you subtract it from?",),
        ),
        WrongAnswer(
            "finite-fill-on-an-empty-row",
            _attend(hide=fill(-1e9), softmax=unguarded),
            SAYS["finite-fill-on-an-empty-row"],
            ("softmax of (−1e9, −1e9, −1e9) is (⅓, ⅓, ⅓).",),
        ),
        WrongAnswer(
            "finite-number-added-on-an-empty-row",
            _attend(hide=lambda s, mask: s + np.where(mask, 0.0, -1e9), softmax=unguarded),
            SAYS["finite-number-added-on-an-empty-row"],
        ),
        # The scale.
        WrongAnswer(
            "no-scaling",
            _factor(lambda Q, K, V: 1.0),
            "The scores are not scaled: divide QKᵀ by √d_k before softmax.",
            ("Compare your weights with softmax(QKᵀ): are they the same?",),
        ),
        WrongAnswer(
            "divided-by-d_k",
            _factor(lambda Q, K, V: 1 / Q.shape[-1]),
            "The scores are divided by d_k: the square root is missing, or √d_k was divided out twice.",
        ),
        WrongAnswer(
            "scaled-by-d_v",
            _factor(lambda Q, K, V: V.shape[-1] ** -0.5),
            "You divided by √d_v, the width of the values. The scores are sums over d_k products.",
        ),
        WrongAnswer(
            "scaled-by-n_k",
            _factor(lambda Q, K, V: K.shape[-2] ** -0.5),
            "You divided by the root of the number of keys. d_k is the length of one key: the LAST axis.",
        ),
        WrongAnswer(
            "scaled-by-n_q",
            _factor(lambda Q, K, V: Q.shape[-2] ** -0.5),
            "You divided by the root of the number of queries. d_k is the length of one query: the LAST axis.",
        ),
        WrongAnswer(
            "multiplied-by-the-root",
            _factor(lambda Q, K, V: Q.shape[-1] ** 0.5),
            "You multiplied by √d_k. It divides.",
        ),
        WrongAnswer(
            "always-divided-by-eight",
            _factor(lambda Q, K, V: 1 / 8),
            "You divide by 8, which is √d_k only when d_k = 64. Take d_k from the shape.",
        ),
        WrongAnswer(
            "d_k-read-from-axis-1",
            _factor(lambda Q, K, V: Q.shape[1] ** -0.5),
            "You read d_k from axis 1. That is right for two axes only; with a batch in front it is another size. "
            "Axis −1 is always d_k.",
        ),
        WrongAnswer(
            "d_k-read-from-axis-0",
            _factor(lambda Q, K, V: Q.shape[0] ** -0.5),
            "You read d_k from axis 0, as `len(Q)` does. Axis −1 is always d_k.",
        ),
        WrongAnswer(
            "scaled-by-all-heads",
            _factor(lambda Q, K, V: (Q.shape[-1] * (Q.shape[-3] if Q.ndim > 3 else 1)) ** -0.5),
            "With heads you divided by √(heads · d_k), the width of the model. d_k is the width of ONE head.",
        ),
        WrongAnswer(
            "fourth-root-once",
            _factor(lambda Q, K, V: Q.shape[-1] ** -0.25),
            "The scores are divided by the fourth root of d_k. If you scale by it, do so on Q and on K.",
        ),
        WrongAnswer(
            "scaled-after-softmax",
            _attend(
                lambda Q, K, V: Q @ _turn(K),
                mix=lambda w, V, Q, K: (w / np.sqrt(Q.shape[-1]) @ V, w / np.sqrt(Q.shape[-1])),
            ),
            "You scaled the weights, after softmax: the rows now add up to 1/√d_k. Scale the scores, before it.",
        ),
        WrongAnswer(
            "output-scaled",
            _attend(lambda Q, K, V: Q @ _turn(K), mix=lambda w, V, Q, K: (w @ V / np.sqrt(Q.shape[-1]), w)),
            "You divided the output by √d_k. The scores have to be divided, before softmax.",
        ),
        # The direction and the numerics of softmax.
        WrongAnswer(
            "softmax-over-queries",
            _attend(softmax=lambda x: softmax(x, -2)),
            "The columns of the weights add up to 1, not the rows: softmax went over the queries. It goes over the "
            "keys, axis −1.",
        ),
        WrongAnswer(
            "softmax-over-axis-0",
            _attend(softmax=lambda x: softmax(x, 0)),
            "Softmax went over axis 0: the queries, or with a batch the batch. It goes over the keys, axis −1.",
        ),
        WrongAnswer(
            "softmax-over-axis-1",
            _attend(softmax=lambda x: softmax(x, 1)),
            "Softmax went over axis 1. That is right for two axes only; axis −1 is right for any number.",
        ),
        WrongAnswer(
            "softmax-over-axis-2",
            _attend(softmax=lambda x: softmax(x, 2)),
            "Softmax went over axis 2. That is right for three axes only; axis −1 is right for any number.",
        ),
        WrongAnswer(
            "softmax-over-the-matrix",
            _attend(softmax=lambda x: softmax(x, (-2, -1))),
            "Each matrix of weights adds up to 1 as a whole. Every row, one query, has to do so on its own.",
        ),
        WrongAnswer(
            "softmax-over-everything",
            _attend(softmax=lambda x: softmax(x, None)),
            "All weights together, the batch included, add up to 1. Every row, one query, has to do so on its own.",
        ),
        WrongAnswer(
            "no-maximum-subtracted",
            _attend(softmax=without_maximum_unguarded),
            SAYS["no-maximum-subtracted"],
        ),
        WrongAnswer(
            "no-maximum-subtracted-but-guarded",
            _attend(softmax=_without_maximum),
            SAYS["no-maximum-subtracted-but-guarded"],
        ),
        WrongAnswer(
            "maximum-of-the-whole-array",
            _attend(softmax=global_maximum_unguarded),
            SAYS["maximum-of-the-whole-array"],
        ),
        WrongAnswer(
            "maximum-of-the-whole-array-but-guarded",
            _attend(softmax=_global_maximum),
            SAYS["maximum-of-the-whole-array-but-guarded"],
        ),
        WrongAnswer(
            "softmax-twice",
            _attend(softmax=lambda x: softmax(softmax(x))),
            "Softmax was applied twice: the weights are nearly equal, and hidden keys have weight again.",
        ),
        WrongAnswer(
            "softmax-of-the-negative",
            _attend(softmax=lambda x: softmax(np.where(seen(x), -x, -np.inf))),
            "The sign is turned round: the worst match gets the largest weight.",
        ),
        WrongAnswer(
            "base-two",
            _attend(softmax=lambda x: softmax(x * np.log(2.0))),
            "You took powers of 2 where powers of e belong (or scaled by log 2 without compensating).",
        ),
        WrongAnswer(
            "exponentials-not-divided",
            _attend(softmax=lambda x: np.exp(x - np.where(seen(m := x.max(-1, keepdims=True)), m, 0.0))),
            "The exponentials are not divided by their sum: a row of weights has to add up to 1.",
        ),
        WrongAnswer(
            "log-softmax",
            _attend(softmax=lambda x: np.log(softmax(x))),
            "These are logarithms of the weights: leave the log out.",
        ),
        # Something else than softmax of dot products.
        WrongAnswer(
            "shares-of-the-scores",
            _attend(softmax=lambda x: share(np.where(seen(x), x, 0.0))),
            "The weights are the scores divided by their sum: negative ones stay negative. Softmax takes exp first.",
        ),
        WrongAnswer(
            "sigmoid-not-softmax",
            _attend(softmax=_sigmoid),
            "Each score went through a sigmoid on its own: the weights of a row do not add up to 1.",
        ),
        WrongAnswer(
            "hard-attention",
            _attend(softmax=_hard),
            "Every query takes only its best key (argmax). Softmax gives every visible key a part.",
        ),
        WrongAnswer(
            "equal-weights",
            _attend(softmax=lambda x: share(seen(x) * 1.0)),
            SAYS["equal-weights"],
        ),
        WrongAnswer(
            "average-of-all-values",
            lambda Q, K, V, mask=None: (
                (w := np.full((*Q.shape[:-1], K.shape[-2]), 1 / K.shape[-2])) @ V,
                w,
            ),
            "Every query gets the plain average of all values: neither the scores nor the mask are used.",
        ),
        WrongAnswer(
            "cosine-not-dot",
            _attend(_cosines),
            "The scores are cosines: the lengths are divided away. Scaled dot products keep them.",
        ),
        WrongAnswer(
            "cosine-then-scaled",
            _attend(lambda Q, K, V: _cosines(Q, K, V) / np.sqrt(Q.shape[-1])),
            "The scores are cosines, and divided by √d_k as well. Scaled dot products keep the lengths.",
        ),
        WrongAnswer(
            "distance-not-dot",
            _attend(_distances),
            "The scores are negative distances. Attention takes dot products.",
        ),
        # Which array goes where.
        WrongAnswer(
            "keys-used-as-values",
            _attend(mix=lambda w, V, Q, K: (w @ K, w)),
            "You mixed the keys. The output is a mixture of the values, V.",
        ),
        WrongAnswer(
            "values-used-as-keys",
            _attend(lambda Q, K, V: Q @ _turn(V) / np.sqrt(Q.shape[-1])),
            "You compared the queries with the values. Queries meet keys; the values come in after softmax.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            _attend(lambda Q, K, V: K @ _turn(Q) / np.sqrt(Q.shape[-1])),
            "Queries and keys are swapped: rows of the scores belong to queries, columns to keys.",
        ),
        WrongAnswer(
            "queries-with-queries",
            _attend(lambda Q, K, V: Q @ _turn(Q) / np.sqrt(Q.shape[-1])),
            "You scored the queries against themselves: K never comes in.",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            _attend(lambda Q, K, V: _reshaped(Q, K, V) / np.sqrt(Q.shape[-1])),
            "You reshaped K where it has to be transposed: the columns of your Kᵀ are not keys.",
        ),
        WrongAnswer(
            "not-transposed",
            _attend(lambda Q, K, V: Q @ K / np.sqrt(Q.shape[-1])),
            "K is not transposed: the rows of K have to become columns, so that row i of Q meets key j.",
        ),
        WrongAnswer(
            "transpose-of-two-axes",
            _transposed_as_in_torch,
            TRANSPOSE_OF_TORCH,
            clue="transpose-of-two-axes",
        ),
        WrongAnswer(
            "all-axes-transposed",
            _attend(lambda Q, K, V: Q @ K.T / np.sqrt(Q.shape[-1])),
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            _attend(lambda Q, K, V: np.dot(Q, _turn(K)) / np.sqrt(Q.shape[-1])),
            "With more than two axes np.dot (like np.tensordot) pairs every batch entry with every other. Use `@`.",
        ),
        WrongAnswer(
            "two-axes-only",
            _two_axes,
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "first-batch-entry-only",
            _first_entry,
            "Only the first batch entry comes back: the leading axes are gone.",
        ),
        WrongAnswer(
            "values-through-softmax",
            _attend(mix=lambda w, V, Q, K: (w @ softmax(V), w)),
            "The values went through softmax too. Only scores become weights; values are content.",
        ),
        WrongAnswer(
            "output-through-softmax",
            _attend(mix=lambda w, V, Q, K: (softmax(w @ V), w)),
            "The output went through softmax. It is a plain average of the values.",
        ),
        WrongAnswer(
            "averaged-over-keys",
            _attend(mix=lambda w, V, Q, K: (w @ V / V.shape[-2], w)),
            "You divided the output by the number of keys. The weights add up to 1 already.",
        ),
        WrongAnswer(
            "values-returned",
            _attend(mix=lambda w, V, Q, K: (V + 0.0, w)),
            "The values come back as they were: they have to be mixed, weights @ V.",
        ),
        WrongAnswer(
            "weights-times-values-elementwise",
            _attend(mix=lambda w, V, Q, K: (w * V, w)),
            "`*` multiplies entry by entry. The sum over the keys needs a matrix product, `@`.",
        ),
        WrongAnswer(
            "weights-transposed-before-mixing",
            _attend(mix=lambda w, V, Q, K: (_turn(w) @ V, w)),
            "The weights are transposed before they meet V: row i of the weights belongs to query i.",
        ),
        # What is returned.
        WrongAnswer(
            "weights-not-returned",
            _attend(mix=lambda w, V, Q, K: w @ V),
            "You return the output alone. Return the weights too: (output, weights).",
        ),
        WrongAnswer(
            "output-not-returned",
            _attend(mix=lambda w, V, Q, K: w),
            "Only the weights came back: return (output, weights).",
        ),
        WrongAnswer(
            "zeros-returned",
            lambda Q, K, V, mask=None: (
                np.zeros((*Q.shape[:-1], V.shape[-1])),
                np.zeros((*Q.shape[:-1], K.shape[-2])),
            ),
            "Everything is zero: the arrays have the right shapes, but nothing was written into them.",
        ),
        WrongAnswer(
            "only-the-values-returned",
            lambda Q, K, V, mask=None: V,
            "V came back as it was: no attention happened.",
        ),
        WrongAnswer(
            "weights-before-output",
            _attend(mix=lambda w, V, Q, K: (w, w @ V)),
            "The two results are in the wrong order: first the output, then the weights.",
        ),
        WrongAnswer(
            "list-not-tuple",
            _attend(mix=lambda w, V, Q, K: [w @ V, w]),
            "You returned a list. `return output, weights` makes a tuple.",
        ),
        WrongAnswer(
            "output-transposed",
            _attend(mix=lambda w, V, Q, K: (_turn(w @ V), w)),
            "The output is transposed: one row for each query, d_v columns.",
        ),
        WrongAnswer(
            "returned-weights-transposed",
            _attend(mix=lambda w, V, Q, K: (w @ V, _turn(w))),
            "The weights that you return are transposed: one row for each query, one column for each key.",
        ),
        WrongAnswer(
            "scores-not-weights",
            _scores_for_weights,
            "The second result holds the scores. The weights are what softmax made of them.",
        ),
        WrongAnswer(
            "weights-without-the-mask",
            _weights_of_unmasked,
            "Only the output was made with the mask; the weights that you return were made without it.",
        ),
        WrongAnswer(
            "weights-rounded",
            _attend(softmax=lambda x: np.round(softmax(x), 4)),
            "The weights are rounded. Round when you print, never while you compute.",
        ),
        # The mask.
        WrongAnswer(
            "mask-ignored",
            lambda Q, K, V, mask=None: attention(Q, K, V),
            SAYS["mask-ignored"],
        ),
        WrongAnswer(
            "mask-inverted",
            _attend(hide=lambda s, mask: hide(s, ~mask)),
            SAYS["mask-inverted"],
            ("nn.MultiheadAttention means the opposite by True; here it is as in torch's fused call.",),
        ),
        WrongAnswer(
            "hidden-where-the-mask-is-true",
            _attend(hide=lambda s, mask: s + mask * -1e9, softmax=unguarded),
            "A number like −1e9 is added where the mask is True, which is right for masks as in TensorFlow's tutorial, where "
            "1 means hidden. Here True means that this query MAY attend. And in a row in which everything is hidden an "
            "added number cancels: such a row has to give zeros.",
        ),
        WrongAnswer(
            "mask-added-as-0-and-1",
            _attend(hide=lambda s, mask: s + mask),
            SAYS["mask-added-as-0-and-1"],
        ),
        WrongAnswer(
            "mask-multiplied-into-scores",
            _attend(hide=fill(0.0)),
            "Hidden scores became 0, or as good as 0: by multiplying with the mask, or by a fill of 0. A score of 0 "
            "still has weight e⁰ = 1 before the division.",
        ),
        WrongAnswer(
            "fill-of-minus-1e-9",
            _attend(hide=fill(-1e-9)),
            "The fill is −1e-9, which is almost 0: one minus sign too many. −1e9 was meant; −np.inf is better.",
        ),
        WrongAnswer(
            "fill-of-minus-e",
            _attend(hide=fill(-np.e)),
            "The fill is −e = −2.718. A number like −1e9 was meant; −np.inf is better.",
        ),
        WrongAnswer(
            "fill-of-minus-one",
            _attend(hide=fill(-1.0)),
            "Hidden scores are set to −1, an ordinary score. −np.inf gives the weight 0.",
        ),
        WrongAnswer(
            "fill-of-minus-ten",
            _attend(hide=fill(-10.0)),
            SAYS["fill-of-minus-ten"],
        ),
        WrongAnswer(
            "fill-of-minus-hundred",
            _attend(hide=fill(-100.0)),
            SAYS["fill-of-minus-hundred"],
        ),
        WrongAnswer(
            "fill-of-minus-thousand",
            _attend(hide=fill(-1000.0)),
            SAYS["fill-of-minus-thousand"],
        ),
        WrongAnswer(
            "fill-of-minus-ten-thousand",
            _attend(hide=fill(-1e4)),
            SAYS["fill-of-minus-ten-thousand"],
        ),
        WrongAnswer(
            "nan-left-in-the-weights",
            _nan_only_in_weights,
            "The output is repaired, but the weights of an empty row are still NaN. They have to be zeros too.",
        ),
        WrongAnswer(
            "empty-row-averages-the-values",
            _average_of_empty_rows,
            "The weights of an empty row are 0, and its output is not: it is the plain mean of the values, as equal "
            "weights make it. Both have to be 0: repair the weights before they meet V.",
        ),
        WrongAnswer(
            "one-empty-row-empties-all",
            _all_or_nothing,
            "One row without a visible key made everything zero. Only that row has to be zero.",
        ),
        WrongAnswer(
            "masked-after-softmax",
            _after_softmax,
            SAYS["masked-after-softmax"],
        ),
        WrongAnswer(
            "masked-after-softmax-then-divided",
            _after_softmax_divided,
            SAYS["masked-after-softmax-then-divided"],
        ),
        WrongAnswer(
            "hidden-key-sets-the-maximum",
            _after_softmax_guarded,
            SAYS["hidden-key-sets-the-maximum"],
        ),
        WrongAnswer(
            "infinity-times-zero",
            _attend(hide=lambda s, mask: s + (1 - mask) * -np.inf),
            SAYS["infinity-times-zero"],
        ),
        WrongAnswer(
            "query-rows-hidden",
            _attend(hide=rows_hidden),
            SAYS["query-rows-hidden"],
        ),
        WrongAnswer(
            "mask-transposed",
            _attend(hide=lambda s, mask: hide(s, _turn(mask))),
            SAYS["mask-transposed"],
        ),
        WrongAnswer(
            "zero-scores-hidden",
            _attend(hide=zero_scores_hidden),
            SAYS["zero-scores-hidden"],
        ),
        WrongAnswer(
            "zero-keys-hidden",
            _zero_keys_hidden,
            "You left out keys that are zero vectors. A zero vector scores 0, which is a score like any other; only "
            "the mask hides.",
        ),
        WrongAnswer(
            "always-causal",
            _always_causal,
            "You apply a causal mask of your own. Only the mask that is passed in counts.",
        ),
        WrongAnswer(
            "causal-without-a-mask",
            lambda Q, K, V, mask=None: attention(
                Q, K, V, np.tri(Q.shape[-2], K.shape[-2], dtype=bool) if mask is None else mask
            ),
            "Where no mask is given you return causal attention. mask=None hides nothing.",
        ),
        WrongAnswer(
            "one-more-key-visible",
            _attend(hide=lambda s, mask: hide(s, _one_more_key(mask))),
            "Each query also sees the key after the last one allowed: with a causal mask that is one step of the "
            "future. Off by one?",
        ),
        WrongAnswer(
            "own-position-hidden",
            _attend(hide=lambda s, mask: hide(s, mask & ~_diagonal(s))),
            "Query i no longer sees key i, although the mask allows it. Causal means up to AND including itself.",
        ),
        WrongAnswer(
            "own-position-always-visible",
            _attend(hide=lambda s, mask: hide(s, mask | _diagonal(s))),
            "Query i always sees key i, even where the mask hides it. The mask decides.",
        ),
        WrongAnswer(
            "first-row-of-the-mask",
            _attend(hide=lambda s, mask: hide(s, mask[..., :1, :])),
            "The first row of the mask was used for every query.",
        ),
        WrongAnswer(
            "mask-not-broadcast",
            _attend(hide=by_index),
            SAYS["mask-not-broadcast"],
        ),
        WrongAnswer(
            "first-mask-of-the-batch",
            _attend(hide=lambda s, mask: hide(s, mask.reshape(-1, *mask.shape[-2:])[0])),
            SAYS["first-mask-of-the-batch"],
        ),
        WrongAnswer(
            "empty-rows-opened",
            _attend(hide=lambda s, mask: hide(s, rows_opened(mask))),
            SAYS["empty-rows-opened"],
        ),
        WrongAnswer(
            "truth-of-an-array",
            _truth_of_the_mask,
            "Python cannot say whether an array is true: `if mask`, `mask or ...` and `not mask` raise an error as soon "
            "as it holds more than one entry. Ask `if mask is not None`.",
            clue="truth-of-array",
        ),
        WrongAnswer(
            "finite-number-added-too-small",
            _attend(hide=added(-1e4), softmax=unguarded),
            SAYS["finite-number-added-too-small"],
        ),
        WrongAnswer(
            "no-maximum-and-nan-to-zero",
            _attend(softmax=lambda x: np.nan_to_num(without_maximum_unguarded(x))),
            SAYS["no-maximum-and-nan-to-zero"],
        ),
        WrongAnswer(
            "none-in-place-of-keepdims",
            _build(SCALE.right, _Rest(), MEANING.right, Hiding(), Numerics(), Sums(-1, "None", "None")),
            "`[:, None]` puts an axis at the second place. With a batch that is the wrong one: use keepdims=True, or "
            "`[..., None]`.",
        ),
        # Manners and digits. The low-precision ones come last: their tolerance is wide.
        WrongAnswer(
            "changes-its-input",
            _in_place,
            "Your function writes into the caller's array. Make a new array: no `/=`, `*=`, `out=` or `x[...] =` on "
            "what you were given; np.where makes one.",
        ),
        WrongAnswer(
            "epsilon-in-the-denominator",
            _attend(softmax=with_epsilon(1e-6)),
            SAYS["epsilon-in-the-denominator"],
        ),
        WrongAnswer(
            "float32-somewhere",
            _in_float32,
            "Somewhere your numbers passed through float32, which keeps about seven digits, as with "
            "`np.float32(d_k)`. Stay in the dtype that you were given.",
            clue="float32",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            _in_dtype(np.float16),
            "Right to about three digits only: your numbers passed through float16. Stay in the dtype that you were "
            "given.",
        ),
    ),
    also_right=(
        _with_einsum,
        _with_loops,
        _with_log_of_mask,
        _with_large_finite_fill,
        _with_large_finite_number_added,
        _attend(_quarter_powers),
        _attend(lambda Q, K, V: (Q / np.sqrt(Q.shape[-1])) @ _turn(K)),
        _attend(lambda Q, K, V: Q @ _turn(K / np.sqrt(K.shape[-1]))),
        _attend(hide=lambda s, mask: s + np.where(mask, 0.0, -np.inf)),
        _attend(softmax=lambda x: np.nan_to_num(unguarded(x))),
        _attend(softmax=with_epsilon(1e-300)),
        lambda Q, K, V, mask=None: (
            (w := masked_softmax(_scaled(Q, K, V), np.True_ if mask is None else mask)) @ V,
            w,
        ),
    ),
    hints=(
        "Write the shape beside each line: scores and weights are (..., n_q, n_k), the output (..., n_q, d_v). Where "
        "does the mask come in?",
        "Four steps: QKᵀ/√d_k; −∞ where the mask is False; softmax along the keys with the row's own maximum; times V. "
        "A row that is −∞ throughout needs care twice: its maximum and its sum.",
        "`scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])`, then `np.where(mask, scores, -np.inf)` if there "
        "is a mask. Replace a maximum of −∞ by 0 and a sum of 0 by 1. Return `weights @ V, weights`.",
    ),
    invariants=(
        Invariant(
            "hidden-keys-get-weight",
            "A key that the mask hides has a weight that is not 0.",
            lambda inputs, result: (
                len(inputs) < 4 or bool(np.all(result[1][~np.broadcast_to(inputs[3], result[1].shape)] == 0))
            ),
        ),
        Invariant(
            "rows-do-not-add-up",
            "A row of weights does not add up to what it should: 1, or 0 if it sees nothing.",
            lambda inputs, result: rows_add_up(result[1], inputs[3] if len(inputs) > 3 else None),
        ),
        Invariant(
            "another-scale",
            "Your weights are a softmax of QKᵀ times one number, but the number is not 1/√d_k.",
            lambda inputs, result: not _is_softmax_with_other_factor(inputs, result[1]),
        ),
        Invariant(
            "output-is-not-weights-times-values",
            "The output is not what your weights make of the values: output = weights @ V.",
            lambda inputs, result: bool(np.allclose(result[1] @ inputs[2], result[0], rtol=1e-6, atol=1e-9)),
        ),
    ),
    mistakes=Products((NUMERICS, SCALE, MEANING, HIDING, SUMS, REST), _build),
)
