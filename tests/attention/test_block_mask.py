"""Which blocks are absent, partial and full: as torch's own create_block_mask says, and as the walk uses it."""

import numpy as np
import pytest

from sdpa_helpers.attention import (
    BlockMask,
    and_masks,
    causal,
    create_block_mask,
    documents,
    known_backends,
    padding,
    prefix_lm,
    scaled_dot_product_attention,
    sliding_window,
)
from sdpa_helpers.attention.layout import Rule, Tiles
from sdpa_helpers.attention.variants.block_mask import ABSENT, FULL, PARTIAL, of_torchs
from sdpa_helpers.attention.walk import tiles_for

from .cases import make, to_float64, to_kind

B, H, N = 2, 3, 48
IDS = np.array([np.arange(N) // 8, np.arange(N) // 20])
MODS = {
    "causal": causal,
    "a window": sliding_window(9),
    "prefixes": prefix_lm([20, 3]),
    "documents": documents(IDS),
    "causal documents": and_masks(causal, documents(IDS)),
    "padding": padding([48, 17]),
    "by head": lambda b, h, i, j: j <= i - 8 * h,
}


@pytest.mark.parametrize("name", MODS)
def test_the_blocks_are_torchs(torch, name):
    from torch.nn.attention import flex_attention

    for block in (8, (16, 8)):
        theirs = flex_attention.create_block_mask(MODS[name], B, H, N, N, device="cpu", BLOCK_SIZE=block)
        for device in (None, "cpu"):
            ours = create_block_mask(MODS[name], B, H, N, N, device=device, BLOCK_SIZE=block)
            np.testing.assert_array_equal(ours.kinds, of_torchs(theirs).kinds)
        assert ours.shape == theirs.shape
        assert ours.sparsity() == pytest.approx(theirs.sparsity())


def test_blocks_at_the_edge_are_full_where_all_that_is_there_is_seen():
    blocks = create_block_mask(causal, None, None, 7, 5, BLOCK_SIZE=(3, 2))
    np.testing.assert_array_equal(
        blocks.kinds[0, 0], [[PARTIAL, PARTIAL, ABSENT], [FULL, FULL, PARTIAL], [FULL] * 3]
    )
    assert create_block_mask(causal, None, None, 0, 5).kinds.shape == (1, 1, 0, 1)


def test_only_one_row_of_blocks_is_asked_about_at_once():
    asked = []

    def mask_mod(b, h, i, j):
        asked.append(np.broadcast(b, h, i, j).size)
        return j <= i

    create_block_mask(mask_mod, None, None, 64, 64, BLOCK_SIZE=16)
    assert asked == [16 * 64] * 4


def test_it_prints_as_a_picture():
    text = str(create_block_mask(sliding_window(4), None, None, 16, 16, BLOCK_SIZE=4))
    assert text.splitlines()[1:] == ["▒□□□", "▒▒□□", "□▒▒□", "□□▒▒"]
    assert "9 absent □, 7 partial ▒, 0 full █; 56.2 % absent" in text
    coarse = create_block_mask(causal, None, None, 16, 16, BLOCK_SIZE=2).picture(widest=4)
    assert coarse.splitlines() == ["▒□□□", "█▒□□", "██▒□", "███▒"]


SMALL = Tiles(queries=10, keys=9, diagonal=4)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("name", MODS)
def test_the_walk_visits_what_is_seen_and_asks_about_no_absent_block(name, is_causal):
    """Tiles that are not of the size of the blocks."""
    asked = np.zeros((N, N), int)

    def counted(b, h, i, j):
        np.add.at(asked, np.broadcast_arrays(i, j), 1)
        return MODS[name](b, h, i, j)

    blocks = create_block_mask(counted, B, H, N, N, BLOCK_SIZE=8)
    whole = MODS[name](1, 2, np.arange(N)[:, None], np.arange(N)) & (np.tri(N) > 0 if is_causal else True)
    whole = np.broadcast_to(whole, (N, N))
    asked[:] = 0
    rule = Rule(is_causal=is_causal, mask_mod=blocks).at((1, 2), (B, H))
    found, times = np.zeros((N, N), bool), np.zeros((N, N), int)
    for first in range(0, N, SMALL.queries):
        last = min(first + SMALL.queries, N)
        for top, bottom, left, right, seen in tiles_for(first, last, np.zeros((N, 2)), rule, SMALL):
            assert first <= top < bottom <= last
            assert right - left <= SMALL.keys
            times[top:bottom, left:right] += 1
            found[top:bottom, left:right] = True if seen is None else seen
    np.testing.assert_array_equal(found, whole)
    assert times.max() == 1
    assert (asked <= np.kron(blocks.kinds[1, 2] != ABSENT, np.ones((8, 8)))).all()


def test_a_mask_is_asked_as_often_for_many_heads_as_for_one(backend):
    """Where it is the same for all; and in the next call again."""
    asked = []

    def mask_mod(b, h, i, j):
        asked.append(i)
        return MODS["a window"](b, h, i, j)

    kind = known_backends.BACKENDS[backend].kind
    arrays = [to_kind(x, kind, "float64") for x in make(B, H, n_q=N, n_k=N).arrays]
    blocks = create_block_mask(mask_mod, None, None, N, N, BLOCK_SIZE=8)
    counts = []
    for some in (arrays, arrays, [x[:1, :1] for x in arrays]):
        del asked[:]
        scaled_dot_product_attention(*some, backend=backend, mask_mod=blocks)
        counts.append(len(asked))
    assert counts == counts[:1] * 3


def test_what_the_mod_was_made_with_may_change_within_partial_blocks(backend):
    lengths = np.array([20])
    blocks = create_block_mask(padding(lengths), 1, None, N, N, BLOCK_SIZE=16)
    kind = known_backends.BACKENDS[backend].kind
    arrays = [to_kind(x, kind, "float64") for x in make(1, H, n_q=N, n_k=N).arrays]
    for length in (20, 24):
        lengths[0] = length
        output = scaled_dot_product_attention(*arrays, backend=backend, mask_mod=blocks)
        plain = scaled_dot_product_attention(*arrays, backend=backend, mask_mod=padding(length))
        np.testing.assert_allclose(output, plain, rtol=1e-10, atol=1e-12)


def test_a_call_with_blocks_is_the_call_with_their_mod(backend):
    """Ours, and torch's own; gradients too where the backend has them."""
    kind = known_backends.BACKENDS[backend].kind
    arrays = [to_kind(x, kind, "float64") for x in make(B, H, n_q=N, n_k=N).arrays]
    mod = MODS["causal documents"]
    masks = [mod, create_block_mask(mod, B, None, N, N, BLOCK_SIZE=8)]
    if kind == "torch":
        from torch.nn.attention import flex_attention

        arrays = [x.requires_grad_() for x in arrays]
        masks.append(flex_attention.create_block_mask(mod, B, None, N, N, device="cpu", BLOCK_SIZE=8))
    found = []
    for mask in masks:
        output = scaled_dot_product_attention(*arrays, backend=backend, mask_mod=mask)
        if kind == "torch":
            (output * output.detach()).sum().backward()
        found.append([to_float64(output), *(to_float64(x.grad) for x in arrays if kind == "torch")])
        for x in arrays if kind == "torch" else ():
            x.grad = None
    for one in found[1:]:
        for got, expected in zip(one, found[0], strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_kinds_hold_also_where_the_mod_says_otherwise(backend):
    """As with torch's BlockMask.from_kv_blocks, whose mask_mod lets all through."""
    kinds = np.array([[FULL, ABSENT], [PARTIAL, FULL]], np.int8)[None, None]
    mask = BlockMask(kinds, (6, 6), (4, 4), sliding_window(2))
    seen = np.zeros((6, 6), bool)
    seen[:4, :4] = seen[4:, 4:] = True
    seen[4, 3] = True
    kind = known_backends.BACKENDS[backend].kind
    arrays = [to_kind(x, kind, "float64") for x in make(2, n_q=6, n_k=6).arrays]
    np.testing.assert_allclose(
        scaled_dot_product_attention(*arrays, backend=backend, mask_mod=mask),
        scaled_dot_product_attention(*arrays, to_kind(seen, kind, "float64")),
        rtol=1e-10,
    )


def test_what_is_refused():
    arrays = make(2, 3, n_q=16, n_k=16).arrays
    made = {
        "made for (n_q, n_k) = (8, 16), but here they are (16, 16)": create_block_mask(
            causal, None, None, 8, 16
        ),
        "made for B = 4 and H = 1, but here they are 2 and 3": create_block_mask(causal, 4, None, 16, 16),
    }
    for message, mask in made.items():
        with pytest.raises(ValueError, match=r"BlockMask") as caught:
            scaled_dot_product_attention(*arrays, mask_mod=mask)
        assert message in str(caught.value)
    with pytest.raises(TypeError, match="gave int64"):
        create_block_mask(lambda b, h, i, j: i - j, None, None, 4, 4)
    with pytest.raises(ValueError, match="at least 1"):
        create_block_mask(causal, None, None, 4, 4, BLOCK_SIZE=0)
    refused = [
        (TypeError, r"array of shape \(4, 4\): pass it as attn_mask", (np.tri(4), None, None, 4, 4)),
        (ValueError, "cannot use if", (lambda b, h, i, j: j if i > 2 else i, None, None, 4, 4)),
        (TypeError, r"must be a function of \(b, h, i, j\)", (lambda i, j: j <= i, None, None, 4, 4)),
        (ValueError, r"table\[i, j\]", (lambda b, h, i, j: np.tri(9) > 0, None, None, 9, 9, None, 4)),
        (TypeError, "all must be integers", (causal, None, None, 4.0, 4)),
        (ValueError, "made for 2 sequences, but here are 1", (padding([3, 4]), None, None, 4, 4)),
        (IndexError, "h = 2 in an array of length 2", (lambda b, h, i, j: IDS[h, i] == j, 1, 3, 4, 4)),
    ]
    for error, message, given in refused:
        with pytest.raises(error, match=message):
            create_block_mask(*given)
    assert create_block_mask(causal, None, None, 8, 8, BLOCK_SIZE=[4, 4]).BLOCK_SIZE == (4, 4)
