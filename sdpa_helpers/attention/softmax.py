"""The public softmax: checks its argument and hands it to the softmax of the formula's own file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention import arguments

if TYPE_CHECKING:
    from jaxtyping import Float

    from sdpa_helpers.attention.arguments import Array


def softmax(x: Float[Array, "*shape"], axis: int = -1) -> Float[Array, "*shape"]:
    """Turn scores into weights: exp(xᵢ) / Σⱼ exp(xⱼ) along one axis.

    The weights of a slice are not negative and add up to 1. The slice's own maximum is subtracted first,
    which changes nothing but keeps the exponentials from overflowing. An entry of −∞ gets weight 0. By
    convention a slice that is −∞ throughout (nothing may be attended to) gives zeros, where torch.softmax
    gives NaN, and its gradient is zero.

    Args:
        x: scores, a NumPy array or a torch tensor of a floating dtype. Half precision is computed in float32.
        axis: the axis along which weights add up to 1.

    Returns:
        weights of the shape, kind, dtype and device of `x`.

    Raises:
        TypeError: x is not such an array, or axis not an integer.
        ValueError: x has no such axis.
    """
    kind = arguments.kind_of(x, "x")
    arguments.check_floating(x, "x", kind)
    arguments.check_axis(axis, x.shape)
    if kind == "numpy":
        return _in_numpy(x, axis)
    return _in_torch(x, axis)


def _in_numpy(x: Any, axis: int) -> Any:
    from sdpa_helpers.attention import numpy_formula

    working = np.result_type(x.dtype, np.float32)
    return numpy_formula.softmax(np.asarray(x, dtype=working), axis).astype(x.dtype, copy=False)


def _in_torch(x: Any, axis: int) -> Any:
    import torch

    from sdpa_helpers.attention import torch_formula

    working = torch.promote_types(x.dtype, torch.float32)
    return torch_formula.softmax(x.to(working), axis).to(x.dtype)
