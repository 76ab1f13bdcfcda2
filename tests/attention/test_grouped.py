"""Few queries of grouped heads: laid below one another, with the answer of the call as it was."""

from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.attention import grouped, scaled_dot_product_attention
from sdpa_helpers.attention.layout import Head, Rule, Wants

from .cases import assert_matches, make, to_float64, to_kind


def grouped_case(n_q=2, heads=6, kv_heads=3, batch=(2,), **options):
    case = make(*batch, heads, n_q=n_q, n_k=5, enable_gqa=True, **options)
    return replace(case, key=case.key[..., :kv_heads, :, :], value=case.value[..., :kv_heads, :, :])


@pytest.mark.parametrize("batch", [(2,), ()])
def test_output_and_weights(backend, kind, batch):
    case = grouped_case(batch=batch)
    assert_matches(case, backend, kind)
    if batch:
        assert_matches(replace(case, key=case.key[:1]), backend, kind)  # the same keys for all sequences


def test_lse(kind):
    case = grouped_case()
    arrays = [to_kind(x, kind, "float64") for x in case.arrays]
    _, lse = scaled_dot_product_attention(*arrays, enable_gqa=True, return_lse=True)
    scores = case.query @ np.repeat(case.key, 2, axis=-3).swapaxes(-2, -1) * case.query.shape[-1] ** -0.5
    np.testing.assert_allclose(to_float64(lse), np.log(np.exp(scores).sum(-1)), rtol=1e-12)


def test_gradients(torch):
    """Those of the heads that are laid below one another, too."""
    arrays = [torch.tensor(x, requires_grad=True) for x in grouped_case().arrays]
    ours = scaled_dot_product_attention(*arrays, enable_gqa=True)
    theirs = torch.nn.functional.scaled_dot_product_attention(*arrays, enable_gqa=True)
    grads = [torch.autograd.grad(x.sin().sum(), arrays) for x in (ours, theirs)]
    torch.testing.assert_close(*grads)


PLAIN = {"rule": Rule(), "wants": Wants(enable_gqa=True)}


@pytest.mark.parametrize(
    ("case", "changed", "packs"),
    [
        (grouped_case(), {}, True),
        (grouped_case(n_q=grouped.FEW_QUERIES), {}, True),
        (grouped_case(n_q=grouped.FEW_QUERIES + 1), {}, False),
        (grouped_case(kv_heads=6), {}, False),
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
    assert grouped.can_pack(Head(*case.arrays), **(PLAIN | changed)) is packs


def test_keys_are_not_copied():
    arrays = Head(*grouped_case().arrays)
    packed = grouped.pack(arrays)
    assert packed.query.shape == (2, 3, 2 * 2, 3)
    assert packed.key is arrays.key
    assert np.shares_memory(packed.query, arrays.query)
