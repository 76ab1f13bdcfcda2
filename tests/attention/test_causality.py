"""is_causal="lower_right", and torch's own objects for it."""

from dataclasses import replace

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention.causality import aligned_top_left

from .cases import make, reference, to_float64, to_kind

LENGTHS = [(5, 5), (2, 7), (1, 6), (6, 2), (3, 0)]


def sees(n_q, n_k):
    return np.arange(n_k) <= np.arange(n_q)[:, None] + n_k - n_q


@pytest.mark.parametrize("mask", [None, "float", "one row"])
@pytest.mark.parametrize(("n_q", "n_k"), LENGTHS)
def test_lower_right(backend, kind, n_q, n_k, mask):
    """As a mask of that shape, and together with another."""
    case = make(2, n_q=n_q, n_k=n_k, d_k=3, d_v=3)
    allowed = np.random.default_rng(3).random((1 if mask == "one row" else n_q, n_k)) < 0.7
    masks = {None: None, "float": np.where(allowed, 0.5, -np.inf)}
    attn_mask = masks.get(mask, allowed)
    both = sees(n_q, n_k)
    if mask == "float":
        both = np.where(both, attn_mask, -np.inf)
    elif mask:
        both = both & attn_mask
    expected = reference(replace(case, attn_mask=both))[0]
    arrays = [to_kind(x, kind, "float64") for x in case.arrays]
    passed = None if attn_mask is None else to_kind(attn_mask, kind, "float64")
    output = sdpa.scaled_dot_product_attention(*arrays, passed, is_causal="lower_right", backend=backend)
    np.testing.assert_allclose(to_float64(output), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n_q", "n_k"), LENGTHS[:-1])
def test_torchs_own_objects(torch, n_q, n_k):
    from torch.nn.attention.bias import causal_lower_right, causal_upper_left

    arrays = [torch.tensor(x) for x in make(2, n_q=n_q, n_k=n_k, d_v=3).arrays]
    for bias, is_causal in ((causal_lower_right, "lower_right"), (causal_upper_left, True)):
        ours = sdpa.scaled_dot_product_attention(*arrays, bias(n_q, n_k))
        torch.testing.assert_close(ours, sdpa.scaled_dot_product_attention(*arrays, is_causal=is_causal))
    with pytest.raises(ValueError, match=r"made for \(n_q, n_k\) = \(4, 9\)"):
        sdpa.scaled_dot_product_attention(*arrays, causal_lower_right(4, 9))
    with pytest.raises(ValueError, match=r"causal already \(LOWER_RIGHT\): pass is_causal=False"):
        sdpa.scaled_dot_product_attention(*arrays, causal_lower_right(n_q, n_k), is_causal=True)


def test_a_single_new_token_needs_no_mask():
    """It sees all keys, and goes the way of a call that hides nothing."""
    query, key, value = make(n_q=1, n_k=2**16, d_k=4, d_v=4).arrays
    chosen = sdpa.explain_backend(query, key, value, is_causal="lower_right")
    assert chosen == sdpa.explain_backend(query, key, value)
    output = sdpa.scaled_dot_product_attention(query, key, value, is_causal="lower_right")
    np.testing.assert_array_equal(output, sdpa.scaled_dot_product_attention(query, key, value))


def test_of_arrays_it_takes_no_memory_for_all_pairs():
    """A million queries after as many others."""
    query, key, _ = make(n_q=2**20, n_k=2**21, d_k=1, d_v=1).arrays
    mask, is_causal = aligned_top_left(None, "lower_right", query, key)
    assert mask.strides == (-1, 1)
    assert not is_causal
    assert mask[[0, 0, -1, 7, 7], [2**20, 2**20 + 1, -1, 2**20 + 7, 2**20 + 8]].tolist() == [1, 0, 1, 1, 0]


def test_a_gradient_of_a_learned_mask_goes_through_it(torch):
    arrays = [torch.tensor(x) for x in make(2, n_q=3, n_k=5).arrays]
    mask = torch.zeros(3, 5, dtype=torch.float64, requires_grad=True)
    sdpa.scaled_dot_product_attention(*arrays, mask, is_causal="lower_right").square().sum().backward()
    assert mask.grad is not None
    assert (mask.grad[0, 3:] == 0).all()
    assert mask.grad[0, :3].all()


@pytest.mark.parametrize("wrong", ["upper_left", "yes", 1, None])
def test_other_words_are_refused(wrong):
    with pytest.raises(TypeError, match="must be True or False, or 'lower_right'"):
        sdpa.scaled_dot_product_attention(*make().arrays, is_causal=wrong)
