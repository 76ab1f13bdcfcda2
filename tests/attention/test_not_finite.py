"""NaN and ±∞ in one row reach the rows that they have to do with, and no others: on every backend.

Scores are small or large here, because backends take shorter ways where all are small; and rows lie on both sides of
the borders of tiles.
"""

import importlib
from dataclasses import replace
from functools import cache
from math import inf, nan

import numpy as np
import pytest

from sdpa_helpers import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.attention.layout import Head, Rule

from .cases import Case, make, reference

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, about ∞ − ∞

BAD = [nan, inf, -inf]
N = 11  # rows
SPREADS = [0.1, 30.0]  # of the numbers in query and key: scores below 1, and in the hundreds


def spread_out(spread: float, n: int, **options) -> Case:
    case = make(n_q=n, n_k=n, d_k=4, d_v=4, **options)
    return replace(case, query=case.query * spread, key=case.key * spread)


def with_bad(case: Case, where: str, row: int, bad: float) -> Case:
    """The case with one number of one row of query, key or value put to `bad`."""
    array = getattr(case, where).copy()
    array[row, 1] = bad
    return replace(case, **{where: array})


def attend(case: Case, backend: str, dtype="float32") -> np.ndarray:
    arrays = (x.astype(dtype) for x in case.arrays)
    return scaled_dot_product_attention(*arrays, case.attn_mask, backend=backend, **case.options)


def output_and_gradients(case: Case, backend: str, torch) -> list[np.ndarray]:
    """In float64, for a gradient of the output that is 1 throughout."""
    if BACKENDS[backend].own_passes:
        passes = importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[backend].module}")
        arrays, rule = Head(*case.arrays), Rule(case.attn_mask, case.is_causal, 0.5)
        whole = passes.attention_forward(arrays, rule)
        gradients = passes.attention_backward(arrays, rule, False, whole, np.ones_like(whole.output))
        return [whole.output, *gradients]
    name = backend if BACKENDS[backend].kind == "torch" else "torch"
    leaves = [torch.tensor(x, requires_grad=True) for x in case.arrays]
    mask = None if case.attn_mask is None else torch.tensor(case.attn_mask)
    output = scaled_dot_product_attention(*leaves, mask, is_causal=case.is_causal, scale=0.5, backend=name)
    output.sum().backward()
    return [output.detach().numpy(), *(x.grad.numpy() for x in leaves)]


@cache  # the same for every backend
def clean_gradients(spread: float, is_causal: bool) -> list[np.ndarray]:
    return output_and_gradients(
        spread_out(spread, N, is_causal=is_causal), "torch", importlib.import_module("torch")
    )


