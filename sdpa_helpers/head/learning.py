"""A seventh world: the head is trained from the start with a learner's gradients. Does it learn all the same?"""

from collections.abc import Callable

import numpy as np

from sdpa_helpers.head.model import Head, looks_up
from sdpa_helpers.head.stages import reference

STEPS, BATCH, RATE = 150, 64, 0.05
NEW = 1000
"""Lists that it is asked about afterwards."""


def share_after_training(backward: Callable) -> float:
    """The share of new lists that it answers rightly; backward: (Q, K, V, grad_output) → (dQ, dK, dV).

    What the words are like is known already; W_q, W_k and W_v are learned, by Adam.
    """
    rng = np.random.default_rng(7)
    trained = looks_up()
    names = ("W_q", "W_k", "W_v")
    head = _with(trained, {n: 0.25 * rng.standard_normal(trained.vectors[n].shape) for n in names})
    mean, square = ({n: np.zeros_like(head.vectors[n]) for n in names} for _ in range(2))
    with np.errstate(all="ignore"):
        for step in range(1, STEPS + 1):
            lists = head.draw(rng, BATCH)
            x, (q, k, v) = head.embed(lists), head.project(lists)
            gradients = backward(q, k, v, _gradient_of_the_loss(reference(q, k, v, None)[0], lists.right))
            moved = {}
            for name, gradient in zip(names, gradients, strict=True):
                g = np.einsum("nti,ntj->ij", x, np.asarray(gradient, dtype=float))
                mean[name] = 0.9 * mean[name] + 0.1 * g
                square[name] = 0.99 * square[name] + 0.01 * g * g
                size = np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8
                moved[name] = head.vectors[name] - RATE * mean[name] / (1 - 0.9**step) / size
            head = _with(head, moved)
        lists = head.draw(np.random.default_rng(8), NEW)
        out = reference(*head.project(lists), None)[0]
    return float((out[:, -1].argmax(-1) == lists.right).mean())


def through_softmax(step: Callable) -> Callable:
    """A whole backward pass around a learner's step through softmax: (weights, gradient at them) → at the scores."""

    def backward(
        Q: np.ndarray, K: np.ndarray, V: np.ndarray, grad_output: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        c, weights = Q.shape[-1] ** -0.5, reference(Q, K, V, None)[1]
        at_scores = np.asarray(step(weights.copy(), grad_output @ V.mT), dtype=float)
        return c * at_scores @ K, c * at_scores.mT @ Q, weights.mT @ grad_output

    return backward


def _gradient_of_the_loss(out: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Of the mean cross-entropy: (n, 6, drinks). Only the word that asks has a say."""
    shares = np.exp(out[:, -1] - out[:, -1].max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    shares[np.arange(len(right)), right] -= 1
    gradient = np.zeros_like(out)
    gradient[:, -1] = shares / len(right)
    return gradient


def _with(head: Head, matrices: dict[str, np.ndarray]) -> Head:
    return Head(head.people, head.drinks, head.vectors | matrices)
