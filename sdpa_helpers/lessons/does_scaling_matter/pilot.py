"""Lesson 10: how the task's difficulty and the grids of rates were chosen, before anyone saw which scale wins.

    python -m sdpa_helpers.lessons.does_scaling_matter.pilot

What it decided, on 22 November 2026: 64 names, 16 pairs, 200 steps. There the slowest arm of either optimizer was
below 40% and the median arm at 100%, so arms can differ in what they reach and in how soon. With 32 names nearly all
arms reached 95% within 100 steps. The run was stopped within the third candidate, which would have served as well (SGD:
17% to 98% after 200 steps). The best rates lay between 0.1 and 10 (SGD), 0.001 and 0.1 (Adam): the grids of the
experiment cover that, and half a power of ten above. An earlier task, in which a question used the embedding that its
name has in a pair, was dropped in the same way: every arm reached 93% in 200 steps.

It prints, for each candidate, the accuracies of all arms in sorted order, without their names; and how many of the best
rates lie at an end of the grid. Its seed is neither one of tuning nor one of evaluation.
"""

import numpy as np
import torch

from sdpa_helpers.lessons.does_scaling_matter.arms import OPTIMIZERS, SCALES, Arm, Task
from sdpa_helpers.lessons.does_scaling_matter.training import train

SEED = 900
CANDIDATES = (
    Task(names=32, pairs=8, steps=400),
    Task(names=64, pairs=16, steps=400),
    Task(names=128, pairs=16, steps=400),
)
WIDTHS = (16, 512)
RATES = {"SGD": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0), "Adam": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)}


def sorted_accuracies(task: Task, optimizer: str, at: tuple[int, ...] = (50, 100, 200, 400)) -> str:
    """For each number of steps, what the arms reach at their best rate: sorted, so that no arm can be recognized."""
    rates, lines = RATES[optimizer], []
    runs = [
        train(Arm(d, scale, optimizer), rates, [SEED] * len(rates), task) for scale in SCALES for d in WIDTHS
    ]
    for step in at:
        losses = np.array([run.looks.loss[step // task.every] for run in runs])
        best = np.nan_to_num(losses, nan=np.inf).argmin(-1)
        reached = sorted(run.looks.accuracy[step // task.every, i] for run, i in zip(runs, best, strict=True))
        places = np.bincount(best, minlength=len(rates))
        lines.append(
            f"  {optimizer:4} {step} steps: {np.round(reached, 2)}; best rates by place in the grid {places}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for candidate in CANDIDATES:
        print(candidate, flush=True)
        for name in OPTIMIZERS:
            print(sorted_accuracies(candidate, name), flush=True)
