"""What only the numbers of a call tell, and when torch lets one look at them.

Most of what decides between backends is shapes and dtypes (`call_facts.py`). Three faults of torch's fused CPU kernel
depend on the numbers. To look costs one pass over them, little beside n² scores; while torch traces a function, to
compile or to transform it, there are no numbers to look at.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

# |largest number of a row of the mask| up to which float32 still holds log Σ exp(score) to 10⁻⁵.
FAR = 100.0


def is_traced() -> bool:
    """Whether torch compiles or transforms what runs now (torch.compile, torch.func): then there are no numbers."""
    return torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack() is not None  # pyright: ignore


def all_finite(one: Any, other: Any) -> bool:
    """Whether no number of two arrays or tensors is NaN or infinite. (False also where their sum overflows.)"""
    if isinstance(one, np.ndarray):
        with np.errstate(invalid="ignore", over="ignore"):
            return math.isfinite(one.sum() + other.sum())
    return math.isfinite(one.sum().item()) and math.isfinite(other.sum().item())


def largest_score(query: torch.Tensor, key: torch.Tensor, scale: float) -> float:
    """What no |score| is above, by the largest numbers in the arrays. 0 where one of them is NaN or infinite."""
    largest = [torch.linalg.vector_norm(x.detach(), math.inf).item() for x in (query, key)]
    return math.prod(largest) * query.shape[-1] * abs(scale) if all(map(math.isfinite, largest)) else 0.0


def has_far_row(mask: torch.Tensor, is_causal: bool, n_q: int) -> bool:
    """Whether for some query the largest number of a float mask, over the keys that it sees, is finite and beyond FAR.

    Such a row is hidden throughout, by a finite number. One of −∞ only is not counted: it is empty.
    """
    mask = torch.atleast_2d(mask.detach())
    for axis, step in enumerate(mask.stride()):
        if step == 0:  # the same numbers again and again: one pass over those that differ is enough
            mask = mask.narrow(axis, 0, 1)
    if is_causal and mask.shape[-2:] == (
        1,
        mask.shape[-1],
    ):  # one row for all: query i sees its first i + 1 numbers
        return _any_far(mask[..., 0, :n_q].cummax(dim=-1).values)
    largest = mask.amax(dim=-1)
    if not is_causal or mask.shape[-1] == 1:
        return _any_far(largest)
    # Of most rows two numbers that they see, the first and the last, tell enough; only the others are gone through.
    last = torch.arange(mask.shape[-2], device=mask.device).clamp(max=mask.shape[-1] - 1)
    two = torch.maximum(mask[..., 0], mask.gather(-1, last.expand(mask.shape[:-1])[..., None])[..., 0])
    doubtful = (two < -FAR) | (largest > FAR)
    seen = torch.arange(mask.shape[-1], device=mask.device) <= last.expand(doubtful.shape)[doubtful][:, None]
    return _any_far(mask[doubtful].masked_fill(~seen, -torch.inf).amax(dim=-1)) if len(seen) else False


def hidden_share(mask: torch.Tensor, side: int = 128) -> float:
    """The share of the tiles of a boolean mask, of that side, in which no query sees a key.

    One row for all queries is one row of tiles. What does not fill a tile at the right and below is left out.
    """
    mask = torch.atleast_2d(mask)
    for axis in (-1, -2) if mask.shape[-2] > 1 else (-1,):
        whole = mask.shape[axis] // side * side
        mask = mask.narrow(axis, 0, whole).unflatten(axis, (-1, side)).any(axis if axis == -1 else -2)
    return 1.0 - mask.float().mean().item() if mask.numel() else 0.0


def _any_far(largest: torch.Tensor) -> bool:
    return bool((largest.isfinite() & (largest.abs() > FAR)).any())
