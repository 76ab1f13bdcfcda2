"""mask_mod and score_mod, on every backend that takes them, against torch's own flex_attention.

It is asked through the function that computes it on a CPU, math_attention: the public one compiles for seconds, and
has no gradient there.
"""

import functools
import math

import numpy as np
import pytest

from sdpa_helpers.attention import (
    alibi,
    and_masks,
    causal,
    create_block_mask,
    documents,
    explain_backend,
    known_backends,
    lower_right,
    or_masks,
    padding,
    prefix_lm,
    relative_bias,
    scaled_dot_product_attention,
    sliding_window,
    softcap,
)
from sdpa_helpers.attention.variants import mods

from .cases import make, to_float64, to_kind

N_Q, N_K = 7, 9
RNG = np.random.default_rng(0)
TABLE = RNG.standard_normal((4, 5))
IDS = np.sort(RNG.integers(0, 4, (2, N_K)), axis=1)
VARIANTS = {
    "causal": {"mask_mod": causal},
    "lower right": {"mask_mod": lower_right(N_Q, N_K)},
    "a window": {"mask_mod": sliding_window(3)},
    "a prefix": {"mask_mod": prefix_lm(3)},
    "prefixes": {"mask_mod": prefix_lm(np.array([2, 5]))},
    "documents": {"mask_mod": documents(IDS)},
    "documents of all": {"mask_mod": documents(IDS[0])},
    "padding": {"mask_mod": padding([9, 4])},
    "causal documents": {"mask_mod": and_masks(causal, documents(IDS))},
    "a window or a prefix": {"mask_mod": or_masks(sliding_window(3), lambda b, h, i, j: j < 2)},
    "empty rows": {"mask_mod": lambda b, h, i, j: i - j >= 3},
    "ALiBi": {"score_mod": alibi(4), "mask_mod": causal},
    "softcap": {"score_mod": softcap(0.5)},
    "a relative bias": {"score_mod": relative_bias(TABLE), "mask_mod": sliding_window(4)},
    "hiding by scores": {"score_mod": lambda score, b, h, i, j: score + 0.0 * h - (j % 3 == 1) * 1e30},
}


def case(dtype="float64", **options):
    """Two sequences, four heads that share two."""
    query, key, value = make(2, 4, n_q=N_Q, n_k=N_K, seed=1).arrays
    return query * 3, key[:, :2], value[:, :2]


@functools.cache
def of_flex(name):
    """Output, LSE and gradients for the sum of output ∘ weights and LSE, in float64, as arrays."""
    import torch
    from torch._higher_order_ops.flex_attention import math_attention
    from torch.nn.attention.flex_attention import _identity, noop_mask

    variant = VARIANTS[name]
    arrays = [to_kind(x, "torch", "float64").requires_grad_() for x in case()]
    mask_mod, score_mod = variant.get("mask_mod", noop_mask), variant.get("score_mod", _identity)
    output, lse, _ = math_attention(*arrays, score_mod, (mask_mod,), 3**-0.5, {})
    lse = lse * math.log(2)
    loss = (output * factors(output)).sum() + lse[lse > -torch.inf].sum()
    return [to_float64(x) for x in (output, lse, *torch.autograd.grad(loss, arrays))]


def factors(output):
    """Different ones for each number of the output."""
    import torch

    return torch.arange(output.numel(), dtype=output.dtype).reshape(output.shape).sin()


@pytest.mark.parametrize("name", VARIANTS)
def test_as_flex_attention(backend, torch, name):
    """Forward and LSE in both precisions, gradients where the backend has them."""
    output, lse, *gradients = of_flex(name)
    kind = known_backends.BACKENDS[backend].kind
    for dtype, tolerance in (("float64", 1e-11), ("float32", 1e-5)):
        arrays = [to_kind(x, kind, dtype) for x in case()]
        if kind == "torch":
            arrays = [x.requires_grad_() for x in arrays]
        ours = scaled_dot_product_attention(
            *arrays, enable_gqa=True, backend=backend, return_lse=True, **VARIANTS[name]
        )
        assert all(str(x.dtype).endswith(dtype) for x in ours)
        for got, expected in zip(ours, (output, lse), strict=True):
            np.testing.assert_allclose(to_float64(got), expected, rtol=tolerance, atol=tolerance)
        if kind == "torch":
            loss = (ours[0] * factors(ours[0])).sum() + ours[1][ours[1] > -torch.inf].sum()
            ours = torch.autograd.grad(loss, arrays)
            for got, expected in zip(ours, gradients, strict=True):
                np.testing.assert_allclose(to_float64(got), expected, rtol=tolerance, atol=10 * tolerance)


