"""FlashAttention's algorithm, compiled by Numba: which heads, which queries and which tiles each thread does.

The algorithm itself is in `numba_kernels.py`; read that. Here a call is cut into pieces: some heads, and one block of
their queries. Heads for which the same is hidden share a list of tiles, and a piece is one call of compiled code, so
that many short sequences cost hardly more than their products. Threads share the pieces (`threads.py`): compiled code
works without the interpreter's lock.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  what np.dot calls in compiled code: known to `threads.py` from here on

from sdpa_helpers.attention import numba_kernels, threads
from sdpa_helpers.attention.layout import BackendResult, Head, Rule, Shape, State, Tiles, Wants, leading_shape
from sdpa_helpers.attention.numba_kernels import Derivative, Matrices, Task
from sdpa_helpers.attention.variants.block_mask import BlockMask
from sdpa_helpers.attention.walk import tiles_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxtyping import Float

    from sdpa_helpers.attention.call_facts import Call

TILES = Tiles(queries=512, keys=512, diagonal=64)
BACKWARD_TILES = Tiles(queries=512, keys=256, diagonal=128)

# At least, if they are large: who is held up by another process leaves some to the others.
PIECES_FOR_A_CORE = 4
# Multiply-adds of a piece, about a millisecond: to begin one takes Python up to a tenth of that.
LEAST_COST = 4e7
MOST_KEPT = 2**24  # bytes of masks of tiles that a thread keeps


def cannot(call: Call) -> str:
    """Why this file does not do such a call; "" when it does."""
    return "it never holds all weights, so it cannot return them" if call.return_weights else ""


def attention(arrays: Head, rule: Rule, wants: Wants) -> BackendResult:
    """The attended values, in the dtype of the query, and each query's LSE."""
    whole = attention_forward(arrays, rule, wants.enable_gqa)
    return BackendResult(whole.output, lse=whole.lse() if wants.return_lse else None)


def attention_forward(arrays: Head, rule: Rule, enable_gqa: bool = False) -> State:
    """The attended values and, for the backward pass, each query's m and Σⱼ exp(sⱼ − m)."""
    call = described(arrays, rule, enable_gqa, TILES)
    heads, n_q, d_v = len(call.matrices.serves), arrays.query.shape[-2], arrays.value.shape[-1]
    shapes = (heads, n_q, d_v), (heads, n_q), (heads, n_q)
    whole = State(*(np.empty(shape, call.matrices.query.dtype) for shape in shapes))

    def work(piece: Piece, room: ThreadMemory) -> None:
        for task in room.tasks(piece):
            if rule.score_mod is None:
                numba_kernels.attend(call.matrices, task, room.scratch, whole)
            else:
                attend_in_steps(call, task, room.scratch, whole)

    blocks = math.ceil(n_q / TILES.queries)
    pieces = call.pieces([np.array([head]) for head in range(heads)], blocks)
    threads.for_each(work, pieces, call.cost, call.room)
    output, *numbers = (x.reshape(*call.lead, *x.shape[1:]) for x in whole)
    return State(output.astype(arrays.query.dtype, copy=False), *numbers)


def attend_in_steps(call: Described, task: Task, scratch: np.ndarray, whole: State) -> None:
    """`numba_kernels.attend` with a score_mod: what calls the compiled parts, and the mod between them, is Python.

    Numba could compile the mod too, but would freeze the numbers and arrays that it was made with: who changes one of
    them, and calls again, would get the old answer.
    """
    rows = slice(task.first, task.last)
    for number in task.heads:
        score_mod = call.rule_of(number).score_mod

        def change(scores: np.ndarray, top: int, left: int, score_mod: Any = score_mod) -> None:
            i, j = np.arange(top, top + len(scores))[:, None], np.arange(left, left + scores.shape[1])
            scores[:] = score_mod(scores, i, j)

        q, k, v = call.matrices.serves[number]
        head = Head(call.matrices.query[q, rows], call.matrices.key[k], call.matrices.value[v])
        numba_kernels.attend_rows.py_func(
            head, task, scratch, State(*(x[number, rows] for x in whole)), change
        )


