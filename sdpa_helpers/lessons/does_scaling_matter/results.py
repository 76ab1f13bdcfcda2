"""Lesson 10: the shipped results, read and put into numbers. Needs no torch."""

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.does_scaling_matter.arms import TASK, Arm, key_of

FILE = Path(__file__).with_name("results.json")
RESAMPLES = 2000
LATE = TASK.steps + TASK.every
"""A run that never got to 90% counts as if it did at the next look: differences come out too small, never too large."""


@lru_cache(maxsize=1)
def results() -> dict[str, Any]:
    """The whole file: "about", and "arms" by name."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def of(arm: Arm) -> dict[str, Any]:
    """What was found of one arm."""
    return results()["arms"][key_of(arm)]


def rates(optimizer: str) -> tuple[float, ...]:
    """The learning rates that were tried."""
    return tuple(results()["about"]["rates"][optimizer])


def accuracies(arm: Arm) -> Array:
    """Percent right at the end, of each seed."""
    return np.array([course[-1] for course in of(arm)["accuracy"]], dtype=float)


def steps_to_90(arm: Arm) -> Array:
    """Steps until 90% of the held-out questions were right, of each seed; `LATE` where that did not happen."""
    return np.array([LATE if step is None else step for step in of(arm)["steps_to_90"]], dtype=float)


def reached(arm: Arm) -> int:
    """How many seeds got to 90%."""
    return sum(step is not None for step in of(arm)["steps_to_90"])


def course(arm: Arm, quantity: str) -> Array:
    """A mean over seeds at steps 0, 20, …, 200: "entropy", "scale", "gradient", "row_median", …"""
    return np.array(of(arm)["course"][quantity], dtype=float)


def interval(values: Array, statistic: Callable[..., Array] = np.mean) -> Interval:
    """95% bootstrap over seeds."""
    picked = np.random.default_rng(0).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(statistic(values[picked], axis=1), [0.025, 0.975])
    return Interval(float(statistic(values)), float(low), float(high))


def sooner(arm: Arm, other: Arm) -> Interval:
    """By how many steps an arm gets to 90% before another, seed by seed: both saw the same lists and first numbers."""
    return interval(steps_to_90(other) - steps_to_90(arm))


def clearly(difference: Interval) -> str:
    """What the interval of a difference says: "sooner", "later", or "not clear"."""
    return "sooner" if difference.low > 0 else "later" if difference.high < 0 else "not clear"
