"""Attention sinks: as one key more of that score, whose value is 0."""

import numpy as np
import pytest

from sdpa_helpers.attention import scaled_dot_product_attention, with_sinks

from .cases import make, to_float64, to_kind

HEADS, N_Q, N_K = 3, 5, 6
SINKS = np.array([0.5, -2.0, 30.0])


def with_one_key_more(query, key, value, sinks):
    """Output and LSE of the formula, the sink's score in a mask's column of its own."""
    none = np.zeros((*key.shape[:-2], 1, key.shape[-1])), np.zeros((*value.shape[:-2], 1, value.shape[-1]))
    mask = np.zeros((HEADS, N_Q, N_K + 1))
    mask[..., -1] = sinks[:, None]
    return scaled_dot_product_attention(
        query,
        np.append(key, none[0], -2),
        np.append(value, none[1], -2),
        mask,
        backend="numpy",
        return_lse=True,
    )


def attended(kind, dtype="float64", **options):
    arrays = [to_kind(x, kind, dtype) for x in make(2, HEADS, n_q=N_Q, n_k=N_K).arrays]
    return scaled_dot_product_attention(*arrays, return_lse=True, **options)


def test_as_one_key_more(kind):
    output, lse = with_sinks(*attended(kind), to_kind(SINKS, kind, "float64"))
    expected = with_one_key_more(*make(2, HEADS, n_q=N_Q, n_k=N_K).arrays, SINKS)
    np.testing.assert_allclose(to_float64(output), expected[0], rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(to_float64(lse), expected[1], rtol=1e-12)


def test_gradients(torch):
    """Of all four, those of the formula with one key more."""
    arrays = [torch.tensor(x, requires_grad=True) for x in make(2, HEADS, n_q=N_Q, n_k=N_K).arrays]
    sinks = torch.tensor(SINKS, requires_grad=True)
    wanted = [*arrays, sinks]
    answer = with_sinks(*scaled_dot_product_attention(*arrays, return_lse=True), sinks)
    query, key, value = arrays
    scores = query @ key.mT / query.shape[-1] ** 0.5
    scores = torch.cat([scores, sinks[:, None, None].expand(2, HEADS, N_Q, 1)], -1)
    expected = scores.softmax(-1)[..., :-1] @ value, scores.logsumexp(-1)
    for part, other in zip(answer, expected, strict=True):
        ours, theirs = (
            torch.autograd.grad(x.sin().sum(), wanted, retain_graph=True, allow_unused=True)
            for x in (part, other)
        )
        torch.testing.assert_close(ours, theirs)


def test_nothing_to_see(kind):
    """Without keys output 0, and the sink is the whole LSE; a sink of −∞ is none; with neither, LSE −∞."""
    mask = np.ones((N_Q, N_K), bool)
    mask[1] = False
    output, lse = attended(kind, attn_mask=to_kind(mask, kind, "float64"))
    sinks = np.array([1.0, -np.inf, 1.0])
    with_, whole = map(to_float64, with_sinks(output, lse, to_kind(sinks, kind, "float64")))
    assert (with_[..., 1, :] == 0).all()
    np.testing.assert_array_equal(whole[..., 1], [sinks, sinks])
    np.testing.assert_array_equal(with_[:, 1], to_float64(output)[:, 1])


def test_the_gradient_is_finite_with_neither_key_nor_sink(torch):
    output, lse, sinks = torch.ones(1, 1, 2), torch.tensor([[-torch.inf]]), torch.tensor([-torch.inf])
    arrays = [x.requires_grad_() for x in (output, lse, sinks)]
    grads = torch.autograd.grad(with_sinks(*arrays)[0].sum(), arrays)
    assert all(grad.isfinite().all() for grad in grads)


def test_half_precision_stays_and_its_lse_is_float32(kind):
    output, lse = with_sinks(*attended(kind, "float16"), to_kind(SINKS, kind, "float16"))
    assert [str(x.dtype).removeprefix("torch.") for x in (output, lse)] == ["float16", "float32"]


@pytest.mark.parametrize(
    ("sinks", "error", "says"),
    [
        (np.zeros(2), ValueError, r"sinks has shape \(2,\), but must be \(heads,\)"),
        (np.zeros((3, 1)), ValueError, r"sinks has shape \(3, 1\)"),
        (np.zeros(3, int), TypeError, "sinks is int64"),
        ([0.0, 0.0, 0.0], TypeError, "sinks is of type list"),
        (0, TypeError, r"sinks is 0, but must be an array \(heads,\).*: np.full\(heads, 0.0\)"),
    ],
)
def test_wrong_sinks(sinks, error, says):
    output, lse = attended("numpy")
    with pytest.raises(error, match=says):
        with_sinks(output, lse, sinks)
    with pytest.raises(ValueError, match=r"must be \(..., heads, n_q, d_v\)"):
        with_sinks(output, lse[..., :1], sinks=np.zeros(3))
