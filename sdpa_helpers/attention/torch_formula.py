"""Scaled dot-product attention in torch: the same steps as `numpy_formula.py`, on any device, with gradients.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Vaswani et al. 2017, "Attention Is All You Need", §3.2.1, equation 1.

Autograd follows every step, so each is written to have a finite derivative even where a row has no key to
attend to. The arguments were checked by `call.py`, so that nothing but the algorithm is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from jaxtyping import Bool, Float


def attention(
    query: Float[torch.Tensor, "... n_q d_k"],
    key: Float[torch.Tensor, "... n_k d_k"],
    value: Float[torch.Tensor, "... n_k d_v"],
    *,
    attn_mask: Bool[torch.Tensor, "... n_q n_k"] | Float[torch.Tensor, "... n_q n_k"] | None,
    dropout_p: float,
    is_causal: bool,
    scale: float,
    enable_gqa: bool,
    return_weights: bool,  # the weights are made in any case
) -> tuple[Float[torch.Tensor, "... n_q d_v"], Float[torch.Tensor, "... n_q n_k"]]:
    """The attended values and the weights that multiplied them, in the dtype of `query`."""
    dtype = query.dtype
    working = torch.promote_types(dtype, torch.float32)  # float16 and bfloat16 hold too little for sums
    query, key, value = query.to(working), key.to(working), value.to(working)

    if enable_gqa:  # several heads of the query share one head of key and value
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], dim=-3)

    scores = query @ key.transpose(-2, -1) * scale
    scores = hide_scores(scores, attn_mask, is_causal)
    weights = softmax(scores, axis=-1)  # over the keys: each query's row adds up to 1
    if dropout_p > 0:
        # Each weight becomes 0 with probability p, else is divided by 1 − p: rows sum to 1 on average only.
        weights = torch.nn.functional.dropout(weights, dropout_p)
    output = weights @ value
    return output.to(dtype), weights.to(dtype)


def hide_scores(
    scores: Float[torch.Tensor, "... n_q n_k"],
    attn_mask: Bool[torch.Tensor, "... n_q n_k"] | Float[torch.Tensor, "... n_q n_k"] | None,
    is_causal: bool,
) -> Float[torch.Tensor, "... n_q n_k"]:
    """A score of −∞ becomes a weight of exactly 0; the other weights of the row still add up to 1."""
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)  # True = may attend
    elif attn_mask is not None:
        scores = scores + attn_mask.to(scores.dtype)
    if is_causal:
        n_q, n_k = scores.shape[-2:]
        may_attend = torch.ones(n_q, n_k, dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~may_attend, -torch.inf)  # query i sees the keys 0 … i
    return scores


def softmax(x: Float[torch.Tensor, "*shape"], axis: int) -> Float[torch.Tensor, "*shape"]:
    """exp(xᵢ) / Σⱼ exp(xⱼ) along `axis`; a slice that is −∞ throughout, or empty, gives zeros."""
    if x.shape[axis] == 0:
        return x.clone()  # torch takes no maximum of nothing
    # Subtracting one number from a whole slice cancels in the fraction, hence in the derivative too: detach
    # it. With the slice's own maximum the largest exponent is 0: nothing overflows, and the sum is at least
    # 1.
    largest = x.detach().amax(dim=axis, keepdim=True)
    # torch.softmax gives NaN for a slice of −∞, and NaN gradients to the whole batch. With a finite number in place
    # of that maximum the exponentials are 0, their derivative is 0 too, and 0 / 1 is 0.
    exponentials = torch.exp(x - largest.clamp(min=torch.finfo(x.dtype).min))
    total = exponentials.sum(dim=axis, keepdim=True)
    return exponentials / total.clamp(min=1)
