"""What is refused, and that the message says what came, what was expected and what to do."""

import builtins
import re

import numpy as np
import pytest

from sdpa_helpers import scaled_dot_product_attention
from sdpa_helpers.attention import known_backends

from .cases import make


def attend(query=(5, 3), key=(6, 3), value=(6, 2), mask=None, **options):
    """A call with arrays of these shapes, or with these arrays."""
    arrays = [np.ones(x) if isinstance(x, tuple) else x for x in (query, key, value)]
    mask = np.ones(mask, dtype=bool) if isinstance(mask, tuple) else mask
    return scaled_dot_product_attention(*arrays, attn_mask=mask, **options)


SHAPES = {
    "query has shape (2, 5, 7) and key (2, 4, 6): their last dimension d_k must be equal, got 7 and 6": {
        "query": (2, 5, 7),
        "key": (2, 4, 6),
        "value": (2, 4, 3),
    },
    "key has shape (4, 3) and value (6, 2): their second to last dimension n_k must be equal, got 4 and 6": {
        "key": (4, 3)
    },
    "query has shape (3,), but must have at least 2 dimensions: (..., length, features); "
    "a single vector is query[None, :]": {"query": (3,)},
    "key has shape (), but must have at least 2 dimensions": {"key": ()},
    "value has shape (6,), but must have at least 2 dimensions": {"value": (6,)},
    "query has shape (2, 5, 3) and key (4, 6, 3): their leading dimensions must broadcast, but dimension "
    "-3 is 2 "
    "against 4 (leading dimensions of query: (2,), of key: (4,))": {
        "query": (2, 5, 3),
        "key": (4, 6, 3),
        "value": (4, 6, 2),
    },
    "query has shape (2, 8, 5, 3) and key (2, 2, 6, 3): their leading dimensions must broadcast, but "
    "dimension -3 is "
    "8 against 2 (leading dimensions of query: (2, 8), of key: (2, 2)). If these are 8 query heads that "
    "share 2 heads "
    "of key, pass enable_gqa=True": {"query": (2, 8, 5, 3), "key": (2, 2, 6, 3), "value": (2, 2, 6, 2)},
    "query has shape (5, 3) and value (4, 6, 2): their leading dimensions must broadcast, but dimension "
    "-3 is 2 "
    "against 4 (leading dimensions of query broadcast with key: (2,), of value: (4,))": {
        "key": (2, 6, 3),
        "value": (4, 6, 2),
    },
    "dimension -3 is 8 against 3 and dimension -4 is 2 against 5": {
        "query": (2, 8, 5, 3),
        "key": (5, 3, 6, 3),
        "value": (2, 8, 6, 2),
    },
    "query has shape (8, 5, 3) and key (3, 6, 3): with enable_gqa=True the heads (dimension -3) of key "
    "must divide "
    "those of query, got 3 and 8": {
        "query": (8, 5, 3),
        "key": (3, 6, 3),
        "value": (2, 6, 2),
        "enable_gqa": True,
    },
    "query has shape (8, 5, 3) and value (3, 6, 2): with enable_gqa=True the heads (dimension -3) of "
    "value must "
    "divide those of query, got 3 and 8": {
        "query": (8, 5, 3),
        "key": (2, 6, 3),
        "value": (3, 6, 2),
        "enable_gqa": True,
    },
    "of key must divide those of query, got 0 and 8": {
        "query": (8, 5, 3),
        "key": (0, 6, 3),
        "value": (2, 6, 2),
        "enable_gqa": True,
    },
    "key has shape (6, 3), but with enable_gqa=True it must have at least 3 dimensions: "
    "(..., heads, length, features)": {"query": (8, 5, 3), "enable_gqa": True},
    "query has shape (5, 3), but with enable_gqa=True it must have": {"key": (1, 6, 3), "enable_gqa": True},
    "attn_mask has shape (5, 7), but must broadcast to (..., n_q, n_k) = (5, 6)": {"mask": (5, 7)},
    "attn_mask has shape (6, 5), but must broadcast to (..., n_q, n_k) = (5, 6). It would fit transposed: "
    "queries "
    "are rows, keys are columns": {"mask": (6, 5)},
    "attn_mask has shape (2, 6), but must broadcast to (..., n_q, n_k) = (2, 4, 5, 6). For a padding mask "
    "(batch, n_k) pass attn_mask[:, None, None, :]": {"query": (2, 4, 5, 3), "mask": (2, 6)},
    "attn_mask has shape (3, 5, 6), but must broadcast to (..., n_q, n_k) = (5, 6)": {"mask": (3, 5, 6)},
    "query and key have d_k = 0, so that 1/sqrt(d_k) has no value: pass scale": {
        "query": (5, 0),
        "key": (6, 0),
    },
    "dropout_p is 1.5, but must be a probability from 0 to 1": {"dropout_p": 1.5},
    "dropout_p is -0.1, but must be a probability from 0 to 1": {"dropout_p": -0.1},
    "dropout_p is nan, but": {"dropout_p": float("nan")},
    "backend 'numpy' cannot serve this call, nor can another in its place: dropout_p is 0.5, and NumPy has no random "
    "state that a caller could seed for it. Pass dropout_p=0, or torch tensors": {"dropout_p": 0.5},
    "backend 'numpy-tiled' cannot serve this call, nor can another in its place: dropout_p is 0.5": {
        "dropout_p": 0.5,
        "backend": "numpy-tiled",
    },
    "scale is inf, but must be finite": {"scale": float("inf")},
    "there is no backend 'cuda'. Usable here: 'auto', 'numpy'": {"backend": "cuda"},
}