def attention_backward(
    arrays: Head, rule: Rule, enable_gqa: bool, whole: State, grad_output: Float[np.ndarray, "... n_q d_v"]
) -> Head:
    """Gradients for query, key and value; the derivation is in the docstring of `numpy_backward.py`.

    Heads that share a query, a key or a value add to the same gradient, so that one thread does all of them. Where that
    leaves too few pieces, blocks of queries are dealt out to several sums of the gradients of keys and values, which
    are added up at the end, in order: the result does not depend on who was first.
    """
    if rule.score_mod is not None:
        raise ValueError("numba's backward pass knows no derivative of a score_mod")
    call = described(arrays, rule, enable_gqa, BACKWARD_TILES)
    matrices, working = call.matrices, call.matrices.query.dtype
    heads = len(matrices.serves)
    given = (x.reshape(heads, *x.shape[len(call.lead) :]) for x in (*whole, grad_output))
    derivative = Derivative(*(compact(x, working) for x in given))
    groups = groups_of_heads(matrices.serves)
    large = call.all_costs() > 2 * threads.WORTH_A_THREAD
    sums = math.ceil(threads.cores() / len(groups)) if large else 1
    d_query = np.zeros_like(matrices.query)
    gradients = [
        Head(d_query, np.zeros_like(matrices.key), np.zeros_like(matrices.value)) for _ in range(sums)
    ]

    def work(piece: Piece, room: ThreadMemory) -> None:
        for task in room.tasks(piece):
            numba_kernels.attend_backward(matrices, task, room.scratch, derivative, gradients[piece.share])

    threads.for_each(work, call.pieces(groups, sums), call.cost, call.room)
    for other in gradients[1:]:
        gradients[0].key[:] += other.key
        gradients[0].value[:] += other.value
    shaped = [x.reshape(like.shape) for x, like in zip(gradients[0], arrays, strict=True)]
    return Head(*(x.astype(arrays.query.dtype, copy=False) for x in shaped))


# A call, cut into pieces ------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """What one thread does in one go."""

    heads: list[np.ndarray]  # their numbers, those of one rule together: they are one call of compiled code
    blocks: range  # the first queries of its blocks of queries
    share: int  # of the queries: which of the sums its gradients are added to


