"""Lesson 01, exercise `weighted_sum`: the soft lookup."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only

PROMPT = r"""`weighted_sum(weights, V)`: the last step of the soft lookup. Each query mixes the values with its own weights.

- `weights`, shape `(..., n_q, n_k)`: row `i` has one weight for each key; a row adds up to 1.
- `V`, shape `(..., n_k, d_v)`: one value a row, `d_v` numbers each.
- Returns shape `(..., n_q, d_v)`: row `i` is $\sum_j \text{weights}_{ij} \, v_j$.

Example: {example:1}: one query, three values of two numbers.
"""


def weighted_sum(weights, V):
    """Mix the values: weights (..., n_q, n_k), V (..., n_k, d_v) -> (..., n_q, d_v)."""
    return weights @ V


def _lookup(rng, n_q, n_k, d_v, *batch):
    return softmax(rng.normal(size=(*batch, n_q, n_k))), rng.normal(size=(*batch, n_k, d_v))


def _one_hot_rows(rng):
    return np.eye(5)[[3, 0, 3]], rng.normal(size=(5, 4))


EXERCISE = Exercise(
    name="weighted_sum",
    lesson="01_dot_product",
    title="The soft lookup",
    prompt=PROMPT,
    examples=(Example(([[0.5, 0.25, 0.25]], [[4, 0], [0, 8], [0, 0]])),),
    section="6. From a dictionary to attention",
    difficulty=1,
    minutes=5,
    reference=weighted_sum,
    cases=(
        Case("two queries, five values", lambda rng: _lookup(rng, 2, 5, 3)),
        Case("square", lambda rng: _lookup(rng, 4, 4, 4), says="A square matrix hides a transpose too many."),
        Case(
            "one-hot weights pick a row",
            _one_hot_rows,
            says="With one weight of 1 the soft lookup is a plain lookup.",
        ),
        Case("a batch with heads", lambda rng: tuple(read_only(x) for x in _lookup(rng, 3, 5, 2, 2, 4))),
    ),
    wrong=(
        WrongAnswer(
            "average-of-values",
            lambda w, V: np.broadcast_to(V.mean(axis=-2, keepdims=True), (*w.shape[:-1], V.shape[-1])) + 0.0,
            "Every query got the plain average of the values: the weights are not used.",
        ),
        WrongAnswer(
            "hard-lookup",
            lambda w, V: np.take_along_axis(V, w.argmax(axis=-1)[..., None], axis=-2),
            "Every query got the one value with the largest weight. A soft lookup blends all of them.",
        ),
        WrongAnswer(
            "weights-transposed",
            lambda w, V: np.swapaxes(w, -1, -2) @ V,
            "The weights are transposed: row i of the weights belongs to query i and runs over the keys.",
        ),
        WrongAnswer(
            "values-transposed",
            lambda w, V: w @ np.swapaxes(V, -1, -2),
            "The values are transposed: V's rows are the values, and its rows are what the weights count.",
        ),
        WrongAnswer(
            "values-unweighted",
            lambda w, V: V + 0.0,
            "You returned the values as they came: no weights were used.",
        ),
        WrongAnswer(
            "elementwise",
            lambda w, V: w * V,
            "`*` multiplies entry by entry. The sum over the keys needs a matrix product.",
        ),
        WrongAnswer(
            "softmax-again",
            lambda w, V: softmax(w) @ V,
            "You applied softmax to the weights once more: they are weights already, and this makes them nearly equal.",
        ),
        WrongAnswer(
            "averaged-over-keys",
            lambda w, V: w @ V / V.shape[-2],
            "You divided by the number of keys. The weights sum to 1 already, so nothing is left to divide.",
        ),
        WrongAnswer(
            "summed-over-queries",
            lambda w, V: np.sum(w @ V, axis=-2),
            "You added the outputs of all queries together: every query keeps its own row.",
        ),
        WrongAnswer(
            "columns-normalised",
            lambda w, V: (w / w.sum(axis=-2, keepdims=True)) @ V,
            "You normalised over the queries. Each query's weights, a row, sum to 1 already.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda w, V: np.einsum("ij,jd->id", w, V),
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda w, V: np.dot(w, V),
            "With more than two axes np.dot pairs every batch entry with every other. Use `@`.",
        ),
    ),
    also_right=(
        lambda w, V: np.matmul(w, V),
        lambda w, V: np.einsum("...ij,...jd->...id", w, V),
        lambda w, V: np.sum(w[..., :, :, None] * V[..., None, :, :], axis=-2),
        lambda w, V: np.swapaxes(np.swapaxes(V, -1, -2) @ np.swapaxes(w, -1, -2), -1, -2),
    ),
    hints=(
        "For one query: which value gets which weight, and what becomes of the weighted values?",
        "Output row i is the sum over j of weights[i, j] times V[j]: that is a matrix product.",
        "(..., n_q, n_k) `@` (..., n_k, d_v) is (..., n_q, d_v). Nothing has to be transposed.",
    ),
    invariants=(
        Invariant(
            "outside-the-values",
            "An output lies outside the range of the values. A weighted average, with weights that sum to 1, cannot.",
            lambda inputs, out: bool(
                np.all(out <= inputs[1].max(axis=-2, keepdims=True) + 1e-9)
                and np.all(out >= inputs[1].min(axis=-2, keepdims=True) - 1e-9)
            ),
        ),
    ),
)
