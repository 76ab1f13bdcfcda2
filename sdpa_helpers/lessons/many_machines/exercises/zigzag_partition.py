"""Lesson 09, exercise `zigzag_partition`: an early chunk and a late one for every rank."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`zigzag_partition(n, world_size)`: which positions of a sequence does each rank hold, so that a causal mask gives all of them the same work?

Cut the positions $0, \dots, n-1$ into `2 * world_size` chunks of neighbors. Rank $r$ holds chunk $r$ and chunk $2W - 1 - r$, where $W$ is `world_size`.

- Where `n` is not divisible by `2 * world_size`, the chunks are as equal as can be, and the *first* ones have one position more.
- Returns a tuple of `world_size` arrays of ints: the positions of each rank, in increasing order. With few positions an array may be empty.

Example: {example:1}. The eight chunks have one position each.
"""


def zigzag_partition(n, world_size):
    """Zigzag: n positions on world_size ranks -> a tuple of int arrays, one for each rank."""
    chunks = np.array_split(np.arange(n), 2 * world_size)
    return tuple(np.concatenate([chunks[rank], chunks[-1 - rank]]) for rank in range(world_size))


def _bounds(n, count):
    return [chunk * (n // count) + min(chunk, n % count) for chunk in range(count + 1)]


def _by_bounds(n, world_size):
    at = _bounds(n, 2 * world_size)
    found = []
    for rank in range(world_size):
        late = 2 * world_size - 1 - rank
        found.append(np.r_[at[rank] : at[rank + 1], at[late] : at[late + 1]].astype(np.int64))
    return tuple(found)


def _cut_first_longer(n, count):
    return np.array_split(np.arange(n), count)


def _cut_last_longer(n, count):
    return [np.arange(n)[n * chunk // count : n * (chunk + 1) // count] for chunk in range(count)]


def _cut_and_drop(n, count):
    size = n // count
    return [np.arange(size * chunk, size * (chunk + 1)) for chunk in range(count)]


def _cut_rest_at_the_end(n, count):
    chunks = _cut_and_drop(n, count)
    return [*chunks[:-1], np.arange(n // count * (count - 1), n)]


def _cut_rounded_up(n, count):
    size = -(-n // count)
    return [np.arange(min(n, size * chunk), min(n, size * (chunk + 1))) for chunk in range(count)]


def _build(cut, pair, order):
    def function(n, world_size):
        chunks = cut(n, 2 * world_size)
        found = []
        for rank in range(world_size):
            first, second = pair(rank, world_size)
            found.append(order(np.concatenate([chunks[first], chunks[second]]).astype(np.int64)))
        return tuple(found)

    return function


def _mirror(rank, ranks):
    return rank, 2 * ranks - 1 - rank


def _as_it_is(positions):
    return positions


MISTAKES = Products(
    (
        Factor(
            "cut",
            _cut_first_longer,
            (
                Option("rest-dropped", _cut_and_drop),
                Option("rest-in-the-last-chunk", _cut_rest_at_the_end),
                Option("chunks-rounded-up", _cut_rounded_up),
                Option("longer-chunks-elsewhere", _cut_last_longer),
            ),
        ),
        Factor(
            "pair",
            _mirror,
            (
                Option("neighboring-chunks", lambda rank, ranks: (2 * rank, 2 * rank + 1)),
                Option("same-place-in-both-halves", lambda rank, ranks: (rank, rank + ranks)),
                Option("one-chunk-off", lambda rank, ranks: (rank, (2 * ranks - rank) % (2 * ranks))),
            ),
        ),
        Factor("order", _as_it_is, (Option("late-chunk-first", lambda positions: _late_first(positions)),)),
    ),
    _build,
)


def _late_first(positions):
    """The same positions with the second stretch before the first; where they are one stretch, by halves."""
    gap = np.flatnonzero(np.diff(positions) > 1)
    cut = int(gap[0]) + 1 if gap.size else (len(positions) + 1) // 2
    return np.concatenate([positions[cut:], positions[:cut]])


def _striped(n, world_size):
    return tuple(np.arange(rank, n, world_size) for rank in range(world_size))


def _contiguous(n, world_size):
    return tuple(np.array_split(np.arange(n), world_size))


def _owners(n, world_size):
    found = np.empty(n, dtype=np.int64)
    for rank, positions in enumerate(zigzag_partition(n, world_size)):
        found[positions] = rank
    return found


def _chunk_numbers(n, world_size):
    return tuple(np.array([rank, 2 * world_size - 1 - rank]) for rank in range(world_size))


EXERCISE = Exercise(
    name="zigzag_partition",
    lesson="09_many_machines",
    title="Deal out the rows",
    prompt=PROMPT,
    examples=(Example((8, 4), form="call"),),
    difficulty=2,
    minutes=10,
    reference=zigzag_partition,
    section="3. Causal attention: who waits?",
    cases=(
        Case("equal chunks", lambda rng: (2 * (w := int(rng.integers(3, 8))) * int(rng.integers(2, 9)), w)),
        Case(
            "two ranks",
            lambda rng: (4 * int(rng.integers(3, 40)), 2),
            says="Four chunks: rank 0 holds the first and the last, rank 1 the two in the middle.",
        ),
        Case(
            "some chunks are longer",
            lambda rng: (6 * int(rng.integers(3, 30)) + 4, 3),
            says="Where n is not divisible by 2 · world_size, the first chunks have one position more.",
        ),
        Case(
            "one longer chunk",
            lambda rng: (8 * int(rng.integers(2, 30)) + 1, 4),
            says="One position is left over, and it belongs to the first chunk.",
        ),
        Case("one rank", lambda rng: (int(rng.integers(5, 60)), 1), says="It holds everything."),
        Case(
            "fewer positions than chunks",
            lambda rng: (
                n := int(rng.integers(3, 9)),
                n + int(rng.integers(1, 8)),
            ),  # of a tuple 16 are looked at
            says="The first chunks have one position each, the others none; the last rank holds nothing.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "contiguous-pieces",
            _contiguous,
            "Each rank got one piece of neighbors. With a causal mask the last rank then has the most work: give "
            "each an early chunk and a late one.",
        ),
        WrongAnswer(
            "striped",
            _striped,
            "You dealt the positions out one by one, like cards. That balances too (it is called striped attention), "
            "but here each rank gets two chunks of neighbors.",
        ),
        WrongAnswer(
            "neighboring-chunks",
            _build(_cut_first_longer, lambda rank, ranks: (2 * rank, 2 * rank + 1), _as_it_is),
            "Rank r got the chunks 2r and 2r + 1, which are neighbors: that is one contiguous piece. Its second chunk "
            "is number 2W − 1 − r.",
        ),
        WrongAnswer(
            "same-place-in-both-halves",
            _build(_cut_first_longer, lambda rank, ranks: (rank, rank + ranks), _as_it_is),
            "Rank r got the chunks r and r + W. Then both chunks of the last rank are late in their half. The second "
            "one is counted from the end: 2W − 1 − r.",
        ),
        WrongAnswer(
            "one-chunk-off",
            _build(
                _cut_first_longer, lambda rank, ranks: (rank, (2 * ranks - rank) % (2 * ranks)), _as_it_is
            ),
            "The late chunk is one too far: the last of 2W chunks is number 2W − 1, so rank r gets 2W − 1 − r.",
        ),
        WrongAnswer(
            "half-as-many-chunks",
            lambda n, world_size: tuple(
                np.concatenate([chunks[rank], chunks[-1 - rank]])
                for chunks in [np.array_split(np.arange(n), world_size)]
                for rank in range(world_size)
            ),
            "You cut into world_size chunks, so that every position is held by two ranks. There are 2 · world_size.",
        ),
        WrongAnswer(
            "rest-dropped",
            _build(_cut_and_drop, _mirror, _as_it_is),
            "The positions that are left over when n is divided by 2 · world_size belong to nobody. The first chunks "
            "have one more.",
        ),
        WrongAnswer(
            "rest-in-the-last-chunk",
            _build(_cut_rest_at_the_end, _mirror, _as_it_is),
            "All positions that are left over went into the last chunk. Spread them: the first chunks have one more each.",
        ),
        WrongAnswer(
            "chunks-rounded-up",
            _build(_cut_rounded_up, _mirror, _as_it_is),
            "You rounded the size of a chunk up, so the last chunks are too short or empty. Chunks differ by one "
            "position at most.",
        ),
        WrongAnswer(
            "longer-chunks-elsewhere",
            _build(_cut_last_longer, _mirror, _as_it_is),
            "The chunks are as equal as can be, but the longer ones are not the first ones.",
        ),
        WrongAnswer(
            "late-chunk-first",
            _build(_cut_first_longer, _mirror, _late_first),
            "The late chunk stands before the early one. Positions are in increasing order, so that a rank's own "
            "block is an ordinary causal one.",
        ),
        WrongAnswer(
            "owner-of-each-position",
            _owners,
            "You returned the rank of each position. It is the other way around: for each rank, its positions.",
        ),
        WrongAnswer(
            "numbers-of-chunks",
            _chunk_numbers,
            "These are the numbers of the chunks. Return the positions in them.",
        ),
    ),
    also_right=(
        _by_bounds,
        lambda n, world_size: tuple(
            np.sort(np.concatenate(pair))
            for chunks in [np.array_split(np.arange(n), 2 * world_size)]
            for pair in zip(chunks[:world_size], chunks[: world_size - 1 : -1], strict=True)
        ),
    ),
    hints=(
        "How many chunks are there, and which number has the last one?",
        "`np.array_split` cuts into chunks as equal as can be, with the longer ones first. Rank r takes one chunk from "
        "the front and one from the back.",
        "With `chunks = np.array_split(np.arange(n), 2 * world_size)`, rank r holds `chunks[r]` and `chunks[-1 - r]`: "
        "join the two with np.concatenate.",
    ),
    mistakes=MISTAKES,
)
