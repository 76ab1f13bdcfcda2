"""Which tiles of scores are visited: every pair that is seen in exactly one, and none more than need be."""

import numpy as np
import pytest

from sdpa_helpers.attention.layout import Rule, Tiles
from sdpa_helpers.attention.walk import tiles_for

N_Q, N_K = 23, 19
SMALL = Tiles(queries=8, keys=6, diagonal=4)
rng = np.random.default_rng(5)
SPARSE = rng.random((N_Q, N_K)) < 0.05
PADDING = np.broadcast_to(np.arange(N_K) < 7, (N_Q, N_K))
RULES = {
    "all": (Rule(), np.ones((N_Q, N_K), bool)),
    "causal": (Rule(is_causal=True), np.tri(N_Q, N_K, dtype=bool)),
    "a mask": (Rule(SPARSE), SPARSE),
    "padding": (Rule(PADDING), PADDING),
    "padding, causal": (Rule(PADDING, is_causal=True), PADDING & np.tri(N_Q, N_K, dtype=bool)),
    "a window": (
        Rule(mask_mod=lambda i, j: abs(i - j) < 3),
        abs(np.arange(N_Q)[:, None] - np.arange(N_K)) < 3,
    ),
    "a mod of the keys alone": (Rule(mask_mod=lambda i, j: j < 7), PADDING),
    "a mod of the queries alone": (
        Rule(mask_mod=lambda i, j: i == 9),
        (np.arange(N_Q) == 9)[:, None] & PADDING.any(),
    ),
    "nothing": (Rule(np.zeros((N_Q, N_K), bool)), np.zeros((N_Q, N_K), bool)),
}


def visited(rule: Rule, like) -> list:
    blocks = range(0, N_Q, SMALL.queries)
    return [
        tile
        for first in blocks
        for tile in tiles_for(first, min(first + SMALL.queries, N_Q), like, rule, SMALL)
    ]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_every_pair_that_is_seen_is_in_one_tile(request, kind, name):
    rule, expected = RULES[name]
    expected = np.broadcast_to(expected, (N_Q, N_K))
    like = np.zeros((N_K, 2))
    if kind == "torch":
        torch = request.getfixturevalue("torch")
        like = torch.zeros(N_K, 2)
        if rule.mask is not None:
            same = rule.mask.strides[0] == 0  # a step of 0 stays one
            rows = rule.mask[:1] if same else rule.mask
            rule = rule._replace(mask=torch.tensor(rows).expand(N_Q, N_K))
    found, times = np.zeros((N_Q, N_K), bool), np.zeros((N_Q, N_K), int)
    for top, bottom, left, right, seen in visited(rule, like):
        times[top:bottom, left:right] += 1
        found[top:bottom, left:right] = True if seen is None else np.asarray(seen)
    np.testing.assert_array_equal(found, expected)
    assert times.max(initial=0) <= 1


def test_what_nobody_sees_is_not_visited():
    assert visited(RULES["nothing"][0], np.zeros((N_K, 2))) == []
    assert {tile.right for tile in visited(RULES["padding"][0], np.zeros((N_K, 2)))} == {6, 7}
    assert sum(
        (t.bottom - t.top) * (t.right - t.left) for t in visited(Rule(is_causal=True), np.zeros((N_K, 2)))
    ) < (0.7 * N_Q * N_K)


def test_a_tile_that_is_seen_in_full_has_no_mask():
    tiles = visited(Rule(np.ones((N_Q, N_K), bool)), np.zeros((N_K, 2)))
    assert tiles
    assert all(tile.seen is None for tile in tiles)
