"""Lesson 09 on one card."""

import numpy as np

from sdpa_helpers.lessons.many_machines.figures import plot_work
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import Picture


def draw() -> Picture:
    """The work of four ranks in zigzag."""
    chunks = np.split(np.arange(24), 8)
    zigzag = [np.concatenate([chunks[rank], chunks[-1 - rank]]) for rank in range(4)]
    return plot_work({"zigzag": zigzag}, size=(4.2, 3.9))


CARD = CheatCard(
    "Many machines",
    formulas=(
        "out = exp(lse_{a} − lse) · out_{a} + exp(lse_{b} − lse) · out_{b}",
        "ring, all-gather: (*P* − 1)/*P* · *n G* (*d*_{k} + *d*_{v}) numbers",
        "Ulysses: (*P* − 1)/*P*^{2} · *n* (*H* + *G*) (*d*_{k} + *d*_{v}) numbers",
        "zigzag: rank *r* holds chunks *r* and 2*P* − 1 − *r*",
    ),
    shapes=(
        ("*Q*", "a rank's own queries", "(H, n/P, d_{k})"),
        ("*K*, *V*", "the block that passes by", "(G, n/P, d)"),
        ("lse", "with each partial output", "(H, n/P)"),
    ),
    remember=(
        "The queries stay, the keys and values travel: *P* steps, *P* − 1 hops, and the result is exact.",
        "A step lasts as long as its busiest rank. Contiguous pieces waste most of what a causal mask saves.",
        "Ring and all-gather send the same bytes; the ring holds less and sends while it computes.",
        "Ulysses sends less per rank with more ranks, up to the number of heads. Shared keys favor the ring.",
        "Work grows like *n*², messages like *n*: below a few thousand tokens one device is faster.",
    ),
    picture=draw,
)


def cheat_card() -> CheatSheet:
    """The card of this lesson."""
    return CheatSheet(CARD)
