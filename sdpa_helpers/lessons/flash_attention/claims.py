"""Claims that lesson 07 runs: what flash attention saves. Counted and stored quantities only, and no timing."""

from functools import cache
from typing import Any

import numpy as np

from sdpa_helpers.attention import numpy_flash
from sdpa_helpers.course import counted
from sdpa_helpers.course.claim import Numbers, claims_of
from sdpa_helpers.lessons.flash_attention.rungs import formula


def _normal(*shapes: tuple[int, ...], seed: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


@cache
def _peaks() -> dict[str, float]:
    """Peak memory of two ways, in matrices, and how it grows with n. The tiles' own part is small at 2048 only."""
    found = {}
    ways = {
        "textbook": (formula, (512, 1024)),
        "tiled": (lambda q, k, v: numpy_flash.attention(q, k, v, 0.125), (2048, 4096)),
    }
    for name, (way, sizes) in ways.items():
        peaks = [counted.peak_bytes(way, *_normal(*[(n, 64)] * 3)) for n in sizes]
        found[f"{name}_exponent"] = float(np.log2(peaks[1] / peaks[0]))
        found[f"{name}_matrices"] = peaks[1] / (8 * sizes[1] ** 2)
    return found


class _Read(np.ndarray):
    """An array that counts the bytes of the slices taken from it."""

    taken = 0

    def __getitem__(self, index: Any) -> Any:
        part = np.asarray(self)[index]
        _Read.taken += part.nbytes
        return part


def _bytes_with_tiles(n: int, d: int, tile: int) -> float:
    """What FlashAttention's algorithm reads of K and V, once for each tile of queries, counted as it runs."""
    Q, K, V = _normal((n, d), (n, d), (n, d))
    _Read.taken = 0
    numpy_flash.attention(Q, K.view(_Read), V.view(_Read), d**-0.5, tile=tile)
    return _Read.taken


def _what_flash_saves() -> Numbers:
    """float64 throughout: eight bytes a number."""
    n, d = 4096, 64
    kept = 4 * n * n * 8  # S and A, each written once and read once
    ends = 4 * n * d * 8  # Q, K, V read and the output written once
    read = {tile: _bytes_with_tiles(n, d, tile) for tile in (128, 256)}
    pairs = read[128] / 2 / (8 * d) * 128  # each key that is read meets the 128 queries of a tile
    return {
        "pairs": pairs / n**2,
        "tile_128": (kept + ends) / (read[128] + ends / 2),
        "tile_256": (kept + ends) / (read[256] + ends / 2),
    }


CLAIMS = claims_of(
    "07_flash_attention",
    {
        23: _peaks,
        162: _what_flash_saves,
    },
)