@pytest.mark.parametrize("message", SHAPES)
def test_values(message):
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(**SHAPES[message])


TYPES = {
    "query is of type list, but must be a NumPy array or a torch tensor: np.array(query, dtype=np.float64)": {
        "query": [[1.0, 2.0]]
    },
    "value is of type float, but must be": {"value": 1.0},
    "key is of type NoneType, but must be": {"key": None},
    "attn_mask is of type list, but must be a NumPy array or a torch tensor: np.array(attn_mask, "
    "dtype=bool)": {"mask": [[True]]},
    "query is a masked array, whose mask would be lost": {"query": np.ma.ones((5, 3))},
    "query is int64, but must be one of float16, float32, float64: pass query.astype(np.float64)": {
        "query": np.ones((5, 3), dtype=np.int64)
    },
    "key is bool, but must be": {"key": np.ones((6, 3), dtype=bool)},
    "value is object, but must be": {"value": np.ones((6, 2), dtype=object)},
    "query is complex128, but must be one of float16, float32, float64: softmax has no meaning for "
    "complex scores; "
    "pass query.real": {"query": np.ones((5, 3), dtype=complex)},
    "query is float64 and key float32: their dtypes must be equal; pass key.astype(query.dtype)": {
        "key": np.ones((6, 3), dtype=np.float32)
    },
    "query is float64 and value float16": {"value": np.ones((6, 2), dtype=np.float16)},
    "attn_mask is int64, which could mean two things. Pass attn_mask.astype(bool) if 1 means 'may "
    "attend', or "
    "attn_mask.astype(float) if the numbers are to be added to the scaled scores. Beware of the second "
    "with a mask of "
    "0 and 1: torch silently ADDS such a float mask, which then hides nothing": {
        "mask": np.ones((5, 6), dtype=np.int64)
    },
    "attn_mask is uint8, which could": {"mask": np.ones((5, 6), dtype=np.uint8)},
    "attn_mask is complex128, but must be bool or one of": {"mask": np.ones((5, 6), dtype=complex)},
    "scale is '1', but must be a number, or None for 1/sqrt(d_k)": {"scale": "1"},
    "dropout_p is None, but must be a number: a probability from 0 to 1": {"dropout_p": None},
    "dropout_p is True, but must be a number": {"dropout_p": True},
    "is_causal is None, but must be True or False": {"is_causal": None},
    "enable_gqa is 1, but must be True or False": {"enable_gqa": 1},
    "return_weights is 'yes', but must be True or False": {"return_weights": "yes"},
}


