"""Ours beside jax.nn.dot_product_attention and keras.ops.dot_product_attention, which others wrote and others test.

Both take (batch, length, heads, features), ours (batch, heads, length, features). What their arguments are called here:

    JAX                              Keras             ours
    bias (added)                     bias              attn_mask, floating
    mask (True: may attend)          mask              attn_mask, boolean; beside a bias: −∞ in that one
    scale                            scale             scale
    is_causal                        is_causal         is_causal; at the top left in all three
    fewer heads of key and value     the same          enable_gqa=True
    local_window_size=(left, right)  -                 mask_mod: i − j ≤ left, j − i ≤ right
    key_value_seq_lengths            -                 mask_mod: padding(lengths)
    query_seq_lengths                -                 mask_mod: i < lengths[b]; the rows beyond are zeros in both
    return_residual                  -                 return_lse
    implementation                   flash_attention   backend

A row that sees nothing differs: JAX and Keras hide with a large finite number, so that it is the mean of all values.
Ours is zeros.
"""

from functools import cache

import numpy as np
import pytest

from sdpa_helpers import scaled_dot_product_attention
from sdpa_helpers.attention.variants.mods import padding
from tests.lessons import pages

B, N_Q, N_K, HEADS, HEADS_KV, D = 2, 5, 7, 4, 2, 8
RNG = np.random.default_rng(0)
QUERY, KEY, VALUE = (
    RNG.standard_normal((B, n, h, D)).astype(np.float32)
    for n, h in ((N_Q, HEADS), (N_K, HEADS_KV), (N_K, HEADS_KV))
)
BIAS = RNG.standard_normal((B, HEADS, N_Q, N_K)).astype(np.float32)
MASK = RNG.random((B, HEADS, N_Q, N_K)) < 0.6
MASK[..., 0] = True  # no row that sees nothing: see above
NOTHING = np.zeros((1, 1, N_Q, N_K), bool)
LENGTHS = np.array([3, 7], np.int32)

EXACT = {"rtol": 1e-5, "atol": 1e-5}


def windows(b, h, i, j):
    return (i - j <= 2) & (j - i <= 1)


def longer_queries(b, h, i, j):
    return padding(LENGTHS)(b, h, j, i)


CASES = {  # their arguments, and ours
    "scale": ({"scale": -0.3}, {"scale": -0.3}),
    "is_causal": ({"is_causal": True}, {"is_causal": True}),
    "bias and mask": ({"bias": BIAS, "mask": MASK}, {"attn_mask": np.where(MASK, BIAS, -np.inf)}),
    "mask and is_causal": ({"mask": MASK, "is_causal": True}, {"attn_mask": MASK, "is_causal": True}),
    "local_window_size": ({"local_window_size": (2, 1)}, {"mask_mod": windows}),
    "key_value_seq_lengths": ({"key_value_seq_lengths": LENGTHS}, {"mask_mod": padding(LENGTHS)}),
    "query_seq_lengths": ({"query_seq_lengths": LENGTHS}, {"mask_mod": longer_queries}),
}
OF_KERAS = ("scale", "is_causal", "bias and mask", "mask and is_causal")
WITH_GRADIENTS = "mask and is_causal"


@cache
def of_jax():
    """(output, LSE) of each case, the gradients of one, and the output where a mask hides all: compiled together."""
    import jax

    def attend(name, *arrays):
        output, lse = jax.nn.dot_product_attention(*arrays, **CASES[name][0], return_residual=True)
        return output.swapaxes(1, 2), lse.swapaxes(1, 2)

    def everything(*arrays):
        gradients = jax.grad(lambda *x: jax.numpy.cos(attend(WITH_GRADIENTS, *x)[0]).sum(), (0, 1, 2))(
            *arrays
        )
        empty = jax.nn.dot_product_attention(*arrays, mask=NOTHING)
        return {name: attend(name, *arrays) for name in CASES}, [x.swapaxes(1, 2) for x in gradients], empty

    return jax.jit(everything)(QUERY, KEY, VALUE)


@cache
def keras(home):
    with pytest.MonkeyPatch.context() as patch:  # both are read once, when it is imported
        patch.setenv("KERAS_BACKEND", "numpy")  # with "jax" it would call the function above
        patch.setenv("KERAS_HOME", home)
        import keras

    assert keras.backend.backend() == "numpy"
    return keras


@pytest.fixture(scope="module")
def installed(needs, tmp_path_factory):
    for module in ("jax", "keras"):
        needs(module)
    return keras(str(tmp_path_factory.mktemp("keras")))


def ours(name, backend, **more):
    arrays = (x.swapaxes(1, 2) for x in (QUERY, KEY, VALUE))
    return scaled_dot_product_attention(*arrays, **CASES[name][1], enable_gqa=True, backend=backend, **more)


def test_as_jax(backend, installed):
    for name, (expected, expected_lse) in of_jax()[0].items():
        output, lse = ours(name, backend, return_lse=True)
        np.testing.assert_allclose(output, expected, **EXACT, err_msg=name)
        np.testing.assert_allclose(ours(name, backend), expected, **EXACT, err_msg=name)
        there = lse > -np.inf  # but for queries that are none
        assert there.mean() == (0.8 if name == "query_seq_lengths" else 1)
        np.testing.assert_allclose(lse[there], expected_lse[there], **EXACT, err_msg=name)


