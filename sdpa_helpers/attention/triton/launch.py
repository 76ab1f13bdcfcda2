"""FlashAttention-2 on an NVIDIA GPU: starts the Triton programs of `kernels.py`, where the algorithm is.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

This file lays the tensors out as the programs want them, says how large their tiles are, and makes one function of
the forward and the backward pass, which torch can differentiate.

Half precision is computed as FlashAttention does it: the weights are rounded to it before they meet the values.

Triton compiles a program when it is first started with arguments of a new kind, which takes seconds. On a machine
without a GPU the environment variable TRITON_INTERPRET=1, set before this file is loaded, runs the same programs in
Triton's interpreter: for tests, and to put a print() into them; it is slow.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from sdpa_helpers.attention.formula_gradients import differentiable_gradients
from sdpa_helpers.attention.layout import (
    Answer,
    Head,
    Rule,
    Wants,
    four_dimensional,
    full_rows,
    leading_shape,
)
from sdpa_helpers.attention.triton import kernels

if TYPE_CHECKING:
    from sdpa_helpers.attention.call_facts import Call

LOG2_E = math.log2(math.e)
ALIGNED_BYTES = 16  # where a row of a matrix may start, for the GPU's copy engine
SHARED_BYTES = 220 * 1024  # of fast memory for one tile's matrices: the H100's 227 KiB are enough


class Block(NamedTuple):
    """The tile of one program: queries × keys, the warps that share it, and how many loads ahead it runs."""

    rows: int
    columns: int
    warps: int
    stages: int


# By the size of a head, at most. Large tiles: fewer corrections and loads for each score. What limits them is the
# 255 registers of a thread: tests/attention/test_triton.py compiles these for an H100 and sees that none spills.
FORWARD = {64: Block(128, 128, 4, 2), 128: Block(128, 128, 8, 2), 256: Block(128, 64, 8, 2)}
QUERY_GRADIENT = {64: Block(128, 64, 8, 3), 128: Block(128, 128, 8, 2), 256: Block(64, 32, 8, 2)}
MASKED = {
    128: Block(128, 64, 8, 2),
    256: Block(64, 32, 8, 2),
}  # for both: a mask's numbers need registers too
KEY_GRADIENTS = {64: Block(64, 128, 8, 2), 128: Block(64, 128, 8, 2), 256: Block(32, 64, 8, 2)}
LARGEST_HEAD = max(FORWARD)
# A product of float32 matrices is three of shorter numbers, which all want registers.
FLOAT32 = Block(64, 32, 4, 1)
FLOAT32_KEY_GRADIENTS = Block(32, 64, 4, 1)


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    if call.return_weights:
        return "tiles of weights are never stored"
    if call.has_mask_mod or call.has_score_mod:
        return "it knows masks as tensors only, no mask_mod and no score_mod"
    if call.return_lse:
        return "it does not return its LSE"
    if call.dropout_p > 0:
        return "it has no dropout"
    if call.mask == "float":
        return "it takes boolean masks only: one number for each row could not hold what a float mask may add"
    if call.dtype == "float64":
        return "it computes in float32"
    if 0 in (*call.lead, call.n_q, call.n_k, call.d_k, call.d_v):
        return "it has no tiles for empty arrays"
    if max(call.d_k, call.d_v) > LARGEST_HEAD:
        return f"its tiles hold at most {LARGEST_HEAD} features, here {max(call.d_k, call.d_v)}"
    return cannot_here(call.device)


def cannot_here(device: str) -> str:
    """Why the programs do not run on such a device."""
    if kernels.INTERPRETED.value:
        return ""
    if device != "cuda":
        return f"it needs tensors on an NVIDIA GPU, not on {device!r} (or, for tests, TRITON_INTERPRET=1)"
    has = torch.cuda.get_device_properties().shared_memory_per_block_optin
    if has < SHARED_BYTES:
        return (
            f"its tiles are for GPUs with 227 KiB of shared memory (H100, H200, B200), not {has // 1024} KiB"
        )
    return ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> Answer:
    """The attended values, in the dtype of the query."""
    query, key, value = arrays
    attn_mask, is_causal, scale = rule.mask, rule.is_causal, rule.scale
    enable_gqa = wants.enable_gqa
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k, d_v = query.shape[-2], key.shape[-2], value.shape[-1]
    if enable_gqa and key.shape[-3] != value.shape[-3]:  # the programs know one number of heads for both
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], dim=-3) for x in (key, value))
    lead_kv = (*lead[:-1], key.shape[-3]) if enable_gqa else lead
    if scale <= 0:  # the largest score is scale times the largest product only if scale > 0
        query, scale = (-query, -scale) if scale < 0 else (query * 0, 1.0)
    mask = None if attn_mask is None else four_dimensional(full_rows(attn_mask, n_q, n_k), lead)
    output = Flash.apply(
        aligned(four_dimensional(query, lead)),
        aligned(four_dimensional(key, lead_kv)),
        aligned(four_dimensional(value, lead_kv)),
        mask,
        is_causal,
        scale,
    )
    return Answer(output[..., :d_v].reshape(*lead, n_q, d_v))  # pyright: ignore


class Flash(torch.autograd.Function):
    """The two passes, and what the first keeps for the second. All arrays are (batch, heads, rows, features)."""

    @staticmethod
    def forward(ctx: Any, query, key, value, mask, is_causal: bool, scale: float):
        output = query.new_empty((*query.shape[:3], value.shape[3]))
        lse = query.new_empty(query.shape[:3], dtype=torch.float32)
        block = tile(FORWARD if mask is None else MASKED, FLOAT32, query, value)
        start(
            kernels.forward,
            block,
            {"query": query, "output": output},
            {"key": key, "value": value},
            copies_for=(query, block.rows),
            lse=lse,
            **common(query, key, value, mask, is_causal, scale),
            RAGGED=is_ragged(key, block, is_causal),
        )
        ctx.save_for_backward(query, key, value, mask, output, lse)
        ctx.options = {"is_causal": is_causal, "scale": scale}
        return output

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        query, key, value, mask, output, lse = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody is going to differentiate this gradient
            gradients = differentiable_gradients(
                Head(query, key, value), Rule(mask, **ctx.options), True, grad_outputs[0]
            )
            return (*gradients, None, None, None)
        grad_output = aligned(grad_outputs[0])
        gradients = [x.new_empty(x.shape) for x in (query, key, value)]
        rows = {"query": query, "grad_output": grad_output}
        columns = {"key": key, "value": value}
        shared = {
            "lse": lse,
            "deltas": torch.empty_like(lse),
            "scale": ctx.options["scale"],
            **common(query, key, value, mask, **ctx.options),
        }
        block = tile(QUERY_GRADIENT if mask is None else MASKED, FLOAT32, query, value)
        start(
            kernels.query_gradient,
            block,
            {**rows, "output": output, "grad_query": gradients[0]},
            columns,
            copies_for=(query, block.rows),
            **shared,
            RAGGED=is_ragged(key, block, ctx.options["is_causal"]),
        )
        block = tile(KEY_GRADIENTS, FLOAT32_KEY_GRADIENTS, query, value)
        start(
            kernels.key_gradients,
            block,
            rows,
            {**columns, "grad_key": gradients[1], "grad_value": gradients[2]},
            copies_for=(key, block.columns),
            **shared,
        )
        return (*gradients, None, None, None)


def common(query, key, value, mask, is_causal: bool, scale: float) -> dict[str, Any]:
    """The arguments that all programs take."""
    heads, n_q, n_k = query.shape[1], query.shape[2], key.shape[2]
    kind = kernels.NO_MASK
    if mask is not None:
        kind = kernels.KEY_MASK if mask.stride(2) == 0 else kernels.FULL_MASK
    return {
        "mask": (query, 0, 0, 0, 0) if mask is None else (mask.view(torch.uint8), *mask.stride()),
        "to_base_2": scale * LOG2_E,
        "heads": heads,
        "group": heads // key.shape[1],  # of query heads that share a head of key and value
        "n_q": n_q,
        "n_k": n_k,
        "IS_CAUSAL": is_causal,
        "MASK": kind.value,
        "KEY_SIZE": power_of_two(query.shape[3]),
        "VALUE_SIZE": power_of_two(value.shape[3]),
    }


def is_ragged(key: torch.Tensor, block: Block, is_causal: bool) -> bool:
    """Whether the last tile may reach past the keys; under causality always asked: it costs little on a diagonal."""
    return is_causal or key.shape[2] % block.columns != 0


def start(
    program: Any,
    block: Block,
    by_rows: dict[str, torch.Tensor],
    by_columns: dict[str, torch.Tensor],
    *,
    copies_for: tuple[torch.Tensor, int],
    **arguments: Any,
) -> None:
    """One copy of the program for every so many rows of each head of a matrix.

    by_rows: matrices that are fetched or written block.rows at a time; by_columns: block.columns.
    """
    matrices = {name: descriptor(matrix, block.rows) for name, matrix in by_rows.items()}
    matrices |= {name: descriptor(matrix, block.columns) for name, matrix in by_columns.items()}
    matrix, size = copies_for
    batch, heads, n, _ = matrix.shape
    with torch.cuda.device(matrix.device) if matrix.device.type == "cuda" else nullcontext():
        program[(batch * heads * math.ceil(n / size),)](
            **matrices,
            **arguments,
            ROWS=block.rows,
            COLUMNS=block.columns,
            num_warps=block.warps,
            num_stages=block.stages,
            enable_fp_fusion=True,  # scores · to_base_2 − largest in one step; Triton 3.10 would not by itself
        )


# Layout ----------------------------------------------------------------------------------------------------


def tile(blocks: dict[int, Block], for_float32: Block, query: torch.Tensor, value: torch.Tensor) -> Block:
    """The tile for heads of that size."""
    if query.dtype == torch.float32:
        return for_float32
    size = max(query.shape[3], value.shape[3])
    return next(block for largest, block in blocks.items() if size <= largest)


def descriptor(matrix: torch.Tensor, rows: int) -> TensorDescriptor:
    """What the copy engine must know to fetch that many rows of one head, and all features."""
    block = [1, 1, rows, power_of_two(matrix.shape[3])]
    return TensorDescriptor(matrix, list(matrix.shape), list(matrix.stride()), block)


def power_of_two(features: int) -> int:
    """As many, or more, as a product of tiles takes: the descriptor fills up with zeros."""
    return max(16, 1 << (features - 1).bit_length())


def aligned(matrix: torch.Tensor) -> torch.Tensor:
    """The matrix, or a copy, with every row where the copy engine can begin; perhaps with columns of 0 added.

    Such columns in query and key change no product, and in value they give columns that `attention` cuts off.
    """
    unit = ALIGNED_BYTES // matrix.element_size()
    if matrix.shape[3] % unit:
        return torch.nn.functional.pad(matrix, (0, -matrix.shape[3] % unit))
    *steps, last = matrix.stride()
    if (
        last == 1
        and all(step > 0 and step % unit == 0 for step in steps)
        and not matrix.data_ptr() % ALIGNED_BYTES
    ):
        return matrix
    return matrix.clone(memory_format=torch.contiguous_format)
