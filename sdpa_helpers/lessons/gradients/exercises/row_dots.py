"""Lesson 04, exercise `row_dots`: the average without the weights."""

import numpy as np

from sdpa_helpers.checking.exercise import (
    COURSE_SOFTMAX,
    Case,
    Example,
    Exercise,
    WrongAnswer,
    read_only_strided,
)
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.gradients.exercises.shared import (
    as_it_is,
    cases_of_shape,
    half,
    single,
    transposed,
)

PROMPT = r"""`row_dots(output, grad_output)`: the average that softmax's way back subtracts, computed without any weights.

- `output`, shape `(..., n_q, d_v)`: the outputs $O$ of attention.
- `grad_output`, same shape: $dO$.
- Returns shape `(..., n_q)`: one number per query, the dot product of its output and its gradient.

Example: {example:1}.

This equals $\mathrm{rowsum}(A \circ dA)$. FlashAttention-2 calls it $D$, and its backward pass begins with it.
"""


def row_dots(output, grad_output):
    """Output times its gradient: two arrays (..., n_q, d_v) -> (..., n_q)."""
    return (output * grad_output).sum(axis=-1)


def _row_dots_changing_input(O, G):
    O *= G
    return O.sum(axis=-1)


def _outputs(rng, *shape, size=1.0):
    return rng.normal(size=shape), size * rng.normal(size=shape)


def _in_parts(*, convert, terms, add, axis, after):
    """row_dots in five parts, each of which can be wrong; see MISTAKES."""
    return lambda O, G: after(add(terms(convert(O), convert(G)), axis), O, G)


