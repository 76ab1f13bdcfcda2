"""How arrays lie: which matrices belong together, and how the matrix of scores is cut into tiles.

The tiled backends compute one head of one sequence at a time, or several neighbouring ones where they are short
(`SomeHeads`); this file finds their matrices, and `walk.py` goes through their tiles. Nothing is copied for
broadcasting or for grouped heads: several heads of the answer look at the same matrix. All of it holds for NumPy
arrays and for tensors, and imports no torch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sdpa_helpers.attention.variants.block_mask import BlockMask
from sdpa_helpers.attention.variants.mods import captured

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

Shape = tuple[int, ...]


# Heads -----------------------------------------------------------------------------------------------------


class Head(NamedTuple):
    """Query, key and value, or their gradients: of all heads, or the matrices of one."""

    query: Any  # (..., n_q, d_k)
    key: Any  # (..., n_k, d_k)
    value: Any  # (..., n_k, d_v)

    def at(self, index: Shape, lead: Shape) -> Head:
        """The matrices that serve the head at this index of the answer: views."""
        return Head(*(matrix_at(index, lead, array) for array in self))

    def some_at(self, some: SomeHeads, lead: Shape) -> Head:
        """The matrices that serve these heads of the answer, (heads or 1, rows, columns) each: views."""
        return Head(*(matrices_at(some, lead, array) for array in self))


class Rule(NamedTuple):
    """Which scores count, and what happens to them: score_mod(scale · q · k) + a float mask, then some are hidden.

    A key is seen by a query if each of mask, is_causal and mask_mod lets it. The mods are those of FlexAttention
    (Dong et al. 2024, §3), but called with arrays of indices that broadcast, so that one call serves a whole tile.
    """

    mask: Any = None  # (..., n_q, n_k), boolean or floating; None: there is none
    is_causal: bool = False
    scale: float = 1.0
    mask_mod: Any = None  # (b, h, i, j) → boolean; in the rule of one head: (i, j)
    score_mod: Any = None  # (score, b, h, i, j) → score; in the rule of one head: (score, i, j)

    def in_full(self, n_q: int, n_k: int) -> Rule:
        """With the mask as (..., n_q, n_k), whatever it broadcasts from."""
        return self if self.mask is None else self._replace(mask=full_rows(self.mask, n_q, n_k))

    def at(self, index: Shape, lead: Shape) -> Rule:
        """The rule of the head at this index of the answer."""
        if self.mask is None and self.mask_mod is None and self.score_mod is None:
            return self
        mask = None if self.mask is None else matrix_at(index, lead, self.mask)
        b, h = batch_and_head(index, lead)
        return self._replace(
            mask=mask,
            mask_mod=mask_mod_of_head(self.mask_mod, b, h),
            score_mod=score_mod_of_head(self.score_mod, b, h),
        )


class Wants(NamedTuple):
    """What a call asks for besides the output."""

    enable_gqa: bool = False
    dropout_p: float = 0.0
    return_weights: bool = False
    return_lse: bool = False


class BackendResult(NamedTuple):
    """What a backend returns; weights and lse may be None unless they were asked for."""

    output: Any  # (..., n_q, d_v)
    weights: Any = None  # (..., n_q, n_k)
    lse: Any = None  # (..., n_q), the logarithm of Σⱼ exp(scoreⱼ), in float32 at least; −∞ for a row that sees nothing


class State(NamedTuple):
    """What is known of some rows once they have seen their keys: the output, and what the backward pass needs.

    A query's LSE is largest + log total. Kept apart, both are exact also where a float mask moves all scores of a row
    so far that the second would be rounded away beside the first.
    """

    output: Any  # (..., n_q, d_v)
    largest: Any  # (..., n_q): the largest score, or 0 where none needed to be subtracted
    total: Any  # (..., n_q): Σⱼ exp(scoreⱼ − largest)

    def at(self, index: Shape) -> State:
        """Of the head at this index: views."""
        return State(*(array[index] for array in self))

    def some_at(self, some: SomeHeads, lead: Shape) -> State:
        """Of these heads, (heads, n_q, d_v) and twice (heads, n_q, 1): views."""
        columns = (self.output, self.largest[..., None], self.total[..., None])
        return State(*(matrices_at(some, lead, array) for array in columns))

    def lse(self) -> np.ndarray:
        """log Σⱼ exp(scoreⱼ), in NumPy; −∞ for a row that sees nothing."""
        with np.errstate(divide="ignore"):
            return self.largest + np.log(self.total)


class SomeHeads(NamedTuple):
    """Neighbouring heads of the answer, which NumPy computes in one call where they are short."""

    start: Shape  # the index of the first, e.g. (batch, head)
    heads: int  # how many


def batch_and_head(index: Shape, lead: Shape) -> tuple[int, int]:
    """The b and h with which a mod is called for the head at this index; 0 where there is no such dimension."""
    b = int(np.ravel_multi_index(index[:-1], lead[:-1])) if len(lead) > 1 else 0
    return b, index[-1] if index else 0


def mask_mod_of_head(mask_mod: Any, b: int, h: int) -> Any:
    """The mask_mod of one head, a function of (i, j); of a block mask it keeps the blocks."""
    if mask_mod is None:
        return None
    if isinstance(mask_mod, BlockMask):
        return mask_mod.of_head(b, h)
    return lambda i, j: mask_mod(captured(b, i), captured(h, i), i, j)


def score_mod_of_head(score_mod: Any, b: int, h: int) -> Any:
    """The score_mod of one head, a function of (score, i, j)."""
    return score_mod and (lambda score, i, j: score_mod(score, captured(b, i), captured(h, i), i, j))


def all_batches_and_heads(lead: Shape) -> tuple[np.ndarray, np.ndarray]:
    """b (..., 1, 1, 1) and h (heads, 1, 1) of all heads, as a mod is called with for all of them at once."""
    if not lead:
        return np.array(0), np.array(0)
    batches = np.arange(math.prod(lead[:-1])).reshape(*lead[:-1], 1, 1, 1)
    return batches, np.arange(lead[-1]).reshape(-1, 1, 1)


def leading_shape(query: Any, key: Any, value: Any, enable_gqa: bool) -> Shape:
    """The leading dimensions of the answer."""
    if query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        return tuple(query.shape[:-2])
    heads = query.shape[-3:-2]  # with grouped heads, those of the query
    others = [(*x.shape[:-3], *heads) if enable_gqa else x.shape[:-2] for x in (key, value)]
    return np.broadcast_shapes(tuple(query.shape[:-2]), *map(tuple, others))


def heads_of(lead: Shape) -> Iterator[Shape]:
    """The index of every head of the answer, e.g. (batch, head)."""
    return np.ndindex(*lead)


def batches_of(lead: Shape, arrays: Head, most: int) -> Iterator[SomeHeads]:
    """All heads of the answer, at most so many at a time; those that share a matrix with others share it throughout."""
    heads = lead[-1] if lead else 1
    own = [array.shape[-3] for array in arrays if array.ndim > 2]
    together = math.gcd(*(heads // has for has in own if 1 < has < heads)) or heads
    most = max(1, min(most, together))
    count = most if together == heads else max(n for n in range(1, most + 1) if together % n == 0)
    for before in np.ndindex(*lead[:-1]):
        for head in range(0, heads, count):
            yield SomeHeads((*before, head) if lead else (), min(count, heads - head))


def matrices_at(some: SomeHeads, lead: Shape, array: Any) -> Any:
    """The matrices that serve these heads, as (heads, rows, columns): a view. (1, rows, columns) if one serves all."""
    own = array.shape[:-2]
    if not own:
        return array[None]
    last = some.start[-1] * own[-1] // lead[-1]
    last = slice(last, last + (some.heads if own[-1] == lead[-1] else 1))
    *before, _ = matrix_index(some.start, lead, own)
    return array[(*before, last)]


def matrix_at(index: Shape, lead: Shape, array: Any) -> Any:
    """The matrix of `array` that serves the head at this index of the answer: a view.

    Of 8 heads that share 2, head 5 is served by head 5 · 2 // 8 = 1. Broadcasting is the same rule: a dimension
    of size 1 is shared by all, i · 1 // size = 0, and a full one by none, i · size // size = i.
    """
    return array[matrix_index(index, lead, array.shape[:-2])]


def matrix_index(index: Shape, lead: Shape, own: Shape) -> Shape:
    """Where in an array with these leading dimensions of its own."""
    absent = len(lead) - len(own)
    places = zip(index[absent:], own, lead[absent:], strict=True)
    return tuple(i * has // size for i, has, size in places)


def full_rows(mask: Any, n_q: int, n_k: int) -> Any:
    """A mask as (..., n_q, n_k), whatever it broadcasts from: a view."""
    shape = (*mask.shape[:-2], n_q, n_k)
    return np.broadcast_to(mask, shape) if isinstance(mask, np.ndarray) else mask.expand(shape)


# Four dimensions, which is all that kernels for GPUs and torch's own take -----------------------------------


def four_dimensional(array: torch.Tensor, lead: Shape) -> Any:
    """As (batch, heads, rows, columns): a view wherever one is possible."""
    if array.shape[:-2] == lead and len(lead) <= 2:
        return array if len(lead) == 2 else array.unsqueeze(0) if lead else array.unsqueeze(0).unsqueeze(0)
    rows_columns = array.shape[-2:]
    array = array.expand(*lead, *rows_columns)
    return array.reshape(math.prod(lead[:-1]), lead[-1] if lead else 1, *rows_columns)


def with_dense_rows(array: torch.Tensor) -> torch.Tensor:
    """The numbers of one row side by side; the rows may lie anywhere."""
    if array.stride(-1) == 1:
        return array
    if array.shape[-1] == 1:  # `contiguous` takes it as it is, but torch's kernel asks for a stride of 1
        return array.select(-1, 0).unsqueeze(-1)
    return array.contiguous()


# Tiles -----------------------------------------------------------------------------------------------------


class Tiles(NamedTuple):
    """Rows and columns of a tile of scores."""

    queries: int
    keys: int
    diagonal: int  # rows of the thinner tiles on the diagonal of causal attention


def rectangles(
    first: int, last: int, n_k: int, is_causal: bool, tiles: Tiles
) -> Iterator[tuple[int, int, int, int]]:
    """The tiles of scores that the queries first … last − 1 need: (top, bottom, left, right).

    Without is_causal, all rows against some keys at a time. With it, query i sees the keys 0 … i only:

        keys:       0 ……………… first …… last
        query first ████████████▒                █ full tiles: every key here is before every query
              …     ████████████▒▒▒              ▒ thin tiles along the diagonal; only the last columns
              last  ████████████▒▒▒▒▒              of each contain anything that must be hidden
    """
    straight = min(first, n_k) if is_causal else n_k
    for left in range(0, straight, tiles.keys):
        yield first, last, left, min(left + tiles.keys, straight)
    if is_causal and first < n_k:
        for top in range(first, last, tiles.diagonal):
            bottom = min(top + tiles.diagonal, last)
            yield top, bottom, first, min(bottom, n_k)
