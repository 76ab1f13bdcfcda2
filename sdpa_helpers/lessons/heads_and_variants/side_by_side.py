"""Lesson 08: the head that looks up drinks gets a neighbor in its rows, and the learner's function cuts them apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.attention import scaled_dot_product_attention


def two_heads(split_heads: Callable[[Array, int], Array]) -> Callable[..., Any]:
    """Attention for `walk_through(attention=…)`: two heads in one row of numbers, of which the first answers.

    The second is the same head, reading the list from its end; so a wrong cut mixes the words of both.
    """

    def attention(Q: Array, K: Array, V: Array) -> Any:
        side_by_side = (np.concatenate([x, x[::-1]], axis=-1) for x in (Q, K, V))
        cut = [split_heads(x, 2) for x in side_by_side]
        if not all(isinstance(part, np.ndarray) for part in cut):
            return NotImplemented  # the head says that it isn't written yet
        q, k, v = cut
        out, weights = scaled_dot_product_attention(q, k, v, return_weights=True)
        return out[0], weights[0]

    return attention
