"""A mask_mod asked once, block by block: which blocks of scores nobody sees, and which are seen in full.

Of most masks little is needed to know where work is to be done. For a window of 4 tokens over 16, in blocks of 4 × 4:

    ▒□□□      □ absent: no query of the block sees a key of it; no scores are made
    ▒▒□□      ▒ partial: some pairs are seen; the scores are made, then mask_mod hides the others
    □▒▒□      █ full: all pairs are seen; nothing needs to be hidden
    □□▒▒

Dong et al. 2024, "Flex Attention", §4.2. Made once, a block mask serves every call, layer after layer.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.variants.asking import ask_mask, check_function, check_made_for
from sdpa_helpers.attention.variants.mods import OF_NUMPY, captured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxtyping import Int8

    from sdpa_helpers.attention.variants.mods import MaskMod

ABSENT, PARTIAL, FULL = 0, 1, 2  # the kinds of blocks
PICTURE = {ABSENT: "□", PARTIAL: "▒", FULL: "█"}
WIDEST_PICTURE = 32  # blocks


def create_block_mask(
    mask_mod: MaskMod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] | list[int] = 128,
) -> BlockMask:
    """Which blocks of scores a mask_mod leaves out, as torch.nn.attention.flex_attention.create_block_mask says it.

    It asks mask_mod about all pairs, one row of blocks at a time: Q_LEN × KV_LEN answers are never in memory at once.
    What it finds out is kept: once an array that mask_mod was made with has changed, make a new block mask. Until then
    absent and full blocks stay as they were; only within partial ones each call asks anew.

    Args:
        mask_mod: mask_mod(b, h, i, j), as those in mods.py.
        B: sequences in the batch, or None (or 1) where mask_mod does not depend on b.
        H: heads of the query, or None (or 1) where mask_mod does not depend on h.
        Q_LEN: number of queries, n_q.
        KV_LEN: number of keys, n_k.
        device: None calls mask_mod with NumPy arrays; a torch device, as "cpu", with tensors there: for a mod made
            with tensors, or written for torch.
        BLOCK_SIZE: rows and columns of a block, or one number for both.

    Returns:
        A BlockMask, to be passed as mask_mod= of scaled_dot_product_attention. Print it to see it.

    Raises:
        TypeError: mask_mod cannot be called, or gives no booleans.
        ValueError: a size that is none, or answers that do not broadcast.
    """
    check_function("mask_mod", mask_mod)
    batch, heads = 1 if B is None else B, 1 if H is None else H
    q_block, k_block = BLOCK_SIZE if isinstance(BLOCK_SIZE, tuple | list) else (BLOCK_SIZE, BLOCK_SIZE)
    check_sizes((batch, heads, Q_LEN, KV_LEN), (q_block, k_block))
    check_made_for("mask_mod", mask_mod, batch, heads)
    kinds = np.zeros((batch, heads, -(-Q_LEN // q_block), -(-KV_LEN // k_block)), np.int8)
    for row in range(kinds.shape[2] if kinds.size else 0):
        rows = range(row * q_block, min((row + 1) * q_block, Q_LEN))
        for b in range(batch):
            seen = answers(mask_mod, b, heads, rows, KV_LEN, device)  # (H, rows, n_k)
            kinds[b, :, row] = kinds_of(seen, k_block)
    return BlockMask(kinds, (Q_LEN, KV_LEN), (q_block, k_block), mask_mod)


def check_sizes(lengths: tuple[int, ...], block: tuple[int, int]) -> None:
    """Raise TypeError or ValueError unless these can be sizes."""
    said = f"B, H, Q_LEN, KV_LEN are {', '.join(map(repr, lengths))} and BLOCK_SIZE {block}"
    if not all(isinstance(n, int | np.integer) for n in (*lengths, *block)):
        raise TypeError(f"{said}: all must be integers, B and H may be None")
    if min(block) < 1 or min(lengths) < 0:
        raise ValueError(f"{said}: the first four must not be negative, the last two at least 1")


def answers(mask_mod: MaskMod, b: int, heads: int, rows: range, n_k: int, device: Any) -> np.ndarray:
    """(H, rows, n_k): what mask_mod says of these queries of one sequence."""
    indices = [np.array(b), np.arange(heads)[:, None, None], np.array(rows)[:, None], np.arange(n_k)]
    if device is not None:
        import torch

        indices = [torch.as_tensor(x, device=device) for x in indices]
    shape = heads, len(rows), n_k
    seen = ask_mask(mask_mod, tuple(indices), shape, None if device is None else "torch")
    return np.broadcast_to(seen if isinstance(seen, OF_NUMPY) else seen.cpu().numpy(), shape)


def kinds_of(seen: np.ndarray, width: int) -> np.ndarray:
    """(H, columns of blocks): the kinds of the blocks in one row of blocks, (H, rows, n_k)."""
    starts = np.arange(0, seen.shape[-1], width)
    somebody = np.logical_or.reduceat(seen.any(axis=-2), starts, axis=-1)
    everybody = np.logical_and.reduceat(seen.all(axis=-2), starts, axis=-1)
    return somebody.astype(np.int8) + everybody


@dataclass
class Walks:
    """What `walk.py` found out with a block mask, kept for a call's other heads, and for its backward pass."""

    tiles: dict[Any, list[Any]] = field(default_factory=dict)
    answers: int = 0  # of mask_mod, that are in memory with them: a byte each


