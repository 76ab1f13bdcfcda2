"""What each of the tricks in `numpy_tiled.py` gains: the time without it ÷ the time with it.

    python benchmarks/tricks.py

prints a table. Both are called in turn; medians of the rounds' ratios, float32. All but the last are for one thread,
by its own CPU time; "threads" is by the clock, on all cores, against BLAS with its own threads.
"""

import platform
import statistics
import time
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from sdpa_helpers.attention import numpy_plan, numpy_tiled
from sdpa_helpers.attention.layout import Head, Rule, Tiles, batches_of
from sdpa_helpers.attention.walk import Tile

SECONDS = 4  # for a row of the table
SHORT, LONG, ONE_HEAD = (1, 32, 128, 128), (1, 8, 2048, 64), (1, 8, 512, 64)


def one_head_at_a_time(plan):
    return list(batches_of(plan.lead, plan.arrays, 1))


def every_tile(first, last, key, rule, tiles):
    """As a padding mask would be used without looking at it: no tile is left out, and each has its mask."""
    for left in range(0, len(key), tiles.keys):
        right = min(left + tiles.keys, len(key))
        yield Tile(first, last, left, right, rule.mask[:1, left:right])


def alone(work, pieces, cost, make_room):
    """Without threads of our own."""
    room = make_room()
    for piece in pieces:
        work(piece, room)


def subtract_always(*_):
    return False


def add_by_sum(weights, value, sums, room):
    sums.total[...] += weights.sum(axis=-1, keepdims=True)
    sums.output[...] += weights @ value


def fresh(room, *shape):
    return np.empty(shape, room.dtype)


NO_PROOF = {"are_proved_small": subtract_always, "are_small": subtract_always}


def padded(n, share):
    return Rule((np.arange(n) < share * n)[None, None, None], False, 0.1)


PLAIN, CAUSAL = Rule(scale=0.1), Rule(is_causal=True, scale=0.1)
# What it is, for which shape and rule, and what to put in its place.
TRICKS = [
    ("no maximum is subtracted where no score is large", LONG, PLAIN, NO_PROOF),
    ("exp2, with log₂ e in the scale", LONG, PLAIN, {"EXP2_IS_FAST": False}),
    ("the memory of a tile is used again", LONG, PLAIN, {"part": fresh}),
    ("row sums are products; the first tile is no sum", LONG, PLAIN, {"add": add_by_sum}),
    ("tiles of 512 × 512, not 64 × 64", LONG, PLAIN, {"TILES": Tiles(64, 64, 64)}),
    ("tiles on the diagonal are thin", ONE_HEAD, CAUSAL, {"TILES": Tiles(512, 512, 512)}),
    ("several short heads at a time", SHORT, PLAIN, {"batches": one_head_at_a_time}),
    ("keys that nobody sees are left out: 90 % padding", LONG, padded(2048, 0.1), {"tiles_for": every_tile}),
    ("tiles seen in full have no mask: 10 % padding", LONG, padded(2048, 0.9), {"tiles_for": every_tile}),
    ("threads", LONG, PLAIN, {"for_each": alone}),
]


@contextmanager
def instead(names):
    """With these names replaced, in the files that have them."""
    with ExitStack() as stack:
        for name, value in names.items():
            for module in (numpy_tiled, numpy_plan):
                if hasattr(module, name):
                    stack.enter_context(patch.object(module, name, value))
        yield


def ratio(shape, rule, names, clock) -> float:
    """Time with these names replaced over time as it is: the median of the rounds' ratios."""
    rng = np.random.default_rng(0)
    arrays = Head(*(rng.standard_normal(shape).astype(np.float32) for _ in range(3)))

    def timed() -> float:
        start = clock()
        numpy_tiled.attention_forward(arrays, rule)
        return clock() - start

    ratios, end = [], time.monotonic() + SECONDS
    while time.monotonic() < end or len(ratios) < 5:
        with instead(names):
            without = timed()
        ratios.append(without / timed())
    return statistics.median(ratios[1:])


if __name__ == "__main__":
    print(f"{platform.processor() or platform.machine()}, NumPy {np.__version__}")
    for what, shape, rule, names in TRICKS:
        if what == "threads":
            found = ratio(shape, rule, names, time.perf_counter)
        else:
            with threadpool_limits(1):
                found = ratio(shape, rule, names, time.thread_time)
        print(f"{what:50} {shape!s:18} {found:.2f}")
