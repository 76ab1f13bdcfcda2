"""Which part of a long sequence each rank holds, and what it must compute when another rank's part passes by.

Causal attention makes early rows cheap and late rows dear: row i sees i + 1 keys. Cut into W equal pieces, the last
rank has 2W − 1 times the work of the first, and all wait for it. Zigzag (Zhu 2024, ring-flash-attention, issue 2;
Grattafiori et al. 2024, "The Llama 3 Herd of Models", §3.3.2; for the same end as Brandon et al. 2023, "Striped
Attention") cuts into 2W chunks and gives rank r the chunks r and 2W − 1 − r: one early, one late.

    W = 4:  chunk  0  1  2  3  4  5  6  7
            rank   0  1  2  3  3  2  1  0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERYTHING = slice(None)


def chunk_lengths(n: int, count: int) -> list[int]:
    """n rows in `count` chunks as equal as can be: the first ones have one row more where n does not divide."""
    return [n // count + (chunk < n % count) for chunk in range(count)]


def zigzag_lengths(n: int, world_size: int) -> list[tuple[int, int]]:
    """Of each rank: the rows of its early chunk and of its late one."""
    chunks = chunk_lengths(n, 2 * world_size)
    return [(chunks[rank], chunks[-1 - rank]) for rank in range(world_size)]


def zigzag_partition(n: int, world_size: int) -> list[torch.Tensor]:
    """Of each rank: the positions in the sequence that it holds, in order (int64).

    They are also what a rotary or other positional encoding must be given on that rank. n need not be divisible
    by 2 · world_size: chunks then differ by one row, nothing is padded, and ranks may even hold nothing.

    Raises:
        ValueError: n < 0 or world_size < 1.
    """
    if n < 0 or world_size < 1:
        raise ValueError(
            f"zigzag_partition got n = {n} and world_size = {world_size}: expected n ≥ 0 and ≥ 1"
        )
    chunks = torch.arange(n).split(chunk_lengths(n, 2 * world_size))
    return [torch.cat([chunks[rank], chunks[-1 - rank]]) for rank in range(world_size)]


def split_sequence(whole: torch.Tensor, world_size: int) -> list[torch.Tensor]:
    """What each rank holds of `whole` (…, n, d), cut in zigzag: copies."""
    parts = zigzag_partition(whole.shape[-2], world_size)
    return [whole.index_select(-2, positions.to(whole.device)) for positions in parts]


def join_sequence(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """The whole again, from what all ranks hold, in the order of the ranks."""
    positions = torch.cat(zigzag_partition(sum(part.shape[-2] for part in parts), len(parts)))
    return torch.cat(tuple(parts), -2).index_select(-2, positions.argsort().to(parts[0].device))


def what_is_seen(rank: int, source: int, early: int, early_there: int, is_causal: bool) -> tuple:
    """What `rank` computes of the keys of `source`: (rows of its queries, rows of those keys, is_causal).

    `early` and `early_there` are the lengths of the early chunks of both. With ranks r and s, in causal attention:

        s = r   own keys: early rows see early ones, late rows all before them: an ordinary causal block, since
                the two chunks lie in order one after the other
        s < r   both my chunks come after chunk s and before chunk 2W − 1 − s: all rows see its early keys
        s > r   my early chunk comes before both of theirs, my late one after both: late rows see all keys

    The last two are equal amounts of work. So every rank has the same in every step, and none waits.
    """
    if not is_causal:
        return EVERYTHING, EVERYTHING, False
    if source == rank:
        return EVERYTHING, EVERYTHING, True
    if source < rank:
        return EVERYTHING, slice(0, early_there), False
    return slice(early, None), EVERYTHING, False
