"""Scaled dot-product attention, literally as the formula says, in NumPy.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Vaswani et al. 2017, "Attention Is All You Need", §3.2.1, equation 1.

Each query is compared with each key; the row of comparisons becomes weights that add up to 1; the answer is
the average of the values under those weights. All (n_q × n_k) scores are in memory at once: clear, and what
other backends avoid. The arguments were checked by `call.py`, so that nothing but the algorithm is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention.layout import (
    BackendResult,
    Head,
    Rule,
    Shape,
    Wants,
    all_batches_and_heads,
    leading_shape,
)

if TYPE_CHECKING:
    from jaxtyping import Float


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The attended values and the weights that multiplied them, in the dtype of the query."""
    query, key, value = arrays  # (..., n_q, d_k), (..., n_k, d_k), (..., n_k, d_v)
    dtype = query.dtype
    working = np.result_type(dtype, np.float32)  # float16 ends at 65504: too soon for a sum of products
    query, key, value = (array.astype(working, copy=False) for array in arrays)
    lead = leading_shape(*arrays, wants.enable_gqa)

    if wants.enable_gqa:  # several heads of the query share one head of key and value
        key = np.repeat(key, query.shape[-3] // key.shape[-3], axis=-3)
        value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3)

    scores = query @ key.swapaxes(-2, -1) * rule.scale  # (..., n_q, n_k)
    scores = change_scores(scores, rule, lead)
    weights = softmax(scores, axis=-1)  # over the keys: each query's row adds up to 1
    output = weights @ value  # (..., n_q, d_v)
    lse = logsumexp(scores) if wants.return_lse else None
    return BackendResult(output.astype(dtype, copy=False), weights.astype(dtype, copy=False), lse)


def change_scores(scores: Any, rule: Rule, lead: Shape) -> Any:
    """The scores (..., n_q, n_k) as the rule changes them.

    A score of −∞ becomes a weight of exactly 0; the other weights of the row still add up to 1, if there are any.
    """
    n_q, n_k = scores.shape[-2:]
    mask, mask_mod, score_mod = rule.mask, rule.mask_mod, rule.score_mod
    where = (*all_batches_and_heads(lead), np.arange(n_q)[:, None], np.arange(n_k))  # b, h, i, j
    if score_mod is not None:
        changed = score_mod(scores, *where)
        # The mod may tell apart heads that only the values have.
        shape = np.broadcast_shapes(np.shape(changed), scores.shape)
        scores = np.broadcast_to(changed, shape).astype(scores.dtype, copy=False)
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -np.inf)  # True = may attend
    elif mask is not None:
        scores = scores + mask.astype(scores.dtype)
    if mask_mod is not None:
        scores = np.where(mask_mod(*where), scores, -np.inf)
    if rule.is_causal:
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


def logsumexp(scores: Float[np.ndarray, "... n_q n_k"]) -> Float[np.ndarray, "... n_q"]:
    """log Σⱼ exp(scoreⱼ) of each row; −∞ for one that is −∞ throughout, or empty."""
    largest = scores.max(axis=-1, initial=-np.inf)
    shift = np.where(largest == -np.inf, 0, largest)
    with np.errstate(divide="ignore"):
        return shift + np.log(np.exp(scores - shift[..., None]).sum(axis=-1))
