"""Lesson 07: tiled attention whose parts can be wrong, one by one or two at once."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sdpa_helpers.checking.products import Factor, Option, Products


def turned(x: np.ndarray) -> np.ndarray:
    """The last two axes exchanged."""
    return np.swapaxes(x, -1, -2)


def _reshaped(k):
    return k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])


def attend(Q, K, V, is_causal=False, *, seen=None, scores=None, axis=-1):
    """Attention all at once, with what is usually done wrong about it at hand."""
    scores = Q @ turned(K) / np.sqrt(Q.shape[-1]) if scores is None else scores
    if is_causal:
        seen = np.tri(*scores.shape[-2:], dtype=bool)
    scores = scores if seen is None else np.where(seen, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True) @ V


def parts_of_keys(Q, K, V, block_k, is_causal) -> list[np.ndarray]:
    """Each block of keys with a softmax of its own; zeros for a query that sees none of it."""
    parts = []
    for left in range(0, K.shape[-2], block_k):
        scores = Q @ turned(K[..., left : left + block_k, :]) / np.sqrt(Q.shape[-1])
        if is_causal:
            scores = np.where(np.tri(*scores.shape[-2:], k=-left, dtype=bool), scores, -np.inf)
        largest = scores.max(axis=-1, keepdims=True)
        e = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
        total = e.sum(axis=-1, keepdims=True)
        parts.append(e / np.where(total == 0, 1.0, total) @ V[..., left : left + block_k, :])
    return parts


class Place(NamedTuple):
    """Where a tile lies, for its mask."""

    i: np.ndarray
    """The queries, counted from the tile's first: a column."""
    j: np.ndarray
    """The keys, counted from the tile's first."""
    top: int
    """The number of its first query."""
    left: int
    """The number of its first key."""
    block_q: int
    more: int
    """By how many there are more keys than queries, in all."""


def _running(before, scores):
    return np.maximum(before, scores.max(axis=-1, keepdims=True))


def _added(so_far, shrink, new):
    return so_far * shrink + new


def _grown(so_far, shrink, new):
    """Multiplied by exp(new − old); the first tile, where nothing is summed up yet, left alone."""
    return np.where(shrink == 0, 0.0, so_far / shrink) + new


def _kept(so_far, shrink, new):
    return so_far + new


def _replaced(so_far, shrink, new):
    return new


def _all_blocks(n_k, block_k, top, block_q, is_causal):
    return range(0, n_k, block_k)


def _none_after_the_first_query(n_k, block_k, top, block_q, is_causal):
    return range(0, min(n_k, top + 1) if is_causal else n_k, block_k)


def _before_the_first_query(n_k, block_k, top, block_q, is_causal):
    return range(0, min(n_k, top) if is_causal else n_k, block_k)


def _after_as_many_as_keys(least):
    """Ends where the block of queries would end if it were as long as one of keys, or a key later."""

    def blocks(n_k, block_k, top, block_q, is_causal):
        return range(0, min(n_k, top + block_k + least) if is_causal else n_k, block_k)

    return blocks


def _no_mask(where: Callable) -> Callable:
    """A mask that is left out of some tiles."""
    return lambda at: (at.left + at.j <= at.top + at.i) | where(at)


def _build(match, scale, start, maximum, carried, seen, hidden, keys, queries, divided) -> Callable:
    """An attention in tiles whose parts can be wrong. carried: how the sum goes from tile to tile, and the output."""
    carry_sum, carry_output = carried

    def tiled(Q, K, V, block_q, block_k, is_causal=False):
        n_q, n_k = Q.shape[-2], K.shape[-2]
        out = np.zeros((*Q.shape[:-1], V.shape[-1]))
        for top in queries(n_q, block_q):
            q = Q[..., top : top + block_q, :]
            largest = np.full((*q.shape[:-1], 1), start)
            summed, weighed = np.zeros(largest.shape), np.zeros((*q.shape[:-1], V.shape[-1]))
            for left in keys(n_k, block_k, top, block_q, is_causal):
                k, before = K[..., left : left + block_k, :], largest
                scores = match(q, k, scale(k, V))
                if is_causal:
                    i, j = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])
                    place = Place(i, j, top, left, block_q, n_k - n_q)
                    scores = np.where(seen(place), scores, hidden)
                largest = maximum(before, scores)
                shrink, e = np.exp(before - largest), np.exp(scores - largest)
                summed = carry_sum(summed, shrink, e.sum(axis=-1, keepdims=True))
                weighed = carry_output(weighed, shrink, e @ V[..., left : left + block_k, :])
            out[..., top : top + block_q, :] = weighed / summed if divided else weighed
        return out

    return tiled