def assert_rows_as(ours, theirs, rows) -> None:
    np.testing.assert_allclose(ours[rows], theirs[rows], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("is_causal", [False, True])
def test_in_a_query(backend, spread, is_causal, bad):
    """Its own row is NaN; the others are what they are without it."""
    case = spread_out(spread, N, is_causal=is_causal)
    output = attend(with_bad(case, "query", 4, bad), backend)
    assert_rows_as(output, reference(case)[0], np.arange(N) != 4)
    if np.isnan(bad):
        assert np.isnan(output[4]).all()


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("hidden_by", ["causality", "a boolean mask"])
def test_in_a_key(backend, spread, hidden_by, bad):
    """Rows that may not attend to it are what they are without it; the others become NaN of NaN."""
    sees = np.tri(N, dtype=bool)[:, 4] if hidden_by == "causality" else np.arange(N) % 3 == 0
    mask = None if hidden_by == "causality" else np.where(np.arange(N) == 4, sees[:, None], True)
    case = spread_out(spread, N, attn_mask=mask, is_causal=mask is None)
    output = attend(with_bad(case, "key", 4, bad), backend)
    assert_rows_as(output, reference(case)[0], ~sees)
    if np.isnan(bad):
        assert np.isnan(output[sees]).all()


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("where", ["query", "key"])
def test_on_both_sides_of_the_borders_of_tiles(own_tiles, where, bad):
    """Which rows are NaN, and the numbers of the others, are the formula's: beyond row 512 too."""
    for row in (511, 599):
        case = with_bad(spread_out(30.0, 600, is_causal=True), where, row, bad)
        case.query[:512] /= 1e4  # large scores in one tile only, beside the NaN
        output, expected = attend(case, own_tiles), attend(case, "numpy")
        np.testing.assert_allclose(output, expected, rtol=1e-3, atol=1e-3, equal_nan=True)
        assert np.isfinite(expected[[0, 510]]).all()


@pytest.mark.parametrize("bad", BAD)
def test_a_minus_infinity_of_all_scores_is_a_row_that_sees_nothing(backend, bad):
    """As where a mask hides them. With +∞ or NaN among them the row is NaN."""
    case = Case(np.full((3, 2), 1.0), np.linspace(1, 2, 2 * N).reshape(N, 2), np.ones((N, 2)))
    case.query[1, 0] = bad
    output = attend(case, backend)
    assert np.isfinite(output[[0, 2]]).all()
    assert (output[1] == 0).all() if bad == -inf else np.isnan(output[1]).all()


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients_with_it_in_a_query(backend, torch, spread, is_causal, bad):
    """The other queries' are what they are without it; those of keys and values are NaN, or right, never wrong."""
    case = spread_out(spread, N, is_causal=is_causal)
    clean = clean_gradients(spread, is_causal)
    output, d_query, d_key, d_value = output_and_gradients(with_bad(case, "query", 4, bad), backend, torch)
    others = np.arange(N) != 4
    for ours, theirs in zip((output, d_query), clean, strict=False):
        np.testing.assert_allclose(ours[others], theirs[others], rtol=1e-8, atol=1e-8)
    if np.isnan(bad):
        seen = slice(0, 5) if is_causal else slice(None)
        assert np.isnan(d_query[4]).all()
        assert np.isnan(d_key[seen]).all()
        assert np.isnan(d_value[seen]).all()
    if is_causal:  # the keys after it: no query but later ones has to do with them
        for ours, theirs in zip((d_key, d_value), clean[2:], strict=True):
            there = np.isfinite(ours[5:])
            np.testing.assert_allclose(ours[5:][there], theirs[5:][there], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("spread", SPREADS)
def test_gradients_with_it_in_a_key_that_some_may_not_see(backend, torch, spread):
    """0 · NaN may make the gradients of queries NaN that may not see it; no number is finite and wrong."""
    case = spread_out(spread, N, is_causal=True)
    clean = clean_gradients(spread, True)[1]
    output, d_query, *_ = output_and_gradients(with_bad(case, "key", 4, nan), backend, torch)
    assert np.isfinite(output[:4]).all()
    assert np.isnan(d_query[4:]).all()
    there = np.isfinite(d_query[:4])
    np.testing.assert_allclose(d_query[:4][there], clean[:4][there], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("bad", BAD)
def test_in_a_value(backend, bad):
    """It reaches the rows that may attend to it, be its weight 0; no other column, and no other head.

    Rows that may not attend to it may get it too (0 · NaN is NaN): that is not promised, here as in torch.
    """
    case = spread_out(30.0, N, is_causal=True)
    two_heads = Case(*(np.stack([x, x]) for x in case.arrays), is_causal=True)
    two_heads.value[0, 4, 1] = bad
    output, expected = attend(two_heads, backend), reference(case)[0]
    assert not np.isfinite(output[0, 4:, 1]).any()
    assert_rows_as(output[0], expected, (slice(None), [0, 2, 3]))
    assert_rows_as(output[1], expected, slice(None))


@pytest.mark.parametrize(
    ("n", "masked", "reason"), [(5, False, "fewer than 16 keys"), (20, True, "hides no NaN")]
)
def test_nan_does_not_go_to_a_kernel_that_loses_or_spreads_it(torch, n, masked, reason):
    """torch 2.13 on a CPU: a row of NaN comes out as 0 where the keys are few; a mask hides no NaN."""
    case = with_bad(spread_out(1.0, n), "key", 2, nan)
    arrays = [torch.tensor(x) for x in case.arrays]
    mask = torch.arange(n) != 2 if masked else None
    chosen = explain_backend(*arrays, mask)
    assert chosen.backend == "torch"
    assert "not torch-fused" in str(chosen)
    assert reason in str(chosen)
    output = scaled_dot_product_attention(*arrays, mask)
    assert output.isfinite().all() if masked else output.isnan().all()
    finite = [torch.tensor(x) for x in spread_out(1.0, n).arrays]
    assert explain_backend(*finite, mask).backend == "torch-fused"


def test_numbers_whose_squares_are_0_prove_nothing_small(backend):
    """‖q‖² is 0 in float32 here, and scale · ‖q‖ ‖k‖ is not."""
    query, key = np.full((64, 2), 1e-23, np.float32), np.full((64, 2), 1e15, np.float32)
    key[0] *= 2
    value = key / key.max()
    output = scaled_dot_product_attention(query, key, value, scale=1e10, backend=backend)
    np.testing.assert_allclose(output, 1.0)
