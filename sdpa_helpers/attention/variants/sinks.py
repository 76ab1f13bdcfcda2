"""Attention sinks: a place for the weight that a query has no key for.

Softmax makes weights that add up to 1, also where no key matters. Trained models then pour weight on the first tokens,
which thereby become "sinks" (Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks", §3.1), and
break when a window moves past those. OpenAI's gpt-oss (2025) gives every head a place of its own instead, one
learned number, the logit of a key that is always there and whose value is 0:

    weightᵢⱼ = exp(scoreᵢⱼ) / (exp(sink) + Σⱼ exp(scoreᵢⱼ))

The sum is exp(LSE), so that nothing of attention itself changes: its output is made smaller by
exp(LSE) / (exp(sink) + exp(LSE)) = σ(LSE − sink), σ being the logistic function.
"""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any

import numpy as np

from sdpa_helpers.attention import arguments


def with_sinks(output: Any, lse: Any, sinks: Any) -> tuple[Any, Any]:
    """The attention that there would be, had every head one key more, of score `sinks[head]` and of value 0.

        output, lse = scaled_dot_product_attention(query, key, value, return_lse=True)
        output, lse = with_sinks(output, lse, sinks)

    In torch gradients flow to all three.

    Args:
        output: (..., heads, n_q, d_v), a NumPy array or a torch tensor.
        lse: (..., heads, n_q), each query's log Σⱼ exp(scoreⱼ); −∞ for one that sees no key.
        sinks: (heads,), of any floating dtype; −∞ is no sink. It is not multiplied by scale.

    Returns:
        output with the dtype it had, and the LSE that counts the sink too. A query that sees no key keeps output 0.

    Raises:
        TypeError: not arrays of one kind, or not floats.
        ValueError: shapes that do not fit, e.g. a number of sinks other than the number of heads.
    """
    kind = arguments.kind_of(output, "output")
    if isinstance(sinks, Real):
        same = (
            f"np.full(heads, {float(sinks)})" if kind == "numpy" else f"torch.full((heads,), {float(sinks)})"
        )
        raise TypeError(f"sinks is {sinks}, but must be an array (heads,), one number for each head: {same}")
    for name, array in (("output", output), ("lse", lse), ("sinks", sinks)):
        if arguments.kind_of(array, name) != kind:
            raise TypeError(
                f"output and {name} are not of one kind: pass NumPy arrays only, or torch tensors only"
            )
        arguments.check_floating(array, name, kind)
    if tuple(output.shape[:-1]) != tuple(lse.shape):
        raise ValueError(
            f"output has shape {tuple(output.shape)} and lse {tuple(lse.shape)}: they must be (..., heads, n_q, d_v) "
            "and (..., heads, n_q)"
        )
    if lse.ndim < 2 or tuple(sinks.shape) != tuple(lse.shape[-2:-1]):
        raise ValueError(
            f"sinks has shape {tuple(sinks.shape)}, but must be (heads,), one number for each head of lse, whose shape "
            f"is {tuple(lse.shape)}: (..., heads, n_q)"
        )
    xp = np if kind == "numpy" else sys.modules["torch"]
    sinks = _as(lse.dtype, sinks[:, None])  # (heads, 1): the same for all queries
    # no key and no sink: −∞ − (−∞) would be NaN, in gradients too
    neither = (lse == -np.inf) & (sinks == -np.inf)
    lse = xp.where(neither, 0, lse)
    whole = xp.logaddexp(lse, sinks)
    share = xp.exp(lse - whole)[..., None]  # σ(LSE − sink)
    return _as(output.dtype, output * share), xp.where(neither, -np.inf, whole)


def _as(dtype: Any, array: Any) -> Any:
    return array.astype(dtype, copy=False) if isinstance(array, np.ndarray) else array.to(dtype)
