"""What `torch_passes.py` computes at once: which heads, which queries of them, and what is added to which tile.

Of short sequences the scores of many heads together are as large as one tile of a long one, so they are made by one
product of batches of matrices. And heads that need the same tiles get them from one walk, which asks a mask once.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from sdpa_helpers.attention.layout import Head, Rule, Shape, Tiles, matrix_at
from sdpa_helpers.attention.small_scores import (
    LEAST_VALUE,
    ROUGH_SCORE,
    SMALL_SCORE,
    SMALL_VALUE,
    changes_scores,
)
from sdpa_helpers.attention.variants.block_mask import is_for_all_heads
from sdpa_helpers.attention.walk import arange, is_boolean, is_one_row, tiles_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdpa_helpers.attention.walk import Tile

LOG2_E = math.log2(math.e)

# |largest number of a row of a float mask| up to which a score does not lose digits beside it, nor its exponential its
# range: together with small scores (`small_scores.py`) it is still far from the ends of float32.
NEAR = 10.0


# Heads -----------------------------------------------------------------------------------------------------


def runs_of_heads(lead: Shape, rule: Rule) -> Iterator[range]:
    """Neighbouring heads, counted through, that need the same tiles, since one matrix of the mask serves them all."""
    heads = math.prod(lead)
    alike = heads
    if rule.score_mod is not None or not (rule.mask_mod is None or is_for_all_heads(rule.mask_mod)):
        alike = 1
    elif rule.mask is not None:
        alike = 1
        for axis in range(-3, -3 - len(lead), -1):
            if rule.mask.dim() >= -axis and rule.mask.shape[axis] > 1 and rule.mask.stride(axis):
                break
            alike *= lead[axis + 2]
    return (range(start, start + alike) for start in range(0, heads, alike or 1))


def batches_of(run: range, n_q: int, n_k: int, tiles: Tiles) -> list[range]:
    """As many heads at once as have the scores of one tile."""
    scores = min(n_q, tiles.queries) * min(n_k, tiles.keys)
    each = max(1, tiles.queries * tiles.keys // max(1, scores))
    return [run[start : start + each] for start in range(0, len(run), each)]


def index_of(head: int, lead: Shape) -> Shape:
    """(batch, …, head) of the head that is the n-th of all."""
    return tuple(int(i) for i in np.unravel_index(head, lead)) if lead else ()


def places_of(heads: range, lead: Shape, own: Shape) -> list[int]:
    """Which of an array's matrices serve these heads, counted through; `own` are its leading dimensions."""
    if own == lead:
        return list(heads)
    every = np.arange(math.prod(own)).reshape(*own, 1, 1)
    return [int(matrix_at(index_of(head, lead), lead, every)[0, 0]) for head in heads]


def counted_through(array: torch.Tensor) -> torch.Tensor:
    """(…, rows, columns) as (matrices, rows, columns)."""
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def of_heads(array: torch.Tensor, lead: Shape, heads: range) -> torch.Tensor:
    """(heads, rows, columns): the matrices of an array that serve these heads. Of one it is a view."""
    if len(heads) == 1:
        return matrix_at(index_of(heads[0], lead), lead, array)[None]
    places = places_of(heads, lead, tuple(array.shape[:-2]))
    matrices = counted_through(array)
    if is_run(places):
        return matrices[places[0] : places[-1] + 1]
    return matrices[places]


def is_run(places: list[int]) -> bool:
    """Whether they are neighbours, each for itself."""
    return places == list(range(places[0], places[0] + len(places)))


def bounds_of_scores(arrays: Head, scale: float, lead: Shape) -> list[float]:
    """For each head, counted through, what none of its scaled scores can be beyond: |q · k| ≤ ‖q‖ ‖k‖.

    It is NaN or ∞ where numbers are, and where values are not moderate (`small_scores.are_moderate`). On a GPU, where
    the answer would have to be waited for, it is ∞.
    """
    query, key, value = arrays
    if query.device.type != "cpu" or not (query.numel() and key.numel() and value.numel()):
        return [math.inf] * math.prod(lead)
    working = torch.promote_types(query.dtype, torch.float32)
    norms = [*(largest_norms(x, working) for x in (query, key)), are_moderate(value)]
    heads = range(math.prod(lead))
    of_query, of_key, of_value = (x.flatten()[places_of(heads, lead, tuple(x.shape))] for x in norms)
    return torch.where(of_value, of_query * of_key * abs(scale), math.inf).tolist()


def are_moderate(value: torch.Tensor) -> torch.Tensor:
    """`small_scores.are_moderate`, for the matrix (n, d) of each head."""
    sizes = value.abs()
    least = sizes.amin((-2, -1))
    if bool((least <= LEAST_VALUE).any()):
        least = sizes.masked_fill_(sizes == 0, 1).amin((-2, -1))
    return (sizes.amax((-2, -1)) < SMALL_VALUE) & (least > LEAST_VALUE)


def largest_norms(vectors: torch.Tensor, working: torch.dtype) -> torch.Tensor:
    """Of the vectors (…, n, d) of each head at least the largest ‖v‖."""
    found = torch.linalg.vector_norm(vectors, dim=-1, dtype=working).amax(-1)
    if bool((found.square() < torch.finfo(working).tiny).any()):  # squares of small numbers may have become 0
        return vectors.abs().amax((-2, -1)).to(working) * math.sqrt(vectors.shape[-1])
    return found


# Tiles of scores -------------------------------------------------------------------------------------------


