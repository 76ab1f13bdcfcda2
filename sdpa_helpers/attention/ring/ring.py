"""Ring attention: a sequence too long for one machine, a part of it on each, and the keys travel.

    Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V

Liu, Zaharia and Abbeel 2023, "Ring Attention with Blockwise Transformers for Near-Infinite Context", §3. Of W
processes ("ranks") each holds some rows of query, key and value. A rank's queries stay. The blocks of keys and
values go round in a ring: in each step a rank attends to the block that it has, while that block is already on its
way to the next rank, and another one on its way here.

                 step 0         step 1         step 2         step 3
    rank 0       keys of 0      keys of 3      keys of 2      keys of 1
    rank 1       keys of 1      keys of 0      keys of 3      keys of 2
    rank 2       keys of 2      keys of 1      keys of 0      keys of 3
    rank 3       keys of 3      keys of 2      keys of 1      keys of 0

After W steps every query has met every key, and a rank never held more than its own rows and two blocks in passing.
Two things make it whole: parts of a softmax are merged by their log-sum-exp (`merge.py`), and for causal
attention the rows are dealt out so that all ranks have the same work (`partition.py`).

Backward the blocks go round once more, and the gradient of each follows it: every rank adds what its queries
contribute and passes it on, until it comes home (`_backward`).

    torchrun --nproc-per-node=4 program.py

        torch.distributed.init_process_group("gloo")          # "nccl" for tensors on GPUs
        rows = zigzag_partition(n, world_size)[rank]          # the positions in the sequence that are mine
        output = ring_attention(query[..., rows, :], key[..., rows, :], value[..., rows, :], is_causal=True)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from sdpa_helpers.attention import arguments, fitting, machine
from sdpa_helpers.attention.layout import BackendResult, Head, Rule, Wants, four_dimensional, with_dense_rows
from sdpa_helpers.attention.merge import merge
from sdpa_helpers.attention.ring import blocks
from sdpa_helpers.attention.ring.messages import Ring, Tally, meet
from sdpa_helpers.attention.ring.partition import join_sequence, split_sequence, zigzag_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxtyping import Float

    from sdpa_helpers.attention.call_facts import Call

__all__ = ["Tally", "join_sequence", "ring_attention", "split_sequence", "zigzag_partition"]


def ring_attention(
    query: Float[torch.Tensor, "... n_q d_k"],
    key: Float[torch.Tensor, "... n_k d_k"],
    value: Float[torch.Tensor, "... n_k d_v"],
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    group: dist.ProcessGroup | None = None,
    tally: Tally | None = None,
) -> Float[torch.Tensor, "... n_q d_v"]:
    """Attention of this rank's queries to the keys of all ranks. Every rank of the group must call it.

    Args:
        query: (..., n_q, d_k), this rank's rows, of dtype float16, bfloat16, float32 or float64.
        key, value: (..., n_k, d_k) and (..., n_k, d_v), this rank's rows. Only the rows may differ between ranks
            in number. Leading dimensions broadcast, and are sent as broadcast; grouped heads are sent once.
        is_causal: a position sees itself and those before it. Rank r must hold the rows `zigzag_partition`(n,
            W)[r], of query, key and value alike. Without it any rows in any order.
        scale: factor of the scores; 1/√d_k when left out.
        enable_gqa: whether heads of key and value (dimension −3) may be fewer than those of query.
        group: the ranks that share the sequence; all of them when left out.
        tally: where to count what is sent and computed, forward and backward.

    Returns:
        (..., n_q, d_v), this rank's rows, of the dtype of `query`. Half precision is computed in float32 on a
        CPU, and as torch's FlashAttention does it on CUDA. It has a gradient, which needs every rank too, and no
        second one. A query with no keys anywhere gets 0.

    Raises:
        TypeError, ValueError: what `scaled_dot_product_attention` refuses; rows that are not zigzag's; ranks that
            disagree; no process group.
        RuntimeError: another rank ended, or did not come within the group's timeout (`init_process_group(…,
            timeout=)`, half an hour by default).
    """
    lead = _check(query, key, value, enable_gqa, group)
    dtype = query.dtype
    (query, key, value), scale = fitting.with_near_scale(
        Head(query, key, value), arguments.checked_scale(scale, query.shape[-1])
    )
    if scale <= 0:  # torch's kernels hide the future before they scale
        query, scale = query * scale, 1.0
    grouped = enable_gqa and key.shape[-3] == value.shape[-3]  # then the kernels take them as they are
    if enable_gqa and not grouped:
        key, value = (x.repeat_interleave(query.shape[-3] // x.shape[-3], dim=-3) for x in (key, value))
    lead_kv = (*lead[:-1], key.shape[-3]) if grouped else lead
    query = with_dense_rows(four_dimensional(query, lead))
    key, value = (with_dense_rows(four_dimensional(x, lead_kv)) for x in (key, value))
    ring = meet(query, key, value, is_causal, scale, group, tally or Tally())
    output: Any = RingAttention.apply(query, key, value, is_causal, scale, ring)
    return output.reshape(*lead, *output.shape[-2:]).to(dtype)


class RingAttention(torch.autograd.Function):
    """The two passes, and what the first keeps for the second: only this rank's own rows."""

    @staticmethod
    def forward(ctx: Any, query, key, value, is_causal: bool, scale: float, ring: Ring):
        whole = _forward(query, key, value, is_causal, scale, ring)
        ctx.save_for_backward(query, key, value, *whole)
        ctx.options = (is_causal, scale, ring)
        return whole.output.to(query.dtype)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        if torch.is_grad_enabled():  # somebody is going to differentiate this gradient
            raise RuntimeError(
                "ring attention has no second derivative: call backward without create_graph=True"
            )
        query, key, value, *whole = ctx.saved_tensors
        grad_output = grad_outputs[0].contiguous()
        gradients = _backward(grad_output, query, key, value, blocks.PartialAttention(*whole), *ctx.options)
        return (*gradients, None, None, None)


# The two passes --------------------------------------------------------------------------------------------


def _forward(query, key, value, is_causal: bool, scale: float, ring: Ring) -> blocks.PartialAttention:
    """Attention of the queries to all keys, with its lse."""
    whole: Any = None
    for source, block in _visitors(ring, key, value):
        rows, columns, diagonal = ring.seen(source, is_causal)
        keys, values = (x[:, :, columns] for x in _unpack(block, ring.keys[source], key, value))
        part = blocks.attend(query[:, :, rows], keys, values, diagonal, scale)
        ring.count_pairs(query[:, :, rows], keys, diagonal)
        if source == ring.rank:  # the first one
            whole = part
        else:
            output, lse = (x[:, :, rows] for x in whole)
            merged = merge(output, lse, *part)
            output.copy_(merged[0])
            lse.copy_(merged[1])
    return whole


def _backward(grad_output, query, key, value, whole, is_causal: bool, scale: float, ring: Ring) -> tuple:
    """Gradients for this rank's rows.

    The keys go round as before. The gradient of a block sets out from the rank after its owner, one step behind the
    block, and has been everywhere when it comes home. There waits what the owner has contributed itself.
    """
    grad_query: Any = None
    at_home: Any = None
    on_the_way = None
    for source, block in _visitors(ring, key, value):
        rows, columns, diagonal = ring.seen(source, is_causal)
        keys, values = (x[:, :, columns] for x in _unpack(block, ring.keys[source], key, value))
        of_rows = blocks.PartialAttention(whole.output[:, :, rows], whole.lse[:, :, rows])
        of_query, *of_block = blocks.gradients(
            grad_output[:, :, rows], query[:, :, rows], keys, values, of_rows, diagonal, scale
        )
        mine = torch.empty_like(block, dtype=of_query.dtype)
        for to, gradient in zip(_unpack(mine, ring.keys[source], key, value), of_block, strict=True):
            seen = gradient.shape[2]
            to[:, :, :seen] = gradient
            to[:, :, seen:] = 0

        if source == ring.rank:  # the first one
            grad_query, at_home = of_query, mine
            continue
        grad_query[:, :, rows] += of_query
        if on_the_way is not None:  # what the ranks before this one have contributed to this block
            mine += ring.receive(on_the_way)
        on_the_way = ring.exchange(mine, mine.new_empty(ring.numbers_of((source - 1) % ring.size)))
    if on_the_way is not None:
        at_home += ring.receive(on_the_way)
    return tuple(x.to(query.dtype) for x in (grad_query, *_unpack(at_home, key.shape[-2], key, value)))


def _visitors(ring: Ring, key: torch.Tensor, value: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    """The blocks that come by, this rank's own first: (rank that it belongs to, its numbers).

    While the caller computes with one it is being sent on, and the next is being received: two buffers take turns.
    """
    here, there = key.new_empty(2, max(map(ring.numbers_of, range(ring.size))))
    block = here[: ring.numbers_of(ring.rank)]
    for to, array in zip(_unpack(block, key.shape[-2], key, value), (key, value), strict=True):
        to.copy_(array)
    for step in range(ring.size):
        source = (ring.rank - step) % ring.size
        if step == ring.size - 1:  # the last one: it has been everywhere
            yield source, block
            return
        under_way = ring.exchange(block, there[: ring.numbers_of((source - 1) % ring.size)])
        yield source, block
        block = ring.receive(under_way)
        here, there = there, here


def _unpack(
    block: torch.Tensor, rows: int, key: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Keys and values (batch, heads, rows, columns) that lie in a block one after the other: views."""
    shapes = [(*x.shape[:2], rows, x.shape[-1]) for x in (key, value)]
    parts = block.split([math.prod(shape) for shape in shapes])
    return tuple(part.view(shape) for part, shape in zip(parts, shapes, strict=True))


# What comes in ---------------------------------------------------------------------------------------------


def _check(query, key, value, enable_gqa: bool, group: dist.ProcessGroup | None) -> tuple[int, ...]:
    """The leading dimensions of the answer; an error where this rank's arguments are none."""
    if not machine.has_group():
        raise ValueError(f"ring attention {machine.NEEDS_GROUP}")
    if group is not None and dist.get_rank(group) < 0:
        raise ValueError("this process is not in the group that was passed: only its ranks may call")
    for name, array in (("query", query), ("key", key), ("value", value)):
        if arguments.kind_of(array, name) != "torch":
            raise TypeError(
                f"{name} is a NumPy array, but ring_attention takes tensors: torch.from_numpy({name})"
            )
    arguments.check_dtypes(query, key, value, "torch")
    arguments.check_devices(query, key, value, None)
    return arguments.check_shapes(tuple(query.shape), tuple(key.shape), tuple(value.shape), enable_gqa)


# As the backend "ring" of scaled_dot_product_attention -----------------------------------------------------


def cannot(call: Call) -> str:
    """Why there is no ring attention for this call; "" when there is."""
    if call.mask:
        return "it takes no attn_mask, only is_causal"
    if call.has_mask_mod or call.has_score_mod:
        return "it takes no mask_mod and no score_mod, only is_causal"
    if call.return_lse:
        return "it does not return its LSE"
    if call.dropout_p > 0:
        return "it has no dropout"
    return "no rank ever has a whole row of weights" if call.return_weights else ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """Of all processes: each passes its own rows, as to `ring_attention`."""
    return BackendResult(
        ring_attention(*arrays, is_causal=rule.is_causal, scale=rule.scale, enable_gqa=wants.enable_gqa)
    )
