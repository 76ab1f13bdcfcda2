"""How many times as long additive attention takes as the dot product, on one core.

    OMP_NUM_THREADS=1 python benchmarks/additive.py

writes benchmarks/results/additive.json. Both have two projections, a softmax and a blend; torch, float32, one
thread. "as written" makes all pairs at once in fresh memory; "reusing" takes a few queries at a time in one
buffer. Every ratio is one of medians within one run, with a 95 % bootstrap interval from its repeats.
"""

import datetime
import json
import platform
from pathlib import Path

import torch

from sdpa_helpers.lessons.complexity.experiments import additive_race, ratio

SETTINGS = [
    {"n": 128, "d": 64, "hidden": 64},
    {"n": 256, "d": 64, "hidden": 64},
    {"n": 512, "d": 64, "hidden": 64},
    {"n": 512, "d": 128, "hidden": 128},
    {"n": 1024, "d": 64, "hidden": 64},
]
REPEATS = 15


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def measure(setting: dict[str, int]) -> dict:
    """One setting with its two ratios."""
    race = additive_race(**setting, repeats=REPEATS)
    as_written, reusing = ratio(race.additive, race.dot), ratio(race.reusing, race.dot)
    rounded = {"as_written": as_written, "reusing": reusing}
    return setting | {name: [round(x, 2) for x in estimate] for name, estimate in rounded.items()}


def main() -> None:
    """Measure every setting and write the result."""
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