def test_a_mask_and_mods_together(backend):
    """Each may hide; a float mask is added after score_mod. Against the formula with everything in one array."""
    query, key, value = case()
    i, j = np.arange(N_Q)[:, None], np.arange(N_K)
    bias = RNG.standard_normal((N_Q, N_K))
    kind = known_backends.BACKENDS[backend].kind

    def attend(backend, kind, mask, **options):
        mask = to_kind(mask, kind, "float64")
        arrays = (to_kind(x, kind, "float64") for x in (query, key, value))
        return to_float64(
            scaled_dot_product_attention(*arrays, mask, enable_gqa=True, backend=backend, **options)
        )

    together = attend(
        backend, kind, bias, is_causal=True, mask_mod=sliding_window(3), score_mod=lambda s, *_: s * 2
    )
    seen = (j <= i) & (i - j < 3)
    by_hand = attend("numpy", "numpy", np.where(seen, bias, -np.inf), scale=2 * 3**-0.5)
    np.testing.assert_allclose(together, by_hand, rtol=1e-10, atol=1e-12)
    boolean = attend(backend, kind, bias > 0, mask_mod=sliding_window(3))
    np.testing.assert_allclose(boolean, attend("numpy", "numpy", seen & (bias > 0)), rtol=1e-10, atol=1e-12)


def test_what_a_score_mod_gives_need_not_be_of_the_shape_and_dtype_of_the_scores(backend):
    kind = known_backends.BACKENDS[backend].kind
    arrays = [to_kind(x, kind, "float32") for x in make(2, n_q=5, n_k=6).arrays]
    output = scaled_dot_product_attention(
        *arrays,
        backend=backend,
        score_mod=lambda score, b, h, i, j: j.astype(float) if kind == "numpy" else j.double(),
    )
    by_mask = scaled_dot_product_attention(*arrays, to_kind(np.arange(6.0), kind, "float32"), scale=0.0)
    np.testing.assert_allclose(output, by_mask, rtol=1e-5)


def test_a_mod_written_for_tensors_is_called_with_tensors(torch):
    """Also by backends that compute in NumPy; and one for arrays, with arrays, by those that compute in torch."""
    ids = torch.tensor(IDS)

    def mask_mod(b, h, q_idx, kv_idx):
        return b.new_ones((), dtype=torch.bool) & ids[b, q_idx].eq(ids[b, kv_idx])

    def score_mod(score, b, h, q_idx, kv_idx):
        return torch.where(q_idx >= kv_idx, score, -float("inf"))

    tensors = [torch.tensor(x) for x in case()]
    options = {"mask_mod": mask_mod, "score_mod": score_mod, "enable_gqa": True}
    expected = to_float64(scaled_dot_product_attention(*tensors, backend="torch", **options))
    for backend in ("numpy", "numpy-tiled", "auto"):
        got = scaled_dot_product_attention(*tensors, backend=backend, **options)
        np.testing.assert_allclose(to_float64(got), expected, rtol=1e-11)
    of_arrays = scaled_dot_product_attention(
        *case(),
        backend="torch",
        enable_gqa=True,
        mask_mod=lambda b, h, i, j: np.equal(IDS[b, i], IDS[b, j]),
        score_mod=lambda score, b, h, i, j: np.where(i >= j, score, -np.inf),
    )
    np.testing.assert_allclose(of_arrays, expected, rtol=1e-11)


