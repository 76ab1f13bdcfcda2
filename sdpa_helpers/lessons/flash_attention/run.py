"""Lesson 07's measurement: the rungs of the ladder, one core.

    python -m sdpa_helpers.lessons.flash_attention.run

makes it on this machine, in some seconds, and writes results.json beside this file.
"""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.course.shipped import About, about, read, write
from sdpa_helpers.lessons.flash_attention.rungs import Climb, climb

FILE = Path(__file__).with_name("results.json")


class Measured(NamedTuple):
    """One head, d = 64, float32, one thread."""

    about: About
    climb: Climb


@lru_cache(maxsize=2)
def measured(*, here: bool = False) -> Measured:
    """What was measured on our machine; here=True: on yours, in some seconds. That needs processes."""
    return measure() if here else read(FILE, Measured)


def measure() -> Measured:
    """Everything, on this machine."""
    return Measured(about("sdpa_helpers.lessons.flash_attention"), climb())


if __name__ == "__main__":
    write(FILE, measure())
