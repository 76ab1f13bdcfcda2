"""Attention to a few of the keys: what one rank of `ring.py` computes of one block, and how such parts add up.

Each part comes with its LSE, by which parts are merged (`attention/merge.py`). The backward pass of a part needs the
LSE and the output of the whole, never those of the part: with them it makes its piece of the true weights,
exp(score − lse).

Three kernels, the fastest that fits: torch's CPU kernel; on CUDA, in half precision, torch's FlashAttention (called
as torch's own context parallel does; written without a GPU at hand, so never run by us); else the tiles of
`torch_passes.py`, on any device. All arrays are (batch, heads, rows, columns), the heads of key and value
may divide those of the query, and scale > 0. Outputs, lse and gradients are in float32 at least: half precision
would round anew at each part.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from sdpa_helpers.attention import torch_passes
from sdpa_helpers.attention.layout import BackendResult, Head, Rule

aten = torch.ops.aten


class PartialAttention(NamedTuple):
    """Attention to some of the keys. A row that sees none of them has output 0 and lse −∞."""

    output: torch.Tensor  # (batch, heads, n_q, d_v)
    lse: torch.Tensor  # (batch, heads, n_q)


def working_dtype(dtype: torch.dtype) -> torch.dtype:
    """That of sums: half precision holds too little for them."""
    return torch.promote_types(dtype, torch.float32)


def nothing(query: torch.Tensor, d_v: int) -> PartialAttention:
    """Attention to no keys at all."""
    dtype = working_dtype(query.dtype)
    output = query.new_zeros((*query.shape[:-1], d_v), dtype=dtype)
    return PartialAttention(output, query.new_full(query.shape[:-1], -torch.inf, dtype=dtype))


def attend(query, key, value, is_causal: bool, scale: float) -> PartialAttention:
    """Attention of these queries to these keys. With is_causal, as many keys as queries: row i sees 0 … i."""
    if 0 in (*query.shape[:-1], key.shape[-2], value.shape[-1]):
        return nothing(query, value.shape[-1])
    if query.device.type == "cpu":
        return _cpu_forward(query, key, value, is_causal, scale)
    if _flash_fits(query, value):
        output, lse, *_ = aten._scaled_dot_product_flash_attention(
            query, key, value, 0.0, is_causal, scale=scale
        )
        return PartialAttention(output.float(), lse)
    return _tiled_forward(query, key, value, is_causal, scale)


def gradients(
    grad_output, query, key, value, whole: PartialAttention, is_causal: bool, scale: float
) -> tuple:
    """The parts of the gradients of query, key and value that come from these keys.

    `whole` is attention to all keys: the output and lse with which the forward pass ended.
    """
    if 0 in (*query.shape[:-1], key.shape[-2], value.shape[-1]):
        return tuple(torch.zeros_like(x, dtype=working_dtype(x.dtype)) for x in (query, key, value))
    if query.device.type == "cpu":
        return _cpu_backward(grad_output, query, key, value, whole, is_causal, scale)
    if _flash_fits(query, value):
        return _flash_backward(grad_output, query, key, value, whole, is_causal, scale)
    return _tiled_backward(grad_output, query, key, value, whole, is_causal, scale)


# torch's CPU kernel ----------------------------------------------------------------------------------------


def _cpu_forward(query, key, value, is_causal, scale) -> PartialAttention:
    width = max(query.shape[-1], value.shape[-1])
    arrays = (_as_wide_as(width, x) for x in (query, key, value))
    output, lse = aten._scaled_dot_product_flash_attention_for_cpu(*arrays, 0.0, is_causal, scale=scale)
    return PartialAttention(output[..., : value.shape[-1]], lse)


def _cpu_backward(grad_output, query, key, value, whole, is_causal, scale) -> tuple:
    width = max(query.shape[-1], value.shape[-1])
    wide = [_as_wide_as(width, x) for x in (grad_output, query, key, value, whole.output)]
    found = aten._scaled_dot_product_flash_attention_for_cpu_backward(
        *wide, whole.lse, 0.0, is_causal, scale=scale
    )
    return tuple(grad[..., : x.shape[-1]] for grad, x in zip(found, (query, key, value), strict=True))


def _as_wide_as(width: int, array: torch.Tensor) -> torch.Tensor:
    """The kernel wants d_v = d_k. Columns of zeros change no score, and give columns of zeros in the output."""
    array = array.to(working_dtype(array.dtype))
    return torch.nn.functional.pad(array, (0, width - array.shape[-1])) if array.shape[-1] < width else array


# torch's FlashAttention on CUDA ----------------------------------------------------------------------------


def _flash_fits(query: torch.Tensor, value: torch.Tensor) -> bool:
    d = query.shape[-1]
    half = query.dtype in (torch.float16, torch.bfloat16)
    return query.device.type == "cuda" and half and d == value.shape[-1] and d % 8 == 0 and d <= 256


def _flash_backward(grad_output, query, key, value, whole, is_causal, scale) -> tuple:
    half = query.dtype
    no_seed = query.new_zeros(2, dtype=torch.uint64)  # it is dropout's
    arrays = (grad_output.to(half), query, key, value, whole.output.to(half), whole.lse.contiguous())
    lengths = (None, None, query.shape[-2], key.shape[-2])
    found = aten._scaled_dot_product_flash_attention_backward(
        *arrays, *lengths, 0.0, is_causal, no_seed, no_seed, scale=scale
    )
    return tuple(grad.float() for grad in found)


# Tiles of torch, anywhere ----------------------------------------------------------------------------------


def _tiled_forward(query, key, value, is_causal, scale) -> PartialAttention:
    arrays, rule = Head(query, key, value), Rule(None, is_causal, scale)
    output, lse, _ = torch_passes.forward(arrays, rule, enable_gqa=True)
    return PartialAttention(output, lse)


def _tiled_backward(grad_output, query, key, value, whole, is_causal, scale) -> tuple:
    working = working_dtype(query.dtype)
    query, key, value, grad_output = (x.to(working) for x in (query, key, value, grad_output))
    arrays, rule = Head(query, key, value), Rule(None, is_causal, scale)
    known = torch_passes.Attended(whole.output, whole.lse, whole.lse[..., :0])
    grads = BackendResult(grad_output, lse=torch.zeros_like(whole.lse))
    return torch_passes.backward(arrays, rule, True, known, grads)
