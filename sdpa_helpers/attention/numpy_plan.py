"""What the two passes of `numpy_tiled.py` share: how a call is cut into pieces, and what is done to a tile of scores.

A piece is a block of queries of one head; of several heads, where they are short, since a call of NumPy costs some µs
however small its arrays are. Pieces are independent, so that threads can share them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.layout import Head, Rule, Shape, SomeHeads, Tiles, batches_of, leading_shape
from sdpa_helpers.attention.variants.block_mask import is_for_all_heads
from sdpa_helpers.attention.walk import is_boolean, tiles_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdpa_helpers.attention.walk import Tile


class Plan(NamedTuple):
    """What all threads read."""

    arrays: Head  # as BLAS takes them, in float32 or float64
    rule: Rule
    lead: Shape
    tiles: Tiles
    walks: dict[int, list[Tile]]  # the tiles by the first of their queries, where a mask is that of all heads
    bounds: dict[SomeHeads, float]  # the largest ‖k‖ of the heads
    moderate: dict[SomeHeads, bool]  # whether their values are (`small_scores.are_moderate`)


class Rows(NamedTuple):
    """A block of queries of some heads."""

    some: SomeHeads
    first: int
    last: int


def plan_of(arrays: Head, rule: Rule, enable_gqa: bool, tiles: Tiles) -> Plan:
    """The plan of a call."""
    # In float32 at least: float16 ends at 65504, too soon for a sum of products. As many bytes a tile in float64.
    working = np.result_type(arrays.query.dtype, np.float32)
    tiles = tiles._replace(keys=max(1, tiles.keys * 4 // working.itemsize))
    lead = leading_shape(*arrays, enable_gqa)
    rule = rule.in_full(arrays.query.shape[-2], arrays.key.shape[-2])
    return Plan(Head(*(as_blas_takes_it(array, working) for array in arrays)), rule, lead, tiles, {}, {}, {})


def batches(plan: Plan) -> list[SomeHeads]:
    """All heads: one by one, or as many together as have their scores in one tile, and the same mask."""
    scores = plan.arrays.query.shape[-2] * plan.arrays.key.shape[-2]
    most = plan.tiles.queries * plan.tiles.keys // max(1, scores) if same_for_all_heads(plan.rule) else 1
    return list(batches_of(plan.lead, plan.arrays, most))


def blocks(some: SomeHeads, first: int, last: int, plan: Plan) -> Iterator[Rows]:
    """These queries, a tile's height at a time."""
    for top in range(first, last, plan.tiles.queries):
        yield Rows(some, top, min(top + plan.tiles.queries, last))


def multiply_adds(rows: Rows, plan: Plan) -> float:
    """About how much work a forward pass of them is."""
    query, key, value = plan.arrays
    n_k = min(rows.last, key.shape[-2]) if plan.rule.is_causal else key.shape[-2]
    return rows.some.heads * (rows.last - rows.first) * n_k * (query.shape[-1] + value.shape[-1])


def same_for_all_heads(rule: Rule) -> bool:
    """Whether no head has a mask of its own, as far as is known."""
    if rule.score_mod is not None or not (rule.mask_mod is None or is_for_all_heads(rule.mask_mod)):
        return False
    own = () if rule.mask is None else zip(rule.mask.shape[:-2], rule.mask.strides[:-2], strict=True)
    return all(size == 1 or stride == 0 for size, stride in own)


def tiles_of(rows: Rows, rule: Rule, plan: Plan) -> list[Tile]:
    """The tiles that these queries need; rule: of their head."""
    if rows.first in plan.walks:
        return plan.walks[rows.first]
    key = plan.arrays.key[(0,) * (plan.arrays.key.ndim - 2)]
    tiles = list(tiles_for(rows.first, rows.last, key, rule, plan.tiles))
    if rule.mask is not None and same_for_all_heads(plan.rule):
        plan.walks[rows.first] = tiles
    return tiles


def hide(scores: np.ndarray, hidden: float, tile: Tile, rule: Rule) -> None:
    """Put `hidden` into (h, rows, keys) where the query of that row may not attend to the key of that column."""
    if tile.seen is None:
        return
    by_place = rule.mask_mod is None and not is_boolean(rule.mask)
    start = max(0, tile.top + 1 - tile.left) if by_place else 0  # up to here, is_causal alone hides nothing
    scores, seen = scores[..., start:], tile.seen[:, start:]
    if hidden == 0:
        np.multiply(scores, seen, out=scores)  # a choice for each number takes longer
    else:
        np.copyto(scores, hidden, where=~seen)


def add_mask(scores: np.ndarray, tile: Tile, rule: Rule) -> None:
    """Add a float mask."""
    if rule.mask is not None and not is_boolean(rule.mask):
        here = rule.mask[tile.top : tile.bottom, tile.left : tile.right]
        np.add(scores, here, out=scores, casting="same_kind")


# Memory ----------------------------------------------------------------------------------------------------


def room_for(plan: Plan) -> np.ndarray:
    """Room for the largest tile, to be used again and again: fresh memory costs a page fault every 4 KiB."""
    n_q, n_k = plan.arrays.query.shape[-2], plan.arrays.key.shape[-2]
    widest = min(max(plan.tiles.keys, plan.tiles.queries), n_k)  # on the diagonal, as many keys as queries
    most = max((some.heads for some in batches(plan)), default=0)
    return np.empty(most * min(plan.tiles.queries, n_q) * widest, plan.arrays.query.dtype)


def part(room: np.ndarray, *shape: int) -> np.ndarray:
    """The first numbers of the room, in that shape."""
    return room[: math.prod(shape)].reshape(shape)


def as_blas_takes_it(array: np.ndarray, dtype: Any) -> np.ndarray:
    """(..., n, d) of that dtype with dense rows: a copy, of what is there only once, where it is not so already."""
    *_, row, column = array.strides
    n, d = array.shape[-2:]
    dense = (d <= 1 or column == array.itemsize) and (n <= 1 or row >= d * array.itemsize)
    if array.dtype == dtype and dense and array.flags.aligned and row % array.itemsize == 0:
        return array
    once = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in array.strides[:-2])
    return np.broadcast_to(np.ascontiguousarray(array[once], dtype), array.shape)


# Exponentials ----------------------------------------------------------------------------------------------


def exp2_is_fast() -> bool:
    """Whether NumPy has a vector instruction form of exp2 for this processor (AVX-512): else exp is faster.

    Only for scores that are small: where the result underflows, that form takes many times as long.
    """
    try:
        chosen = np.lib.introspect.opt_func_info(func_name="^exp2$", signature="float32")
        return "baseline" not in chosen["exp2"]["ff"]["current"]
    except (AttributeError, KeyError):
        return False


EXP2_IS_FAST = exp2_is_fast()