@pytest.mark.parametrize("backend_of_torch", ["torch", "torch-tiled", "torch-fused"])
def test_gradients_as_jax(backend_of_torch, installed, torch):
    leaves = [torch.tensor(x.swapaxes(1, 2), requires_grad=True) for x in (QUERY, KEY, VALUE)]
    output = scaled_dot_product_attention(
        *leaves, torch.tensor(MASK), is_causal=True, enable_gqa=True, backend=backend_of_torch
    )
    output.cos().sum().backward()
    for leaf, expected in zip(leaves, of_jax()[1], strict=True):
        np.testing.assert_allclose(leaf.grad, expected, **EXACT)


def test_as_keras(backend, installed):
    key, value = (x.repeat(HEADS // HEADS_KV, axis=2) for x in (KEY, VALUE))  # it groups no heads in NumPy
    for name in OF_KERAS:
        expected = installed.ops.dot_product_attention(QUERY, key, value, **CASES[name][0]).swapaxes(1, 2)
        np.testing.assert_allclose(ours(name, backend), expected, **EXACT, err_msg=name)


def test_a_row_that_sees_nothing_is_another_matter(installed):
    """Theirs is the mean of all values, as the docstring above says."""
    key, value = (x.repeat(HEADS // HEADS_KV, axis=2) for x in (KEY, VALUE))
    of_keras = installed.ops.dot_product_attention(QUERY, key, value, mask=NOTHING)
    for theirs in (of_jax()[2], of_keras):
        np.testing.assert_allclose(theirs, np.repeat(value.mean(1, keepdims=True), N_Q, 1), **EXACT)
    arrays = (x.swapaxes(1, 2) for x in (QUERY, KEY, VALUE))
    assert not scaled_dot_product_attention(*arrays, NOTHING, enable_gqa=True).any()


# What lesson 05 says of them --------------------------------------------------------------------------------------

WRITTEN = {"True": True, "False": False, "0": 0.0, "−∞": -np.inf}
MAY = np.tri(3, dtype=bool)
X = np.eye(4, dtype=np.float32)[:3]


def weights_of_jax(**options):
    import jax

    x = np.broadcast_to(
        X[:, None], (3, 3, 1, 4)
    )  # (batch, length, heads, features); values: the output is the weights
    return np.asarray(jax.nn.dot_product_attention(x, x, x, **options))[:, :, 0, :3]


def weights_of_keras(installed, **options):
    layer = installed.layers.MultiHeadAttention(1, 4)
    x = np.broadcast_to(X, (3, 3, 4))
    return np.asarray(layer(x, x, return_attention_scores=True, **options)[1])[:, 0]


def test_lesson_05_says_how_they_read_masks(installed):
    import jax

    by = {row["where you meet it"]: row for row in pages.rows("05_masking", "conventions")}
    of_jax_mask = by["JAX dot_product_attention, mask"]
    of_jax_bias = by["the same call, bias, added"]
    of_keras = by["Keras MultiHeadAttention"]

    def written(row):
        return np.where(MAY, WRITTEN[row["visible"]], WRITTEN[row["hidden"]])

    found = (
        weights_of_jax(mask=written(of_jax_mask)[None, None]),
        weights_of_jax(bias=written(of_jax_bias)[None, None].astype(np.float32)),
        weights_of_keras(installed, attention_mask=written(of_keras)[None]),
    )
    for weights in found:
        np.testing.assert_array_equal(weights > 1e-6, np.broadcast_to(MAY, (3, 3, 3)))
    for row, module in ((of_jax_mask, jax), (of_jax_bias, jax), (of_keras, installed)):
        assert module.__version__.startswith(row["checked with"].split()[1])


def test_lesson_05_says_where_their_triangle_starts(installed):
    import jax

    rows = {row["where"]: row for row in pages.rows("05_masking", "cache-who")}
    assert rows["JAX 0.10, Keras 3.15"]["bottom right"] == "–"
    x = X[None, :, None]
    by_jax = np.asarray(jax.nn.dot_product_attention(x[:, :2], x, x, is_causal=True))[0, :, 0, :3]
    layer = installed.layers.MultiHeadAttention(1, 4)
    _, by_keras = layer(X[None, :2], X[None], return_attention_scores=True, use_causal_mask=True)
    for weights in (by_jax, np.asarray(by_keras)[0, 0]):
        np.testing.assert_array_equal(weights > 1e-6, np.tri(2, 3, dtype=bool))


def test_they_take_a_padding_mask_for_rows_too(installed):
    """Three sentences of three tokens: a mask (batch, keys) fits (queries, keys), as in torch."""
    for weights in (weights_of_jax(mask=MAY), weights_of_keras(installed, attention_mask=MAY)):
        np.testing.assert_array_equal(weights > 1e-6, np.broadcast_to(MAY, (3, 3, 3)))
