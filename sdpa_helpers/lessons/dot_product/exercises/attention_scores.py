"""Lesson 01, exercise `attention_scores`: every query against every key."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.ready_made import READY_ATTENTION

PROMPT = r"""`attention_scores(Q, K)`: every query against every key, $S = QK^{\mathsf T}$, with no scaling.

- `Q`, shape `(..., n_q, d_k)`: one query a row.
- `K`, shape `(..., n_k, d_k)`: one key a row. `n_k` need not be `n_q`; `d_k` is shared.
- Returns shape `(..., n_q, n_k)`: entry `[..., i, j]` is the dot product of query `i` and key `j`.

Example: {example:1}: two queries, three keys.

With a batch in front, `Q` of shape `(7, 2, 3)` and `K` of shape `(7, 5, 3)` give `(7, 2, 5)`.
"""


def attention_scores(Q, K):
    """Raw scores: Q (..., n_q, d_k), K (..., n_k, d_k) -> (..., n_q, n_k)."""
    return Q @ np.swapaxes(K, -1, -2)


def _scores_by_loops(Q, K):
    out = np.empty((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    for i in range(Q.shape[-2]):
        for j in range(K.shape[-2]):
            out[..., i, j] = np.sum(Q[..., i, :] * K[..., j, :], axis=-1)
    return out


def _scores_changing_inputs(Q, K):
    Q /= 1.0
    return Q @ np.swapaxes(K, -1, -2)


def _pairs(rng, n_q, n_k, d_k, *batch):
    return rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k))


def _length_products(Q, K):
    return np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]


def _unit_rows(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


EXERCISE = Exercise(
    name="attention_scores",
    lesson="01_dot_product",
    title="Every query against every key",
    prompt=PROMPT,
    examples=(Example(([[1, 0, -1], [0, 1, 0]], [[1, 0, -0.5], [0, 2, 0], [2, 0, 2]])),),
    section="5. All pairs at once",
    difficulty=2,
    minutes=10,
    reference=attention_scores,
    cases=(
        Case("three queries, five keys", lambda rng: _pairs(rng, 3, 5, 4)),
        Case(
            "as many queries as keys",
            lambda rng: _pairs(rng, 4, 4, 4),
            says="A square matrix hides a missing transpose.",
        ),
        Case("a batch of two", lambda rng: _pairs(rng, 3, 5, 7, 2)),
        Case("batch and heads", lambda rng: _pairs(rng, 2, 5, 3, 4, 6)),
        Case(
            "read-only, strided and large",
            lambda rng: tuple(read_only_strided(x * 200) for x in _pairs(rng, 5, 3, 6, 2)),
        ),
    ),
    wrong=(
        WrongAnswer(
            "reshaped-not-transposed",
            lambda Q, K: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]),
            "You reshaped K where it has to be transposed. Reshaping keeps the numbers in memory order and cuts "
            "them into new rows, so the rows are no longer keys.",
            ("Print K and your version of Kᵀ for a 2 by 3 matrix: is column j the j-th key?",),
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda Q, K: Q @ K.T,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
            ("np.swapaxes or np.matrix_transpose say which axes they mean.",),
        ),
        WrongAnswer(
            "not-transposed",
            lambda Q, K: Q @ K,
            "K is not transposed: the rows of K have to become columns, so that row i of Q meets key j.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            lambda Q, K: K @ np.swapaxes(Q, -1, -2),
            "Queries and keys are swapped: rows must belong to queries and columns to keys.",
            ("Entry [i, j] should be the score of query i with key j.",),
        ),
        WrongAnswer(
            "queries-with-queries",
            lambda Q, K: Q @ np.swapaxes(Q, -1, -2),
            "You scored the queries against themselves: K never comes in.",
        ),
        WrongAnswer(
            "features-with-features",
            lambda Q, K: np.swapaxes(Q, -1, -2) @ K,
            "You summed over the positions instead of the components: the transpose is on the wrong factor.",
        ),
        WrongAnswer(
            "elementwise",
            lambda Q, K: Q * K,
            "`*` multiplies entry by entry. All pairs of rows need a matrix product.",
        ),
        WrongAnswer(
            "row-by-row-only",
            lambda Q, K: np.sum(Q * K, axis=-1),
            "You compared query i with key i alone. Attention needs every query with every key.",
        ),
        WrongAnswer(
            "scaled-already",
            lambda Q, K: Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]),
            "You divided by √d_k. The raw scores QKᵀ are asked for; the scale is lesson 02's subject.",
        ),
        WrongAnswer(
            "cosine-not-dot",
            lambda Q, K: _unit_rows(Q) @ np.swapaxes(_unit_rows(K), -1, -2),
            "These are cosines: you divided the lengths away. Raw scores keep them.",
        ),
        WrongAnswer(
            "softmax-already",
            lambda Q, K: softmax(Q @ np.swapaxes(K, -1, -2)),
            "You applied softmax: these are weights. The scores before it are asked for.",
        ),
        WrongAnswer(
            "absolute-value",
            lambda Q, K: np.abs(Q @ np.swapaxes(K, -1, -2)),
            "You dropped the signs: a negative score says that query and key point apart.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda Q, K: np.dot(Q, np.swapaxes(K, -1, -2)),
            "With more than two axes np.dot (and np.inner) pair every batch entry with every other. Use `@` or "
            "np.matmul, which keep the batch entries apart.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda Q, K: np.einsum("id,jd->ij", Q, K),
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "first-batch-entry-only",
            lambda Q, K: Q[(0,) * (Q.ndim - 2)] @ K[(0,) * (K.ndim - 2)].T,
            "Only the first batch entry was used: the leading axes are gone.",
        ),
        WrongAnswer(
            "single-precision",
            lambda Q, K: (Q.astype(np.float32) @ np.swapaxes(K.astype(np.float32), -1, -2)).astype(
                np.float64
            ),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scores_changing_inputs,
            "Your function writes into the caller's array. Make a new array instead of using `/=` or `out=` on Q or K.",
        ),
    ),
    also_right=(
        lambda Q, K: np.einsum("...id,...jd->...ij", Q, K),
        lambda Q, K: np.matmul(Q, K.swapaxes(-2, -1)),
        lambda Q, K: np.matrix_transpose(K @ np.matrix_transpose(Q)),
        lambda Q, K: np.sum(Q[..., :, None, :] * K[..., None, :, :], axis=-1),
        _scores_by_loops,
    ),
    hints=(
        "Write down the shapes: (..., n_q, d_k) and (..., n_k, d_k) have to become (..., n_q, n_k).",
        "A matrix product sums over the left's last axis and the right's second last: turn K's last two axes.",
        "`np.swapaxes(K, -1, -2)` has shape (..., d_k, n_k). What is left is one `@`.",
    ),
    invariants=(
        Invariant(
            "larger-than-lengths-allow",
            "At least one score is larger than ‖q‖‖k‖, which no dot product can be (Cauchy–Schwarz).",
            lambda inputs, s: bool(np.all(np.abs(s) <= _length_products(*inputs) * (1 + 1e-9))),
        ),
    ),
    forbids=(READY_ATTENTION,),
)
