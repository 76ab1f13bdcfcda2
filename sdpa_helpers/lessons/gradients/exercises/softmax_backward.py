"""Lesson 04, exercise `softmax_backward`: back through softmax, without the Jacobian."""

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
    strided,
)
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.gradients.exercises.shared import (
    as_it_is,
    cases_of_shape,
    half,
    in_float16,
    renormalised,
    single,
    transposed,
)

PROMPT = r"""`softmax_backward(weights, grad_weights)`: from the gradient at the weights to the gradient at the scores, without building a Jacobian.

- `weights`, shape `(..., n_q, n_k)`: what softmax gave; a row adds up to 1. A fully masked row is all zeros.
- `grad_weights`, same shape: $\partial L / \partial A$, how the loss changes with each weight.
- Returns the same shape: $\partial L / \partial S$, how the loss changes with each score. Where a weight is zero, so is this gradient.

Example: {inputs:1}. The average under the weights is `0.5·1 + 0.25·2 + 0.25·0 = 1`, so the answer is {result:1}.

One case is in float32; the answer may be float32 or float64.
"""


def softmax_backward(weights, grad_weights):
    """Back through softmax: two arrays (..., n_q, n_k) -> (..., n_q, n_k)."""
    average = (weights * grad_weights).sum(axis=-1, keepdims=True)
    return weights * (grad_weights - average)


def _backward_by_jacobians(W, G):
    out = np.empty_like(G)
    for where in np.ndindex(W.shape[:-1]):
        out[where] = (np.diag(W[where]) - np.outer(W[where], W[where])) @ G[where]
    return out


def _backward_changing_input(W, G):
    G -= (W * G).sum(axis=-1, keepdims=True)
    return W * G


def _weights_and_gradient(rng, *shape, spread=1.0, size=1.0):
    return softmax(spread * rng.normal(size=shape)), size * rng.normal(size=shape)


def _special_rows(rng):
    """A one-hot row, a row with masked keys, a fully masked row, and a gradient that is the same for all keys."""
    W, G = _weights_and_gradient(rng, 5, 4)
    W[0], W[2] = [0.0, 1.0, 0.0, 0.0], 0.0
    W[1] = [(a := rng.uniform(0.2, 0.8)), 0.0, 1 - a, 0.0]
    G[3] = rng.uniform(1, 3)
    return read_only(W), read_only(G)


def _in_parts(*, convert, average, axis, subtract, outside, sign):
    """softmax_backward in six parts, each of which can be wrong; see MISTAKES."""

    def answer(W, G):
        W, G = convert[0](W), convert[1](G)
        return sign * outside(W, subtract(G, average(W, G, axis)), G)

    return answer


def _of(terms, reduce=np.sum, keepdims=True):
    return lambda W, G, axis: reduce(terms(W, G), axis=axis, keepdims=keepdims)


def _terms(W, G):
    return W * G


