"""The Triton programs in Triton's interpreter. Not collected by itself: test_triton.py runs it with TRITON_INTERPRET=1.

Tiles are small here, so that short sequences have several, with edges everywhere.
"""

from itertools import product

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention.variants import mods
from tests.nightly import at_night

from .cases import Case, make, to_float64, to_kind

programs = pytest.importorskip("sdpa_helpers.attention.triton.programs")
torch = pytest.importorskip("torch")

# Those of the lists' grid are 16 × 16: each program has tiles of its own that are made of these.
TILES = {
    "forward": programs.Block(16, 32, 4, 1),
    "query_gradient": programs.Block(32, 16, 4, 1),
    "key_gradients": programs.Block(16, 32, 4, 1),
}
TOLERANCE = {"float32": 2e-6, "float16": 2**-9, "bfloat16": 2**-6}  # of the largest number of the answer


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(programs, "block_for", lambda program, arrays: TILES[program])


def output_and_gradients(case: Case, dtype: str, backend: str, grad_output, **given) -> list[np.ndarray]:
    leaves = [to_kind(x, "torch", dtype).requires_grad_() for x in case.arrays]
    mask = None if case.attn_mask is None else torch.tensor(case.attn_mask)
    chosen = sdpa.explain_backend(*leaves, mask, **case.options, backend=backend, **given)
    assert chosen.backend == backend, chosen
    output = sdpa.scaled_dot_product_attention(*leaves, mask, **case.options, backend=backend, **given)
    gradients = torch.autograd.grad(output, leaves, torch.tensor(grad_output, dtype=output.dtype))
    assert {x.dtype for x in (output, *gradients)} == {leaves[0].dtype}
    return [to_float64(x) for x in (output, *gradients)]


def assert_right(case: Case, dtype: str, strain: float = 1, **given) -> list[np.ndarray]:
    """Equal to the formula in float64, of the numbers as that dtype holds them.

    strain: how many times as large errors of rounding become, e.g. in scores that are multiplied by that much.
    """
    arrays = [to_float64(to_kind(x, "torch", dtype)) for x in case.arrays]
    exact = Case(*arrays, case.attn_mask, **case.options)
    lead = np.broadcast_shapes(*(x.shape[:-3] for x in arrays)) + (case.query.shape[-3:-2])
    shape = (*lead, case.query.shape[-2], case.value.shape[-1])
    grad_output = to_float64(to_kind(np.random.default_rng(1).standard_normal(shape), "torch", dtype))
    computed = output_and_gradients(case, dtype, "triton", grad_output, **given)
    expected = output_and_gradients(exact, "float64", "torch", grad_output, **given)
    for ours, theirs, name in zip(computed, expected, ("output", "dQ", "dK", "dV"), strict=True):
        largest = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(
            ours, theirs, rtol=0, atol=TOLERANCE[dtype] * strain * largest, err_msg=name
        )
    return computed


MASKS = {
    "none": lambda n_q, n_k: None,
    "padding": lambda n_q, n_k: sdpa.padding_mask([n_k - 1, 0], n_k)[:, None, None, :],
    "boolean": lambda n_q, n_k: np.random.default_rng(2).random((2, 1, n_q, n_k)) < 0.5,
}
ALL_MASKS = list(product(MASKS, [False, True]))
LENGTHS = [at_night(1, 1), (33, 31), at_night(20, 64)]


@pytest.mark.parametrize(("mask", "is_causal"), ALL_MASKS)
@pytest.mark.parametrize(("n_q", "n_k"), LENGTHS)
def test_lengths_around_the_edges_of_tiles(n_q, n_k, mask, is_causal):
    case = make(2, 1, n_q=n_q, n_k=n_k, d_k=16, d_v=16, attn_mask=MASKS[mask](n_q, n_k), is_causal=is_causal)
    assert_right(case, "float32")


