"""Attention to two sets of keys, each by itself, made into attention to both.

A part of softmax is not softmax: its sum lacks the other keys. But with the LSE of each part, log Σ exp(score), one
number a row, the right share of each is known:

    lse = log(exp(lse_a) + exp(lse_b)),  output = exp(lse_a − lse) · output_a + exp(lse_b − lse) · output_b

Dao et al. 2022, "FlashAttention", §3.1, where the parts are tiles. Here they are parts of a sequence on several
machines (`ring/`), or pieces of a cache of keys. Merging is associative, and a part without keys changes nothing.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jaxtyping import Float

    from sdpa_helpers.attention.arguments import Array


def merge(
    output_a: Float[Array, "... n_q d_v"],
    lse_a: Float[Array, "... n_q"],
    output_b: Float[Array, "... n_q d_v"],
    lse_b: Float[Array, "... n_q"],
) -> tuple[Float[Array, "... n_q d_v"], Float[Array, "... n_q"]]:
    """(output, lse) of attention to the keys of both parts, for NumPy arrays and, with gradients, for tensors.

    Both parts have the same queries; of the keys, each belongs to one of them. lse is the natural logarithm, −∞ in a
    row that sees no key of that part. The answer has the dtype that the arrays promote to.
    """
    xp: Any = np if isinstance(lse_a, np.ndarray) else sys.modules["torch"]
    largest: Any = xp.maximum(lse_a, lse_b)
    if xp is not np:
        largest = largest.detach()  # it cancels, so that it needs no gradient
    # Where neither part sees a key, −∞ − (−∞) would be NaN. With 0 in its place both shares are 0.
    largest = xp.where(largest == -np.inf, 0.0, largest)  # (..., n_q)
    share_a, share_b = xp.exp(lse_a - largest), xp.exp(lse_b - largest)
    total = share_a + share_b
    empty = total == 0
    total = xp.where(empty, 1.0, total)
    output = output_a * (share_a / total)[..., None] + output_b * (share_b / total)[..., None]
    return output, xp.where(empty, -np.inf, largest + xp.log(total))
