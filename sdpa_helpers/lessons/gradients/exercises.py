"""Exercises of lesson 04: softmax's Jacobian, attention's backward pass, and how to measure gradients."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Exercise, Invariant, WrongAnswer, read_only, redraw, strided

LESSON = "04_gradients"
BY_HAND = ("torch", "sdpa_helpers.scaled_dot_product_attention")
"""The gradients are to be written in NumPy: autograd would be the answer."""


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _half(x):
    return x.astype(np.float16).astype(x.dtype)


def _single(x):
    return x.astype(np.float32).astype(x.dtype)


def _t(x):
    return np.swapaxes(x, -1, -2)


# ---- softmax_jacobian -----------------------------------------------------------------------------------


def softmax_jacobian(x):
    """All slopes of softmax: x (n,) -> (n, n), entry [i, j] is how weight i moves with score j."""
    e = np.exp(x - x.max())
    s = e / e.sum()
    return np.diag(s) - np.outer(s, s)


def _jacobian_by_loops(x):
    s = _softmax(x)
    J = np.empty((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            J[i, j] = s[i] * ((1.0 if i == j else 0.0) - s[j])
    return J


def _jacobian_by_complex_steps(x):
    steps = x[:, None] - x.max() + 1e-30j * np.eye(len(x))
    e = np.exp(steps)
    return (e / e.sum(axis=0)).imag / 1e-30


def _jacobian_by_differences(x, h=1e-6):
    return np.stack([(_softmax(x + h * row) - _softmax(x)) / h for row in np.eye(len(x))], axis=-1)


def _jacobian_changing_input(x):
    x -= x.max()
    return softmax_jacobian(x)


SOFTMAX_JACOBIAN = Exercise(
    name="softmax_jacobian",
    lesson=LESSON,
    title="All slopes of softmax",
    section="2. All slopes at once",
    difficulty=2,
    minutes=10,
    reference=softmax_jacobian,
    cases=(
        Case("three scores", lambda rng: (rng.normal(size=3),)),
        Case("five scores, read-only", lambda rng: (read_only(2 * rng.normal(size=5)),)),
        Case(
            "ties and zeros",
            lambda rng: (np.array([a := rng.uniform(0.5, 2), 0.0, a, 0.0, -a, 0.0]),),
            says="Equal scores have equal weights, and still pull at each other.",
        ),
        Case(
            "scores of three thousand",
            lambda rng: (np.array([3000.0, a := 3000 + rng.uniform(0.2, 2), -3000.0, a - 3, -3000.0]),),
            says="Only differences of scores count: subtract the largest one before the exponential.",
        ),
        Case(
            "two scores, far below zero",
            lambda rng: (-800 + rng.uniform(0.1, 2, size=2),),
            says="Only differences of scores count: subtract the largest one before the exponential.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "diagonal-only",
            lambda x: (s := _softmax(x)) * (1 - s),
            "These are the n slopes s(1 − s) of each weight with its OWN score. Every weight moves with every score, "
            "because all share one sum: there are n × n slopes.",
            ("Push the first score up. What has to happen to the other weights, if the sum stays 1?",),
        ),
        WrongAnswer(
            "diagonal-only-as-matrix",
            lambda x: np.diag((s := _softmax(x)) * (1 - s)),
            "Only the diagonal is there, the slope of each weight with its OWN score. The others are −s_i·s_j, not 0: "
            "the weights share one sum.",
            ("Push the first score up. What has to happen to the other weights, if the sum stays 1?",),
        ),
        WrongAnswer(
            "outer-product-only",
            lambda x: -np.outer(s := _softmax(x), s),
            "You have the part −s sᵀ, the same for all pairs. On the diagonal s_i has to be added: there the score "
            "also stands in the numerator.",
        ),
        WrongAnswer(
            "diag-of-weights-only",
            lambda x: np.diag(_softmax(x)),
            "You have diag(s), the slope of the numerators. The denominator moves too: subtract s sᵀ.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda x: np.outer(s := _softmax(x), s) - np.diag(s),
            "Every sign is turned round: a weight has to GROW with its own score.",
        ),
        WrongAnswer(
            "plus-outer-product",
            lambda x: np.diag(s := _softmax(x)) + np.outer(s, s),
            "You added s sᵀ where it has to be subtracted. Check: each column of slopes adds up to 0, because the "
            "weights keep adding up to 1.",
        ),
        WrongAnswer(
            "off-diagonal-sign",
            lambda x: np.diag(2 * (s := _softmax(x)) * (1 - s) - s + s * s) + np.outer(s, s) - np.diag(s * s),
            "The diagonal is right, the sign beside it is not: when another score grows, this weight shrinks.",
        ),
        WrongAnswer(
            "own-rule-for-all-pairs",
            lambda x: np.outer(s := _softmax(x), 1 - s),
            "You used s_i(1 − s_j) for all pairs. The 1 belongs to the diagonal alone: elsewhere it is −s_i·s_j.",
        ),
        WrongAnswer(
            "identity-minus-outer",
            lambda x: np.eye(len(x)) - np.outer(s := _softmax(x), s),
            "The diagonal starts from 1; it has to start from s_i: diag(s), not the identity.",
        ),
        WrongAnswer(
            "log-softmax-jacobian",
            lambda x: np.eye(len(x)) - _softmax(x)[None, :],
            "These are the slopes of the LOGARITHM of softmax, δ_ij − s_j. Multiply row i by s_i.",
        ),
        WrongAnswer(
            "slope-of-the-sum",
            lambda x: np.zeros(len(x)) + 0 * _softmax(x),
            "You added the slopes of all weights together, and that is 0 for every score, because the weights "
            "always add up to 1. (Calling backward() on softmax(x).sum() does the same.)",
        ),
        WrongAnswer(
            "scores-taken-for-weights",
            lambda x: np.diag(x) - np.outer(x, x),
            "The formula is about the weights s. You put the scores x in: apply softmax first.",
        ),
        WrongAnswer(
            "softmax-only",
            lambda x: _softmax(x),
            "These are the weights themselves, not their slopes.",
        ),
        WrongAnswer(
            "sigmoid-slope",
            lambda x: np.diag((p := 1 / (1 + np.exp(-x))) * (1 - p)),
            "This is the slope of the logistic function of each score by itself. Softmax couples the scores.",
        ),
        WrongAnswer(
            "no-max-subtraction",
            lambda x: np.diag(s := np.exp(x) / np.exp(x).sum()) - np.outer(s, s),
            "Without subtracting the largest score first, exp overflows (or gives 0/0) for large scores.",
            ("What is np.exp(1000)? And np.exp(-800)?",),
        ),
        WrongAnswer(
            "mean-subtracted",
            lambda x: np.diag(s := np.exp(x - x.mean()) / np.exp(x - x.mean()).sum()) - np.outer(s, s),
            "You subtracted the mean of the scores. The largest can still lie far above it, and exp overflows: "
            "subtract the largest.",
        ),
        WrongAnswer(
            "forward-differences",
            _jacobian_by_differences,
            "One-sided differences leave an error of about the size of the step. They are good for checking a formula; "
            "here the formula is asked for.",
        ),
        WrongAnswer(
            "half-precision",
            lambda x: np.diag(s := _half(_softmax(x))) - np.outer(s, s),
            "Your weights passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
            lambda x: np.diag(s := _single(_softmax(x))) - np.outer(s, s),
            "Your weights passed through float32, which keeps seven digits of sixteen. Stay in float64.",
        ),
        WrongAnswer(
            "input-changed",
            _jacobian_changing_input,
            "You changed the caller's array: `x -= ...` works in place. Write x = x - ... instead.",
        ),
    ),
    also_right=(
        _jacobian_by_loops,
        _jacobian_by_complex_steps,
        lambda x: (s := _softmax(x))[:, None] * (np.eye(len(x)) - s[None, :]),
        lambda x: np.diagflat(s := _softmax(x)) - np.einsum("i,j->ij", s, s),
        lambda x: np.stack([softmax_backward(_softmax(x), row) for row in np.eye(len(x))]),
    ),
    hints=(
        "Take two scores on paper. Write down weight 0 as a fraction, and differentiate it by each of the two scores.",
        "Slope [i, j] is s_i·(δ_ij − s_j): s_i on the diagonal, and s_i·s_j taken away everywhere.",
        "`np.diag(s)` puts the weights on a diagonal; `np.outer(s, s)` has entry [i, j] = s_i·s_j. Subtract. Compute s "
        "with `np.exp(x - x.max())`.",
    ),
    invariants=(
        Invariant(
            "slopes-do-not-add-up-to-zero",
            "A column of slopes has to add up to 0: whatever one weight gains, the others lose.",
            lambda inputs, J: bool(np.abs(J.sum(axis=0)).max() < 1e-9),
        ),
        Invariant(
            "not-symmetric",
            "Slope [i, j] has to equal slope [j, i].",
            lambda inputs, J: bool(np.abs(J - J.T).max() < 1e-9),
        ),
    ),
    forbids=BY_HAND,
)


# ---- softmax_backward -----------------------------------------------------------------------------------


def softmax_backward(weights, grad_weights):
    """From the gradient at the weights to the gradient at the scores; both (..., n_q, n_k)."""
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


def _renormalised(W):
    with np.errstate(all="ignore"):
        return W / W.sum(axis=-1, keepdims=True)


def _weights_and_gradient(rng, *shape, spread=1.0, size=1.0):
    return _softmax(spread * rng.normal(size=shape)), size * rng.normal(size=shape)


def _special_rows(rng):
    """A one-hot row, a row with masked keys, a fully masked row, and a gradient that is the same for all keys."""
    W, G = _weights_and_gradient(rng, 5, 4)
    W[0], W[2] = [0.0, 1.0, 0.0, 0.0], 0.0
    W[1] = [(a := rng.uniform(0.2, 0.8)), 0.0, 1 - a, 0.0]
    G[3] = rng.uniform(1, 3)
    return read_only(W), read_only(G)


SOFTMAX_BACKWARD = Exercise(
    name="softmax_backward",
    lesson=LESSON,
    title="Back through softmax, without the Jacobian",
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
            "The average is right, but the result has to be multiplied by the weights: a key with weight 0 gets "
            "no gradient.",
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
            "Every sign is turned round: it is gradient minus average.",
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
            lambda W, G: softmax_backward(_softmax(W), G),
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
            lambda W, G: W * (G - W @ _t(G)),
            "W @ Gᵀ multiplies every row of weights with every row of gradients. Row i belongs to row i: "
            "multiply entry by entry and sum.",
        ),
        WrongAnswer(
            "zero-row-gives-nan",
            lambda W, G: W * (G - (_renormalised(W) * G).sum(axis=-1, keepdims=True)),
            "You divided by the sum of the weights, which is 0 for a fully masked row. The weights need no division.",
        ),
        WrongAnswer(
            "half-precision",
            lambda W, G: softmax_backward(_half(W), _half(G)),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
            lambda W, G: softmax_backward(_single(W), _single(G)),
            "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in the dtype you "
            "were given.",
        ),
        WrongAnswer(
            "input-changed",
            _backward_changing_input,
            "You changed the caller's array: `-=` works in place. Make a new array.",
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
    forbids=BY_HAND,
)


# ---- value_gradient -------------------------------------------------------------------------------------


def value_gradient(weights, grad_output):
    """dV = AᵀdO: (..., n_q, n_k), (..., n_q, d_v) -> (..., n_k, d_v)."""
    return np.swapaxes(weights, -1, -2) @ grad_output


def _value_gradient_by_loops(W, G):
    out = np.zeros((*W.shape[:-2], W.shape[-1], G.shape[-1]))
    for i in range(W.shape[-2]):
        for j in range(W.shape[-1]):
            out[..., j, :] += W[..., i, j, None] * G[..., i, :]
    return out


def _value_gradient_changing_input(W, G):
    G *= 1.0
    return _t(W) @ G


def _output_gradient(rng, n_q, n_k, d_v, *batch, spread=1.0, size=1.0):
    return (
        _softmax(spread * rng.normal(size=(*batch, n_q, n_k))),
        size * rng.normal(size=(*batch, n_q, d_v)),
    )


def _unseen_key(rng):
    W, G = _output_gradient(rng, 5, 3, 6, 2)
    W[..., 1] = 0.0
    return read_only(_renormalised(W)), read_only(strided(200 * G))


VALUE_GRADIENT = Exercise(
    name="value_gradient",
    lesson=LESSON,
    title="What the values learn",
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
        ),
        WrongAnswer(
            "reshaped-not-transposed",
            lambda W, G: W.reshape(*W.shape[:-2], W.shape[-1], W.shape[-2]) @ G,
            "You reshaped the weights where they have to be transposed: the numbers landed in the wrong rows.",
        ),
        WrongAnswer(
            "result-transposed",
            lambda W, G: _t(G) @ W,
            "The numbers are right but lie the wrong way round: rows must belong to keys, columns to the value's "
            "parts.",
        ),
        WrongAnswer(
            "mean-over-queries",
            lambda W, G: _t(W) @ G / W.shape[-2],
            "You divided by the number of queries. The gradient is a sum over the queries, not a mean.",
        ),
        WrongAnswer(
            "columns-normalised",
            lambda W, G: _t(W / np.maximum(W.sum(axis=-2, keepdims=True), 1e-300)) @ G,
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
            lambda W, G: _t((W.max(axis=-1, keepdims=True) == W) * 1.0) @ G,
            "You let only the best key of each query learn. Every key learns by its weight.",
        ),
        WrongAnswer(
            "softmax-slopes-put-in",
            lambda W, G: _t(W * (1 - W)) @ G,
            "You multiplied by softmax's slopes. The values come after softmax: their way back does not pass "
            "through it.",
        ),
        WrongAnswer(
            "scaled",
            lambda W, G: _t(W) @ G / np.sqrt(G.shape[-1]),
            "You divided by a square root. The scale belongs to the scores; the values never meet it.",
        ),
        WrongAnswer(
            "only-two-axes",
            lambda W, G: np.einsum("ij,id->jd", W, G),
            "This works for a single matrix only. Batches and heads stand in front: write `...` for them.",
        ),
        WrongAnswer(
            "summed-over-the-batch",
            lambda W, G: np.einsum("...ij,...id->jd", W, G),
            "You added the batch entries together. Each has its own values and its own gradient.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda W, G: -_t(W) @ G,
            "The sign is turned round. This is the gradient itself, not the step against it.",
        ),
        WrongAnswer(
            "half-precision",
            lambda W, G: _t(_half(W)) @ _half(G),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
            lambda W, G: _t(_single(W)) @ _single(G),
            "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in float64.",
        ),
        WrongAnswer(
            "input-changed",
            _value_gradient_changing_input,
            "You changed the caller's array: `*=` works in place. Make a new array.",
        ),
    ),
    also_right=(
        _value_gradient_by_loops,
        lambda W, G: np.einsum("...ij,...id->...jd", W, G),
        lambda W, G: np.matmul(np.moveaxis(W, -1, -2), G),
        lambda W, G: _t(_t(G) @ W),
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
    forbids=BY_HAND,
)


# ---- row_dots -------------------------------------------------------------------------------------------


def row_dots(output, grad_output):
    """The dot product of each output with its gradient: two arrays (..., n_q, d_v) -> (..., n_q)."""
    return (output * grad_output).sum(axis=-1)


def _row_dots_changing_input(O, G):
    O *= G
    return O.sum(axis=-1)


def _outputs(rng, *shape, size=1.0):
    return rng.normal(size=shape), size * rng.normal(size=shape)


ROW_DOTS = Exercise(
    name="row_dots",
    lesson=LESSON,
    title="The average without the weights",
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
            lambda rng: tuple(read_only(strided(x)) for x in _outputs(rng, 3, 2, 7, size=1000)),
        ),
    ),
    wrong=(
        WrongAnswer(
            "axis-kept",
            lambda O, G: (O * G).sum(axis=-1, keepdims=True),
            "The numbers are right, but an axis of length 1 is left over: one number per query is asked for.",
        ),
        WrongAnswer(
            "total-sum",
            lambda O, G: (O * G).sum(),
            "You summed over everything. Each query has its own number: sum along the last axis only.",
        ),
        WrongAnswer(
            "summed-over-queries",
            lambda O, G: (O * G).sum(axis=-2),
            "You summed over the queries. Sum over the components of the value, the last axis.",
        ),
        WrongAnswer(
            "axis-one-hard-coded",
            lambda O, G: (O * G).sum(axis=1),
            "You summed along axis 1. With a batch in front that is another axis. Count from the end: −1.",
        ),
        WrongAnswer(
            "mean-not-sum",
            lambda O, G: (O * G).mean(axis=-1),
            "This is the mean of the products, d_v times too small: a dot product is a sum.",
        ),
        WrongAnswer(
            "all-pairs-of-rows",
            lambda O, G: O @ _t(G),
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
            "half-precision",
            lambda O, G: (_half(O) * _half(G)).sum(axis=-1),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "input-changed",
            _row_dots_changing_input,
            "You changed the caller's array: `*=` works in place. Make a new array.",
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
        "`(output * grad_output).sum(axis=...)`: which axis holds the d_v components?",
    ),
    forbids=BY_HAND,
)


# ---- attention_backward ---------------------------------------------------------------------------------


def attention_backward(Q, K, V, grad_output):
    """The gradients of scaled dot-product attention at its three inputs: (dQ, dK, dV), shaped like Q, K, V."""
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


def _variant(
    forward=0.5, back_q=0.5, back_k=0.5, *, softmax=_softmax, step=softmax_backward, convert=lambda x: x
):
    """attention_backward with changes: the scales as powers of 1/d_k, the softmax, the way back through it."""

    def function(Q, K, V, G):
        Q, K, V, G = (convert(x) for x in (Q, K, V, G))
        d = float(Q.shape[-1])
        A = softmax(Q @ _t(K) * d**-forward)
        dS = step(A, G @ _t(V))
        return dS @ K * d**-back_q, _t(dS) @ Q * d**-back_k, _t(A) @ G

    return function


def _with_scale(scale):
    """attention_backward with another scale, computed from Q, K and V, forward and back."""

    def function(Q, K, V, G):
        c = scale(Q, K, V)
        A = _softmax(Q @ _t(K) * c)
        dS = softmax_backward(A, G @ _t(V))
        return dS @ K * c, _t(dS) @ Q * c, _t(A) @ G

    return function


def _then(change):
    """The right answer, changed afterwards: change(dQ, dK, dV, inputs)."""
    return lambda *inputs: change(*attention_backward(*inputs), inputs)


def _without_max(S):
    e = np.exp(S)
    return e / e.sum(axis=-1, keepdims=True)


def _global_max(S):
    e = np.exp(S - S.max())
    return e / e.sum(axis=-1, keepdims=True)


def _causal(S):
    future = np.triu(np.ones(S.shape[-2:], dtype=bool), 1)
    return _softmax(np.where(future, -np.inf, S))


def _weights_of(Q, K):
    return _softmax(Q @ _t(K) / np.sqrt(Q.shape[-1]))


def _einsum_for_two_axes(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = _softmax(np.einsum("id,jd->ij", Q, K) * c)
    dS = softmax_backward(A, np.einsum("ic,jc->ij", G, V))
    return np.einsum("ij,jd->id", dS, K) * c, np.einsum("ij,id->jd", dS, Q) * c, np.einsum("ij,ic->jc", A, G)


def _all_axes_transposed(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = _softmax(Q @ K.T * c)
    dS = softmax_backward(A, G @ V.T)
    return dS @ K * c, dS.T @ Q * c, A.T @ G


def _keys_not_transposed_back(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = _softmax(Q @ _t(K) * c)
    dS = softmax_backward(A, G @ _t(V))
    dV = _t(A) @ G
    return dS @ K * c, dS @ Q * c, dV


def _values_not_transposed_in_weights(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = _softmax(Q @ _t(K) * c)
    dS = softmax_backward(A, G @ V)
    return dS @ K * c, _t(dS) @ Q * c, _t(A) @ G


def _inputs_confused(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    A = _softmax(Q @ _t(K) * c)
    dS = softmax_backward(A, G @ _t(V))
    return dS @ Q * c, _t(dS) @ K * c, _t(A) @ G


def _output_for_gradient(Q, K, V, G):
    A = _weights_of(Q, K)
    dA = G @ _t(V)
    dS = A * (dA - ((O := A @ V) * O).sum(axis=-1, keepdims=True))
    c = 1 / np.sqrt(Q.shape[-1])
    return dS @ K * c, _t(dS) @ Q * c, _t(A) @ G


def _changing_inputs(Q, K, V, G):
    Q /= np.sqrt(Q.shape[-1])
    A = _softmax(Q @ _t(K))
    dS = softmax_backward(A, G @ _t(V))
    return dS @ K / np.sqrt(Q.shape[-1]), _t(dS) @ Q, _t(A) @ G


def _by_output_dots(Q, K, V, G):
    A = _weights_of(Q, K)
    dS = A * (G @ _t(V) - row_dots(A @ V, G)[..., None])
    return dS @ K / np.sqrt(Q.shape[-1]), _t(dS) @ Q / np.sqrt(Q.shape[-1]), _t(A) @ G


def _by_rows(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for b in np.ndindex(Q.shape[:-2]):
        for i in range(Q.shape[-2]):
            s = _softmax(K[b] @ Q[b][i] * c)
            ds = (np.diag(s) - np.outer(s, s)) @ (V[b] @ G[b][i])
            dQ[b][i] = ds @ K[b] * c
            dK[b] += np.outer(ds, Q[b][i]) * c
            dV[b] += np.outer(s, G[b][i])
    return dQ, dK, dV


def _folded(Q, K, V, G):
    c = 1 / np.sqrt(Q.shape[-1])
    scaled = Q * c
    A = _softmax(scaled @ _t(K))
    dS = softmax_backward(A, G @ _t(V))
    return (dS @ K) * c, _t(dS) @ scaled, value_gradient(A, G)


def _fourth_roots(Q, K, V, G):
    c = Q.shape[-1] ** -0.25
    q, k = Q * c, K * c
    A = _softmax(np.einsum("...id,...jd->...ij", q, k))
    dS = softmax_backward(A, np.einsum("...ic,...jc->...ij", G, V))
    return dS @ k * c, np.einsum("...ij,...id->...jd", dS, q) * c, np.einsum("...ij,...ic->...jc", A, G)


def _raw_scores(Q, K, V, G):
    """The chain rule taken in two steps: the gradient at QKᵀ itself already holds the scale."""
    A = _weights_of(Q, K)
    raw = softmax_backward(A, G @ _t(V)) / np.sqrt(Q.shape[-1])
    return raw @ K, _t(raw) @ Q, _t(A) @ G


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
    return tuple(read_only(strided(x)) for x in (Q, K, V, G))


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


ATTENTION_BACKWARD = Exercise(
    name="attention_backward",
    lesson=LESSON,
    title="Attention, backwards",
    section="5. Attention, line by line, backwards",
    difficulty=4,
    minutes=25,
    reference=attention_backward,
    cases=(
        Case("three queries, five keys", lambda rng: _four(rng, 3, 5, 6, 2)),
        Case(
            "all sizes equal",
            lambda rng: _four(rng, 5, 5, 5, 5),
            says="When all sizes are equal no shape can warn you: check each transpose.",
        ),
        Case("a batch of four", lambda rng: _four(rng, 2, 6, 3, 5, 4)),
        Case("batch and heads", lambda rng: _four(rng, 5, 4, 6, 7, 2, 3), points=2),
        Case(
            "scores in the thousands",
            _far_apart,
            says="Subtract each row's own largest score before the exponential, also when you compute the "
            "weights again.",
        ),
        Case(
            "zero rows, read-only, strided",
            _partly_zero,
            says="A query whose output has no gradient gets none; a zero vector is an ordinary vector.",
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
            "The bracket dA − Σ A∘dA is right, but dS is A times it.",
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
            "All signs are turned round. The gradients are asked for, not the steps against them.",
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
            "dQ is too large by exactly √d_k: the scores are QKᵀ/√d_k, so the chain rule brings 1/√d_k once more.",
            ("Divide your dQ by √d_k and compare.",),
        ),
        WrongAnswer(
            "scale-missing-in-keys",
            _variant(0.5, 0.5, 0.0),
            "dK is too large by exactly √d_k: the scores are QKᵀ/√d_k, so the chain rule brings 1/√d_k here too.",
        ),
        WrongAnswer(
            "scale-missing-backward",
            _variant(0.5, 0.0, 0.0),
            "dQ and dK are too large by exactly √d_k. You scaled on the way forward; the chain rule scales again on "
            "the way back.",
        ),
        WrongAnswer(
            "scale-doubled",
            _variant(0.5, 1.0, 1.0),
            "dQ and dK are too small by exactly √d_k: you scaled twice. The gradient at the raw scores holds 1/√d_k "
            "already; the gradient at the scaled scores does not.",
            section="8. Find the error in this article",
        ),
        WrongAnswer(
            "scale-doubled-in-queries",
            _variant(0.5, 1.0, 0.5),
            "dQ is too small by exactly √d_k: 1/√d_k came in twice.",
            section="8. Find the error in this article",
        ),
        WrongAnswer(
            "scale-doubled-in-keys",
            _variant(0.5, 0.5, 1.0),
            "dK is too small by exactly √d_k: 1/√d_k came in twice.",
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
            "The gradients are right, their order is not: dV comes out first, but return (dQ, dK, dV).",
        ),
        WrongAnswer(
            "a-list-not-a-tuple",
            _then(lambda dQ, dK, dV, inputs: [dQ, dK, dV]),
            "You returned a list. A tuple is asked for: `return dQ, dK, dV`.",
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
            "values-from-scores",
            _then(lambda dQ, dK, dV, i: (dQ, dK, _t(i[0] @ _t(i[1]) / np.sqrt(i[0].shape[-1])) @ i[3])),
            "dV is made of the scores. It has to be made of the weights, after softmax.",
        ),
        WrongAnswer(
            "values-from-scores-gradient",
            _then(
                lambda dQ, dK, dV, i: (
                    dQ,
                    dK,
                    _t(softmax_backward(_weights_of(i[0], i[1]), i[3] @ _t(i[2]))) @ i[3],
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
            _variant(softmax=lambda S: _softmax(S, axis=-2)),
            "Your weights add up to 1 for each key. Softmax runs over the keys, for each query: the last axis.",
        ),
        WrongAnswer(
            "softmax-twice",
            _variant(softmax=lambda S: _softmax(_softmax(S))),
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
            "only-two-axes",
            _einsum_for_two_axes,
            "This works for a single head only. Batches and heads stand in front: use @ or `...` in einsum.",
        ),
        WrongAnswer(
            "all-axes-transposed",
            _all_axes_transposed,
            "`.T` reverses ALL axes, also those of the batch. Swap only the last two.",
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
            "This is the forward pass. Three gradients are asked for.",
        ),
        WrongAnswer(
            "half-precision",
            _variant(convert=_half),
            "Your numbers passed through float16, which keeps about three digits. Stay in the dtype you were given.",
        ),
        WrongAnswer(
            "single-precision",
            _variant(convert=_single),
            "Your numbers passed through float32, which keeps seven digits of sixteen. Stay in float64.",
        ),
        WrongAnswer(
            "inputs-changed",
            _changing_inputs,
            "You changed the caller's arrays: `Q /= ...` works in place. Make a new array.",
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
            "dV is off: the gradients of all values together must equal the gradients of all outputs together, because "
            "the weights of a row add up to 1.",
            _values_conserve,
        ),
        Invariant(
            "key-gradients-do-not-cancel",
            "The gradients of all keys have to add up to 0: adding one vector to every key changes no weight. "
            "Look at dS: its rows have to add up to 0.",
            _keys_cancel,
        ),
        Invariant(
            "queries-and-keys-disagree",
            "Σ Q∘dQ has to equal Σ K∘dK: twice the queries with half the keys gives the same scores. Look at the "
            "factors of dQ and dK.",
            _queries_and_keys_agree,
        ),
    ),
    forbids=BY_HAND,
)


# ---- relative_error -------------------------------------------------------------------------------------


def relative_error(a, b):
    """How far two gradients are apart, for their size; inf when one is not finite or their shapes differ."""
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    size = max(np.abs(a).max(), np.abs(b).max())
    return np.abs(a - b).max() / size if size > 0 else 0.0


def _comparable(a, b):
    return a.shape == b.shape and bool(np.isfinite(a).all() and np.isfinite(b).all())


def _error_by(measure):
    """relative_error with another measure for the arrays that can be compared at all."""
    return lambda a, b: measure(a, b) if _comparable(a, b) else np.inf


def _largest(a, b):
    return max(np.abs(a).max(), np.abs(b).max())


def _relative(a, b):
    return np.abs(a - b).max() / s if (s := _largest(a, b)) > 0 else 0.0


def _nan_skipped(a, b):
    if a.shape != b.shape:
        return np.inf
    size = max(np.nanmax(np.abs(a)), np.nanmax(np.abs(b)))
    return np.nanmax(np.abs(a - b)) / size if size > 0 else 0.0


def _only_nan_found(a, b):
    if a.shape != b.shape or np.isnan(a).any() or np.isnan(b).any():
        return np.inf
    return _relative(a, b)


def _one_side_only(a, b):
    return _relative(a, b) if a.shape == b.shape and np.isfinite(a).all() else np.inf


def _shape_ignored(a, b):
    return _relative(a, b) if np.isfinite(a).all() and np.isfinite(b).all() else np.inf


def _nearly(rng, *shape, size=1.0, error=1e-6):
    a = size * rng.normal(size=shape)
    return a, a + error * size * rng.normal(size=shape)


def _with(values_a, values_b):
    """Two equal gradients, except for special entries at [1, 2]."""

    def make(rng):
        a, b = _nearly(rng, 3, 4, error=1e-9)
        a[1, 2], b[1, 2] = values_a, values_b
        return a, b

    return make


def _infinite(rng):
    """Both infinite at one place: their difference there is NaN. The second is also infinite at another."""
    a, b = _nearly(rng, 2, 5, error=1e-9)
    a[0, 1] = b[0, 1] = np.inf
    return a, b


def _column(rng):
    column = rng.normal() + np.zeros((4, 1))
    return column, column[:, 0].copy()


def _zeros_and_more(rng):
    """Some entries are zero in one or both; the largest entry is negative, and larger in the first."""
    a, b = _nearly(rng, 5, 3, error=1e-3)
    a[0], b[0], a[1] = 0.0, 0.0, 0.0
    a[3, 1], b[3, 1] = -5.1, -5.0
    return read_only(3 * a), read_only(3 * b)


def _tiny(rng):
    """Gradients of opposite sign; the largest difference is negative, and the second is the larger one."""
    a = 1e-20 * rng.normal(size=(4, 2, 3))
    a[2, 0, 1] = -6e-20
    return a, -1.5 * a + 1e-22 * rng.normal(size=a.shape)


RELATIVE_ERROR = Exercise(
    name="relative_error",
    lesson=LESSON,
    title="A gradient check that sees NaN",
    section="7. Check the whole backward pass",
    difficulty=3,
    minutes=10,
    reference=relative_error,
    cases=(
        Case("two gradients, nearly equal, some zeros, read-only", _zeros_and_more),
        Case(
            "tiny gradients, of opposite sign",
            _tiny,
            says="Whether 1e-20 is a large error depends on the size of the gradients.",
        ),
        Case(
            "NaN in the first",
            _with(np.nan, 0.5),
            says="NaN is not close to anything: the answer is inf. Look before you compare.",
        ),
        Case(
            "NaN in the second",
            _with(0.5, np.nan),
            says="NaN is not close to anything: the answer is inf. Look before you compare.",
        ),
        Case(
            "infinity in both",
            _infinite,
            says="inf − inf is NaN: a gradient that is not finite is wrong, also when both are.",
        ),
        Case(
            "nothing but zeros", lambda rng: (np.zeros((2, n := int(rng.integers(3, 7)))), np.zeros((2, n)))
        ),
        Case(
            "a column against a row",
            _column,
            says="Shapes (4, 1) and (4,) broadcast without an error. A gradient of the wrong shape is wrong.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "absolute-error",
            _error_by(lambda a, b: np.abs(a - b).max()),
            "This is the absolute error. 1e-12 is perfect for gradients of size 1 and useless for gradients of size "
            "1e-12: divide by the larger of the two largest entries.",
        ),
        WrongAnswer(
            "nan-skipped",
            _nan_skipped,
            "NaN is stepped over, so a gradient with NaN passes as nearly right: np.nanmax skips it, and so does "
            "a loop with `if error > worst`, because every comparison with NaN is False. Ask np.isfinite first.",
            ("What does np.nanmax do? And what is `nan > 0`?",),
        ),
        WrongAnswer(
            "nothing-checked-first",
            lambda a, b: np.abs(a - b).max() / np.maximum(np.abs(a).max(), np.abs(b).max()),
            "NaN in, NaN out: and `error > 1e-6` is False for NaN, so a test that uses it passes. Two arrays of "
            "zeros give 0/0. Handle these before you divide.",
        ),
        WrongAnswer(
            "infinity-overlooked",
            _only_nan_found,
            "You looked for NaN and not for infinity: inf − inf is NaN. np.isfinite finds both.",
        ),
        WrongAnswer(
            "one-side-only",
            _one_side_only,
            "You checked only the first array. The second can hold NaN too.",
        ),
        WrongAnswer(
            "shape-ignored",
            _shape_ignored,
            "Arrays of shapes (4, 1) and (4,) were compared by broadcasting. Different shapes: the answer is inf.",
        ),
        WrongAnswer(
            "signed-difference",
            _error_by(lambda a, b: (a - b).max() / s if (s := _largest(a, b)) > 0 else 0.0),
            "You left out the absolute value of the difference: an error below zero does not count.",
        ),
        WrongAnswer(
            "signed-size",
            _error_by(lambda a, b: np.abs(a - b).max() / s if (s := max(a.max(), b.max())) > 0 else 0.0),
            "You left out the absolute value where you take the size: large negative entries are large.",
        ),
        WrongAnswer(
            "mean-not-maximum",
            _error_by(lambda a, b: np.abs(a - b).mean() / s if (s := _largest(a, b)) > 0 else 0.0),
            "You took the mean difference. One wrong entry among a million would vanish in it: take the largest.",
        ),
        WrongAnswer(
            "norms-not-maxima",
            _error_by(
                lambda a, b: (
                    np.linalg.norm(a - b) / s if (s := max(np.linalg.norm(a), np.linalg.norm(b))) > 0 else 0.0
                )
            ),
            "You compared norms, which many right entries can fill up. Take the largest entries.",
        ),
        WrongAnswer(
            "sizes-added",
            _error_by(
                lambda a, b: np.abs(a - b).max() / s if (s := np.abs(a).max() + np.abs(b).max()) > 0 else 0.0
            ),
            "You divided by both sizes together; divide by the larger one.",
        ),
        WrongAnswer(
            "first-size-only",
            _error_by(lambda a, b: np.abs(a - b).max() / s if (s := np.abs(a).max()) > 0 else 0.0),
            "You divided by the size of the first array only; take the larger of the two sizes.",
        ),
        WrongAnswer(
            "second-size-only",
            _error_by(lambda a, b: np.abs(a - b).max() / s if (s := np.abs(b).max()) > 0 else 0.0),
            "You divided by the size of the second array only; take the larger of the two sizes.",
        ),
        WrongAnswer(
            "entry-by-entry",
            _error_by(
                lambda a, b: np.max(np.abs(a - b) / np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-300))
            ),
            "You divided each difference by its own entry: where a gradient is almost zero, harmless rounding looks "
            "like a total failure. Divide once, by the largest entry.",
        ),
        WrongAnswer(
            "constant-in-denominator",
            _error_by(lambda a, b: np.abs(a - b).max() / (_largest(a, b) + 1e-8)),
            "The small number in your denominator is far larger than tiny gradients, and hides that they differ. Treat "
            "zero as its own case.",
        ),
        WrongAnswer(
            "floor-in-denominator",
            _error_by(lambda a, b: np.abs(a - b).max() / max(_largest(a, b), 1e-12)),
            "Your denominator never gets below a small number, and tiny gradients lie below it: that they differ "
            "is hidden. Treat zero as its own case.",
        ),
        WrongAnswer(
            "zeros-give-nan",
            _error_by(lambda a, b: np.abs(a - b).max() / np.float64(_largest(a, b))),
            "For two arrays of zeros this is 0/0 = NaN. They are equal: the answer is 0.",
        ),
        WrongAnswer(
            "yes-or-no",
            lambda a, b: bool(a.shape == b.shape and np.allclose(a, b)),
            "This says yes or no. A number is asked for; it also tells how far off a wrong gradient is.",
        ),
    ),
    also_right=(
        lambda a, b: (
            np.inf
            if np.shape(a) != np.shape(b) or not np.isfinite([a, b]).all()
            else float(np.max(np.abs(a - b)) / (np.max(np.abs([a, b])) or 1.0))
        ),
        lambda a, b: (
            float("inf")
            if a.shape != b.shape or np.isnan(np.sum(a) * 0 + np.sum(b) * 0)
            else np.linalg.norm((a - b).ravel(), np.inf)
            / (max(np.linalg.norm(x.ravel(), np.inf) for x in (a, b)) or 1)
        ),
    ),
    hints=(
        "Which three situations have no ordinary answer? Treat those before any arithmetic.",
        "Shapes that differ, or any entry that is not finite: inf. Both all zero: 0. Otherwise one division.",
        "`np.abs(a - b).max() / max(np.abs(a).max(), np.abs(b).max())`, after `a.shape != b.shape`, "
        "`np.isfinite(a).all()` and the same for b; and mind a size of 0.",
    ),
    invariants=(
        Invariant(
            "larger-than-two",
            "It is larger than 2, which finite gradients of one shape cannot reach: a and −a are 2 apart.",
            lambda inputs, r: bool(r <= 2 + 1e-9) or not _comparable(*inputs),
        ),
    ),
)


# ---- dead_rows ------------------------------------------------------------------------------------------


def dead_rows(grad_scores, threshold):
    """The share of rows of (..., n_q, n_k) whose length is below the threshold: a number from 0 to 1."""
    lengths = np.linalg.norm(grad_scores, axis=-1)
    return (lengths < threshold).mean()


def _rows_of_lengths(rng, lengths, n_k, *batch):
    """Rows that add up to 0, as rows of dS do, with the given lengths, in random order."""
    rows = rng.normal(size=(len(lengths), n_k))
    rows -= rows.mean(axis=-1, keepdims=True)
    rows *= (np.array(lengths) / np.linalg.norm(rows, axis=-1))[:, None]
    return rng.permutation(rows).reshape(*batch, -1, n_k)


def _near_threshold(rng):
    """Lengths around the threshold 0.01, where length, largest entry, square and sum of sizes all disagree."""
    spread = 0.006 * np.array([1, -1, 1, -1, 1, -1])  # length 0.0147, largest entry 0.006
    close = 0.003 * np.array([1, -1, -1, 1, 1, -1])  # length 0.0073, sizes add up to 0.018
    long = 0.05 * np.array([1, -1, 0, 0, 0, 0])  # length 0.0707, its square 0.005
    tiny = 1e-7 * np.array([3, -1, -2, 0, 0, 0])
    return rng.permutation(np.stack([spread, spread[::-1], close, long, tiny, -close, -spread])), 0.01


def _by_powers(rng):
    return _rows_of_lengths(
        rng, 10.0 ** np.array([-9, -8, -7, -5, -4, -3, -2, -1, 0, 1, -6.5, 2]), 5, 2, 3
    ), 1e-6


DEAD_ROWS = Exercise(
    name="dead_rows",
    lesson=LESSON,
    title="Count the queries that cannot learn",
    section="10. The honest measurement",
    difficulty=2,
    minutes=5,
    reference=dead_rows,
    cases=(
        Case(
            "seven queries, six keys",
            _near_threshold,
            says="The length of a row is the root of its squares' sum.",
        ),
        Case("batch and heads", lambda rng: (_by_powers(rng)[0], 1e-6)),
        Case(
            "exactly at the threshold",
            lambda rng: (
                rng.permutation(np.array([[3.0, -4, 0], [0, 0, 0], [0, 1, -1], [4, 0, -3], [-5, 0, 0.0]])),
                5.0,
            ),
            says="Below the threshold means <, not <=.",
        ),
        Case(
            "nobody is dead, read-only",
            lambda rng: (read_only(_rows_of_lengths(rng, [0.5, 2, 1, 7], 3)), 0.25),
        ),
    ),
    wrong=(
        WrongAnswer(
            "a-count",
            lambda G, t: int((np.linalg.norm(G, axis=-1) < t).sum()),
            "You counted the dead rows. Their share is asked for: divide by the number of rows.",
        ),
        WrongAnswer(
            "the-living",
            lambda G, t: (np.linalg.norm(G, axis=-1) >= t).mean(),
            "This is the share of rows that are alive.",
        ),
        WrongAnswer(
            "entries-not-rows",
            lambda G, t: (np.abs(G) < t).mean(),
            "You counted single entries. Most keys have a tiny weight and hence a tiny gradient, also in a "
            "healthy row: take the length of each row first.",
        ),
        WrongAnswer(
            "signed-entries",
            lambda G, t: np.less(G, t).mean(),
            "You compared entries with their sign: every negative gradient counts as dead.",
        ),
        WrongAnswer(
            "row-sums",
            lambda G, t: (np.abs(G.sum(axis=-1)) < t).mean(),
            "You added each row up. Rows of dS always add up to 0, so this calls every row dead. Take the length.",
        ),
        WrongAnswer(
            "row-means-of-sizes",
            lambda G, t: (np.abs(G).mean(axis=-1) < t).mean(),
            "You took the mean size of a row's entries, which gets smaller when there are more keys. Take the length.",
        ),
        WrongAnswer(
            "largest-entry",
            lambda G, t: (np.abs(G).max(axis=-1) < t).mean(),
            "You took each row's largest entry. Many small entries together can make a long row: take the length.",
        ),
        WrongAnswer(
            "sum-of-sizes",
            lambda G, t: (np.abs(G).sum(axis=-1) < t).mean(),
            "You added the sizes of a row's entries. The length is the root of the sum of their squares.",
        ),
        WrongAnswer(
            "square-root-forgotten",
            lambda G, t: ((G * G).sum(axis=-1) < t).mean(),
            "You compared the SQUARE of the length with the threshold: the square root is missing.",
        ),
        WrongAnswer(
            "exact-zeros",
            lambda G, t: (np.linalg.norm(G, axis=-1) == 0).mean(),
            "You counted rows that are exactly 0. Use the threshold.",
        ),
        WrongAnswer(
            "at-the-threshold-too",
            lambda G, t: (np.linalg.norm(G, axis=-1) <= t).mean(),
            "A row exactly at the threshold is not below it: use <.",
        ),
        WrongAnswer(
            "columns-not-rows",
            lambda G, t: (np.linalg.norm(G, axis=-2) < t).mean(),
            "You took the length over the queries. A row runs over the keys: the last axis.",
        ),
        WrongAnswer(
            "axis-one-hard-coded",
            lambda G, t: (np.linalg.norm(G, axis=1) < t).mean(),
            "You took axis 1 for the keys. With a batch in front that is another axis. Count from the end: −1.",
        ),
        WrongAnswer(
            "one-length-for-all",
            lambda G, t: float(np.linalg.norm(G) < t),
            "You took one length for the whole array. Each row has its own.",
        ),
        WrongAnswer(
            "per-batch-entry",
            lambda G, t: (np.linalg.norm(G, axis=-1) < t).mean(axis=-1),
            "You averaged within each batch entry. One number over all rows is asked for.",
        ),
        WrongAnswer(
            "in-percent",
            lambda G, t: 100 * (np.linalg.norm(G, axis=-1) < t).mean(),
            "You gave percent. A share is a number from 0 to 1.",
        ),
    ),
    also_right=(
        lambda G, t: float(np.mean(np.sqrt(np.sum(G**2, axis=-1)) < t)),
        lambda G, t: sum(np.sqrt(row @ row) < t for row in G.reshape(-1, G.shape[-1])) / G[..., 0].size,
        lambda G, t: np.count_nonzero(np.vecdot(G, G) < t * t) / G[..., 0].size,
    ),
    hints=(
        "One row, one verdict: what single number says how strong the gradient of a row is?",
        "Compute the length of every row along the last axis, compare with the threshold, and take the share of True.",
        "`np.linalg.norm(..., axis=-1)` gives the lengths; the mean of an array of True and False is the share "
        "of True.",
    ),
    invariants=(
        Invariant(
            "not-a-share",
            "A share lies between 0 and 1.",
            lambda inputs, share: bool(0 <= share <= 1),
        ),
    ),
)


EXERCISES = (
    SOFTMAX_JACOBIAN,
    SOFTMAX_BACKWARD,
    VALUE_GRADIENT,
    ROW_DOTS,
    ATTENTION_BACKWARD,
    RELATIVE_ERROR,
    DEAD_ROWS,
)
