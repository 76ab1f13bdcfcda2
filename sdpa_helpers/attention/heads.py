"""Leading dimensions: which matrices of query, key and value belong together.

The tiled backends know only matrices: one head of one sequence at a time. This file walks through them. Nothing
is copied for broadcasting or for grouped heads: several heads of the answer look at the same matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape = tuple[int, ...]


def leading_shape(query: Any, key: Any, value: Any, enable_gqa: bool) -> Shape:
    """The leading dimensions of the answer."""
    heads = query.shape[-3:-2]  # with grouped heads, those of the query
    others = [(*x.shape[:-3], *heads) if enable_gqa else x.shape[:-2] for x in (key, value)]
    return np.broadcast_shapes(tuple(query.shape[:-2]), *map(tuple, others))


def heads_of(lead: Shape) -> Iterator[Shape]:
    """The index of every head of the answer, e.g. (batch, head)."""
    return np.ndindex(*lead)


def matrix_at(index: Shape, lead: Shape, array: Any) -> Any:
    """The matrix of `array` that serves the head at this index of the answer: a view.

    Of 8 heads that share 2, head 5 is served by head 5 · 2 // 8 = 1. Broadcasting is the same rule: a dimension
    of size 1 is shared by all, i · 1 // size = 0, and a full one by none, i · size // size = i.
    """
    own = array.shape[:-2]
    absent = len(lead) - len(own)
    places = zip(index[absent:], own, lead[absent:], strict=True)
    return array[tuple(i * has // size for i, has, size in places)]


def full_rows(mask: Any, n_q: int, n_k: int) -> Any:
    """A mask as (..., n_q, n_k), whatever it broadcasts from: a view."""
    shape = (*mask.shape[:-2], n_q, n_k)
    return np.broadcast_to(mask, shape) if isinstance(mask, np.ndarray) else mask.expand(shape)
