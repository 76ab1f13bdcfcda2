"""What PyTorch asks of its own attention on a CPU, asked of ours: the settings and tolerances of its test suite.

pytorch/test/test_transformers.py, TestSDPA: test_scaled_dot_product_fused_attention_vs_math_cpu, _mask_vs_math_cpu and
_with_inf, test_scaled_dot_product_attention_math_with_negative_scale. Theirs are all products of some lists; here each
value of each list comes in at least one setting. Beside an answer in float64, where theirs take one in float32.
"""

import itertools
from functools import cache

import pytest

from sdpa_helpers import scaled_dot_product_attention

BACKENDS = ["torch", "torch-tiled", "torch-fused"]
DTYPES = ["float64", "float32", "bfloat16", "float16"]
TOLERANCES = {"bfloat16": 5e-2, "float16": 1e-2}  # theirs, atol and rtol; of others 1e-5 and 5e-6

# Without a mask: (batch, heads, length, head_dim), causal.
PACKED = [
    ((2, 3, 267, 8), True),
    ((2, 3, 267, 16), False),
    ((12, 1, 267, 8), False),
    ((2, 1, 1030, 16), True),
]
# With one: 2 sequences, 3 heads, 267 queries, 514 keys, 8 features.
MASK_SHAPES = [(267, 514), (267, 1), (1, 514), (2, 3, 267, 514), (2, 1, 1, 514), (1, 3, 267, 1), (1, 1, 1, 1)]


def tolerance(dtype, gradient=False):
    loose = 1e-1 if gradient and dtype == "float16" else TOLERANCES.get(dtype)
    return {"atol": loose, "rtol": loose} if loose else {"atol": 1.25e-5, "rtol": 5.25e-6}


def random(shape, dtype, seed):
    import torch

    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(getattr(torch, dtype))


def packed(shape, dtype):
    """Query, key and value of one projection: views of the same tensor, whose heads lie side by side."""
    batch, heads, length, head_dim = shape
    together = random((batch, length, 3 * heads * head_dim), dtype, 0)
    parts = together.split(heads * head_dim, dim=2)
    return [x.view(batch, length, heads, head_dim).transpose(1, 2) for x in parts]


def beside_a_mask(dtype):
    return [random((2, n, 3, 8), dtype, seed).transpose(1, 2) for seed, n in enumerate((267, 514, 514))]


def mask_of(shape, boolean, dtype):
    numbers = random(shape, dtype, 7)
    return numbers > 0 if boolean else numbers


def with_gradients(function, arrays, *arguments, **options):
    """The output, and the gradients of its sum, in float64."""
    leaves = [x.detach().requires_grad_() for x in arrays]
    output = function(*leaves, *arguments, **options)
    output.sum().backward()
    return [x.double() for x in (output.detach(), *(x.grad for x in leaves))]


def of_torch(arrays, mask=None, **options):
    """torch's plain formula in float64."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    wide = mask if mask is None or mask.dtype == torch.bool else mask.double()
    with sdpa_kernel(SDPBackend.MATH):
        function = torch.nn.functional.scaled_dot_product_attention
        return with_gradients(function, [x.double() for x in arrays], wide, **options)


@cache
def packed_of_torch(shape, is_causal, dtype):
    return of_torch(packed(shape, dtype), is_causal=is_causal)


@cache
def masked_of_torch(shape, boolean, dtype):
    return of_torch(beside_a_mask(dtype), mask_of(shape, boolean, dtype))


def assert_as(expected, computed, dtype):
    import torch

    for i, (a, b) in enumerate(zip(computed, expected, strict=True)):
        torch.testing.assert_close(a, b, **tolerance(dtype, gradient=i > 0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend_of_torch", BACKENDS)
def test_fused_attention_vs_math(torch, backend_of_torch, dtype):
    for shape, is_causal in PACKED if dtype == "float32" else PACKED[:2]:
        options = {"is_causal": is_causal, "backend": backend_of_torch}
        computed = with_gradients(scaled_dot_product_attention, packed(shape, dtype), **options)
        assert_as(packed_of_torch(shape, is_causal, dtype), computed, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend_of_torch", BACKENDS)
def test_fused_attention_with_a_mask_vs_math(torch, backend_of_torch, dtype):
    shapes = MASK_SHAPES if dtype == "float32" else [(2, 1, 267, 514)]
    for shape, boolean in itertools.product(shapes, [True, False]):
        mask = mask_of(shape, boolean, dtype)
        computed = with_gradients(
            scaled_dot_product_attention, beside_a_mask(dtype), mask, backend=backend_of_torch
        )
        assert_as(masked_of_torch(shape, boolean, dtype), computed, dtype)


@pytest.mark.parametrize("backend_of_torch", BACKENDS)
def test_fused_attention_with_inf(torch, backend_of_torch):
    """Their issue 127055: a band of ten keys, and tiles that are −∞ throughout."""
    full = torch.full((600, 600), -torch.inf)
    band = torch.triu(full, diagonal=1) + torch.tril(full, diagonal=-10)
    arrays = [random((1, 600, 2, 8), "float32", seed) for seed in range(3)]
    arrays = [x.transpose(1, 2) for x in arrays]
    computed = with_gradients(scaled_dot_product_attention, arrays, band, backend=backend_of_torch)
    assert_as(of_torch(arrays, band), computed, "float32")


@pytest.mark.parametrize("backend_of_torch", BACKENDS)
def test_a_large_negative_scale(torch, backend_of_torch):
    """Their issue 105190."""
    x = random((1, 3, 64, 64), "float32", 0)
    expected = (x @ x.mT / -0.0001).softmax(dim=-1) @ x
    output = scaled_dot_product_attention(x, x, x, scale=-1 / 0.0001, backend=backend_of_torch)
    torch.testing.assert_close(output, expected)
