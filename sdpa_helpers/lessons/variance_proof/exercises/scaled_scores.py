"""Lesson 02, exercise `scaled_scores`: scaled scores."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each
from sdpa_helpers.lessons.torch_habits import TRANSPOSE_OF_TORCH
from sdpa_helpers.lessons.variance_proof.exercises.shared import unit_rows

PROMPT = r"""`scaled_scores(Q, K)`: every query against every key, divided by $\sqrt{d_k}$.

- `Q`, shape `(..., n_q, d_k)`: one query a row. `K`, shape `(..., n_k, d_k)`: one key a row.
- Returns $QK^{\mathsf T}/\sqrt{d_k}$, shape `(..., n_q, n_k)`, as precise as its input (float64, once float32).
- The leading axes can be any number, including none. Don't change `Q` or `K`.

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


def _one_batch(rng, n_q, n_k, d_k, batch):
    return _pairs(rng, n_q, n_k, d_k, batch)


def _reshaped(K):
    return K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])


def _in(dtype):
    """Both in another dtype and back: their digits are lost, not their dtype."""
    return lambda Q, K: (Q.astype(dtype).astype(Q.dtype), K.astype(dtype).astype(K.dtype))


def _build(roles, turn, divisor, after):
    def answer(Q, K):
        A, B = roles(Q, K)
        scores = A @ turn(B)
        return after(scores / divisor(A, B, scores))

    return answer


_HALF = "Numbers passed through float16, which keeps about three digits. Stay in the dtype you were given."
_SINGLE = "Somewhere your numbers passed through float32, which keeps about seven digits. Stay in the dtype you were given."
_WHOLE = "The square root was made a whole number: √d_k is rarely whole."
_SAME = "You divided by the same number whatever d_k is. Read d_k off the shape."
_SPREAD = "You divided by the measured spread of numbers. The scale depends on d_k only, not on the data."

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
                Option(
                    "unit-length",
                    lambda Q, K: (unit_rows(Q), unit_rows(K)),
                    "You made every query and key one unit long. √d_k is the scale; their lengths stay.",
                ),
                Option("half-precision-somewhere", _in(np.float16), _HALF),
                Option("float32-somewhere", _in(np.float32), _SINGLE),
            ),
        ),
        Factor(
            "turn",
            lambda K: np.swapaxes(K, -1, -2),
            (
                Option("all-axes-transposed", lambda K: K.T),
                Option("not-transposed", lambda K: K),
                Option("transpose-of-two-axes", lambda K: K.transpose(-2, -1)),
                Option("reshaped-not-transposed", _reshaped),
            ),
        ),
        Factor(
            "divisor",
            lambda Q, K, S: Q.shape[-1] ** 0.5,
            (
                Option("no-scaling", lambda Q, K, S: 1.0),
                Option("divided-by-d", lambda Q, K, S: Q.shape[-1]),
                Option("multiplied-by-root-d", lambda Q, K, S: Q.shape[-1] ** -0.5),
                Option(
                    "multiplied-by-d",
                    lambda Q, K, S: 1 / Q.shape[-1],
                    "You multiplied by d_k. Divide, and by its square root.",
                ),
                Option("root-of-number-of-keys", lambda Q, K, S: K.shape[-2] ** 0.5),
                Option("root-of-number-of-queries", lambda Q, K, S: Q.shape[-2] ** 0.5),
                Option("root-of-first-axis", lambda Q, K, S: len(Q) ** 0.5),
                Option("root-of-second-axis", lambda Q, K, S: Q.shape[1] ** 0.5),
                Option("root-of-first-axis-of-keys", lambda Q, K, S: len(K) ** 0.5),
                Option("root-of-second-axis-of-keys", lambda Q, K, S: K.shape[1] ** 0.5),
                Option(
                    "root-of-third-axis",
                    lambda Q, K, S: Q.shape[2] ** 0.5,
                    "You divided by the square root of axis 2. That is d_k only where there are three; `shape[-1]` is "
                    "right for any number of axes.",
                ),
                Option("root-of-size", lambda Q, K, S: Q.size**0.5),
                Option("fourth-root-once", lambda Q, K, S: Q.shape[-1] ** 0.25),
                Option("root-of-two-d", lambda Q, K, S: (2 * Q.shape[-1]) ** 0.5),
                Option(
                    "root-of-half-d",
                    lambda Q, K, S: (Q.shape[-1] / 2) ** 0.5,
                    "You divided by √(d_k/2). All d_k products of a score are added up.",
                ),
                Option(
                    "root-of-d-minus-one",
                    lambda Q, K, S: max(1, Q.shape[-1] - 1) ** 0.5,
                    "You divided by √(d_k − 1). Nothing is estimated from a sample here: d_k products add up.",
                ),
                Option("root-cut-to-integer", lambda Q, K, S: int(Q.shape[-1] ** 0.5), _WHOLE),
                Option("root-cut-to-integer", lambda Q, K, S: round(Q.shape[-1] ** 0.5), _WHOLE),
                Option(
                    "half-precision-somewhere", lambda Q, K, S: float(np.float16(Q.shape[-1] ** 0.5)), _HALF
                ),
                Option("float32-somewhere", lambda Q, K, S: float(np.float32(Q.shape[-1] ** 0.5)), _SINGLE),
                Option(
                    "float32-somewhere", lambda Q, K, S: 1 / float(np.float32(Q.shape[-1] ** -0.5)), _SINGLE
                ),
                Option("logarithm-for-root", lambda Q, K, S: np.log(Q.shape[-1])),
                *(
                    Option("one-number-for-every-size", lambda Q, K, S, divisor=divisor: divisor, _SAME)
                    for divisor in (64.0, 16.0, 4.0, 2.0, 512**0.5, 10.0)
                ),
                Option("always-eight", lambda Q, K, S: 8.0),
                Option("divided-by-measured-spread", lambda Q, K, S: S.std(), _SPREAD),
                Option("divided-by-measured-spread", lambda Q, K, S: S.std(axis=-1, keepdims=True), _SPREAD),
                Option(
                    "divided-by-measured-spread",
                    lambda Q, K, S: Q.std() * K.std() * Q.shape[-1] ** 0.5,
                    _SPREAD,
                ),
                Option("divided-by-maximum", lambda Q, K, S: S.max(axis=-1, keepdims=True)),
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
                    "A softmax over the queries was applied: every column adds up to 1. Return the scaled scores.",
                ),
                Option(
                    "absolute-value", np.abs, "The signs are dropped. A negative score means pointing apart."
                ),
                Option("sign-turned", lambda scores: -scores, "All signs are reversed."),
                *(
                    Option(
                        "rounded", lambda S, n=n: np.round(S, n), "The scores are rounded. Keep all digits."
                    )
                    for n in (2, 1, 3, 4, 5, 6)
                ),
                Option("rounded-root", np.floor),
                Option(
                    "causal-already",
                    lambda scores: np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf),
                    "Keys after the query's own place are at −∞: a causal mask. There is no mask here.",
                ),
            ),
        ),
    ),
    _build,
)


