"""What grades say of exercises: how hard each is, whether it tells learners apart, who makes which mistake."""

import warnings
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.classroom.teaching.material import Made, Marks
from sdpa_helpers.classroom.teaching.numbers import (
    below,
    correlations,
    draws_of,
    ends,
    means,
    more_often,
)
from sdpa_helpers.course.interval import Interval

FEWEST = 20
"""Learners with a mark, below which a correlation or a quarter of a class says nothing."""
FEWEST_OTHERS = 5
"""Learners whose points differ from those of most: below, nobody is told apart. Also exercises to compare with."""
WITHIN_THE_USUAL = 0.8
"""Exercises that do their work differ by so much among themselves: this share of the usual correlation is no fault."""
QUARTERS = 4
FEWEST_MADE = 10
"""In the two outer quarters together: below, chance could put all of them into one."""


@dataclass(frozen=True)
class Item:
    """One exercise."""

    exercise: str
    tried: int
    share: Interval | None
    """Of its points, on the average; None where nearly nobody tried."""
    rest: Interval | None = None
    """Its correlation with what the same learners earned elsewhere; None where there are too few to tell."""
    fair: float = 0.0
    """The same as if half the class had it right: where nearly all do, there is little to correlate."""
    usual: float = 0.0
    """The median of that of all exercises."""
    p: float | None = None
    """Of being no worse than what is usual; None where there is nothing to compare."""


@dataclass(frozen=True)
class Spread:
    """A mistake by quarters of the class, the weakest first."""

    mistake: Made
    made: tuple[int, ...]
    of: tuple[int, ...]
    p: float | None
    """Of the strongest quarter making it no more often than the weakest; None where too few made it."""


def elsewhere(shares: Array) -> Array:
    """What each earned in all exercises but this, against the mean of each: learners × exercises, NaN as there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an exercise that nobody tried
        beyond = shares - np.nanmean(shares, axis=0)
    there = np.isfinite(beyond)
    known = np.where(there, beyond, 0.0)
    others = there.sum(1, keepdims=True) - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = (known.sum(1, keepdims=True) - known) / others
    return np.where(there & (others > 0), rest, np.nan)


def items(marks: Marks) -> tuple[Item, ...]:
    """All exercises."""
    if not marks.learners or not marks.exercises:
        return ()
    weights, rest = draws_of(len(marks.learners)), elsewhere(marks.shares)
    found, shares = correlations(marks.shares, rest, weights), means(marks.shares, weights)
    fair, usual = found / np.array([_reach(column) for column in marks.shares.T]), np.nan
    told = np.array([_tells(column) for column in marks.shares.T]) & np.isfinite(found[0])
    worse = np.full(len(told), np.nan)
    if told.sum() >= FEWEST_OTHERS:
        z = np.arctanh(np.clip(fair, -0.999, 0.999))
        middle = np.nanmedian(z[:, told], axis=1, keepdims=True)
        beyond = z - np.arctanh(WITHIN_THE_USUAL * np.tanh(middle))
        spread = np.nanstd(beyond[1:, told], axis=0)
        worse[told] = np.divide(beyond[0, told], spread, where=spread > 0, out=np.full(len(spread), np.nan))
        usual = float(np.median(fair[0, told]))
    made = []
    for number, name in enumerate(marks.exercises):
        tried = int(np.isfinite(marks.shares[:, number]).sum())
        mean = (
            Interval(float(shares[0, number]), *ends(shares[1:, number])) if tried >= FEWEST_OTHERS else None
        )
        if not told[number]:
            made.append(Item(name, tried, mean))
            continue
        correlation = Interval(float(found[0, number]), *ends(found[1:, number]))
        p = below(worse[number]) if np.isfinite(worse[number]) else None
        made.append(Item(name, tried, mean, correlation, float(fair[0, number]), usual, p))
    return tuple(made)


def _reach(column: Array) -> float:
    """How far a correlation can go for an exercise that nearly all or nearly none get right, 1 where half do.

    It's that of a normal curve with itself cut in two, there where the learners are split most evenly.
    """
    there = column[np.isfinite(column)]
    if not len(there):
        return 1.0
    splits = [float((there < value).mean()) for value in np.unique(there)[1:]]
    even = min(splits, key=lambda part: abs(part - 0.5), default=0.5)
    curve = NormalDist()
    return curve.pdf(curve.inv_cdf(even)) / sqrt(even * (1 - even)) / (2 * curve.pdf(0))


def spreads(marks: Marks) -> tuple[Spread, ...]:
    """All mistakes of exercises that enough have tried, those of most learners first."""
    rest = elsewhere(marks.shares) if marks.learners else marks.shares
    found = []
    for mistake in marks.mistakes:
        strength = rest[:, marks.exercises.index(mistake.exercise)]
        ranked = [int(who) for who in np.argsort(strength, kind="stable") if np.isfinite(strength[who])]
        if len(ranked) < FEWEST:
            continue
        quarters = np.array_split(np.array(ranked), QUARTERS)
        made = tuple(sum(int(who) in mistake.who for who in quarter) for quarter in quarters)
        of = tuple(map(len, quarters))
        told = made[0] + made[-1] >= FEWEST_MADE
        p = more_often(made[-1], of[-1], made[0], of[0]) if told else None
        found.append(Spread(mistake, made, of, p))
    return tuple(sorted(found, key=lambda one: (-sum(one.made), one.mistake.exercise, one.mistake.name)))


def _tells(column: Array) -> bool:
    """Whether there are enough learners, and enough who earned something else than most."""
    there = column[np.isfinite(column)]
    if len(there) < FEWEST:
        return False
    _, counts = np.unique(there, return_counts=True)
    return len(there) - counts.max() >= FEWEST_OTHERS
