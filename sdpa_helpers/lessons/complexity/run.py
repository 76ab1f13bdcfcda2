"""Lesson 06's measurements: times on one core, and peaks of memory.

    python -m sdpa_helpers.lessons.complexity.run

makes them on this machine, in half a minute, and writes results.json beside this file. Times are compared within one
run only, in which whatever is compared took turns.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray as Array

from sdpa_helpers.course.shipped import About, about, read, write
from sdpa_helpers.lessons.complexity.experiments import (
    CausalRace,
    LayerRace,
    Machine,
    Point,
    Race,
    Timings,
    causal_race,
    layer_race,
    machine,
    race,
    roofline_points,
    time_against_d,
    time_against_n,
)
from sdpa_helpers.lessons.complexity.peak_memory import peaks

FILE = Path(__file__).with_name("results.json")
LENGTHS = {"textbook": (1024, 2048, 4096)} | dict.fromkeys(
    ("numpy-tiled", "numba", "torch-fused"), (1024, 2048, 4096, 8192)
)


class Measured(NamedTuple):
    """One head in float32, one thread; what each part is stands with the function that measures it."""

    about: About
    against_n: Timings
    """d = 64, n from 256 to 4,096, step by step."""
    against_n_fused: Timings
    against_d: Timings
    """n = 1,024, d from 16 to 512, step by step."""
    layer: LayerRace
    """d_model = 128."""
    machine: Machine
    points: tuple[Point, ...]
    """n = 2,048, d = 64."""
    race: Race
    """n = 4,096, d = 64."""
    causal: CausalRace
    lengths: Mapping[str, Int[Array, "sizes"]]
    """By way: of which lengths `peaks` has the memory."""
    peaks: Mapping[str, Float[Array, "sizes"]]
    """MiB beyond the inputs."""


@lru_cache(maxsize=2)
def measured(*, here: bool = False) -> Measured:
    """What was measured on our machine; here=True: on yours, in about half a minute. That needs torch and processes."""
    return measure() if here else read(FILE, Measured)


def measure() -> Measured:
    """Everything, on this machine."""
    found = peaks(LENGTHS)
    return Measured(
        about("sdpa_helpers.lessons.complexity"),
        time_against_n(),
        time_against_n(fused=True),
        time_against_d(),
        layer_race(),
        machine(),
        tuple(roofline_points()),
        race(),
        causal_race(),
        {way: np.array(LENGTHS[way]) for way in found},
        found,
    )


if __name__ == "__main__":
    write(FILE, measure())
