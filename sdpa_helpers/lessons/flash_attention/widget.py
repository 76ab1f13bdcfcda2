"""Lesson 07's widget: paint a mask, cut it into tiles. Which tiles does a kernel skip, and what does that save?"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool
from numpy import ndarray as Array

from sdpa_helpers.lessons.flash_attention.figures import MASKED, SKIPPED, WHOLE, plot_kinds, tile_kinds
from sdpa_helpers.show.figures import Picture
from sdpa_helpers.show.panels import TOUCH, PagePanel

SCRIPT = Path(__file__).with_suffix(".js")

TOKENS, WIDTH, BYTES = 16, 64, 2
"""Of the painted mask: tokens, numbers in a head, bytes a number (float16)."""
SIZES = (1, 2, 4, 8, 16)
"""Rows and columns of a tile."""


class Work(NamedTuple):
    """What a kernel does that knows the kinds of its tiles."""

    skipped: int
    masked: int
    whole: int
    allowed: int  # pairs
    computed: int  # pairs in tiles that are not skipped
    flops: int
    bytes: int  # Q and the output once, the keys and values of every tile that is visited


def work(mask: Bool[Array, "n n"], tile: int) -> Work:
    """Count for one mask and one size of tiles."""
    kinds = tile_kinds(mask, tile)
    skipped, masked, whole = (int((kinds == kind).sum()) for kind in (SKIPPED, MASKED, WHOLE))
    computed = (masked + whole) * tile * tile
    numbers = 2 * len(mask) * WIDTH + (masked + whole) * 2 * tile * WIDTH
    return Work(skipped, masked, whole, int(mask.sum()), computed, 4 * WIDTH * computed, BYTES * numbers)


def presets(n: int = TOKENS) -> Mapping[str, Bool[Array, "n n"]]:
    """Masks to begin with, True = may attend."""
    i, j = np.indices((n, n))
    document = np.repeat([0, 1, 2], [5, 7, 4])
    return {
        "causal": j <= i,
        "window": (j <= i) & (i - j < 5),
        "window + sink": (j <= i) & ((i - j < 4) | (j < 1)),
        "documents": (j <= i) & (document[i] == document[j]),
        "no mask": np.ones((n, n), dtype=bool),
        "clear": np.zeros((n, n), dtype=bool),
    }


def as_text(mask: Bool[Array, "n n"]) -> str:
    """The mask as the page has it: a digit for each pair, row by row."""
    return "".join("01"[int(pair)] for pair in mask.flat)


def sentence(mask: Bool[Array, "n n"], tile: int) -> str:
    """What the panel shows at the start."""
    found = work(mask, tile)
    tiles = found.skipped + found.masked + found.whole
    return (
        f"In tiles of {tile} × {tile}, {found.skipped} of {tiles} are skipped, {found.masked} partly masked, "
        f"{found.whole} whole. The kernel computes {found.computed} of {mask.size} pairs, "
        f"{found.computed - found.allowed} of them in vain, and moves {found.bytes:,} bytes."
    )


def still_tiles() -> Picture:
    """Three of the masks in tiles of 4."""
    return plot_kinds({name: presets()[name] for name in ("causal", "window + sink", "documents")}, 4)


def paint_tiles() -> PagePanel:
    """Paint a mask, choose a tile: which tiles are skipped, and what does a kernel still compute and move?"""
    masks = {name: as_text(mask) for name, mask in presets().items()}
    given = {
        "body": "tiles",
        "title": "Which tiles does a kernel visit?",
        "tokens": TOKENS,
        "width": WIDTH,
        "bytes": BYTES,
        "sizes": list(SIZES),
        "presets": masks,
    }
    start = {"mask": masks["causal"], "size": SIZES.index(4)}
    return PagePanel(given, start, sentence(presets()["causal"], 4), still_tiles, TOUCH, SCRIPT)
