"""Lesson 06 on one card."""

import numpy as np

from sdpa_helpers.lessons.complexity.counting import intensities, tiled
from sdpa_helpers.lessons.complexity.figures import plot_traffic
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import Picture


def draw() -> Picture:
    """FLOPs per byte against length, in float16 with d = 64."""
    lengths = 2.0 ** np.arange(7, 18)
    whole = [intensities(int(n), 64, element=2) for n in lengths]
    curves = {
        "step by step": np.array([ways["step by step"].intensity for ways in whole]),
        "tiles of 128": np.array([tiled(int(n), 64, 128, element=2).intensity for n in lengths]),
        "minimum": np.array([ways["minimum"].intensity for ways in whole]),
    }
    return plot_traffic(lengths, curves, size=(4.4, 4.0))


CARD = CheatCard(
    "What attention costs",
    formulas=(
        "FLOPs = 2 *n*_{q} *n*_{k} (*d*_{k} + *d*_{v}), half if causal",
        "attention = all else: *n* = 6 *d*_{model}, causal: 12 *d*_{model}",
        "numbers moved = 2 *n d* (1 + *n* / *B*)",
        "speed ≤ min(peak, intensity · bandwidth)",
    ),
    shapes=(
        ("*QK*^{T}", "scores, if stored", "(n_{q}, n_{k})"),
        ("*B*", "query rows of a tile; its scores", "(B, B)"),
        ("m, Σ", "what a row keeps: maximum, sum", "(B, 1) each"),
        ("pairs", "with a causal mask, *n* tokens", "n(n + 1)/2"),
    ),
    remember=(
        "Both products carry the *n*². Softmax is a few percent of the operations and more of the time.",
        "The rest of the layer dominates until *n* = 6 *d*_{model}. Bytes hurt sooner.",
        "Tiles do the same products without storing the matrix: memory held grows like *n*, traffic still like *n*².",
        "A causal mask halves FLOPs and traffic, if the kernel knows that it may skip.",
        "Decoding does about one FLOP per byte in 16 bits: memory is the limit.",
    ),
    picture=draw,
)


def cheat_card() -> CheatSheet:
    """The card of this lesson."""
    return CheatSheet(CARD)
