"""Lesson 03, softmax: its experiments. NumPy alone; each returns data, `figures` draws it.

Arithmetic in a dtype is simulated: every operation is computed in float64 and its result rounded to the
dtype. That is what correctly rounded arithmetic gives, it is the same on every machine, and it covers
bfloat16, which NumPy does not have.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.interval import Interval

DTYPES = ("float16", "bfloat16", "float32", "float64")
SHIFTS = ("nothing", "row minimum", "row mean", "global maximum", "row maximum")


# Arithmetic in a dtype --------------------------------------------------------------------------------------


def rounded(x: Array | float, dtype: str) -> Array:
    """The nearest numbers of a dtype, as float64. Too large becomes ±∞, too small becomes 0."""
    with np.errstate(over="ignore", under="ignore"):
        if dtype == "bfloat16":
            return _to_bfloat16(np.asarray(x, dtype=np.float32)).astype(np.float64)
        return np.asarray(x).astype(dtype).astype(np.float64)


def _to_bfloat16(x: Array) -> Array:
    """float32 without its last 16 bits, rounded to nearest, ties to even: that is all bfloat16 is."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    to_nearest = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    kept = np.where(np.isfinite(x), bits + to_nearest, bits) & np.uint32(0xFFFF0000)
    return kept.view(np.float32).reshape(x.shape)


def exp_range(dtype: str) -> tuple[float, float]:
    """(a, b): exp is 0 in this dtype below a, and infinite above b. Found by bisection."""
    lowest = _last(lambda x: rounded(np.exp(x), dtype) > 0, 0.0, -800.0)
    highest = _last(lambda x: np.isfinite(rounded(np.exp(x), dtype)), 0.0, 800.0)
    return lowest, highest


def sum_limit(n_k: int, dtype: str) -> float:
    """The score that n_k keys may share before the sum of their exponentials overflows. By bisection."""
    return _last(lambda s: np.isfinite(rounded(n_k * rounded(np.exp(s), dtype), dtype)), 0.0, 800.0)


def _last(holds, inside: float, outside: float) -> float:
    """Where `holds` ends on the way from a place where it holds to one where it does not."""
    with np.errstate(over="ignore", under="ignore"):
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def running_sum(values: Float[Array, "n"], dtype: str) -> float:
    """The values added one after the other into one number of this dtype."""
    total = 0.0
    for value in values:
        total = float(rounded(total + value, dtype))
    return total


