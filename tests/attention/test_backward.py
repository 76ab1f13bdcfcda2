"""The backward passes that are written in NumPy, against autograd of the formula in float64."""

import importlib
import importlib.util

import numpy as np
import pytest

from sdpa_helpers.attention.known_backends import BACKENDS
from sdpa_helpers.attention.layout import Head, Rule, Wants

from .cases import Case, make
from .conftest import usable, with_tiles

OWN_PASSES = [name for name, known in BACKENDS.items() if known.own_passes]


@pytest.fixture(scope="module", params=with_tiles(OWN_PASSES))
def passes(request, needs):
    """The module of a backend that has both passes."""
    for name in usable(request, needs):
        yield importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[name].module}")


def expected(torch, case, grad_output):
    """Output and gradients by autograd."""
    from sdpa_helpers.attention import torch_formula

    leaves = [torch.tensor(x, requires_grad=True) for x in case.arrays]
    mask = None if case.attn_mask is None else torch.tensor(case.attn_mask)
    rule = Rule(mask, case.is_causal, case.scale)
    output = torch_formula.attention(Head(*leaves), rule, Wants(case.enable_gqa)).output
    gradients = torch.autograd.grad(output, leaves, torch.tensor(grad_output))
    return [x.detach().numpy() for x in (output, *gradients)]


def computed(passes, case, grad_output, dtype=np.float64):
    arrays = Head(*(x.astype(dtype) for x in case.arrays))
    rule = Rule(case.attn_mask, case.is_causal, case.scale)
    whole = passes.attention_forward(arrays, rule, case.enable_gqa)
    gradients = passes.attention_backward(arrays, rule, case.enable_gqa, whole, grad_output.astype(dtype))
    return [whole.output, *gradients]


rng = np.random.default_rng(11)
ALLOWED = rng.random((13, 11)) < 0.5
ALLOWED[[0, 7]] = False
LOWEST = np.where(ALLOWED, rng.standard_normal((13, 11)), -np.inf)
LOWEST[7] = np.finfo(np.float64).min  # all hidden by a finite number: they share the row equally

CASES = {
    "plain": make(2, n_q=13, n_k=11, scale=0.5),
    "causal": make(2, n_q=13, n_k=11, scale=0.5, is_causal=True),
    "causal, more keys": make(2, n_q=5, n_k=17, scale=0.5, is_causal=True),
    "large scores": make(2, n_q=13, n_k=11, scale=100.0),
    "a boolean mask": make(2, n_q=13, n_k=11, scale=0.5, attn_mask=ALLOWED, is_causal=True),
    "a float mask": make(2, n_q=13, n_k=11, scale=0.5, attn_mask=LOWEST),
    "grouped heads": Case(
        make(2, 4, n_q=5).query,
        make(2, 2, n_q=5).key,
        make(2, 1, n_q=5, seed=1).value,
        scale=0.5,
        enable_gqa=True,
    ),
    "broadcasting": Case(make(3, 1).query, make(2, seed=2).key, make(seed=3).value, scale=0.5),
    "no keys": make(2, n_q=3, n_k=0, scale=0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_autograd(passes, torch, name):
    case = CASES[name]
    lead = (3, 2) if name == "broadcasting" else case.query.shape[:-2]
    grad_output = rng.standard_normal((*lead, case.query.shape[-2], case.value.shape[-1]))
    for ours, theirs in zip(
        computed(passes, case, grad_output), expected(torch, case, grad_output), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_there_is_none_for_a_score_mod(passes):
    arrays, rule = Head(*make(2).arrays), Rule(score_mod=lambda score, b, h, i, j: score * 2)
    whole = passes.attention_forward(arrays, rule)
    with pytest.raises(ValueError, match="score_mod"):
        passes.attention_backward(arrays, rule, False, whole, whole.output)


@pytest.mark.parametrize("is_causal", [False, True])
def test_sizes_around_the_edges_of_tiles_in_float32(torch, needs, is_causal):
    case = make(n_q=700, n_k=530, d_k=8, d_v=8, scale=0.35, is_causal=is_causal)
    grad_output = rng.standard_normal((700, 8))
    reference = expected(torch, case, grad_output)
    for name in OWN_PASSES:
        if all(importlib.util.find_spec(module) for module in BACKENDS[name].needs):
            module = importlib.import_module(f"sdpa_helpers.attention.{BACKENDS[name].module}")
            for ours, theirs in zip(computed(module, case, grad_output, np.float32), reference, strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=2e-5)