@pytest.mark.parametrize(("mask", "is_causal"), [("none", True), ("boolean", False)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype, mask, is_causal):
    case = make(2, 1, n_q=20, n_k=37, d_k=64, d_v=64, attn_mask=MASKS[mask](20, 37), is_causal=is_causal)
    assert_right(case, dtype)


@pytest.mark.parametrize(
    ("d_k", "d_v", "dtype"), [(1, 1, "float16"), (5, 3, "float32"), (24, 16, "float16"), (130, 40, "float16")]
)
def test_sizes_of_heads(d_k, d_v, dtype):
    """Odd ones get columns of zeros, and their gradients none of them."""
    assert_right(make(1, 2, n_q=17, n_k=18, d_k=d_k, d_v=d_v, is_causal=True), dtype)


@pytest.mark.parametrize("heads", [at_night((2, 2)), at_night((1, 1)), (4, 2), (1, 4)])
def test_grouped_heads(heads):
    rng = np.random.default_rng(3)
    shapes = [(1, 4, 10, 16), (1, heads[0], 35, 16), (1, heads[1], 35, 8)]
    arrays = [rng.standard_normal(shape) for shape in shapes]
    mask = rng.random((1, 4, 10, 35)) < 0.6
    assert_right(Case(*arrays, enable_gqa=True, is_causal=True), "float32")
    assert_right(Case(*arrays, mask, enable_gqa=True), "float32")


@pytest.mark.parametrize("enough", [at_night(0), 4, at_night(10**6)])
def test_parts_of_a_group(enough, monkeypatch):
    """One program for all four heads of a group, two each, one each: the same sum, and the same bits again."""
    monkeypatch.setattr(programs, "ENOUGH_PROGRAMS", enough)
    rng = np.random.default_rng(6)
    arrays = [rng.standard_normal((1, heads, n, 16)) for heads, n in ((4, 20), (1, 35), (1, 35))]
    case = Case(*arrays, rng.random((1, 4, 20, 35)) < 0.5, enable_gqa=True, is_causal=True)
    first, again = (assert_right(case, "float16") for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_how_many_parts():
    """As few as make enough programs, a divisor of the group; else one head each."""
    enough = programs.ENOUGH_PROGRAMS
    assert programs.parts_of_group(1, 5) == 1
    assert programs.parts_of_group(12, enough) == 1
    assert programs.parts_of_group(12, enough // 4) == 4
    assert programs.parts_of_group(12, enough // 5) == 6
    assert programs.parts_of_group(12, 1) == 12


def test_tiles_that_a_mask_hides_are_not_visited():
    """A window: what is further off is NaN, in whole tiles, and comes through nowhere."""
    n, width = 96, 8
    i, j = np.arange(n)[:, None], np.arange(n)
    case = make(1, 1, n_q=n, n_k=n, d_k=16, d_v=16, attn_mask=abs(i - j) < width)
    assert_right(case, "float32")
    case.query[:, :, 64:], case.key[:, :, 64:], case.value[:, :, 64:] = np.nan, np.nan, np.nan
    computed = output_and_gradients(case, "float32", "triton", np.ones((1, 1, n, 16)))
    for x in computed:
        assert np.isfinite(x[:, :, :32]).all()
        assert np.isnan(x[:, :, 72:]).all()


@pytest.mark.parametrize("mask", MASKS)
def test_without_a_copy_engine(mask, monkeypatch):
    """As GPUs before the H100 fetch blocks: odd sizes of heads, ends everywhere, steps that are no plain ones."""
    monkeypatch.setattr(programs, "INTERPRETED_AS", 80)
    case = make(2, 1, n_q=35, n_k=37, d_k=24, d_v=40, attn_mask=MASKS[mask](35, 37), is_causal=True)
    assert_right(case, "float32")


def test_broadcast_leading_dimensions():
    rng = np.random.default_rng(4)
    arrays = [rng.standard_normal(shape) for shape in [(2, 1, 2, 5, 16), (3, 1, 6, 16), (1, 2, 6, 16)]]
    assert_right(Case(*arrays), "float32")


@pytest.mark.parametrize("scale", [0.3, 0.0, -1.5, 40.0])
def test_scales(scale):
    """Of either sign, and so large that a row is one weight of 1."""
    case = make(1, 2, n_q=20, n_k=33, d_k=16, d_v=16, scale=scale, is_causal=True)
    assert_right(case, "float32", strain=100 if scale == 40.0 else 1)


def test_rows_that_see_nothing():
    """Their output and their gradients are exactly 0, and nothing is NaN."""
    mask = np.random.default_rng(5).random((2, 1, 40, 37)) < 0.5
    mask[0, 0, [0, 17, 39]], mask[1] = False, False
    case = make(2, 2, n_q=40, n_k=37, d_k=16, d_v=16, attn_mask=mask)
    output, d_query, d_key, d_value = assert_right(case, "float32")
    for x in (output, d_query):
        assert not x[0, :, [0, 17, 39]].any()
        assert not x[1].any()
    assert not d_key[1].any()
    assert not d_value[1].any()


def test_largest_score_first_last_and_far_apart():
    case = make(1, 1, n_q=20, n_k=70, d_k=16, d_v=16, scale=1.0)
    case.key[..., 3, :] *= 20
    case.key[..., 69, :] *= 40
    case.query[..., 5, :] = 0
    assert_right(case, "float32", strain=40)


MODS = {
    "of sequences and heads": (lambda b, h, i, j: (i + j + b) % (h + 2) > 0, True),
    "of keys": (lambda b, h, i, j: j < 21, False),
    "documents": (mods.documents(np.arange(40) // 16), False),
}


@pytest.mark.parametrize("mod", ["of sequences and heads", *map(at_night, list(MODS)[1:])])
def test_mask_mod(mod):
    """Alone, or with a mask and causality beside it."""
    mask_mod, beside = MODS[mod]
    mask = np.random.default_rng(7).random((2, 1, 40, 37)) < 0.8 if beside else None
    case = make(2, 2, n_q=40, n_k=37, d_k=16, d_v=16, attn_mask=mask, is_causal=beside)
    assert_right(case, "float32", mask_mod=mask_mod)


def test_lse_and_its_gradient():
    """Natural, float32 at least, −∞ for a row that sees nothing, which passes no gradient on."""
    mask = np.random.default_rng(8).random((2, 2, 20, 37)) < 0.5
    mask[0, :, 3] = False
    case = make(2, 2, n_q=20, n_k=37, d_k=16, d_v=16, attn_mask=mask)
    grad_lse = torch.randn(2, 2, 20, generator=torch.Generator().manual_seed(0)).double()
    found = {}
    for backend, dtype in (("triton", "float32"), ("torch", "float64")):
        leaves = [to_kind(x, "torch", dtype).requires_grad_() for x in case.arrays]
        output, lse = sdpa.scaled_dot_product_attention(
            *leaves, torch.tensor(mask), backend=backend, return_lse=True
        )
        assert torch.isneginf(lse[0, :, 3]).all()
        weighted = (lse.masked_fill(lse == -torch.inf, 0) * grad_lse).sum()
        gradients = torch.autograd.grad(weighted + output.square().sum(), leaves, create_graph=True)
        only_lse = torch.autograd.grad(weighted, leaves[0], retain_graph=True)
        second = torch.autograd.grad(gradients[0].square().sum(), leaves)
        found[backend] = [to_float64(x) for x in (lse, *gradients, *only_lse, *second)]
    for ours, theirs in zip(found["triton"], found["torch"], strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_memory_that_the_copy_engine_cannot_read_as_it_lies():
    """Transposed, every second row, beginning in the middle of 16 bytes, and one row for all."""
    wide = torch.randn(2, 41, 2, 19, dtype=torch.float32)
    query = wide.permute(0, 2, 1, 3)[..., 1:17]
    key = wide[:, ::2].permute(0, 2, 1, 3)[..., 3:].mT.contiguous().mT
    value = torch.randn(16).expand(2, 2, 21, 16)
    arrays = [x.double().numpy() for x in (query, key, value)]
    output = sdpa.scaled_dot_product_attention(query, key[..., :16], value, backend="triton")
    expected = sdpa.scaled_dot_product_attention(arrays[0], arrays[1][..., :16], arrays[2], backend="numpy")
    np.testing.assert_allclose(to_float64(output), expected, atol=2e-6)


def test_second_derivative_by_the_formula():
    """Triton's programs have none; the first derivative is then made of the formula, which has."""
    case = make(1, 2, n_q=3, n_k=4, d_k=2, d_v=2)
    found = []
    for backend, dtype in (("triton", "float32"), ("torch", "float64")):
        leaves = [to_kind(x, "torch", dtype).requires_grad_() for x in case.arrays]
        output = sdpa.scaled_dot_product_attention(*leaves, is_causal=True, backend=backend)
        (first,) = torch.autograd.grad(output.square().sum(), leaves[:1], create_graph=True)
        found.append([to_float64(x) for x in torch.autograd.grad(first.square().sum(), leaves)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-5)


REFUSED = {
    "computes in float32": ({}, "float64", {}),
    "never stored": ({}, "float32", {"return_weights": True}),
    "no dropout": ({}, "float32", {"dropout_p": 0.5}),
    "cannot call a score_mod": ({}, "float32", {"score_mod": lambda score, b, h, i, j: score - (i - j)}),
    "boolean masks only": ({"attn_mask": np.zeros((5, 6))}, "float32", {}),
    "empty arrays": ({"n_k": 0}, "float32", {}),
    "at most 256 features, here 300": ({"d_k": 300}, "float32", {}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_leaves_to_the_formula(reason):
    shape, dtype, options = REFUSED[reason]
    case = make(2, **shape)
    arrays = [to_kind(x, "torch", dtype) for x in case.arrays]
    mask = None if case.attn_mask is None else to_kind(case.attn_mask, "torch", dtype)
    chosen = sdpa.explain_backend(*arrays, mask, backend="triton", **options)
    assert chosen.backend == "torch"
    assert reason in str(chosen)


def test_interpreted_it_is_listed_but_never_automatic():
    assert "triton" in sdpa.backends()
    x = torch.ones(300, 4)
    assert "not triton: it is for tensors on an NVIDIA GPU" in str(sdpa.explain_backend(x, x, x[:, :3]))
