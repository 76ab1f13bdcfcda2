"""Lesson 06: attention in NumPy, in ways that hold more or less in memory at once.

NumPy only, so that a process which measures its own memory starts small.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array


def textbook(
    Q: Float[Array, "n_q d_k"], K: Float[Array, "n_k d_k"], V: Float[Array, "n_k d_v"]
) -> Float[Array, "n_q d_v"]:
    """The formula as one writes it down: three (n_q, n_k) matrices are alive at once."""
    scores = Q @ K.T / Q.shape[-1] ** 0.5  # a Python float: np.sqrt's would turn float32 into float64
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


def textbook_weights(raw: Float[Array, "n_q n_k"], d_k: int) -> Float[Array, "n_q n_k"]:
    """Its middle: raw scores QKᵀ to weights."""
    scores = raw / d_k**0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(
    Q: Float[Array, "n_q d_k"], K: Float[Array, "n_k d_k"], V: Float[Array, "n_k d_v"]
) -> Float[Array, "n_q d_v"]:
    """The formula, with one (n_q, n_k) matrix: every step after QKᵀ overwrites it."""
    weights = Q @ K.T
    weights /= Q.shape[-1] ** 0.5
    weights -= weights.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ V


def in_chunks(
    Q: Float[Array, "n_q d_k"], K: Float[Array, "n_k d_k"], V: Float[Array, "n_k d_v"], chunk: int
) -> Float[Array, "n_q d_v"]:
    """The same, a few queries at a time: a query's row needs no other row."""
    out = np.empty((len(Q), V.shape[-1]), dtype=Q.dtype)
    for i in range(0, len(Q), chunk):
        out[i : i + chunk] = attention(Q[i : i + chunk], K, V)
    return out


def attend_key_blocks(
    Q: Float[Array, "n_q d_k"],
    K: Float[Array, "n_k d_k"],
    V: Float[Array, "n_k d_v"],
    block: int,
    *,
    rescaled: bool,
) -> Float[Array, "n_q d_v"]:
    """A few keys at a time. Each block has its own softmax; `rescaled` weighs the blocks by their exponentials'
    sums, else they are averaged, which is wrong."""
    outputs, totals = [], []
    for j in range(0, len(K), block):
        scores = Q @ K[j : j + block].T / Q.shape[-1] ** 0.5
        largest = scores.max(axis=-1, keepdims=True)
        total = np.exp(scores - largest).sum(axis=-1, keepdims=True)
        outputs.append(np.exp(scores - largest) / total @ V[j : j + block])
        totals.append(np.log(total) + largest)
    if not rescaled:
        return np.mean(outputs, axis=0)
    log_total = np.stack(totals)
    shares = np.exp(log_total - log_total.max(axis=0))
    return (shares / shares.sum(axis=0) * np.stack(outputs)).sum(axis=0)
