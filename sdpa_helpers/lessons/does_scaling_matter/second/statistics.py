"""The second experiment in numbers: tuned, drawn anew with the tuning in it, corrected for how many there are."""

from typing import NamedTuple

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.lessons.does_scaling_matter.second.design import ENOUGH
from sdpa_helpers.lessons.does_scaling_matter.second.registered import DRAWS, LEVEL


class Seen(NamedTuple):
    """One quantity of one arm. Larger is better."""

    tuning: Array
    """rates × tuning seeds."""
    evaluation: Array
    """rates × evaluation seeds."""


class Difference(NamedTuple):
    """Of two arms, or from a limit: with its 95% interval, p, and what it takes to be notable."""

    value: float
    low: float
    high: float
    p: float
    notable: float
    edge: bool = False
    """Whether the best rate of an arm lies at the edge of its grid."""


def chosen(tuning: Array) -> Array:
    """The place of the rate with the best mean, the first of a tie: (..., rates) -> (...)."""
    return np.asarray(tuning).argmax(-1)


def edge(tuning: Array) -> int:
    """Which end of the grid has the best mean: -1 the first rate, 1 the last, 0 neither, or as much right as counts."""
    means = tuning.mean(-1)
    place = int(chosen(means))
    return 0 if means[place] >= 100 * ENOUGH else int(place == len(means) - 1) - int(place == 0)


def sooner_is_better(steps: Array, right: Array) -> Array:
    """What a race is tuned for: fewer steps, and of those that tie more right at the end."""
    return right / 1000 - steps


def at_chosen(seen: Seen, tuning_counts: Array, counts: Array) -> Array:
    """The mean at the chosen rate in each draw; counts say how often a draw has each seed: draws × seeds."""
    rates = chosen(tuning_counts @ seen.tuning.T)
    means = counts @ seen.evaluation.T / counts.sum(-1, keepdims=True)
    return means[np.arange(len(rates)), rates]


def draws_of(seeds: int, draws: int, rng: np.random.Generator) -> Array:
    """How often each of so many seeds is in a draw of as many, with replacement: draws × seeds."""
    return rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=draws)


def difference(one: Seen, other: Seen | float, notable: float, draws: int = DRAWS) -> Difference:
    """One arm minus another, or minus a limit: both are tuned again in each draw, and see the same seeds."""
    rng = np.random.default_rng(0)
    tuning, evaluation = (draws_of(part.shape[1], draws, rng) for part in one)
    all_tuning, all_evaluation = (np.ones((1, part.shape[1])) for part in one)

    def mean(tuned: Array, counted: Array) -> Array:
        theirs = other if isinstance(other, float | int) else at_chosen(other, tuned, counted)
        return at_chosen(one, tuned, counted) - theirs

    drawn = mean(tuning, evaluation)
    low, high = np.quantile(drawn, [0.025, 0.975])
    beyond = min((drawn <= 0).sum(), (drawn >= 0).sum())
    p = min(1.0, 2 * (beyond + 1) / (draws + 1))
    at_edge = any(edge(arm.tuning) for arm in (one, other) if isinstance(arm, Seen))
    return Difference(
        float(mean(all_tuning, all_evaluation)[0]), float(low), float(high), p, notable, at_edge
    )


def clear(found: Difference, corrected: float) -> bool | None:
    """True where it's clearly more than 0, False where it's clearly less, None where that isn't shown, or an edge."""
    if found.edge or corrected >= LEVEL or abs(found.value) < found.notable:
        return None
    return found.value > 0
