"""FlashAttention's algorithm in torch: the two passes of `torch_passes.py`, joined for autograd.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Autograd would keep every tile for the backward pass, which is what tiling is to avoid. So the gradient is written
by hand, in a torch.autograd.Function that keeps the inputs, the output and the LSE of each query, and makes the weights
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sdpa_helpers.attention import torch_passes
from sdpa_helpers.attention.formula_gradients import second_derivatives
from sdpa_helpers.attention.layout import BackendResult, Head, Rule, Wants
from sdpa_helpers.attention.torch_numbers import is_traced

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "it never holds all weights, so it cannot return them"
    if call.dropout_p > 0:
        return "it has no dropout"
    if call.learned_mask:
        return "it has no gradient for a mask"
    if call.learned_mod:
        return "it has no gradient for what a score_mod was made with"
    if (call.has_mask_mod or call.has_score_mod) and is_traced():
        return "torch's transforms and its compiler do not take its calls of mask_mod and score_mod"
    return ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The attended values, in the dtype of the query, and their LSE."""
    if torch.compiler.is_compiling():
        output, lse, _ = tiled_forward(*arrays, rule.mask, rule.is_causal, rule.scale, wants.enable_gqa)
    else:
        attend: Any = Tiled.apply
        output, lse, _ = attend(*arrays, *rule, wants.enable_gqa)
    return BackendResult(output.to(arrays.query.dtype), lse=lse)


# The two passes as operators of torch: torch.compile takes them as they are, without a look at the loops inside ------


ARRAYS = "Tensor query, Tensor key, Tensor value, Tensor? mask"
OPTIONS = "bool is_causal, float scale, bool enable_gqa"


@torch.library.custom_op(
    "sdpa_helpers::tiled_forward",
    mutates_args=(),
    schema=f"({ARRAYS}, {OPTIONS}) -> (Tensor, Tensor, Tensor)",
)
def tiled_forward(query, key, value, mask, is_causal, scale, enable_gqa):
    """`torch_passes.Attended`."""
    return tuple(torch_passes.forward(Head(query, key, value), Rule(mask, is_causal, scale), enable_gqa))


@tiled_forward.register_fake
def _(query, key, value, mask, is_causal, scale, enable_gqa):
    return tuple(torch_passes.room_for(Head(query, key, value), Rule(mask), enable_gqa))


@torch.library.custom_op(
    "sdpa_helpers::tiled_backward",
    mutates_args=(),
    schema=f"({ARRAYS}, Tensor output, Tensor lse, Tensor rest, Tensor grad_output, Tensor grad_lse, {OPTIONS})"
    " -> (Tensor, Tensor, Tensor)",
)
def tiled_backward(
    query, key, value, mask, output, lse, rest, grad_output, grad_lse, is_causal, scale, enable_gqa
):
    """Gradients for query, key and value."""
    return tuple(
        torch_passes.backward(
            Head(query, key, value),
            Rule(mask, is_causal, scale),
            enable_gqa,
            torch_passes.Attended(output, lse, rest),
            BackendResult(grad_output, lse=grad_lse),
        )
    )


@tiled_backward.register_fake
def _(query, key, value, *_others):
    return tuple(x.new_empty(x.shape) for x in (query, key, value))


# Their derivatives. torch.func wants them in a torch.autograd.Function, torch.compile wants none: so they are joined
# to the operators in both ways.


def keep_for_backward(ctx: Any, inputs, output):
    """The arrays, the output, and of each query one number, the LSE: as Dao et al. 2022, algorithm 1."""
    query, key, value, mask, *ctx.options = inputs
    ctx.mark_non_differentiable(output[2])
    ctx.save_for_backward(query, key, value, *output, *(() if mask is None else (mask,)))


def kept(ctx: Any) -> tuple[Any, ...]:
    """query, key, value, mask or None, output, LSE and its rest."""
    query, key, value, output, lse, rest, *mask = ctx.saved_tensors
    return query, key, value, mask[0] if mask else None, output, lse, rest


