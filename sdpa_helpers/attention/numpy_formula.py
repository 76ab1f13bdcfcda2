"""Scaled dot-product attention, literally as the formula says, in NumPy.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Vaswani et al. 2017, "Attention Is All You Need", §3.2.1, equation 1.

Each query is compared with each key; the row of comparisons becomes weights that add up to 1; the answer is
the average of the values under those weights. All (n_q × n_k) scores are in memory at once: clear, and what
other backends avoid. The arguments were checked by `call.py`, so that nothing but the algorithm is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def attention(
    query: Float[np.ndarray, "... n_q d_k"],
    key: Float[np.ndarray, "... n_k d_k"],
    value: Float[np.ndarray, "... n_k d_v"],
    *,
    attn_mask: Bool[np.ndarray, "... n_q n_k"] | Float[np.ndarray, "... n_q n_k"] | None,
    dropout_p: float,  # always 0 here, as `known_backends.cannot` says
    is_causal: bool,
    scale: float,
    enable_gqa: bool,
    return_weights: bool,  # the weights are made in any case
) -> tuple[Float[np.ndarray, "... n_q d_v"], Float[np.ndarray, "... n_q n_k"]]:
    """The attended values and the weights that multiplied them, in the dtype of `query`."""
    dtype = query.dtype
    working = np.result_type(dtype, np.float32)  # float16 ends at 65504: too soon for a sum of products
    query, key, value = (array.astype(working, copy=False) for array in (query, key, value))

    if enable_gqa:  # several heads of the query share one head of key and value
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
        value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3)

    scores = query @ key.swapaxes(-2, -1) * scale
    scores = hide_scores(scores, attn_mask, is_causal)
    weights = softmax(scores, axis=-1)  # over the keys: each query's row adds up to 1
    output = weights @ value
    return output.astype(dtype, copy=False), weights.astype(dtype, copy=False)


def hide_scores(
    scores: Float[np.ndarray, "... n_q n_k"],
    attn_mask: Bool[np.ndarray, "... n_q n_k"] | Float[np.ndarray, "... n_q n_k"] | None,
    is_causal: bool,
) -> Float[np.ndarray, "... n_q n_k"]:
    """A score of −∞ becomes a weight of exactly 0; the other weights of the row still add up to 1."""
    if attn_mask is not None and attn_mask.dtype == bool:
        scores = np.where(attn_mask, scores, -np.inf)  # True = may attend
    elif attn_mask is not None:
        scores = scores + attn_mask.astype(scores.dtype)
    if is_causal:
        n_q, n_k = scores.shape[-2:]
        scores = np.where(np.tri(n_q, n_k, dtype=bool), scores, -np.inf)  # query i sees the keys 0 … i
    return scores


def softmax(x: Float[np.ndarray, "*shape"], axis: int) -> Float[np.ndarray, "*shape"]:
    """exp(xᵢ) / Σⱼ exp(xⱼ) along `axis`; a slice that is −∞ throughout, or empty, gives zeros."""
    # Subtracting one number from a whole slice cancels in the fraction. With the slice's own maximum the
    # largest exponent is 0: nothing overflows, and the sum is at least 1.
    largest = x.max(axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(largest == -np.inf, 0, largest)  # nothing to attend to: −∞ − (−∞) would be NaN
    exponentials = np.exp(x - largest)
    total = exponentials.sum(axis=axis, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)
