"""Lesson 01, exercise `attention_scores`: every query against every key."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each
from sdpa_helpers.lessons.torch_habits import TRANSPOSE_OF_TORCH

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


def _one_batch(rng, n_q, n_k, d_k, batch):
    return _pairs(rng, n_q, n_k, d_k, batch)


def _length_products(Q, K):
    return np.linalg.norm(Q, axis=-1)[..., :, None] * np.linalg.norm(K, axis=-1)[..., None, :]


def _unit_rows(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def _turned(K):
    return np.swapaxes(K, -1, -2)


def _reshaped(K):
    return K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])


def _build(roles, turn, scale, after):
    def answer(Q, K):
        A, B = roles(Q, K)
        return after(A @ turn(B) * scale(A, B))

    return answer


MISTAKES = Products(
    (
        Factor(
            "roles",
            lambda Q, K: (Q, K),
            (
                Option("queries-and-keys-swapped", lambda Q, K: (K, Q)),
                Option("queries-with-queries", lambda Q, K: (Q, Q)),
                Option(
                    "keys-with-keys",
                    lambda Q, K: (K, K),
                    "You scored the keys against themselves: Q never comes in.",
                ),
                Option("cosine-not-dot", lambda Q, K: (_unit_rows(Q), _unit_rows(K))),
                Option(
                    "one-side-normalised",
                    lambda Q, K: (Q, _unit_rows(K)),
                    "One side's lengths are divided away. Raw scores keep the lengths of queries and of keys.",
                ),
                Option("one-side-normalised", lambda Q, K: (_unit_rows(Q), K)),
            ),
        ),
        Factor(
            "turn",
            _turned,
            (
                Option("all-axes-transposed", lambda K: K.T),
                Option("not-transposed", lambda K: K),
                Option("transpose-of-two-axes", lambda K: K.transpose(-2, -1)),
                Option("reshaped-not-transposed", _reshaped),
            ),
        ),
        Factor(
            "scale",
            lambda Q, K: 1.0,
            (
                Option("scaled-already", lambda Q, K: Q.shape[-1] ** -0.5),
                Option(
                    "divided-by-d",
                    lambda Q, K: 1 / Q.shape[-1],
                    "Every score is divided by d_k. Return the raw scores: sums, not means.",
                ),
                Option(
                    "scaled-by-another-root",
                    lambda Q, K: Q.shape[-2] ** -0.5,
                    "Every score is divided by the square root of another axis than d_k. Return the raw scores, without a scale.",
                ),
                Option("scaled-by-another-root", lambda Q, K: K.shape[-2] ** -0.5),
                Option("scaled-by-another-root", lambda Q, K: len(Q) ** -0.5),
            ),
        ),
        Factor(
            "after",
            lambda scores: scores,
            (
                Option("softmax-already", softmax),
                Option(
                    "softmax-over-queries",
                    lambda scores: softmax(scores, axis=-2),
                    "A softmax over the queries was applied: every column adds up to 1. The scores before any softmax "
                    "are asked for.",
                ),
                Option("absolute-value", np.abs),
                Option(
                    "negative-cut-off",
                    lambda scores: np.maximum(scores, 0),
                    "Negative scores became 0. A negative score says that query and key point apart: keep it.",
                ),
                Option("sign-turned", lambda scores: -scores, "All signs are flipped."),
                Option(
                    "rounded", lambda scores: np.round(scores, 2), "The scores are rounded. Keep all digits."
                ),
                *(Option("rounded", lambda scores, n=n: np.round(scores, n)) for n in (0, 1, 3, 4, 5, 6)),
                Option(
                    "cut-to-whole-numbers",
                    lambda scores: scores.astype(int),
                    "The scores are cut to whole numbers, as `astype(int)` does. Keep all digits.",
                ),
                Option(
                    "causal-already",
                    lambda scores: np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf),
                    "Keys after the query's own place are at −∞: a causal mask. Don't mask anything here.",
                ),
                Option(
                    "exponentials",
                    np.exp,
                    "These are the exponentials of the scores. Return the scores themselves.",
                ),
            ),
        ),
    ),
    _build,
)


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
        *one_of_each(_one_batch, only=("n_q", "n_k"), n_q=4, n_k=3, d_k=5, batch=2),
        Case(
            "a batch of one, keys of length one",
            lambda rng: _pairs(rng, 3, 4, 1, 1),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _pairs(rng, 4, 4, 4, 4),
            says="Where all sizes are equal any transpose fits, and only one is right.",
        ),
        Case(
            "long rows, many of them",
            lambda rng: _pairs(rng, 12, 15, 40),
            says="Every coordinate counts, and every query and key has its place.",
        ),
    ),
    mistakes=MISTAKES,
    wrong=(
        WrongAnswer(
            "reshaped-not-transposed",
            lambda Q, K: Q @ _reshaped(K),
            "You reshaped K where it has to be transposed. Reshaping keeps the numbers in memory order and cuts "
            "them into new rows, so the rows are no longer keys.",
            ("Print K and your version of Kᵀ for a 2 by 3 matrix: is column j the j-th key?",),
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda Q, K: Q @ K.T,
            "All axes are reversed, those of the batch too: that is what `.T` does. Swap only the last two.",
            ("np.swapaxes or np.matrix_transpose say which axes they mean.",),
            clue="transpose-all",
        ),
        WrongAnswer(
            "not-transposed",
            lambda Q, K: Q @ K,
            "K is not transposed: the rows of K have to become columns, so that row i of Q meets key j.",
        ),
        WrongAnswer(
            "transpose-of-two-axes",
            lambda Q, K: Q @ K.transpose(-2, -1),
            TRANSPOSE_OF_TORCH,
            clue="transpose-of-two-axes",
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
            "You summed over the positions instead of the coordinates: the transpose is on the wrong factor.",
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
            "You divided by √d_k. Return the raw scores QKᵀ; scaling is the subject of lesson 02.",
        ),
        WrongAnswer(
            "cosine-not-dot",
            lambda Q, K: _unit_rows(Q) @ np.swapaxes(_unit_rows(K), -1, -2),
            "These are cosines: you divided the lengths away. Raw scores keep them.",
        ),
        WrongAnswer(
            "softmax-already",
            lambda Q, K: softmax(Q @ np.swapaxes(K, -1, -2)),
            "You applied softmax: these are weights. Return the scores before it.",
        ),
        WrongAnswer(
            "absolute-value",
            lambda Q, K: np.abs(Q @ np.swapaxes(K, -1, -2)),
            "You dropped the signs: a negative score says that query and key point apart.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda Q, K: np.dot(Q, np.swapaxes(K, -1, -2)),
            "With more than two axes np.dot (and np.inner, np.tensordot) pair every batch entry with every other. Use "
            "`@` or "
            "np.matmul, which keep the batch entries apart.",
        ),
        WrongAnswer(
            "two-axes-only",
            lambda Q, K: np.einsum("id,jd->ij", Q, K),
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum, and axes "
            "counted from the end (-1, -2) hold for any number.",
            errors_tell=True,
        ),
        WrongAnswer(
            "hard-coded-axis",
            lambda Q, K: np.einsum("bid,bjd->bij", Q, K),
            "This works for three axes only, one batch of matrices: axes are counted from the front, or a batch is "
            "taken for granted. Count from the end (-1, -2), or write `...` in einsum.",
            errors_tell=True,
        ),
        WrongAnswer(
            "extra-leading-axis",
            lambda Q, K: (
                Q[None] @ np.swapaxes(K[None], -1, -2) if Q.ndim == 2 else Q @ np.swapaxes(K, -1, -2)
            ),
            "There is one axis too many in front, of length 1: without a batch in the inputs there is none in the answer.",
        ),
        WrongAnswer(
            "first-batch-entry-only",
            lambda Q, K: Q[(0,) * (Q.ndim - 2)] @ K[(0,) * (K.ndim - 2)].T,
            "Only the first batch entry was used, and the leading axes are gone.",
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda Q, K: (Q.astype(np.float32) @ np.swapaxes(K.astype(np.float32), -1, -2)).astype(
                np.float64
            ),
            "Somewhere your numbers passed through float32, which keeps about seven digits. Stay in the dtype you "
            "were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scores_changing_inputs,
            "Your function writes into the caller's array. Make a new array: no `/=`, `*=` or `out=` on Q or K, nor "
            "on a part of them.",
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
)