class ScoreTile(NamedTuple):
    """A tile of scores, the same for all heads of a run."""

    rows: slice  # of the queries
    columns: slice
    seen: Any  # boolean, as of `walk.Tile`, or None
    added: Any  # (rows or 1, columns), or None: a float mask, and −∞ where a key is hidden
    modify: Any  # a score_mod of these rows and columns: a function of the scores of one head; or None
    begins: Any  # at the first tile of some queries, all of these; else None
    ends: Any  # likewise at their last tile
    # Whether scores may be changed by so much that what is small beside it would be rounded away. Then they stay as
    # they are; else they are multiplied by log₂ e from the start, for exponentials are powers of two.
    is_far: bool


class TileStep(NamedTuple):
    """A tile of some heads, and in which of some ways its scores are made."""

    heads: range
    arrays: Head  # (heads, …, …), of all queries and keys
    part: ScoreTile
    scale: float
    # No largest score need be subtracted: no exponential overflows, nor do those of a row vanish.
    is_small: bool
    is_finite: bool  # no score is NaN or ±∞, so that adding −∞ hides it
    is_rough: bool  # `small_scores.ROUGH_SCORE`

    @property
    def early(self) -> float:
        """What the scores are multiplied by when they are made …"""
        return 1.0 if self.part.is_far else LOG2_E

    @property
    def late(self) -> float:
        """… and then, so that their exponentials are powers of two."""
        return LOG2_E if self.part.is_far else 1.0


def steps_of(arrays: Head, rule: Rule, lead: Shape, tiles: Tiles) -> Iterator[TileStep]:
    """All tiles of all heads. Heads take turns, so that what is added to a tile stays near while all use it."""
    n_q, n_k = arrays.query.shape[-2], arrays.key.shape[-2]
    dtype = torch.promote_types(arrays.query.dtype, torch.float32)
    bounds = bounds_of_scores(arrays, rule.scale, lead)
    limit = SMALL_SCORE - NEAR * changes_scores(rule)
    rule = rule.in_full(n_q, n_k)
    for run in runs_of_heads(lead, rule):
        batches = [
            (heads, Head(*(of_heads(x, lead, heads) for x in arrays)))
            for heads in batches_of(run, n_q, n_k, tiles)
        ]
        index = index_of(run[0], lead)
        for part in parts_of(matrix_at(index, lead, arrays.key), n_q, rule.at(index, lead), tiles, dtype):
            for heads, batch in batches:
                bound = bounds[heads.start : heads.stop]  # NaN is neither small nor finite
                is_small = not part.is_far and all(x < limit for x in bound)
                is_rough = not all(x < ROUGH_SCORE for x in bound)
                is_finite = all(map(math.isfinite, bound))
                yield TileStep(heads, batch, part, rule.scale, is_small, is_finite, is_rough)


def parts_of(
    key: torch.Tensor, n_q: int, rule: Rule, tiles: Tiles, dtype: torch.dtype
) -> Iterator[ScoreTile]:
    """The tiles of a head. key: (n_k, d_k). rule: of the head, its mask in full."""
    for first in range(0, n_q, tiles.queries):
        last = min(first + tiles.queries, n_q)
        parts = (part_of(tile, rule, dtype, key) for tile in tiles_for(first, last, key, rule, tiles))
        if changes_scores(rule):
            parts = list(parts)
            is_far = rule.score_mod is not None or not all_near(parts, last)
            factor = 1 if is_far else LOG2_E
            parts = (with_factor(part, factor)._replace(is_far=is_far) for part in parts)
        rows: Any = slice(first, last)
        before = None
        for part in parts:
            if before is not None:
                yield before
            before = part._replace(begins=rows if before is None else None)
        if before is not None:
            yield before._replace(ends=rows)


def part_of(tile: Tile, rule: Rule, dtype: torch.dtype, key: torch.Tensor) -> ScoreTile:
    """A tile, with what becomes of its scores."""
    top, bottom, left, right, seen = tile
    added = modify = None
    if rule.mask is not None and not is_boolean(rule.mask):
        rows = slice(top, top + 1) if is_one_row(rule.mask) else slice(top, bottom)
        added = rule.mask[rows, left:right].to(dtype)
        if seen is not None:
            added = torch.where(seen, added, -torch.inf)
    elif seen is not None:
        added = hidden_as_scores(seen, dtype)
    if rule.score_mod is not None:
        i, j = arange(top, bottom, key)[:, None], arange(left, right, key)
        modify = partial(modified, rule.score_mod, i, j)
    return ScoreTile(slice(top, bottom), slice(left, right), seen, added, modify, None, None, is_far=False)


def with_factor(part: ScoreTile, factor: float) -> ScoreTile:
    """The part, with what is added to its scores multiplied by a factor."""
    return part if part.added is None or factor == 1 else part._replace(added=part.added * factor)


def modified(score_mod: Any, i: torch.Tensor, j: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """(1, rows, columns): the scores that a score_mod puts in place of these."""
    return score_mod(scores[0], i, j).to(scores.dtype).expand(scores.shape)


def hidden_as_scores(seen: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """0 where a key is seen, −∞ where not, to be added by the product that makes the scores.

    masked_fill and where decide for each number: where a CPU cannot guess what comes they take many times as long.
    """
    lowest = torch.finfo(dtype).min
    return (~seen).view(torch.int8).to(dtype).mul_(lowest).mul_(2)


def all_near(parts: list[ScoreTile], rows: int) -> bool:
    """Whether the largest number that a float mask adds in a row is near 0, or −∞, in all rows. Asked on a CPU only."""
    largest = torch.full((rows, 1), -torch.inf)
    for part in parts:
        if part.added.device.type != "cpu":
            return False
        largest = largest.to(part.added.dtype)
        largest[part.rows] = torch.maximum(largest[part.rows], part.added.amax(1, keepdim=True))
    return bool(largest.masked_fill(largest == -torch.inf, 0).abs().max() <= NEAR)
