"""The public call: check arguments, choose a backend, hand over. The algorithm is in `numpy_formula.py`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from sdpa_helpers.attention import arguments, call_facts, causality, choice, known_backends

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from sdpa_helpers.attention.arguments import Array
    from sdpa_helpers.attention.causality import Causality


@overload
def scaled_dot_product_attention(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    attn_mask: Bool[Array, "... n_q n_k"] | Float[Array, "... n_q n_k"] | None = None,
    dropout_p: float = 0.0,
    is_causal: Causality = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    backend: str = "auto",
    return_weights: Literal[False] = False,
) -> Float[Array, "... n_q d_v"]: ...
@overload
def scaled_dot_product_attention(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    attn_mask: Bool[Array, "... n_q n_k"] | Float[Array, "... n_q n_k"] | None = None,
    dropout_p: float = 0.0,
    is_causal: Causality = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    backend: str = "auto",
    return_weights: Literal[True],
) -> tuple[Float[Array, "... n_q d_v"], Float[Array, "... n_q n_k"]]: ...
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: Causality = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    backend: str = "auto",
    return_weights: bool = False,
) -> Any:
    """softmax(query keyᵀ · scale) value: for each query the average of the values whose keys match.

    Vaswani et al. 2017, "Attention Is All You Need", §3.2.1, equation 1. Arguments mean what they do in
    torch.nn.functional.scaled_dot_product_attention, for NumPy arrays and for torch tensors.

    Args:
        query: (..., n_q, d_k), of dtype float16, bfloat16 (torch's, or ml_dtypes'), float32 or float64. Half precision
            is computed in float32 and rounded at the end (by torch-fused and triton: as their kernels do it). Inside
            torch.autocast all tensors but those of float64 are first put into its dtype, which the answer then has.
        key: (..., n_k, d_k), of the same dtype and on the same device.
        value: (..., n_k, d_v), likewise. The leading dimensions of all three broadcast.
        attn_mask: broadcasts to (..., n_q, n_k). bool: True = this query may attend to this key. Floating:
            added to the scaled scores, whatever its floating dtype; −inf hides a key.
        dropout_p: probability, 0 … 1, that a weight becomes 0; the others are divided by 1 − dropout_p. Torch
            backends only. It acts on every call: no model.eval() turns it off.
        is_causal: query i sees the keys 0 … i only (aligned at the top left, also when n_q ≠ n_k). Together
            with attn_mask a key must pass both; torch does so, or raises, depending on the kernel it takes.
            "lower_right": query i sees the keys 0 … i + n_k − n_q, so that the last sees all: for a cache of
            keys. torch.nn.attention.bias.causal_lower_right(n_q, n_k) as attn_mask says the same.
        scale: factor of the scores; 1/√d_k when left out.
        enable_gqa: grouped-query attention (Ainslie et al. 2023, §2.2). The heads of key and of value
            (dimension −3) must divide those of query; each serves as many neighbouring query heads as it
            takes.
        backend: one of `backends()`, or "auto": the fastest that is right for these arguments; it keeps to
            the NumPy backends for arrays and to the torch ones for tensors. Any backend takes both kinds;
            tensors that require a gradient need one that keeps it. `explain_backend` says which it is. "ring" is of
            many processes: each passes its own rows of one long sequence, and gets the output of its queries (see
            `sdpa_helpers.attention.ring`); "auto" never takes it.
        return_weights: whether to return the weights too: what multiplied the values, so after dropout.

    Returns:
        output (..., n_q, d_v), or the pair of output and weights (..., n_q, n_k). Both have the kind, dtype
        and device of `query`. A query that may attend to no key (or n_k = 0) gets weights and output of 0,
        and, in torch, gradients of 0. NaN or ±∞ in a query stays in its row. In a key it reaches the rows that may
        attend to it, but a float mask hides none, NaN − ∞ being NaN. In a value, and in gradients, it may reach rows
        that may not attend to it: their weight is 0, and 0 · NaN is NaN, here as in torch; which rows is up to the
        backend. So put numbers into padding, not NaN.

    Raises:
        TypeError: not arrays of one kind and dtype, an integer mask, or a number or flag that is none.
        ValueError: shapes that do not fit, tensors on different devices, a number out of range, d_k = 0
            without scale, an unknown backend, one that cannot serve the call: dropout in NumPy, a gradient that it
            would lose.
    """
    call, expected = _checked(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, return_weights
    )
    chosen = choice.choose(backend, call).backend
    output, weights = known_backends.run(
        chosen,
        call.query,
        call.key,
        call.value,
        attn_mask=call.attn_mask,
        dropout_p=call.dropout_p,
        is_causal=call.is_causal,
        scale=call.scale,
        enable_gqa=bool(enable_gqa),
        return_weights=call.return_weights,
    )
    return (output, _expand(weights, expected)) if return_weights else output


def explain_backend(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: Causality = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    backend: str = "auto",
    return_weights: bool = False,
) -> choice.Choice:
    """Which backend scaled_dot_product_attention takes for these arguments, and why. No attention is computed.

    Args: those of scaled_dot_product_attention.

    Returns:
        prints as text: the backend, why it, why not those that are faster for other arguments, and which of torch's
        transforms (torch.func, torch.compile, a second derivative) go through it.

    Raises:
        TypeError, ValueError: what scaled_dot_product_attention refuses before it computes.
    """
    call, _ = _checked(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, return_weights)
    return choice.choose(backend, call)


def _checked(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    dropout_p: Any,
    is_causal: Any,
    scale: Any,
    enable_gqa: Any,
    return_weights: Any,
) -> tuple[call_facts.Call, tuple[int, ...]]:
    """What the call is, and the shape of its weights; an error if it is none."""
    kind = arguments.common_kind(query, key, value, attn_mask)
    if kind == "torch" and attn_mask is not None:
        attn_mask, is_causal = causality.of_torchs_bias(attn_mask, is_causal, query, key)
    if kind == "torch":
        query, key, value, attn_mask = _as_autocast_wants(query, key, value, attn_mask)
    arguments.check_dtypes(query, key, value, kind)
    arguments.check_causality(is_causal)
    arguments.check_flag(enable_gqa, "enable_gqa")
    arguments.check_flag(return_weights, "return_weights")
    lead = arguments.check_shapes(tuple(query.shape), tuple(key.shape), tuple(value.shape), enable_gqa)
    weights_shape = (*lead, query.shape[-2], key.shape[-2])
    if attn_mask is not None:
        arguments.check_mask(attn_mask, weights_shape, kind)
    if kind == "torch":
        arguments.check_devices(query, key, value, attn_mask)
    attn_mask, is_causal = causality.aligned_top_left(attn_mask, is_causal, query, key)
    call = call_facts.describe(
        query,
        key,
        value,
        attn_mask,
        lead=lead,
        is_causal=is_causal,
        scale=arguments.checked_scale(scale, query.shape[-1]),
        dropout_p=arguments.checked_dropout(dropout_p),
        return_weights=bool(return_weights),
    )
    return call, weights_shape


def _as_autocast_wants(query: Any, *others: Any) -> list[Any]:
    """Inside torch.autocast, in its dtype, as it does for torch's own function: all but float64 and boolean masks."""
    torch = sys.modules["torch"]
    device = query.device.type
    if not torch.is_autocast_enabled(device):
        return [query, *others]
    changed = (torch.float16, torch.bfloat16, torch.float32)
    dtype = torch.get_autocast_dtype(device)
    return [x if x is None or x.dtype not in changed else x.to(dtype) for x in (query, *others)]


def _expand(weights: Any, shape: tuple[int, ...]) -> Any:
    """Where the values have leading dimensions that the scores lack, the same weights serve all of them."""
    if tuple(weights.shape) == shape:
        return weights
    return (
        np.broadcast_to(weights, shape).copy() if isinstance(weights, np.ndarray) else weights.expand(shape)
    )
