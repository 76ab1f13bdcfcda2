"""The gradient by the plain formula: where backends whose gradient is written by hand send a second derivative."""

from __future__ import annotations

import torch

from sdpa_helpers.attention import torch_formula


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