@dataclass(frozen=True, repr=False, eq=False)
class BlockMask:
    """A mask_mod, and the kinds of its blocks. It is a mask_mod itself: hand it over as one.

    A block at the lower or right edge may be smaller than the others; it is full where all its pairs are seen (torch's
    own counts those beyond the edge as unseen, and calls it partial).
    """

    kinds: Int8[np.ndarray, "batch heads rows columns"]  # ABSENT, PARTIAL or FULL; batch or heads 1: for all
    seq_lengths: tuple[int, int]  # n_q and n_k
    BLOCK_SIZE: tuple[int, int]  # rows and columns of a block
    mask_mod: MaskMod
    walks: Walks = field(default_factory=Walks)  # one to each call: see for_one_call

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(B, H, n_q, n_k)."""
        return (*self.kinds.shape[:2], *self.seq_lengths)

    def for_one_call(self) -> BlockMask:
        """The same with nothing kept: what mask_mod was made with may have changed since the call before."""
        return BlockMask(self.kinds, self.seq_lengths, self.BLOCK_SIZE, self.mask_mod, Walks())

    def sparsity(self) -> float:
        """How many of 100 blocks are absent."""
        return 100 * float((self.kinds == ABSENT).mean()) if self.kinds.size else 0.0

    def __call__(self, b: Any, h: Any, i: Any, j: Any) -> Any:
        """As a mask_mod: its answers count in partial blocks only, which matters where kinds were set by hand."""
        batch, heads = self.kinds.shape[:2]
        kinds = captured(self.kinds, like=i)
        kind = kinds[b * (batch > 1), h * (heads > 1), i // self.BLOCK_SIZE[0], j // self.BLOCK_SIZE[1]]
        return (kind == FULL) | ((kind == PARTIAL) & self.mask_mod(b, h, i, j))

    def of_head(self, b: int, h: int) -> HeadBlocks:
        """The blocks of one head."""
        batch, heads = self.kinds.shape[:2]
        return HeadBlocks(self, b * (batch > 1), h * (heads > 1))

    def __str__(self) -> str:
        batch, heads, n_q, n_k = self.shape
        counts = [int((self.kinds == kind).sum()) for kind in (ABSENT, PARTIAL, FULL)]
        words = (
            f"BlockMask of {batch} × {heads} heads, {n_q} queries × {n_k} keys, in blocks of "
            f"{self.BLOCK_SIZE[0]} × {self.BLOCK_SIZE[1]}: "
            f"{counts[0]} absent □, {counts[1]} partial ▒, {counts[2]} full █; {self.sparsity():.1f} % absent"
        )
        first = "" if batch * heads == 1 else "of b = 0, h = 0:\n"
        return f"{words}\n{first}{self.picture()}"

    __repr__ = __str__

    def picture(self, b: int = 0, h: int = 0, widest: int = WIDEST_PICTURE) -> str:
        """One head's blocks as □ ▒ █, a line for each row of blocks; where there are too many, several as one."""
        kinds = self.kinds[b, h]
        each = max(1, -(-max(kinds.shape) // widest))
        return "\n".join(
            "".join(
                PICTURE[kind_of_all(kinds[r : r + each, c : c + each])] for c in starts(kinds.shape[1], each)
            )
            for r in starts(kinds.shape[0], each)
        )


def is_for_all_heads(mask_mod: Any) -> bool:
    """Whether this is known to hide the same from all heads of all sequences. What a plain mod does is not known."""
    return isinstance(mask_mod, BlockMask) and mask_mod.shape[:2] == (1, 1)


class Area(NamedTuple):
    """Some rows and columns of the scores of one head, in which no block is absent."""

    top: int
    bottom: int
    left: int
    right: int
    full: bool  # all of it


class HeadBlocks(NamedTuple):
    """The block mask of one head, a function of (i, j): what `Rule.at` makes of a BlockMask."""

    whole: BlockMask
    b: int  # 0 where it is the same for all
    h: int

    @property
    def kinds(self) -> np.ndarray:
        """(rows, columns)."""
        return self.whole.kinds[self.b, self.h]

    def __call__(self, i: Any, j: Any) -> Any:
        """i: (rows, 1), j: (columns,), as the walk asks. Whole rows of kinds are looked up, which is quick."""
        seen = self.whole.mask_mod(captured(self.b, i), captured(self.h, i), i, j)
        kinds = captured(self.kinds, like=i)[:, j // self.whole.BLOCK_SIZE[1]]
        rows = i[:, 0] // self.whole.BLOCK_SIZE[0]
        return (kinds == FULL)[rows] | ((kinds == PARTIAL)[rows] & seen)

    def areas(self, first: int, last: int, widest: int) -> Iterator[Area]:
        """What the queries first … last − 1 see of the blocks that are not absent, `widest` columns at a time at most.

        Blocks that are full for all these queries come first, in tall areas. Then the others, for rows of blocks that
        are alike at once: full and partial ones apart where they are too many for one area.
        """
        height, width = self.whole.BLOCK_SIZE
        row = first // height
        rows = self.kinds[row : -(-last // height)]
        everywhere = (rows == FULL).all(axis=0)
        for run in runs(everywhere):
            yield from self.across(run, first, last, widest, full=True)
        changes = (np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) + 1).tolist()
        for start, end in zip([0, *changes], [*changes, len(rows)], strict=True):
            top, bottom = max(first, (row + start) * height), min(last, (row + end) * height)
            kinds = np.where(everywhere, ABSENT, rows[start])
            for run in runs(kinds != ABSENT):
                alike = (
                    [kinds == FULL, kinds == PARTIAL] if (run[1] - run[0]) * width > widest else [kinds >= 0]
                )
                for these in alike:
                    for left, right in runs(these[run[0] : run[1]]):
                        part = run[0] + left, run[0] + right
                        full = bool((kinds[part[0] : part[1]] == FULL).all())
                        yield from self.across(part, top, bottom, widest, full)

    def across(self, run: tuple[int, int], top: int, bottom: int, widest: int, full: bool) -> Iterator[Area]:
        """These columns of blocks, cut where they are too many."""
        width, n_k = self.whole.BLOCK_SIZE[1], self.whole.seq_lengths[1]
        end = min(run[1] * width, n_k)
        for left in range(run[0] * width, end, widest):
            yield Area(top, bottom, left, min(left + widest, end), full)


def runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """(start, end) of each run of True."""
    edges = [0, *(np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist(), len(flags)]
    return [(start, end) for start, end in pairwise(edges) if start < end and flags[start]]


def starts(n: int, each: int) -> range:
    """Where the blocks of n rows begin."""
    return range(0, n, each)


def kind_of_all(kinds: np.ndarray) -> int:
    """Of several blocks as one."""
    return int(kinds.flat[0]) if (kinds == kinds.flat[0]).all() else PARTIAL


# torch's own ------------------------------------------------------------------------------------------------


def of_torchs(mask_mod: Any) -> Any:
    """torch's BlockMask as ours; anything else as it is."""
    flex = sys.modules.get("torch.nn.attention.flex_attention")
    if flex is None or not isinstance(mask_mod, flex.BlockMask):
        return mask_mod
    width = -(-mask_mod.seq_lengths[1] // mask_mod.BLOCK_SIZE[1])
    kinds = marked(mask_mod.kv_num_blocks, mask_mod.kv_indices, width) * PARTIAL
    if mask_mod.full_kv_num_blocks is not None:
        kinds = kinds + marked(mask_mod.full_kv_num_blocks, mask_mod.full_kv_indices, width) * FULL
    kinds = kinds.reshape(*(1,) * (4 - kinds.ndim), *kinds.shape).astype(np.int8)
    return BlockMask(kinds, tuple(mask_mod.seq_lengths), tuple(mask_mod.BLOCK_SIZE), mask_mod.mask_mod)


def marked(how_many: Any, listed: Any, width: int) -> np.ndarray:
    """(…, rows, width): True for the first how_many[row] of the columns that are listed for a row."""
    how_many, listed = how_many.cpu().numpy(), listed.cpu().numpy()
    counts = np.arange(listed.shape[-1]) < how_many[..., None]
    dense = np.zeros((*listed.shape[:-1], width + 1), bool)  # what does not count goes to the last column
    np.put_along_axis(dense, np.where(counts, listed, width).astype(np.intp), True, axis=-1)
    return dense[..., :-1]
