"""The public softmax, for both kinds of arrays."""

import re
from math import exp, fsum, inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sdpa_helpers import softmax

from .cases import EPS, KINDS_AND_DTYPES, to_float64, to_kind


@settings(max_examples=60, deadline=None)
@given(
    x=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=1, max_dims=4, max_side=4),
        elements=st.floats(-1e4, 1e4) | st.just(-inf),
    ),
    data=st.data(),
)
def test_weights(kind, x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    weights = to_float64(softmax(to_kind(x, kind, "float64"), axis=axis))
    slices = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    answers = np.moveaxis(weights, axis, -1).reshape(slices.shape)
    for scores, answer in zip(slices.tolist(), answers, strict=True):
        largest = max(scores)
        parts = [exp(score - largest) if score > -inf else 0.0 for score in scores]
        expected = [part / max(fsum(parts), 1) for part in parts]  # a slice of −∞ has a sum of 0
        np.testing.assert_allclose(answer, expected, rtol=1e-12)


def test_nothing_to_attend_to(kind):
    x = np.array([[-inf, -inf], [0.0, -inf]])
    assert to_float64(softmax(to_kind(x, kind, "float64"))).tolist() == [[0, 0], [1, 0]]
    assert softmax(to_kind(np.zeros((3, 0)), kind, "float32")).shape == (3, 0)


@pytest.mark.parametrize(("kind", "dtype"), KINDS_AND_DTYPES, indirect=["kind"])
def test_dtype_is_kept(kind, dtype):
    x = to_kind(np.random.default_rng(0).standard_normal((3, 300)) * 3, kind, dtype)
    before = to_float64(x)
    weights = softmax(x)
    assert weights.dtype == x.dtype
    exact = np.exp(before) / np.exp(before).sum(-1, keepdims=True)
    np.testing.assert_allclose(to_float64(weights), exact, rtol=EPS[dtype] + 3e-6, atol=1e-7)
    np.testing.assert_array_equal(to_float64(x), before)


def test_gradient(torch):
    x = torch.tensor(
        [[0.3, -1.0, 2.0], [-inf, 0.5, 0.1], [-inf] * 3], dtype=torch.float64, requires_grad=True
    )
    probe = torch.tensor([[1.0, 2.0, -1.0]] * 3, dtype=torch.float64)
    (softmax(x) * probe).sum().backward()
    expected = torch.tensor(x.detach()[:2].numpy(), requires_grad=True)
    (torch.softmax(expected, -1) * probe[:2]).sum().backward()
    torch.testing.assert_close(x.grad[:2], expected.grad)
    assert x.grad[2].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("x", "axis", "error", "message"),
    [
        ([1.0, 2.0], -1, TypeError, "x is of type list, but must be a NumPy array or a torch tensor"),
        (np.array([1, 2]), -1, TypeError, "x is int64, but must be one of float16, float32, float64"),
        (np.ones((2, 3)), 2, ValueError, "axis is 2, but x has shape (2, 3): 2 dimensions"),
        (np.ones((2, 3)), -3, ValueError, "axis is -3, but x has shape (2, 3): 2 dimensions"),
        (np.float64(1) * np.ones(()), -1, TypeError, "x is of type float64"),
        (np.array(1.0), -1, ValueError, "axis is -1, but x has shape (): 0 dimensions"),
        (np.ones(2), None, TypeError, "axis is None, but must be an integer"),
    ],
)
def test_errors(x, axis, error, message):
    with pytest.raises(error, match=re.escape(message)):
        softmax(x, axis)
