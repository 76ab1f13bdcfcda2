"""Lesson 02, exercise `scaled_scores`: scaled scores."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only_strided
from sdpa_helpers.checking.ready_made import READY_ATTENTION
from sdpa_helpers.lessons.variance_proof.exercises.shared import unit_rows

PROMPT = r"""`scaled_scores(Q, K)`: every query against every key, divided by $\sqrt{d_k}$.

- `Q`, shape `(..., n_q, d_k)`: one query a row. `K`, shape `(..., n_k, d_k)`: one key a row.
- Returns $QK^{\mathsf T}/\sqrt{d_k}$, shape `(..., n_q, n_k)`, as precise as its input (float64, once float32).
- The leading axes can be any number, also none. Don't change `Q` or `K`.

Example: {example:1}: the raw scores 3 and 1, divided by √3.
"""


def scaled_scores(Q, K):
    """Q K^T / sqrt(d_k): Q (..., n_q, d_k), K (..., n_k, d_k) -> (..., n_q, n_k)."""
    return Q @ np.swapaxes(K, -1, -2) / Q.shape[-1] ** 0.5


def _raw(Q, K):
    return Q @ np.swapaxes(K, -1, -2)


def _scaled_by_loops(Q, K):
    out = np.empty((*Q.shape[:-1], K.shape[-2]), dtype=Q.dtype)
    for i in range(Q.shape[-2]):
        for j in range(K.shape[-2]):
            out[..., i, j] = np.sum(Q[..., i, :] * K[..., j, :], axis=-1) / Q.shape[-1] ** 0.5
    return out


def _scaled_changing_inputs(Q, K):
    Q /= Q.shape[-1] ** 0.5
    return Q @ np.swapaxes(K, -1, -2)


def _pairs(rng, n_q, n_k, d_k, *batch, dtype: type = np.float64):
    Q, K = rng.normal(size=(*batch, n_q, d_k)), rng.normal(size=(*batch, n_k, d_k))
    return Q.astype(dtype), K.astype(dtype)


EXERCISE = Exercise(
    name="scaled_scores",
    lesson="02_variance_proof",
    title="Scaled scores",
    prompt=PROMPT,
    examples=(Example(([[1, 1, 1]], [[1, 1, 1], [1, 0, 0]])),),
    section="6. Four scales, side by side",
    difficulty=2,
    minutes=10,
    reference=scaled_scores,
    cases=(
        Case("three queries, five keys", lambda rng: _pairs(rng, 3, 5, 7)),
        Case(
            "five of everything",
            lambda rng: _pairs(rng, 5, 5, 5),
            says="Square matrices hide a missing transpose and a wrong axis.",
        ),
        Case("a batch of six", lambda rng: _pairs(rng, 3, 5, 10, 6)),
        Case("batch and heads", lambda rng: _pairs(rng, 5, 7, 11, 2, 3)),
        Case(
            "read-only, strided and large",
            lambda rng: tuple(read_only_strided(x * 200) for x in _pairs(rng, 6, 3, 13, 2)),
        ),
        Case(
            "float32",
            lambda rng: _pairs(rng, 2, 3, 6, 4, dtype=np.float32),
            says="float32 in: at least float32 out.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "no-scaling",
            _raw,
            "These are the raw scores QKᵀ: the division by √d_k is missing.",
            ("By how much does each number differ from the right one?",),
        ),
        WrongAnswer(
            "divided-by-d",
            lambda Q, K: _raw(Q, K) / Q.shape[-1],
            "You divided by d_k, or by √d_k twice (once in Q, once in the scores). Divide by √d_k once.",
        ),
        WrongAnswer(
            "multiplied-by-root-d",
            lambda Q, K: _raw(Q, K) * Q.shape[-1] ** 0.5,
            "You multiplied by √d_k: the fraction bar got lost. Divide.",
        ),
        WrongAnswer(
            "root-of-number-of-keys",
            lambda Q, K: _raw(Q, K) / K.shape[-2] ** 0.5,
            "You divided by √n_k, the square root of the number of keys. d_k is the length of ONE key: the last axis.",
        ),
        WrongAnswer(
            "root-of-number-of-queries",
            lambda Q, K: _raw(Q, K) / Q.shape[-2] ** 0.5,
            "You divided by √n_q, the sequence length. d_k is the length of ONE query: the last axis.",
        ),
        WrongAnswer(
            "root-of-first-axis",
            lambda Q, K: _raw(Q, K) / len(Q) ** 0.5,
            "You divided by the square root of the FIRST axis, which `len(Q)` and `Q.shape[0]` give. d_k is the last.",
        ),
        WrongAnswer(
            "root-of-second-axis",
            lambda Q, K: _raw(Q, K) / Q.shape[1] ** 0.5,
            "You divided by the square root of axis 1. That is d_k only for two axes; `shape[-1]` is right for any.",
        ),
        WrongAnswer(
            "root-of-first-axis-of-keys",
            lambda Q, K: _raw(Q, K) / len(K) ** 0.5,
            "You divided by the square root of K's FIRST axis, which `len(K)` and `K.shape[0]` give. d_k is the last.",
        ),
        WrongAnswer(
            "root-of-second-axis-of-keys",
            lambda Q, K: _raw(Q, K) / K.shape[1] ** 0.5,
            "You divided by the square root of K's axis 1. That is d_k for two axes only; `shape[-1]` always is.",
        ),
        WrongAnswer(
            "root-of-model-width",
            lambda Q, K: _raw(Q, K) / (Q.shape[-1] * (Q.shape[-3] if Q.ndim > 2 else 1)) ** 0.5,
            "You divided by the square root of d_k times the number of heads, the model's width. The sum that became "
            "too large has d_k terms: the width of one head.",
        ),
        WrongAnswer(
            "root-of-size",
            lambda Q, K: _raw(Q, K) / Q.size**0.5,
            "You divided by the square root of ALL numbers in Q. Only the length of one query counts.",
        ),
        WrongAnswer(
            "fourth-root-once",
            lambda Q, K: _raw(Q, K) / Q.shape[-1] ** 0.25,
            "You divided by the fourth root of d_k. That is right in Q AND in K; once alone it is half the work.",
        ),
        WrongAnswer(
            "root-of-two-d",
            lambda Q, K: _raw(Q, K) / (2 * Q.shape[-1]) ** 0.5,
            "You divided by √(2d_k). Only the d_k products of one score are added up.",
        ),
        WrongAnswer(
            "always-eight",
            lambda Q, K: _raw(Q, K) / 8,
            "You divided by 8, which is √64. Here d_k is another number: read it off the shape.",
        ),
        WrongAnswer(
            "rounded-root",
            lambda Q, K: _raw(Q, K) // Q.shape[-1] ** 0.5,
            "`//` rounds down. Scores are real numbers: use `/`.",
        ),
        WrongAnswer(
            "root-cut-to-integer",
            lambda Q, K: _raw(Q, K) / int(Q.shape[-1] ** 0.5),
            "The square root was cut to a whole number: √d_k is rarely whole.",
        ),
        WrongAnswer(
            "logarithm-for-root",
            lambda Q, K: _raw(Q, K) / np.log(Q.shape[-1]),
            "You divided by log d_k. The standard deviation grows like the square root.",
        ),
        WrongAnswer(
            "divided-by-measured-spread",
            lambda Q, K: _raw(Q, K) / _raw(Q, K).std(),
            "You divided by the standard deviation of these scores. The scale depends on d_k only, not on the data.",
        ),
        WrongAnswer(
            "divided-by-maximum",
            lambda Q, K: _raw(Q, K) / _raw(Q, K).max(axis=-1, keepdims=True),
            "You divided each row by its maximum. A negative maximum turns the order round; divide by √d_k.",
        ),
        WrongAnswer(
            "cosine-not-scaled-dot",
            lambda Q, K: _raw(unit_rows(Q), unit_rows(K)),
            "These are cosines: you divided by the lengths ‖q‖‖k‖ of the vectors. d_k is the number of coordinates.",
        ),
        WrongAnswer(
            "divided-by-length-of-key",
            lambda Q, K: _raw(Q, unit_rows(K)),
            "You divided by ‖k‖, how long each key is. d_k counts its coordinates.",
        ),
        WrongAnswer(
            "softmax-already",
            lambda Q, K: softmax(_raw(Q, K) / Q.shape[-1] ** 0.5),
            "The scale is right, but you went on to the softmax. The scaled scores are asked for.",
        ),
        WrongAnswer(
            "softmax-then-scaled",
            lambda Q, K: softmax(_raw(Q, K)) / Q.shape[-1] ** 0.5,
            "You applied softmax and then divided its weights. No softmax here; and the scale belongs before it.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            lambda Q, K: _raw(K, Q) / Q.shape[-1] ** 0.5,
            "Queries and keys are swapped: rows must belong to queries and columns to keys.",
        ),
        WrongAnswer(
            "queries-with-queries",
            lambda Q, K: _raw(Q, Q) / Q.shape[-1] ** 0.5,
            "You scored the queries against themselves: K never comes in.",
        ),
        WrongAnswer(
            "not-transposed",
            lambda Q, K: Q @ K / Q.shape[-1] ** 0.5,
            "K is not transposed: its rows have to become columns, so that row i of Q meets key j.",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            lambda Q, K: Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]) / Q.shape[-1] ** 0.5,
            "You reshaped K where it has to be transposed: the keys are torn apart.",
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda Q, K: Q @ K.T / Q.shape[-1] ** 0.5,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda Q, K: np.einsum("id,jd->ij", Q, K) / Q.shape[-1] ** 0.5,
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "half-precision",
            lambda Q, K: (
                _raw(Q.astype(np.float16), K.astype(np.float16)).astype(Q.dtype) / Q.shape[-1] ** 0.5
            ),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
            lambda Q, K: (
                _raw(Q.astype(np.float32), K.astype(np.float32)).astype(np.float64) / Q.shape[-1] ** 0.5
            ),
            "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scaled_changing_inputs,
            "Your function writes into the caller's Q. Make a new array instead of using `/=`.",
        ),
    ),
    also_right=(
        lambda Q, K: np.einsum("...id,...jd->...ij", Q, K) / np.sqrt(Q.shape[-1]),
        lambda Q, K: (Q / Q.shape[-1] ** 0.5) @ np.swapaxes(K, -1, -2),
        lambda Q, K: Q @ np.swapaxes(K / np.sqrt(K.shape[-1]), -1, -2),
        lambda Q, K: (Q * Q.shape[-1] ** -0.25) @ np.swapaxes(K * K.shape[-1] ** -0.25, -1, -2),
        lambda Q, K: np.matmul(Q, np.matrix_transpose(K)) * Q.shape[-1] ** -0.5,
        _scaled_by_loops,
    ),
    hints=(
        "Lesson 01's scores, and one more operation. Which axis of Q is d_k, for any number of axes?",
        "The standard deviation of a sum of d_k independent terms is √d_k: divide the scores by that.",
        "`scores = Q @ np.swapaxes(K, -1, -2)`, then divide by `Q.shape[-1] ** 0.5`.",
    ),
    forbids=(READY_ATTENTION,),
)
