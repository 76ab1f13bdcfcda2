"""Lesson 04, exercise `attention_backward`: attention, backwards."""

from functools import cache

import numpy as np

from sdpa_helpers.attention import softmax
from sdpa_helpers.checking.exercise import (
    COURSE_SOFTMAX,
    Case,
    Example,
    Exercise,
    Invariant,
    WrongAnswer,
    read_only_strided,
    redraw,
)
from sdpa_helpers.checking.products import Factor, Option, Products
from sdpa_helpers.lessons.gradients.exercises.shared import (
    as_it_is,
    cases_of_shape,
    half,
    in_float32,
    single,
    transposed,
)
from sdpa_helpers.lessons.torch_habits import TRANSPOSE_OF_TORCH

PROMPT = r"""`attention_backward(Q, K, V, grad_output)`: the whole backward pass of $O = \mathrm{softmax}(QK^{\mathsf T}/\sqrt{d_k})\,V$, in NumPy.

- `Q`, shape `(..., n_q, d_k)`; `K`, shape `(..., n_k, d_k)`; `V`, shape `(..., n_k, d_v)`.
- `grad_output`, shape `(..., n_q, d_v)`: $dO$, how the loss changes with each output.
- Returns a tuple `(dQ, dK, dV)`, each with the shape of its input. All leading axes are the same.

Compute the weights again on the way. Scores may be in the thousands: subtract each row's maximum. There is no mask and no dropout.

Example: {inputs:1}. The weights are `[[0.5, 0.5]]`, so $dA$ = `[[2, 6]]` with average 4, and $dS$ = `[[-1, 1]]`.
The answer is {result:1}.

You may call the functions that you wrote above, or write everything here. Then test your answer against PyTorch.
"""


def attention_backward(Q, K, V, grad_output):
    """Gradients of attention: -> (dQ, dK, dV), shaped like Q, K, V."""
    scale = 1 / np.sqrt(Q.shape[-1])
    S = Q @ np.swapaxes(K, -1, -2) * scale
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A /= A.sum(axis=-1, keepdims=True)

    dV = np.swapaxes(A, -1, -2) @ grad_output
    dA = grad_output @ np.swapaxes(V, -1, -2)
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    dQ = dS @ K * scale
    dK = np.swapaxes(dS, -1, -2) @ Q * scale
    return dQ, dK, dV


def softmax_backward(A, dA):
    return A * (dA - (A * dA).sum(axis=-1, keepdims=True))


def _variant(
    forward=0.5, back_q=0.5, back_k=0.5, *, softmax=softmax, step=softmax_backward, convert=lambda x: x
):
    """attention_backward with changes: the scales as powers of 1/d_k, the softmax, the way back through it."""

    def function(Q, K, V, G):
        Q, K, V, G = (convert(x) for x in (Q, K, V, G))
        d = float(Q.shape[-1])
        A = softmax(Q @ transposed(K) * d**-forward)
        dS = step(A, G @ transposed(V))
        return dS @ K * d**-back_q, transposed(dS) @ Q * d**-back_k, transposed(A) @ G

    return function


def _with_scale(scale):
    """attention_backward with another scale, computed from Q, K and V, forward and back."""

    def function(Q, K, V, G):
        c = scale(Q, K, V)
        A = softmax(Q @ transposed(K) * c)
        dS = softmax_backward(A, G @ transposed(V))
        return dS @ K * c, transposed(dS) @ Q * c, transposed(A) @ G

    return function


def _then(change):
    """The right answer, changed afterwards: change(dQ, dK, dV, inputs)."""
    return lambda *inputs: change(*attention_backward(*inputs), inputs)


@cache
def _by_central_differences(h):
    """Every number of the inputs moved up and down by h. One function for each h, whose results are kept."""

    def function(Q, K, V, G):
        def slopes(n):
            out = np.empty_like((Q, K, V)[n])
            for place in np.ndindex(out.shape):
                step = np.zeros_like(out)
                step[place] = h
                up, down = (
                    [x + sign * step if i == n else x for i, x in enumerate((Q, K, V))] for sign in (1, -1)
                )
                out[place] = ((_output(*up) - _output(*down)) * G).sum() / (2 * h)
            return out

        return tuple(slopes(n) for n in range(3))

    return function


def _output(Q, K, V):
    return _weights_of(Q, K) @ V


