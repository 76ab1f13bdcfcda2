"""Packed sequences of different lengths: each as if it were alone."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sdpa_helpers.attention import scaled_dot_product_attention, varlen_attn
from sdpa_helpers.attention.decoding.varlen import AuxRequest

from .cases import make, reference, to_float64, to_kind

LENGTHS = [(3, 3), (1, 4), (0, 2), (2, 0), (5, 2), (4, 6)]  # queries and keys of each sequence
OFFSETS = [np.cumsum([0, *lengths]).astype(np.int32) for lengths in zip(*LENGTHS, strict=True)]
T_Q, T_K = (int(offsets[-1]) for offsets in OFFSETS)
WINDOWS = [(-1, -1), (-1, 0), (1, 0), (0, 1), (2, -1), (-1, 1)]


def packed(kind="numpy", heads=4, kv_heads=2):
    rng = np.random.default_rng(0)
    shapes = [(T_Q, heads, 3), (T_K, kv_heads, 3), (T_K, kv_heads, 2)]
    arrays = [to_kind(rng.standard_normal(shape), kind, "float64") for shape in shapes]
    return arrays, [to_kind(x, kind, "int32") for x in OFFSETS]


def seen(n_q, n_k, window):
    """As flash-attn says it: keys i + n_k − n_q − left … i + n_k − n_q + right."""
    left, right = (np.inf if side < 0 else side for side in window)
    place = np.arange(n_q)[:, None] + n_k - n_q
    return (np.arange(n_k) >= place - left) & (np.arange(n_k) <= place + right)


@pytest.mark.parametrize("window_size", WINDOWS)
def test_each_sequence_is_as_if_alone(kind, window_size):
    arrays, offsets = packed(kind)
    output, lse = varlen_attn(
        *arrays,
        *offsets,
        5,
        6,
        enable_gqa=True,
        window_size=window_size,
        scale=0.7,
        return_aux=AuxRequest(lse=True),
    )
    query, key, value = (to_float64(x).swapaxes(0, 1) for x in arrays)
    expected, sums = [], []
    for q0, q1, k0, k1 in zip(OFFSETS[0], OFFSETS[0][1:], OFFSETS[1], OFFSETS[1][1:], strict=False):
        case = replace(make(), query=query[:, q0:q1], key=key[:, k0:k1], value=value[:, k0:k1])
        case = replace(case, attn_mask=seen(q1 - q0, k1 - k0, window_size), enable_gqa=True, scale=0.7)
        answer, weights = reference(case)
        expected.append(answer.swapaxes(0, 1))
        scores = 0.7 * case.query @ np.repeat(case.key, 2, 0).swapaxes(-2, -1)
        sums.append(np.exp(np.where(weights > 0, scores, -np.inf)).sum(-1).T)
    np.testing.assert_allclose(to_float64(output), np.concatenate(expected), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.exp(to_float64(lse)), np.concatenate(sums), rtol=1e-9)
    alone = varlen_attn(*arrays, *offsets, enable_gqa=True, window_size=window_size, scale=0.7)
    np.testing.assert_allclose(to_float64(alone), to_float64(output), rtol=1e-12)


@pytest.mark.parametrize("window_size", [(-1, -1), (-1, 0), (2, 0)])
def test_gradients_flow(torch, window_size):
    arrays, offsets = packed("torch")
    arrays = [x.requires_grad_() for x in arrays]
    output = varlen_attn(*arrays, *offsets, enable_gqa=True, window_size=window_size)
    ours = torch.autograd.grad(output.square().sum(), arrays)
    padded = torch.zeros(T_Q, T_K, dtype=torch.bool)  # one call, in which sequences hide each other
    for q0, q1, k0, k1 in zip(OFFSETS[0], OFFSETS[0][1:], OFFSETS[1], OFFSETS[1][1:], strict=False):
        padded[q0:q1, k0:k1] = torch.from_numpy(seen(q1 - q0, k1 - k0, window_size))
    whole = scaled_dot_product_attention(*(x.swapaxes(0, 1) for x in arrays), padded, enable_gqa=True)
    torch.testing.assert_close(output, whole.swapaxes(0, 1))
    torch.testing.assert_close(ours, torch.autograd.grad(whole.square().sum(), arrays))


def test_names_are_those_of_torch(torch):
    """Whatever ours takes besides, theirs are there, in their order and with their defaults."""
    import inspect

    varlen = pytest.importorskip("torch.nn.attention.varlen")
    theirs, ours = (inspect.signature(function).parameters for function in (varlen.varlen_attn, varlen_attn))
    left_out = {"seqused_k", "block_table", "num_splits"}  # paged caches, and how a kernel shares its work
    names = [name for name in theirs if name not in left_out]
    assert [name for name in ours if name in theirs] == names
    assert all(ours[name].default == theirs[name].default for name in names if name not in ("max_q", "max_k"))
    arrays, offsets = packed("torch")
    request = varlen.AuxRequest(lse=True)
    assert varlen_attn(*arrays, *offsets, enable_gqa=True, return_aux=request)[1].shape == (T_Q, 4)


@pytest.mark.parametrize(
    ("offsets", "error", "says"),
    [
        ([1, 4, T_Q], ValueError, "cu_seq_q starts with 1"),
        ([0, 6, 4, T_Q], ValueError, "decreases from 6 to 4 at sequence 1.*np.cumsum"),
        (
            [0, 4, T_Q - 1],
            ValueError,
            rf"ends with {T_Q - 1}, but there are {T_Q} tokens \(query is \(tokens, heads, f",
        ),
        ([0], ValueError, r"shape \(1,\)"),
        ([[0, T_Q]], ValueError, r"shape \(1, 2\)"),
        ([0.0, T_Q], TypeError, "of dtype float64"),
        ([0, T_Q], ValueError, "cu_seq_q is of 1 sequences and cu_seq_k of 6.*some sequences may have none"),
    ],
)
def test_wrong_offsets(offsets, error, says):
    arrays, (_, columns) = packed()
    with pytest.raises(error, match=says):
        varlen_attn(*arrays, np.array(offsets), columns, enable_gqa=True)


def test_other_wrong_arguments():
    (query, key, value), offsets = packed()
    attend = partial(varlen_attn, query, key, value, *offsets, enable_gqa=True)
    with pytest.raises(ValueError, match="max_q is 4, but sequence 4 is 5 long"):
        attend(4, 6)
    with pytest.raises(ValueError, match=r"window_size is \(-2, 0\)"):
        attend(window_size=(-2, 0))
    with pytest.raises(TypeError, match="max_q is 'a', but must be an integer"):
        attend("a", 6)
    for return_aux in (True, {"lse": True}):  # the LSE that is asked for is never left out silently
        with pytest.raises(TypeError, match=r"return_aux is .*, but must be AuxRequest\(lse=True\)"):
            attend(return_aux=return_aux)
    with pytest.raises(ValueError, match=r"window_size is 3.*, -1 for all"):
        attend(window_size=3)
    with pytest.raises(TypeError, match="cu_seq_q is list, but must be an array"):
        varlen_attn(query, key, value, [0, T_Q], offsets[1])
    with pytest.raises(ValueError, match=r"query has shape .* packed sequences are"):
        varlen_attn(query[:, 0], key, value, *offsets)
    with pytest.raises(ValueError, match="each token has one of both"):
        varlen_attn(query, key, value[1:], *offsets, enable_gqa=True)