def softmax_in(
    x: Float[Array, "... n_k"], dtype: str, subtract: str = "row maximum"
) -> Float[Array, "... n_k"]:
    """Softmax along the last axis as a dtype computes it, after subtracting one of `SHIFTS`.

    Each operation's result is rounded to the dtype; the sum is rounded once, at its end.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        x = rounded(x, dtype)
        shift = {
            "nothing": lambda: np.zeros(()),
            "row minimum": lambda: x.min(axis=-1, keepdims=True),
            "row mean": lambda: rounded(x.mean(axis=-1, keepdims=True), dtype),
            "global maximum": lambda: x.max(),
            "row maximum": lambda: x.max(axis=-1, keepdims=True),
        }[subtract]()
        e = rounded(np.exp(rounded(x - shift, dtype)), dtype)
        return rounded(e / rounded(e.sum(axis=-1, keepdims=True), dtype), dtype)


class FailureMap(NamedTuple):
    level: Float[Array, "columns"]
    gap: Float[Array, "rows"]
    works: dict[str, Array]  # shift -> (rows, columns) of bool


def failure_map(dtype: str = "float32", points: int = 61, subtracted: Sequence[str] = SHIFTS) -> FailureMap:
    """Where softmax of the row (level, level − gap) is right, when another row of the matrix is (0, 0)."""
    level, gap = np.linspace(-300, 300, points), np.linspace(0, 300, points)
    rows = np.stack(np.broadcast_arrays(level, level - gap[:, None]), axis=-1)
    right = softmax(rows)
    works = {}
    for shift in subtracted:
        if shift == "global maximum":  # the maximum of this row and of the row (0, 0)
            matrices = np.stack([rows, np.zeros_like(rows)], axis=-2).reshape(-1, 2, 2)
            found = np.array([softmax_in(m, dtype, shift)[0] for m in matrices]).reshape(rows.shape)
        else:
            found = softmax_in(rows, dtype, shift)
        works[shift] = np.isfinite(found).all(axis=-1) & (np.abs(found - right) < 1e-5).all(axis=-1)
    return FailureMap(level, gap, works)


# Temperature ------------------------------------------------------------------------------------------------


def with_temperature(x: Float[Array, "n"], temperatures: Float[Array, "t"]) -> Float[Array, "t n"]:
    """softmax(x / T), one row for each temperature T > 0."""
    return softmax((x - x.max()) / np.asarray(temperatures, dtype=float)[:, None])


def implied_inverse_temperatures(scores: Float[Array, "n"], weights: Float[Array, "n"]) -> dict[str, float]:
    """The 1/T in weights = softmax(scores / T) that each pair asks for: all equal if there is one."""
    return {
        f"{i + 1}, {j + 1}": float(np.log(weights[i] / weights[j]) / (scores[i] - scores[j]))
        for i, j in combinations(range(len(scores)), 2)
    }


class Fit(NamedTuple):
    inverse_temperature: float
    weights: Float[Array, "n"]


def best_fit(scores: Float[Array, "n"], weights: Float[Array, "n"]) -> Fit:
    """The 1/T whose softmax comes nearest to given weights, in the sum of squares."""
    best, low, high = 0.0, 0.0, 20.0
    for _ in range(4):  # four grids, each a hundred times finer around the best place
        grid = np.linspace(low, high, 401)
        misses = ((softmax(grid[:, None] * scores) - weights) ** 2).sum(axis=-1)
        best, step = float(grid[misses.argmin()]), float(grid[1] - grid[0])
        low, high = max(best - 2 * step, 0.0), best + 2 * step
    return Fit(best, softmax(best * scores))


def most_it_can_get(scores: Float[Array, "n"], finest: int = 20001) -> Float[Array, "n"]:
    """The largest weight that each score can have at any temperature T > 0."""
    return softmax(np.linspace(0, 200, finest)[:, None] * (scores - scores.max())).max(axis=0)


def where_it_shows(
    scores: Float[Array, "n"], weights: Float[Array, "n"], inverse: Float[Array, "t"], half_digit: float
) -> Array:
    """(t, n) of bool: at which 1/T a weight, rounded, is the given one."""
    return np.abs(softmax(np.asarray(inverse)[:, None] * scores) - weights) <= half_digit


# How sharp is a row? ----------------------------------------------------------------------------------------


def entropy(weights: Float[Array, "... n"]) -> Float[Array, "..."]:
    """The entropy of each row in nats; 0 · ln 0 is 0."""
    logs = np.log(np.where(weights > 0, weights, 1.0))
    return np.abs((weights * logs).sum(axis=-1))


def random_scores(
    d_k: int, n_k: int, rows: int = 2000, *, scaled: bool, size: float = 1.0, seed: int | list[int] = 3
) -> Float[Array, "rows n_k"]:
    """Rows of scores of random queries and keys with coordinates N(0, size²), each row with its own keys.

    For a given query the scores of independent keys are independent and normal, with standard deviation
    size · ‖q‖. So it is enough to draw ‖q‖ and n_k numbers: the same distribution, for 1/d_k of the work.
    """
    rng = np.random.default_rng(seed)
    length = size * np.sqrt(rng.chisquare(d_k, rows))
    scores = size * length[:, None] * rng.standard_normal((rows, n_k))
    return scores / np.sqrt(d_k) if scaled else scores


class Sharpness(NamedTuple):
    largest: Float[Array, "rows"]
    entropy_share: Float[Array, "rows"]  # entropy ÷ ln n_k: 1 is uniform, 0 is one key


def sharpness(scores: Float[Array, "rows n_k"]) -> Sharpness:
    """The largest weight of each row, and its entropy as a share of the most it could be."""
    weights = softmax(scores)
    return Sharpness(weights.max(axis=-1), entropy(weights) / np.log(scores.shape[-1]))


def interval(sample: Float[Array, "n"], statistic=np.median, resamples: int = 200) -> Interval:
    """A statistic of a sample, with its 95% bootstrap interval."""
    rng = np.random.default_rng(0)
    again = statistic(sample[rng.integers(0, len(sample), (resamples, len(sample)))], axis=-1)
    low, high = np.quantile(again, [0.025, 0.975])
    return Interval(float(statistic(sample, axis=-1)), float(low), float(high))


class Sweep(NamedTuple):
    d_k: tuple[int, ...]
    n_k: int
    largest: dict[str, list[Interval]]  # "not scaled" and "scaled" -> one interval for each d_k
    entropy_share: dict[str, list[Interval]]


def sweep(d_k: Sequence[int], n_k: int, rows: int = 2000) -> Sweep:
    """Median of the largest weight and of the entropy, over d_k, scaled and not."""
    largest, share = {}, {}
    for name, scaled in (("not scaled", False), ("scaled", True)):
        found = [sharpness(random_scores(d, n_k, rows, scaled=scaled, seed=d)) for d in d_k]
        largest[name] = [interval(f.largest) for f in found]
        share[name] = [interval(f.entropy_share) for f in found]
    return Sweep(tuple(d_k), n_k, largest, share)


def dropped_row_sums(
    weights: Float[Array, "rows n_k"], p: float = 0.1, seed: int = 5
) -> Float[Array, "rows"]:
    """The sum of each row after dropout: a weight is set to 0 with probability p, else divided by 1 − p."""
    kept = np.random.default_rng(seed).random(weights.shape) >= p
    return (weights * kept / (1 - p)).sum(axis=-1)
