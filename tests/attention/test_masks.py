"""The two mask builders."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_helpers import causal_mask, padding_mask, scaled_dot_product_attention

from .cases import make


@settings(max_examples=30, deadline=None)
@given(n_q=st.integers(0, 7), n_k=st.integers(0, 7))
def test_causal_mask(n_q, n_k):
    mask = causal_mask(n_q, n_k)
    assert (mask.dtype, mask.shape) == (bool, (n_q, n_k))
    for i, j in np.ndindex(n_q, n_k):
        assert mask[i, j] == (j <= i)


def test_causal_mask_is_square_by_default():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(np.int32(2)).shape == (2, 2)


def test_causal_mask_is_what_is_causal_does(backend):
    case = make(2, n_q=4, n_k=6)
    np.testing.assert_allclose(  # not equal: a tiled backend never makes the tiles in the future
        scaled_dot_product_attention(*case.arrays, attn_mask=causal_mask(4, 6), backend=backend),
        scaled_dot_product_attention(*case.arrays, is_causal=True, backend=backend),
        rtol=1e-12,
    )


@pytest.mark.parametrize("as_what", [list, tuple, np.array])
def test_padding_mask(as_what):
    mask = padding_mask(as_what([2, 0, 3]), 3)
    assert mask.dtype == bool
    assert mask.tolist() == [[True, True, False], [False] * 3, [True] * 3]


def test_padding_mask_of_no_sequences():
    assert padding_mask([], 3).shape == (0, 3)


def test_padding_is_not_seen(backend):
    case = make(2, 3, n_q=4, n_k=6)
    mask = padding_mask([2, 6], 6)[:, None, None, :]
    output, weights = scaled_dot_product_attention(*case.arrays, mask, backend=backend, return_weights=True)
    assert (weights[0, ..., 2:] == 0).all()
    shorter = [case.query[:1], case.key[:1, :, :2], case.value[:1, :, :2]]
    np.testing.assert_allclose(
        output[:1], scaled_dot_product_attention(*shorter, backend=backend), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("make_mask", "error", "message"),
    [
        (lambda: causal_mask(-1), ValueError, "n_q is -1, but must not be negative"),
        (lambda: causal_mask(2, -3), ValueError, "n_k is -3, but must not be negative"),
        (lambda: causal_mask(2.0), TypeError, "n_q is 2.0, but must be an integer"),
        (lambda: causal_mask(2, True), TypeError, "n_k is True, but must be an integer"),
        (
            lambda: padding_mask([1, 5], 4),
            ValueError,
            "lengths[1] is 5, but must be from 0 to n_k, which is 4",
        ),
        (lambda: padding_mask([1, -1], 4), ValueError, "lengths[1] is -1, but must be from 0 to n_k"),
        (lambda: padding_mask([1.0, 2.0], 4), TypeError, "lengths has dtype float64, but must be integers"),
        (lambda: padding_mask([True], 4), TypeError, "lengths has dtype bool, but must be integers"),
        (lambda: padding_mask(3, 4), ValueError, "lengths has shape (), but must be one-dimensional"),
        (lambda: padding_mask([[1]], 4), ValueError, "lengths has shape (1, 1), but must be one-dimensional"),
        (lambda: padding_mask([1], 4.0), TypeError, "n_k is 4.0, but must be an integer"),
    ],
)
def test_errors(make_mask, error, message):
    with pytest.raises(error, match=re.escape(message)):
        make_mask()
