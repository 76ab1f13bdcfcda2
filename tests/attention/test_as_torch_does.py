"""Corners of torch: where its kernels are wrong, what they refuse, and where ours does as they do."""

import importlib
import sys

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention.known_backends import BACKENDS

from .cases import make, to_float64

N = 24


def leaves(torch, *lead, n=N, dtype=np.float32, seed=0):
    arrays = make(*lead, n_q=n, n_k=n, d_k=4, d_v=4, seed=seed).arrays
    return [torch.tensor(x.astype(dtype), requires_grad=True) for x in arrays]


def gradients(torch, function, arrays, *arguments, **options):
    output = function(*arrays, *arguments, **options)
    return torch.autograd.grad(output, arrays, torch.cos(torch.arange(output.numel())).reshape(output.shape))


def by_hand(torch, arrays, mask, is_causal=False):
    """The same, from scores in float32, beside which the mask is large, and from there on in float64."""
    query, key, value = (x.detach().double() for x in arrays)
    scores = (query @ key.mT / 2).float() + mask
    if is_causal:
        scores = scores.masked_fill(~torch.ones(N, N, dtype=torch.bool).tril(), -torch.inf)
    weights = torch.softmax(scores.double(), dim=-1)
    grad_output = torch.cos(torch.arange(value.numel())).reshape(value.shape).double()
    grad_weights = grad_output @ value.mT
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True)) / 2
    return grad_scores @ key, grad_scores.mT @ query, weights.mT @ grad_output


# A finite mask over a whole row ----------------------------------------------------------------------------


def one_row(torch, lowest):
    mask = torch.zeros(N, N)
    mask[3] = lowest
    return mask, {}


def left_padding(torch, lowest):
    """The first keys are padding, as for generating text: with is_causal the first queries see nothing else."""
    mask = torch.zeros(2, 1, 1, N)
    mask[0, ..., :3] = lowest
    return mask, {"is_causal": True}


def later_keys_free(torch, lowest):
    mask = torch.zeros(N, N)
    mask[5, :7] = lowest
    return mask, {"is_causal": True}


HIDDEN = [one_row, left_padding, later_keys_free]
LOWEST = [-3.4028234663852886e38, -1e9, 1e9]


@pytest.mark.parametrize("lowest", LOWEST)
@pytest.mark.parametrize("hide", HIDDEN)
def test_gradients_are_right_where_a_finite_mask_hides_a_row(torch, hide, lowest):
    arrays = leaves(torch, 2, 3)
    mask, options = hide(torch, lowest)
    chosen = sdpa.explain_backend(*arrays, mask, **options)
    assert chosen.backend == "torch"
    assert "not torch-fused: its gradients are wrong where a finite mask hides a whole row" in str(chosen)
    expected = by_hand(torch, arrays, mask, **options)
    for name in ("auto", "torch-fused", "torch-tiled"):
        ours = gradients(torch, sdpa.scaled_dot_product_attention, arrays, mask, **options, backend=name)
        for a, b in zip(ours, expected, strict=True):
            torch.testing.assert_close(a, b.float(), rtol=1e-4, atol=1e-5)


def test_torchs_own_gradients_are_wrong_there(torch):
    """The reason for the rule. When this fails, torch has mended it, and the rule can go."""
    arrays = leaves(torch, 2, 3)
    mask, _ = one_row(torch, LOWEST[0])
    right = gradients(torch, sdpa.scaled_dot_product_attention, arrays, mask, backend="torch")
    theirs = gradients(torch, torch.nn.functional.scaled_dot_product_attention, arrays, mask)
    assert all((a - b).norm() > b.norm() for a, b in zip(theirs, right, strict=True))


def test_the_fused_kernel_keeps_calls_with_a_finite_mask_that_it_does_right(torch):
    arrays = leaves(torch, 2, 3)
    mask, _ = one_row(torch, LOWEST[0])
    distance = (torch.arange(N)[:, None] - torch.arange(N)).abs()
    assert sdpa.explain_backend(*arrays, -0.5 * distance).backend == "torch-fused"
    assert sdpa.explain_backend(*arrays, torch.zeros(N, N).masked_fill(distance > 3, LOWEST[0])).backend == (
        "torch-fused"
    )
    assert sdpa.explain_backend(*arrays, mask.masked_fill(mask < 0, -torch.inf)).backend == "torch-fused"
    with torch.no_grad():
        assert sdpa.explain_backend(*arrays, mask).backend == "torch-fused"