class Described(NamedTuple):
    """A call as the pieces need it."""

    matrices: Matrices
    lead: Shape
    rule: Rule  # its mask in full
    rules: np.ndarray  # (heads,): the same number where the same is hidden
    tiles: Tiles

    def rule_of(self, head: int) -> Rule:
        return self.rule.at(tuple(map(int, np.unravel_index(head, self.lead))), self.lead)

    def room(self) -> ThreadMemory:
        return ThreadMemory(self)

    def cost(self, piece: Piece) -> float:
        """Multiply-adds of the forward pass, roughly: as if no mask hid anything."""
        _, n_q, d_k = self.matrices.query.shape
        _, n_k, d_v = self.matrices.value.shape
        scores = 0
        for first in piece.blocks:
            last = min(first + self.tiles.queries, n_q)
            scores += (last - first) * (min(n_k, (first + last) // 2) if self.rule.is_causal else n_k)
        return float(sum(map(len, piece.heads)) * scores * (d_k + d_v))

    def all_costs(self) -> float:
        return self.cost(Piece([self.rules], self.blocks(), 0))

    def blocks(self) -> range:
        return range(0, self.matrices.query.shape[1], self.tiles.queries)

    def pieces(self, groups: list[np.ndarray], shares: int) -> list[Piece]:
        """Whole groups of heads, and every n-th block of their queries.

        As many as keep all cores busy, but none so small that to begin it costs more than it does.
        """
        wanted = min(PIECES_FOR_A_CORE * threads.cores(), self.all_costs() / LEAST_COST)
        several = min(max(1, math.ceil(wanted / max(1, shares))), len(groups))
        pieces = []
        for n in range(several):
            heads = np.concatenate(groups[n * len(groups) // several : (n + 1) * len(groups) // several])
            borders = np.flatnonzero(np.diff(self.rules[heads])) + 1
            parts = np.split(heads, borders) if len(borders) else [heads]
            pieces += [Piece(parts, self.blocks()[share::shares], share) for share in range(shares)]
        return sorted(pieces, key=lambda piece: piece.share)  # those with the same tiles one after the other


class ThreadMemory:
    """A thread's own memory: the scores of a tile, or of two in the backward pass; and tasks, to use again."""

    def __init__(self, call: Described) -> None:
        self.call = call
        tiles, n_q, n_k = call.tiles, call.matrices.query.shape[1], call.matrices.key.shape[1]
        size = min(tiles.queries * max(tiles.keys, tiles.diagonal), n_q * n_k)
        self.scratch = np.empty(2 * size, call.matrices.query.dtype)
        self.kept: dict[tuple[int, int], Task] = {}

    def tasks(self, piece: Piece) -> Iterator[Task]:
        """The piece in calls of compiled code: one for each block of queries, and for each rule of its heads."""
        for first in piece.blocks:
            for heads in piece.heads:
                which = int(self.call.rules[heads[0]]), first
                if which not in self.kept:
                    if sum(task.seen.nbytes + task.bias.nbytes for task in self.kept.values()) > MOST_KEPT:
                        self.kept.clear()
                    self.kept[which] = task_of(self.call, heads, first)
                yield self.kept[which]._replace(heads=heads)


def described(arrays: Head, rule: Rule, enable_gqa: bool, tiles: Tiles) -> Described:
    """What the pieces need to know."""
    lead = leading_shape(*arrays, enable_gqa)
    n_q, n_k = arrays.query.shape[-2], arrays.key.shape[-2]
    working = np.result_type(arrays.query.dtype, np.float32)
    serves = np.stack([matrix_numbers(x, lead) for x in arrays], axis=1)
    stacked = (compact(x, working).reshape(math.prod(x.shape[:-2]), *x.shape[-2:]) for x in arrays)
    rule = rule.in_full(n_q, n_k)
    mod = rule.mask_mod
    if mod is not None and not (isinstance(mod, BlockMask) and mod.shape[:2] == (1, 1)):
        rules = np.arange(len(serves))  # it may ask which head it is
    else:
        rules = np.zeros(len(serves), int) if rule.mask is None else matrix_numbers(rule.mask, lead)
    query, key, value = stacked
    return Described(Matrices(query, key, value, serves), lead, rule, rules, tiles)


def matrix_numbers(array: np.ndarray, lead: Shape) -> np.ndarray:
    """Which matrix of `array` serves each head: `layout.matrix_at` for all at once."""
    own = array.shape[:-2]
    numbers = np.arange(math.prod(own)).reshape(own)
    for axis, size in zip(range(-len(own), 0), lead[len(lead) - len(own) :], strict=True):
        numbers = numbers.repeat(size // max(1, own[axis]), axis)
    return np.ascontiguousarray(np.broadcast_to(numbers, lead)).reshape(-1)


def groups_of_heads(serves: np.ndarray) -> list[np.ndarray]:
    """The heads in groups, so that those of different groups have no matrix in common."""
    group = np.arange(len(serves))
    while True:
        before = group
        for numbers in serves.T:  # the least of all heads with the same matrix
            least = np.full(len(serves), len(serves))
            np.minimum.at(least, numbers, group)
            group = least[numbers]
        if (group == before).all():
            order = np.argsort(group, kind="stable")
            return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


# As the compiled functions take it: of one type each, or all would be compiled again -------------------------


def task_of(call: Described, heads: np.ndarray, first: int) -> Task:
    """The tiles that one block of queries needs, for heads of the same rule."""
    last = min(first + call.tiles.queries, call.matrices.query.shape[1])
    rule = call.rule_of(heads[0])
    key = call.matrices.key[call.matrices.serves[heads[0], 1]]
    tiles, parts, start = [], [np.empty(0, bool)], 0
    for tile in tiles_for(first, last, key, rule, call.tiles):
        place = tile.top - first, tile.bottom - first, tile.left, tile.right
        rows = 0 if tile.seen is None else len(tile.seen)
        tiles.append((*place, start, rows))
        if tile.seen is not None:
            parts.append(np.ravel(tile.seen))
            start += tile.seen.size
    numbers = np.array(tiles, np.int64).reshape(-1, 6)
    bias = bias_of(rule.mask, slice(first, last), key.dtype)
    return Task(heads, first, last, numbers, np.concatenate(parts), bias, float(rule.scale))


def bias_of(mask: Any, rows: slice, dtype: Any) -> np.ndarray:
    """A float mask for these rows, or the one row that holds for all; (0, 0) where there is none."""
    if mask is None or mask.dtype == bool:
        return np.empty((0, 0), dtype)
    with np.errstate(over="ignore"):
        return compact(mask[:1] if mask.strides[0] == 0 else mask[rows], dtype)


def compact(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Of that dtype, rows one after the other, writable: a copy only where the array is not so already."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.writeable else array.copy()
