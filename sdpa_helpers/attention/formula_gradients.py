"""The gradient by the plain formula: where backends whose gradient is written by hand send a second derivative."""

from __future__ import annotations

import torch

from sdpa_helpers.attention import torch_formula
from sdpa_helpers.attention.layout import QKV


def differentiable_gradients(query, key, value, mask, grad_output, options) -> tuple[torch.Tensor, ...]:
    """Gradients for query, key and value, in a form that can be differentiated again.

    options: is_causal, scale and enable_gqa. None for those that require no gradient.
    """
    output, _ = torch_formula.attention(
        query, key, value, attn_mask=mask, dropout_p=0.0, return_weights=False, **options
    )
    wanted = [x for x in (query, key, value) if x.requires_grad]
    gradients = iter(torch.autograd.grad(output, wanted, grad_output, create_graph=True))
    return tuple(next(gradients) if x.requires_grad else None for x in (query, key, value))  # pyright: ignore


def second_derivatives(arrays: QKV, mask, grad_output, grad_gradients, is_causal, scale, enable_gqa):
    """What a loss's derivatives for the gradients of query, key and value are for these three, and for grad_output."""

    def output(query, key, value):
        return torch_formula.attention(
            query,
            key,
            value,
            attn_mask=mask,
            dropout_p=0.0,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
            return_weights=False,
        )[0]

    def gradients(query, key, value, grad_output):
        return torch.func.vjp(output, query, key, value)[1](grad_output)

    # Of the output as rounded, hence its dtype for grad_output.
    rounded = grad_output.to(arrays.query.dtype)
    *of_arrays, of_grad_output = torch.func.vjp(gradients, *arrays, rounded)[1](tuple(grad_gradients))
    return (*of_arrays, of_grad_output.to(grad_output.dtype))