MISTAKES = Products(
    (
        Factor(
            "convert",
            (as_it_is, as_it_is),
            (
                Option("half-precision-somewhere", (half, half)),
                Option("half-precision-somewhere", (in_float16, in_float16)),
                Option("float32-somewhere", (single, single)),
                Option("softmax-twice", (softmax, as_it_is)),
            ),
        ),
        Factor(
            "average",
            _of(_terms),
            (
                Option("row-sum-left-out", lambda W, G, axis: 0.0),
                Option("mean-not-sum", _of(_terms, np.mean)),
                Option("unweighted-mean", _of(lambda W, G: G, np.mean)),
                Option("unweighted-sum", _of(lambda W, G: G)),
                Option("weights-squared", _of(lambda W, G: W * W * G)),
                Option("keepdims-forgotten", _of(_terms, keepdims=False)),
                Option("none-index-for-keepdims", lambda W, G, axis: (W * G).sum(axis=axis)[:, None]),
                Option("all-pairs-of-rows", lambda W, G, axis: W @ transposed(G)),
                Option("zero-row-gives-nan", lambda W, G, axis: _of(_terms)(renormalised(W), G, axis)),
            ),
        ),
        Factor(
            "axis",
            -1,
            (
                Option("column-sum", -2),
                Option("first-axis-sum", 0),
                Option("axis-one-hard-coded", 1),
                Option("total-sum", None),
            ),
        ),
        Factor(
            "subtract",
            lambda G, average: G - average,
            (
                Option("average-added", lambda G, average: G + average),
                Option("off-diagonal-only", lambda G, average: -average + 0 * G),
            ),
        ),
        Factor(
            "outside",
            lambda W, bracket, G: W * bracket,
            (
                Option("weights-not-multiplied", lambda W, bracket, G: bracket),
                Option("average-not-weighted-back", lambda W, bracket, G: W * G + (bracket - G)),
                Option("diagonal-only", lambda W, bracket, G: W * (1 - W) * G),
                Option(
                    "diagonal-multiplied",
                    lambda W, bracket, G: W * (1 - W) * bracket,
                    "You multiplied by s(1 − s) where the weights alone belong.",
                ),
            ),
        ),
        Factor(
            "sign",
            1,
            (
                Option("sign-flipped", -1),
                Option(
                    "factor-of-two",
                    2,
                    "Everything is twice as large as it should be. Nothing is squared here.",
                ),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: the plain mean, along the wrong axis."""


EXERCISE = Exercise(
    name="softmax_backward",
    lesson="04_gradients",
    title="Back through softmax, without the Jacobian",
    prompt=PROMPT,
    examples=(Example(([[0.5, 0.25, 0.25]], [[1, 2, 0]])),),
    section="4. Without the matrix",
    difficulty=3,
    minutes=10,
    reference=softmax_backward,
    cases=(
        Case("three queries, five keys", lambda rng: _weights_and_gradient(rng, 3, 5)),
        Case(
            "as many queries as keys",
            lambda rng: _weights_and_gradient(rng, 4, 4),
            says="A square matrix hides a sum along the wrong axis.",
        ),
        Case("batch and heads", lambda rng: _weights_and_gradient(rng, 2, 6, 3, 5)),
        Case(
            "masked keys, one-hot rows, a row of zeros",
            _special_rows,
            says="A key with weight 0 gets gradient 0, and so does a fully masked row. No division is needed.",
        ),
        Case(
            "large gradients, strided",
            lambda rng: tuple(strided(x) for x in _weights_and_gradient(rng, 7, 3, 6, spread=3, size=200)),
        ),
        Case(
            "float32",
            lambda rng: tuple(x.astype(np.float32) for x in _weights_and_gradient(rng, 6, 5, 3)),
        ),
        *cases_of_shape(
            lambda rng, batch, n_q, n_k: _weights_and_gradient(rng, batch, n_q, n_k),
            only=("n_q", "n_k"),
            n_q=3,
            n_k=4,
        ),
    ),
    wrong=(
        WrongAnswer(
            "row-sum-left-out",
            lambda W, G: W * G,
            "You multiplied by the weights and stopped. The weights of a row share one sum, so the row's weighted "
            "average of the gradient has to be subtracted first. Check: each row of the result adds up to 0.",
            ("What should come out when all keys of a row have the same gradient?",),
        ),
        WrongAnswer(
            "diagonal-only",
            lambda W, G: W * (1 - W) * G,
            "You used s(1 − s), the diagonal of the Jacobian, alone. Each score also moves all other weights of "
            "its row.",
            ("Multiply the whole matrix diag(s) − ssᵀ by the gradient, on paper, and simplify.",),
        ),
        WrongAnswer(
            "column-sum",
            lambda W, G: W * (G - (W * G).sum(axis=-2, keepdims=True)),
            "You took the average over the queries (axis −2). Softmax runs over the keys: sum along the last axis.",
        ),
        WrongAnswer(
            "first-axis-sum",
            lambda W, G: W * (G - (W * G).sum(axis=0, keepdims=True)),
            "You summed along axis 0, which is the batch as soon as there is one. Count axes from the end: −1.",
        ),
        WrongAnswer(
            "axis-one-hard-coded",
            lambda W, G: W * (G - (W * G).sum(axis=1, keepdims=True)),
            "You summed along axis 1. That is the keys only for a single matrix; with a batch in front it is not. "
            "Count axes from the end: −1.",
        ),
        WrongAnswer(
            "total-sum",
            lambda W, G: W * (G - (W * G).sum()),
            "You summed over everything. Each row has its own average: axis=-1, with keepdims=True.",
        ),
        WrongAnswer(
            "mean-not-sum",
            lambda W, G: W * (G - (W * G).mean(axis=-1, keepdims=True)),
            "You took the mean of weight × gradient. The weights already add up to 1, so their SUM is the average.",
        ),
        WrongAnswer(
            "unweighted-mean",
            lambda W, G: W * (G - G.mean(axis=-1, keepdims=True)),
            "You subtracted the plain mean of the gradient. It has to be the average under the weights of the row.",
        ),
        WrongAnswer(
            "unweighted-sum",
            lambda W, G: W * (G - G.sum(axis=-1, keepdims=True)),
            "You subtracted the plain sum of the gradient. The sum has to be weighted by the weights of the row.",
        ),
        WrongAnswer(
            "weights-not-multiplied",
            lambda W, G: G - (W * G).sum(axis=-1, keepdims=True),
            "The gradient minus its average is not yet the result: multiply it by the weights. A key with weight 0 "
            "gets no gradient.",
        ),
        WrongAnswer(
            "average-not-weighted-back",
            lambda W, G: W * G - (W * G).sum(axis=-1, keepdims=True),
            "The weights multiply the whole bracket, (gradient − average), and not the gradient alone.",
        ),
        WrongAnswer(
            "off-diagonal-only",
            lambda W, G: -W * (W * G).sum(axis=-1, keepdims=True),
            "You have the part of −ssᵀ; the part of diag(s), weight × gradient, is missing.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda W, G: W * ((W * G).sum(axis=-1, keepdims=True) - G),
            "Every sign is flipped: it is gradient minus average.",
        ),
        WrongAnswer(
            "average-added",
            lambda W, G: W * (G + (W * G).sum(axis=-1, keepdims=True)),
            "You added the average where it has to be subtracted.",
        ),
        WrongAnswer(
            "keepdims-forgotten",
            lambda W, G: W * (G - (W * G).sum(axis=-1)),
            "The sums lost their axis, so NumPy lines them up with the keys (or fails). Use keepdims=True.",
        ),
        WrongAnswer(
            "none-index-for-keepdims",
            lambda W, G: W * (G - (W * G).sum(axis=-1)[:, None]),
            "You put the lost axis back at place 1, as `[:, None]` does. That is its place for a single matrix; with "
            "a batch in front it is another. `keepdims=True` or `[..., None]` hold for any number of axes.",
        ),
        WrongAnswer(
            "weights-squared",
            lambda W, G: W * (G - (W * W * G).sum(axis=-1, keepdims=True)),
            "One factor of the weights too many is in the average: it is Σ weight × gradient.",
        ),
        WrongAnswer(
            "log-softmax-backward",
            lambda W, G: G - W * G.sum(axis=-1, keepdims=True),
            "This is the way back through the LOGARITHM of softmax.",
        ),
        WrongAnswer(
            "softmax-twice",
            lambda W, G: softmax_backward(softmax(W), G),
            "You applied softmax to the weights. They are weights already.",
        ),
        WrongAnswer(
            "gradient-passed-through",
            lambda W, G: G + 0,
            "You handed the gradient on as it came: softmax's own slopes are missing.",
        ),
        WrongAnswer(
            "whole-jacobian",
            lambda W, G: W[..., :, None] * (np.eye(W.shape[-1]) - W[..., None, :]),
            "These are the Jacobians, one matrix a row. Multiply each by the row's gradient; better, never build them.",
        ),
        WrongAnswer(
            "all-pairs-of-rows",
            lambda W, G: W * (G - W @ transposed(G)),
            "W @ Gᵀ multiplies every row of weights with every row of gradients. Row i belongs to row i: "
            "multiply entry by entry and sum.",
        ),
        WrongAnswer(
            "zero-row-gives-nan",
            lambda W, G: W * (G - (renormalised(W) * G).sum(axis=-1, keepdims=True)),
            "You divided by the sum of the weights, which is 0 for a fully masked row. The weights need no division.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            lambda W, G: softmax_backward(half(W), half(G)),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "float32-somewhere",
            lambda W, G: softmax_backward(single(W), single(G)),
            "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in the dtype you "
            "were given.",
        ),
        WrongAnswer(
            "changes-its-input",
            _backward_changing_input,
            "You changed the caller's array: `-=` works in place, and so does `out=`. Make a new array.",
        ),
    ),
    also_right=(
        _backward_by_jacobians,
        lambda W, G: W * G - W * np.einsum("...k,...k->...", W, G)[..., None],
        lambda W, G: W * (G - np.vecdot(W, G)[..., None]),
        lambda W, G: W * (G - (W[..., None, :] @ G[..., :, None])[..., 0]),
        lambda W, G: softmax_backward(W.astype(np.float64), G.astype(np.float64)),
    ),
    hints=(
        "One row is enough to find it: multiply the matrix diag(s) − ssᵀ by the gradient g, on paper.",
        "diag(s)g is s∘g, and ssᵀg is s times ONE number, s·g: the average of the gradient under the weights.",
        "`average = (weights * grad_weights).sum(axis=-1, keepdims=True)`; then weights times (gradient minus "
        "average).",
    ),
    invariants=(
        Invariant(
            "rows-do-not-add-up-to-zero",
            "Each row of the result has to add up to 0: raising all scores of a row alike changes no weight.",
            lambda inputs, dS: bool(np.abs(dS.sum(axis=-1)).max() <= 1e-5 * (1 + np.abs(inputs[1]).max())),
        ),
        Invariant(
            "gradient-without-weight",
            "Where a weight is exactly 0, the gradient of its score has to be 0 too.",
            lambda inputs, dS: bool(np.all(dS[inputs[0] == 0] == 0)),
        ),
    ),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
)
