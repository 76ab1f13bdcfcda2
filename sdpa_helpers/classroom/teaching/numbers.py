"""Shares, correlations and exact tests, each with how far it can be trusted. NumPy and nothing else."""

from collections.abc import Sequence
from math import erfc, exp, lgamma, log, log1p, sqrt
from statistics import median

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.course.interval import Interval

DRAWS = 1000
"""Of a bootstrap: the second digit of an interval's ends stays the same from seed to seed."""
Z = 1.959964
"""95% of a normal curve lie within."""


def share(part: int, whole: int) -> Interval:
    """So many of so many, with Wilson's interval, which holds for small numbers too."""
    p = part / whole
    middle = (p + Z**2 / (2 * whole)) / (1 + Z**2 / whole)
    half = Z / (1 + Z**2 / whole) * sqrt(p * (1 - p) / whole + Z**2 / (4 * whole**2))
    return Interval(p, max(0.0, middle - half), min(1.0, middle + half))


def more_often(part: int, whole: int, other: int, others: int) -> float:
    """Fisher's exact p: that `part` of `whole` is so many or more by chance, if it's as likely as in the others."""
    both = part + other
    ways = _ways(whole + others, both)
    chances = (
        exp(_ways(whole, k) + _ways(others, both - k) - ways)
        for k in range(max(part, both - others), min(whole, both) + 1)
    )
    return min(1.0, sum(chances))


def _ways(of: int, chosen: int) -> float:
    """The logarithm of how many ways there are to choose: the number itself has hundreds of digits."""
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)


def at_least(part: int, whole: int, chance: float) -> float:
    """How likely so many of so many or more are, where each is as likely as that."""
    sure, never = log(chance), log1p(-chance)
    tail = (exp(_ways(whole, k) + k * sure + (whole - k) * never) for k in range(part, whole + 1))
    return min(1.0, sum(tail))


def coin(more: int, fewer: int) -> float:
    """The exact two-sided p of a coin that falls so: of how many are above and below, of who changed which way."""
    tosses = more + fewer
    return min(1.0, 2 * sum(_heads(tosses, k) for k in range(max(more, fewer), tosses + 1)))


def _heads(tosses: int, heads: int) -> float:
    return exp(_ways(tosses, heads) - tosses * log(2))


def below(z: float) -> float:
    """How likely a normal number is to be as low as this or lower."""
    return erfc(-z / sqrt(2)) / 2


def draws_of(people: int, draws: int = DRAWS) -> Array:
    """How often each is in a draw of as many, with replacement, the first draw being all once: draws × people."""
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(people, np.full(people, 1 / people), size=draws)
    return np.vstack([np.ones((1, people)), drawn])


def median_of(values: Sequence[float]) -> Interval:
    """The median, and the two values of the list between which it lies in 95%, whatever they are drawn from."""
    ordered, tail, place = sorted(values), 0.0, 0
    while (tail := tail + _heads(len(ordered), place)) <= 0.025:
        place += 1
    outer = max(place - 1, 0)
    return Interval(median(ordered), ordered[outer], ordered[-1 - outer])


def means(values: Array, weights: Array) -> Array:
    """Of each column in each draw, of those that aren't NaN: draws × columns."""
    there = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return weights @ np.where(there, values, 0.0) / (weights @ there)


def correlations(left: Array, right: Array, weights: Array) -> Array:
    """Of each column with the same one, in each draw: draws × columns; NaN where one of the two doesn't vary."""
    there = np.isfinite(left) & np.isfinite(right)
    x, y = (np.where(there, side, 0.0) for side in (left, right))
    with np.errstate(invalid="ignore", divide="ignore"):
        n = weights @ there
        mean_x, mean_y = weights @ x / n, weights @ y / n
        varied_x, varied_y = weights @ x**2 / n - mean_x**2, weights @ y**2 / n - mean_y**2
        spread = np.sqrt(np.where((varied_x > 1e-12) & (varied_y > 1e-12), varied_x * varied_y, np.nan))
        return (weights @ (x * y) / n - mean_x * mean_y) / spread


def ends(drawn: Array) -> tuple[float, float]:
    """The 95% interval of draws, those without a number left out."""
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return float(low), float(high)