def test_a_mask_is_looked_at_once_however_often_it_is_repeated(torch):
    """A million heads that share one mask: looked at one by one this would be four terabytes."""
    from sdpa_helpers.attention.torch_numbers import has_far_row

    mask = torch.zeros(1000, 1000)
    assert not has_far_row(mask.expand(1_000_000, 1000, 1000), True, 1000)
    assert not has_far_row(mask[0].expand(1_000_000, 1000, 1000), True, 1000)
    mask[7] = -1e9
    assert has_far_row(mask.expand(1_000_000, 1000, 1000), False, 1000)


@pytest.mark.parametrize("is_causal", [False, True])
def test_which_rows_are_far_off(torch, is_causal):
    """Against the plain question, put to each row, for masks of every shape."""
    from sdpa_helpers.attention.torch_numbers import FAR, has_far_row

    rng = np.random.default_rng(0)
    found = []
    for i in range(200):
        n_q, n_k = rng.integers(1, 6, 2)
        chances = [0.07, 0.07, 0.39, 0.39, 0.01, 0.07]
        numbers = rng.choice([0.0, 1.0, -1e9, -np.inf, 1e9, LOWEST[0]], (2, n_q, n_k), p=chances)
        mask = torch.tensor((numbers, numbers[:, :1], numbers[..., :1], numbers[0])[i % 4])
        seen = np.tri(n_q, n_k, dtype=bool) if is_causal else np.ones((n_q, n_k), dtype=bool)
        largest = np.where(seen, np.broadcast_to(mask.numpy(), (2, n_q, n_k)), -np.inf).max(-1)
        found.append(bool((np.isfinite(largest) & (np.abs(largest) > FAR)).any()))
        assert has_far_row(mask, is_causal, int(n_q)) == found[-1], mask
    assert len(set(found)) == 2


# What torch's kernel does not take ---------------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, 1, 2])
def test_one_number_a_row_of_any_stride(torch, which):
    arrays = [torch.randn(2, 3, 1, 2)[..., ::2] for _ in "qkv"]
    dense = [x.clone(memory_format=torch.contiguous_format) for x in arrays]
    dense[which] = arrays[which]
    assert dense[which].stride(-1) == 2
    output = sdpa.scaled_dot_product_attention(*dense)
    torch.testing.assert_close(output, dense[2])
    assert sdpa.explain_backend(*dense).backend == "torch-fused"


def test_ours_in_the_place_of_torchs(torch, monkeypatch):
    """Also where that happened before our file was loaded."""
    module = f"sdpa_helpers.attention.{BACKENDS['torch-fused'].module}"
    arrays = leaves(torch, 2, 3)
    expected = torch.nn.functional.scaled_dot_product_attention(*arrays, is_causal=True)
    monkeypatch.setattr(
        torch.nn.functional, "scaled_dot_product_attention", sdpa.scaled_dot_product_attention
    )
    monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys.modules["sdpa_helpers.attention"], "torch_fused", None, raising=False)
    assert sdpa.explain_backend(*arrays).backend == "torch-fused"
    torch.testing.assert_close(
        torch.nn.functional.scaled_dot_product_attention(*arrays, is_causal=True), expected
    )
    assert importlib.import_module(module).OF_TORCH is not sdpa.scaled_dot_product_attention


def test_what_is_no_dense_tensor_is_refused_by_name(torch):
    query, key, value = torch.randn(3, 4, 5, 6)
    nested = torch.nested.nested_tensor([torch.randn(2, 6), torch.randn(3, 6)])
    refused = {
        "key is a nested tensor, but must be a dense one: pass torch.nested.to_padded_tensor(key, 0.0)": nested,
        "key is of layout torch.sparse_coo, but must be a dense tensor: pass key.to_dense()": key.to_sparse(),
        "key is of layout torch._mkldnn": key.to_mkldnn(),
    }
    for message, tensor in refused.items():
        with pytest.raises(TypeError) as caught:
            sdpa.scaled_dot_product_attention(query, tensor, value)
        assert message in str(caught.value)
    mask = torch.ones(5, 5, dtype=torch.bool).to_sparse()
    with pytest.raises(TypeError, match=r"attn_mask is of layout torch\.sparse_coo"):
        sdpa.scaled_dot_product_attention(query, key, value, mask)


