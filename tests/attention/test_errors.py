"""What is refused, and that the message says what came, what was expected and what to do."""

import builtins
from itertools import product

import numpy as np
import pytest

from sdpa_helpers import explain_backend, scaled_dot_product_attention
from sdpa_helpers.attention import known_backends

from .cases import make


def attend(query=(5, 3), key=(6, 3), value=(6, 2), mask=None, **options):
    """A call with arrays of these shapes, or with these arrays."""
    arrays = [np.ones(x) if isinstance(x, tuple) else x for x in (query, key, value)]
    mask = np.ones(mask, dtype=bool) if isinstance(mask, tuple) else mask
    return scaled_dot_product_attention(*arrays, attn_mask=mask, **options)


def says(caught, *parts: str) -> None:
    """The message holds these parts: what came, what was expected, what to do. Its other words are free."""
    message = str(caught.value)
    assert not [part for part in parts if part not in message], message


VALUES = {
    "d_k differs": (
        {"query": (2, 5, 7), "key": (2, 4, 6), "value": (2, 4, 3)},
        ("query", "(2, 5, 7)", "key", "(2, 4, 6)", "d_k must be equal", "7 and 6"),
    ),
    "n_k differs": ({"key": (4, 3)}, ("key", "(4, 3)", "value", "(6, 2)", "n_k must be equal", "4 and 6")),
    "a single vector": ({"query": (3,)}, ("query", "(3,)", "at least 2 dimensions", "query[None, :]")),
    "a number for key": ({"key": ()}, ("key", "()", "at least 2 dimensions")),
    "a vector for value": ({"value": (6,)}, ("value", "(6,)", "at least 2 dimensions")),
    "batches of query and key": (
        {"query": (2, 5, 3), "key": (4, 6, 3), "value": (4, 6, 2)},
        ("query", "(2, 5, 3)", "key", "(4, 6, 3)", "must broadcast", "-3 is 2 against 4", "(2,)", "(4,)"),
    ),
    "grouped heads without saying so": (
        {"query": (2, 8, 5, 3), "key": (2, 2, 6, 3), "value": (2, 2, 6, 2)},
        ("-3 is 8 against 2", "(2, 8)", "(2, 2)", "8 query heads", "2 heads", "pass enable_gqa=True"),
    ),
    "batches of query with key, and value": (
        {"key": (2, 6, 3), "value": (4, 6, 2)},
        ("query", "(5, 3)", "value", "(4, 6, 2)", "-3 is 2 against 4", "broadcast with key"),
    ),
    "two dimensions": (
        {"query": (2, 8, 5, 3), "key": (5, 3, 6, 3), "value": (2, 8, 6, 2)},
        ("-3 is 8 against 3", "-4 is 2 against 5"),
    ),
    "heads of key that do not divide": (
        {"query": (8, 5, 3), "key": (3, 6, 3), "value": (2, 6, 2), "enable_gqa": True},
        ("(8, 5, 3)", "(3, 6, 3)", "enable_gqa=True", "heads", "key must divide", "3 and 8"),
    ),
    "heads of value that do not divide": (
        {"query": (8, 5, 3), "key": (2, 6, 3), "value": (3, 6, 2), "enable_gqa": True},
        ("(8, 5, 3)", "(3, 6, 2)", "enable_gqa=True", "heads", "value must divide", "3 and 8"),
    ),
    "no heads": (
        {"query": (8, 5, 3), "key": (0, 6, 3), "value": (2, 6, 2), "enable_gqa": True},
        ("key must divide", "0 and 8"),
    ),
    "key without heads": (
        {"query": (8, 5, 3), "enable_gqa": True},
        ("key", "(6, 3)", "enable_gqa=True", "at least 3 dimensions", "(..., heads, length, features)"),
    ),
    "query without heads": (
        {"key": (1, 6, 3), "enable_gqa": True},
        ("query", "(5, 3)", "enable_gqa=True", "at least 3 dimensions"),
    ),
    "a mask of another length": ({"mask": (5, 7)}, ("attn_mask", "(5, 7)", "broadcast to", "(5, 6)")),
    "a transposed mask": (
        {"mask": (6, 5)},
        ("attn_mask", "(6, 5)", "(5, 6)", "transposed", "queries are rows", "keys are columns"),
    ),
    "a padding mask": (
        {"query": (2, 4, 5, 3), "mask": (2, 6)},
        ("attn_mask", "(2, 6)", "(2, 4, 5, 6)", "padding mask", "pass attn_mask[:, None, None, :]"),
    ),
    "a mask with a batch too many": ({"mask": (3, 5, 6)}, ("attn_mask", "(3, 5, 6)", "(5, 6)")),
    "d_k is 0": ({"query": (5, 0), "key": (6, 0)}, ("d_k = 0", "1/sqrt(d_k)", "pass scale")),
    "dropout above 1": ({"dropout_p": 1.5}, ("dropout_p", "1.5", "from 0 to 1")),
    "dropout below 0": ({"dropout_p": -0.1}, ("dropout_p", "-0.1", "from 0 to 1")),
    "dropout is NaN": ({"dropout_p": float("nan")}, ("dropout_p", "nan", "from 0 to 1")),
    "dropout in NumPy": (
        {"dropout_p": 0.5},
        ("'numpy'", "dropout_p is 0.5", "no random state", "Pass dropout_p=0", "torch tensors"),
    ),
    "dropout in NumPy's tiles": (
        {"dropout_p": 0.5, "backend": "numpy-tiled"},
        ("'numpy-tiled'", "dropout_p is 0.5", "no random state", "Pass dropout_p=0", "torch tensors"),
    ),
    "an infinite scale": ({"scale": float("inf")}, ("scale", "inf", "must be finite")),
    "no such backend": ({"backend": "cuda"}, ("'cuda'", "Usable here", "'auto'", "'numpy'")),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    arguments, parts = VALUES[name]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        attend(**arguments)
    says(caught, *parts)


FLOATS = ("float16", "float32", "float64")
TYPES = {
    "a list": (
        {"query": [[1.0, 2.0]]},
        ("query", "list", "a NumPy array or a torch tensor", "np.array(query, dtype=np.float64)"),
    ),
    "a number": ({"value": 1.0}, ("value", "float", "a NumPy array or a torch tensor")),
    "nothing": ({"key": None}, ("key", "NoneType", "a NumPy array or a torch tensor")),
    "a list as mask": ({"mask": [[True]]}, ("attn_mask", "list", "np.array(attn_mask, dtype=bool)")),
    "a function as mask": ({"mask": lambda b, h, i, j: j <= i}, ("attn_mask", "passed as mask_mod=")),
    "a masked array": ({"query": np.ma.ones((5, 3))}, ("query", "masked array", "lost")),
    "whole numbers": (
        {"query": np.ones((5, 3), np.int64)},
        ("query", "int64", *FLOATS, "pass query.astype(np.float64)"),
    ),
    "bools": ({"key": np.ones((6, 3), bool)}, ("key", "bool", *FLOATS)),
    "objects": ({"value": np.ones((6, 2), object)}, ("value", "object", *FLOATS)),
    "complex numbers": (
        {"query": np.ones((5, 3), complex)},
        ("query", "complex128", *FLOATS, "no meaning for complex scores", "pass query.real"),
    ),
    "two precisions": (
        {"key": np.ones((6, 3), np.float32)},
        ("query", "float64", "key", "float32", "must be equal", "pass key.astype(query.dtype)"),
    ),
    "half precision in value": ({"value": np.ones((6, 2), np.float16)}, ("float64", "value", "float16")),
    "a mask of 0 and 1": (
        {"mask": np.ones((5, 6), np.int64)},
        ("attn_mask", "int64", "attn_mask.astype(bool)", "attn_mask.astype(float)", "ADDS", "hides nothing"),
    ),
    "a mask of bytes": ({"mask": np.ones((5, 6), np.uint8)}, ("attn_mask", "uint8", "two things")),
    "a complex mask": ({"mask": np.ones((5, 6), complex)}, ("attn_mask", "complex128", "bool", *FLOATS)),
    "a scale in quotes": ({"scale": "1"}, ("scale", "'1'", "a number", "None for 1/sqrt(d_k)")),
    "dropout is None": ({"dropout_p": None}, ("dropout_p", "None", "a number", "from 0 to 1")),
    "dropout is True": ({"dropout_p": True}, ("dropout_p", "True", "a number")),
    "is_causal is None": ({"is_causal": None}, ("is_causal", "None", "True or False")),
    "enable_gqa is 1": ({"enable_gqa": 1}, ("enable_gqa", "1", "True or False")),
    "return_weights in words": ({"return_weights": "yes"}, ("return_weights", "'yes'", "True or False")),
}


@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    arguments, parts = TYPES[name]
    with pytest.raises(TypeError) as caught:
        attend(**arguments)
    says(caught, *parts)


def test_arrays_mixed_with_tensors(torch):
    arrays = make().arrays
    tensors = [torch.tensor(x) for x in arrays]
    with pytest.raises(TypeError) as caught:
        scaled_dot_product_attention(tensors[0], *arrays[1:])
    says(caught, "NumPy arrays (key, value)", "torch tensors (query)", "torch.from_numpy(key)")
    with pytest.raises(TypeError) as caught:
        scaled_dot_product_attention(*tensors, np.ones((5, 6), dtype=bool))
    says(caught, "NumPy arrays (attn_mask)", "torch tensors (query, key, value)")


def test_tensors(torch):
    """The same checks, with torch's words in the advice."""
    query, key, value = (torch.tensor(x) for x in make().arrays)
    refused = [
        ([query.long(), key, value], ("query", "int64", "bfloat16", "pass query.double()")),
        ([query, key.bfloat16(), value], ("query", "float64", "key", "bfloat16", "pass key.to(query.dtype)")),
        ([query, key, value, torch.ones(5, 6).int()], ("attn_mask.bool()", "attn_mask.float()")),
        ([query + 0j, key, value], ("query", "complex128")),
    ]
    for arrays, parts in refused:
        with pytest.raises(TypeError) as caught:
            scaled_dot_product_attention(*arrays)
        says(caught, *parts)
    with pytest.raises(ValueError, match="last dimension") as caught:
        scaled_dot_product_attention(query, key[:, :2], value)
    says(caught, "query", "(5, 3)", "key", "(6, 2)")


def test_devices(torch):
    query, key, value = (torch.tensor(x) for x in make().arrays)
    with pytest.raises(ValueError, match="device") as caught:
        scaled_dot_product_attention(query, key, value.to("meta"))
    says(caught, "query", "cpu", "value", "meta", "must be equal", "pass value.to(query.device)")
    with pytest.raises(ValueError, match="device") as caught:
        scaled_dot_product_attention(query, key, value, torch.ones(5, 6, dtype=torch.bool, device="meta"))
    says(caught, "query", "cpu", "attn_mask", "meta")


def test_a_gradient_is_not_lost_in_numpy(torch):
    arrays = [torch.tensor(x) for x in make().arrays]
    arrays[1].requires_grad_()
    for backend, function in product(
        ("numpy", "numpy-tiled"), (explain_backend, scaled_dot_product_attention)
    ):
        with pytest.raises(ValueError, match="through which no gradient flows") as caught:
            function(*arrays, backend=backend)
        says(caught, f"'{backend}'", "backend='torch'", "detached tensors")
    with torch.no_grad():  # nobody asks for one
        output = scaled_dot_product_attention(*arrays, backend="numpy")
        torch.testing.assert_close(output, scaled_dot_product_attention(*arrays))


def test_dropout_names_the_backends_that_have_it(torch):
    arrays = [torch.tensor(x) for x in make().arrays]
    with pytest.raises(ValueError, match="'torch'"):
        scaled_dot_product_attention(*arrays, dropout_p=0.5, backend="numpy")


def test_a_known_backend_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(
        known_backends.BACKENDS,
        "abacus",
        known_backends.Backend("abacus", "numpy", needs=("no_such_module",), install="pip install beads"),
    )
    with pytest.raises(ValueError, match="not installed") as caught:
        attend(backend="abacus")
    says(caught, "'abacus'", "no_such_module", "pip install beads", "'auto'", "'numpy'")
    assert "abacus" not in known_backends.backends()


def test_nothing_is_printed_or_warned(recwarn, monkeypatch):
    monkeypatch.setattr(builtins, "print", lambda *_, **__: pytest.fail("printed"))
    attend(mask=(5, 6), is_causal=True)
    attend(mask=np.zeros((5, 6), dtype=bool))
    assert not recwarn.list
