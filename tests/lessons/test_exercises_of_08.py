"""Lesson 08's references against PyTorch and against what they promise; what learners make there, judged."""

import numpy as np
import pytest
import torch

from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find

RNG = np.random.default_rng(8)


def reference(name):
    return find(name).reference


def normal(*shape):
    return RNG.normal(size=shape)


def test_multi_head_attention_is_that_of_torch():
    x, (W_q, W_k, W_v, W_o) = normal(2, 5, 6), normal(4, 6, 6)
    mask = np.tri(5, dtype=bool)
    layer = torch.nn.MultiheadAttention(6, 3, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        assert layer.in_proj_weight is not None
        layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([W_q.T, W_k.T, W_v.T])))
        layer.out_proj.weight.copy_(torch.from_numpy(W_o.T.copy()))
        same = torch.from_numpy(x)
        expected, _ = layer(same, same, same, attn_mask=torch.from_numpy(~mask))  # True hides there
    ours = reference("multi_head_attention")(x, W_q, W_k, W_v, W_o, 3, mask)
    assert np.allclose(ours, expected.numpy(), atol=1e-12)


def test_grouped_query_attention_is_that_of_torch():
    Q, K, V = normal(2, 6, 3, 4), normal(2, 2, 5, 4), normal(2, 2, 5, 7)
    q, k, v = torch.from_numpy(Q), torch.from_numpy(K), torch.from_numpy(V)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    assert np.allclose(reference("grouped_query_attention")(Q, K, V), expected.numpy(), atol=1e-12)


def test_latent_attention_is_that_of_the_keys_and_values_it_never_makes():
    Q, c, U_k, U_v = normal(2, 3, 4, 6), normal(2, 5, 7), normal(3, 7, 6), normal(3, 7, 2)
    made = [torch.from_numpy(x) for x in (Q, c[:, None] @ U_k, c[:, None] @ U_v)]
    expected = torch.nn.functional.scaled_dot_product_attention(*made)
    assert np.allclose(reference("latent_attention")(Q, c, U_k, U_v), expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("new", [1, 3])
def test_a_rolling_cache_attends_as_a_window_over_all_keys_does(new):
    K, V, Q = normal(20, 4), normal(20, 2), normal(20, 4)
    window, slots = 5, 5 + new - 1
    i, j = np.arange(20)[:, None], np.arange(20)
    whole = torch.from_numpy((j <= i) & (i - j < window))
    expected = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (Q, K, V)), attn_mask=whole
    ).numpy()
    cache_k, cache_v = np.full((slots, 4), 99.0), np.full((slots, 2), 99.0)
    for start in range(0, 20 - new + 1, new):
        rows = np.arange(start, start + new)
        cache_k[rows % slots], cache_v[rows % slots] = K[rows], V[rows]
        mask = torch.from_numpy(reference("rolling_cache_mask")(start, new, window, slots))
        given = (torch.from_numpy(x) for x in (Q[rows], cache_k, cache_v))
        found = torch.nn.functional.scaled_dot_product_attention(*given, attn_mask=mask)
        assert np.allclose(found.numpy(), expected[rows], atol=1e-12)


def test_rotated_scores_depend_on_the_distance_alone():
    rotate, q, k = reference("rotate"), normal(1, 8), normal(1, 8)
    scores = [
        rotate(q, np.array([p + 3.0])) @ rotate(k, np.array([p])).T for p in (0.0, 1.0, 50.0, 1234.5, -7.0)
    ]
    assert np.allclose(scores, scores[0], atol=1e-10)
    assert not np.allclose(scores[0], q @ k.T)


def test_linear_attention_is_what_its_weights_make():
    Q, K, V = normal(3, 4), normal(5, 4), normal(5, 2)
    phi_q, phi_k = (torch.nn.functional.elu(torch.from_numpy(x)).numpy() + 1 for x in (Q, K))
    weights = phi_q @ phi_k.T
    expected = weights / weights.sum(axis=-1, keepdims=True) @ V
    assert np.allclose(reference("linear_attention")(Q, K, V), expected, atol=1e-12)


def test_blocks_of_the_delta_rule_read_what_single_tokens_do():
    block, S = reference("delta_rule_chunk"), normal(4, 3)
    Q, K, V, beta = normal(12, 4), normal(12, 4), normal(12, 3), RNG.uniform(size=12)
    K = K / np.linalg.norm(K, axis=-1, keepdims=True)
    one_block = block(S, Q, K, V, beta)
    for t in range(12):
        S = S + beta[t] * np.outer(K[t], V[t] - K[t] @ S)
        assert np.allclose(one_block[t], Q[t] @ S, atol=1e-12)


def test_the_matrix_of_weights_is_too_large_and_the_state_is_not():
    result = try_out(
        find("linear_attention"),
        next(wrong.function for wrong in find("linear_attention").wrong if wrong.name == "too-much-memory"),
    )
    assert [c.verdict.case for c in result.cases if not c.verdict.passed] == [
        "a thousand queries, a thousand keys"
    ]


@pytest.mark.parametrize(
    "made",
    [
        None,
        (1, 2),
        (np.zeros(2), np.eye(2)),
        (np.ones(2), np.zeros((2, 2))),
        (np.array([np.nan, 1]), np.eye(2)),
        (np.array([31.0, 1]), np.eye(2)),
        (np.ones(9), np.ones((2, 9))),
        (np.ones(2), np.eye(3)),
        ("q", "K"),
        ([1, [2]], [[1, 0], [0, 1]]),
    ],
)
def test_no_keys_to_confuse_are_refused_in_words(made):
    result = try_out(find("keys_that_linear_attention_confuses"), lambda: made)
    assert result.points == 0
    assert not made or {m.name for m in result.mistakes} == {"no-query-and-keys"}
