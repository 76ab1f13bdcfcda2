"""What the course CS336 (Stanford, "Language modeling from scratch", assignment 2) asks of a FlashAttention-2.

Its tests want an autograd function of query, key and value (batch, n, d) and is_causal. Among the tensors that it saves
for the backward pass they look for the one of shape (batch, n_queries), which has to be the only one and the LSE, with
natural logarithms; then they compare outputs and gradients. Here is an adapter as a student writes it, on ours.
"""

import pytest

from sdpa_helpers import scaled_dot_product_attention

CLOSE = {"rtol": 1e-2, "atol": 1e-2}  # theirs
BATCH, N, D = 4, 128, 64


def apply(query, key, value, is_causal=False):
    return scaled_dot_product_attention(query, key, value, is_causal=is_causal, backend="torch-tiled")


def inputs(torch):
    generator = torch.Generator().manual_seed(0)
    query, key, value, grad_output = torch.randn(4, BATCH, N, D, generator=generator)
    return [x.clone().requires_grad_() for x in (query, key, value)], grad_output


def by_hand(torch, query, key, value, is_causal):
    """Output and LSE."""
    scores = query @ key.mT / D**0.5
    if is_causal:
        scores = scores.masked_fill(~torch.ones(N, N, dtype=torch.bool).tril(), -1e6)
    return torch.softmax(scores, dim=-1) @ value, torch.logsumexp(scores, dim=-1)


@pytest.mark.parametrize("is_causal", [False, True])
def test_forward_saves_one_lse(torch, is_causal):
    arrays, _ = inputs(torch)
    output = apply(*arrays, is_causal)
    saved = output.grad_fn.saved_tensors
    of_a_row = [x for x in saved if x.shape == (BATCH, N)]  # theirs has no room for None among them
    assert len(of_a_row) == 1
    expected, lse = by_hand(torch, *arrays, is_causal)
    torch.testing.assert_close(output, expected, **CLOSE)
    torch.testing.assert_close(of_a_row[0], lse, **CLOSE)


@pytest.mark.parametrize("is_causal", [False, True])
def test_backward(torch, is_causal):
    arrays, grad_output = inputs(torch)
    computed = torch.autograd.grad(apply(*arrays, is_causal), arrays, grad_output)
    expected = torch.autograd.grad(by_hand(torch, *arrays, is_causal)[0], arrays, grad_output)
    for a, b in zip(computed, expected, strict=True):
        torch.testing.assert_close(a, b, **CLOSE)
