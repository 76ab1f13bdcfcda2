"""Lesson 10's widget: choose d_k, scale and optimizer; see learning curves, and what the trained head looks at."""

from pathlib import Path
from typing import Any

import numpy as np

from sdpa_helpers.lessons.does_scaling_matter.arms import ARMS, OPTIMIZERS, SCALES, TASK, WIDTHS, Arm, key_of
from sdpa_helpers.lessons.does_scaling_matter.figures import LOOKS
from sdpa_helpers.lessons.does_scaling_matter.results import (
    RESAMPLES,
    accuracies,
    interval,
    of,
    reached,
    steps_to_90,
)
from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import Picture
from sdpa_helpers.show.panels import TOUCH, PagePanel

SCRIPT = Path(__file__).with_suffix(".js")
START = {
    "width": WIDTHS.index(512),
    "optimizer": 1,
    "scale": SCALES.index("1"),
    "other": SCALES.index("1/√dₖ"),
}


def curve(arm: Arm) -> dict[str, list[int]]:
    """Percent right at every tenth step: the mean over seeds, and its 95% interval."""
    seeds = np.array(of(arm)["accuracy"], dtype=float)
    picked = np.random.default_rng(0).integers(len(seeds), size=(RESAMPLES // 10, len(seeds)))
    low, high = np.quantile(seeds[picked].mean(axis=1), [0.025, 0.975], axis=0)
    parts = {"mean": seeds.mean(axis=0), "low": low, "high": high}
    return {name: values.round().astype(int).tolist() for name, values in parts.items()}


def shown(arm: Arm) -> dict[str, Any]:
    """What the page needs of an arm."""
    found = interval(accuracies(arm))
    return {
        **curve(arm),
        "end": [round(found.value), round(found.low), round(found.high)],
        "rate": of(arm)["rate"],
        "reached": reached(arm),
        "steps": round(float(np.median(steps_to_90(arm)))),
        "weights": of(arm)["example"]["weights"],
    }


def sentence(arm: Arm, other: Arm) -> str:
    """What the panel says at the start."""
    return " ".join(
        f"{one.scale}, dₖ = {one.d_k}, {one.optimizer}: {shown(one)['end'][0]}% right after {TASK.steps} steps."
        for one in (arm, other)
    )


def still_curves() -> Picture:
    """Learning curves at d_k = 512, for Adam."""
    fig, ax = style.figure(
        "Adam, dₖ = 512: six ways to scale", x="training step", y="right (%)", size=(7.6, 3.9)
    )
    facts = []
    for scale in SCALES:
        found = curve(Arm(512, scale, "Adam"))
        colour, dash, _ = LOOKS[scale]
        at = np.linspace(0, TASK.steps, len(found["mean"]))
        ax.plot(at, found["mean"], dash, color=colour, linewidth=2, label=scale)
        ax.fill_between(at, found["low"], found["high"], color=colour, alpha=0.15, linewidth=0)
        facts.append(f"{scale} {found['mean'][-1]}%")
    style.name_lines(ax)
    return style.show(
        fig, f"Learning curves over 200 steps at d_k = 512 with Adam, which end at: {'; '.join(facts)}."
    )


def explore_arms() -> PagePanel:
    """Choose an arm and one to compare it with."""
    given = {
        "body": "arms",
        "title": "Seventy-two ways to learn a lookup",
        "widths": WIDTHS,
        "optimizers": OPTIMIZERS,
        "scales": SCALES,
        "steps": TASK.steps,
        "arms": {key_of(arm): shown(arm) for arm in ARMS},
    }
    chosen, other = (Arm(512, scale, "Adam") for scale in ("1", "1/√dₖ"))
    return PagePanel(given, START, sentence(chosen, other), still_curves, TOUCH, SCRIPT)
