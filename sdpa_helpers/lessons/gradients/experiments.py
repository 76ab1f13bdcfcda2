"""Lesson 04, gradients: the experiments. Each returns data; `figures` draws it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.needs import needs

DIMENSIONS = (4, 16, 64, 256, 1024, 4096)
KEYS = (4, 16, 64, 256, 1024)
WIDEST_IN_A_BROWSER = 1024
DEAD = 1e-6
"""A row counts as dead when the norm of its gradient at the scores is below this."""

# The Jacobian ------------------------------------------------------------------------------------------------


def complex_step_jacobian(x: Float[Array, "n"], h: float = 1e-30) -> Float[Array, "n n"]:
    """Softmax's Jacobian from steps in the imaginary direction: nothing is subtracted, so nothing cancels."""
    columns = []
    for j in range(len(x)):
        stepped = x.astype(np.result_type(x, 1j))
        stepped[j] += 1j * h
        e = np.exp(stepped - x.max())
        columns.append((e / e.sum()).imag / h)
    return np.stack(columns, axis=-1)


def _correctly_rounded_softmax(x: Float[Array, "n"]) -> Float[Array, "n"]:
    """Softmax whose exponentials are the nearest numbers of x's type: NumPy's own differ between processors."""
    e = np.exp((x - x.max()).astype(np.longdouble)).astype(x.dtype)
    return e / e.sum()


def difference_error(
    x: Float[Array, "n"], steps: Float[Array, "k"], dtype: type[np.floating]
) -> Float[Array, "k"]:
    """Largest error of the Jacobian by central differences, for each step size, computed in `dtype`."""
    exact = complex_step_jacobian(x.astype(np.longdouble))
    errors = []
    for h in (float(f"{step:.12g}") for step in steps):  # the digits that processors agree on
        columns = []
        for j in range(len(x)):
            step = np.zeros(len(x), dtype)
            step[j] = h
            up, down = (_correctly_rounded_softmax(x.astype(dtype) + side) for side in (step, -step))
            columns.append((up - down) / dtype(2 * h))
        errors.append(np.abs(np.stack(columns, axis=-1) - exact).max())
    return np.array(errors, dtype=float)


def off_diagonal_share(J: Float[Array, "n n"]) -> float:
    """The share of ‖J‖²_F that lies off the diagonal."""
    return float(1 - (np.diag(J) ** 2).sum() / (J**2).sum())


# Attention, forward and backward ------------------------------------------------------------------------------


class Backward(NamedTuple):
    """All that attention computes on the way back, and the weights and the output of the way there."""

    weights: Array
    output: Array
    weights_grad: Array
    scores_grad: Array
    query_grad: Array
    key_grad: Array
    value_grad: Array


Step = Callable[[Array, Array], Array]


def softmax_step(A: Array, dA: Array) -> Array:
    """Back through softmax, row by row."""
    return A * (dA - (A * dA).sum(axis=-1, keepdims=True))


def attend_and_return(
    Q: Array, K: Array, V: Array, output_grad: Array, scale: float, step: Step = softmax_step
) -> Backward:
    """softmax(scale·QKᵀ)V and its gradients. `scores_grad` is the gradient at softmax's input, scale·QKᵀ."""
    A = softmax(Q @ np.swapaxes(K, -1, -2) * scale)
    dA = output_grad @ np.swapaxes(V, -1, -2)
    dS = step(A, dA)
    return Backward(
        A,
        A @ V,
        dA,
        dS,
        dS @ K * scale,
        np.swapaxes(dS, -1, -2) @ Q * scale,
        np.swapaxes(A, -1, -2) @ output_grad,
    )


@needs("torch")
def as_torch_function(scale: float, step: Step = softmax_step) -> Callable[..., Any]:
    """Attention for torch tensors whose backward pass is `attend_and_return` in NumPy: for torch's gradcheck."""
    import torch

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            Q, K, V = inputs
            return torch.softmax(Q @ K.mT * scale, dim=-1) @ V

        @staticmethod
        def backward(ctx: Any, *output_grads: Any) -> Any:
            Q, K, V, dO = (t.detach().numpy() for t in (*ctx.saved_tensors, *output_grads))
            back = attend_and_return(Q, K, V, dO, scale, step)
            return tuple(torch.from_numpy(g) for g in (back.query_grad, back.key_grad, back.value_grad))

    return Attention.apply


def complex_step_gradient(
    loss: Callable[[Array], complex], x: Float[Array, "*shape"], h: float = 1e-30
) -> Float[Array, "*shape"]:
    """The gradient of a smooth function of an array, exact to rounding: the imaginary part of one step, over h."""
    gradient = np.empty_like(x)
    for where in np.ndindex(x.shape):
        stepped = x.astype(complex)
        stepped[where] += 1j * h
        gradient[where] = loss(stepped).imag / h
    return gradient


