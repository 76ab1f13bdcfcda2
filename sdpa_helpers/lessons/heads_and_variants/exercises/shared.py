"""What several exercises of lesson 08 use: heads cut and joined in ways right and wrong, detours through other dtypes."""

import numpy as np


def turned(x):
    """The last two axes swapped."""
    return np.swapaxes(x, -1, -2)


def cut(x, num_heads):
    """Heads out of the width: (..., n, d_model) -> (..., num_heads, n, d_head)."""
    return np.swapaxes(x.reshape(*x.shape[:-1], num_heads, -1), -2, -3)


def cut_by_reshape(x, num_heads):
    """The same shape without swapping axes: tokens are mixed."""
    return x.reshape(*x.shape[:-2], num_heads, x.shape[-2], -1)


def cut_in_turns(x, num_heads):
    """Head h gets the coordinates h, h + num_heads, ..."""
    return np.moveaxis(x.reshape(*x.shape[:-1], -1, num_heads), -1, -3)


def joined(x):
    """The way back from `cut`."""
    x = np.swapaxes(x, -2, -3)
    return x.reshape(*x.shape[:-2], -1)


def joined_by_reshape(x):
    """The same shape without swapping axes: tokens are mixed."""
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)


def joined_in_turns(x):
    """The way back from `cut_in_turns`."""
    x = np.moveaxis(x, -3, -1)
    return x.reshape(*x.shape[:-2], -1)


def half(x):
    """Through float16 and back."""
    return x.astype(np.float16).astype(x.dtype)


def single(x):
    """Through float32 and back."""
    return x.astype(np.float32).astype(x.dtype)


SINGLE = "Your numbers passed through float32, which keeps about seven digits. Stay in the dtype that you were given."
HALF = "Your numbers passed through float16, which keeps about three digits. Stay in the dtype that you were given."
CHANGED = (
    "Your function writes into the caller's array. Make a new array: no `*=`, `/=`, `out=` or `x[...] =` on what you "
    "were given."
)
