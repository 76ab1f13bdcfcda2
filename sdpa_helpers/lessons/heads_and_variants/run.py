"""Lesson 08's measurement: how long additive attention takes, one core.

    python -m sdpa_helpers.lessons.heads_and_variants.run

makes it on this machine, in a second, and writes results.json beside this file.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.course.shipped import About, about, read, write
from sdpa_helpers.lessons.heads_and_variants.experiments import Race, additive_race

FILE = Path(__file__).with_name("results.json")


class Measured(NamedTuple):
    """256 queries and keys, all widths 64, float32, one thread."""

    about: About
    additive: Race


@lru_cache(maxsize=2)
def measured(*, here: bool = False) -> Measured:
    """What was measured on our machine; here=True: on yours, in a second."""
    return measure() if here else read(FILE, Measured)


def measure() -> Measured:
    """Everything, on this machine."""
    return Measured(about("sdpa_helpers.lessons.heads_and_variants"), additive_race())


if __name__ == "__main__":
    write(FILE, measure())
