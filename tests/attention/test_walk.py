"""Which tiles of scores are visited: none more than need be. That each pair is in one is seen by its numbers."""

import numpy as np

from sdpa_helpers.attention.layout import Rule, Tiles
from sdpa_helpers.attention.walk import tiles_for

N_Q, N_K = 23, 19
SMALL = Tiles(queries=8, keys=6, diagonal=4)
PADDING = np.broadcast_to(np.arange(N_K) < 7, (N_Q, N_K))


def visited(rule: Rule, like) -> list:
    blocks = range(0, N_Q, SMALL.queries)
    return [
        tile
        for first in blocks
        for tile in tiles_for(first, min(first + SMALL.queries, N_Q), like, rule, SMALL)
    ]


def test_what_nobody_sees_is_not_visited():
    assert visited(Rule(np.zeros((N_Q, N_K), bool)), np.zeros((N_K, 2))) == []
    assert {tile.right for tile in visited(Rule(PADDING), np.zeros((N_K, 2)))} == {6, 7}
    assert sum(
        (t.bottom - t.top) * (t.right - t.left) for t in visited(Rule(is_causal=True), np.zeros((N_K, 2)))
    ) < (0.7 * N_Q * N_K)


def test_a_tile_that_is_seen_in_full_has_no_mask():
    tiles = visited(Rule(np.ones((N_Q, N_K), bool)), np.zeros((N_K, 2)))
    assert tiles
    assert all(tile.seen is None for tile in tiles)
