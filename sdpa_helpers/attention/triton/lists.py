"""Which tiles of scores a mask leaves to be seen: in full, in part, or not at all. The programs skip the last.

It is the idea of FlexAttention's BlockMask. The mask is counted once a call, on its own device: `seen_in_tiles` says
how many scores of each small tile may be seen. Each program has larger tiles, whose numbers are sums of these, and
gets lists: for each block of queries (or of keys) the places of the tiles seen in full, then of those seen in part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from jaxtyping import Bool, Int


SMALL = 16  # rows and columns of a tile that is counted: all programs' tiles are made of these


class Grid(NamedTuple):
    """Into which tiles the scores of a head are cut."""

    n_q: int
    n_k: int
    rows: int  # of a tile
    columns: int


class Lists(NamedTuple):
    """What a program gets: one line for each of its blocks."""

    numbers: torch.Tensor  # (lines, 2), int32: how many tiles are seen in full; how many in full or in part
    order: torch.Tensor  # (lines, tiles of a line), int32: places, those seen in full first
    shown: torch.Tensor  # (b, h, lines, tiles, …), uint8: the mask, tile by tile; 1 for what shares its rows
    lines_of_batch: int  # how many lines further the next sequence begins; 0: all share one mask
    lines_of_head: int  # likewise
    tiles_of_line: int
    shown_of_batch: int  # how many numbers further in `shown`; 0: they share
    shown_of_head: int
    shown_of_line: int
    shown_of_tile: int


def own(mask: Bool[torch.Tensor, "batch heads n_q n_k"]) -> Bool[torch.Tensor, "b h q n_k"]:
    """Without the copies that broadcasting made: sequences, heads or queries that share one row have one."""
    for dimension in range(3):
        if mask.stride(dimension) == 0:
            mask = mask.narrow(dimension, 0, 1)
    return mask


def seen_in_tiles(mask: Bool[torch.Tensor, "batch heads n_q n_k"]) -> Int[torch.Tensor, "b h i j"]:
    """How many scores of each small tile the mask shows."""
    n_q, mine = mask.shape[2], own(mask)
    if mine.shape[2] == n_q:
        return pooled(mine, SMALL, SMALL)
    heights = (n_q - torch.arange(0, n_q, SMALL, device=mask.device)).clamp(max=SMALL)
    return pooled(mine, 1, SMALL) * heights.int()[:, None]  # one row for all queries


def pooled(counts: torch.Tensor, rows: int, columns: int) -> Int[torch.Tensor, "b h i j"]:
    """Sums of so many rows and columns each; what is missing at the ends is 0."""
    below, beside = -counts.shape[2] % rows, -counts.shape[3] % columns
    if below or beside:
        counts = torch.nn.functional.pad(counts, (0, beside, 0, below))
    b, h, n, m = counts.shape
    return counts.reshape(b, h, n // rows, rows, m // columns, columns).sum((3, 5), dtype=torch.int32)


def kinds(
    seen: Int[torch.Tensor, "b h i j"], grid: Grid, is_causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """(seen in full, seen in full or in part) of each tile; with causality, as if it had hidden scores too."""
    n_q, _, rows, columns = grid
    top = torch.arange(seen.shape[2], device=seen.device)[:, None] * rows
    left = torch.arange(seen.shape[3], device=seen.device) * columns
    bottom = (top + rows).clamp(max=n_q)
    full = seen == (bottom - top) * columns  # so a tile that reaches past the last key never is
    some = seen > 0
    if is_causal:
        full, some = full & (left + columns <= top + 1), some & (left < bottom)
    return full, some


def in_tiles(mask: Bool[torch.Tensor, "b h q n_k"], grid: Grid, *, of_keys: bool) -> torch.Tensor:
    """(b, h, lines, tiles, …): each tile's booleans side by side, as bytes; what is past the ends is 0.

    A program then reads a tile from one place, and no thread has to work out addresses.
    """
    _, n_k, rows, columns = grid
    if mask.shape[2] == 1:
        mask = mask.expand(-1, -1, rows, -1)
    below, beside = -mask.shape[2] % rows, -n_k % columns
    if below or beside:
        mask = torch.nn.functional.pad(mask, (0, beside, 0, below))
    tiles = mask.unflatten(3, (-1, columns)).unflatten(2, (-1, rows))  # (b, h, lines, rows, tiles, columns)
    return tiles.permute(0, 1, 4, 2, 5, 3) if of_keys else tiles.permute(0, 1, 2, 4, 3, 5)


def lists_for(
    mask: Bool[torch.Tensor, "batch heads n_q n_k"],
    seen: Int[torch.Tensor, "b h i j"],
    grid: Grid,
    is_causal: bool,
    *,
    of_keys: bool,
) -> Lists:
    """The lists of a program with such tiles; seen: what `seen_in_tiles` says of the mask.

    of_keys: a line for each block of keys, with the blocks of queries that see it; otherwise the other way round.
    """
    full, some = kinds(pooled(seen, grid.rows // SMALL, grid.columns // SMALL), grid, is_causal)
    if of_keys:
        full, some = full.mT, some.mT
    batch, heads, lines, tiles = full.shape
    order = torch.argsort(2 - full.int() - some.int(), dim=-1, stable=True)
    shown = in_tiles(own(mask), grid, of_keys=of_keys).contiguous()
    steps = [0 if n == 1 else step for n, step in zip(shown.shape[:4], shown.stride()[:4], strict=True)]
    return Lists(
        torch.stack([full.sum(-1), some.sum(-1)], dim=-1).int().reshape(-1, 2),
        order.int().reshape(-1, tiles).contiguous(),
        shown.view(torch.uint8),
        heads * lines if batch > 1 else 0,
        lines if heads > 1 else 0,
        tiles,
        *steps,
    )
