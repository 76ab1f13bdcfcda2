"""Few queries: those of grouped heads are laid below one another, BLAS has one thread, and the answer is the same."""

from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.attention import few_queries, scaled_dot_product_attention, threads
from sdpa_helpers.attention.layout import BackendResult, Head, Rule, Wants

from .cases import assert_matches, make, to_float64, to_kind
from .conftest import Blas


def grouped_case(n_q=2, heads=6, kv_heads=3, batch=(2,), **options):
    case = make(*batch, heads, n_q=n_q, n_k=5, enable_gqa=True, **options)
    return replace(case, key=case.key[..., :kv_heads, :, :], value=case.value[..., :kv_heads, :, :])


def test_lse(kind):
    case = grouped_case()
    arrays = [to_kind(x, kind, "float64") for x in case.arrays]
    _, lse = scaled_dot_product_attention(*arrays, enable_gqa=True, return_lse=True)
    scores = case.query @ np.repeat(case.key, 2, axis=-3).swapaxes(-2, -1) * case.query.shape[-1] ** -0.5
    np.testing.assert_allclose(to_float64(lse), np.log(np.exp(scores).sum(-1)), rtol=1e-12)


PLAIN = {"rule": Rule(), "wants": Wants(enable_gqa=True)}


@pytest.mark.parametrize(
    ("case", "changed", "packs"),
    [
        (grouped_case(), {}, True),
        (grouped_case(kv_heads=6), {}, True),
        (grouped_case(), {"wants": Wants()}, False),
        (grouped_case(), {"wants": Wants(enable_gqa=True, dropout_p=0.5)}, False),
        (grouped_case(), {"rule": Rule(is_causal=True)}, False),
        (grouped_case(), {"rule": Rule(mask=np.ones((2, 5), bool))}, False),
        (grouped_case(), {"rule": Rule(mask_mod=lambda b, h, i, j: j > 0)}, False),
        (grouped_case(), {"rule": Rule(score_mod=lambda s, b, h, i, j: s)}, False),
        (replace(grouped_case(), value=grouped_case(kv_heads=1).value), {}, False),
    ],
)
def test_only_where_all_rows_are_alike(case, changed, packs):
    assert few_queries.can_pack(Head(*case.arrays), **(PLAIN | changed)) is packs


def test_keys_are_not_copied():
    arrays = Head(*grouped_case().arrays)
    packed = few_queries.pack(arrays)
    assert packed.query.shape == (2, 3, 2 * 2, 3)
    assert packed.key is arrays.key
    assert np.shares_memory(packed.query, arrays.query)


@pytest.mark.parametrize(("n_q", "numbers", "by_heads", "blas"), [
    (32, 2**20, True, 1), (33, 2**20, True, 4), (32, 2**20 - 4, True, 4), (32, 2**20, False, 4)])  # fmt: skip
def test_blas_has_one_thread_for_few_rows_and_many_keys(monkeypatch, n_q, numbers, by_heads, blas):
    """And its own number again afterwards."""
    library = Blas(4)
    monkeypatch.setattr(threads, "_libraries", lambda _: [library])
    query, key = np.broadcast_to(1.0, (n_q, 4)), np.broadcast_to(1.0, (numbers // 4, 4))
    seen = []

    def attention(*_):
        seen.append(library.get_num_threads())
        return BackendResult(query)

    few_queries.attend(attention, Head(query, key, key), Rule(), Wants(), by_heads=by_heads)
    assert seen == [blas]
    assert library.get_num_threads() == 4


@pytest.mark.parametrize(
    "attn_mask", [None, np.arange(5) < 3, np.array([[0.5], [-np.inf]])], ids=["", "bool", "float"]
)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("batch", [(2,), ()])
def test_head_by_head_in_threads(monkeypatch, batch, is_causal, attn_mask):
    """With heads that share keys, and keys that a batch shares; output, weights and LSE."""
    monkeypatch.setattr(few_queries, "MANY_NUMBERS", 0)
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(few_queries, "MANY_OF_A_HEAD", 0)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setattr(threads, "_libraries", lambda _: [Blas(4)])
    case = replace(grouped_case(batch=batch), is_causal=is_causal, attn_mask=attn_mask)
    case = replace(case, key=case.key[:1]) if batch else case
    assert_matches(case, "numpy", "numpy")
    options = {"enable_gqa": True, "is_causal": is_causal, "attn_mask": attn_mask, "return_lse": True}
    ours = scaled_dot_product_attention(*case.arrays, backend="numpy", **options)
    for mine, tiled in zip(
        ours, scaled_dot_product_attention(*case.arrays, backend="numpy-tiled", **options), strict=True
    ):
        np.testing.assert_allclose(mine, tiled, rtol=1e-12)


def test_no_heads(monkeypatch):
    monkeypatch.setattr(few_queries, "MANY_NUMBERS", 0)
    none = np.zeros((0, 1, 3))
    assert scaled_dot_product_attention(none, np.zeros((1, 5, 3)), np.zeros((1, 5, 2))).shape == (0, 1, 2)
