"""Lesson 07's exercises: references against PyTorch, two mistakes at once, and first drafts as learners write them."""

import numpy as np
import pytest
import torch

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find

RNG = np.random.default_rng(7)


def reference(name):
    return find(name).reference


def drafts_told(name, function):
    return {mistake.name for mistake in try_out(find(name), function).mistakes}


def pair(name, *wanted):
    """An answer with just these two mistakes."""
    return next(d.function for d in find(name).mistakes.deviants(2) if {*d.names} == {*wanted})


# ---- references ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("block_q", "block_k"), [(1, 1), (3, 2), (2, 5), (7, 7), (50, 50)])
@pytest.mark.parametrize("is_causal", [False, True])
def test_tiles_make_what_torch_makes(block_q, block_k, is_causal):
    Q, K, V = (RNG.normal(size=(2, 3, *shape)) for shape in ((11, 4), (13, 4), (13, 5)))
    ours = reference("tiled_attention")(Q, K, V, block_q, block_k, is_causal)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (Q, K, V)), is_causal=is_causal
    )
    assert np.allclose(ours, theirs.numpy(), atol=1e-12)


@pytest.mark.parametrize("block", [1, 4, 20])
def test_the_way_back_in_blocks_is_what_autograd_finds(block):
    Q, K, V, dO = (RNG.normal(size=(2, 3, *shape)) for shape in ((11, 4), (13, 4), (13, 5), (11, 5)))
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in (Q, K, V))
    scores = q @ k.mT / 2
    output = scores.softmax(-1) @ v
    output.backward(torch.from_numpy(dO))
    lse = scores.logsumexp(-1).detach().numpy()
    ours = reference("tiled_backward")(Q, K, V, output.detach().numpy(), lse, dO, block)
    for mine, theirs in zip(ours, (q.grad, k.grad, v.grad), strict=True):
        assert np.allclose(mine, theirs.numpy(), atol=1e-12)


def test_softmax_in_blocks_is_softmax_and_its_parts_merge_in_any_order():
    scores, V = 3 * RNG.normal(size=(4, 12)), RNG.normal(size=(12, 5))
    whole = torch.softmax(torch.from_numpy(scores), -1).numpy()
    largest, total = reference("online_softmax")(scores, 5)
    assert np.allclose(np.exp(scores - largest[:, None]) / total[:, None], whole, atol=1e-14)
    parts = []
    for keys in (slice(0, 2), slice(2, 7), slice(7, 12)):
        s = torch.from_numpy(scores[:, keys])
        parts.append((torch.softmax(s, -1).numpy() @ V[keys], torch.logsumexp(s, -1).numpy()))
    merge = reference("merge")
    for i, j, k in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        out, lse = merge(*merge(*parts[i], *parts[j]), *parts[k])
        assert np.allclose(out, whole @ V, atol=1e-13)
        assert np.allclose(lse, torch.logsumexp(torch.from_numpy(scores), -1).numpy(), atol=1e-13)


@pytest.mark.parametrize("sizes", [(9, 9, 3, 3), (10, 13, 4, 3), (13, 6, 2, 5), (1, 7, 2, 2)])
def test_tiles_are_counted_as_they_lie_on_the_mask(sizes):
    n_q, n_k, block_q, block_k = sizes
    mask = np.tri(n_q, n_k, dtype=bool)
    tiles = [
        mask[i : i + block_q, j : j + block_k] for i in range(0, n_q, block_q) for j in range(0, n_k, block_k)
    ]
    whole, nothing = sum(bool(t.all()) for t in tiles), sum(not t.any() for t in tiles)
    assert reference("tiles_to_visit")(*sizes, True) == (whole, len(tiles) - whole - nothing, nothing)
    assert reference("tiles_to_visit")(*sizes, False) == (len(tiles), 0, 0)


# ---- mistakes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "two"),
    [
        ("online_softmax", ("sum-not-rescaled", "minus-infinity-minus-minus-infinity")),
        ("online_softmax", ("sum-not-rescaled", "last-block-dropped")),
        ("merge", ("output-not-divided", "minus-infinity-minus-minus-infinity")),
        ("merge", ("plain-average", "lse-is-the-larger")),
        ("tiles_to_visit", ("last-tiles-left-out", "by-tile-numbers")),
        ("tiled_attention", ("no-scaling", "nothing-rescaled")),
        ("tiled_attention", ("scaled-by-d-v", "is-causal-ignored")),
        ("tiled_attention", ("sum-not-rescaled", "last-queries-left-zero")),
    ],
)
def test_a_first_draft_is_told_both_mistakes(name, two):
    assert drafts_told(name, pair(name, *two)) == set(two)


def _strips(Q, K, V, block_q, block_k, is_causal=False):
    """Some queries against all keys: right, and a row of tiles too much."""
    parts = []
    for i in range(0, Q.shape[-2], block_q):
        s = Q[..., i : i + block_q, :] @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
        if is_causal:
            s = np.where(np.tri(*s.shape[-2:], k=i, dtype=bool), s, -np.inf)
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        parts.append(e / e.sum(axis=-1, keepdims=True) @ V)
    return np.concatenate(parts, axis=-2)


def test_a_row_of_tiles_is_too_much_memory_and_every_number_of_it_is_right():
    result = try_out(find("tiled_attention"), _strips)
    assert [c.verdict.case for c in result.cases if not c.verdict.passed] == ["420 queries, 500 keys"]
    assert [m.name for m in result.mistakes] == ["too-much-memory"]


def test_the_row_that_hides_a_bug_has_to_lie_low():
    """The prompt's three kernels are those that judge: a row may be right for two, and shown to be wrong in reverse."""
    row = find("row_that_hides_a_bug").reference()
    exercise = find("row_that_hides_a_bug")
    assert try_out(exercise, lambda: row).passed
    higher = try_out(exercise, lambda: row + 900)
    assert [c.verdict.case for c in higher.cases if not c.verdict.passed] == ["starts_at_zero is wrong"]
    assert try_out(exercise, lambda: row[::-1].copy()).points == exercise.cases[0].points
