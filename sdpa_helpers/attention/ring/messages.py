"""Who is in the ring, what each brings, and how blocks go round: the part of `ring.py` that is torch.distributed."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.distributed as dist

from sdpa_helpers.attention.ring.partition import what_is_seen, zigzag_lengths

if TYPE_CHECKING:
    from typing import NoReturn

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass
class Tally:
    """What this rank really did, counted where it was done. Pass one to `ring_attention`; it adds up."""

    bytes_sent: int = 0  # keys, values and their gradients; without the hundred bytes of `meet`
    messages: int = 0
    pairs: int = 0  # of a query and a key, over batch and heads, whose score was needed; forward passes only


class UnderWay(NamedTuple):
    """A block that leaves and one that comes. Neither's memory may be touched until `Ring.receive`."""

    work: list[dist.Work]
    outgoing: torch.Tensor
    incoming: torch.Tensor


@dataclass(frozen=True)
class Ring:
    """The ring as one of its ranks sees it."""

    group: dist.ProcessGroup
    rank: int
    size: int
    keys: tuple[int, ...]  # of each rank: the rows of its block
    row: int  # numbers in one row of a block: of all heads, of key and value
    tally: Tally

    def numbers_of(self, source: int) -> int:
        """In the block of that rank."""
        return self.keys[source] * self.row

    def seen(self, source: int, is_causal: bool) -> tuple[slice, slice, bool]:
        """What this rank computes of that rank's block: `what_is_seen`."""
        early = zigzag_lengths(sum(self.keys), self.size)
        return what_is_seen(self.rank, source, early[self.rank][0], early[source][0], is_causal)

    def exchange(self, outgoing: torch.Tensor, incoming: torch.Tensor) -> UnderWay:
        """Start to send to the next rank, and to receive from the one before: at once, and without waiting."""
        after, before = (dist.get_global_rank(self.group, (self.rank + step) % self.size) for step in (1, -1))
        messages = [(dist.isend, outgoing, after), (dist.irecv, incoming, before)]
        operations = [dist.P2POp(what, x, who, self.group) for what, x, who in messages if x.numel()]
        self.tally.messages += outgoing.numel() > 0
        self.tally.bytes_sent += outgoing.numel() * outgoing.element_size()
        try:
            return UnderWay(dist.batch_isend_irecv(operations) if operations else [], outgoing, incoming)
        except RuntimeError as error:
            self._lost_neighbour(error)

    def receive(self, under_way: UnderWay) -> torch.Tensor:
        """Wait, for both: the block that has come."""
        try:
            for work in under_way.work:
                work.wait()
        except RuntimeError as error:
            self._lost_neighbour(error)
        return under_way.incoming

    def _lost_neighbour(self, error: RuntimeError) -> NoReturn:
        neighbours = sorted({(self.rank + step) % self.size for step in (1, -1)})
        _lost(self.rank, f"exchanging blocks with {neighbours}", error)

    def count_pairs(self, query: torch.Tensor, key: torch.Tensor, is_causal: bool) -> None:
        n_q, n_k = query.shape[-2], key.shape[-2]
        pairs = n_q * (n_q + 1) // 2 if is_causal else n_q * n_k
        self.tally.pairs += query.shape[0] * query.shape[1] * pairs


def meet(
    query, key, value, is_causal: bool, scale: float, group: dist.ProcessGroup | None, tally: Tally
) -> Ring:
    """The ring, once all ranks have told each other what they bring; an error on all of them if it does not fit.

    One small all-gather, for which a GPU's queue must be waited for. Without it a rank that is given something else
    would show as a hang, or as wrong numbers.
    """
    group = group or dist.group.WORLD
    assert group is not None
    common = {
        "batch": query.shape[0],
        "heads of the query": query.shape[1],
        "heads of the key": key.shape[1],
        "d_k": query.shape[-1],
        "d_v": value.shape[-1],
        "dtype": DTYPES.index(query.dtype),
        "is_causal": int(is_causal),
        "scale": struct.unpack("<q", struct.pack("<d", scale))[0],  # its bits
        "whether a gradient is wanted": int(
            torch.is_grad_enabled() and any(x.requires_grad for x in (query, key, value))
        ),
    }
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    mine = torch.tensor([query.shape[-2], key.shape[-2], *common.values()], device=query.device)
    everyone = [torch.empty_like(mine) for _ in range(size)]
    try:
        dist.all_gather(everyone, mine, group)
        told = [x.tolist() for x in everyone]
    except RuntimeError as error:
        _lost(rank, "meeting the others", error)
    for place, name in enumerate(common, start=2):
        values = [numbers[place] for numbers in told]
        if len(set(values)) > 1:
            shown = [_shown(name, value) for value in values]
            raise ValueError(
                f"the ranks of the ring disagree about {name}: {shown} on ranks 0 … {size - 1}. "
                "Only their rows may differ"
            )
    queries, keys = ([numbers[place] for numbers in told] for place in (0, 1))
    if is_causal:
        _check_zigzag(queries, keys)
    row = key.shape[0] * key.shape[1] * (key.shape[-1] + value.shape[-1])
    return Ring(group, rank, size, tuple(keys), row, tally)


def _shown(name: str, value: int) -> object:
    if name == "dtype":
        return DTYPES[value]
    if name == "scale":
        return struct.unpack("<d", struct.pack("<q", value))[0]
    return bool(value) if name.startswith(("is_", "whether")) else value


def _check_zigzag(queries: list[int], keys: list[int]) -> None:
    expected = [early + late for early, late in zigzag_lengths(sum(keys), len(keys))]
    for name, came in (("queries", queries), ("keys", keys)):
        if came != expected:
            raise ValueError(
                f"is_causal=True needs the rows that zigzag_partition(n, {len(keys)}) gives each rank, of queries "
                f"and keys alike. For n = {sum(keys)} keys that is {expected} rows, but there are {came} {name}"
            )


def _lost(rank: int, doing: str, error: RuntimeError) -> NoReturn:
    raise RuntimeError(
        f"ring attention on rank {rank} failed while {doing}: a rank ended, or did not come in time. Every rank "
        f"must call ring_attention, and backward, as often as the others. torch says: {error}"
    ) from error
