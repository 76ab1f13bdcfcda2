"""How much ranks that share a long sequence must send, and when sending hides behind computing. Plain arithmetic.

One attention layer; the rows of query, key and value are spread evenly over `ranks`. What each rank sends, in bytes,
`itemsize` for each number; in backward passes gradients of keys and values are sent with `grad_itemsize`.

Three ways to bring queries and keys together:

    ring         keys and values travel from rank to rank          Liu et al. 2023, "Ring Attention", §3
    all-gather   every rank gets all keys and values at once       Grattafiori et al. 2024, "Llama 3", §3.3.2
    Ulysses      ranks swap: all rows of some heads, in place      Jacobs et al. 2023, "DeepSpeed-Ulysses", §3
                 of some rows of all heads, and back
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple


class Shape(NamedTuple):
    """One attention layer: the whole sequence of n rows."""

    batch: int
    n: int
    heads: int  # of the query
    kv_heads: int  # of key and value: grouped-query attention has fewer
    d_k: int
    d_v: int

    @property
    def numbers_of_keys(self) -> int:
        """In key and value together."""
        return self.batch * self.n * self.kv_heads * (self.d_k + self.d_v)

    @property
    def numbers_of_queries(self) -> int:
        """In query and output together."""
        return self.batch * self.n * self.heads * (self.d_k + self.d_v)

    def flops(self, is_causal: bool) -> float:
        """Of the forward pass's two products; backward has five."""
        return 2 * self.numbers_of_queries * self.n / (2 if is_causal else 1)


# Bytes that one rank sends ---------------------------------------------------------------------------------


def ring_bytes(
    shape: Shape, ranks: int, itemsize: int, *, backward: bool = False, grad_itemsize: int | None = None
) -> float:
    """`ring.py`: every block makes ranks − 1 hops; backward its gradient makes as many."""
    each = itemsize + (grad_itemsize or itemsize) if backward else itemsize
    return (ranks - 1) * shape.numbers_of_keys / ranks * each


def all_gather_bytes(
    shape: Shape, ranks: int, itemsize: int, *, backward: bool = False, grad_itemsize: int | None = None
) -> float:
    """All-gather of keys and values; backward once more, and a reduce-scatter of their gradients.

    Each of these sends (ranks − 1) / ranks of the whole from every rank, when done as a ring: as `ring_bytes`.
    """
    return ring_bytes(shape, ranks, itemsize, backward=backward, grad_itemsize=grad_itemsize)


def ulysses_bytes(shape: Shape, ranks: int, itemsize: int) -> float:
    """Four all-to-alls: of query, key, value, and of the output. Backward the same, of their gradients.

    Each rank has 1 / ranks of every array and keeps 1 / ranks of that. ValueError where heads do not suffice.
    """
    if shape.kv_heads % ranks:
        raise ValueError(
            f"Ulysses gives each rank whole heads: {ranks} ranks must divide the {shape.kv_heads} heads of the key"
        )
    return (shape.numbers_of_queries + shape.numbers_of_keys) / ranks * (ranks - 1) / ranks * itemsize


# Bytes that one rank must hold beside its own rows ----------------------------------------------------------


def ring_memory(shape: Shape, ranks: int, itemsize: int) -> float:
    """Two blocks in passing."""
    return 2 * shape.numbers_of_keys / ranks * itemsize


def all_gather_memory(shape: Shape, itemsize: int) -> float:
    """All keys and values."""
    return shape.numbers_of_keys * itemsize


def ulysses_memory(shape: Shape, ranks: int, itemsize: int) -> float:
    """Query, key, value and output of some heads, all rows: as much again as its own rows."""
    return (shape.numbers_of_queries + shape.numbers_of_keys) / ranks * itemsize


# Time ------------------------------------------------------------------------------------------------------


def hiding_rows(
    shape: Shape,
    flops_per_second: float,
    bytes_per_second: float,
    itemsize: int,
    *,
    is_causal: bool,
    backward: bool = False,
    grad_itemsize: int | None = None,
) -> float:
    """Rows that a rank must hold so that a step of the ring computes for as long as it sends.

    A step has rows² pairs of a query and a key (half of them in causal attention, with zigzag), and rows · (d_k +
    d_v) numbers of each head of the key to send. Liu et al. 2023, §3: rows ≥ FLOP/s ÷ bytes/s, for two bytes a
    number, not causal, one head of the key for each of the query.

    Args:
        flops_per_second, bytes_per_second: of one rank; what it sends in one direction.
    """
    per_pair = 2 * shape.heads * (shape.d_k + shape.d_v) * (2.5 if backward else 1) / (2 if is_causal else 1)
    each = itemsize + (grad_itemsize or itemsize) if backward else itemsize
    per_row = shape.kv_heads * (shape.d_k + shape.d_v) * each
    return (per_row / bytes_per_second) / (per_pair / flops_per_second)


def contiguous_work(n: int, ranks: int) -> float:
    """Causal attention, each rank with one piece of n / ranks rows: most work of a rank ÷ mean. Zigzag: 1."""
    bounds = [n * rank // ranks for rank in range(ranks + 1)]
    work = [last * (last + 1) // 2 - first * (first + 1) // 2 for first, last in pairwise(bounds)]
    return max(work) * ranks / sum(work)
