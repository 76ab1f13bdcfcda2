"""FlashAttention's algorithm in torch: the two passes of `torch_passes.py`, joined for autograd.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Autograd would keep every tile for the backward pass, which is what tiling is to avoid. So the gradient is written
by hand, in a torch.autograd.Function that keeps the inputs, the output and two numbers for each query, and makes the
weights again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sdpa_helpers.attention import torch_passes
from sdpa_helpers.attention.formula_gradients import second_derivatives
from sdpa_helpers.attention.layout import Answer, Head, Rule, State, Wants, leading_shape

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "tiles of weights are overwritten, never returned"
    if call.has_mask_mod or call.has_score_mod:
        return "it knows masks as tensors only, no mask_mod and no score_mod"
    if call.return_lse:
        return "it does not return its LSE"
    if call.dropout_p > 0:
        return "it has no dropout"
    if call.learned_mask:
        return "it has no gradient for a mask"
    return ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> Answer:
    """The attended values, in the dtype of the query."""
    attend: Any = tiled_forward if torch.compiler.is_compiling() else Tiled.apply
    output, _, _ = attend(*arrays, rule.mask, rule.is_causal, rule.scale, wants.enable_gqa)
    return Answer(output.to(arrays.query.dtype))


# The two passes as operators of torch: torch.compile takes them as they are, without a look at the loops inside ------


ARRAYS = "Tensor query, Tensor key, Tensor value, Tensor? mask"
OPTIONS = "bool is_causal, float scale, bool enable_gqa"


@torch.library.custom_op(
    "sdpa_helpers::tiled_forward",
    mutates_args=(),
    schema=f"({ARRAYS}, {OPTIONS}) -> (Tensor, Tensor, Tensor)",
)
def tiled_forward(query, key, value, mask, is_causal, scale, enable_gqa):
    """`layout.State`, in float32 at least."""
    return tuple(torch_passes.forward(Head(query, key, value), Rule(mask, is_causal, scale), enable_gqa))


@tiled_forward.register_fake
def _(query, key, value, mask, is_causal, scale, enable_gqa):
    lead = leading_shape(query, key, value, enable_gqa)
    working = torch.promote_types(query.dtype, torch.float32)
    output = query.new_empty((*lead, query.shape[-2], value.shape[-1]), dtype=working)
    return output, *(output.new_empty(output.shape[:-1]) for _ in range(2))


@torch.library.custom_op(
    "sdpa_helpers::tiled_backward",
    mutates_args=(),
    schema=f"({ARRAYS}, Tensor output, Tensor largest, Tensor total, Tensor grad_output, {OPTIONS})"
    " -> (Tensor, Tensor, Tensor)",
)
def tiled_backward(
    query, key, value, mask, output, largest, total, grad_output, is_causal, scale, enable_gqa
):
    """Gradients for query, key and value."""
    arrays, rule, results = (
        Head(query, key, value),
        Rule(mask, is_causal, scale),
        State(output, largest, total),
    )
    return tuple(torch_passes.backward(arrays, rule, enable_gqa, results, grad_output))


@tiled_backward.register_fake
def _(query, key, value, *_others):
    return tuple(x.new_empty(x.shape) for x in (query, key, value))


# Their derivatives. torch.func wants them in a torch.autograd.Function, torch.compile wants none: so they are joined
# to the operators in both ways.


def keep_for_backward(ctx: Any, inputs, output):
    query, key, value, mask, *ctx.options = inputs
    ctx.mark_non_differentiable(*output[1:])
    ctx.save_for_backward(query, key, value, mask, *output)


def keep_for_second(ctx: Any, inputs, output):
    query, key, value, mask, _, _, _, grad_output, *ctx.options = inputs
    ctx.save_for_backward(query, key, value, mask, grad_output)


def compiled_backward(ctx: Any, grad_output, *_of_largest_and_total):
    return (*tiled_backward(*ctx.saved_tensors, grad_output, *ctx.options), None, None, None, None)


tiled_forward.register_autograd(compiled_backward, setup_context=keep_for_backward)


class Tiled(torch.autograd.Function):
    """(output, largest, total): the output in float32 at least, the others for the backward pass."""

    setup_context = staticmethod(keep_for_backward)

    @staticmethod
    def forward(*inputs):
        return tiled_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grad_outputs):
        gradients: Any = Gradients.apply(*ctx.saved_tensors, grad_outputs[0], *ctx.options)
        return (*gradients, None, None, None, None)

    @staticmethod
    def vmap(info, in_dims, *inputs):
        """The axis of torch.func.vmap becomes one more leading dimension."""
        arrays = with_batch_first(info.batch_size, in_dims[:4], inputs[:4])
        return Tiled.apply(*arrays, *inputs[4:]), (0, 0, 0)


class Gradients(torch.autograd.Function):
    """The gradients for query, key and value. Their own derivative is rare enough to go through the plain formula."""

    setup_context = staticmethod(keep_for_second)

    @staticmethod
    def forward(*inputs):
        return tiled_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *grad_gradients):
        query, key, value, mask, grad_output = ctx.saved_tensors
        is_causal, scale, enable_gqa = ctx.options
        *of_arrays, of_grad_output = second_derivatives(
            Head(query, key, value), Rule(mask, is_causal, scale), enable_gqa, grad_output, grad_gradients
        )
        return (*of_arrays, None, None, None, None, of_grad_output, None, None, None)

    @staticmethod
    def vmap(info, in_dims, *inputs):
        batch, own = info.batch_size, zip(inputs[:3], in_dims, strict=False)
        shapes = [x.shape if axis is None else x.movedim(axis, 0).shape[1:] for x, axis in own]
        # largest and total are numbers of a row: with a last axis more they are aligned as the others are.
        inputs = [x.unsqueeze(-1) if i in (5, 6) else x for i, x in enumerate(inputs)]
        arrays = with_batch_first(batch, in_dims[:8], inputs[:8])
        arrays[5:7] = [x.squeeze(-1) for x in arrays[5:7]]
        gradients: Any = Gradients.apply(*arrays, *inputs[8:])
        return tuple(x.reshape(batch, *shape) for x, shape in zip(gradients, shapes, strict=True)), (0, 0, 0)


def with_batch_first(batch: int, axes, arrays) -> list[Any]:
    """Each array with the axis that vmap goes along as its first; the others stay aligned at the last."""
    first = [
        x if x is None else x.expand(batch, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ]
    most = max(x.dim() for x in first if x is not None)
    return [x if x is None else x.reshape(batch, *(1,) * (most - x.dim()), *x.shape[1:]) for x in first]
