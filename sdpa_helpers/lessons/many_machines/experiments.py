"""Lesson 09: what one attention layer costs on many devices, counted and modeled. Plain arithmetic, forward only.

What is counted, pairs of a query and a key and bytes sent, is exact: real processes count the same. The time is a
model: every device computes and sends at stated rates, all links are alike, and nobody else uses them.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from numpy import ndarray as Array

from sdpa_helpers.attention.ring import volumes

METHODS = ("ring", "all-gather", "Ulysses")


class Layer(NamedTuple):
    """Causal attention in one layer; the heads of key and value may be fewer than those of the query."""

    n: int
    heads: int
    kv_heads: int
    d_k: int
    d_v: int

    def shape(self, kv_heads: int = 0) -> volumes.Shape:
        """The same as `volumes` takes it; `kv_heads` where they are repeated."""
        return volumes.Shape(1, self.n, self.heads, kv_heads or self.kv_heads, self.d_k, self.d_v)

    def flops(self, pairs: float) -> float:
        """Of the two products, for so many pairs of a query and a key in each head."""
        return 2.0 * self.heads * (self.d_k + self.d_v) * pairs


class Rates(NamedTuple):
    """What one device does in a second, and what a message costs before its first byte."""

    flops: float
    link: float
    """Bytes a second, in one direction."""
    latency: float
    """Seconds."""


class Spent(NamedTuple):
    """Seconds for one layer on one device."""

    compute: float
    communication: float
    exposed: float
    """What of the communication nothing hides: the device waits."""

    @property
    def total(self) -> float:
        """From beginning to end."""
        return self.compute + self.exposed


def work_of_steps(n: int, ranks: int, *, zigzag: bool = True) -> Int[Array, "ranks"]:
    """Pairs that the busiest rank has in each step of the ring; n divisible by 2 · ranks."""
    rows = n // ranks
    own, other = rows * (rows + 1) // 2, rows * rows // 2 if zigzag else rows * rows
    return np.array([own] + [other] * (ranks - 1))


def bytes_sent(layer: Layer, ranks: int, method: str, itemsize: int = 2) -> float:
    """By each rank. Ulysses repeats heads of key and value where there are fewer than ranks."""
    if method == "Ulysses":
        repeated = max(layer.kv_heads, ranks) if ranks > 1 else layer.kv_heads
        return volumes.ulysses_bytes(layer.shape(repeated), ranks, itemsize)
    return volumes.ring_bytes(layer.shape(), ranks, itemsize)


def is_possible(layer: Layer, ranks: int, method: str) -> bool:
    """Whether there are rows, or for Ulysses heads, for all."""
    if method == "Ulysses":
        return layer.heads % ranks == 0 and layer.n >= ranks
    return layer.n >= 2 * ranks


def busiest(layer: Layer, ranks: int, method: str, *, zigzag: bool = True) -> float:
    """Pairs in each head that a rank computes while all others have at most as many.

    In the ring all wait for the slowest in every step; after an all-gather only at the end. Ulysses gives a rank all
    rows of some heads: as many as if it had its share of the pairs in every head.
    """
    n, rows = layer.n, layer.n // ranks
    if method == "Ulysses" or zigzag:
        return n * (n + 1) / 2 / ranks
    if method == "ring":
        return float(work_of_steps(n, ranks, zigzag=False).sum())
    return rows * (n - rows) + rows * (rows + 1) / 2


def spend(
    layer: Layer, ranks: int, method: str, rates: Rates, *, zigzag: bool = True, itemsize: int = 2
) -> Spent:
    """The model of one layer's time.

    Ring: a hop to the next rank runs while the step before it computes. All-gather: all hops first, then the work.
    Ulysses: four exchanges, in each of which the messages to all others leave together; then or before them the work.
    """
    compute = layer.flops(busiest(layer, ranks, method, zigzag=zigzag)) / rates.flops
    if ranks == 1:
        return Spent(compute, 0.0, 0.0)
    sending = bytes_sent(layer, ranks, method, itemsize) / rates.link
    if method == "Ulysses":
        sending += 4 * rates.latency
        return Spent(compute, sending, sending)
    sending += (ranks - 1) * rates.latency
    if method == "all-gather":
        return Spent(compute, sending, sending)
    hop = sending / (ranks - 1)
    steps = layer.flops(1) * work_of_steps(layer.n, ranks, zigzag=zigzag)[:-1] / rates.flops
    return Spent(compute, sending, float(np.maximum(hop - steps, 0).sum()))


def pays_from(layer: Layer, ranks: int, method: str, rates: Rates) -> int:
    """The shortest length, a power of two, from which this many devices are faster than one; 0: no such length."""
    for power in range(4, 27):
        longer = layer._replace(n=1 << power)
        if (
            is_possible(longer, ranks, method)
            and spend(longer, ranks, method, rates).total < spend(longer, 1, method, rates).total
        ):
            return longer.n
    return 0
