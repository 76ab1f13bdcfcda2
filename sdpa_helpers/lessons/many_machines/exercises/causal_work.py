"""Lesson 09, exercise `causal_work`: who computes how much, in every step of the ring."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = r"""`causal_work(owner, world_size)`: how many pairs of a query and a key does each rank compute in each step of the ring, under a causal mask?

- `owner`, shape `(n,)`, ints: the rank that holds position 0, 1, 2, … (its query, its key and its value).
- `world_size`: the number of ranks $W$. A rank may hold nothing.
- In step $s$ rank $r$ meets the keys of rank $(r - s) \bmod W$, and a query sees the keys at its own position and before.
- Returns shape `(world_size, world_size)`, ints: row $r$, column $s$.

Example: {example:1}. Both ranks hold two positions. In step 0 each meets its own keys, and in step 1 those of the other.
"""


def causal_work(owner, world_size):
    """Pairs under a causal mask: owner (n,), world_size -> (ranks, steps) ints."""
    work = np.zeros((world_size, world_size), dtype=int)
    for query, rank in enumerate(owner):
        for source in owner[: query + 1]:
            work[rank, (rank - source) % world_size] += 1
    return work


def _by_masks(owner, world_size):
    positions = [np.flatnonzero(owner == rank) for rank in range(world_size)]
    work = np.zeros((world_size, world_size), dtype=int)
    for rank in range(world_size):
        for step in range(world_size):
            theirs = positions[(rank - step) % world_size]
            work[rank, step] = (positions[rank][:, None] >= theirs).sum()
    return work


def _build(sees, source, turned):
    def function(owner, world_size):
        positions = [np.flatnonzero(owner == rank) for rank in range(world_size)]
        work = np.zeros((world_size, world_size), dtype=int)
        for rank in range(world_size):
            for step in range(world_size):
                theirs = positions[source(rank, step) % world_size]
                work[rank, step] = sees(positions[rank][:, None], theirs).sum()
        return work.T.copy() if turned else work

    return function


def _sees(query, key):
    return key <= query


def _before(rank, step):
    return rank - step


MISTAKES = Products(
    (
        Factor(
            "sees",
            _sees,
            (
                Option("not-itself", lambda query, key: key < query),
                Option("the-future", lambda query, key: key >= query),
                Option("no-mask", lambda query, key: np.ones((len(query), len(key)), dtype=bool)),
            ),
        ),
        Factor(
            "source",
            _before,
            (
                Option("ring-the-other-way", lambda rank, step: rank + step),
                Option("columns-are-ranks", lambda rank, step: step),
            ),
        ),
        Factor("turned", False, (Option("steps-in-rows", True),)),
    ),
    _build,
)

RIGHT = {"sees": _sees, "source": _before, "turned": False}


def _wrong(**deviation):
    return _build(**(RIGHT | deviation))


def _busiest(owner, world_size):
    return causal_work(owner, world_size).max(axis=0)


def _totals(owner, world_size):
    return causal_work(owner, world_size).sum(axis=1)


def _local(owner, world_size):
    """The mask of places within a block, as is_causal=True on every rank would have it."""
    counts = [int((owner == rank).sum()) for rank in range(world_size)]
    work = np.zeros((world_size, world_size), dtype=int)
    for rank in range(world_size):
        for step in range(world_size):
            work[rank, step] = np.tri(counts[rank], counts[(rank - step) % world_size]).sum()
    return work


def _by_halves(owner, world_size):
    """Half of each block, rounded down."""
    counts = np.array([(owner == rank).sum() for rank in range(world_size)])
    sources = (np.arange(world_size)[:, None] - np.arange(world_size)) % world_size
    return counts[:, None] * counts[sources] // 2


def _any_owner(rng, n, world_size):
    return rng.permutation(np.r_[np.arange(world_size), rng.integers(world_size, size=n - world_size)])


EXERCISE = Exercise(
    name="causal_work",
    lesson="09_many_machines",
    title="Who computes how much?",
    prompt=PROMPT,
    examples=(Example((np.array([0, 1, 0, 1]), 2), form="call"),),
    difficulty=3,
    minutes=12,
    reference=causal_work,
    section="3. Causal attention: who waits?",
    cases=(
        Case("any partition, four ranks", lambda rng: (_any_owner(rng, 14, 4), 4)),
        Case(
            "contiguous pieces",
            lambda rng: (np.repeat(np.arange(3), int(rng.integers(3, 30))), 3),
            says="Rank 0 has work in step 0 only: all other keys lie in its future.",
        ),
        Case(
            "zigzag",
            lambda rng: (
                np.repeat([*range(w := int(rng.integers(3, 8))), *range(w)[::-1]], int(rng.integers(1, 6))),
                w,
            ),
            says="All ranks have the same work in a step.",
        ),
        Case(
            "a rank that holds nothing",
            lambda rng: (rng.choice([0, 2, 3], size=9), 4),
            says="Its row is zero, and so are the places where others meet its empty block.",
        ),
        Case(
            "one position",
            lambda rng: (rng.integers(1, w := int(rng.integers(4, 15)), size=1), w),
            says="One query, which sees itself.",
        ),
        Case(
            "one rank",
            lambda rng: (np.zeros(int(rng.integers(4, 60)), dtype=int), 1),
            says="n(n + 1)/2 pairs, in one step.",
        ),
    ),
    wrong=(
        WrongAnswer(
            "not-itself",
            _wrong(sees=lambda query, key: key < query),
            "A query also sees the key at its own position: the diagonal is missing from step 0.",
        ),
        WrongAnswer(
            "the-future",
            _wrong(sees=lambda query, key: key >= query),
            "You counted the keys at a query's position and *after*. The mask leaves those before.",
        ),
        WrongAnswer(
            "no-mask",
            _wrong(sees=lambda query, key: np.ones((len(query), len(key)), dtype=bool)),
            "You counted all pairs of each block. The causal mask hides those with a key after the query.",
        ),
        WrongAnswer(
            "ring-the-other-way",
            _wrong(source=lambda rank, step: rank + step),
            "In step s rank r meets the block of rank r − s: blocks move to the *next* rank. You took r + s.",
        ),
        WrongAnswer(
            "columns-are-ranks",
            _wrong(source=lambda rank, step: step),
            "Your columns are the ranks that the keys belong to. They are steps: in step s rank r meets rank (r − s) mod W.",
        ),
        WrongAnswer(
            "steps-in-rows",
            _wrong(turned=True),
            "Rows and columns are swapped: row r is a rank, column s a step.",
        ),
        WrongAnswer(
            "busiest-only",
            _busiest,
            "You returned the work of the busiest rank in each step. Return all of it, by rank and step.",
        ),
        WrongAnswer(
            "sums-over-steps",
            _totals,
            "You added up the steps. Return each step's pairs in a column of its own.",
        ),
        WrongAnswer(
            "mask-of-places-in-the-block",
            _local,
            "You compared places within the blocks, as `is_causal=True` on each rank would. The mask goes by positions "
            "in the whole sequence.",
        ),
        WrongAnswer(
            "half-of-each-block",
            _by_halves,
            "You took half of each block. That is about right on average; which pairs are hidden depends on the positions.",
        ),
    ),
    also_right=(
        _by_masks,
        lambda owner, world_size: np.array(
            [
                [
                    sum(
                        1
                        for q in np.flatnonzero(owner == rank)
                        for k in np.flatnonzero(owner == (rank - step) % world_size)
                        if k <= q
                    )
                    for step in range(world_size)
                ]
                for rank in range(world_size)
            ]
        ),
    ),
    hints=(
        "Which positions does rank r hold, and which does the rank whose block it meets in step s hold?",
        "For a rank and a step there are two lists of positions. Count the pairs in which the key's position is not "
        "after the query's.",
        "`mine = np.flatnonzero(owner == r)`, `theirs = np.flatnonzero(owner == (r - s) % world_size)`; comparing "
        "`mine[:, None]` with `theirs` gives one True or False for each pair.",
    ),
    mistakes=MISTAKES,
)
