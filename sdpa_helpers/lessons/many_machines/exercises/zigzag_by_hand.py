"""Lesson 09, exercise `zigzag_by_hand`: twelve chunks on three ranks, so that nobody waits."""

import numpy as np

from sdpa_helpers.checking.exercise import Exercise, Misses, WrongAnswer, criterion

PROMPT = r"""`zigzag_by_hand()`: balance twelve chunks on three ranks yourself.

A sequence is cut into chunks 0 to 11, and each of three ranks gets four of them. Attention is causal: a chunk of queries computes a full tile for every *earlier* chunk of keys and half a tile for itself. In step $s$ of the ring rank $r$ meets the chunks of rank $(r - s) \bmod 3$, and all wait for the busiest.

Return a list of three lists, the chunks of rank 0, 1 and 2. It earns points for these:

1. every rank has the same work in all (1 point); with three ranks nobody waits then, in any step,
2. and the three steps last equally long, so that each hides as much of the sending (2 points),
3. and no rank holds a chunk $c$ together with its mirror image $11 - c$, as zigzag would (2 points).

Paper helps, and so does a loop that tries. (Why does nobody wait once the sums are equal? With four ranks that is not enough.)
"""

CHUNKS, RANKS = 12, 3


def zigzag_by_hand():
    """Chunks of each rank -> a list of three lists of four."""
    return [[0, 4, 8, 10], [1, 5, 7, 9], [2, 3, 6, 11]]


def _work(mine, theirs):
    """Tiles that a rank computes when it meets these chunks."""
    mine, theirs = np.array(mine)[:, None], np.array(theirs)
    return float((mine > theirs).sum() + 0.5 * (mine == theirs).sum())


def _made(value):
    """The three lists, or why there are none."""
    try:
        held = [[int(chunk) for chunk in rank] for rank in value]
        whole = held == [list(rank) for rank in value]
    except (TypeError, ValueError, OverflowError):
        raise Misses("no-partition", "what came back is not a list of three lists of chunk numbers") from None
    if not whole or len(held) != RANKS:
        raise Misses("no-partition", "what came back is not a list of three lists of chunk numbers")
    if sorted(chunk for rank in held for chunk in rank) != list(range(CHUNKS)):
        raise Misses("not-each-chunk-once", "not every chunk from 0 to 11 is there exactly once")
    if any(len(rank) != CHUNKS // RANKS for rank in held):
        sizes = ", ".join(str(len(rank)) for rank in held)
        raise Misses("not-four-each", "not every rank has four chunks", f"they have {sizes}")
    return held


def _same_in_all(value):
    held = _made(value)
    sums = [sum(_work(mine, theirs) for theirs in held) for mine in held]
    if len(set(sums)) > 1:
        raise Misses(
            "unequal-in-all",
            "the ranks do not have the same work in all",
            "tiles of rank 0, 1 and 2: " + ", ".join(f"{tiles:g}" for tiles in sums),
        )


def _steps_alike(value):
    _same_in_all(value)
    held = _made(value)
    tiles = [max(_work(held[rank], held[rank - step]) for rank in range(RANKS)) for step in range(RANKS)]
    if len(set(tiles)) > 1:
        raise Misses(
            "steps-of-unequal-length",
            "the three steps do not last equally long",
            "tiles of the busiest rank in step 0, 1 and 2: " + ", ".join(f"{one:g}" for one in tiles),
        )


def _no_mirrors(value):
    _steps_alike(value)
    for rank, chunks in enumerate(_made(value)):
        for chunk in chunks:
            if CHUNKS - 1 - chunk in chunks:
                raise Misses(
                    "mirror-images",
                    "a rank holds a chunk together with its mirror image",
                    f"rank {rank} holds {chunk} and {CHUNKS - 1 - chunk}",
                )


EXERCISE = Exercise(
    name="zigzag_by_hand",
    lesson="09_many_machines",
    title="Zigzag by hand",
    prompt=PROMPT,
    section="3. Causal attention: who waits?",
    difficulty=4,
    minutes=12,
    reference=zigzag_by_hand,
    cases=(
        criterion(
            "the same work in all",
            _same_in_all,
            says="A chunk c costs c + ½ tiles over all steps. What do four of them have to add up to?",
        ),
        criterion(
            "steps of the same length",
            _steps_alike,
            2,
            says="When rank r meets rank s, it computes a tile for each pair in which its own chunk is the later one. "
            "That should be half of the 16 pairs.",
        ),
        criterion(
            "and without mirror images",
            _no_mirrors,
            2,
            says="Zigzag pairs c with 11 − c. There are other ways to have half of the pairs.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "unequal-in-all",
            lambda: [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]],
            "The work in all differs. Late chunks cost more: chunk c sees c chunks before it. Every rank's four numbers "
            "should have the same sum.",
        ),
        WrongAnswer(
            "steps-of-unequal-length",
            lambda: [[0, 5, 7, 10], [1, 2, 8, 11], [3, 4, 6, 9]],
            "Nobody waits, but the steps are not equally long. Between any two ranks each should have the later chunk in half "
            "of the 16 pairs.",
        ),
        WrongAnswer(
            "mirror-images",
            lambda: [[0, 5, 6, 11], [1, 4, 7, 10], [2, 3, 8, 9]],
            "Nobody waits: well balanced. For the last two points no rank may hold two chunks that add up to 11.",
        ),
        WrongAnswer(
            "not-each-chunk-once",
            lambda: [[0, 5, 6, 11], [1, 4, 7, 10], [2, 3, 8, 8]],
            "Not every chunk from 0 to 11 is there exactly once.",
        ),
        WrongAnswer(
            "not-four-each",
            lambda: [[0, 5, 6, 7, 11], [1, 4, 10], [2, 3, 8, 9]],
            "Every rank needs four chunks, so that blocks are equally long.",
        ),
        WrongAnswer(
            "no-partition",
            lambda: [0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0],
            "Return three lists, one for each rank, with the numbers of its chunks.",
        ),
    ),
    also_right=(
        lambda: [[0, 5, 7, 10], [1, 4, 8, 9], [2, 3, 6, 11]],
        lambda: ((2, 4, 6, 10), (0, 5, 8, 9), (11, 7, 3, 1)),
        lambda: np.array([[0, 5, 8, 9], [1, 4, 6, 11], [2, 3, 7, 10]]),
    ),
    hints=(
        "How many tiles does chunk c cost over all steps, and how many are that for all twelve chunks?",
        "The four numbers of a rank add up to 22. Zigzag twice does it: 0, 5, 6, 11 and so on. For no mirror images, "
        "begin with 0 and look for three numbers that add up to 22 without 11.",
        "`itertools.combinations(range(12), 4)` gives all fours; keep those that add up to 22 and hold no two numbers "
        "that add up to 11. Then look for three of them that share no chunk, and test every step.",
    ),
)
