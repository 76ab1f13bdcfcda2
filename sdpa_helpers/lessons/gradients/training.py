"""Lesson 04: a small task to train attention on, with the scale and without it."""

from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.gradients.experiments import DEAD, softmax_step

Rule = Literal["no scale", "1/√d", "no scale, smaller start"]
RULES: tuple[Rule, ...] = ("no scale", "1/√d", "no scale, smaller start")
Optimiser = Literal["Adam", "SGD"]
Loss = Literal["squared", "log"]
ITEMS, LISTS, SHOWN = 32, 4, 16
"""Of the lookup: items there are, lists in a step, items in a list."""
ROWS = LISTS * SHOWN
"""Queries in a step."""


class Course(NamedTuple):
    """How a run went. Where a model does not learn, another processor's rounding leads to other digits."""

    right: Int[Array, "steps"]
    """Of `ROWS` queries, how many picked their own key."""
    first_gradient: float
    """Its length at W_q, before the first step."""
    stuck: float
    """Share of rows, in the last twenty steps, that pick a wrong key and have a dead gradient."""

    @property
    def accuracy(self) -> Float[Array, "steps"]:
        """The share of the queries that picked their own key."""
        return self.right / ROWS


class Training(NamedTuple):
    """What came of a run."""

    course: Course
    at_start: tuple[Array, Array]
    """Q and K of all items, before the first step."""
    at_end: tuple[Array, Array]


@lru_cache(maxsize=16)
def train(
    rule: Rule,
    seed: int,
    *,
    d: int = 64,
    steps: int = 150,
    lr: float = 1e-3,
    optimiser: Optimiser = "Adam",
    loss: Loss = "squared",
) -> Training:
    """Learn to look up: 32 items have a fixed random query vector and another random key vector.

    Each step shows 16 of them in 4 lists; every shown item has to find its own key. Trained are W_q and W_k; the loss
    is the squared distance between the weights and the right one-hot rows ("squared"), whose gradient goes back through
    softmax, or minus the logarithm of the right weights ("log"), in whose gradient the step through softmax cancels.
    "smaller start" divides the first W_q by √d: the same function as 1/√d before the first step.
    """
    rng = np.random.default_rng(seed)
    as_query, as_key = rng.standard_normal((2, ITEMS, d))
    W = list(rng.standard_normal((2, d, d)) / np.sqrt(d))
    scale = 1 / np.sqrt(d) if rule == "1/√d" else 1.0
    if rule == "no scale, smaller start":
        W[0] = W[0] / np.sqrt(d)
    at_start = as_query @ W[0], as_key @ W[1]
    first, second = [np.zeros((d, d))] * 2, [np.zeros((d, d))] * 2
    hits, stuck, first_gradient = [], [], 0.0
    for step in range(1, steps + 1):
        shown = np.argsort(rng.random((LISTS, ITEMS)), axis=-1)[:, :SHOWN]
        x_q, x_k = as_query[shown], as_key[shown]
        Q, K = x_q @ W[0], x_k @ W[1]
        A = softmax(Q @ np.swapaxes(K, -1, -2) * scale)
        off = (A - np.eye(SHOWN)) / ROWS
        dS = softmax_step(A, off) if loss == "squared" else off
        dQ, dK = dS @ K * scale, np.swapaxes(dS, -1, -2) @ Q * scale
        gradients = [np.tensordot(x, dX, axes=((0, 1), (0, 1))) for x, dX in ((x_q, dQ), (x_k, dK))]
        right = A.argmax(axis=-1) == np.arange(SHOWN)
        hits.append(right.sum())
        stuck.append((~right & (np.linalg.norm(dS, axis=-1) * ROWS < DEAD)).mean())
        first_gradient = first_gradient or float(np.linalg.norm(gradients[0]))
        for i, g in enumerate(gradients):
            if optimiser == "SGD":
                W[i] = W[i] - lr * g
                continue
            first[i] = 0.9 * first[i] + 0.1 * g
            second[i] = 0.999 * second[i] + 0.001 * g * g
            W[i] = W[i] - lr * (first[i] / (1 - 0.9**step)) / (np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8)
    at_end = as_query @ W[0], as_key @ W[1]
    course = Course(np.array(hits), first_gradient, float(np.mean(stuck[-20:])))
    return Training(course, at_start, at_end)


def final_accuracy(course: Course) -> float:
    """Mean accuracy of the last twenty steps."""
    return float(course.accuracy[-20:].mean())