def test_leading_dimensions():
    """All but the last count as b, one after another; without any, b and h are 0."""
    query, key, value = make(2, 3, 4, n_q=5, n_k=5).arrays
    lengths = np.arange(6) % 5 + 1
    output = scaled_dot_product_attention(query, key, value, mask_mod=padding(lengths), score_mod=alibi(4))
    for b, at in enumerate(np.ndindex(2, 3)):
        slopes = 2.0 ** (-2 * np.arange(1, 5))[:, None, None] * (np.arange(5) - np.arange(5)[:, None])
        mask = np.where(np.arange(5) < lengths[b], slopes, -np.inf)
        expected = scaled_dot_product_attention(query[at], key[at], value[at], mask)
        np.testing.assert_allclose(output[at], expected, rtol=1e-11)
    one = scaled_dot_product_attention(
        *(x[0, 0, 0] for x in (query, key, value)), mask_mod=padding(lengths), score_mod=alibi(4)
    )
    np.testing.assert_allclose(one, output[0, 0, 0], rtol=1e-11)


def test_slopes_of_alibi():
    """Those of the authors' code, for powers of two and others (Press et al., transformer.py, get_slopes)."""
    np.testing.assert_allclose(mods.alibi_slopes(4), [2**-2, 2**-4, 2**-6, 2**-8])
    np.testing.assert_allclose(mods.alibi_slopes(6), [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3])


