"""Every backend, with both kinds of arrays, against the reference and against torch's own function."""

import functools
from math import inf

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from sdpa_helpers import backends, scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS

from .cases import KINDS_AND_DTYPES, Case, assert_matches, call, cases, make, reference, to_float64, to_kind


@settings(max_examples=180, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_equals_reference_and_torch(backend, torch, case):
    for kind in ("numpy", "torch"):
        assert_matches(case, backend, kind)
    assert_equals_torch(torch, case, backend)


def assert_equals_torch(torch, case, backend):
    """torch is given what it can take: equal leading dimensions, full masks, causality inside the mask."""
    heads = case.query.shape[-3] if case.enable_gqa else None
    query, key, value = (torch.tensor(x) for x in case.arrays)
    if heads is not None:
        key, value = (x.repeat_interleave(heads // x.shape[-3], dim=-3) for x in (key, value))
    lead = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    query, key, value = (x.expand(*lead, *x.shape[-2:]) for x in (query, key, value))
    shape = (*lead, query.shape[-2], key.shape[-2])
    mask = None if case.attn_mask is None else torch.tensor(case.attn_mask).expand(shape)
    is_causal = case.is_causal
    # torch 2.13's CPU kernel hides the future before it scales: with scale ≤ 0 is_causal gives it NaN.
    if is_causal and mask is None and case.scale is not None and case.scale <= 0:
        mask = torch.ones(shape, dtype=torch.bool)
    if is_causal and mask is not None:
        hidden = ~torch.ones(shape[-2:], dtype=torch.bool).tril()
        mask, is_causal = mask.masked_fill(hidden, False if mask.dtype == torch.bool else -inf), False
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=is_causal, scale=case.scale
    )
    output, _ = call(case, backend, "torch")
    torch.testing.assert_close(output, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("kind", "dtype"), KINDS_AND_DTYPES, indirect=["kind"])
@pytest.mark.parametrize("mask", [None, "bool", "float"])
def test_dtypes(backend, kind, dtype, mask):
    case = make(2, 3, n_q=9, n_k=17, d_k=12, d_v=5)
    allowed = np.random.default_rng(2).random((9, 17)) < 0.7
    masks = {None: None, "bool": allowed, "float": np.where(allowed, 0.3, -inf)}
    case = Case(*case.arrays, attn_mask=masks[mask], is_causal=True)
    assert_matches(case, backend, kind, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_scores_beyond_its_range(backend, torch, dtype):
    """A score of 4·200² = 160000 has no float16; its softmax does."""
    query = torch.full((1, 4), 200.0, dtype=getattr(torch, dtype))
    key = torch.stack([query[0], query[0] / 2])
    value = torch.tensor([[1.0], [2.0]], dtype=query.dtype)
    output, weights = scaled_dot_product_attention(query, key, value, backend=backend, return_weights=True)
    assert weights.tolist() == [[1.0, 0.0]]
    assert output.tolist() == [[1.0]]


@pytest.mark.parametrize("mask_dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_float_mask_of_another_dtype(backend, kind, dtype, mask_dtype):
    case = make(2, n_q=3, n_k=4)
    mask = np.array([0.0, -1.5, -inf, 2.0])  # the same in every dtype
    arrays = [to_kind(x, kind, dtype) for x in case.arrays]
    same = scaled_dot_product_attention(*arrays, to_kind(mask, kind, dtype), backend=backend)
    other = scaled_dot_product_attention(*arrays, to_kind(mask, kind, mask_dtype), backend=backend)
    assert other.dtype == arrays[0].dtype
    np.testing.assert_array_equal(to_float64(other), to_float64(same))


@pytest.mark.parametrize("magnitude", [1e4, -1e4])
def test_large_scores(backend, kind, magnitude):
    """Rows at +1e4 and at −1e4 side by side: one maximum for all of them, or none, gives 0/0."""
    query = np.array([[magnitude], [-magnitude], [magnitude + 200]])
    key = np.array([[1.0], [1.0001], [0.5]])
    case = Case(query, key, np.arange(6.0).reshape(3, 2), scale=1.0)
    output, weights = call(case, backend, kind)
    np.testing.assert_allclose(to_float64(weights).sum(-1), 1)
    np.testing.assert_allclose(to_float64(output), reference(case)[0], rtol=1e-9)


def test_without_weights_the_output_comes_alone(backend, kind):
    case = make(2)
    arrays = [to_kind(x, kind, "float64") for x in case.arrays]
    output = scaled_dot_product_attention(*arrays, backend=backend)
    assert isinstance(output, type(arrays[0]))
    with_weights = scaled_dot_product_attention(*arrays, backend=backend, return_weights=True)
    assert len(with_weights) == 2
    np.testing.assert_allclose(to_float64(output), to_float64(with_weights[0]), rtol=1e-12, atol=1e-14)


def test_inputs_are_not_changed_and_not_shared(backend, kind):
    case = make(2, attn_mask=np.where(np.tri(5, 6) > 0, 0.5, -inf), is_causal=True)
    arrays = [to_kind(x, kind, "float64") for x in [*case.arrays, case.attn_mask]]
    output = scaled_dot_product_attention(*arrays[:3], attn_mask=arrays[3], is_causal=True, backend=backend)
    output[...] = 0
    for array, original in zip(arrays, [*case.arrays, case.attn_mask], strict=True):
        np.testing.assert_array_equal(to_float64(array), original)


def test_strided_input(backend, kind):
    """Transposed, and every second entry of something larger."""
    case = make(2, n_q=4, n_k=6, d_k=3, d_v=2)
    strided = []
    for x in case.arrays:
        wide = np.full((*x.shape[:-2], x.shape[-1], 2 * x.shape[-2]), np.nan)
        wide[..., ::2] = x.swapaxes(-2, -1)
        wide = wide if kind == "numpy" else to_kind(wide, kind, "float64")
        strided.append(wide[..., ::2].swapaxes(-2, -1))
    output = scaled_dot_product_attention(*strided, backend=backend)
    np.testing.assert_allclose(to_float64(output), reference(case)[0], rtol=1e-12)


def test_read_only_reversed_byte_swapped_and_repeated_arrays(backend):
    case = make(2, n_q=4, n_k=6, attn_mask=np.array([True, True, False, True, True, False]))
    expected = reference(case)[0]
    frozen = [x.copy() for x in [*case.arrays, case.attn_mask]]
    for x in frozen:
        x.flags.writeable = False
    swapped = [x.astype(">f8") for x in case.arrays]
    backwards = [x[..., ::-1].copy()[..., ::-1] for x in case.arrays]
    mask = case.attn_mask[::-1].copy()[::-1]
    for query, key, value, attn_mask in [frozen, [*swapped, mask], [*backwards, mask]]:
        output = scaled_dot_product_attention(query, key, value, attn_mask, backend=backend)
        assert output.dtype == query.dtype
        np.testing.assert_allclose(output.astype(float), expected, rtol=1e-12)
    repeated = np.broadcast_to(case.value[:1], case.value.shape)
    output = scaled_dot_product_attention(case.query, case.key, repeated, backend=backend)
    expected = reference(Case(case.query, case.key, repeated))[0]
    np.testing.assert_allclose(output, expected, rtol=1e-12)


def test_scale_without_features(backend, kind):
    """d_k = 0: all scores are 0, the weights equal."""
    value = np.arange(6.0).reshape(3, 2)
    case = Case(np.zeros((2, 0)), np.zeros((3, 0)), value, scale=1.0)
    np.testing.assert_allclose(to_float64(call(case, backend, kind)[0]), [value.mean(0)] * 2)


@functools.cache  # the same for every backend
def by_the_formula(n_q, n_k, is_causal):
    case = make(n_q=n_q, n_k=n_k, d_k=5, d_v=5, is_causal=is_causal)
    return output_of(case, "numpy")


def output_of(case, backend):
    """Without the weights, which a tiled backend would leave to the formula, in a second call."""
    return scaled_dot_product_attention(*case.arrays, case.attn_mask, **case.options, backend=backend)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(("n_q", "n_k"), [(127, 129), (513, 511), (512, 1025), (700, 130), (130, 700)])
def test_sizes_around_the_edges_of_tiles(own_tiles, is_causal, n_q, n_k):
    case = make(n_q=n_q, n_k=n_k, d_k=5, d_v=5, is_causal=is_causal)
    expected = by_the_formula(n_q, n_k, is_causal)
    np.testing.assert_allclose(output_of(case, own_tiles), expected, rtol=1e-10, atol=1e-12)
    single = scaled_dot_product_attention(
        *(x.astype(np.float32) for x in case.arrays), is_causal=is_causal, backend=own_tiles
    )
    np.testing.assert_allclose(single, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", ["bool", "float"])
def test_a_mask_over_several_tiles(own_tiles, mask, is_causal):
    """Rows that see nothing, keys that nobody sees, and a number as low as there is, which hides nothing."""
    rng = np.random.default_rng(7)
    case = make(n_q=600, n_k=530, d_k=4, d_v=4, is_causal=is_causal)
    allowed = rng.random((600, 530)) < 0.5
    allowed[[0, 131, 599]], allowed[:, [0, 529]] = False, False
    lowest = np.where(allowed, rng.standard_normal((600, 530)), -inf)
    lowest[200] = np.finfo(np.float64).min
    case = Case(*case.arrays, attn_mask=allowed if mask == "bool" else lowest, is_causal=is_causal)
    expected = output_of(case, "numpy")
    np.testing.assert_allclose(output_of(case, own_tiles), expected, rtol=1e-10, atol=1e-12)
    assert not expected[131].any()
    if mask == "float":
        assert expected[200].any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", [1e-3, 3.0, 100.0])
def test_scores_small_and_large_over_several_tiles(own_tiles, dtype, spread):
    """Up to ±10⁴: the largest score of a row comes late, early, or in the middle."""
    n_k = 300 if own_tiles == "triton" else 1100  # its tiles are smaller, and its interpreter takes its time
    case = make(n_q=40, n_k=n_k, d_k=4, d_v=4, scale=1.0)
    case = Case(case.query * spread, case.key * spread, case.value, scale=1.0)
    arrays = [x.astype(dtype) for x in case.arrays]
    output = scaled_dot_product_attention(*arrays, scale=1.0, backend=own_tiles)
    exact = Case(*(x.astype(np.float64) for x in arrays), scale=1.0)
    tolerance = {"float32": 1e-2 if spread == 100 else 1e-5, "float64": 1e-9}[dtype]
    np.testing.assert_allclose(output, call(exact, "numpy", "numpy")[0], rtol=tolerance, atol=tolerance)


def test_values_near_the_end_of_float32(backend):
    """exp(score) · value may not overflow where the average does not."""
    query, key = np.full((1, 4), 2.7, np.float32), np.full((3, 4), 2.7, np.float32)
    value = np.full((3, 4), 1e37, np.float32)
    output = scaled_dot_product_attention(query, key, value, scale=1.0, backend=backend)
    np.testing.assert_allclose(output, value[:1], rtol=1e-5)


def test_backends_lists_what_is_here():
    assert set(backends()) <= set(BACKENDS)
    assert backends()[0] == "numpy"


def test_dropout_returns_the_weights_that_were_used(torch):
    torch.manual_seed(0)
    query, key = torch.zeros(40, 3), torch.zeros(50, 3)
    value = torch.randn(50, 2)
    output, weights = scaled_dot_product_attention(query, key, value, dropout_p=0.25, return_weights=True)
    torch.testing.assert_close(weights @ value, output)
    dropped = (weights == 0).double().mean().item()
    assert dropped == pytest.approx(0.25, abs=0.05)  # 2000 draws: five standard deviations
    torch.testing.assert_close(weights[weights > 0], torch.full_like(weights[weights > 0], 1 / 50 / 0.75))
    assert not scaled_dot_product_attention(query, key, value, dropout_p=1.0).any()


def test_dropout_for_arrays_through_torch(torch):
    torch.manual_seed(0)
    case = make(2, n_q=20, n_k=30)
    output, weights = scaled_dot_product_attention(
        *case.arrays, dropout_p=0.5, backend="torch", return_weights=True
    )
    assert (weights == 0).mean() > 0.3
    np.testing.assert_allclose(weights @ case.value, output, rtol=1e-10)


def test_on_the_gpu(torch):
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    case = make(2, 3, attn_mask=np.random.default_rng(4).random((5, 6)) < 0.6, is_causal=True)
    arrays = [torch.tensor(x, device="cuda") for x in [*case.arrays, case.attn_mask]]
    for name in backends():
        output = scaled_dot_product_attention(*arrays, is_causal=True, backend=name)
        assert output.device == arrays[0].device
        np.testing.assert_allclose(to_float64(output), reference(case)[0], rtol=1e-10)