def complex_attention(Q: Array, K: Array, V: Array, scale: float) -> Array:
    """Attention that accepts complex numbers, for `complex_step_gradient`."""
    S = Q @ np.swapaxes(K, -1, -2) * scale
    e = np.exp(S - S.real.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


# Saturation --------------------------------------------------------------------------------------------------


def two_key_slope(gap: Float[Array, "k"], dtype: type[np.floating] = np.float64) -> Float[Array, "k"]:
    """s(1 − s) as code computes it, for the winner of two keys whose scores differ by `gap`."""
    s = dtype(1) / (dtype(1) + np.exp(-np.asarray(gap, dtype)))
    return s * (dtype(1) - s)


def losers_slope(gap: Float[Array, "k"], dtype: type[np.floating] = np.float64) -> Float[Array, "k"]:
    """The same product for the loser. On paper it is equal; in floats the loser keeps its digits much longer."""
    e = np.exp(-np.asarray(gap, dtype))
    s = e / (dtype(1) + e)
    return s * (dtype(1) - s)


def first_adam_step(gradient: float, lr: float = 0.01, eps: float = 1e-8) -> float:
    """How far Adam moves a parameter in its first step: both averages are corrected to the gradient itself."""
    return lr * gradient / (abs(gradient) + eps)


# The honest measurement ----------------------------------------------------------------------------------------


class Norms(NamedTuple):
    """Per query row, in `trials` independent draws: norms of the gradient at the scores and at Q."""

    scores: Float[Array, "trials rows"]
    queries: Float[Array, "trials rows"]


class Cell(NamedTuple):
    """One pair (d_k, n_k), measured without the scale and with it on the same random numbers."""

    unscaled: Norms
    scaled: Norms


TRIALS, ROWS, VALUES = 12, 64, 64
"""Sets of keys, queries to each set, and the width of a value."""


def _draws(d_k: int, n_k: int) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Q, K, V and dO of each trial: iid N(0, 1), and rows of dO have length about 1, so entries of dA size about 1."""
    rng = np.random.default_rng([0, d_k, n_k])
    for _ in range(TRIALS):
        Q, K = rng.standard_normal((ROWS, d_k)), rng.standard_normal((n_k, d_k))
        yield Q, K, rng.standard_normal((n_k, VALUES)), rng.standard_normal((ROWS, VALUES)) / np.sqrt(VALUES)


@lru_cache(maxsize=64)
def measure(d_k: int, n_k: int) -> Cell:
    """Send random gradients back through attention on random queries, keys and values.

    The notebook has the same as two cells; a test compares them.
    """
    norms = np.empty((2, 2, TRIALS, ROWS))
    for trial, (Q, K, V, dO) in enumerate(_draws(d_k, n_k)):
        S, dA = Q @ K.T, dO @ V.T
        for i, scale in enumerate((1.0, 1 / np.sqrt(d_k))):
            dS = softmax_step(softmax(S * scale), dA)
            norms[i, :, trial] = np.linalg.norm(dS, axis=-1), np.linalg.norm(dS @ K * scale, axis=-1)
    return Cell(Norms(*norms[0]), Norms(*norms[1]))


def value_norms(d_k: int, n_k: int) -> tuple[float, float]:
    """‖dV‖ without the scale and with it, mean of the same trials."""
    norms = [
        [float(np.linalg.norm(softmax(Q @ K.T * scale).T @ dO)) for scale in (1.0, 1 / np.sqrt(d_k))]
        for Q, K, _, dO in _draws(d_k, n_k)
    ]
    unscaled, scaled = np.mean(norms, axis=0)
    return float(unscaled), float(scaled)


Measure = Callable[[int, int], Any]


def measure_grid(
    measure: Measure = measure, dimensions: Sequence[int] = DIMENSIONS, keys: Sequence[int] = KEYS
) -> dict[tuple[int, int], Cell]:
    """What `measure(d_k, n_k)` finds for every pair: [no scale, 1/√d_k] × [scores, queries] × trials × rows."""
    if sys.platform == "emscripten":  # NumPy has no BLAS there: the widest keys alone would take a minute
        dimensions = [d for d in dimensions if d <= WIDEST_IN_A_BROWSER]
        print(f"In a browser this takes half a minute, and stops at d_k = {max(dimensions)}.")
    pairs = [(d, n) for n in keys for d in dimensions]
    return {pair: Cell(*(Norms(*part) for part in measure(*pair))) for pair in pairs}


Statistic = Callable[..., Array]


def dead_share(norms: Array, axis: int | None = None) -> Array:
    """The share of rows below `DEAD`."""
    return np.mean(norms < DEAD, axis=axis)


def _resamples(trials: int, count: int = 400, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(trials, size=(count, trials))


def interval(
    norms: Float[Array, "trials rows"], statistic: Statistic = np.mean
) -> tuple[float, float, float]:
    """(estimate, low, high): 95% bootstrap over whole trials, because the rows of a trial share their keys."""
    drawn = norms[_resamples(len(norms))].reshape(400, -1)
    low, high = np.quantile(statistic(drawn, axis=-1), [0.025, 0.975])
    return float(statistic(norms, axis=None)), float(low), float(high)


def ratio_interval(
    above: Float[Array, "trials rows"],
    below: Float[Array, "trials rows"],
    statistic: Statistic = np.mean,
    count: int = 400,
) -> tuple[float, float, float]:
    """(ratio, low, high) of a statistic of `above` to that of `below`, both from the same trials."""
    picked = _resamples(len(above), count)
    ratios = statistic(above[picked].reshape(count, -1), axis=-1) / statistic(
        below[picked].reshape(count, -1), axis=-1
    )
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(statistic(above, axis=None) / statistic(below, axis=None)), float(low), float(high)


def compared(
    above: Float[Array, "trials rows"], below: Float[Array, "trials rows"], statistic: Statistic = np.mean
) -> Literal["larger", "smaller", "about the same"]:
    """How a statistic of `above` compares with that of `below`, if the 95% interval of their ratio leaves no doubt."""
    _, low, high = ratio_interval(above, below, statistic)
    return "larger" if low > 1 else "smaller" if high < 1 else "about the same"


class Ratios(NamedTuple):
    """Unscaled divided by scaled, one row per n_k, one column per d_k; `sure` where the interval excludes 1."""

    ratio: Float[Array, "keys dimensions"]
    sure: Array


def ratios(
    grid: dict[tuple[int, int], Cell], place: Literal["scores", "queries"], statistic: Statistic
) -> Ratios:
    """The table of ratios of a statistic, at the scores or at the queries."""
    keys, dimensions = sorted({n for _, n in grid}), sorted({d for d, _ in grid})
    found = np.array(
        [
            [
                ratio_interval(
                    getattr(grid[d, n].unscaled, place), getattr(grid[d, n].scaled, place), statistic, 200
                )
                for d in dimensions
            ]
            for n in keys
        ]
    )
    return Ratios(found[..., 0], (found[..., 1] > 1) | (found[..., 2] < 1))


def power_of_d(
    grid: dict[tuple[int, int], Cell], n_k: int, place: Literal["scores", "queries"], smallest: int = 64
) -> tuple[float, float, float]:
    """(power, low, high): the unscaled mean norm grows like d_k to this power, from d_k = `smallest` on."""
    dimensions = sorted(d for d, n in grid if n == n_k and d >= smallest)
    means = []
    for d in dimensions:
        norms = getattr(grid[d, n_k].unscaled, place)
        drawn = norms[_resamples(len(norms), seed=d)].reshape(400, -1).mean(axis=-1)
        means.append(np.concatenate([[norms.mean()], drawn]))
    slopes = np.polyfit(np.log(dimensions), np.log(np.array(means)), 1)[0]
    low, high = np.quantile(slopes[1:], [0.025, 0.975])
    return float(slopes[0]), float(low), float(high)


# Distance ----------------------------------------------------------------------------------------------------


def recurrent_gradient(distance: int, d: int = 16, factor: float = 0.9, seed: int = 0) -> float:
    """‖∂h_t/∂h_0‖ of h ← tanh(W h), W `factor` times a rotation, per unit of its value after one step."""
    rng = np.random.default_rng(seed)
    W = factor * np.linalg.qr(rng.standard_normal((d, d)))[0]
    h, J, norms = 0.1 * rng.standard_normal(d), np.eye(d), []
    for _ in range(distance):
        h = np.tanh(W @ h)
        J = (1 - h**2)[:, None] * W @ J
        norms.append(np.linalg.norm(J))
    return float(norms[-1] / norms[0])


def attention_gradient(distance: int, n: int = 64, d: int = 16, seed: int = 0) -> float:
    """How much the last output moves with the value of one fixed word placed `distance` positions before it."""
    rng = np.random.default_rng(seed)
    q, word, others = rng.standard_normal(d), rng.standard_normal(d), rng.standard_normal((n - 1, d))
    K = np.insert(others, n - 1 - distance, word, axis=0)
    return float(softmax(K @ q / np.sqrt(d))[n - 1 - distance])
