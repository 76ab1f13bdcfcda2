"""The public call: check arguments, choose a backend, hand over. The algorithm is in `numpy_formula.py`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from sdpa_helpers.attention import arguments, call_facts, causality, choice, known_backends
from sdpa_helpers.attention.layout import Head, Wants
from sdpa_helpers.attention.variants import checked_mods

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

    from sdpa_helpers.attention.arguments import Array
    from sdpa_helpers.attention.causality import Causality
    from sdpa_helpers.attention.variants.mods import MaskMod, ScoreMod


# fmt: off
# What comes back depends on what is asked for; the shapes are said once, at the function itself.
@overload
def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, dropout_p: float = 0.0,
    is_causal: Causality = False, scale: float | None = None, enable_gqa: bool = False, *, backend: str = "auto",
    return_weights: Literal[False] = False, return_lse: Literal[False] = False,
    mask_mod: MaskMod | None = None, score_mod: ScoreMod | None = None,
) -> Array: ...
@overload
def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, dropout_p: float = 0.0,
    is_causal: Causality = False, scale: float | None = None, enable_gqa: bool = False, *, backend: str = "auto",
    return_weights: Literal[True], return_lse: Literal[False] = False,
    mask_mod: MaskMod | None = None, score_mod: ScoreMod | None = None,
) -> tuple[Array, Array]: ...
@overload
def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, dropout_p: float = 0.0,
    is_causal: Causality = False, scale: float | None = None, enable_gqa: bool = False, *, backend: str = "auto",
    return_weights: Literal[False] = False, return_lse: Literal[True],
    mask_mod: MaskMod | None = None, score_mod: ScoreMod | None = None,
) -> tuple[Array, Array]: ...
@overload
def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, dropout_p: float = 0.0,
    is_causal: Causality = False, scale: float | None = None, enable_gqa: bool = False, *, backend: str = "auto",
    return_weights: Literal[True], return_lse: Literal[True],
    mask_mod: MaskMod | None = None, score_mod: ScoreMod | None = None,
) -> tuple[Array, Array, Array]: ...
@overload
def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None = None, dropout_p: float = 0.0,
    is_causal: Causality = False, scale: float | None = None, enable_gqa: bool = False, *, backend: str = "auto",
    return_weights: bool, return_lse: bool = False,
    mask_mod: MaskMod | None = None, score_mod: ScoreMod | None = None,
) -> Any: ...
# fmt: on
def scaled_dot_product_attention(
    query: Float[Any, "... n_q d_k"],
    key: Float[Any, "... n_k d_k"],
    value: Float[Any, "... n_k d_v"],
    attn_mask: Bool[Any, "... n_q n_k"] | Float[Any, "... n_q n_k"] | None = None,
    dropout_p: float = 0.0,
    is_causal: Causality = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    backend: str = "auto",
    return_weights: bool = False,
    return_lse: bool = False,
    mask_mod: MaskMod | None = None,
    score_mod: ScoreMod | None = None,
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
            added to the scaled scores, whatever its floating dtype; −inf hides a key. A finite number that is beyond
            the dtype of the scores counts as the last that is not: float64's lowest, in float32, is not −inf.
        dropout_p: probability, 0 … 1, that a weight becomes 0; the others are divided by 1 − dropout_p. Torch
            backends only. It acts on every call: no model.eval() turns it off.
        is_causal: query i sees the keys 0 … i only (aligned at the top left, also when n_q ≠ n_k). Together
            with attn_mask a key must pass both; torch does so, or raises, depending on the kernel it takes.
            "lower_right": query i sees the keys 0 … i + n_k − n_q, so that the last sees all: for a cache of
            keys. torch.nn.attention.bias.causal_lower_right(n_q, n_k) as attn_mask says the same.
        scale: factor of the scores; 1/√d_k when left out. It may be any number, also one that the arrays' dtype does
            not hold, e.g. 1e-50 for queries and keys of 1e25 in float32.
        enable_gqa: grouped-query attention (Ainslie et al. 2023, §2.2). The heads of key and of value
            (dimension −3) must divide those of query; each serves as many neighbouring query heads as it
            takes.
        backend: one of `backends()`, or "auto": the fastest that is right for these arguments; it keeps to
            the NumPy backends for arrays and to the torch ones for tensors. Any backend takes both kinds;
            tensors that require a gradient need one that keeps it. `explain_backend` says which it is. "ring" is of
            many processes: each passes its own rows of one long sequence, and gets the output of its queries (see
            `sdpa_helpers.attention.ring`); "auto" never takes it.
        return_weights: whether to return the weights too: what multiplied the values, so after dropout.
        return_lse: whether to return, after these, each query's LSE too, log Σⱼ exp(scoreⱼ) of the scores that it
            sees: what the outputs of two sets of keys are merged by. −∞ for a query that sees none.
        mask_mod: mask_mod(b, h, i, j) says whether query i of head h of sequence b may attend to key j; or a BlockMask,
            ours or torch's. This and score_mod are those of torch.nn.attention.flex_attention (Dong et al. 2024, "Flex
            Attention", §3), and what is written for it runs here unchanged, but they are called with arrays of
            indices that broadcast, of the kind of `query`: write &, |, ~ and comparisons, not `if` and `and`. All
            leading dimensions but the last count as b. Ready-made ones: `sdpa_helpers.attention.variants.mods`.
        score_mod: score_mod(score, b, h, i, j) is put in place of the scaled score, before masks. A tensor that it
            was made with, and that requires a gradient, gets one.

    Returns:
        output (..., n_q, d_v); if asked for, a tuple of it and weights (..., n_q, n_k), and LSE (..., n_q). They have
        the kind, dtype and device of `query`, but the LSE is in float32 at least. A query that may attend to no key
        (or n_k = 0) gets weights and output of 0, an LSE of −∞, and, in torch, gradients of 0. NaN or ±∞ in a query
        stays in its row. In a key it reaches the rows that may attend to it, but a float mask hides none, NaN − ∞
        being NaN. In a value, and in gradients, it may reach rows that may not attend to it: their weight is 0, and
        0 · NaN is NaN, here as in torch; which rows is up to the backend. So put numbers into padding, not NaN.

    Raises:
        TypeError: not arrays of one kind and dtype, an integer mask, or a number or flag that is none.
        ValueError: shapes that do not fit, tensors on different devices, a number out of range, d_k = 0
            without scale, an unknown backend, one that cannot serve the call: dropout in NumPy, a gradient that it
            would lose.
    """
    wants = Wants(enable_gqa, dropout_p, return_weights, return_lse)
    asked = ScoreArguments(attn_mask, is_causal, scale, mask_mod, score_mod)
    call = _checked(query, key, value, asked, wants)
    chosen = choice.choose(backend, call).backend
    wants = Wants(bool(enable_gqa), call.dropout_p, call.return_weights, call.return_lse)
    answer = known_backends.run(chosen, Head(call.query, call.key, call.value), call.rule, wants)
    if not (return_weights or return_lse):
        return answer.output
    rows = (*call.lead, call.n_q)
    weights = (_expand(answer.weights, (*rows, call.n_k)),) if return_weights else ()
    lse = (_expand(answer.lse, rows),) if return_lse else ()
    return (answer.output, *weights, *lse)


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
    return_lse: bool = False,
    mask_mod: MaskMod | None = None,
    score_mod: ScoreMod | None = None,
) -> choice.Choice:
    """Which backend scaled_dot_product_attention takes for these arguments, and why. No attention is computed.

    Args: those of scaled_dot_product_attention.

    Returns:
        prints as text: the backend, why it, why not those that are faster for other arguments, and which of torch's
        transforms (torch.func, torch.compile, a second derivative) go through it.

    Raises:
        TypeError, ValueError: what scaled_dot_product_attention refuses before it computes.
    """
    wants = Wants(enable_gqa, dropout_p, return_weights, return_lse)
    asked = ScoreArguments(attn_mask, is_causal, scale, mask_mod, score_mod)
    return choice.choose(backend, _checked(query, key, value, asked, wants))


