"""Lesson 10's experiment: every arm tuned by the same budget, then trained with seeds that tuning never saw.

    python -m sdpa_helpers.lessons.does_scaling_matter.run [FILE]

It may be stopped at any time. An arm that stands in the file is not run again; delete the file to begin anew.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array

from sdpa_helpers.lessons.does_scaling_matter.arms import ARMS, TASK, Arm, Task, key_of
from sdpa_helpers.lessons.does_scaling_matter.training import (
    Lists,
    Looks,
    Trained,
    draw,
    scaled_scores,
    train,
)

FILE = Path(__file__).with_name("results.json")
COMMAND = "python -m sdpa_helpers.lessons.does_scaling_matter.run"
TUNING_SEEDS = (100, 101, 102)
SEEDS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
RATES = {
    "SGD": (0.1, 0.18, 0.32, 0.56, 1.0, 1.8, 3.2, 5.6, 10.0, 18.0, 32.0),
    "Adam": (0.001, 0.0018, 0.0032, 0.0056, 0.01, 0.018, 0.032, 0.056, 0.1, 0.18, 0.32),
}
ACCURACY_EVERY, COURSE_EVERY = 10, 20
"""Steps between two points of a course that are kept: of each seed's accuracy, and of all else, a mean over seeds."""
ENOUGH = 0.9


def run(
    file: Path = FILE, arms: Iterable[Arm] = ARMS, told: Callable[[Arm], None] = lambda arm: None
) -> None:
    """Run the arms that are not in the file yet; the file is whole after each."""
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"about": about(), "arms": {}}
    for arm in arms:
        if key_of(arm) not in found["arms"]:
            found["arms"][key_of(arm)] = measured(arm)
            write(file, found)
        told(arm)


def about() -> dict[str, Any]:
    """What made the numbers."""
    versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
    seeds = {"tuning_seeds": TUNING_SEEDS, "seeds": SEEDS, "rates": RATES}
    return {"command": COMMAND, "versions": versions, "task": TASK._asdict(), **seeds}


def measured(arm: Arm, task: Task = TASK) -> dict[str, Any]:
    """Tune one arm, then evaluate it."""
    began = time.process_time()
    rates = RATES[arm.optimizer]
    tried = train(arm, np.repeat(rates, len(TUNING_SEEDS)).tolist(), TUNING_SEEDS * len(rates), task)
    losses = tried.looks.loss[-1].reshape(len(rates), -1)
    rate = best_rate(rates, losses)
    final = train(arm, [rate] * len(SEEDS), SEEDS, task)
    return {
        "tuning": {
            "loss": rounded(losses),
            "accuracy": rounded(tried.looks.accuracy[-1].reshape(len(rates), -1)),
        },
        "rate": rate,
        **courses(final.looks),
        "example": example(task, arm, final),
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def best_rate(rates: Iterable[float], losses: Array) -> float:
    """The rate with the lowest mean loss over tuning seeds. Ties: the smaller. A diverged run rules its rate out."""
    means = np.where(np.isfinite(losses).all(axis=1), np.nan_to_num(losses).mean(axis=1), np.inf)
    return float(list(rates)[int(means.argmin())])


def courses(looks: Looks) -> dict[str, Any]:
    """Each seed's accuracy in percent and its steps to 90% (null: not reached); all else as a mean over seeds."""
    at = np.isin(looks.steps, range(0, looks.steps[-1] + 1, COURSE_EVERY))
    often = np.isin(looks.steps, range(0, looks.steps[-1] + 1, ACCURACY_EVERY))
    return {
        "accuracy": (100 * looks.accuracy[often].T).round().astype(int).tolist(),
        "steps_to_90": [_first(looks.steps, reached) for reached in looks.accuracy.T >= ENOUGH],
        "loss": rounded(looks.loss[-1]),
        "course": {name: rounded(getattr(looks, name)[at].mean(axis=1)) for name in Looks._fields[2:]},
    }


def _first(steps: Array, reached: Array) -> int | None:
    return int(steps[reached.argmax()]) if reached.any() else None


def example(task: Task, arm: Arm, trained: Trained) -> dict[str, Any]:
    """What the model of the first seed does with one list: weights in percent, questions × pairs."""
    lists = one_list(task, len(trained.looks.accuracy[-1]))
    A = scaled_scores(arm, trained.weights, lists).softmax(-1)[0, 0]
    return {"weights": (100 * A.detach().numpy()).round().astype(int).tolist()}


def one_list(task: Task, models: int) -> Lists:
    """The same list for each of so many models; its questions are pairs 0, 1, …"""
    lists = draw(task, [np.random.default_rng(7)], 1)
    lists = lists._replace(asked=torch.arange(task.asked)[None, None])
    return Lists(*(part.expand(models, -1, -1) for part in lists))


def rounded(values: Array) -> Any:
    """Three digits, as JSON knows numbers: what is not finite is null."""

    def short(x: float) -> float | None:
        return float(f"{x:.3g}") if np.isfinite(x) else None

    return [rounded(row) for row in values] if values.ndim > 1 else [short(float(x)) for x in values]


def write(file: Path, found: dict[str, Any]) -> None:
    """One arm a line; an interrupted write leaves the old file."""
    arms = ",\n".join(
        f"{json.dumps(key, ensure_ascii=False)}: {_packed(arm)}" for key, arm in found["arms"].items()
    )
    text = f'{{"about": {_packed(found["about"])},\n"arms": {{\n{arms}\n}}}}\n'
    beside = file.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, file)


def _packed(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def main(file: Path) -> None:
    """Run everything, with a bar."""
    from rich.progress import Progress

    torch.set_num_threads(1)
    with Progress() as progress:
        bar = progress.add_task("arms", total=len(ARMS))
        run(file, told=lambda arm: progress.update(bar, advance=1, description=key_of(arm)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
