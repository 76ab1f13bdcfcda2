"""The two mask builders."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpa_helpers import causal_mask, padding_mask


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


@pytest.mark.parametrize("as_what", [list, tuple, np.array])
def test_padding_mask(as_what):
    mask = padding_mask(as_what([2, 0, 3]), 3)
    assert mask.dtype == bool
    assert mask.tolist() == [[True, True, False], [False] * 3, [True] * 3]


def test_padding_mask_of_no_sequences():
    assert padding_mask([], 3).shape == (0, 3)


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
