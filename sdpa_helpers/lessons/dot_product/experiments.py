"""Lesson 01: what it computes and measures; `figures` draws it."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax


def score_at(degrees: float | Array, length_q: float = 1.0, length_k: float = 1.0) -> Array:
    """The dot product of two vectors with given lengths and a given angle, built in the plane."""
    angle = np.radians(np.asarray(degrees, dtype=float))
    q = length_q * np.array([1.0, 0.0])
    k = length_k * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return k @ q


def view_from(q: Float[Array, "d_k"], K: Float[Array, "n_k d_k"]) -> Float[Array, "n_k 2"]:
    """Each key as the query sees it: how far along the query's direction, and how far off it.

    Exact in any number of dimensions, because a query and a key lie in a common plane.
    """
    unit = q / np.linalg.norm(q)
    along = K @ unit
    off = np.linalg.norm(K - along[:, None] * unit, axis=-1)
    return np.stack([along, off], axis=-1)


def in_proportion(scores: Float[Array, "n_k"]) -> Float[Array, "n_k"]:
    """The rule that attention does NOT use: each score's share of their sum."""
    return scores / scores.sum()


def outputs_of_random_queries(
    K: Float[Array, "n_k d_k"], V: Float[Array, "n_k d_v"], n_q: int = 600, seed: int = 1
) -> Float[Array, "n_q d_v"]:
    """Soft lookups by random queries, short ones and long ones, drawn as in the lesson."""
    rng = np.random.default_rng(seed)
    queries = rng.uniform(0, 5, size=(n_q, 1)) * rng.normal(size=(n_q, K.shape[-1]))
    return softmax(queries @ K.T) @ V


def convex_hull(points: Float[Array, "n 2"]) -> Float[Array, "corners 2"]:
    """The corners of the smallest convex region around points in the plane, counter-clockwise."""

    def chain(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
        kept: list[tuple[float, float]] = []
        for x, y in ordered:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):  # a turn to the left: b is a corner so far
                    break
                kept.pop()
            kept.append((x, y))
        return kept[:-1]

    ordered = sorted({(float(x), float(y)) for x, y in points})
    return np.array(chain(ordered) + chain(ordered[::-1]))


def distance_outside(corners: Float[Array, "corners 2"], points: Float[Array, "n 2"]) -> Float[Array, "n"]:
    """How far each point lies beyond the hull's nearest violated edge line; 0 inside."""
    edges = np.roll(corners, -1, axis=0) - corners
    outward = np.stack([edges[:, 1], -edges[:, 0]], axis=-1) / np.linalg.norm(edges, axis=-1, keepdims=True)
    beyond = (points[:, None, :] - corners) * outward
    return np.maximum(beyond.sum(axis=-1).max(axis=-1), 0.0)


def moved_without_each_step(
    Q: Float[Array, "n_q d_k"],
    K: Float[Array, "n_k d_k"],
    V: Float[Array, "n_k d_v"],
    may_see: Bool[Array, "n_q n_k"],
) -> dict[str, float]:
    """Leave out one step of attention at a time: how far does the output move at most?

    Without the comparison all scores are 0, without softmax the scores themselves are the weights, and without
    the average each query takes the value of its heaviest weight.
    """

    def output(without: str = "") -> Float[Array, "n_q d_v"]:
        scores = np.zeros(may_see.shape) if without == "compare" else Q @ K.T
        if without != "scale":
            scores = scores / np.sqrt(K.shape[-1])
        if without != "mask":
            scores = np.where(may_see, scores, -np.inf)
        weights = np.where(scores > -np.inf, scores, 0.0) if without == "softmax" else softmax(scores)
        return V[weights.argmax(axis=-1)] if without == "average" else weights @ V

    steps = ("compare", "scale", "mask", "softmax", "average")
    return {step: float(np.abs(output(without=step) - output()).max()) for step in steps}


def weights_of_random_models(
    n_words: int, asks: int, models: int = 2000, d_model: int = 16, seed: int = 3
) -> Float[Array, "models n_words"]:
    """How one word of a sentence attends to all its words, in models that have learned nothing.

    Each model draws the words' vectors and the two matrices that make queries and keys; scores are scaled.
    """
    rng = np.random.default_rng(seed)
    words = rng.standard_normal((models, n_words, d_model))
    to_query, to_key = rng.standard_normal((2, models, d_model, d_model)) / np.sqrt(d_model)
    query = words[:, asks : asks + 1] @ to_query
    scores = query @ (words @ to_key).swapaxes(-2, -1) / np.sqrt(d_model)
    return softmax(scores)[:, 0]
