"""Lesson 10: a slice of the experiment again, on the learner's machine."""

from collections.abc import Sequence

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.course.needs import needs
from sdpa_helpers.lessons.does_scaling_matter.arms import TASK, Arm
from sdpa_helpers.lessons.does_scaling_matter.results import accuracies, of, results
from sdpa_helpers.lessons.does_scaling_matter.training import Lists, draw, start, train


@needs("torch")
def rerun(arm: Arm, rate: float | None = None, seeds: Sequence[int] | None = None) -> Array:
    """Train one arm again, with its stored rate and seeds if you name no others: percent right at the end, by seed."""
    own_seeds = tuple(results()["about"]["seeds"] if seeds is None else seeds)
    own_rate = float(of(arm)["rate"] if rate is None else rate)
    return 100 * train(arm, [own_rate] * len(own_seeds), own_seeds).looks.accuracy[-1]


@needs("torch")
def early_loss(arm: Arm, rate: float, seeds: Sequence[int], steps: int) -> Array:
    """Train from the start for a few steps: the loss on lists that were not trained on, by seed.

    Rounding has not grown yet, so all processors agree: for the arms of d_k = 48 to 0.0001 after 40 steps of Adam.
    """
    few = TASK._replace(steps=steps, every=steps)
    return train(arm, [rate] * len(seeds), seeds, few).looks.loss[-1]


def agrees(found: Array, arm: Arm) -> bool:
    """Whether a rerun's mean lies as near the stored one as other processors' rounding may carry it.

    Training magnifies rounding, so single runs may differ; allowed are three standard errors of the stored mean, and
    one point.
    """
    stored = accuracies(arm)
    return bool(abs(found.mean() - stored.mean()) <= 3 * stored.std(ddof=1) / np.sqrt(len(stored)) + 1)


@needs("torch")
def some_lists(seed: int, lists: int = TASK.lists) -> Lists:
    """Lists for one model, without the axis of models."""
    return Lists(*(part[0] for part in draw(TASK, [np.random.default_rng(seed)], lists)))


@needs("torch")
def first_weights(d_k: int, scale: str = "1/√dₖ", seed: int = 0) -> dict:
    """One model's weights before its first step, ready to be trained."""
    arm = Arm(d_k, scale, "SGD")
    return {key: W[0].clone().requires_grad_() for key, W in start(TASK, arm, [seed]).items()}