def compiled_backward(ctx: Any, grad_output, grad_lse, _of_rest):
    """The gradients of `tiled_forward`'s arguments; None for those that have none."""
    return (*tiled_backward(*kept(ctx), grad_output, grad_lse, *ctx.options), None, None, None, None)


tiled_forward.register_autograd(compiled_backward, setup_context=keep_for_backward)


class Tiled(torch.autograd.Function):
    """`torch_passes.Attended`, of the arrays of a Head, the fields of a Rule, and enable_gqa."""

    setup_context = staticmethod(keep_for_backward)

    @staticmethod
    def forward(*inputs):
        rule, enable_gqa = Rule(*inputs[3:-1]), inputs[-1]
        if rule.mask_mod is None and rule.score_mod is None:
            return tiled_forward(*inputs[:6], enable_gqa)
        return tuple(torch_passes.forward(Head(*inputs[:3]), rule, enable_gqa))

    @staticmethod
    def backward(ctx: Any, *grads):
        gradients: Any = Gradients.apply(*kept(ctx), *grads[:2], *ctx.options)
        return (*gradients, *(None,) * 6)

    @staticmethod
    def vmap(info, in_dims, *inputs):
        """The axis of torch.func.vmap becomes one more leading dimension."""
        arrays = with_batch_first(info.batch_size, in_dims[:4], inputs[:4])
        return Tiled.apply(*arrays, *inputs[4:]), (0, 0, 0)


class Gradients(torch.autograd.Function):
    """The gradients for query, key and value. Their own derivative is rare enough to go through the plain formula."""

    @staticmethod
    def setup_context(ctx: Any, inputs, output):
        query, key, value, mask, _, _, _, *grads = inputs[:9]
        ctx.options = inputs[9:]
        ctx.save_for_backward(query, key, value, mask, *grads)

    @staticmethod
    def forward(*inputs):
        (*options, enable_gqa) = inputs[9:]
        rule = Rule(inputs[3], *options)
        if rule.mask_mod is None and rule.score_mod is None:
            return tiled_backward(*inputs[:11], enable_gqa)
        known, (grad_output, grad_lse) = torch_passes.Attended(*inputs[4:7]), inputs[7:9]
        grads = BackendResult(grad_output, lse=grad_lse)
        return tuple(torch_passes.backward(Head(*inputs[:3]), rule, enable_gqa, known, grads))

    @staticmethod
    def backward(ctx: Any, *grad_gradients):
        query, key, value, mask, *grads = ctx.saved_tensors
        (*options, enable_gqa) = ctx.options
        *of_arrays, of_grad_output, of_grad_lse = second_derivatives(
            Head(query, key, value), Rule(mask, *options), enable_gqa, tuple(grads), grad_gradients
        )
        return (*of_arrays, *(None,) * 4, of_grad_output, of_grad_lse, *(None,) * 5)

    @staticmethod
    def vmap(info, in_dims, *inputs):
        batch, own = info.batch_size, zip(inputs[:3], in_dims, strict=False)
        shapes = [x.shape if axis is None else x.movedim(axis, 0).shape[1:] for x, axis in own]
        # An LSE is one number of a row: with a last axis more it is aligned as the others are.
        inputs = [x.unsqueeze(-1) if i in NUMBERS_OF_ROWS else x for i, x in enumerate(inputs)]
        arrays = with_batch_first(batch, in_dims[:9], inputs[:9])
        arrays = [x.squeeze(-1) if i in NUMBERS_OF_ROWS else x for i, x in enumerate(arrays)]
        gradients: Any = Gradients.apply(*arrays, *inputs[9:])
        return tuple(x.reshape(batch, *shape) for x, shape in zip(gradients, shapes, strict=True)), (0, 0, 0)


NUMBERS_OF_ROWS = (5, 6, 8)  # LSE, its rest, and the gradient for the LSE, among the inputs of Gradients


def with_batch_first(batch: int, axes, arrays) -> list[Any]:
    """Each array with the axis that vmap goes along as its first; the others stay aligned at the last."""
    first = [
        x if x is None else x.expand(batch, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ]
    most = max(x.dim() for x in first if x is not None)
    return [x if x is None else x.reshape(batch, *(1,) * (most - x.dim()), *x.shape[1:]) for x in first]
