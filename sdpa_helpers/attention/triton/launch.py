"""FlashAttention-2 on an NVIDIA GPU. The algorithm is in `kernels.py`; `programs.py` starts what is there.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

This file says which calls it does, and makes one function of the forward and the backward pass, which torch can
differentiate. How large the tiles are: blocks.py. Which of them a mask leaves: lists.py. A mask_mod is asked about all
pairs once a call; what it says is a mask like any other.

Half precision is computed as FlashAttention does it: the weights are rounded to it before they meet the values.

Triton compiles a program when it is first started with arguments of a new kind, which takes seconds. On a machine
without a GPU the environment variable TRITON_INTERPRET=1, set before this file is loaded, runs the same programs in
Triton's interpreter: for tests, and to put a print() into them; it is slow. None of this
has run on a GPU yet.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from sdpa_helpers.attention.formula_gradients import differentiable_gradients
from sdpa_helpers.attention.layout import (
    BackendResult,
    Head,
    Rule,
    Wants,
    all_batches_and_heads,
    four_dimensional,
    full_rows,
    leading_shape,
)
from sdpa_helpers.attention.triton import blocks, kernels
from sdpa_helpers.attention.triton.lists import seen_in_tiles
from sdpa_helpers.attention.triton.programs import (
    Forward,
    aligned,
    architecture,
    start_forward,
    start_key_gradients,
    start_query_gradient,
)

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call
    from sdpa_helpers.attention.layout import Shape

LOG_2 = math.log(2)


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "tiles of weights are never stored"
    if call.has_score_mod:
        return "its programs are compiled by themselves: they cannot call a score_mod, and have no derivative of one"
    if call.dropout_p > 0:
        return "it has no dropout"
    if call.mask == "float":
        return "it takes boolean masks only: one number for each row could not hold what a float mask may add"
    if call.dtype == "float64":
        return "it computes in float32"
    if 0 in (*call.lead, call.n_q, call.n_k, call.d_k, call.d_v):
        return "it has no tiles for empty arrays"
    if max(call.d_k, call.d_v) > blocks.LARGEST_HEAD:
        return f"its tiles hold at most {blocks.LARGEST_HEAD} features, here {max(call.d_k, call.d_v)}"
    return cannot_here(call.device)


def cannot_here(device: str) -> str:
    """Why the programs do not run on such a device."""
    if kernels.INTERPRETED.value:
        return ""
    if device != "cuda":
        return f"it needs tensors on an NVIDIA GPU, not on {device!r} (or, for tests, TRITON_INTERPRET=1)"
    return blocks.unsupported(architecture(torch.device("cuda")))


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The attended values, in the dtype of the query, and the LSE if it is wanted."""
    query, key, value = arrays
    lead = leading_shape(*arrays, wants.enable_gqa)
    n_q, n_k, d_v = query.shape[-2], key.shape[-2], value.shape[-1]
    if (
        wants.enable_gqa and key.shape[-3] != value.shape[-3]
    ):  # the programs know one number of heads for both
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], dim=-3) for x in (key, value))
    lead_kv = (*lead[:-1], key.shape[-3]) if wants.enable_gqa else lead
    scale = rule.scale
    if scale <= 0:  # the largest score is scale times the largest product only if scale > 0
        query, scale = (-query, -scale) if scale < 0 else (query * 0, 1.0)
    mask = whole_mask(rule, lead, (n_q, n_k), query.device)
    output, lse = Flash.apply(  # pyright: ignore
        aligned(four_dimensional(query, lead)),
        aligned(four_dimensional(key, lead_kv)),
        aligned(four_dimensional(value, lead_kv)),
        None if mask is None else four_dimensional(full_rows(mask, n_q, n_k), lead),
        rule.is_causal,
        scale,
    )
    return BackendResult(output[..., :d_v].reshape(*lead, n_q, d_v), lse=lse.reshape(*lead, n_q))


def whole_mask(rule: Rule, lead: Shape, lengths: Shape, device: torch.device) -> torch.Tensor | None:
    """What mask and mask_mod say together, as one boolean tensor that broadcasts: mask_mod is asked about all pairs."""
    if rule.mask_mod is None:
        return rule.mask
    b, h = (torch.from_numpy(x).to(device) for x in all_batches_and_heads(lead))
    i, j = (torch.arange(n, device=device) for n in lengths)
    seen = rule.mask_mod(b, h, i[:, None], j)
    seen = seen.expand(*seen.shape[:-2], lengths[0], lengths[1]) if seen.ndim > 1 else seen.expand(lengths)
    return seen if rule.mask is None else seen & rule.mask


class Flash(torch.autograd.Function):
    """The two passes, and what the first keeps for the second. All arrays are (batch, heads, rows, features)."""

    @staticmethod
    def forward(ctx: Any, query, key, value, mask, is_causal: bool, scale: float):
        arrays, rule = Head(query, key, value), Rule(mask, is_causal, scale)
        seen = None if mask is None else seen_in_tiles(mask)
        output, lse = start_forward(arrays, rule, seen)
        ctx.save_for_backward(*arrays, mask, output, lse, seen)
        ctx.options = {"is_causal": is_causal, "scale": scale}
        ctx.set_materialize_grads(False)
        return output, natural(lse)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        *arrays, mask, output, lse, seen = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody is going to differentiate this gradient
            options = Rule(mask, **ctx.options)
            gradients = differentiable_gradients(Head(*arrays), options, True, *grad_outputs)
            return (*gradients, None, None, None)
        arrays, rule = Head(*arrays), Rule(mask, **ctx.options)
        grad_output, grad_lse = grad_outputs
        grad_output = torch.zeros_like(output) if grad_output is None else aligned(grad_output)
        done = Forward(output, lse)
        grad_query, deltas = start_query_gradient(arrays, rule, seen, done, (grad_output, grad_lse))
        grad_key, grad_value = start_key_gradients(arrays, rule, seen, (lse, deltas), grad_output)
        return grad_query, grad_key, grad_value, None, None, None


def natural(lse: torch.Tensor) -> torch.Tensor:
    """The LSE as it is returned: to base e, and −∞ for a row that saw nothing."""
    return (lse * LOG_2).masked_fill(lse == torch.inf, -torch.inf)
