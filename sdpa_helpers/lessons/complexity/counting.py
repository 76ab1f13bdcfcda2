"""Lesson 06, what attention costs: counting. Operations and bytes, exact on every machine.

`experiments` holds what has to be measured with a clock, `peak_memory` what an operating system tells.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

# A whole layer ------------------------------------------------------------------------------------------------


class LayerFlops(NamedTuple):
    projections: Float[Array, "..."]
    mlp: Float[Array, "..."]
    attention: Float[Array, "..."]

    @property
    def share(self) -> Float[Array, "..."]:
        """Attention's part of the layer's FLOPs."""
        return self.attention / (self.projections + self.mlp + self.attention)


def layer_flops(
    n: float | Array, d_model: int, mlp_ratio: float = 4, *, is_causal: bool = False
) -> LayerFlops:
    """Matrix-product FLOPs of one transformer layer for n tokens: Q, K, V and output projections, an MLP of two
    matrices, and attention over all heads together, of the pairs that the mask allows."""
    n = np.asarray(n, dtype=float)
    pairs = n * (n + 1) / 2 if is_causal else n**2
    return LayerFlops(8 * n * d_model**2, 4 * mlp_ratio * n * d_model**2, 4 * pairs * d_model)


# Bytes --------------------------------------------------------------------------------------------------------


def readings() -> dict[str, float]:
    """Bytes of attention weights with 96 layers of 96 heads, for one text: what has to be held at once."""
    matrix, heads, layers = 4096**2 * 4, 96, 96
    return {
        "n = 4096, all layers kept": matrix * heads * layers,
        "… with 2 bytes per weight": matrix * heads * layers / 2,
        "… with n = 2048": matrix / 4 * heads * layers,
        "one layer at a time": matrix * heads,
        "one head at a time": matrix,
        "128 queries of a head": 128 * 4096 * 4,
    }


def kv_cache(
    n: int, layers: int, kv_heads: int, head_dim: int, bytes_per_element: int = 2, batch: int = 1
) -> int:
    """Bytes of the keys and values that a decoder keeps for `batch` texts of n tokens."""
    return batch * 2 * n * layers * kv_heads * head_dim * bytes_per_element


class Traffic(NamedTuple):
    flops: float
    bytes: float

    @property
    def intensity(self) -> float:
        """FLOPs for each byte that goes to or from memory."""
        return self.flops / self.bytes


SOFTMAX = 6
"""Operations for each score: scale, compare, subtract, exponentiate, add, divide."""


def intensities(n: int, d: int, n_q: int | None = None, element: int = 4) -> dict[str, Traffic]:
    """FLOPs and memory traffic of attention's steps, when each step reads its inputs from memory once and writes its
    result once, and the least for the whole; n keys, and n queries unless `n_q` says otherwise."""
    m = n if n_q is None else n_q
    scores, small, large = m * n, m * d, n * d
    steps = {
        "QKᵀ": Traffic(2 * scores * d, element * (small + large + scores)),
        "softmax": Traffic(SOFTMAX * scores, element * 2 * scores),
        "A·V": Traffic(2 * scores * d, element * (scores + large + small)),
    }
    total = Traffic(sum(s.flops for s in steps.values()), sum(s.bytes for s in steps.values()))
    return {
        **steps,
        "step by step": total,
        "minimum": Traffic(total.flops, element * (2 * small + 2 * large)),
    }


def tiled(n: int, d: int, rows: float, element: int = 4) -> Traffic:
    """The same when tiles of that many queries stay in fast memory, with all that belongs to them: Q is read and the
    output written once, K and V are read once for each tile. One tile for everything moves the minimum."""
    reads = max(1, math.ceil(n / rows))
    return Traffic((4 * d + SOFTMAX) * n * n, element * 2 * n * d * (1 + reads))