class ScoreArguments(NamedTuple):
    """What the caller said of the scores, before it is checked: `layout.Rule` is what comes of it."""

    attn_mask: Any
    is_causal: Any
    scale: Any
    mask_mod: Any
    score_mod: Any


def _checked(query: Any, key: Any, value: Any, asked: ScoreArguments, wants: Wants) -> call_facts.Call:
    """What the call is; an error if it is none."""
    attn_mask, is_causal, scale, mask_mod, score_mod = asked
    kind = arguments.common_kind(query, key, value, attn_mask)
    if kind == "torch" and attn_mask is not None:
        attn_mask, is_causal = causality.of_torchs_bias(attn_mask, is_causal, query, key)
    if kind == "torch":
        query, key, value, attn_mask = _as_autocast_wants(query, key, value, attn_mask)
    arguments.check_dtypes(query, key, value, kind)
    arguments.check_causality(is_causal)
    arguments.check_flag(wants.enable_gqa, "enable_gqa")
    arguments.check_flag(wants.return_weights, "return_weights")
    arguments.check_flag(wants.return_lse, "return_lse")
    lead = arguments.check_shapes(tuple(query.shape), tuple(key.shape), tuple(value.shape), wants.enable_gqa)
    weights_shape = (*lead, query.shape[-2], key.shape[-2])
    if attn_mask is not None:
        arguments.check_mask(attn_mask, weights_shape, kind)
    if kind == "torch":
        arguments.check_devices(query, key, value, attn_mask)
    attn_mask, is_causal = causality.aligned_top_left(attn_mask, is_causal, query, key)
    return call_facts.describe(
        Head(query, key, value),
        attn_mask,
        checked_mods.checked(mask_mod, score_mod, weights_shape, query, kind),
        lead=lead,
        is_causal=is_causal,
        scale=arguments.checked_scale(scale, query.shape[-1]),
        dropout_p=arguments.checked_dropout(wants.dropout_p),
        return_weights=bool(wants.return_weights),
        return_lse=bool(wants.return_lse),
    )


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