@pytest.mark.parametrize("message", TYPES)
def test_types(message):
    with pytest.raises(TypeError, match=re.escape(message)):
        attend(**TYPES[message])


def test_arrays_mixed_with_tensors(torch):
    arrays = make().arrays
    tensors = [torch.tensor(x) for x in arrays]
    message = (
        "NumPy arrays (key, value) are mixed with torch tensors (query); "
        "pass one kind, e.g. torch.from_numpy(key)"
    )
    with pytest.raises(TypeError, match=re.escape(message)):
        scaled_dot_product_attention(tensors[0], *arrays[1:])
    message = "NumPy arrays (attn_mask) are mixed with torch tensors (query, key, value)"
    with pytest.raises(TypeError, match=re.escape(message)):
        scaled_dot_product_attention(*tensors, np.ones((5, 6), dtype=bool))


def test_tensors(torch):
    """The same checks, with torch's words in the advice."""
    query, key, value = (torch.tensor(x) for x in make().arrays)
    expected = {
        "query is int64, but must be one of float16, bfloat16, float32, float64: pass query.double()": [
            query.long(),
            key,
            value,
        ],
        "query is float64 and key bfloat16: their dtypes must be equal; pass key.to(query.dtype)": [
            query,
            key.bfloat16(),
            value,
        ],
        "Pass attn_mask.bool() if 1 means 'may attend', or attn_mask.float() if": [
            query,
            key,
            value,
            torch.ones(5, 6).int(),
        ],
        "query is complex128": [query + 0j, key, value],
    }
    for message, arrays in expected.items():
        with pytest.raises(TypeError, match=re.escape(message)):
            scaled_dot_product_attention(*arrays)
    with pytest.raises(
        ValueError, match=re.escape("query has shape (5, 3) and key (6, 2): their last dimension")
    ):
        scaled_dot_product_attention(query, key[:, :2], value)


def test_devices(torch):
    query, key, value = (torch.tensor(x) for x in make().arrays)
    message = (
        "query is on device cpu and value on meta: their devices must be equal; pass value.to(query.device)"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        scaled_dot_product_attention(query, key, value.to("meta"))
    with pytest.raises(ValueError, match="query is on device cpu and attn_mask on meta"):
        scaled_dot_product_attention(query, key, value, torch.ones(5, 6, dtype=torch.bool, device="meta"))


def test_a_gradient_is_not_lost_in_numpy(torch):
    arrays = [torch.tensor(x) for x in make().arrays]
    arrays[1].requires_grad_()
    message = (
        "computes in NumPy, through which no gradient flows, but an argument requires one. "
        "Pass backend='torch', or detached tensors"
    )
    for backend in ("numpy", "numpy-tiled"):
        with pytest.raises(ValueError, match=f"backend '{backend}' cannot .* it {re.escape(message)}"):
            scaled_dot_product_attention(*arrays, backend=backend)
    with torch.no_grad():  # nobody asks for one
        output = scaled_dot_product_attention(*arrays, backend="numpy")
        torch.testing.assert_close(output, scaled_dot_product_attention(*arrays))


def test_dropout_names_the_backends_that_have_it(torch):
    arrays = [torch.tensor(x) for x in make().arrays]
    with pytest.raises(ValueError, match=re.escape("'torch'")):
        scaled_dot_product_attention(*arrays, dropout_p=0.5, backend="numpy")


def test_a_known_backend_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(
        known_backends.BACKENDS,
        "abacus",
        known_backends.Backend("abacus", "numpy", needs=("no_such_module",), install="pip install beads"),
    )
    message = (
        "backend 'abacus' needs no_such_module, which is not installed: pip install beads. Usable here: "
        "'auto', "
        "'numpy'"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        attend(backend="abacus")
    assert "abacus" not in known_backends.backends()


def test_nothing_is_printed_or_warned(recwarn, monkeypatch):
    monkeypatch.setattr(builtins, "print", lambda *_, **__: pytest.fail("printed"))
    attend(mask=(5, 6), is_causal=True)
    attend(mask=np.zeros((5, 6), dtype=bool))
    assert not recwarn.list
