"""Lesson 08: what is measured. How many pairs each kind of memory gives back, over many draws."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array
from threadpoolctl import threadpool_limits

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.interval import Interval

Memory = Callable[[Array, Array], Array]
"""Stores pairs of keys (n, d) and values (n, d), and answers each of the keys: (n, d)."""

SEEDS = 20
_clock = time.perf_counter if sys.platform == "emscripten" else time.process_time
"""A browser tells no time but the day's."""
VOCABULARY = 64
"""An answer is one of so many values: who guesses is right once in 64 times."""


def interval(sample: Sequence[float] | Array) -> Interval:
    """The mean of a sample; the interval from 1,000 samples drawn from it with replacement."""
    numbers = np.asarray(sample, dtype=float)
    means = np.random.default_rng(0).choice(numbers, (1000, len(numbers))).mean(axis=1)
    return Interval(float(numbers.mean()), *map(float, np.percentile(means, [2.5, 97.5])))


def share_read_back(memory: Memory, pairs: int, width: int, seed: int, *, rewritten: bool) -> float:
    """The share of the keys whose answer is nearest, by its angle, to the value that was stored last.

    All coordinates are normal. `rewritten`: every key is stored a second time, with another value.
    """
    rng = np.random.default_rng([8, seed, width])
    vocabulary = rng.standard_normal((VOCABULARY, width))
    K = rng.standard_normal((pairs, width))
    rounds = [rng.integers(VOCABULARY, size=pairs) for _ in range(1 + rewritten)]
    answers = memory(np.concatenate([K] * len(rounds)), vocabulary[np.concatenate(rounds)])[-pairs:]
    directions = vocabulary / np.linalg.norm(vocabulary, axis=-1, keepdims=True)
    return float(((answers @ directions.T).argmax(axis=-1) == rounds[-1]).mean())


class Recall(NamedTuple):
    """By width and by memory: the share read back, for each number of keys."""

    pairs: tuple[int, ...]
    by_width: Mapping[int, Mapping[str, tuple[Interval, ...]]]

    def at(self, width: int, name: str, pairs: int) -> Interval:
        """One point of a curve."""
        return self.by_width[width][name][self.pairs.index(pairs)]


def measure_recall(
    memories: Mapping[str, Memory],
    widths: Sequence[int],
    pairs: Sequence[int] = (4, 8, 16, 32, 64, 128),
    *,
    rewritten: bool = False,
) -> Recall:
    """Store so many pairs in heads of these widths and read them back, in 20 draws."""

    def curve(memory: Memory, width: int) -> tuple[Interval, ...]:
        return tuple(
            interval([share_read_back(memory, n, width, seed, rewritten=rewritten) for seed in range(SEEDS)])
            for n in pairs
        )

    by_width = {w: {name: curve(memory, w) for name, memory in memories.items()} for w in widths}
    return Recall(tuple(pairs), by_width)


def rotated(x: Float[Array, "... n d"], positions: Float[Array, "n"], base: float) -> Float[Array, "... n d"]:
    """RoPE: the pair of coordinates (2c, 2c + 1) of a token turned by its position times base^(−2c/d)."""
    angles = np.asarray(positions)[:, None] * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    even, odd = x[..., ::2], x[..., 1::2]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


class Race(NamedTuple):
    """Seconds of attention by dot product and by a small network, and what their ratio says."""

    dot: Float[Array, "repeats"]
    additive: Float[Array, "repeats"]

    def __str__(self) -> str:
        found = interval(self.additive / self.dot)
        return f"additive / dot product, time: {found.value:.0f} (95%: {found.low:.0f} to {found.high:.0f})"


def additive_race(n: int = 256, width: int = 64, repeats: int = 9) -> Race:
    """Time both on the same n queries and keys, one after the other, in float32; all pairs at once."""
    rng = np.random.default_rng(8)
    Q, K, V = rng.standard_normal((3, n, width), dtype=np.float32)
    W, U = rng.standard_normal((2, width, width), dtype=np.float32) / np.float32(width**0.5)
    v = rng.standard_normal(width, dtype=np.float32)

    def dot() -> Array:
        return softmax(Q @ K.T / width**0.5) @ V

    def additive() -> Array:
        return softmax(np.tanh((Q @ W)[:, None] + K @ U) @ v) @ V

    found: dict[str, list[float]] = {"dot": [], "additive": []}
    with threadpool_limits(1, "blas"):  # one core, and its own time: neighbors on a busy machine do not count
        for _ in range(repeats + 1):  # the first round warms up
            for way in (dot, additive):
                begin = _clock()
                way()
                found[way.__name__].append(_clock() - begin)
    return Race(np.array(found["dot"][1:]), np.array(found["additive"][1:]))