def _without_max(S):
    e = np.exp(S)
    return e / e.sum(axis=-1, keepdims=True)


def _global_max(S):
    e = np.exp(S - S.max())
    return e / e.sum(axis=-1, keepdims=True)


def _lined_up_by_none(S):
    e = np.exp(S - S.max(axis=-1)[:, None])
    return e / e.sum(axis=-1)[:, None]


def _causal(S):
    future = np.triu(np.ones(S.shape[-2:], dtype=bool), 1)
    return softmax(np.where(future, -np.inf, S))


def _weights_of(Q, K):
    return softmax(Q @ transposed(K) / np.sqrt(Q.shape[-1]))


def _einsum_for_two_axes(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(np.einsum("id,jd->ij", Q, K) * c)
    dS = softmax_backward(A, np.einsum("ic,jc->ij", G, V))
    return np.einsum("ij,jd->id", dS, K) * c, np.einsum("ij,id->jd", dS, Q) * c, np.einsum("ij,ic->jc", A, G)


def _all_axes_transposed(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ K.T * c)
    dS = softmax_backward(A, G @ V.T)
    return dS @ K * c, dS.T @ Q * c, A.T @ G


def _transposed_as_in_torch(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ K.transpose(-2, -1) * c)
    dS = softmax_backward(A, G @ V.transpose(-2, -1))
    return dS @ K * c, dS.transpose(-2, -1) @ Q * c, A.transpose(-2, -1) @ G


def _transposes_exchanged(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ transposed(K) * c)
    dS = softmax_backward(A, G @ transposed(V))
    return transposed(dS) @ K * c, dS @ Q * c, transposed(A) @ G


def _keys_not_transposed_back(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ transposed(K) * c)
    dS = softmax_backward(A, G @ transposed(V))
    dV = transposed(A) @ G
    return dS @ K * c, dS @ Q * c, dV


def _values_not_transposed_in_weights(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ transposed(K) * c)
    dS = softmax_backward(A, G @ V)
    return dS @ K * c, transposed(dS) @ Q * c, transposed(A) @ G


def _gradient_of_weights_transposed(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ transposed(K) * c)
    dS = softmax_backward(A, V @ transposed(G))
    return dS @ K * c, transposed(dS) @ Q * c, transposed(A) @ G


def _inputs_confused(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = softmax(Q @ transposed(K) * c)
    dS = softmax_backward(A, G @ transposed(V))
    return dS @ Q * c, transposed(dS) @ K * c, transposed(A) @ G


def _output_for_gradient(Q, K, V, G):
    A = _weights_of(Q, K)
    dA = G @ transposed(V)
    dS = A * (dA - ((O := A @ V) * O).sum(axis=-1, keepdims=True))
    c = 1 / np.sqrt(Q.shape[-1])
    return dS @ K * c, transposed(dS) @ Q * c, transposed(A) @ G


def _changing_inputs(Q, K, V, G):
    Q /= np.sqrt(Q.shape[-1])
    A = softmax(Q @ transposed(K))
    dS = softmax_backward(A, G @ transposed(V))
    return dS @ K / np.sqrt(Q.shape[-1]), transposed(dS) @ Q, transposed(A) @ G


def _by_output_dots(Q, K, V, G):
    A = _weights_of(Q, K)
    dS = A * (G @ transposed(V) - (A @ V * G).sum(axis=-1, keepdims=True))
    return dS @ K / np.sqrt(Q.shape[-1]), transposed(dS) @ Q / np.sqrt(Q.shape[-1]), transposed(A) @ G


def _by_rows(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for b in np.ndindex(Q.shape[:-2]):
        for i in range(Q.shape[-2]):
            s = softmax(K[b] @ Q[b][i] * c)
            ds = (np.diag(s) - np.outer(s, s)) @ (V[b] @ G[b][i])
            dQ[b][i] = ds @ K[b] * c
            dK[b] += np.outer(ds, Q[b][i]) * c
            dV[b] += np.outer(s, G[b][i])
    return dQ, dK, dV


def _folded(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    scaled = Q * c
    A = softmax(scaled @ transposed(K))
    dS = softmax_backward(A, G @ transposed(V))
    return (dS @ K) * c, transposed(dS) @ scaled, transposed(A) @ G


def _fourth_roots(Q, K, V, G):
    c = Q.shape[-1] ** -0.25
    q, k = Q * c, K * c
    A = softmax(np.einsum("...id,...jd->...ij", q, k))
    dS = softmax_backward(A, np.einsum("...ic,...jc->...ij", G, V))
    return dS @ k * c, np.einsum("...ij,...id->...jd", dS, q) * c, np.einsum("...ij,...ic->...jc", A, G)


def _raw_scores(Q, K, V, G):
    """The chain rule taken in two steps: the gradient at QKᵀ itself already holds the scale."""
    A = _weights_of(Q, K)
    raw = softmax_backward(A, G @ transposed(V)) / np.sqrt(Q.shape[-1])
    return raw @ K, transposed(raw) @ Q, transposed(A) @ G


def _steps():
    """The ways through softmax that are wrong, by the names in the list."""

    def away(average):
        return lambda A, dA: A * (dA - average(A, dA))

    return {
        "row-sum-left-out": lambda A, dA: A * dA,
        "diagonal-only": lambda A, dA: A * (1 - A) * dA,
        "softmax-step-left-out": lambda A, dA: dA,
        "jacobian-of-outer-product-only": lambda A, dA: -A * (A * dA).sum(axis=-1, keepdims=True),
        "column-sum": away(lambda A, dA: (A * dA).sum(axis=-2, keepdims=True)),
        "none-index-for-keepdims": away(lambda A, dA: (A * dA).sum(axis=-1)[:, None]),
        "keepdims-forgotten": away(lambda A, dA: (A * dA).sum(axis=-1)),
        "total-sum": away(lambda A, dA: (A * dA).sum()),
        "mean-not-sum": away(lambda A, dA: (A * dA).mean(axis=-1, keepdims=True)),
        "unweighted-mean": away(lambda A, dA: dA.mean(axis=-1, keepdims=True)),
        "weights-not-multiplied": lambda A, dA: dA - (A * dA).sum(axis=-1, keepdims=True),
        "average-added": lambda A, dA: A * (dA + (A * dA).sum(axis=-1, keepdims=True)),
        "softmax-sign-flipped": lambda A, dA: -softmax_backward(A, dA),
    }


def _four(rng, n_q, n_k, d_k, d_v, *batch):
    shapes = ((n_q, d_k), (n_k, d_k), (n_k, d_v), (n_q, d_v))
    return tuple(rng.normal(size=(*batch, *shape)) for shape in shapes)


def _far_apart(rng):
    """Scores in the thousands. Every key has a near twin, so that each row keeps a gradient of ordinary size."""

    def draw(rng):
        Q, K, V, G = _four(rng, 5, 6, 3, 4)
        Q, K = 400 * Q, 4 * K
        K[1::2] = K[::2] + 0.004 * rng.normal(size=(3, 3))
        return Q, K, V, G

    def one_row_is_far_below(Q, K, V, G):  # exp is 0 below −745: the global maximum has to fail
        largest = (Q @ K.T / np.sqrt(3)).max(axis=-1)
        return largest.max() - largest.min() > 900

    return redraw(rng, draw, one_row_is_far_below)


def _partly_zero(rng):
    Q, K, V, G = _four(rng, 5, 3, 6, 2, 4)
    K[:, 1], V[:, 2], G[:, 3], Q[:, 0] = 0.0, 0.0, 0.0, 0.0
    return tuple(read_only_strided(x) for x in (Q, K, V, G))


def _keys_cancel(inputs, gradients):
    dK = gradients[1]
    return bool(np.abs(dK.sum(axis=-2)).max() <= 1e-7 * (1 + np.abs(dK).sum(axis=-2).max()))


def _values_conserve(inputs, gradients):
    G = inputs[3]
    return bool(np.allclose(gradients[2].sum(axis=-2), G.sum(axis=-2), atol=1e-8 * (1 + np.abs(G).sum())))


def _queries_and_keys_agree(inputs, gradients):
    left, right = (inputs[i] * gradients[i] for i in (0, 1))
    size = 1 + np.abs(left).sum() + np.abs(right).sum()
    return bool(np.abs(left.sum(axis=(-1, -2)) - right.sum(axis=(-1, -2))).max() <= 1e-7 * size)


def _in_parts(*, differences, convert, turn, scale, weights, gradient, step, keys, values, result):
    """attention_backward in parts, each of which can be wrong; see MISTAKES.

    turn: how a matrix is transposed. scale: the powers of 1/d_k forward, for dQ and for dK. step: through softmax.
    differences: the step of finite differences in the place of all that.
    """
    if differences:
        return _by_central_differences(differences)

    def function(Q, K, V, G):
        Q, K, V, G = (convert(x) for x in (Q, K, V, G))
        forward, back_q, back_k = (float(Q.shape[-1]) ** -power for power in scale)
        A = weights(Q @ turn(K) * forward)
        dS = step(A, gradient(G, V, turn))
        return result(dS @ K * back_q, keys(dS, turn) @ Q * back_k, values(A, turn) @ G, Q)

    return function


def _each(*gradients, by):
    return tuple(gradient * by for gradient in gradients)


_NO_GRADIENT = (
    "dA is made as if the loss were the sum of the outputs: dA = dO Vᵀ, and grad_output says what dO is."
)

_SCALES = {
    "scale-missing-in-queries": (0.5, 0.0, 0.5),
    "scale-missing-in-keys": (0.5, 0.5, 0.0),
    "scale-missing-backward": (0.5, 0.0, 0.0),
    "scale-doubled": (0.5, 1.0, 1.0),
    "scale-doubled-in-queries": (0.5, 1.0, 0.5),
    "scale-doubled-in-keys": (0.5, 0.5, 1.0),
    "scale-inverted-backward": (0.5, -0.5, -0.5),
    "no-scaling": (0.0, 0.0, 0.0),
    "scale-missing-forward": (0.0, 0.5, 0.5),
    "divided-by-d": (1.0, 1.0, 1.0),
}

MISTAKES = Products(
    (
        Factor("differences", 0.0, tuple(Option("central-differences", h) for h in (1e-3, 1e-4))),
        Factor(
            "convert",
            as_it_is,
            (
                Option("half-precision-somewhere", half),
                Option("float32-somewhere", single),
                Option("float32-somewhere", in_float32),
            ),
        ),
        Factor(
            "turn",
            transposed,
            (
                Option("all-axes-transposed", np.transpose),
                Option("transpose-of-two-axes", lambda x: x.transpose(-2, -1)),
            ),
        ),
        Factor("scale", (0.5, 0.5, 0.5), tuple(Option(name, powers) for name, powers in _SCALES.items())),
        Factor(
            "weights",
            softmax,
            (
                Option("softmax-over-queries", lambda S: softmax(S, axis=-2)),
                Option("softmax-twice", lambda S: softmax(softmax(S))),
                Option("scores-not-softmaxed", as_it_is),
                Option("causal-mask-put-in", _causal),
                Option("no-max-subtraction", _without_max),
                Option("global-maximum", _global_max),
                Option("none-index-for-keepdims", _lined_up_by_none),
            ),
        ),
        Factor(
            "gradient",
            lambda G, V, turn: G @ turn(V),
            (
                Option("values-not-transposed-in-weights", lambda G, V, turn: G @ V),
                Option("gradient-of-the-weights-transposed", lambda G, V, turn: V @ turn(G)),
                Option(
                    "output-gradient-ignored-in-weights",
                    lambda G, V, turn: np.ones_like(G) @ turn(V),
                    _NO_GRADIENT,
                ),
            ),
        ),
        Factor("step", softmax_backward, tuple(Option(name, step) for name, step in _steps().items())),
        Factor("keys", lambda dS, turn: turn(dS), (Option("keys-not-transposed", lambda dS, turn: dS),)),
        Factor("values", lambda A, turn: turn(A), (Option("values-not-transposed", lambda A, turn: A),)),
        Factor(
            "result",
            lambda dQ, dK, dV, Q: (dQ, dK, dV),
            (
                Option("values-first", lambda dQ, dK, dV, Q: (dV, dQ, dK)),
                Option("averaged-over-queries", lambda dQ, dK, dV, Q: _each(dQ, dK, dV, by=1 / Q.shape[-2])),
                Option("queries-and-keys-swapped", lambda dQ, dK, dV, Q: (dK, dQ, dV)),
                Option("everything-negative", lambda dQ, dK, dV, Q: _each(dQ, dK, dV, by=-1)),
                Option("values-scaled", lambda dQ, dK, dV, Q: (dQ, dK, dV / np.sqrt(Q.shape[-1]))),
                Option("factor-of-two", lambda dQ, dK, dV, Q: _each(dQ, dK, dV, by=2)),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: the row sum left out, and no scale on the way back."""


EXERCISE = Exercise(
    name="attention_backward",
    lesson="04_gradients",
    title="Attention, backwards",
    prompt=PROMPT,
    examples=(Example(([[0]], [[1], [-1]], [[1], [3]], [[2]])),),
    section="5. Attention, line by line, backwards",
    difficulty=4,
    minutes=25,
    reference=attention_backward,
    cases=(
        Case("three queries, five keys", lambda rng: _four(rng, 3, 5, 6, 2)),
        Case(
            "all sizes equal",
            lambda rng: _four(rng, 5, 5, 5, 5),
            says="When all sizes are equal no shape can warn you of a missing transpose.",
        ),
        Case("a batch of four", lambda rng: _four(rng, 2, 6, 3, 5, 4)),
        Case("batch and heads", lambda rng: _four(rng, 5, 4, 6, 7, 2, 3), points=2),
        Case(
            "scores in the thousands",
            _far_apart,
            says="Here the scores lie in the thousands, and differ in steps far larger and far smaller than 1: each row "
            "needs its own largest score subtracted, and every digit.",
        ),
        Case(
            "zero rows, read-only, strided",
            _partly_zero,
            says="A query whose output has no gradient gets none; a zero vector is an ordinary vector.",
        ),
        Case(
            "one query, values of one number, a batch of one",
            lambda rng: _four(rng, 1, 4, 3, 1, 1),
            says="An axis of length 1 is an axis like any other: it stays.",
        ),
        Case(
            "one key, of one number",
            lambda rng: _four(rng, 3, 1, 1, 4),
            says="One key alone has weight 1 whatever its score: only its value learns.",
        ),
        *cases_of_shape(
            lambda rng, batch, n_q, n_k, d_k, d_v: _four(rng, n_q, n_k, d_k, d_v, batch),
            only=(),
            n_q=3,
            n_k=4,
            d_k=2,
            d_v=5,
        ),
    ),
    wrong=(
        WrongAnswer(
            "row-sum-left-out",
            _variant(step=lambda A, dA: A * dA),
            "dS = A∘dA is not all of softmax's way back: subtract each row's Σ A∘dA from dA first. Check: the "
            "rows of dS have to add up to 0.",
            ("Compare with your softmax_backward.",),
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "diagonal-only",
            _variant(step=lambda A, dA: A * (1 - A) * dA),
            "You used A(1 − A), the diagonal of softmax's Jacobian, alone. Each score also moves the other weights of "
            "its row.",
            section="8. Find the error in this article",
        ),
        WrongAnswer(
            "softmax-step-left-out",
            _variant(step=lambda A, dA: dA),
            "You used the gradient at the weights as the gradient at the scores: the way back through softmax is "
            "missing.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "jacobian-of-outer-product-only",
            _variant(step=lambda A, dA: -A * (A * dA).sum(axis=-1, keepdims=True)),
            "Of softmax's Jacobian diag(s) − ssᵀ you used −ssᵀ alone: the part A∘dA is missing.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "column-sum",
            _variant(step=lambda A, dA: A * (dA - (A * dA).sum(axis=-2, keepdims=True))),
            "You took softmax's average over the queries (axis −2). It runs over the keys: axis −1.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "none-index-for-keepdims",
            _variant(softmax=_lined_up_by_none, step=_steps()["none-index-for-keepdims"]),
            "You put the axis that a sum lost back at place 1, as `[:, None]` does. That is its place for a single "
            "matrix; with a batch in front it is another. `keepdims=True` or `[..., None]` hold for any number of "
            "axes.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "keepdims-forgotten",
            _variant(step=lambda A, dA: A * (dA - (A * dA).sum(axis=-1))),
            "The sums of A∘dA lost their axis, so NumPy lines them up with the keys (or fails). Use keepdims=True.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "total-sum",
            _variant(step=lambda A, dA: A * (dA - (A * dA).sum())),
            "You subtracted the sum over the whole array. Each row has its own average.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "mean-not-sum",
            _variant(step=lambda A, dA: A * (dA - (A * dA).mean(axis=-1, keepdims=True))),
            "You took the mean of A∘dA. The weights add up to 1 already, so their SUM is the average.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "unweighted-mean",
            _variant(step=lambda A, dA: A * (dA - dA.mean(axis=-1, keepdims=True))),
            "You subtracted the plain mean of dA. It has to be the average under the weights, Σ A∘dA.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "weights-not-multiplied",
            _variant(step=lambda A, dA: dA - (A * dA).sum(axis=-1, keepdims=True)),
            "You left dS at the bracket dA − Σ A∘dA. dS is A times it.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "average-added",
            _variant(step=lambda A, dA: A * (dA + (A * dA).sum(axis=-1, keepdims=True))),
            "You added the row's average where it has to be subtracted.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "softmax-sign-flipped",
            _variant(step=lambda A, dA: -softmax_backward(A, dA)),
            "dQ and dK have the wrong sign: dS is A∘(dA − average), not the other way round.",
            section="4. Without the matrix",
        ),
        WrongAnswer(
            "everything-negative",
            _then(lambda dQ, dK, dV, inputs: (-dQ, -dK, -dV)),
            "Every sign is flipped. Return the gradients, not the steps against them.",
        ),
        WrongAnswer(
            "output-with-itself",
            _output_for_gradient,
            "You subtracted Σ O∘O. The row's average is Σ O∘dO: the output times its gradient.",
            section="6. What the gradient of a score says",
        ),
        WrongAnswer(
            "scale-missing-in-queries",
            _variant(0.5, 0.0, 0.5),
            "1/√d_k is missing from dQ: the scores are QKᵀ/√d_k, so the chain rule brings it once more.",
            ("Divide your dQ by √d_k and compare.",),
        ),
        WrongAnswer(
            "scale-missing-in-keys",
            _variant(0.5, 0.5, 0.0),
            "1/√d_k is missing from dK: the scores are QKᵀ/√d_k, so the chain rule brings it here too.",
        ),
        WrongAnswer(
            "scale-missing-backward",
            _variant(0.5, 0.0, 0.0),
            "1/√d_k is missing from dQ and dK. You scaled on the way forward; the chain rule scales again on the way back.",
        ),
        WrongAnswer(
            "scale-doubled",
            _variant(0.5, 1.0, 1.0),
            "dQ and dK hold 1/√d_k twice. The gradient at the raw scores holds 1/√d_k "
            "already; the gradient at the scaled scores does not.",
            section="8. Find the error in this article",
        ),
        WrongAnswer(
            "scale-doubled-in-queries",
            _variant(0.5, 1.0, 0.5),
            "dQ holds 1/√d_k twice: once is enough.",
            section="8. Find the error in this article",
        ),
        WrongAnswer(
            "scale-doubled-in-keys",
            _variant(0.5, 0.5, 1.0),
            "dK holds 1/√d_k twice: once is enough.",
            section="8. Find the error in this article",
        ),
        WrongAnswer(
            "scale-inverted-backward",
            _variant(0.5, -0.5, -0.5),
            "You multiplied by √d_k on the way back. Forward and back have the same factor, 1/√d_k.",
        ),
        WrongAnswer(
            "no-scaling",
            _variant(0.0, 0.0, 0.0),
            "These are the gradients of attention WITHOUT scaling: 1/√d_k is missing on the way forward and back.",
        ),
        WrongAnswer(
            "scale-missing-forward",
            _variant(0.0, 0.5, 0.5),
            "You scaled on the way back only. The weights that you compute again have to be those of the forward pass, "
            "softmax(QKᵀ/√d_k).",
        ),
        WrongAnswer(
            "divided-by-d",
            _variant(1.0, 1.0, 1.0),
            "You used the scale 1/d_k. It is 1/√d_k.",
        ),
        WrongAnswer(
            "scale-of-the-values",
            _with_scale(lambda Q, K, V: V.shape[-1] ** -0.5),
            "You scaled by √d_v, the size of the values. The scale comes from the size of queries and keys, d_k.",
        ),
        WrongAnswer(
            "scale-of-the-keys-count",
            _with_scale(lambda Q, K, V: K.shape[-2] ** -0.5),
            "You scaled by √n_k, the number of keys. The scale comes from d_k, the length of one key.",
        ),
        WrongAnswer(
            "scale-from-first-axis",
            _with_scale(lambda Q, K, V: Q.shape[1] ** -0.5),
            "You took d_k from axis 1 (`Q.shape[1]`). With a batch in front that is another size. Use `Q.shape[-1]`.",
        ),
        WrongAnswer(
            "queries-and-keys-swapped",
            _then(lambda dQ, dK, dV, inputs: (dK, dQ, dV)),
            "dQ and dK came in the wrong order: return (dQ, dK, dV).",
        ),
        WrongAnswer(
            "values-first",
            _then(lambda dQ, dK, dV, inputs: (dV, dQ, dK)),
            "The order is wrong: dV is computed first, but return (dQ, dK, dV).",
        ),
        WrongAnswer(
            "list-not-tuple",
            _then(lambda dQ, dK, dV, inputs: [dQ, dK, dV]),
            "You returned a list. Return a tuple: `return dQ, dK, dV`.",
        ),
        WrongAnswer(
            "queries-and-keys-confused",
            _inputs_confused,
            "dQ has to be made of the KEYS (a query moves along the keys it is pulled to), and dK of the queries.",
        ),
        WrongAnswer(
            "keys-not-transposed",
            _keys_not_transposed_back,
            "dK needs dSᵀ: key j collects column j of dS. With as many queries as keys no shape tells you.",
        ),
        WrongAnswer(
            "transposes-exchanged",
            _transposes_exchanged,
            "The transpose is on the wrong one: dQ is made of dS K, dK of dSᵀ Q. With as many queries as keys no shape "
            "tells you.",
        ),
        WrongAnswer(
            "values-not-transposed",
            _then(lambda dQ, dK, dV, i: (dQ, dK, _weights_of(i[0], i[1]) @ i[3])),
            "dV needs Aᵀ: value j collects column j of the weights. With as many queries as keys no shape tells you.",
        ),
        WrongAnswer(
            "values-not-transposed-in-weights",
            _values_not_transposed_in_weights,
            "dA needs Vᵀ: entry [i, j] is the dot product of the output's gradient i with value j.",
        ),
        WrongAnswer(
            "gradient-of-the-weights-transposed",
            _gradient_of_weights_transposed,
            "dA lies the wrong way round: V dOᵀ has a row for each key. Entry [i, j] belongs to query i and key j: "
            "dA = dO Vᵀ.",
        ),
        WrongAnswer(
            "values-from-scores",
            _then(
                lambda dQ, dK, dV, i: (
                    dQ,
                    dK,
                    transposed(i[0] @ transposed(i[1]) / np.sqrt(i[0].shape[-1])) @ i[3],
                )
            ),
            "dV is made of the scores. It has to be made of the weights, after softmax.",
        ),
        WrongAnswer(
            "values-from-scores-gradient",
            _then(
                lambda dQ, dK, dV, i: (
                    dQ,
                    dK,
                    transposed(softmax_backward(_weights_of(i[0], i[1]), i[3] @ transposed(i[2]))) @ i[3],
                )
            ),
            "dV is made of dS. The values come after softmax: dV = AᵀdO.",
        ),
        WrongAnswer(
            "values-scaled",
            _then(lambda dQ, dK, dV, inputs: (dQ, dK, dV / np.sqrt(inputs[0].shape[-1]))),
            "You divided dV by √d_k. The values never meet the scale.",
        ),
        WrongAnswer(
            "softmax-over-queries",
            _variant(softmax=lambda S: softmax(S, axis=-2)),
            "Your weights add up to 1 for each key. Softmax runs over the keys, for each query: the last axis.",
        ),
        WrongAnswer(
            "softmax-twice",
            _variant(softmax=lambda S: softmax(softmax(S))),
            "You applied softmax twice.",
        ),
        WrongAnswer(
            "scores-not-softmaxed",
            _variant(softmax=lambda S: S),
            "You used the scores where the weights belong: softmax is missing on the way forward.",
        ),
        WrongAnswer(
            "causal-mask-put-in",
            _variant(softmax=_causal),
            "You masked later keys. Nothing is masked in this exercise.",
        ),
        WrongAnswer(
            "no-max-subtraction",
            _variant(softmax=_without_max),
            "Without subtracting the row's largest score first, exp overflows for large scores, and NaN spreads into "
            "every gradient.",
        ),
        WrongAnswer(
            "global-maximum",
            _variant(softmax=_global_max),
            "You subtracted the largest score of the whole array. A row whose scores all lie far below it becomes 0/0. "
            "Each row needs its own maximum.",
        ),
        WrongAnswer(
            "central-differences",
            _by_central_differences(1e-5),
            "These numbers are good to some digits only, as differences of the output at two places are. They serve for "
            "checking a formula; write the formula here.",
        ),
        WrongAnswer(
            "output-gradient-ignored",
            lambda Q, K, V, G: attention_backward(Q, K, V, np.ones_like(G)),
            "You assumed that the loss is the sum of the outputs. grad_output says how the loss moves with each "
            "output.",
        ),
        WrongAnswer(
            "mean-over-queries",
            _then(lambda dQ, dK, dV, i: (dQ, dK / i[0].shape[-2], dV / i[0].shape[-2])),
            "You divided dK and dV by the number of queries. Gradients add up over the queries.",
        ),
        WrongAnswer(
            "averaged-over-queries",
            _then(lambda dQ, dK, dV, i: _each(dQ, dK, dV, by=1 / i[0].shape[-2])),
            "All three gradients are divided by the number of queries. grad_output says how the loss moves with each "
            "output; no average is taken here.",
        ),
        WrongAnswer(
            "transpose-of-two-axes",
            _transposed_as_in_torch,
            TRANSPOSE_OF_TORCH,
            clue="transpose-of-two-axes",
        ),
        WrongAnswer(
            "two-axes-only",
            _einsum_for_two_axes,
            "This works for matrices only: with leading axes, a batch or heads, it fails. `...` in an index or in "
            "einsum, and axes counted from the end (-1, -2), hold for any number of them.",
        ),
        WrongAnswer(
            "all-axes-transposed",
            _all_axes_transposed,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
            clue="transpose-all",
        ),
        WrongAnswer(
            "weights-detached",
            _then(lambda dQ, dK, dV, inputs: (0 * dQ, 0 * dK, dV)),
            "Nothing reaches the queries and keys, as if the weights were constants. They depend on Q and K: go back "
            "through softmax too.",
        ),
        WrongAnswer(
            "sigmoid-not-softmax",
            _variant(softmax=lambda S: 1 / (1 + np.exp(-S)), step=lambda A, dA: A * (1 - A) * dA),
            "You used the logistic function for each score by itself. Softmax makes the keys of a row share a "
            "sum of 1.",
        ),
        WrongAnswer(
            "keys-used-as-values",
            lambda Q, K, V, G: attention_backward(Q, K, K, G),
            "You used K where V belongs.",
        ),
        WrongAnswer(
            "factor-of-two",
            _then(lambda dQ, dK, dV, inputs: (2 * dQ, 2 * dK, 2 * dV)),
            "Everything is twice as large as it should be. The gradient at the output is given; no square is "
            "differentiated here.",
        ),
        WrongAnswer(
            "output-returned",
            lambda Q, K, V, G: _weights_of(Q, K) @ V,
            "This is the forward pass. Return the three gradients.",
        ),
        WrongAnswer(
            "half-precision-somewhere",
            _variant(convert=half),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "float32-somewhere",
            _variant(convert=single),
            "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in float64.",
        ),
        WrongAnswer(
            "changes-its-input",
            _changing_inputs,
            "You changed the caller's arrays: `Q /= ...` works in place, and so does `out=Q`. Make a new array.",
        ),
    ),
    also_right=(_by_output_dots, _by_rows, _folded, _fourth_roots, _raw_scores),
    hints=(
        "Write the forward pass in four lines: S, A, O. Each line backwards is one line. Start with the last: O = AV.",
        "From O = AV: dV = AᵀdO and dA = dO Vᵀ. Through softmax: softmax_backward. From S = QKᵀ·c: each of dQ "
        "and dK is a product of dS (or its transpose) with the other input, times c.",
        "`dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))`, `dQ = dS @ K * scale`, and dK is dS with its last two "
        "axes swapped, times Q, times scale.",
    ),
    invariants=(
        Invariant(
            "values-lose-gradient",
            "What you return as dV cannot be it: the gradients of all values together equal the gradients of all outputs "
            "together, because the weights of a row add up to 1.",
            _values_conserve,
        ),
        Invariant(
            "key-gradients-do-not-cancel",
            "What you return as dK cannot be it: the gradients of all keys together are 0, because adding one vector to "
            "every key changes no weight.",
            _keys_cancel,
        ),
        Invariant(
            "queries-and-keys-disagree",
            "What you return as dQ and dK does not go together: Σ Q∘dQ equals Σ K∘dK, because twice the queries with half "
            "the keys gives the same scores.",
            _queries_and_keys_agree,
        ),
    ),
    allows=(COURSE_SOFTMAX,),
    mistakes=MISTAKES,
)
