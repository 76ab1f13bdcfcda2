"""Starts the programs of `kernels.py`: with which tile, how many copies, and on tensors laid out as they want them.

All arrays here have four dimensions, (batch, heads, rows, features).
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from sdpa_helpers.attention.arguments import dtype_name
from sdpa_helpers.attention.layout import Head, Rule
from sdpa_helpers.attention.triton import blocks, kernels
from sdpa_helpers.attention.triton.blocks import Block
from sdpa_helpers.attention.triton.lists import Grid, Lists, lists_for

LOG2_E = math.log2(math.e)
INTERPRETED_AS = 90  # the architecture whose tiles the interpreter takes
ENOUGH_PROGRAMS = 264  # two for each multiprocessor of the largest of these GPUs
ALIGNED_BYTES = 16  # where a row of a matrix may start, for the GPU's copy engine


class Forward(NamedTuple):
    """What the forward program writes."""

    output: torch.Tensor
    lse: torch.Tensor  # (batch, heads, n_q), float32, to base 2; +∞ where a row saw nothing


def start_forward(arrays: Head, rule: Rule, seen: torch.Tensor | None) -> Forward:
    """Starts the forward program, a copy for each block of queries. seen: `lists.seen_in_tiles` of a mask, or None."""
    query, key, value = arrays
    done = Forward(
        query.new_empty((*query.shape[:3], value.shape[3])),
        query.new_empty(query.shape[:3], dtype=torch.float32),
    )

    block = block_for("forward", arrays)
    start(
        kernels.forward,
        block,
        {"query": query, "output": done.output},
        {"key": key, "value": value},
        copies=query.shape[0] * query.shape[1] * math.ceil(query.shape[2] / block.rows),
        lse=done.lse,
        **common(arrays, rule, seen, block),
        RAGGED=is_ragged(key, block, rule),
    )
    return done


def start_query_gradient(
    arrays: Head,
    rule: Rule,
    seen: torch.Tensor | None,
    done: Forward,
    grads: tuple[torch.Tensor, torch.Tensor | None],  # of output, and of the LSE (natural) if it has one
) -> tuple[torch.Tensor, torch.Tensor]:
    """(dQ, D)"""
    query, key, value = arrays
    grad_output, grad_lse = grads
    grad_query, deltas = query.new_empty(query.shape), torch.empty_like(done.lse)
    block = block_for("query_gradient", arrays)
    start(
        kernels.query_gradient,
        block,
        {"query": query, "output": done.output, "grad_output": grad_output, "grad_query": grad_query},
        {"key": key, "value": value},
        copies=query.shape[0] * query.shape[1] * math.ceil(query.shape[2] / block.rows),
        lse=done.lse,
        grad_lse=done.lse if grad_lse is None else grad_lse.contiguous(),
        deltas=deltas,
        scale=rule.scale,
        **common(arrays, rule, seen, block),
        RAGGED=is_ragged(key, block, rule),
        LSE_GRADIENT=grad_lse is not None,
    )
    return grad_query, deltas


def start_key_gradients(
    arrays: Head,
    rule: Rule,
    seen: torch.Tensor | None,
    of_rows: tuple[torch.Tensor, torch.Tensor],  # LSE and D
    grad_output: torch.Tensor,
) -> list[torch.Tensor]:
    """[dK, dV]"""
    query, key, value = arrays
    group, block = query.shape[1] // key.shape[1], block_for("key_gradients", arrays)
    programs = key.shape[0] * key.shape[1] * math.ceil(key.shape[2] / block.columns)
    parts = parts_of_group(group, programs)
    gradients = [in_parts(matrix, parts) for matrix in (key, value)]
    start(
        kernels.key_gradients,
        block,
        {"query": query, "grad_output": grad_output},
        {"key": key, "value": value, "grad_key": gradients[0], "grad_value": gradients[1]},
        copies=programs * parts,
        members=group // parts,
        lse=of_rows[0],
        deltas=of_rows[1],
        scale=rule.scale,
        **common(arrays, rule, seen, block, of_keys=True),
    )
    return [summed(gradient, parts, key.dtype) for gradient in gradients]


def parts_of_group(group: int, programs: int) -> int:
    """Among how many programs to share out the query heads of one block of keys: as few as keep a GPU busy.

    group: query heads of a head of keys. programs: how many there are if each does a whole group. The shapes alone
    decide, so that the same call has the same bits again.
    """
    return next((n for n in range(1, group) if group % n == 0 and programs * n >= ENOUGH_PROGRAMS), group)


def in_parts(matrix: torch.Tensor, parts: int) -> torch.Tensor:
    """Where its gradient goes, with a head for each part of a group; sums that are not complete are float32."""
    batch, heads, *rest = matrix.shape
    dtype = matrix.dtype if parts == 1 else torch.float32
    return matrix.new_empty((batch, heads * parts, *rest), dtype=dtype)


def summed(gradient: torch.Tensor, parts: int, dtype: torch.dtype) -> torch.Tensor:
    """The sum of the parts, always in the same order."""
    return gradient if parts == 1 else gradient.unflatten(1, (-1, parts)).sum(2).to(dtype)


def common(
    arrays: Head, rule: Rule, seen: torch.Tensor | None, block: Block, *, of_keys: bool = False
) -> dict[str, Any]:
    """The arguments that all programs take."""
    query, key, value = arrays
    heads, n_q, n_k = query.shape[1], query.shape[2], key.shape[2]
    lists = Lists(query, query, query, 0, 0, 0, 0, 0, 0, 0)  # which no program looks at
    if seen is not None:
        grid = Grid(n_q, n_k, block.rows, block.columns)
        lists = lists_for(rule.mask, seen, grid, rule.is_causal, of_keys=of_keys)
    return {
        "lists": lists,
        "to_base_2": rule.scale * LOG2_E,
        "heads": heads,
        "group": heads // key.shape[1],  # of query heads that share a head of key and value
        "n_q": n_q,
        "n_k": n_k,
        "IS_CAUSAL": rule.is_causal,
        "MASK": seen is not None,
        "KEY_SIZE": power_of_two(query.shape[3]),
        "VALUE_SIZE": power_of_two(value.shape[3]),
    }


def is_ragged(key: torch.Tensor, block: Block, rule: Rule) -> bool:
    """Whether the last tile may reach past the keys; under causality always asked: it costs little on a diagonal."""
    return rule.mask is None and (rule.is_causal or key.shape[2] % block.columns != 0)


def start(
    program: Any,
    block: Block,
    by_rows: dict[str, torch.Tensor],
    by_columns: dict[str, torch.Tensor],
    *,
    copies: int,
    **arguments: Any,
) -> None:
    """So many copies of the program.

    by_rows: matrices that are fetched or written block.rows at a time; by_columns: block.columns.
    """
    device = by_rows["query"].device
    copy_engine = blocks.has_descriptors(architecture(device), dtype_name(by_rows["query"]))
    matrices = {name: descriptor(matrix, block.rows, copy_engine) for name, matrix in by_rows.items()}
    matrices |= {name: descriptor(matrix, block.columns, copy_engine) for name, matrix in by_columns.items()}
    with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
        launch(
            program,
            copies,
            **matrices,
            **arguments,
            ROWS=block.rows,
            COLUMNS=block.columns,
            WARP_SPECIALIZE=block.warp_specialize,
            COPY_ENGINE=copy_engine,
            num_warps=block.warps,
            num_stages=block.stages,
            enable_fp_fusion=True,  # scores · to_base_2 − largest in one step; Triton 3.10 would not by itself
        )


def launch(program: Any, copies: int, **arguments: Any) -> None:
    """Run so many copies of a program."""
    program[(copies,)](**arguments)


# Layout ----------------------------------------------------------------------------------------------------


def block_for(program: str, arrays: Head) -> Block:
    """The table's tile of that program for such heads, on their GPU."""
    query = arrays.query
    return blocks.best(architecture(query.device), program, dtype_name(query), largest_size(arrays))


def largest_size(arrays: Head) -> int:
    """Of the heads' widths, the keys' or the values'."""
    return max(arrays.query.shape[3], arrays.value.shape[3])


def architecture(device: torch.device) -> int:
    """The compute capability of that GPU, e.g. 90 for 9.0; where programs are interpreted, any that there is."""
    if device.type != "cuda":
        return INTERPRETED_AS
    major, minor = torch.cuda.get_device_capability(device)
    return 10 * major + minor


class Matrix(NamedTuple):
    """What a program must know of a matrix where there is no copy engine: steps in numbers, those of features are 1."""

    pointer: torch.Tensor
    of_batch: int
    of_head: int
    of_row: int
    rows: int
    features: int


def descriptor(matrix: torch.Tensor, rows: int, copy_engine: bool) -> TensorDescriptor | Matrix:
    """What it takes to fetch that many rows of one head, and all features."""
    if not copy_engine:
        return Matrix(matrix, *matrix.stride()[:3], *matrix.shape[2:])
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
