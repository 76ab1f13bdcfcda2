"""One array as JSON data: its dtype, its shape and its bytes in base64. Reading trusts nothing."""

import base64
from typing import Any

import numpy as np

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES += ("float16", "float32", "float64", "complex64", "complex128")
"""Of the arrays that are carried."""


def pack_array(array: np.ndarray) -> dict:
    """An array as JSON data."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    data = base64.b64encode(little.tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def unpack_array(item: Any) -> np.ndarray:
    """Decode an array from untrusted JSON; raises ValueError for anything that is not exactly one."""
    if not isinstance(item, dict) or set(item) != {"dtype", "shape", "data"}:
        raise ValueError("an array must have dtype, shape and data")
    dtype, shape, data = item["dtype"], item["shape"], item["data"]
    if not isinstance(dtype, str) or dtype not in DTYPES or not isinstance(data, str):
        raise ValueError("unknown dtype or data")
    if not isinstance(shape, list) or len(shape) > 16 or not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("a shape is a list of sizes")
    raw = base64.b64decode(data, validate=True)
    return np.frombuffer(raw, dtype=np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)
