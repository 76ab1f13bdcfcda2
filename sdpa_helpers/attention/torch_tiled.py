"""FlashAttention's algorithm in torch: the two passes of `torch_passes.py`, joined for autograd.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Autograd would keep every tile for the backward pass, which is what tiling is to avoid. So the gradient is written
by hand, in a torch.autograd.Function that keeps the inputs, the output and two numbers for each query, and makes the
weights again. A second derivative is rare enough to go through the plain formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sdpa_helpers.attention import torch_passes
from sdpa_helpers.attention.formula_gradients import differentiable_gradients
from sdpa_helpers.attention.layout import QKV, Forward, Rule

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from sdpa_helpers.attention.call_facts import Call


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "tiles of weights are overwritten, never returned"
    if call.dropout_p > 0:
        return "it has no dropout"
    if call.learned_mask:
        return "it has no gradient for a mask"
    return ""


def attention(
    query: Float[torch.Tensor, "... n_q d_k"],
    key: Float[torch.Tensor, "... n_k d_k"],
    value: Float[torch.Tensor, "... n_k d_v"],
    *,
    attn_mask: Bool[torch.Tensor, "... n_q n_k"] | Float[torch.Tensor, "... n_q n_k"] | None,
    dropout_p: float,  # always 0 here, as `cannot` says
    is_causal: bool,
    scale: float,
    enable_gqa: bool,
    return_weights: bool,  # always False here, likewise
) -> tuple[Float[torch.Tensor, "... n_q d_v"], None]:
    """The attended values, in the dtype of `query`."""
    return Tiled.apply(query, key, value, attn_mask, is_causal, scale, enable_gqa), None  # pyright: ignore


class Tiled(torch.autograd.Function):
    """The two passes, and what the first keeps for the second."""

    @staticmethod
    def forward(ctx: Any, query, key, value, mask, is_causal: bool, scale: float, enable_gqa: bool):
        whole = torch_passes.forward(QKV(query, key, value), Rule(mask, is_causal, scale), enable_gqa)
        ctx.save_for_backward(query, key, value, mask, *whole)
        ctx.options = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
        return whole.output.to(query.dtype)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        query, key, value, mask, *whole = ctx.saved_tensors
        options = ctx.options
        if torch.is_grad_enabled():  # somebody is going to differentiate this gradient
            gradients = differentiable_gradients(query, key, value, mask, grad_outputs[0], options)
        else:
            arrays, rule = QKV(query, key, value), Rule(mask, options["is_causal"], options["scale"])
            gradients = torch_passes.backward(
                arrays, rule, options["enable_gqa"], Forward(*whole), grad_outputs[0]
            )
        return (*gradients, None, None, None, None)
