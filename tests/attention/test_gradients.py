"""Gradients of the torch backends: numerically checked, finite where a row sees nothing, equal to torch's."""

from math import inf

import numpy as np
import pytest
from hypothesis import assume, given, settings

from sdpa_helpers import scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS

from .cases import ROUNDS_WEIGHTS, cases, make
from .conftest import ALONE, usable, with_tiles


@pytest.fixture(scope="module", params=with_tiles([name for name in ALONE if BACKENDS[name].kind == "torch"]))
def backend(request, needs):
    yield from usable(request, needs)


def leaves(torch, arrays):
    return [torch.tensor(x, requires_grad=True) for x in arrays]


@settings(max_examples=25, deadline=None)
@given(case=cases(max_lead=2))
def test_gradcheck(backend, torch, case):
    assume(all(x.size for x in case.arrays))  # gradcheck refuses empty tensors
    mask = None if case.attn_mask is None else torch.tensor(case.attn_mask)

    def attend(query, key, value):
        return scaled_dot_product_attention(query, key, value, mask, backend=backend, **case.options)

    assert torch.autograd.gradcheck(attend, leaves(torch, case.arrays), fast_mode=True)


def test_gradcheck_of_weights_and_of_a_learned_mask(backend, torch):
    case = make(2, n_q=3, n_k=4)
    bias = np.random.default_rng(1).standard_normal((3, 4))

    def attend(query, key, value, bias):
        return scaled_dot_product_attention(query, key, value, bias, backend=backend, return_weights=True)

    assert torch.autograd.gradcheck(attend, leaves(torch, [*case.arrays, bias]))


def test_second_derivatives(backend, torch):
    case = make(n_q=2, n_k=3)

    def attend(*arrays):
        return scaled_dot_product_attention(*arrays, is_causal=True, backend=backend)

    if backend == "torch-fused":
        case = make(n_q=2, n_k=3, d_k=2, d_v=2)
        with pytest.raises(RuntimeError, match="is not implemented"):  # torch has none, and says so
            torch.autograd.gradgradcheck(attend, leaves(torch, case.arrays))
        return
    assert torch.autograd.gradgradcheck(attend, leaves(torch, case.arrays))


@pytest.mark.parametrize("mask", ["bool", "float"])
def test_fully_masked_row(backend, torch, mask):
    """Its own gradients are zero, and those of the other rows are what they are without it."""
    case = make(2, n_q=3, n_k=4, d_k=3, d_v=3)
    allowed = torch.tensor([[True, False, True, True], [False] * 4, [True, True, False, True]])
    attn_mask = allowed if mask == "bool" else torch.zeros(3, 4).masked_fill(~allowed, -inf)
    arrays = leaves(torch, case.arrays)
    output = scaled_dot_product_attention(*arrays, attn_mask, backend=backend)
    assert (output[:, 1] == 0).all()
    output.square().sum().backward()
    query_grad, key_grad, value_grad = (x.grad for x in arrays)
    assert (query_grad[:, 1] == 0).all()

    others = leaves(torch, [case.query[:, [0, 2]], case.key, case.value])
    expected = torch.nn.functional.scaled_dot_product_attention(*others, allowed[[0, 2]])
    expected.square().sum().backward()
    torch.testing.assert_close(query_grad[:, [0, 2]], others[0].grad)
    torch.testing.assert_close(key_grad, others[1].grad)
    torch.testing.assert_close(value_grad, others[2].grad)
    assert key_grad.any()


def test_no_keys(backend, torch):
    case = make(2, n_q=3, n_k=0)
    arrays = leaves(torch, case.arrays)
    scaled_dot_product_attention(*arrays, backend=backend).sum().backward()
    assert all(x.grad is None or (x.grad == 0).all() for x in arrays)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_gradients(backend, torch, dtype):
    case = make(2, n_q=4, n_k=5, d_k=3, d_v=3, is_causal=True)
    half = [torch.tensor(x).to(getattr(torch, dtype)) for x in case.arrays]
    full = [x.double().requires_grad_() for x in half]
    half = [x.requires_grad_() for x in half]
    for arrays in half, full:
        scaled_dot_product_attention(*arrays, is_causal=True, backend=backend).sum().backward()
    for low, high in zip(half, full, strict=True):
        assert low.grad.dtype == low.dtype
        tolerance = {"float16": 2**-10, "bfloat16": 2**-7}[dtype]
        rough = 4 * tolerance if backend in ROUNDS_WEIGHTS else 1e-6
        torch.testing.assert_close(low.grad.double(), high.grad, rtol=tolerance, atol=rough)


def test_arrays_that_need_no_gradient_leave_none(backend, torch):
    arrays = [torch.tensor(x) for x in make(2).arrays]
    assert not scaled_dot_product_attention(*arrays, backend=backend).requires_grad
