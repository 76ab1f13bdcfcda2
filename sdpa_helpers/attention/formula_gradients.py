"""The gradient by the plain formula: where backends whose gradient is written by hand send a second derivative."""

from __future__ import annotations

import torch

from sdpa_helpers.attention import torch_formula
from sdpa_helpers.attention.layout import Head, Rule, Wants


def differentiable_gradients(
    arrays: Head,
    rule: Rule,
    enable_gqa: bool,
    grad_output: torch.Tensor | None,
    grad_lse: torch.Tensor | None = None,
) -> tuple[torch.Tensor | None, ...]:
    """Gradients for query, key and value, in a form that can be differentiated again.

    None for those that require no gradient. A gradient that is None was not asked for.
    """
    answer = torch_formula.attention(arrays, rule, Wants(enable_gqa, return_lse=grad_lse is not None))
    given = [(x, g) for x, g in ((answer.output, grad_output), (answer.lse, grad_lse)) if g is not None]
    wanted = [x for x in arrays if x.requires_grad]
    outputs, grads = zip(*given, strict=True)
    gradients = iter(torch.autograd.grad(outputs, wanted, grads, create_graph=True))
    return tuple(next(gradients) if x.requires_grad else None for x in arrays)


def second_derivatives(arrays: Head, rule: Rule, enable_gqa: bool, grads, grad_gradients):
    """The derivatives of a loss for query, key, value and `grads`, from those for the gradients of the first three.

    grads: those for output and LSE.
    """

    def results(*arrays):
        answer = torch_formula.attention(Head(*arrays), rule, Wants(enable_gqa, return_lse=True))
        return answer.output, answer.lse

    def gradients(query, key, value, *grads):
        return torch.func.vjp(results, query, key, value)[1](grads)

    # Of the output as rounded, hence its dtype for the gradient.
    rounded = (grads[0].to(arrays.query.dtype), grads[1])
    *of_arrays, of_grad_output, of_grad_lse = torch.func.vjp(gradients, *arrays, *rounded)[1](
        tuple(grad_gradients)
    )
    return (*of_arrays, of_grad_output.to(grads[0].dtype), of_grad_lse)