def _also_skipping(name: str, seen: Callable) -> tuple[Option, Option]:
    """A wrong mask, in a kernel that visits every tile and in one that skips those no query should see."""
    return Option(name, seen), Option(name, lambda at: seen(at) & (at.left < at.top + at.block_q), rare=True)


MISTAKES = Products(
    (
        Factor(
            "match",
            lambda q, k, scale: q @ turned(k) * scale,
            (
                Option("scores-clipped", lambda q, k, scale: np.clip(q @ turned(k) * scale, -50, 50)),
                Option("reshaped-not-transposed", lambda q, k, scale: q @ _reshaped(k) * scale),
                Option("all-axes-transposed", lambda q, k, scale: q @ k.T * scale, rare=True),
            ),
        ),
        Factor(
            "scale",
            lambda k, V: k.shape[-1] ** -0.5,
            (
                Option("no-scaling", lambda k, V: 1.0),
                Option("scaled-by-d-k", lambda k, V: 1 / k.shape[-1]),
                Option("multiplied-by-root-d-k", lambda k, V: k.shape[-1] ** 0.5),
                Option("scaled-by-d-v", lambda k, V: V.shape[-1] ** -0.5),
                Option("scaled-by-block", lambda k, V: k.shape[-2] ** -0.5),
            ),
        ),
        Factor("start", -np.inf, (Option("maximum-started-at-zero", 0.0),)),
        Factor(
            "maximum",
            _running,
            (
                Option("no-maximum-subtracted", lambda before, scores: np.zeros(before.shape)),
                Option("one-maximum-per-tile", lambda before, scores: np.maximum(before, scores.max())),
                Option(
                    "maximum-of-this-tile-only",
                    lambda before, scores: scores.max(axis=-1, keepdims=True),
                ),
            ),
        ),
        Factor(
            "carried",
            (_added, _added),
            (
                Option("sum-not-rescaled", (_kept, _added)),
                Option("output-not-rescaled", (_added, _kept)),
                Option("nothing-rescaled", (_kept, _kept)),
                Option("sum-rescaled-the-wrong-way", (_grown, _added)),
                Option("output-rescaled-the-wrong-way", (_added, _grown)),
                Option("rescaled-the-wrong-way", (_grown, _grown)),
                Option("sum-of-the-last-tile-only", (_replaced, _added)),
                Option("output-of-the-last-tile-only", (_added, _replaced)),
                Option("last-tile-of-keys-only", (_replaced, _replaced)),
            ),
        ),
        Factor(
            "seen",
            lambda at: at.left + at.j <= at.top + at.i,
            (
                Option("is-causal-ignored", lambda at: (at.i >= 0) & (at.j >= 0)),
                *_also_skipping("mask-forgets-the-tile", lambda at: at.j <= at.i),
                *_also_skipping("query-offset-forgotten", lambda at: at.left + at.j <= at.i),
                *_also_skipping("key-offset-forgotten", lambda at: at.j <= at.top + at.i),
                *_also_skipping("own-key-hidden", lambda at: at.left + at.j < at.top + at.i),
                *_also_skipping("one-key-too-many", lambda at: at.left + at.j <= at.top + at.i + 1),
                *_also_skipping("no-mask-in-the-tile", lambda at: (at.i >= 0) & (at.j >= 0))[1:],
                Option("mask-left-out-too-early", _no_mask(lambda at: at.left < at.top)),
                Option(
                    "mask-left-out-too-early", _no_mask(lambda at: at.left + at.block_q <= at.top), rare=True
                ),
                Option("mask-inverted", lambda at: at.left + at.j >= at.top + at.i),
                Option("aligned-lower-right", lambda at: at.left + at.j <= at.top + at.i + at.more),
            ),
        ),
        Factor("hidden", -np.inf, (Option("hidden-scores-zero", 0.0),)),
        Factor(
            "keys",
            _all_blocks,
            (
                Option(
                    "last-keys-dropped",
                    lambda n_k, block_k, top, block_q, is_causal: range(0, n_k // block_k * block_k, block_k),
                ),
                Option("tile-on-the-diagonal-skipped", _none_after_the_first_query),
                Option("tiles-before-the-diagonal-only", _before_the_first_query),
                Option("queries-counted-by-block-k", _after_as_many_as_keys(0)),
                Option("queries-counted-by-block-k", _after_as_many_as_keys(1), rare=True),
            ),
        ),
        Factor(
            "queries",
            lambda n_q, block_q: range(0, n_q, block_q),
            (
                Option(
                    "last-queries-left-zero",
                    lambda n_q, block_q: range(0, n_q // block_q * block_q, block_q),
                ),
            ),
        ),
        Factor("divided", True, (Option("not-divided", False),)),
    ),
    _build,
)


def option(name: str) -> Callable:
    """The answer that deviates in this one option."""
    return next(d.function for d in MISTAKES.deviants(1) if d.names == (name,))
