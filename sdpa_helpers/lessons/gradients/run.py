"""Lesson 04's training runs, made once: those that fail magnify the rounding of one processor.

    python -m sdpa_helpers.lessons.gradients.run

writes results.json beside this file.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from sdpa_helpers.course.shipped import About, about, read, write
from sdpa_helpers.lessons.gradients.training import (
    RULES,
    Course,
    Loss,
    Optimiser,
    Rule,
    final_accuracy,
    train,
)

FILE = Path(__file__).with_name("results.json")
RATES: Mapping[Optimiser, tuple[float, ...]] = {"Adam": (1e-3, 1e-2, 3e-2), "SGD": (0.3, 1.0, 3.0)}
WIDTHS = (16, 64, 256, 1024)
"""Of the runs with SGD at one rate."""


class Setting(NamedTuple):
    """One run; the defaults are those of `train`."""

    rule: Rule
    seed: int
    d: int = 64
    lr: float = 1e-3
    optimiser: Optimiser = "Adam"
    loss: Loss = "squared"


class Shipped(NamedTuple):
    """What stands in the file: by the words of a setting, how its run went."""

    about: About
    runs: Mapping[str, Course]


def settings() -> Iterator[Setting]:
    """Every run that the lesson and the ledger speak of; some come twice."""
    for rule in RULES:
        yield from (Setting(rule, seed) for seed in range(5))
        for optimiser, rates in RATES.items():
            yield from (Setting(rule, seed, lr=lr, optimiser=optimiser) for lr in rates for seed in range(3))
        yield Setting(rule, 0, d=256)
    for rule in RULES[:2]:
        yield from (Setting(rule, s, d=d, lr=1.0, optimiser="SGD") for d in WIDTHS for s in range(3))
    for seed in range(3):
        yield from (Setting("no scale", seed, d=d) for d in (16, 128))
        yield Setting("no scale", seed, loss="log")


def key_of(setting: Setting) -> str:
    """The setting in words."""
    return f"{setting.rule}; seed {setting.seed}; d {setting.d}; {setting.optimiser} {setting.lr:g}; {setting.loss}"


@lru_cache(maxsize=1)
def shipped() -> Shipped:
    """The file."""
    return read(FILE, Shipped)


def trained(rule: Rule, seed: int, **options: Any) -> Course:
    """How the shipped run of `train`, called with these arguments, went. KeyError for one that is not shipped."""
    return shipped().runs[key_of(Setting(rule, seed, **options))]


def at_best_rate(rule: Rule, optimiser: Optimiser, seeds: Sequence[int]) -> tuple[float, list[float]]:
    """(learning rate, accuracies by seed), for the one of `RATES` with the best mean over the seeds."""
    found = {
        lr: [final_accuracy(trained(rule, seed, lr=lr, optimiser=optimiser)) for seed in seeds]
        for lr in RATES[optimiser]
    }
    best = max(found, key=lambda lr: sum(found[lr]))
    return best, found[best]


def main() -> None:
    """Train them all: two minutes."""
    runs = {key_of(s): train(**s._asdict()).course for s in dict.fromkeys(settings())}
    write(FILE, Shipped(about("sdpa_helpers.lessons.gradients"), runs))


if __name__ == "__main__":
    main()