MISTAKES = Products(
    (
        Factor(
            "convert",
            as_it_is,
            (
                Option("half-precision-somewhere", half),
                Option(
                    "float32-somewhere",
                    single,
                    "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in float64.",
                ),
            ),
        ),
        Factor(
            "terms",
            lambda O, G: O * G,
            (
                Option("output-with-itself", lambda O, G: O * O),
                Option("gradient-with-itself", lambda O, G: G * G),
                Option("signs-dropped", lambda O, G: np.abs(O * G)),
                Option(
                    "added-not-multiplied",
                    lambda O, G: O + G,
                    "You added the two where they have to be multiplied.",
                ),
            ),
        ),
        Factor(
            "add",
            lambda terms, axis: terms.sum(axis=axis),
            (
                Option("axis-kept", lambda terms, axis: terms.sum(axis=axis, keepdims=True)),
                Option("mean-not-sum", lambda terms, axis: terms.mean(axis=axis)),
                Option("not-summed", lambda terms, axis: terms),
            ),
        ),
        Factor(
            "axis",
            -1,
            (
                Option("total-sum", None),
                Option("summed-over-queries", -2),
                Option("axis-one-hard-coded", 1),
                Option(
                    "axis-zero-hard-coded",
                    0,
                    "You summed along axis 0: the queries, or the batch. Sum along the last axis: −1.",
                ),
            ),
        ),
        Factor(
            "after",
            lambda D, O, G: D,
            (
                Option("scaled", lambda D, O, G: D / np.sqrt(O.shape[-1])),
                Option("sign-flipped", lambda D, O, G: -D, "Every sign is flipped."),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: the mean, with the axis kept."""


EXERCISE = Exercise(
    name="row_dots",
    lesson="04_gradients",
    title="The average without the weights",
    prompt=PROMPT,
    examples=(Example(([[1, 2], [3, 0]], [[10, 1], [1, 5]])),),
    section="6. What the gradient of a score says",
    difficulty=1,
    minutes=5,
    reference=row_dots,
    cases=(
        Case("three queries, values of five", lambda rng: _outputs(rng, 3, 5)),
        Case("a square", lambda rng: _outputs(rng, 4, 4), says="A square hides a sum along the wrong axis."),
        Case("batch and heads", lambda rng: _outputs(rng, 2, 6, 5, 3)),
        Case(
            "large, strided, read-only",
            lambda rng: tuple(read_only_strided(x) for x in _outputs(rng, 3, 2, 7, size=1000)),
        ),
        *cases_of_shape(
            lambda rng, batch, n_q, d_v: _outputs(rng, batch, n_q, d_v), only=("n_q", "d_v"), n_q=3, d_v=4
        ),
    ),
    wrong=(
        WrongAnswer(
            "axis-kept",
            lambda O, G: (O * G).sum(axis=-1, keepdims=True),
            "An axis of length 1 is left over: return one number per query.",
        ),
        WrongAnswer(
            "total-sum",
            lambda O, G: (O * G).sum(),
            "You summed over everything. Each query has its own number: sum along the last axis only.",
        ),
        WrongAnswer(
            "summed-over-queries",
            lambda O, G: (O * G).sum(axis=-2),
            "You summed over the queries. Sum over the coordinates of the value, the last axis.",
        ),
        WrongAnswer(
            "axis-one-hard-coded",
            lambda O, G: (O * G).sum(axis=1),
            "You summed along axis 1. With a batch in front that is another axis. Count from the end: −1.",
        ),
        WrongAnswer(
            "first-axis-taken-for-the-queries",
            lambda O, G: np.array([o @ g for o, g in zip(O, G, strict=True)]),
            "You go along the first axis and multiply what lies there. For a single matrix those are the queries; with "
            "a batch in front they are matrices, and `@` multiplies these. Multiply entry by entry, then sum along "
            "the last axis.",
        ),
        WrongAnswer(
            "mean-not-sum",
            lambda O, G: (O * G).mean(axis=-1),
            "This is the mean of the products, d_v times too small: a dot product is a sum.",
        ),
        WrongAnswer(
            "all-pairs-of-rows",
            lambda O, G: O @ transposed(G),
            "This multiplies every output with every gradient. Only row i with row i is needed: multiply entry "
            "by entry and sum.",
        ),
        WrongAnswer(
            "not-summed", lambda O, G: O * G, "You multiplied entry by entry and stopped: add each row up."
        ),
        WrongAnswer(
            "product-of-sums",
            lambda O, G: O.sum(axis=-1) * G.sum(axis=-1),
            "You added each row up before multiplying. Multiply first, then add.",
        ),
        WrongAnswer(
            "output-with-itself",
            lambda O, G: (O * O).sum(axis=-1),
            "You used the output twice; its gradient never comes in.",
        ),
        WrongAnswer(
            "gradient-with-itself",
            lambda O, G: (G * G).sum(axis=-1),
            "You used the gradient twice; the output never comes in.",
        ),
        WrongAnswer(
            "cosine",
            lambda O, G: (O * G).sum(axis=-1) / (np.linalg.norm(O, axis=-1) * np.linalg.norm(G, axis=-1)),
            "This is a cosine: you divided the lengths away.",
        ),
        WrongAnswer(
            "scaled",
            lambda O, G: (O * G).sum(axis=-1) / np.sqrt(O.shape[-1]),
            "You divided by a square root. No scale belongs here.",
        ),
        WrongAnswer(
            "signs-dropped",
            lambda O, G: np.abs(O * G).sum(axis=-1),
            "You dropped the signs of the products.",
        ),
        WrongAnswer(
            "result-transposed",
            lambda O, G: np.swapaxes((O * G).sum(axis=-1), -1, 0),
            "The numbers lie the wrong way round: the queries are the last axis of the result, behind "
            "the batch and the heads.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            lambda O, G: (half(O) * half(G)).sum(axis=-1),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _row_dots_changing_input,
            "You changed the caller's array: `*=` works in place, and so does `out=`. Make a new array.",
        ),
    ),
    also_right=(
        lambda O, G: np.einsum("...d,...d->...", O, G),
        lambda O, G: np.vecdot(O, G),
        lambda O, G: (O[..., None, :] @ G[..., :, None])[..., 0, 0],
        lambda O, G: sum(O[..., d] * G[..., d] for d in range(O.shape[-1])),
    ),
    hints=(
        "How many numbers should come out for each query?",
        "Multiply entry by entry; then add up each row, and only the row.",
        "`(output * grad_output).sum(axis=...)`: which axis holds the d_v coordinates?",
    ),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
)
