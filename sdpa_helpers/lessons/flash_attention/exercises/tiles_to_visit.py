"""Lesson 07, exercise `tiles_to_visit`: which tiles a causal kernel computes, masks and skips."""

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer, redraw
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`tiles_to_visit(n_q, n_k, block_q, block_k, is_causal)`: how many tiles a kernel has, sorted by what it has to do with them.

- Tiles have `block_q` queries and `block_k` keys; the last of a row or column may be smaller. All four are whole numbers, at least 1.
- With `is_causal`, query $i$ sees the keys $j \le i$, both counted from the first.
- Returns a tuple of three whole numbers, `(whole, masked, skipped)`: in how many tiles every query sees every key, so that no mask is needed; in how many some pairs are seen and some are not; and in how many nothing is seen.

Example: {inputs:1}. The tiles of the first two queries: keys 0–1 lie on the diagonal, 2–3 and 4 come later. Of the next two: 0–1 whole, 2–3 on the diagonal, 4 later. The last query sees keys 0–4: three whole tiles. Together {result:1}.
"""


def tiles_to_visit(n_q, n_k, block_q, block_k, is_causal):
    """Tiles by what is seen of them -> (whole, masked, skipped)."""
    whole = masked = skipped = 0
    for top in range(0, n_q, block_q):
        last_query = min(top + block_q, n_q) - 1
        for left in range(0, n_k, block_k):
            last_key = min(left + block_k, n_k) - 1
            if not is_causal or last_key <= top:
                whole += 1
            elif left <= last_query:
                masked += 1
            else:
                skipped += 1
    return whole, masked, skipped


Sizes = tuple[int, int, int, int]
"""n_q, n_k, block_q, block_k."""


class _Tile(NamedTuple):
    """Queries from top to before bottom, keys from left to before right; where it stands among the tiles."""

    top: int
    bottom: int
    left: int
    right: int
    row: int
    column: int
    more: int
    """By how many there are more keys than queries."""


def _build(whole, visited, place, ends, tiles, causal, order):
    """A count whose parts can be wrong."""

    def count(n_q, n_k, block_q, block_k, is_causal):
        counts = [0, 0, 0]
        for row in range(tiles(n_q, block_q)):
            for column in range(tiles(n_k, block_k)):
                queries = row * block_q, ends(row * block_q, block_q, n_q)
                keys = column * block_k, ends(column * block_k, block_k, n_k)
                tile = place(_Tile(*queries, *keys, row, column, n_k - n_q))
                if not causal(is_causal) or whole(tile):
                    counts[0] += 1
                elif visited(tile):
                    counts[1] += 1
                else:
                    counts[2] += 1
        return order(*counts)

    return count


def _by_number(tile: _Tile) -> _Tile:
    """As if every tile held two queries and two keys."""
    row, column = 2 * tile.row, 2 * tile.column
    return tile._replace(top=row, bottom=row + 2, left=column, right=column + 2)


def _lower_right(tile: _Tile) -> _Tile:
    return tile._replace(top=tile.top + tile.more, bottom=tile.bottom + tile.more)


MISTAKES = Products(
    (
        Factor(
            "whole",
            lambda tile: tile.right - 1 <= tile.top,
            (
                Option("whole-by-the-first-key", lambda tile: tile.left <= tile.top),
                Option("whole-by-the-first-key", lambda tile: tile.left < tile.top),
                Option("whole-by-the-last-query", lambda tile: tile.right <= tile.bottom),
                Option("one-short-of-whole", lambda tile: tile.right - 1 < tile.top),
                Option("every-visited-tile-whole", lambda tile: tile.left <= tile.bottom - 1),
                Option("every-visited-tile-masked", lambda tile: False),
            ),
        ),
        Factor(
            "visited",
            lambda tile: tile.left <= tile.bottom - 1,
            (
                Option("skipped-by-the-first-query", lambda tile: tile.left <= tile.top),
                Option("own-key-hidden", lambda tile: tile.left < tile.bottom - 1),
                Option("exclusive-end-for-the-last-query", lambda tile: tile.left <= tile.bottom),
                Option("nothing-skipped", lambda tile: True),
            ),
        ),
        Factor(
            "place",
            lambda tile: tile,
            (Option("by-tile-numbers", _by_number), Option("aligned-lower-right", _lower_right)),
        ),
        Factor(
            "ends",
            lambda start, block, n: min(start + block, n),
            (Option("last-tile-taken-as-full", lambda start, block, n: start + block),),
        ),
        Factor(
            "tiles",
            lambda n, block: ceil(n / block),
            (Option("last-tiles-left-out", lambda n, block: n // block),),
        ),
        Factor(
            "causal",
            lambda is_causal: is_causal,
            (
                Option("is-causal-ignored", lambda is_causal: False),
                Option("always-causal", lambda is_causal: True),
            ),
        ),
        Factor(
            "order",
            lambda *counts: counts,
            (
                Option("visited-for-masked", lambda whole, masked, skipped: (whole, whole + masked, skipped)),
                Option("visited-for-whole", lambda whole, masked, skipped: (whole + masked, masked, skipped)),
            ),
        ),
    ),
    _build,
)
_RIGHT = {factor.name: factor.right for factor in MISTAKES.factors}


def _option(name: str) -> Callable:
    return next(d.function for d in MISTAKES.deviants(1) if d.names == (name,))


def _pairs(n_q, n_k, block_q, block_k, is_causal):
    if not is_causal:
        return n_q * n_k, 0, 0
    seen = sum(min(i + 1, n_k) for i in range(n_q))
    return seen, 0, n_q * n_k - seen


def _by_pairs_of_each_tile(n_q, n_k, block_q, block_k, is_causal):
    counts = [0, 0, 0]
    for top in range(0, n_q, block_q):
        for left in range(0, n_k, block_k):
            queries = range(top, min(top + block_q, n_q))
            keys = range(left, min(left + block_k, n_k))
            seen = {not is_causal or j <= i for i in (queries[0], queries[-1]) for j in (keys[0], keys[-1])}
            counts[0 if seen == {True} else 1 if True in seen else 2] += 1
    return tuple(counts)


def _row_by_row(n_q, n_k, block_q, block_k, is_causal):
    columns = -(-n_k // block_k)
    whole = visited = rows = 0
    for top in range(0, n_q, block_q):
        last = min(top + block_q, n_q) - 1
        rows += 1
        visited += min(columns, last // block_k + 1) if is_causal else columns
        whole += columns if not is_causal or top >= n_k - 1 else (top + 1) // block_k
    return whole, visited - whole, rows * columns - visited


def _told_apart(*call) -> tuple[bool, ...]:
    """Which mistakes show, of all that are known."""
    right = tiles_to_visit(*call)
    return tuple(deviant.function(*call) != right for deviant in MISTAKES.deviants(1))


def _case(
    name: str,
    like: Sizes,
    draw: Callable[..., Sizes],
    is_causal: bool = True,
    points: float = 1,
    says: str = "",
) -> Case:
    """Sizes that are drawn, and on which the same mistakes show as on some that were chosen: no mark is luck."""
    wanted = _told_apart(*like, is_causal)
    return Case(
        name,
        lambda rng: redraw(
            rng,
            lambda rng: (*draw(lambda low, high: int(rng.integers(low, high + 1))), is_causal),
            lambda *call: _told_apart(*call) == wanted,
        ),
        points,
        says,
    )


EXERCISE = Exercise(
    name="tiles_to_visit",
    lesson="07_flash_attention",
    title="Which tiles a causal kernel computes",
    prompt=PROMPT,
    examples=(Example((5, 5, 2, 2, True), form="call"),),
    difficulty=3,
    minutes=10,
    reference=tiles_to_visit,
    section="5. Tiles that nobody needs",
    cases=(
        _case(
            "square tiles that fit",
            (18, 18, 3, 3),
            lambda size: (6 * (b := size(3, 30)), 6 * b, b, b),
            says="Six by six tiles: those on the diagonal need a mask, those above it are skipped.",
        ),
        _case(
            "square tiles, the last ones smaller",
            (17, 17, 3, 3),
            lambda size: (n := 5 * (b := size(3, 20)) + size(1, b - 1), n, b, b),
            says="Five full tiles a row and a smaller one.",
        ),
        _case(
            "no mask",
            (25, 39, 5, 9),
            lambda size: (size(20, 60), size(20, 60), size(3, 9), size(3, 9)),
            is_causal=False,
            says="Without `is_causal` every query sees every key.",
        ),
        _case(
            "tall tiles",
            (49, 49, 12, 3),
            lambda size: (n := size(3, 6) * 4 * (b := size(2, 9)) + size(1, 4), n, 4 * b, b),
            points=2,
            says="Four times as many queries as keys in a tile: the diagonal crosses four side by side.",
        ),
        _case(
            "wide tiles",
            (45, 45, 4, 16),
            lambda size: (n := size(30, 90), n, b := size(2, 9), 4 * b),
            points=2,
            says="Four times as many keys as queries in a tile: one tile holds the diagonal of four blocks of queries.",
        ),
        _case(
            "tiles that share no measure",
            (41, 39, 5, 7),
            lambda size: (size(36, 80), size(36, 80), 5, 7),
            points=2,
            says="Five queries and seven keys a tile: the diagonal crosses each of them elsewhere.",
        ),
        _case(
            "more keys than queries",
            (13, 46, 4, 3),
            lambda size: (n := size(11, 40), n + size(20, 50), 4, 3),
            says="Query 0 sees key 0 alone, however many keys there are.",
        ),
        _case(
            "more queries than keys",
            (40, 17, 3, 4),
            lambda size: ((n := size(11, 40)) + size(20, 50), n, 3, 4),
        ),
        _case("one query a tile", (15, 13, 1, 3), lambda size: (size(13, 60), size(13, 60), 1, 3)),
        _case("one key a tile", (11, 12, 3, 1), lambda size: (size(11, 60), size(11, 60), 3, 1)),
        _case("one tile", (7, 5, 13, 13), lambda size: (size(5, 30), size(5, 30), b := size(31, 60), b)),
        _case(
            "one query",
            (1, 13, 4, 3),
            lambda size: (1, size(13, 60), size(4, 9), size(2, 4)),
            says="While decoding with top-left: query 0 sees key 0 alone.",
        ),
        _case("one key", (11, 1, 3, 5), lambda size: (size(11, 60), 1, size(2, 4), size(4, 9))),
    ),
    wrong=(
        WrongAnswer(
            "whole-by-the-first-key",
            _option("whole-by-the-first-key"),
            "You call a tile whole if the first query sees its first key. It has to see the last key, too: that is the pair "
            "in the tile that is furthest above the diagonal.",
        ),
        WrongAnswer(
            "whole-by-the-last-query",
            _option("whole-by-the-last-query"),
            "You call a tile whole if its last query sees its last key. The first query sees least: ask that one.",
        ),
        WrongAnswer(
            "one-short-of-whole",
            _option("one-short-of-whole"),
            "A tile whose last key is its first query's own is whole: query i sees key i as well. The last key is left + block_k − 1, "
            "and j ≤ i is the condition.",
        ),
        WrongAnswer(
            "every-visited-tile-whole",
            _option("every-visited-tile-whole"),
            "You count every tile that is visited as whole. Those that the diagonal crosses need a mask.",
        ),
        WrongAnswer(
            "every-visited-tile-masked",
            _option("every-visited-tile-masked"),
            "With `is_causal` you mask every tile that is visited. Below the diagonal every query sees every key, and a mask "
            "would only cost time.",
        ),
        WrongAnswer(
            "skipped-by-the-first-query",
            _option("skipped-by-the-first-query"),
            "You skip a tile if its first query sees nothing of it. The last query of the block sees further: only if that "
            "one sees nothing, the tile can be skipped.",
        ),
        WrongAnswer(
            "own-key-hidden",
            _option("own-key-hidden"),
            "Query i sees key i as well: a tile whose first key is its last query's own has to be visited.",
        ),
        WrongAnswer(
            "exclusive-end-for-the-last-query",
            _option("exclusive-end-for-the-last-query"),
            "The last query of a tile is top + block_q − 1; you compare with one further, so tiles are visited in which "
            "nothing is seen.",
        ),
        WrongAnswer(
            "nothing-skipped",
            _option("nothing-skipped"),
            "You skip nothing: tiles in which no query sees any key are counted as masked.",
        ),
        WrongAnswer(
            "last-tile-taken-as-full",
            _option("last-tile-taken-as-full"),
            "You take the last, smaller tile as if it were full. It ends with the last query and the last key there are.",
        ),
        WrongAnswer(
            "last-tiles-left-out",
            _option("last-tiles-left-out"),
            "The last, smaller tiles are missing: the number of blocks is rounded up, not down.",
        ),
        WrongAnswer(
            "is-causal-ignored",
            _option("is-causal-ignored"),
            "`is_causal` is not used: all tiles are counted as whole.",
        ),
        WrongAnswer(
            "always-causal",
            _option("always-causal"),
            "Without `is_causal` every tile is whole; you count as if later keys were hidden.",
        ),
        WrongAnswer(
            "visited-for-masked",
            _option("visited-for-masked"),
            "The second number holds all tiles that are visited. Those that are whole are counted in the first already.",
        ),
        WrongAnswer(
            "visited-for-whole",
            _option("visited-for-whole"),
            "The first number holds all tiles that are visited. Those with a mask are counted in the second already.",
        ),
        WrongAnswer(
            "by-tile-numbers",
            _option("by-tile-numbers"),
            "You compare the numbers of the tiles: tile 2 of the queries with tile 2 of the keys. They lie on the diagonal "
            "only if both blocks are equally large. Compare queries with keys.",
        ),
        WrongAnswer(
            "aligned-lower-right",
            _option("aligned-lower-right"),
            "Your diagonal ends in the lower right corner. It starts in the upper left one: query i sees the keys 0 to i.",
        ),
        WrongAnswer(
            "pairs-for-tiles",
            _pairs,
            "You counted pairs of query and key. Count tiles, of block_q × block_k pairs.",
        ),
        WrongAnswer(
            "in-another-order",
            lambda n_q, n_k, block_q, block_k, is_causal: tiles_to_visit(
                n_q, n_k, block_q, block_k, is_causal
            )[::-1],
            "The three numbers are right and in another order: whole, masked, skipped.",
        ),
    ),
    also_right=(_build(**_RIGHT), _by_pairs_of_each_tile, _row_by_row),
    hints=(
        "Draw the matrix for 5 queries and 5 keys, with tiles of 2 × 2. Which pair of a tile is seen last, and which first?",
        "In a tile the last query and the first key are seen first; the first query and the last key last. If the first of "
        "these pairs is hidden, all are. If the second is seen, all are.",
        "`whole` if `min(left + block_k, n_k) - 1 <= top`; otherwise `masked` if `left <= min(top + block_q, n_q) - 1`; "
        "otherwise `skipped`.",
    ),
    invariants=(
        Invariant(
            "not-all-tiles",
            "The three numbers do not add up to the number of tiles.",
            lambda inputs, counts: (
                sum(int(n) for n in counts if n is not None)
                == ceil(inputs[0] / inputs[2]) * ceil(inputs[1] / inputs[3])
            ),
        ),
    ),
    mistakes=MISTAKES,
)
