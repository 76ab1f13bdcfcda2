"""Lesson 01, exercise `weighted_sum`: the soft lookup."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, read_only_strided
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.checking.standard_cases import one_of_each

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


def _one_batch(rng, n_q, n_k, d_v, batch):
    return _lookup(rng, n_q, n_k, d_v, batch)


def _one_hot_rows(rng):
    return np.eye(5)[[3, 0, 3]], rng.normal(size=(5, 4))


def _in_proportion(weights, axis):
    total = weights.sum(axis=axis, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total != 0)


def _one_hot(weights):
    return (np.arange(weights.shape[-1]) == weights.argmax(axis=-1)[..., None]).astype(float)


def _row_by_row(weights, V):
    """weights[..., i, j] V[..., j, :] for all pairs, before they are summed."""
    return weights[..., :, :, None] * V[..., None, :, :]


def _kept_whole(weights, V):
    """A running total that is cut to whole numbers after every key."""
    out = np.zeros((*weights.shape[:-1], V.shape[-1]), dtype=int)
    for j in range(V.shape[-2]):
        out[...] = out + weights[..., j, None] * V[..., None, j, :]
    return out


def _build(weigh, values, mix, end):
    return lambda weights, V: end(mix(weigh(weights), values(V)), V)


_CUT = "The result was cut to whole numbers: its array holds ints. Give it the dtype of the values."

MISTAKES = Products(
    (
        Factor(
            "weigh",
            lambda w: w,
            (
                Option("weights-transposed", lambda w: np.swapaxes(w, -1, -2)),
                Option("softmax-again", softmax),
                Option(
                    "softmax-over-queries",
                    lambda w: softmax(w, axis=-2),
                    "A softmax over the queries was applied to the weights. They are weights already.",
                ),
                Option("hard-lookup", _one_hot),
                Option(
                    "columns-normalised",
                    lambda w: _in_proportion(w, -2),
                    "The weights are normalized over the queries. Each query's weights, a row, sum to 1 already.",
                ),
                Option("columns-normalised", lambda w: w / w.sum(axis=-2, keepdims=True)),
                Option(
                    "weights-squared",
                    lambda w: w * w,
                    "The weights are squared. They multiply the values as they are.",
                ),
                Option(
                    "weights-reversed",
                    lambda w: 1 - w,
                    "The weights are reversed (1 − w): the key with the largest weight counts least.",
                ),
            ),
        ),
        Factor(
            "values",
            lambda V: V,
            (
                Option("values-transposed", lambda V: np.swapaxes(V, -1, -2)),
                Option(
                    "all-axes-transposed",
                    lambda V: V.T,
                    "All axes of V are reversed. V stays as it is: no `.T`.",
                ),
            ),
        ),
        Factor(
            "mix",
            lambda w, V: w @ V,
            (
                Option("mixes-batch-entries", lambda w, V: np.dot(w, V)),
                Option("elementwise", lambda w, V: w * V),
                Option(
                    "hard-coded-axis",
                    lambda w, V: _row_by_row(w, V).sum(axis=1),
                    "The sum runs over an axis counted from the front: that is the keys for two axes only. Count from "
                    "the end (-2).",
                ),
                Option(
                    "not-summed", _row_by_row, "The weighted values are not added up: sum them over the keys."
                ),
                Option("cut-to-integers", _kept_whole, _CUT),
                Option("cut-to-integers", lambda w, V: np.trunc(w @ V), _CUT),
            ),
        ),
        Factor(
            "end",
            lambda out, V: out,
            (
                Option("averaged-over-keys", lambda out, V: out / V.shape[-2]),
                Option("summed-over-queries", lambda out, V: out.sum(axis=-2)),
                Option(
                    "averaged-over-queries",
                    lambda out, V: out.mean(axis=-2),
                    "The outputs of all queries are averaged: every query keeps its own row.",
                ),
                Option(
                    "summed-over-values",
                    lambda out, V: out.sum(axis=-1),
                    "The numbers of each output are added up: an output has d_v numbers, like a value.",
                ),
                Option(
                    "scaled-too",
                    lambda out, V: out / V.shape[-1] ** 0.5,
                    "The result is divided by √d_v. The scale belongs to the scores; the weights are ready.",
                ),
                *(
                    Option(
                        "rounded",
                        lambda out, V, n=n: np.round(out, n),
                        "The numbers are rounded. Keep all digits.",
                    )
                    for n in (2, 1, 3, 4, 5, 6)
                ),
            ),
        ),
    ),
    _build,
)


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
        Case(
            "a batch with heads", lambda rng: tuple(read_only_strided(x) for x in _lookup(rng, 3, 5, 2, 2, 4))
        ),
        *one_of_each(_one_batch, only=("n_k", "batch"), n_q=3, n_k=4, d_v=2, batch=3),
        Case(
            "one query, values of one number",
            lambda rng: _lookup(rng, 1, 5, 1, 2),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "all sizes equal",
            lambda rng: _lookup(rng, 3, 3, 3, 3, 3),
            says="Where all sizes are equal any transpose fits, and only one is right.",
        ),
        Case(
            "forty keys",
            lambda rng: _lookup(rng, 12, 40, 15),
            says="Every key has its share, even the fortieth.",
        ),
    ),
    mistakes=MISTAKES,
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
            "The values are transposed: the rows of V are the values, and a weight belongs to a row.",
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
            "two-axes-only",
            lambda w, V: np.einsum("ij,jd->id", w, V),
            "This works for two axes only. Leading axes can be any number: `...` stands for them in einsum, and axes "
            "counted from the end (-1, -2) hold for any number.",
            errors_tell=True,
        ),
        WrongAnswer(
            "extra-leading-axis",
            lambda w, V: (w @ V)[None] if w.ndim == 2 else w @ V,
            "There is one axis too many in front, of length 1: without a batch in the inputs there is none in the answer.",
        ),
        WrongAnswer(
            "mixes-batch-entries",
            lambda w, V: np.dot(w, V),
            "With more than two axes np.dot (like np.tensordot) pairs every batch entry with every other. Use `@`.",
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
