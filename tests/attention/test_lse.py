"""return_lse: the logarithm of the sum of exponentials, of every backend that returns it."""

import numpy as np
import pytest

from sdpa_helpers.attention import explain_backend, known_backends, scaled_dot_product_attention

from .cases import make, reference, to_float64, to_kind

ALLOWED = np.random.default_rng(3).random((5, 6)) < 0.5
ALLOWED[2] = False
CASES = {
    "plain": make(2, 3),
    "causal": make(2, 3, is_causal=True),
    "a row that sees nothing": make(2, 3, attn_mask=ALLOWED),
    "a float mask": make(2, 3, attn_mask=np.where(ALLOWED, 0.5, -np.inf)),
    "large scores": make(2, 3, scale=300.0),
    "no keys": make(2, 3, n_k=0),
}


@pytest.mark.parametrize("name", CASES)
def test_it_makes_the_weights_of_the_scores(backend, name):
    """exp(score − LSE) is the weight; a row that sees nothing has −∞."""
    case = CASES[name]
    kind = known_backends.BACKENDS[backend].kind
    mask = None if case.attn_mask is None else to_kind(case.attn_mask, kind, "float64")
    arrays = [to_kind(x, kind, "float64") for x in case.arrays]
    output, lse = scaled_dot_product_attention(
        *arrays, attn_mask=mask, backend=backend, return_lse=True, **case.options
    )
    expected, weights = reference(case)
    np.testing.assert_allclose(to_float64(output), expected, rtol=1e-10, atol=1e-10)
    lse = to_float64(lse)
    assert lse.shape == expected.shape[:-1]
    np.testing.assert_array_equal(lse == -np.inf, weights.sum(axis=-1) == 0)
    scores = case.query @ case.key.swapaxes(-2, -1) * (case.scale or case.query.shape[-1] ** -0.5)
    if case.attn_mask is not None and case.attn_mask.dtype != bool:
        scores = scores + case.attn_mask
    seen = weights > 1e-300
    shift = np.where(lse == -np.inf, 0, lse)[..., None]
    np.testing.assert_allclose(np.exp(scores - shift)[seen], weights[seen], rtol=1e-9)


def test_order_kind_and_dtype_of_what_is_returned(torch):
    query, key, value = (torch.randn(2, 5, 4, dtype=torch.float16) for _ in range(3))
    output, weights, lse = scaled_dot_product_attention(
        query, key, value, return_weights=True, return_lse=True
    )
    assert (output.dtype, weights.dtype, lse.dtype) == (torch.float16, torch.float16, torch.float32)
    assert (tuple(weights.shape), tuple(lse.shape)) == ((2, 5, 5), (2, 5))


def test_it_has_a_gradient(torch):
    """Of log Σ exp: the weights."""
    query, key, value = (torch.randn(2, 3, 4, dtype=torch.float64) for _ in range(3))
    bias = torch.zeros(2, 3, 3, dtype=torch.float64, requires_grad=True)
    _, weights, lse = scaled_dot_product_attention(
        query, key, value, attn_mask=bias, return_weights=True, return_lse=True
    )
    lse.sum().backward()
    torch.testing.assert_close(bias.grad, weights)


def test_torchs_own_kernel_returns_it_where_it_is_right(torch):
    """Why it is not asked for it in the other cases: when this fails, torch has mended one of them."""
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    query, key, value = (torch.randn(2, 3, 20, 4) for _ in range(3))
    hidden = torch.full((20, 20), -np.inf)
    assert (kernel(query, key, value, attn_mask=hidden)[1] == 0).all()
    leaf = key.clone().requires_grad_()
    assert not kernel(query, leaf, value)[1].requires_grad
    options = {"is_causal": True, "return_lse": True}
    assert explain_backend(query, key, value, **options).backend == "torch-fused"
    for arrays in ((query, key, value), (query[:, :, :, :1], key[:, :, :, :1], value[:, :, :, :1])):
        ours, exact = (
            scaled_dot_product_attention(*arrays, **options, backend=b) for b in ("torch-fused", "torch")
        )
        torch.testing.assert_close(ours, exact)
    for arguments in ((query, leaf, value), (query, key, value, hidden)):
        assert explain_backend(*arguments, return_lse=True).backend != "torch-fused"
    grouped = scaled_dot_product_attention(
        query, key[:, :1], value[:, :1], enable_gqa=True, return_lse=True, backend="torch-fused"
    )
    torch.testing.assert_close(
        grouped,
        scaled_dot_product_attention(query, key[:, :1], value[:, :1], return_lse=True, backend="torch"),
    )
