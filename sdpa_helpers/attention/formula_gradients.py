"""The gradient by the plain formula: where backends whose gradient is written by hand send a second derivative."""

from __future__ import annotations

import torch

from sdpa_helpers.attention import torch_formula
from sdpa_helpers.attention.layout import Head, Rule, Wants


def differentiable_gradients(
    arrays: Head, rule: Rule, enable_gqa: bool, grad_output: torch.Tensor
) -> tuple[torch.Tensor | None, ...]:
    """Gradients for query, key and value, in a form that can be differentiated again.

    None for those that require no gradient.
    """
    output = torch_formula.attention(arrays, rule, Wants(enable_gqa)).output
    wanted = [x for x in arrays if x.requires_grad]
    gradients = iter(torch.autograd.grad(output, wanted, grad_output, create_graph=True))
    return tuple(next(gradients) if x.requires_grad else None for x in arrays)


def second_derivatives(arrays: Head, rule: Rule, enable_gqa: bool, grad_output, grad_gradients):
    """What a loss's derivatives for the gradients of query, key and value are for these three, and for grad_output."""

    def output(*arrays):
        return torch_formula.attention(Head(*arrays), rule, Wants(enable_gqa)).output

    def gradients(query, key, value, grad_output):
        return torch.func.vjp(output, query, key, value)[1](grad_output)

    # Of the output as rounded, hence its dtype for grad_output.
    rounded = grad_output.to(arrays.query.dtype)
    *of_arrays, of_grad_output = torch.func.vjp(gradients, *arrays, rounded)[1](tuple(grad_gradients))
    return (*of_arrays, of_grad_output.to(grad_output.dtype))
