"""How the matrix of scores is cut into tiles: the same for every tiled backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Tiles(NamedTuple):
    """Rows and columns of a tile of scores."""

    queries: int
    keys: int
    diagonal: int  # rows of the thinner tiles on the diagonal of causal attention


def rectangles(
    first: int, last: int, n_k: int, is_causal: bool, tiles: Tiles
) -> Iterator[tuple[int, int, int, int]]:
    """The tiles of scores that the queries first … last − 1 need: (top, bottom, left, right).

    Without is_causal, all rows against some keys at a time. With it, query i sees the keys 0 … i only:

        keys:       0 ……………… first …… last
        query first ████████████▒                █ full tiles: every key here is before every query
              …     ████████████▒▒▒              ▒ thin tiles along the diagonal; only the last columns
              last  ████████████▒▒▒▒▒              of each contain anything that must be hidden
    """
    straight = min(first, n_k) if is_causal else n_k
    for left in range(0, straight, tiles.keys):
        yield first, last, left, min(left + tiles.keys, straight)
    if is_causal and first < n_k:
        for top in range(first, last, tiles.diagonal):
            bottom = min(top + tiles.diagonal, last)
            yield top, bottom, first, min(bottom, n_k)
