"""How many times as long additive attention takes as the dot product, on one core.

    OMP_NUM_THREADS=1 python benchmarks/additive.py

writes benchmarks/results/additive.json. Both have two projections, a softmax and a blend; torch, float32, one
thread. "as written" makes all pairs at once in fresh memory; "reusing" takes a few queries at a time in one
buffer. Every ratio is one of medians within one run, with a 95 % bootstrap interval from its repeats.
"""

import datetime
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.course.shipped import processor
from sdpa_helpers.lessons.complexity.experiments import interleaved, ratio

SETTINGS = [
    {"n": 128, "d": 64, "hidden": 64},
    {"n": 256, "d": 64, "hidden": 64},
    {"n": 512, "d": 64, "hidden": 64},
    {"n": 512, "d": 128, "hidden": 128},
    {"n": 1024, "d": 64, "hidden": 64},
]
REPEATS = 15


class AdditiveRace(NamedTuple):
    """Seconds, by way."""

    dot: Float[Array, "repeats"]
    additive: Float[Array, "repeats"]
    reusing: Float[Array, "repeats"]


def additive_race(n: int, d: int, hidden: int, chunk: int = 16) -> AdditiveRace:
    """Both kinds of score with two projections each, softmax and blend included.

    additive: the formula as written, all pairs at once. reusing: a few queries at a time, in one buffer.
    """
    rng = np.random.default_rng(0)
    shapes = [*[(n, d)] * 3, (d, hidden), (d, hidden), (hidden,)]
    Q, K, V, W, U, v = (torch.from_numpy(rng.standard_normal(shape, dtype=np.float32)) for shape in shapes)
    W, U, buffer = W / d**0.5, U / d**0.5, torch.empty(chunk, n, hidden)

    def dot() -> torch.Tensor:
        return ((Q @ W) @ (K @ U).mT * hidden**-0.5).softmax(-1) @ V

    def additive() -> torch.Tensor:
        return (torch.tanh((Q @ W)[:, None] + (K @ U)[None]) @ v).softmax(-1) @ V

    def reusing() -> torch.Tensor:
        q, k, out = (Q @ W)[:, None], (K @ U)[None], torch.empty_like(V)
        for i in range(0, n, chunk):
            torch.add(q[i : i + chunk], k, out=buffer)
            out[i : i + chunk] = (buffer.tanh_() @ v).softmax(-1) @ V
        return out

    if not (n % chunk == 0 and torch.allclose(additive(), reusing(), atol=1e-5)):
        raise ValueError("the two ways of additive attention differ")
    return AdditiveRace(*interleaved([dot, additive, reusing], REPEATS))


def measure(setting: dict[str, int]) -> dict:
    """One setting with its two ratios."""
    race = additive_race(**setting)
    as_written, reusing = ratio(race.additive, race.dot), ratio(race.reusing, race.dot)
    rounded = {"as_written": as_written, "reusing": reusing}
    return setting | {name: [round(x, 2) for x in estimate] for name, estimate in rounded.items()}


def main() -> None:
    """Measure every setting and write the result."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    result = {
        "command": "OMP_NUM_THREADS=1 python benchmarks/additive.py",
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "torch": torch.__version__,
        "threads": 1,
        "repeats": REPEATS,
        "meaning": "time divided by the dot product's: median, lower and upper end of the 95 % interval",
        "results": [measure(setting) for setting in SETTINGS],
    }
    target = Path(__file__).parent / "results" / "additive.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(target.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
