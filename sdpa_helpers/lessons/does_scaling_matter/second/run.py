"""The second experiment: every arm with every rate and every seed, and a map of scale 1 over tasks and steps.

    python -m sdpa_helpers.lessons.does_scaling_matter.second.run [FILE]

About nine minutes of one processor core, in two processes; what comes out doesn't depend on how many there are. The
file is written once, at the end, so that it never has parts of two runs: which program made it stands in it as well.
Which rate counts, and how sure a difference is, is left to `statistics`: the file has nothing but what was seen.
"""

import hashlib
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array

from sdpa_helpers.lessons.does_scaling_matter.second import design
from sdpa_helpers.lessons.does_scaling_matter.second.statistics import edge, sooner_is_better
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
PROGRAM = ("design.py", "training.py")
"""What decides the numbers, beside the first experiment's model."""
PROCESSES = 2
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
    every, tuning = model.task.every, len(design.TUNING)

    def tuned_for(right: Array) -> Array:
        steps = [[one or design.LATE for one in row] for row in _steps(right, every)]
        return sooner_is_better(np.array(steps), np.array(_percent(right[..., -1])))[:, :tuning]

    seeds = design.TUNING + design.EVALUATION
    rates, right = outward(design.RATES[model.optimizer], lambda tried: train(model, tried, seeds), tuned_for)
    return {"rates": rates, "steps": _steps(right, every), "right": _percent(right[..., -1])}


def mapped(model: Model) -> dict[str, Any]:
    """Percent right at each of the map's steps: rates × seeds × steps, tuning seeds first."""
    seeds, tuning = design.MAP_TUNING + design.MAP_EVALUATION, len(design.MAP_TUNING)
    rates, right = outward(
        design.MAP_RATES[model.optimizer],
        lambda tried: train(model, tried, seeds),
        lambda right: np.array(_percent(right[:, :tuning, -1])),
    )
    at = [steps // model.task.every - 1 for steps in design.MAP_STEPS]
    return {"rates": rates, "right": _percent(right[..., at])}


def outward(
    rates: Sequence[float],
    trained: Callable[[Sequence[float]], Array],
    tuned_for: Callable[[Array], Array],
) -> tuple[Sequence[float], Array]:
    """Train with these rates, and with the next one outward while the best is at the edge: rates, and what is right."""
    right = trained(rates)
    for _ in range(design.OUTWARD):
        side = edge(tuned_for(right))
        if not side:
            break
        if side < 0:
            more = [design.LADDER[design.LADDER.index(rates[0]) - 1]]
            rates, right = [*more, *rates], np.concatenate([trained(more), right])
        else:
            more = [design.LADDER[design.LADDER.index(rates[-1]) + 1]]
            rates, right = [*rates, *more], np.concatenate([right, trained(more)])
    return rates, right


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


def run(file: Path = FILE, told: Callable[[str], None] = print) -> None:
    """Run everything, and write the file."""
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        found, seconds = {}, 0.0
        for name, (part, took) in zip(parts(), pool.map(timed, parts()), strict=True):
            found[name], seconds = part, seconds + took
            told(f"{name}: done, {took:.0f} s")
    write(file, {"about": about() | {"cpu_seconds": round(seconds)}, "found": found})


def timed(name: str) -> tuple[Any, float]:
    """A part, and how many seconds of a processor it took."""
    began = time.process_time()
    return parts()[name](), time.process_time() - began


def about() -> dict[str, Any]:
    """What made the numbers."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    return {"command": COMMAND, "versions": versions, "program": program()}


def program() -> dict[str, str]:
    """A fingerprint of each file that decides the numbers."""
    texts = {name: Path(__file__).with_name(name).read_text(encoding="utf-8") for name in PROGRAM}
    return {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in texts.items()}


def write(file: Path, found: dict[str, Any]) -> None:
    """One part a line."""
    lines = ",\n".join(f"{_packed(name)}: {_packed(part)}" for name, part in found["found"].items())
    file.write_text(f'{{"about": {_packed(found["about"])},\n"found": {{\n{lines}\n}}}}\n', encoding="utf-8")


def _packed(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
