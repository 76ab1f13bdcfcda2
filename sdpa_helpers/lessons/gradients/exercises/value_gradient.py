"""Lesson 04, exercise `value_gradient`: what the values learn."""

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import (
    COURSE_SOFTMAX,
    Case,
    Example,
    Exercise,
    Invariant,
    WrongAnswer,
    read_only,
    read_only_strided,
)
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.gradients.exercises.shared import (
    as_it_is,
    cases_of_shape,
    half,
    renormalised,
    single,
    transposed,
)

PROMPT = r"""`value_gradient(weights, grad_output)`: the first line of the way back, from $O = AV$ to the values.

- `weights`, shape `(..., n_q, n_k)`: the attention weights $A$.
- `grad_output`, shape `(..., n_q, d_v)`: $dO$, how the loss changes with each output.
- Returns $dV$, shape `(..., n_k, d_v)`: row `j` is $\sum_i A_{ij}\, dO_i$.

Example: {example:1}: three queries, two keys.
"""


def value_gradient(weights, grad_output):
    """dV: weights (..., n_q, n_k), grad_output (..., n_q, d_v) -> (..., n_k, d_v)."""
    return np.swapaxes(weights, -1, -2) @ grad_output


def _value_gradient_by_loops(W, G):
    out = np.zeros((*W.shape[:-2], W.shape[-1], G.shape[-1]))
    for i in range(W.shape[-2]):
        for j in range(W.shape[-1]):
            out[..., j, :] += W[..., i, j, None] * G[..., i, :]
    return out


def _value_gradient_changing_input(W, G):
    G *= 1.0
    return transposed(W) @ G


def _output_gradient(rng, n_q, n_k, d_v, *batch, spread=1.0):
    return softmax(spread * rng.normal(size=(*batch, n_q, n_k))), rng.normal(size=(*batch, n_q, d_v))


def _unseen_key(rng):
    W, G = _output_gradient(rng, 5, 3, 6, 2)
    W[..., 1] = 0.0
    return read_only(renormalised(W)), read_only_strided(200 * G)


def _in_parts(*, convert, weights, product, after):
    """value_gradient in four parts, each of which can be wrong; see MISTAKES."""
    return lambda W, G: after(product(weights(convert(W)), convert(G)), W, G)


def _summed_over_the_batch(W, G):
    return (transposed(W) @ G).sum(axis=tuple(range(W.ndim - 2)))


def _by_row_sum(W):
    return W / np.maximum(W.sum(axis=-2, keepdims=True), 1e-300)


def _hard(W):
    return (W.max(axis=-1, keepdims=True) == W) * 1.0