EXERCISE = Exercise(
    name="scaled_scores",
    lesson="02_variance_proof",
    title="Scaled scores",
    prompt=PROMPT,
    examples=(Example(([[1, 1, 1]], [[1, 1, 1], [1, 0, 0]])),),
    section="6. Why the square root?",
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
        *one_of_each(_one_batch, only=("n_q", "n_k"), n_q=4, n_k=3, d_k=5, batch=2),
        Case(
            "a batch of one, keys of length one",
            lambda rng: _pairs(rng, 3, 4, 1, 1),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _pairs(rng, 5, 5, 5, 5),
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
            "no-scaling",
            _raw,
            "These are raw scores: the division by √d_k is missing.",
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
            "logarithm-for-root",
            lambda Q, K: _raw(Q, K) / np.log(Q.shape[-1]),
            "You divided by log d_k. The standard deviation grows like the square root.",
        ),
        WrongAnswer(
            "divided-by-maximum",
            lambda Q, K: _raw(Q, K) / _raw(Q, K).max(axis=-1, keepdims=True),
            "You divided each row by its maximum. A negative maximum reverses the order; divide by √d_k.",
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
            "You went on to the softmax. Return the scaled scores.",
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
            "transpose-of-two-axes",
            lambda Q, K: Q @ K.transpose(-2, -1) / Q.shape[-1] ** 0.5,
            TRANSPOSE_OF_TORCH,
            clue="transpose-of-two-axes",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            lambda Q, K: Q @ _reshaped(K) / Q.shape[-1] ** 0.5,
            "You reshaped K where it has to be transposed: the keys are torn apart.",
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda Q, K: Q @ K.T / Q.shape[-1] ** 0.5,
            "All axes are reversed, also those of the batch: that is what `.T` does. Swap only the last two.",
            clue="transpose-all",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda Q, K: np.dot(Q, np.swapaxes(K, -1, -2)) / Q.shape[-1] ** 0.5,
            "With more than two axes np.dot (and np.inner, np.tensordot) pair every batch entry with every other. Use "
            "`@` or "
            "np.matmul, which keep the batch entries apart.",
        ),
        WrongAnswer(
            "two-axes-only",
            lambda Q, K: np.einsum("id,jd->ij", Q, K) / Q.shape[-1] ** 0.5,
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum, and axes "
            "counted from the end (-1, -2) hold for any number.",
            errors_tell=True,
        ),
        WrongAnswer(
            "hard-coded-axis",
            lambda Q, K: np.einsum("bid,bjd->bij", Q, K) / Q.shape[-1] ** 0.5,
            "This works for three axes only, one batch of matrices: axes are counted from the front, or a batch is "
            "taken for granted. Count from the end (-1, -2), or write `...` in einsum.",
            errors_tell=True,
        ),
        WrongAnswer(
            "extra-leading-axis",
            lambda Q, K: scaled_scores(Q, K)[None] if Q.ndim == 2 else scaled_scores(Q, K),
            "There is one axis too many in front, of length 1: what comes without a batch goes without one.",
        ),
        WrongAnswer(
            "row-by-row-only",
            lambda Q, K: np.sum(Q * K, axis=-1) / Q.shape[-1] ** 0.5,
            "You compared query i with key i alone. Attention needs every query with every key.",
        ),
        WrongAnswer(
            "changes-its-input",
            _scaled_changing_inputs,
            "Your function writes into the caller's Q. Make a new array: no `/=`, `*=`, `out=` or `Q[...] =`.",
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
)
