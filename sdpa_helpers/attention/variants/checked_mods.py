"""Checks of a mask_mod and a score_mod: each is asked about the first two of everything, before any work is done.

That is enough to see what it returns, whether it broadcasts, and whether it can be asked about many pairs at once.
"""

from __future__ import annotations

import inspect
import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.arguments import dtype_name
from sdpa_helpers.attention.layout import all_batches_and_heads
from sdpa_helpers.attention.variants import block_mask
from sdpa_helpers.attention.variants.mods import OF_NUMPY

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
    shape = tuple(min(FEW, n) for n in weights_shape)
    where = first_indices(shape, query, kind)
    learned = False
    if mask_mod is not None:
        seen = ask("mask_mod", mask_mod, where, shape, kind)
        if dtype_name(seen) != "bool":
            raise TypeError(
                f"mask_mod gave {dtype_name(seen)}, but must give booleans: True = this query may attend to this key"
            )
    if score_mod is not None:
        score = ask("score_mod", score_mod, (zeros(shape, query, kind), *where), shape, kind)
        if "float" not in dtype_name(score):
            raise TypeError(
                f"score_mod gave {dtype_name(score)}, but must give the scores to take the place of the old ones, as "
                "floating numbers. What says which keys are seen is a mask_mod"
            )
        learned = bool(getattr(score, "requires_grad", False))
    return Mods(mask_mod, score_mod, learned)


def ask(name: str, mod: Any, arguments: tuple[Any, ...], shape: Shape, kind: Kind) -> Any:
    """What the mod answers, which is an array that broadcasts to this shape, or an error that says why it is none."""
    if not callable(mod):
        raise TypeError(f"{name} is {mod!r}, but must be a function of {taken_by(name)}")
    try:
        answer: Any = mod(*arguments)
    except (TypeError, ValueError, RuntimeError) as error:
        if (in_words := explained(error, name, mod, len(arguments))) is not None:
            raise in_words from error
        raise
    if not isinstance(answer, OF_NUMPY if kind == "numpy" else sys.modules["torch"].Tensor):
        what = "a NumPy array" if kind == "numpy" else "a tensor"
        raise TypeError(
            f"{name} gave {answer!r} of type {type(answer).__name__}, but must give {what}: it is called with arrays "
            f"of {taken_by(name)}, and what it computes from them is one"
        )
    came = tuple(answer.shape)
    if not broadcasts(came, shape):
        raise ValueError(
            f"{name} gave shape {came} when asked about {shape[-2]} queries and {shape[-1]} keys, but "
            f"must give what broadcasts to {shape}: one answer for each i and j that it is called with. An array of "
            "all answers is looked up, as table[i, j]"
        )
    return answer


def explained(error: Exception, name: str, mod: Any, count: int) -> Exception | None:
    """An error that says what to do about the one that a mod raised; None where that is not known."""
    if "ambiguous" in str(error) or "data-dependent control flow" in str(error):
        return ValueError(
            f"{name} asks an array for one truth value: it is called with many i and j at once, so it cannot use if, "
            "and, or, not, min, max or 0 < i < j. Write & | ~ with brackets around each comparison, and np.where or "
            "torch.where in place of if"
        )
    try:
        inspect.signature(mod).bind(*range(count))
    except TypeError as misfit:
        return TypeError(f"{name} must be a function of {taken_by(name)}: {misfit}")
    except ValueError:  # what is written in C may have no signature
        pass
    return None


def taken_by(name: str) -> str:
    return "(b, h, i, j)" if name == "mask_mod" else "(score, b, h, i, j)"


def broadcasts(shape: Shape, expected: Shape) -> bool:
    try:
        return np.broadcast_shapes(shape, expected) == expected
    except ValueError:
        return False


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


def first_indices(shape: Shape, query: Any, kind: Kind) -> tuple[Any, ...]:
    """b, h, i and j of so many sequences, heads, queries and keys."""
    n_q, n_k = shape[-2:]
    where = (*all_batches_and_heads(shape[:-2]), np.arange(n_q)[:, None], np.arange(n_k))
    if kind == "numpy":
        return where
    torch = sys.modules["torch"]
    return tuple(torch.as_tensor(x, device=query.device) for x in where)


def zeros(shape: Shape, query: Any, kind: Kind) -> Any:
    """Scores, in the dtype that they are computed in."""
    if kind == "numpy":
        return np.zeros(shape, np.float64 if query.dtype == np.float64 else np.float32)
    torch = sys.modules["torch"]
    dtype = torch.float64 if query.dtype == torch.float64 else torch.float32
    return torch.zeros(shape, dtype=dtype, device=query.device)
