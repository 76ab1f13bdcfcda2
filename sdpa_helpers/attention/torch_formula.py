"""Scaled dot-product attention in torch: the same steps as `numpy_formula.py`, on any device, with gradients.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Vaswani et al. 2017, "Attention Is All You Need", §3.2.1, equation 1.

Autograd follows every step, so each is written to have a finite derivative even where a row has no key to
attend to. The arguments were checked by `call.py`, so that nothing but the algorithm is here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

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
    working = torch.promote_types(dtype, torch.float32)  # float16 and bfloat16 hold too little for sums
    query, key, value = query.to(working), key.to(working), value.to(working)
    lead = leading_shape(*arrays, wants.enable_gqa)

    if wants.enable_gqa:  # several heads of the query share one head of key and value
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], dim=-3)

    scores = query @ key.transpose(-2, -1) * rule.scale  # (..., n_q, n_k)
    scores = change_scores(scores, rule, lead)
    weights = softmax(scores, axis=-1)  # over the keys: each query's row adds up to 1
    if wants.dropout_p > 0:
        # Each weight becomes 0 with probability p, else is divided by 1 − p: rows sum to 1 on average only.
        weights = torch.nn.functional.dropout(weights, wants.dropout_p)
    output = weights @ value  # (..., n_q, d_v)
    lse = logsumexp(scores) if wants.return_lse else None
    return BackendResult(output.to(dtype), weights.to(dtype), lse)


def change_scores(scores: Any, rule: Rule, lead: Shape) -> Any:
    """The scores (..., n_q, n_k) as the rule changes them.

    A score of −∞ becomes a weight of exactly 0; the other weights of the row still add up to 1, if there are any.
    """
    n_q, n_k = scores.shape[-2:]
    mask, mask_mod, score_mod = rule.mask, rule.mask_mod, rule.score_mod
    where: Any = ()  # b, h, i, j
    if mask_mod is not None or score_mod is not None:
        heads = (torch.from_numpy(x).to(scores.device) for x in all_batches_and_heads(lead))
        where = (*heads, *(torch.arange(n, device=scores.device) for n in (n_q, n_k)))
        where = (*where[:2], where[2][:, None], where[3])
    if score_mod is not None:
        changed = score_mod(scores, *where)
        scores = changed.to(scores.dtype).expand(torch.broadcast_shapes(changed.shape, scores.shape))
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, -torch.inf)  # True = may attend
    elif mask is not None:
        scores = scores + mask.to(scores.dtype)
    if mask_mod is not None:
        scores = scores.masked_fill(~mask_mod(*where), -torch.inf)
    if rule.is_causal:
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


def logsumexp(scores: Float[torch.Tensor, "... n_q n_k"]) -> Float[torch.Tensor, "... n_q"]:
    """log Σⱼ exp(scoreⱼ) of each row; −∞ for one that is −∞ throughout, or empty, with a gradient of 0."""
    if scores.shape[-1] == 0:
        return scores.sum(dim=-1) - torch.inf
    largest = scores.detach().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).min)
    total = torch.exp(scores - largest).sum(dim=-1)
    empty = total == 0
    return (largest[..., 0] + total.masked_fill(empty, 1).log()).masked_fill(empty, -torch.inf)
