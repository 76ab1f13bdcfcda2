"""The walk over the tiles of a head's scores: which are needed at all, and what in them must be hidden.

All tiled backends walk the same way. A tile in which no query may see any key is left out; so causal attention does
half the work, and keys that are padding cost nothing. A tile that is seen in full comes without a mask, and needs no
pass for hiding. FlexAttention (Dong et al. 2024, §4.2) calls these kinds of tiles absent, full and partial.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.layout import rectangles
from sdpa_helpers.attention.variants.block_mask import HeadBlocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sdpa_helpers.attention.layout import Rule, Tiles


MOST_ANSWERS = 2**26  # of a block mask's mod that are kept, 64 MiB: beyond, it is asked again


class Tile(NamedTuple):
    """Some rows and columns of the scores of one head."""

    top: int
    bottom: int
    left: int
    right: int
    seen: Any  # boolean, (rows, columns) or (1, columns): which query may attend to which key; None: each to each


def tiles_for(first: int, last: int, key: Any, rule: Rule, tiles: Tiles) -> Iterable[Tile]:
    """The tiles that the queries first … last − 1 of a head need, each pair of them in one at most.

    key: (n_k, d_k), of the head. rule: of the head too, its mask in full (`Rule.at`, `Rule.in_full`). A float mask
    hides nothing here: it is added.
    """
    blocks = rule.mask_mod
    if not isinstance(blocks, HeadBlocks):
        return needed(rectangles(first, last, len(key), rule.is_causal, tiles), key, rule)
    if is_boolean(rule.mask):
        return of_blocks(first, last, key, rule, tiles)
    # With no other mask that hides, the tiles are the same for the call's next head.
    walks = blocks.whole.walks
    asked = (blocks.b, blocks.h, rule.is_causal, first, last, tiles, getattr(key, "device", None))
    if asked not in walks.tiles:
        found = list(of_blocks(first, last, key, rule, tiles))
        answers = sum(math.prod(tile.seen.shape) for tile in found if tile.seen is not None)
        if walks.answers + answers > MOST_ANSWERS:
            return found
        walks.tiles[asked] = found
        walks.answers += answers
    return walks.tiles[asked]


def of_blocks(first: int, last: int, key: Any, rule: Rule, tiles: Tiles) -> Iterator[Tile]:
    """The tiles where a block mask tells beforehand which blocks are absent, and which full."""
    for top, bottom, left, right, full in rule.mask_mod.areas(first, last, tiles.keys):
        rectangle = top, bottom, left, min(right, bottom) if rule.is_causal else right
        yield from needed([rectangle], key, rule._replace(mask_mod=None) if full else rule)


def needed(rectangles: Iterable[tuple[int, int, int, int]], key: Any, rule: Rule) -> Iterator[Tile]:
    """What of these rectangles (top, bottom, left, right) some query sees."""
    by_numbers = is_boolean(rule.mask) or rule.mask_mod is not None  # else the rectangle tells what is seen
    for top, bottom, left, right in rectangles:
        if left < right:
            tile = Tile(top, bottom, left, right, seen_in(top, bottom, left, right, rule, key))
            tile = narrowed(tile) if by_numbers and tile.seen is not None else tile
            if tile.right > tile.left:
                yield tile


def seen_in(top: int, bottom: int, left: int, right: int, rule: Rule, key: Any) -> Any:
    """Which query of these rows may attend to which key of these columns; None where all may."""
    seen = None
    if is_boolean(rule.mask):
        # A mask for all queries alike, as of padding, is one row again and again: its step from row to row is 0.
        rows = slice(top, top + 1) if is_one_row(rule.mask) else slice(top, bottom)
        seen = rule.mask[rows, left:right]
    if rule.mask_mod is not None:
        i, j = arange(top, bottom, key)[:, None], arange(left, right, key)
        seen = both(seen, in_two_dimensions(rule.mask_mod(i, j), right - left, key))
    if rule.is_causal and right > top + 1:  # some key here is after the first query
        seen = both(seen, triangle(bottom - top, right - left, top - left, key))
    return seen


def narrowed(tile: Tile) -> Tile:
    """Only the columns that some query sees, and no mask where each sees all of them."""
    if not isinstance(tile.seen, np.ndarray) and tile.seen.device.type != "cpu":
        return tile  # to ask a GPU would mean to wait for it
    seen = np.asarray(tile.seen)  # a view of a tensor's numbers too: NumPy goes through booleans faster
    start, end = 0, seen.shape[1]
    if not (seen[:, 0].any() and seen[:, -1].any()):
        somebody = np.flatnonzero(seen.any(0))
        if not len(somebody):
            return tile._replace(right=tile.left)
        start, end = int(somebody[0]), int(somebody[-1]) + 1
    partly = None if seen[:, start:end].all() else tile.seen[:, start:end]
    return tile._replace(left=tile.left + start, right=tile.left + end, seen=partly)


def both(one: Any, other: Any) -> Any:
    """What both let through; None lets all through."""
    return other if one is None else one & other


def is_boolean(mask: Any) -> bool:
    """Whether it is a mask of booleans; no mask is none."""
    return mask is not None and str(mask.dtype).endswith("bool")


def is_one_row(mask: Any) -> bool:
    """Whether all rows of a mask are one in memory, broadcast."""
    step = mask.strides[0] if isinstance(mask, np.ndarray) else mask.stride(0)
    return step == 0


# For NumPy arrays and for tensors, without importing torch ---------------------------------------------------


def arange(start: int, end: int, like: Any) -> Any:
    """start … end − 1."""
    if isinstance(like, np.ndarray):
        return np.arange(start, end)
    return sys.modules["torch"].arange(start, end, device=like.device)


def triangle(rows: int, columns: int, diagonal: int, like: Any) -> Any:
    """(rows, columns), True where column ≤ row + diagonal."""
    if isinstance(like, np.ndarray):
        return np.tri(rows, columns, diagonal, dtype=bool)
    torch = sys.modules["torch"]
    return torch.ones(rows, columns, dtype=torch.bool, device=like.device).tril(diagonal)


def in_two_dimensions(seen: Any, width: int, like: Any) -> Any:
    """What a mask_mod returned, as (rows or 1, width)."""
    if isinstance(like, np.ndarray):
        seen = np.atleast_2d(seen)
        return np.broadcast_to(seen, (len(seen), width))
    torch = sys.modules["torch"]
    seen = torch.atleast_2d(torch.as_tensor(seen, device=like.device))
    return seen.expand(len(seen), width)
