"""How the compiled backend cuts a call into pieces: which heads go together, and which tiles are left out.

That its numbers are right is tested with all backends' (test_conformance.py, test_backward.py, test_mods.py).
"""

import numpy as np
import pytest

from sdpa_helpers.attention import threads
from sdpa_helpers.attention.layout import Head, Rule, Tiles, Wants

from .cases import Case, make
from .test_backward import CASES, computed, expected


@pytest.fixture(scope="module")
def numba_tiled(needs):
    needs("numba")
    needs("scipy")
    from sdpa_helpers.attention import numba_tiled

    return numba_tiled


@pytest.fixture
def many_pieces(numba_tiled, monkeypatch, blas):
    """As with a large call: pieces of one head or one block, done by three threads."""
    monkeypatch.setattr(numba_tiled, "BACKWARD_TILES", Tiles(queries=3, keys=2, diagonal=2))
    monkeypatch.setattr(numba_tiled, "TILES", Tiles(queries=3, keys=2, diagonal=2))
    monkeypatch.setattr(numba_tiled, "LEAST_COST", 1)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)
    return numba_tiled


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_shared_heads_do_not_race(many_pieces, torch, name):
    """Blocks of queries, and heads that share a key, in three threads: right, and the same bits each time."""
    case = CASES[name]
    lead = (3, 2) if name == "broadcasting" else case.query.shape[:-2]
    shape = (*lead, case.query.shape[-2], case.value.shape[-1])
    grad_output = np.random.default_rng(5).standard_normal(shape)
    first = computed(many_pieces, case, grad_output)
    for ours, theirs in zip(first, expected(torch, case, grad_output), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    for _ in range(3):
        for ours, again in zip(first, computed(many_pieces, case, grad_output), strict=True):
            np.testing.assert_array_equal(ours, again)


def test_pieces_do_not_change_the_output(numba_tiled, monkeypatch, blas):
    """One thread or three, one piece or many: the same bits."""
    case = make(2, 3, n_q=9, n_k=7, is_causal=True)
    arrays, rule = Head(*(x.astype(np.float32) for x in case.arrays)), Rule(None, True, 0.5)
    whole = numba_tiled.attention(arrays, rule, Wants()).output
    monkeypatch.setattr(numba_tiled, "LEAST_COST", 1)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)
    np.testing.assert_array_equal(numba_tiled.attention(arrays, rule, Wants()).output, whole)


@pytest.mark.parametrize(
    ("lead", "shapes", "groups"),
    [
        ((2, 2), [(2, 2), (2, 2), (2, 2)], [[0], [1], [2], [3]]),
        ((4,), [(4,), (2,), (4,)], [[0, 1], [2, 3]]),  # grouped heads
        ((12,), [(12,), (4,), (3,)], [[*range(12)]]),  # 2 shares a key with 0, and a value with 3
        ((2, 2), [(2, 1), (2, 2), (2, 2)], [[0, 1], [2, 3]]),  # one query for two heads
    ],
)
def test_heads_with_a_matrix_in_common_are_one_group(numba_tiled, lead, shapes, groups):
    serves = [numba_tiled.matrix_numbers(np.empty((*shape, 1, 1)), lead) for shape in shapes]
    found = numba_tiled.groups_of_heads(np.stack(serves, axis=1))
    assert [group.tolist() for group in found] == groups


def test_keys_that_are_padding_are_left_out(numba_tiled):
    """90 % of them: of 1024 · 1024 scores a tenth is computed, without a mask."""
    arrays = Head(*(np.zeros((2, 1024, 4), np.float32) for _ in "qkv"))
    padding = np.broadcast_to(np.arange(1024) < 102, (2, 1, 1024))
    call = numba_tiled.described(arrays, Rule(padding), False, numba_tiled.TILES)
    tiles = numba_tiled.task_of(call, np.array([0]), 512).tiles
    assert tiles.tolist() == [[0, 512, 0, 102, 0, 0]]


def test_heads_of_one_mask_share_their_tiles(numba_tiled):
    """A mask for each sequence: its heads have the same number; with a mask_mod all differ."""
    arrays = Head(*(np.zeros((2, 3, 5, 4)) for _ in "qkv"))
    mask = np.ones((2, 1, 1, 5), bool)
    rules = [
        numba_tiled.described(arrays, rule, False, numba_tiled.TILES).rules.tolist()
        for rule in (Rule(), Rule(mask), Rule(mask, mask_mod=lambda b, h, i, j: j <= i))
    ]
    assert rules == [[0] * 6, [0, 0, 0, 1, 1, 1], [*range(6)]]


def test_a_padded_key_that_is_large_does_not_matter(numba_tiled):
    """Scores are small, or not, for the keys of a head, hidden or not: the answer is the same."""
    case = make(n_q=4, n_k=6)
    case.key[5] = 1e6
    mask = np.arange(6) < 5
    rule = Rule(mask[None], False, 0.5)
    output = numba_tiled.attention(Head(*case.arrays), rule, Wants()).output
    alone = Case(case.query, case.key[:5], case.value[:5])
    np.testing.assert_allclose(
        output, numba_tiled.attention(Head(*alone.arrays), Rule(None, False, 0.5), Wants()).output, rtol=1e-12
    )
