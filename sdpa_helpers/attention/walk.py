"""The walk over the tiles of a head's scores: which are needed at all, and what in them must be hidden.

All backends on the CPU walk the same way. A tile that no query of it may see is left out; so causal attention does
half the work, and keys that are padding cost nothing. A tile that is seen in full comes without a mask, and needs no
pass for hiding. FlexAttention (Dong et al. 2024, §4.2) calls these kinds of tiles absent, full and partial.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.block_mask import HeadBlocks
from sdpa_helpers.attention.layout import rectangles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdpa_helpers.attention.layout import Rule, Tiles


class Tile(NamedTuple):
    """Some rows and columns of the scores of one head."""

    top: int
    bottom: int
    left: int
    right: int
    seen: Any  # boolean, (rows, columns) or (1, columns): which query may attend to which key; None: each to each


def tiles_for(first: int, last: int, key: Any, rule: Rule, tiles: Tiles) -> Iterator[Tile]:
    """The tiles that the queries first … last − 1 of a head need, from the left to the right.

    key: (n_k, d_k), of the head. rule: of the head too, its mask in full (`Rule.at`, `Rule.in_full`). A float mask
    hides nothing here: it is added.
    """
    for top, bottom, left, right, rule_here in areas(first, last, len(key), rule, tiles):
        tile = Tile(top, bottom, left, right, seen_in(top, bottom, left, right, rule_here, key))
        tile = tile if tile.seen is None else narrowed(tile)
        if tile.right > tile.left:
            yield tile


def areas(
    first: int, last: int, n_k: int, rule: Rule, tiles: Tiles
) -> Iterator[tuple[int, int, int, int, Rule]]:
    """The rectangles to be visited, as far as geometry and a block mask tell, each with what is left to be asked."""
    if not isinstance(rule.mask_mod, HeadBlocks):
        for rectangle in rectangles(first, last, n_k, rule.is_causal, tiles):
            yield *rectangle, rule
        return
    of_full, of_partial = rule._replace(mask_mod=None), rule._replace(mask_mod=rule.mask_mod.inside)
    for top, bottom, left, right, full in rule.mask_mod.areas(first, last, tiles.keys):
        right = min(right, bottom) if rule.is_causal else right
        if left < right:
            yield top, bottom, left, right, of_full if full else of_partial


def seen_in(top: int, bottom: int, left: int, right: int, rule: Rule, key: Any) -> Any:
    """Which query of these rows may attend to which key of these columns; None where all may."""
    seen = None
    if is_boolean(rule.mask):
        # A mask for all queries alike, as of padding, is one row again and again: its step from row to row is 0.
        rows = slice(top, top + 1) if is_one_row(rule.mask) else slice(top, bottom)
        seen = rule.mask[rows, left:right]
    beyond = rule.is_causal and right > top + 1  # some key here is after the first query
    if beyond or rule.mask_mod is not None:
        i, j = arange(top, bottom, key)[:, None], arange(left, right, key)
        if rule.mask_mod is not None:
            seen = both(seen, in_two_dimensions(rule.mask_mod(i, j), right - left, key))
        if beyond:
            seen = both(seen, j <= i)
    return seen


def narrowed(tile: Tile) -> Tile:
    """Only the columns that some query sees, and no mask where each sees all of them."""
    if not isinstance(tile.seen, np.ndarray) and tile.seen.device.type != "cpu":
        return tile  # to ask a GPU would mean to wait for it
    somebody = np.flatnonzero(np.asarray(tile.seen.any(0)))
    if not len(somebody):
        return tile._replace(right=tile.left)
    start, end = int(somebody[0]), int(somebody[-1]) + 1
    seen = tile.seen[:, start:end]
    return tile._replace(left=tile.left + start, right=tile.left + end, seen=None if seen.all() else seen)


def both(one: Any, other: Any) -> Any:
    """What both let through; None lets all through."""
    return other if one is None else one & other


def is_boolean(mask: Any) -> bool:
    return mask is not None and str(mask.dtype).endswith("bool")


def is_one_row(mask: Any) -> bool:
    step = mask.strides[0] if isinstance(mask, np.ndarray) else mask.stride(0)
    return step == 0


# For NumPy arrays and for tensors, without importing torch ---------------------------------------------------


def arange(start: int, end: int, like: Any) -> Any:
    """start … end − 1."""
    if isinstance(like, np.ndarray):
        return np.arange(start, end)
    return sys.modules["torch"].arange(start, end, device=like.device)


def in_two_dimensions(seen: Any, width: int, like: Any) -> Any:
    """What a mask_mod returned, as (rows or 1, width)."""
    if isinstance(like, np.ndarray):
        seen = np.atleast_2d(seen)
        return np.broadcast_to(seen, (len(seen), width))
    torch = sys.modules["torch"]
    seen = torch.atleast_2d(torch.as_tensor(seen, device=like.device))
    return seen.expand(len(seen), width)
