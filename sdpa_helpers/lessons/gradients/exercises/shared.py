"""What several exercises of lesson 04 use: a softmax, and detours through other dtypes."""

import numpy as np

BY_HAND = ("torch", "sdpa_helpers.scaled_dot_product_attention")
"""The gradients are to be written in NumPy: autograd would be the answer."""


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def half(x):
    return x.astype(np.float16).astype(x.dtype)


def single(x):
    return x.astype(np.float32).astype(x.dtype)


def transposed(x):
    return np.swapaxes(x, -1, -2)


def renormalised(W):
    with np.errstate(all="ignore"):
        return W / W.sum(axis=-1, keepdims=True)
