"""Timing that stands a busy machine: everybody takes a turn in each round, and ratios are taken within a round.

Whatever else the machine does in a round hits all of them alike. So the result is the median of the rounds' ratios,
not the ratio of the medians, and the quartiles say how far the rounds agree.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

Call = Callable[[], Any]

TURN_SECONDS = 0.002  # a turn repeats a short call until it takes so long
BRIEF_ROUNDS = 3  # of those that are far slower than the others
SLOW_SECONDS = 0.5


class Pace(NamedTuple):
    """How often everybody takes a turn."""

    rounds: int = 9
    seconds: float = 3.0  # for all rounds of a setting; but three rounds are always made
    clock: Callable[[], float] = time.perf_counter  # in seconds
    brief: Collection[str] = ()  # names that need no precision: a few rounds, in a third of the time


class Ratio(NamedTuple):
    """Of two times in the same round: the median of the rounds, and the quartiles."""

    median: float
    low: float
    high: float


def cpu_clock() -> Callable[[], float]:
    """Seconds of this process on its processor, which no other process adds to; where it is coarse, the clock."""
    fine = time.get_clock_info("process_time").resolution < 1e-5
    return time.process_time if fine else time.perf_counter


def interleaved(calls: dict[str, Call], pace: Pace) -> dict[str, list[float]]:
    """Seconds of a call of each, by round. Who makes fewer rounds took part in the first ones."""
    estimates = {name: _estimate(call, pace, name in pace.brief) for name, call in calls.items()}
    rounds = _rounds(estimates, pace)
    repeats = {name: max(1, math.ceil(TURN_SECONDS / max(x, 1e-9))) for name, x in estimates.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    for number in range(max(rounds.values(), default=0)):
        names = [*names[1:], names[0]]  # nobody is always behind the same one
        for name in names:
            if number < rounds[name]:
                times[name].append(turn(calls[name], repeats[name], pace.clock))
    return times


def turn(call: Call, repeats: int, clock: Callable[[], float]) -> float:
    """Seconds a call."""
    start = clock()
    for _ in range(repeats):
        call()
    return (clock() - start) / repeats


def _estimate(call: Call, pace: Pace, is_brief: bool) -> float:
    """Seconds of a call that has compiled, loaded and taken its memory before."""
    first = turn(call, 1, pace.clock)
    return first if is_brief and first > SLOW_SECONDS else turn(call, 1, pace.clock)


def _rounds(estimates: dict[str, float], pace: Pace) -> dict[str, int]:
    turns = {name: max(TURN_SECONDS, seconds) for name, seconds in estimates.items()}
    of_a_round = sum(seconds for name, seconds in turns.items() if name not in pace.brief)
    fits = int(pace.seconds / of_a_round) if of_a_round else pace.rounds
    usual = min(pace.rounds, max(3, fits))
    return {
        name: min(usual, BRIEF_ROUNDS, max(1, int(pace.seconds / 3 / seconds)))
        if name in pace.brief
        else usual
        for name, seconds in turns.items()
    }


def ratio(times: list[float], reference: list[float]) -> Ratio:
    """Of the rounds in which both took part, at least one."""
    ratios = [a / b for a, b in zip(times, reference, strict=False)]
    if len(ratios) == 1:
        return Ratio(ratios[0], ratios[0], ratios[0])
    low, median, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Ratio(median, low, high)
