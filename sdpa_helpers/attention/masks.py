"""Boolean masks, True = this query may attend to this key. `torch.from_numpy` makes tensors of them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxtyping import Bool, Int


def causal_mask(n_q: int, n_k: int | None = None) -> Bool[np.ndarray, "n_q n_k"]:
    """Query i may attend to the keys 0 … i: no token sees a later one.

    Vaswani et al. 2017, §3.2.3. Aligned at the top left, as torch's `is_causal`: with one query and a cache
    of many keys only key 0 is seen; there you want no mask at all.

    Args:
        n_q: number of queries.
        n_k: number of keys; as many as queries when left out.

    Returns:
        bool array of shape (n_q, n_k), True on and below the diagonal that starts at the top left.

    Raises:
        TypeError: a number is not an integer.
        ValueError: a number is negative.
    """
    n_q = _count(n_q, "n_q")
    n_k = n_q if n_k is None else _count(n_k, "n_k")
    return np.tri(n_q, n_k, dtype=bool)


def padding_mask(
    lengths: Sequence[int] | Int[np.ndarray, " batch"], n_k: int
) -> Bool[np.ndarray, "batch n_k"]:
    """Only the first `lengths[b]` keys of sequence b are real; nobody may attend to the padding after them.

    It hides keys (columns), never queries: for attention over (batch, heads, n_q, d_k) pass
    `padding_mask(lengths, n_k)[:, None, None, :]`.

    Args:
        lengths: number of real tokens of each sequence, 0 … n_k.
        n_k: number of keys, padding included.

    Returns:
        bool array of shape (batch, n_k), True for real keys. A length of 0 gives a row without True, for
        which attention gives zeros.

    Raises:
        TypeError: lengths or n_k are not integers.
        ValueError: lengths is not one-dimensional, or a length is negative or more than n_k.
    """
    n_k = _count(n_k, "n_k")
    counts = np.asarray(lengths)
    if counts.ndim != 1:
        raise ValueError(
            f"lengths has shape {counts.shape}, but must be one-dimensional: one length for each sequence"
        )
    if counts.size and not np.issubdtype(counts.dtype, np.integer):
        raise TypeError(
            f"lengths has dtype {counts.dtype}, but must be integers: how many tokens of each are real"
        )
    for b, length in enumerate(counts):
        if not 0 <= length <= n_k:
            raise ValueError(f"lengths[{b}] is {length}, but must be from 0 to n_k, which is {n_k}")
    return np.arange(n_k) < counts[:, None]


def _count(number: Any, name: str) -> int:
    if isinstance(number, bool | np.bool_):
        raise TypeError(f"{name} is {number}, but must be an integer")
    try:
        number = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is {number!r}, but must be an integer") from None
    if number < 0:
        raise ValueError(f"{name} is {number}, but must not be negative")
    return number