MISTAKES = Products(
    (
        Factor(
            "convert",
            as_it_is,
            (Option("half-precision-somewhere", half), Option("float32-somewhere", single)),
        ),
        Factor(
            "weights",
            as_it_is,
            (
                Option("columns-normalised", _by_row_sum),
                Option("hard-weights", _hard),
                Option("softmax-slopes-put-in", lambda W: W * (1 - W)),
                Option(
                    "softmax-twice", softmax, "You applied softmax to the weights. They are weights already."
                ),
            ),
        ),
        Factor(
            "product",
            lambda W, G: transposed(W) @ G,
            (
                Option("not-transposed", lambda W, G: W @ G),
                Option("all-axes-transposed", lambda W, G: W.T @ G),
                Option(
                    "reshaped-not-transposed",
                    lambda W, G: W.reshape(*W.shape[:-2], W.shape[-1], W.shape[-2]) @ G,
                ),
                Option("factors-swapped", lambda W, G: G @ transposed(W)),
                Option("summed-over-the-batch", _summed_over_the_batch),
            ),
        ),
        Factor(
            "after",
            lambda dV, W, G: dV,
            (
                Option("mean-over-queries", lambda dV, W, G: dV / W.shape[-2]),
                Option("scaled", lambda dV, W, G: dV / np.sqrt(G.shape[-1])),
                Option("sign-flipped", lambda dV, W, G: -dV),
                Option(
                    "factor-of-two",
                    lambda dV, W, G: 2 * dV,
                    "Everything is twice as large as it should be. Nothing is squared here.",
                ),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: not transposed, and divided by the number of queries."""


EXERCISE = Exercise(
    name="value_gradient",
    lesson="04_gradients",
    title="What the values learn",
    prompt=PROMPT,
    examples=(Example(([[1, 0], [0.5, 0.5], [0, 1]], [[2], [4], [0]])),),
    section="5. Attention, line by line, backwards",
    difficulty=2,
    minutes=5,
    reference=value_gradient,
    cases=(
        Case("three queries, five keys", lambda rng: _output_gradient(rng, 3, 5, 2)),
        Case(
            "as many queries as keys",
            lambda rng: _output_gradient(rng, 4, 4, 4),
            says="A square matrix hides a missing transpose.",
        ),
        Case("batch and heads", lambda rng: _output_gradient(rng, 3, 5, 7, 2, 6)),
        Case(
            "a key that nobody looks at, large gradients, read-only",
            _unseen_key,
            says="A value with weight 0 for every query gets gradient 0.",
        ),
        Case("nearly one-hot weights", lambda rng: _output_gradient(rng, 6, 4, 3, 5, spread=30)),
        *cases_of_shape(
            lambda rng, batch, n_q, n_k, d_v: _output_gradient(rng, n_q, n_k, d_v, batch),
            only=("n_q", "n_k", "d_v"),
            n_q=3,
            n_k=4,
            d_v=2,
        ),
    ),
    wrong=(
        WrongAnswer(
            "not-transposed",
            lambda W, G: W @ G,
            "The weights are not transposed. On the way forward row i mixes the values for query i; on the way back "
            "COLUMN j collects, for value j, what every query asks of it.",
            ("Value j reached output i with weight A[i, j]. Sum over i.",),
        ),
        WrongAnswer(
            "all-axes-transposed",
            lambda W, G: W.T @ G,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
            clue="transpose-all",
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            lambda W, G: W.reshape(*W.shape[:-2], W.shape[-1], W.shape[-2]) @ G,
            "You reshaped the weights where they have to be transposed: the numbers landed in the wrong rows.",
        ),
        WrongAnswer(
            "result-transposed",
            lambda W, G: transposed(G) @ W,
            "The numbers lie the wrong way round: rows belong to keys, columns to the coordinates of a value.",
        ),
        WrongAnswer(
            "factors-swapped",
            lambda W, G: G @ transposed(W),
            "You multiplied in the other order, dO Aᵀ. Value j gathers Σ_i A_ij dO_i: Aᵀ dO.",
        ),
        WrongAnswer(
            "mean-over-queries",
            lambda W, G: transposed(W) @ G / W.shape[-2],
            "You divided by the number of queries. The gradient is a sum over the queries, not a mean.",
        ),
        WrongAnswer(
            "columns-normalised",
            lambda W, G: transposed(W / np.maximum(W.sum(axis=-2, keepdims=True), 1e-300)) @ G,
            "You made the weights of each key add up to 1. They are used as they are: a key that is looked at more "
            "learns more.",
        ),
        WrongAnswer(
            "same-for-every-key",
            lambda W, G: np.repeat(G.sum(axis=-2, keepdims=True), W.shape[-1], axis=-2),
            "You gave every key the same gradient: the weights never come in.",
        ),
        WrongAnswer(
            "hard-weights",
            lambda W, G: transposed((W.max(axis=-1, keepdims=True) == W) * 1.0) @ G,
            "You let only the best key of each query learn. Every key learns by its weight.",
        ),
        WrongAnswer(
            "softmax-slopes-put-in",
            lambda W, G: transposed(W * (1 - W)) @ G,
            "You multiplied by softmax's slopes. The values come after softmax: their way back does not pass "
            "through it.",
        ),
        WrongAnswer(
            "scaled",
            lambda W, G: transposed(W) @ G / np.sqrt(G.shape[-1]),
            "You divided by a square root. The scale belongs to the scores; the values never meet it.",
        ),
        WrongAnswer(
            "two-axes-only",
            lambda W, G: np.einsum("ij,id->jd", W, G),
            "This works for matrices only: with leading axes, a batch or heads, it fails. `...` in an index or in "
            "einsum, and axes counted from the end (-1, -2), hold for any number of them.",
            errors_tell=True,
        ),
        WrongAnswer(
            "transpose-wants-all-axes",
            lambda W, G: np.transpose(W, (0, 2, 1)) @ G,
            "This works for three axes only, one batch of matrices: a single matrix, and batch and heads, fail. Count "
            "axes from the end: `np.swapaxes(weights, -1, -2)` holds for any number of them.",
            errors_tell=True,
        ),
        WrongAnswer(
            "summed-over-the-batch",
            _summed_over_the_batch,
            "You added the batch entries together. Each has its own values and its own gradient.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda W, G: -transposed(W) @ G,
            "Every sign is flipped. Return the gradient itself, not the step against it.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            lambda W, G: transposed(half(W)) @ half(G),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda W, G: transposed(single(W)) @ single(G),
            "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in float64.",
        ),
        WrongAnswer(
            "changes-its-input",
            _value_gradient_changing_input,
            "You changed the caller's array: `*=` works in place, and so does `out=`. Make a new array.",
        ),
    ),
    also_right=(
        _value_gradient_by_loops,
        lambda W, G: np.einsum("...ij,...id->...jd", W, G),
        lambda W, G: np.matmul(np.moveaxis(W, -1, -2), G),
        lambda W, G: transposed(transposed(G) @ W),
    ),
    hints=(
        "Start from one entry: output [i, c] = Σ_j A[i, j]·V[j, c]. With what factor does V[j, c] enter output [i, c]?",
        "V[j, c] enters every output [i, c], each time with factor A[i, j]: sum A[i, j]·dO[i, c] over the queries i.",
        "A sum over the FIRST index of A is a product with its transpose: swap the last two axes, then `@ "
        "grad_output`.",
    ),
    invariants=(
        Invariant(
            "gradient-lost-or-made",
            "All values' gradients together must equal all outputs' gradients together, because the weights of a "
            "row add up to 1.",
            lambda inputs, dV: bool(
                np.allclose(
                    dV.sum(axis=-2), inputs[1].sum(axis=-2), atol=1e-8 * (1 + np.abs(inputs[1]).sum())
                )
            ),
        ),
    ),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
)
