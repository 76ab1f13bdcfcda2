"""A cache of keys: token by token and in chunks, the attention of the whole sequence."""

from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.attention import KVCache, scaled_dot_product_attention

from .cases import make, reference, to_float64, to_kind

N = 9
WHOLE = replace(make(2, 4, n_q=N, n_k=N), is_causal=True, enable_gqa=True)
WHOLE = replace(WHOLE, key=WHOLE.key[:, :2], value=WHOLE.value[:, :2])  # 4 heads share 2
CHUNKS = {
    "token by token": [1] * N,
    "a prompt first": [5, 1, 1, 1, 1],
    "chunks": [2, 4, 0, 3],
    "at once": [N],
}


def decoded(cache, kind, chunks, window=None):
    """The outputs of all tokens, each chunk attending to what the cache holds then."""
    query, key, value = (to_kind(x, kind, "float64") for x in WHOLE.arrays)
    outputs, first = [], 0
    for size in chunks:
        new = (..., slice(first, first + size), slice(None))
        keys, values = cache.append(key[new], value[new])
        options = {"is_causal": "lower_right", "enable_gqa": True}
        if window and size > 1:
            shift = keys.shape[-2] - size
            options["mask_mod"] = lambda b, h, i, j, shift=shift: j > i + shift - window
        outputs.append(to_float64(scaled_dot_product_attention(query[new], keys, values, **options)))
        first += size
    return np.concatenate(outputs, axis=-2)


@pytest.mark.parametrize("capacity", [None, N])
@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_as_the_whole_sequence(kind, chunks, capacity):
    cache = KVCache(capacity)
    output = decoded(cache, kind, chunks)
    np.testing.assert_allclose(output, reference(WHOLE)[0], rtol=1e-9, atol=1e-12)
    assert len(cache) == N
    np.testing.assert_array_equal(to_float64(cache.key), WHOLE.key)
    np.testing.assert_array_equal(to_float64(cache.value), WHOLE.value)


@pytest.mark.parametrize("window", [1, 3, N])
@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_a_window(kind, chunks, window):
    cache = KVCache(window=window)
    output = decoded(cache, kind, chunks, window)
    near = np.tri(N, N, dtype=bool) & ~np.tri(N, N, -window, dtype=bool)
    np.testing.assert_allclose(output, reference(replace(WHOLE, attn_mask=near))[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(to_float64(cache.key), WHOLE.key[..., -window:, :])


def test_memory(kind, monkeypatch):
    """A capacity is held from the start; doubling never holds more than twice what is needed; a window ends it."""
    monkeypatch.setattr("sdpa_helpers.attention.decoding.cache.FIRST_ROOM", 4)
    token = [to_kind(np.zeros((3, 1, d)), kind, "float32") for d in (8, 2)]
    bytes_each = 3 * (8 + 2) * 4
    fixed, doubling, rolling = KVCache(10), KVCache(), KVCache(window=5)
    assert fixed.nbytes == doubling.nbytes == 0  # nobody knows yet of what
    copied = set()
    for n in range(1, 41):
        if n <= 10:
            fixed.append(*token)
            assert fixed.nbytes == 10 * bytes_each
        doubling.append(*token)
        rolling.append(*token)
        assert doubling.nbytes <= max(4, 2 * n) * bytes_each
        assert (len(rolling), rolling.nbytes <= 2 * 5 * bytes_each) == (min(n, 5), True)
        copied.add(doubling.nbytes)
    assert len(copied) <= 5  # so many times, though there were 40 tokens
    with pytest.raises(ValueError, match="capacity of 10 tokens and holds 10: 1 more do not fit"):
        fixed.append(*token)
    assert len(fixed) == 10


def test_what_was_returned_stays(kind):
    """Also when a window has rolled on: a view of earlier tokens keeps their numbers."""
    token = to_kind(np.ones((1, 2)), kind, "float64")
    cache = KVCache(window=2)
    earlier = cache.append(token, token)[0]
    for _ in range(200):
        cache.append(token * 7, token)
    assert (earlier == 1).all()
    assert (cache.key == 7).all()


def test_a_gradient_is_not_lost_silently(torch):
    key, value = torch.ones(1, 2, requires_grad=True), torch.ones(1, 2)
    cache = KVCache()
    with pytest.raises(
        ValueError, match=r"key requires a gradient.*torch.no_grad\(\) or pass key.detach\(\)"
    ):
        cache.append(key, value)
    with torch.no_grad():
        cache.append(key, value)
    cache.append(key.detach(), value)
    query = torch.ones(1, 2, requires_grad=True)  # of a query it is not lost
    scaled_dot_product_attention(query, cache.key, cache.value).sum().backward()
    assert query.grad is not None


def arrays(*shapes, dtype="float64"):
    return [np.zeros(shape, dtype) for shape in shapes]


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (arrays((2, 1, 3), (2, 1, 5)), ValueError, r"value has .* but the first value had \(2, tokens, 4\)"),
        (arrays((3, 1, 3), (3, 1, 4)), ValueError, r"key has .* but the first key had \(2, tokens, 3\)"),
        (arrays((1, 3), (1, 4)), ValueError, r"key has shape \(1, 3\), but the first key had"),
        (arrays((2, 2, 3), (2, 1, 4)), ValueError, "one of each for a token, got 2 and 1"),
        (arrays((3,), (4,)), ValueError, r"one token's vector is key\[None, :\]"),
        (arrays((2, 1, 3), (2, 1, 4), dtype="float32"), TypeError, "key is .* of float32, but the first key"),
        (arrays((2, 1, 3), (2, 1, 4), dtype="int64"), TypeError, "key is int64"),
        ([[1.0], [1.0]], TypeError, "key is of type list"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(wrong, error, says):
    cache = KVCache()
    cache.append(*arrays((2, 1, 3), (2, 1, 4)))
    with pytest.raises(error, match=says):
        cache.append(*wrong)
    assert len(cache) == 1


def test_what_does_not_fit_each_other(torch):
    with pytest.raises(
        TypeError, match="value is a tensor on cpu of float64, but key is a NumPy array of float64"
    ):
        KVCache().append(np.zeros((1, 2)), torch.zeros(1, 2, dtype=torch.float64))
    with pytest.raises(ValueError, match="the cache is empty"):
        _ = KVCache().key


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"capacity": 0}, ValueError, "capacity is 0, but must be at least 1"),
        ({"capacity": 2.0}, TypeError, "capacity is 2.0, but must be an integer"),
        ({"window": True}, TypeError, "window is True"),
        ({"capacity": 4, "window": 4}, ValueError, "pass either capacity or window"),
    ],
)
def test_wrong_caches(options, error, says):
    with pytest.raises(error, match=says):
        KVCache(**options)


def test_no_new_tokens_change_nothing():
    cache, tokens = KVCache(window=4), np.ones((2, 6, 3))
    cache.append(tokens, tokens)
    keys, _ = cache.append(tokens[:, :0], tokens[:, :0])
    assert (len(cache), keys.shape) == (4, (2, 4, 3))
