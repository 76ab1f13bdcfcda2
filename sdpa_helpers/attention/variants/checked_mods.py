"""Checks of a mask_mod and a score_mod: each is asked about the first and last of everything, before any work is done.

That is enough to see what it returns, whether it broadcasts, whether it can be asked about many pairs at once, and
whether what it looks up is long enough.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.arguments import dtype_name
from sdpa_helpers.attention.layout import all_batches_and_heads
from sdpa_helpers.attention.variants import block_mask
from sdpa_helpers.attention.variants.asking import ask, ask_mask, check_made_for

if TYPE_CHECKING:
    from sdpa_helpers.attention.arguments import Kind, Shape

FEW = 2  # one alone would let `if i > 3` pass


class Mods(NamedTuple):
    """Checked, and torch's BlockMask as ours."""

    mask_mod: Any
    score_mod: Any
    learned: bool  # a tensor that score_mod was made with requires a gradient


def checked(mask_mod: Any, score_mod: Any, weights_shape: Shape, query: Any, kind: Kind) -> Mods:
    """Raise TypeError or ValueError unless both, where given, are functions that a call of this shape can ask.

    weights_shape: (..., n_q, n_k).
    """
    if mask_mod is None and score_mod is None:
        return Mods(None, None, False)
    mask_mod = block_mask.of_torchs(mask_mod)
    if isinstance(mask_mod, block_mask.BlockMask):
        check_lengths(mask_mod, weights_shape)
        mask_mod = mask_mod.for_one_call()
    lead = weights_shape[:-2]
    for name, mod in (("mask_mod", mask_mod), ("score_mod", score_mod)):
        check_made_for(name, mod, math.prod(lead[:-1]) if len(lead) > 1 else None, lead[-1] if lead else None)
    shape = tuple(min(FEW, n) for n in weights_shape)
    where = first_and_last(weights_shape, query, kind)
    learned = False
    if mask_mod is not None:
        ask_mask(mask_mod, where, shape, kind)
    if score_mod is not None:
        score = ask("score_mod", score_mod, (zeros(shape, query, kind), *where), shape, kind)
        if "float" not in dtype_name(score):
            raise TypeError(
                f"score_mod gave {dtype_name(score)}, but must give the scores to take the place of the old ones, as "
                "floating numbers. What says which keys are seen is a mask_mod"
            )
        learned = bool(getattr(score, "requires_grad", False))
    return Mods(mask_mod, score_mod, learned)


def check_lengths(mask: block_mask.BlockMask, weights_shape: Shape) -> None:
    """A block mask is of some lengths, and of one batch and one number of heads, or of all."""
    *lead, n_q, n_k = weights_shape
    if mask.seq_lengths != (n_q, n_k):
        raise ValueError(
            f"mask_mod is a BlockMask made for (n_q, n_k) = {mask.seq_lengths}, but here they are {(n_q, n_k)}: make "
            "one with create_block_mask for these lengths"
        )
    batch, heads = math.prod(lead[:-1]), lead[-1] if lead else 1
    if mask.shape[0] not in (1, batch) or mask.shape[1] not in (1, heads):
        raise ValueError(
            f"mask_mod is a BlockMask made for B = {mask.shape[0]} and H = {mask.shape[1]}, but here they are {batch} "
            f"and {heads}: make one for these, or with None where it is the same for all"
        )


def first_and_last(weights_shape: Shape, query: Any, kind: Kind) -> tuple[Any, ...]:
    """b, h, i and j of the first and the last sequence, head, query and key."""
    b, h = all_batches_and_heads(weights_shape[:-2])
    i, j = (np.arange(n) for n in weights_shape[-2:])
    for axis in range(b.ndim):
        b = ends(b, axis)
    where = (b, ends(h, 0) if h.ndim else h, ends(i, 0)[:, None], ends(j, 0))
    if kind == "numpy":
        return where
    torch = sys.modules["torch"]
    return tuple(torch.as_tensor(x, device=query.device) for x in where)


def ends(array: np.ndarray, axis: int) -> np.ndarray:
    """The first and the last along an axis, where there are so many."""
    n = array.shape[axis]
    return array.take([0, n - 1][: min(FEW, n)], axis)


def zeros(shape: Shape, query: Any, kind: Kind) -> Any:
    """Scores, in the dtype that they are computed in."""
    if kind == "numpy":
        return np.zeros(shape, np.float64 if query.dtype == np.float64 else np.float32)
    torch = sys.modules["torch"]
    dtype = torch.float64 if query.dtype == torch.float64 else torch.float32
    return torch.zeros(shape, dtype=dtype, device=query.device)