def test_what_score_mod_was_made_with_gets_a_gradient(torch, backend):
    """It is not lost on any backend: those that would lose it leave the call to the formula, or refuse it."""
    arrays = [torch.tensor(x) for x in case()]

    def gradient(table, backend):
        output = scaled_dot_product_attention(
            *arrays, enable_gqa=True, backend=backend, score_mod=relative_bias(table)
        )
        return torch.autograd.grad(output.square().sum(), table)[0]

    table = torch.tensor(TABLE, requires_grad=True)
    if known_backends.BACKENDS[backend].kind == "numpy":
        with pytest.raises(ValueError, match="gradient"):
            gradient(table, backend)
        return
    small = torch.zeros(4, 5, dtype=torch.float64)
    small[1, 2] = 1e-5

    def loss(table):
        output = scaled_dot_product_attention(
            *arrays, enable_gqa=True, score_mod=relative_bias(table), backend="torch"
        )
        return output.square().sum()

    slope = (loss(table + small) - loss(table - small)) / 2e-5
    torch.testing.assert_close(gradient(table, backend)[1, 2], slope, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(gradient(table, "auto"), gradient(table, backend))


REFUSED = {
    "no function": (TypeError, {"mask_mod": True}, ("mask_mod is True", "function of (b, h, i, j)")),
    "another number of arguments": (
        TypeError,
        {"score_mod": causal},
        ("score_mod", "function of (score, b, h, i, j)", "too many positional"),
    ),
    "numbers for booleans": (
        TypeError,
        {"mask_mod": lambda b, h, i, j: i - j},
        ("mask_mod gave int64", "True = this", "(…) != 0"),
    ),
    "booleans for scores": (
        TypeError,
        {"score_mod": lambda score, b, h, i, j: i >= j},
        ("score_mod gave bool", "is a mask_mod"),
    ),
    "a plain True": (
        TypeError,
        {"mask_mod": lambda b, h, i, j: True},
        ("mask_mod gave True of type bool", "must give an array", "j == j"),
    ),
    "an array": (
        TypeError,
        {"mask_mod": np.ones((5, 6), bool)},
        ("mask_mod is an array of shape (5, 6): pass it as attn_mask",),
    ),
    "not called": (TypeError, {"mask_mod": sliding_window}, ("Did you mean sliding_window(size)?",)),
    "too few heads": (
        ValueError,
        {"score_mod": alibi(3), "shape": (2, 4)},
        ("score_mod was made for 3 heads, but here are 4",),
    ),
    "too many sequences": (
        ValueError,
        {"mask_mod": and_masks(causal, padding([1, 2, 3])), "shape": (2, 4)},
        ("mask_mod was made for 3 sequences, but here are 2",),
    ),
    "what is looked up is too short": (
        IndexError,
        {"mask_mod": documents([0, 0, 1])},
        ("mask_mod looked up i = 4 in an array of length 3",),
    ),
    "a whole mask": (
        ValueError,
        {"mask_mod": lambda b, h, i, j: np.tri(5, 6) > 0},
        ("mask_mod gave shape (5, 6)", "broadcasts to (2, 2)", "table[i, j]"),
    ),
    "if": (
        ValueError,
        {"mask_mod": lambda b, h, i, j: i >= j if i > 2 else j == 0},
        ("mask_mod", "if,", "& | ~", "np.where or torch.where"),
    ),
    "and": (ValueError, {"mask_mod": lambda b, h, i, j: 0 < i < j}, ("truth value", "0 < i < j")),
    "max": (
        ValueError,
        {"score_mod": lambda score, b, h, i, j: score - max(i, j)},
        ("score_mod", "truth value"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, kind):
    error, options, parts = REFUSED[name]
    lead = options.get("shape", ())
    options = {name: mod for name, mod in options.items() if name != "shape"}
    if name == "a whole mask" and kind == "torch":
        options = {"mask_mod": lambda b, h, i, j: i.new_ones(5, 6) > 0}
    arrays = [to_kind(x, kind, "float64") for x in make(*lead).arrays]
    for function in (scaled_dot_product_attention, explain_backend):
        with pytest.raises(error) as caught:
            function(*arrays, **options)
        assert not [part for part in parts if part not in str(caught.value)], caught.value


def test_an_error_of_the_mod_itself_comes_through():
    with pytest.raises(ZeroDivisionError):
        scaled_dot_product_attention(*make().arrays, mask_mod=lambda b, h, i, j: j <= 1 / 0)


@pytest.mark.parametrize(
    ("make_mod", "message"),
    [
        (lambda: sliding_window(0), "size is 0, but must be at least 1"),
        (lambda: sliding_window(2.5), "size is 2.5, but must be an integer"),
        (lambda: alibi(0), "heads is 0, but must be at least 1"),
        (lambda: softcap(0), "cap is 0, but must be a finite number greater than 0"),
        (lambda: relative_bias(np.ones((4, 6))), r"shape \(4, 6\), but must be \(H, 2 m \+ 1\)"),
        (lambda: documents(3), r"must be \(n,\) or \(B, n\)"),
        (lambda: padding([[1]]), r"must be a number or \(B,\)"),
    ],
)
def test_what_no_mod_can_be_made_with(make_mod, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make_mod()


def test_a_mod_for_the_other_kind_of_arrays_is_told_what_to_write(torch):
    from torch.nn.attention.flex_attention import noop_mask

    arrays = make().arrays
    for mod in (lambda b, h, i, j: torch.where(i >= j, True, False), noop_mask):
        with pytest.raises(TypeError, match=r"(?s)is written for tensors.*np\.where for torch\.where"):
            scaled_dot_product_attention(*arrays, mask_mod=mod)
    with pytest.raises(TypeError, match=r"gave an array of shape \(2, 2\).*write torch\.where"):
        scaled_dot_product_attention(
            *map(torch.tensor, arrays), mask_mod=lambda b, h, i, j: np.where(i >= j, True, False)
        )


def test_explained(torch):
    """A backend that takes mods is named, and why others don't."""
    arrays = [torch.tensor(x) for x in case()]
    explained = explain_backend(*arrays, enable_gqa=True, mask_mod=causal, backend="torch-fused")
    assert explained.backend == "torch"
    assert "not torch-fused" in str(explained)
    assert "mask_mod" in str(explained)


def test_torch_compiles_a_call_with_mods(torch, monkeypatch):
    """The first call of a process too, when no backend is loaded, and one that the formula stands in for."""
    arrays = [torch.tensor(x) for x in case()]
    blocks = create_block_mask(documents(IDS), 2, None, N_Q, N_K, BLOCK_SIZE=4)
    monkeypatch.setattr(known_backends, "LOADED", {})

    def attend(*arrays):
        return scaled_dot_product_attention(
            *arrays, enable_gqa=True, mask_mod=blocks, score_mod=alibi(4), backend="torch-fused"
        )

    compiled = torch.compile(attend, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(*arrays), attend(*arrays))
