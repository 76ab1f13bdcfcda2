"""Lesson 08: attention whose scores come from a small network, beside the dot product. In NumPy."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def dot_product(
    Q: Float[Array, "n_q d_k"], K: Float[Array, "n_k d_k"], V: Float[Array, "n_k d_v"]
) -> Float[Array, "n_q d_v"]:
    """Attention with the score q · k/√d_k, and one (n_q, n_k) matrix: every step after QKᵀ overwrites it."""
    scores = Q @ K.T
    scores /= Q.shape[-1] ** 0.5
    return _blend(scores, V)


def additive_at_once(
    Q: Float[Array, "n_q d_k"],
    K: Float[Array, "n_k d_k"],
    V: Float[Array, "n_k d_v"],
    W: Float[Array, "d_k h"],
    U: Float[Array, "d_k h"],
    v: Float[Array, "h"],
) -> Float[Array, "n_q d_v"]:
    """Attention with the score v · tanh(qW + kU): all pairs at once, hence an (n_q, n_k, h) array."""
    hidden = (Q @ W)[:, None, :] + (K @ U)[None, :, :]
    np.tanh(hidden, out=hidden)
    return _blend(hidden @ v, V)


def additive_in_chunks(
    Q: Float[Array, "n_q d_k"],
    K: Float[Array, "n_k d_k"],
    V: Float[Array, "n_k d_v"],
    W: Float[Array, "d_k h"],
    U: Float[Array, "d_k h"],
    v: Float[Array, "h"],
    chunk: int,
) -> Float[Array, "n_q d_v"]:
    """The same, a few queries at a time."""
    parts = [additive_at_once(Q[i : i + chunk], K, V, W, U, v) for i in range(0, len(Q), chunk)]
    return np.concatenate(parts)


def _blend(scores: Float[Array, "n_q n_k"], V: Float[Array, "n_k d_v"]) -> Float[Array, "n_q d_v"]:
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores @ V


def parameters(d_model: int, width: int) -> dict[str, int]:
    """Learned numbers, counted from arrays that are really made: `width` is d_k for the dot product, and the size
    of the hidden layer for additive attention."""
    matrix, vector = np.zeros((d_model, width)), np.zeros(width)
    return {
        "dot product, bare": 0,
        "dot product, W_q and W_k": 2 * matrix.size,
        "additive, W, U and v": 2 * matrix.size + vector.size,
        "dot product, W_q, W_k and W_v": 3 * matrix.size,
        "additive, W, U, v and W_v": 3 * matrix.size + vector.size,
    }
