"""The second experiment: every arm with every rate and every seed, and a map of scale 1 over tasks and steps.

    python -m sdpa_helpers.lessons.does_scaling_matter.second.run [FILE]

About twelve minutes of one processor core. It may be stopped at any time: what stands in the file isn't run again.
Which rate counts, and how sure a difference is, is left to `statistics`: the file has nothing but what was seen.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array

from sdpa_helpers.lessons.does_scaling_matter.second import design
from sdpa_helpers.lessons.does_scaling_matter.second.training import (
    Model,
    first_weights,
    lessons,
    rates_of,
    scores,
    slope,
    step,
    train,
)
from sdpa_helpers.lessons.does_scaling_matter.training import Lists

FILE = Path(__file__).with_name("results.json")
COMMAND = "python -m sdpa_helpers.lessons.does_scaling_matter.second.run"
SAME_STEPS, SAME_RATES = 60, {"SGD": 1.0, "Adam": 0.01}

Part = Callable[[], Any]


def parts() -> Mapping[str, Part]:
    """What there is to run, by its name in the file."""
    found: dict[str, Part] = {}
    for d_k, optimizer in product(design.WIDTHS, design.OPTIMIZERS):
        for way in design.WAYS:
            model = Model(design.RACE, way, d_k, optimizer)
            found[f"race {d_k} {way.name} {optimizer}"] = partial(raced, model)
        found[f"same {d_k} {optimizer}"] = partial(is_same, d_k, optimizer)
    for d_k, way in product(design.WIDTHS, design.WAYS):
        found[f"spread {d_k} {way.name}"] = partial(first_spread, Model(design.RACE, way, d_k, "SGD"))
    for place, way, optimizer in product(design.MAP, design.MAP_WAYS, design.OPTIMIZERS):
        model = Model(place.task, way, design.MAP_WIDTH, optimizer)
        found[f"map {place.names} {way.name} {optimizer}"] = partial(mapped, model)
    return found


def raced(model: Model) -> dict[str, Any]:
    """Steps to enough, and the percent right at the end: rates × seeds, tuning seeds first. Never is null."""
    right = train(model, design.RATES[model.optimizer], design.TUNING + design.EVALUATION)
    return {"steps": _steps(right, model.task.every), "right": _percent(right[..., -1])}


def mapped(model: Model) -> dict[str, Any]:
    """Percent right at each of the map's steps: rates × seeds × steps, tuning seeds first."""
    right = train(model, design.MAP_RATES[model.optimizer], design.MAP_TUNING + design.MAP_EVALUATION)
    at = [steps // model.task.every - 1 for steps in design.MAP_STEPS]
    return {"right": _percent(right[..., at])}


def first_spread(model: Model) -> float:
    """Standard deviation of the scores before the first step, over the evaluation seeds."""
    drawn = lessons(model.task._replace(steps=1), design.EVALUATION)[0]
    return round(float(scores(model, first_weights(model, design.EVALUATION), drawn).std()), 3)


def losses(model: Model, rate: float, seeds: tuple[int, ...], steps: int) -> Array:
    """The loss before each step, in float64: steps × seeds."""
    weights = first_weights(model, seeds, torch.float64)
    rates = rates_of(model, torch.full((len(seeds),), rate, dtype=torch.float64), weights)
    memory: dict[str, Any] = {}
    seen = []
    for number, drawn in enumerate(lessons(model.task._replace(steps=steps), seeds), 1):
        loss, gradients = slope(model, weights, Lists(*drawn))
        step(weights, gradients, rates, memory, number if model.optimizer == "Adam" else None)
        seen.append(loss.numpy())
    return np.array(seen)


def is_same(d_k: int, optimizer: str) -> bool:
    """Whether both spellings of 1/√dₖ have the same losses, to three digits."""
    return largest_gap(d_k, optimizer) < 1e-3


def largest_gap(d_k: int, optimizer: str) -> float:
    """Between 1/√dₖ and its other spelling: of their losses, the largest relative difference."""
    usual, other = (
        losses(
            Model(design.RACE, way, d_k, optimizer), SAME_RATES[optimizer], design.EVALUATION[:3], SAME_STEPS
        )
        for way in (design.USUAL, design.SAME)
    )
    return float(np.max(np.abs(other / usual - 1)))


def _steps(right: Array, every: int) -> list[list[int | None]]:
    there = right >= design.ENOUGH
    first = np.where(there.any(-1), every * (1 + there.argmax(-1)), 0)
    return [[int(steps) or None for steps in row] for row in first]


def _percent(right: Array) -> Any:
    return (100 * right).round().astype(int).tolist()


def run(file: Path = FILE, names: Iterable[str] | None = None, told: Callable[[str], None] = print) -> None:
    """Run what isn't in the file yet; the file is whole after each part."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"about": about(), "found": {}}
    for name, part in parts().items():
        if name in found["found"] or (names is not None and name not in names):
            continue
        began = time.process_time()
        found["found"][name] = part()
        found["about"]["cpu_seconds"] += round(time.process_time() - began, 1)
        write(file, found)
        told(name)


def about() -> dict[str, Any]:
    """What made the numbers."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    return {"command": COMMAND, "versions": versions, "cpu_seconds": 0}


def write(file: Path, found: dict[str, Any]) -> None:
    """One part a line; an interrupted write leaves the old file."""
    lines = ",\n".join(f"{_packed(name)}: {_packed(part)}" for name, part in found["found"].items())
    beside = file.with_suffix(".part")
    beside.write_text(
        f'{{"about": {_packed(found["about"])},\n"found": {{\n{lines}\n}}}}\n', encoding="utf-8"
    )
    os.replace(beside, file)


def _packed(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
