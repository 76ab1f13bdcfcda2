"""torch-tiled's own: what it keeps for the backward pass, heads that go through it together, gradients of mods."""

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.attention.layout import Tiles

from .cases import make

BOTH = ("torch-tiled", "torch")


def leaves(torch, *lead, lead_key=None, n=18, dtype=np.float64):
    query = make(*lead, n_q=n, n_k=n, d_k=4, d_v=4).query
    _, key, value = make(*(lead_key or lead), n_q=n, n_k=n, d_k=4, d_v=4, seed=1).arrays
    return [torch.tensor(x.astype(dtype), requires_grad=True) for x in (query, key, value)]


def gradients(torch, arrays, backend, **options):
    """Output, LSE, and the gradients of a sum of both that treats each number differently."""
    found = sdpa.scaled_dot_product_attention(*arrays, **options, backend=backend, return_lse=True)
    weights = [torch.arange(x.numel(), dtype=x.dtype).cos().reshape(x.shape) for x in found]
    loss = sum((x.masked_fill(x == -torch.inf, 0) * w).sum() for x, w in zip(found, weights, strict=True))
    return *found, *torch.autograd.grad(loss, arrays, materialize_grads=True)


@pytest.mark.parametrize("is_causal", [False, True])
def test_one_lse_is_kept_for_each_query(torch, is_causal):
    """As the tests of Stanford's course CS336 look for it, assignment 2, problem flash_forward."""
    query, key, value = leaves(torch, 4, n=32, dtype=np.float32)
    output = sdpa.scaled_dot_product_attention(query, key, value, is_causal=is_causal, backend="torch-tiled")
    kept = [x for x in output.grad_fn.saved_tensors if x.shape == query.shape[:2]]
    assert len(kept) == 1
    scores = query @ key.mT / 2
    if is_causal:
        scores = scores.masked_fill(~torch.ones(32, 32, dtype=torch.bool).tril(), -torch.inf)
    torch.testing.assert_close(kept[0], scores.logsumexp(-1))


SEEN = np.random.default_rng(1).random((2, 1, 18, 18)) < 0.5
SEEN[:, :, 5] = False
MASKS = {
    "none": None,
    "one for all": SEEN[0],
    "one for a sequence": SEEN,
    "one for a head": SEEN.reshape(2, 18, 18)[[0, 1, 1, 0]],
    "near": np.where(SEEN, 3.0, -np.inf),
    "far in some rows": np.where(SEEN, np.where(np.arange(18)[:, None] % 5, 0.5, 1e9), -np.inf),
}


@pytest.mark.parametrize("lead_key", [(2, 4), (2, 2), (1, 1), (2, 1)])
@pytest.mark.parametrize("name", MASKS)
def test_heads_together_find_what_each_finds(torch, name, lead_key):
    """Together they have the scores of one tile. Some share keys, or tiles, and gradients add up."""
    arrays = leaves(torch, 2, 4, lead_key=lead_key)
    mask = None if MASKS[name] is None else torch.tensor(MASKS[name])
    options = {"attn_mask": mask, "enable_gqa": lead_key == (2, 2)}
    ours, expected = (gradients(torch, arrays, backend, **options) for backend in BOTH)
    torch.testing.assert_close(ours, expected)


MODS = {
    "mask_mod": {"mask_mod": lambda b, h, i, j: (i - j < 4 + h) & (j != 2)},
    "score_mod": {"score_mod": lambda score, b, h, i, j: 5 * (score / 5).tanh() - (i - j).abs() / (h + 1)},
    "one that is not followed": {"score_mod": lambda score, b, h, i, j: (i - j) / (b + 1.0)},
    "one of the scores alone": {"score_mod": lambda score, b, h, i, j: score * score},
    "all": {
        "mask_mod": lambda b, h, i, j: i + b != j,
        "score_mod": lambda score, b, h, i, j: score.sin(),
        "is_causal": True,
    },
}


@pytest.mark.parametrize(
    "backend", [pytest.param(("torch-tiled", Tiles(5, 3, 2)), id="small")], indirect=True
)
@pytest.mark.parametrize("name", MODS)
def test_gradients_through_mods(torch, backend, name):
    arrays = leaves(torch, 2, 3, n=9)
    ours, expected = (gradients(torch, arrays, each, **MODS[name]) for each in (backend, "torch"))
    assert sdpa.explain_backend(*arrays, **MODS[name], backend=backend).backend == "torch-tiled"
    torch.testing.assert_close(ours, expected)


def test_second_derivatives_through_mods_and_of_the_lse(torch):
    def attend(*arrays):
        return sdpa.scaled_dot_product_attention(
            *arrays, **MODS["all"], backend="torch-tiled", return_lse=True
        )[0]

    arrays = leaves(torch, n=3)
    assert torch.autograd.gradcheck(attend, arrays, fast_mode=True)
    assert torch.autograd.gradgradcheck(attend, arrays, fast_mode=True)
    plain = lambda *arrays: sdpa.scaled_dot_product_attention(*arrays, backend="torch-tiled", return_lse=True)  # noqa: E731
    assert torch.autograd.gradgradcheck(plain, arrays, fast_mode=True)


def test_no_gradient_of_what_a_score_mod_was_made_with_is_lost(torch):
    table = torch.zeros(3, 5, dtype=torch.float64, requires_grad=True)
    arrays = leaves(torch, 2, 3, n=4)
    score_mod = sdpa.attention.variants.mods.relative_bias(table)
    chosen = sdpa.explain_backend(*arrays, score_mod=score_mod, backend="torch-tiled")
    assert (chosen.backend, chosen.others[0][0]) == ("torch", "torch-tiled")
    output = sdpa.scaled_dot_product_attention(*arrays, score_mod=score_mod, backend="torch-tiled")
    assert torch.autograd.grad(output.sin().sum(), table)[0].any()


def test_mods_under_a_transform_go_to_the_formula(torch):
    query, key, value = (x.detach() for x in leaves(torch, 2, 3, n=6))

    def attend(backend):
        return torch.func.vmap(
            lambda *arrays: sdpa.scaled_dot_product_attention(*arrays, **MODS["score_mod"], backend=backend)
        )

    torch.testing.assert_close(attend("torch-tiled")(query, key, value), attend("torch")(query, key, value))


def test_a_score_mod_has_its_gradient_inside_autocast_too(torch):
    x = torch.randn(6, 8, requires_grad=True)
    options = {"score_mod": sdpa.attention.softcap(5.0), "backend": "torch-tiled"}
    (expected,) = torch.autograd.grad(sdpa.scaled_dot_product_attention(x, x, x, **options).sum(), x)
    output = sdpa.scaled_dot_product_attention(x, x, x, **options).sum()
    with torch.autocast("cpu", torch.bfloat16):
        (found,) = torch.autograd.grad(output, x)
    torch.testing.assert_close(found, expected)