# Autocast ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("mask", [None, "bool", "float"])
def test_autocast(backend, torch, dtype, mask):
    """Its dtype, and its numbers: of a mask's too, whose lowest float32 becomes −∞."""
    arrays = [x.detach() for x in leaves(torch, 2, 3)]
    hidden = torch.rand(N, N, generator=torch.Generator().manual_seed(1)) < 0.3
    hidden[4] = True
    masks = {"bool": ~hidden, "float": torch.zeros(N, N).masked_fill(hidden, LOWEST[0]), None: None}
    with torch.autocast("cpu", dtype=getattr(torch, dtype)):
        expected = torch.nn.functional.scaled_dot_product_attention(*arrays, masks[mask])
        output, weights = (
            sdpa.scaled_dot_product_attention(*arrays, masks[mask], backend=backend),
            sdpa.scaled_dot_product_attention(*arrays, masks[mask], backend=backend, return_weights=True)[1],
        )
    assert output.dtype == weights.dtype == expected.dtype == getattr(torch, dtype)
    torch.testing.assert_close(output, expected, rtol=2e-2, atol=2e-2)
    if mask:
        assert not output[:, :, 4].any()


def test_autocast_leaves_float64_and_computes_in_float32(torch):
    arrays = leaves(torch, 2, 3)
    exact = [x.detach().double() for x in arrays]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert sdpa.scaled_dot_product_attention(*exact).dtype == torch.float64
        # Mixed precisions become one, as for torch's own.
        mixed = sdpa.scaled_dot_product_attention(arrays[0], arrays[1].bfloat16(), arrays[2], backend="torch")
        of_arrays = sdpa.scaled_dot_product_attention(*(x.numpy() for x in exact), backend="torch")
    rounded = [x.detach().bfloat16() for x in arrays]
    expected = sdpa.scaled_dot_product_attention(*rounded, backend="torch")
    assert torch.equal(mixed, expected), "the formula's own products are not rounded"
    np.testing.assert_allclose(of_arrays, sdpa.scaled_dot_product_attention(*exact), rtol=1e-12)


@pytest.mark.parametrize("name", ["torch", "torch-tiled", "torch-fused"])
def test_gradients_through_autocast(torch, name):
    arrays = leaves(torch, 2, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        expected = gradients(torch, torch.nn.functional.scaled_dot_product_attention, arrays)
        computed = gradients(torch, sdpa.scaled_dot_product_attention, arrays, backend=name)
    for ours, theirs in zip(computed, expected, strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, theirs, rtol=0.05, atol=0.05)


# bfloat16 in NumPy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [None, "bool", "float"])
def test_bfloat16_of_ml_dtypes(backend, torch, needs, mask):
    needs("ml_dtypes")
    import ml_dtypes

    arrays = [x.astype(ml_dtypes.bfloat16) for x in make(2, 3, n_q=9, n_k=17, d_k=12, d_v=12).arrays]
    allowed = np.random.default_rng(2).random((9, 17)) < 0.7
    masks = {None: None, "bool": allowed, "float": np.where(allowed, 0.5, -np.inf).astype(arrays[0].dtype)}
    wide = [x.astype(np.float64) for x in arrays]
    wide_mask = masks[mask] if mask != "float" else masks[mask].astype(np.float64)
    options = {"is_causal": True, "return_weights": True}
    expected = sdpa.scaled_dot_product_attention(*wide, wide_mask, **options, backend="numpy")
    computed = sdpa.scaled_dot_product_attention(*arrays, masks[mask], **options, backend=backend)
    alone = sdpa.scaled_dot_product_attention(*arrays, masks[mask], is_causal=True, backend=backend)
    for ours, exact in zip((*computed, alone), (*expected, expected[0]), strict=True):
        assert ours.dtype == arrays[0].dtype
        np.testing.assert_allclose(to_float64(ours), exact, rtol=2**-6, atol=2**-6)


def test_softmax_of_bfloat16_of_ml_dtypes(needs):
    needs("ml_dtypes")
    import ml_dtypes

    weights = sdpa.softmax(np.zeros((2, 4), ml_dtypes.bfloat16))
    assert weights.dtype == ml_dtypes.bfloat16
    assert weights.astype(float).tolist() == [[0.25] * 4] * 2
