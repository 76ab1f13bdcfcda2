"""Lesson 10: its figures draw the shipped results, and the weights of a model that the notebook has trained."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray as Array

from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.does_scaling_matter.arms import OPTIMIZERS, SCALES, TASK, WIDTHS, Arm
from sdpa_helpers.lessons.does_scaling_matter.results import (
    LATE,
    accuracies,
    course,
    interval,
    of,
    rates,
    reached,
    steps_to_90,
)
from sdpa_helpers.show.figures import (
    FAINT,
    GRID,
    INK,
    SKY,
    WEIGHT,
    Picture,
    cell,
    cells,
    figure,
    name_lines,
    panels,
    show,
    write,
)

LOOKS = {
    "1": (INK, ":", "x"),
    "1/√dₖ": (INK, "-", "o"),
    "1/dₖ": (SKY, "-", "s"),
    "learned": (INK, "--", "^"),
    "QK-norm": (SKY, "--", "D"),
    "smaller start": (FAINT, "-.", "v"),
}
"""Colour, dash and mark of each way to scale: none has a role, so dash and shape tell them apart first."""


def plot_rates(optimizer: str, d_k: int, scales: Sequence[str]) -> Picture:
    """Accuracy on the tuning seeds against the learning rate: the mean as a line, each seed as a small dot."""
    fig, ax = figure(
        f"{optimizer}, dₖ = {d_k}: what tuning saw",
        x="learning rate",
        y="right after 200 steps (%)",
        size=(7.6, 3.9),
    )
    tried, facts = rates(optimizer), []
    for scale in scales:
        found = 100 * np.array(of(Arm(d_k, scale, optimizer))["tuning"]["accuracy"])
        colour, dash, mark = LOOKS[scale]
        ax.plot(np.repeat(tried, found.shape[1]), found.ravel(), ".", color=colour, alpha=0.4, markersize=5)
        ax.semilogx(tried, found.mean(axis=1), dash, color=colour, marker=mark, linewidth=2, label=scale)
        good = [rate for rate, mean in zip(tried, found.mean(axis=1), strict=True) if mean >= 90]
        facts.append(
            f"{scale} above 90% from {good[0]:g} to {good[-1]:g}" if good else f"{scale} never above 90%"
        )
    ax.set_xticks(
        [0.1, 0.32, 1, 3.2, 10, 32] if optimizer == "SGD" else [0.001, 0.0032, 0.01, 0.032, 0.1, 0.32]
    )
    ax.set_xticklabels([f"{tick:g}" for tick in ax.get_xticks()])
    ax.minorticks_off()
    ax.set_ylim(0, 104)
    _name_peaks(ax, scales)
    return show(
        fig,
        f"Line chart, accuracy against the learning rate of {optimizer} at d_k = {d_k}: {'; '.join(facts)}.",
    )


def _name_peaks(ax: Axes, scales: Sequence[str]) -> None:
    lines = [line for line in ax.get_lines() if line.get_label() in scales]
    ax.legend(lines, [str(line.get_label()) for line in lines], frameon=False, labelcolor=INK, fontsize=10)


def plot_accuracies() -> Picture:
    """What every arm reaches: a table for each optimizer, the mean over ten seeds and its interval in the cells."""
    fig, axes = panels(
        [f"{name}: right after 200 steps (%)" for name in OPTIMIZERS], x="dₖ", size=(10.4, 4.3)
    )
    for ax, optimizer in zip(axes, OPTIMIZERS, strict=True):
        cells(ax, SCALES if ax is axes[0] else [""] * len(SCALES), [str(d) for d in WIDTHS])
        for i, scale in enumerate(SCALES):
            for j, d_k in enumerate(WIDTHS):
                found = interval(accuracies(Arm(d_k, scale, optimizer)))
                cell(ax, i, j, INK, (found.value / 100) ** 2)
                _write_in_cell(ax, i, j, found)
    return show(
        fig,
        "Two tables, one for each optimizer: six ways to scale, six widths, and the share of right answers with its "
        f"95% interval. {_extremes()}",
    )


def _write_in_cell(ax: Axes, i: int, j: int, found: Interval) -> None:
    ax.text(j, i - 0.13, f"{found.value:.0f}", color=INK, fontsize=12, ha="center", va="center")
    between = f"{found.low:.0f}–{found.high:.0f}"
    ax.text(j, i + 0.24, between, color=INK, fontsize=9, ha="center", va="center")


def _extremes() -> str:
    ends = [
        f"{optimizer}, scale 1: {accuracies(Arm(16, '1', optimizer)).mean():.0f}% at d_k = 16, "
        f"{accuracies(Arm(512, '1', optimizer)).mean():.0f}% at 512"
        for optimizer in OPTIMIZERS
    ]
    others = [
        accuracies(Arm(d, scale, optimizer)).mean()
        for d in WIDTHS
        for scale in SCALES[1:]
        for optimizer in OPTIMIZERS
    ]
    return f"{'; '.join(ends)}. All other arms reach {min(others):.0f}% or more."


def plot_steps() -> Picture:
    """Steps to 90% against d_k, with intervals; scale 1, which does not get there, is left out."""
    fig, axes = panels(list(OPTIMIZERS), x="dₖ", size=(10.4, 4.2), sharey=True)
    axes[0].set_ylabel("steps to 90% right", color=INK, fontsize=10.5)
    facts = []
    for ax, optimizer in zip(axes, OPTIMIZERS, strict=True):
        for shift, scale in enumerate(SCALES[1:]):
            found = np.array([interval(steps_to_90(Arm(d, scale, optimizer))) for d in WIDTHS])
            colour, dash, mark = LOOKS[scale]
            at = np.array(WIDTHS) * 1.03 ** (shift - 2)  # a little apart, so that bars do not hide each other
            ax.semilogx(
                at, found[:, 0], dash, color=colour, marker=mark, markersize=5, linewidth=1.8, label=scale
            )
            ax.vlines(at, found[:, 1], found[:, 2], color=colour, linewidth=1.2, alpha=0.7)
            facts.append(f"{optimizer}, {scale}: {found[0, 0]:.0f} at 16, {found[-1, 0]:.0f} at 512")
        ax.axhline(TASK.steps, color=GRID, linewidth=1)
        ax.set(ylim=(0, 215), xlim=(13, 590))
        ax.set_xticks(WIDTHS, [str(d) for d in WIDTHS])
        ax.minorticks_off()
        name_lines(ax)
    return show(
        fig,
        f"Line charts of the steps to 90%; scale 1 gets there in {_scale_one_reached()} of 120 runs and is not drawn. "
        f"A run that does not get there counts as {LATE}. {'; '.join(facts)}.",
    )


def _scale_one_reached() -> int:
    return sum(reached(Arm(d, "1", optimizer)) for d in WIDTHS for optimizer in OPTIMIZERS)


LEAST = 1e-12
"""What is smaller is drawn as this."""


def plot_saturation(optimizer: str, d_k: int) -> Picture:
    """Entropy share and median gradient at the scores against training steps, for every way to scale."""
    titles = {"entropy": "entropy share", "row_median": "median gradient at the scores"}
    fig, axes = panels(list(titles.values()), x="training step", size=(10.4, 3.8))
    facts = []
    for ax, (quantity, title) in zip(axes, titles.items(), strict=True):
        for scale in SCALES:
            values = course(Arm(d_k, scale, optimizer), quantity)
            colour, dash, mark = LOOKS[scale]
            at = np.linspace(0, TASK.steps, len(values))
            drawn = np.maximum(values, LEAST) if quantity == "row_median" else values
            ax.plot(at, drawn, dash, color=colour, marker=mark, markersize=4, linewidth=1.8, label=scale)
            facts.append(f"{title}, {scale}: {values[0]:.2g} at the start, {values[-1]:.2g} at the end")
    axes[0].set_ylim(-0.03, 1.05)
    axes[1].set_yscale("log")
    axes[1].set_yticks([1, 1e-3, 1e-6, 1e-9, LEAST], ["1", "10⁻³", "10⁻⁶", "10⁻⁹", "≤ 10⁻¹²"])
    axes[1].minorticks_off()
    name_lines(axes[1])
    return show(fig, f"Line charts over {TASK.steps} steps, {optimizer}, d_k = {d_k}: {'; '.join(facts)}.")


def plot_learned_scales() -> Picture:
    """Where the learned factor goes, as a multiple of 1/√d_k, for each width."""
    fig, axes = panels(
        [f"{name}: learned scale × √dₖ" for name in OPTIMIZERS], x="training step", size=(9.8, 3.6)
    )
    facts = []
    dashes = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
    for ax, optimizer in zip(axes, OPTIMIZERS, strict=True):
        for d_k, dash in zip(WIDTHS, dashes, strict=True):
            times = course(Arm(d_k, "learned", optimizer), "scale") * np.sqrt(d_k)
            at = np.linspace(0, TASK.steps, len(times))
            ax.plot(
                at, times, linestyle=dash, color=INK if d_k < 100 else SKY, linewidth=1.8, label=f"dₖ = {d_k}"
            )
            facts.append(f"{optimizer} {d_k}: {times[-1]:.1f}")
        ax.axhline(1, color=FAINT, linewidth=1, linestyle=":")
        name_lines(ax)
    return show(
        fig,
        f"Line charts of the learned scale over the fixed one, which start at 1 and end at: {'; '.join(facts)}.",
    )


def plot_lookup(
    weights: Float[Array, "n_q n_k"], pairs: Sequence[str], questions: Sequence[str], title: str
) -> Picture:
    """The weights of a head: each question looks for its pair."""
    fig, ax = figure(title, size=(9.8, 0.9 + 0.62 * len(questions)))
    cells(ax, questions, pairs)
    for (i, j), weight in np.ndenumerate(weights):
        cell(ax, i, j, WEIGHT, float(weight))
        if weight >= 0.005:
            ax.text(j, i, write(float(weight), 2), color=INK, fontsize=10, ha="center", va="center")
    ax.set_xticks(range(len(pairs)), pairs, rotation=45, ha="right", rotation_mode="anchor")
    facts = "; ".join(
        f"{who}: {row.max():.2f} on {pairs[int(row.argmax())]}"
        for who, row in zip(questions, weights, strict=True)
    )
    return show(fig, f"Heat map of weights, questions against pairs. The largest of each row: {facts}.")


def plot_accuracy_in_short() -> Picture:
    """What is reached with the scale and without, against d_k."""
    fig, ax = figure("A lookup learned in 200 steps", x="dₖ", y="right (%)", size=(4.4, 3.4))
    facts = []
    for scale, colour in (("1/√dₖ", INK), ("1", SKY)):
        for optimizer, dash in zip(OPTIMIZERS, ("-", "--"), strict=True):
            found = np.array([interval(accuracies(Arm(d, scale, optimizer))) for d in WIDTHS])
            label = f"{scale}, {optimizer}" if scale == "1" else f"{scale}, both" if dash == "-" else "_"
            ax.semilogx(WIDTHS, found[:, 0], dash, color=colour, linewidth=2, label=label)
            ax.fill_between(WIDTHS, found[:, 1], found[:, 2], color=colour, alpha=0.2, linewidth=0)
            facts.append(f"{scale}, {optimizer}: {found[0, 0]:.0f}% at 16, {found[-1, 0]:.0f}% at 512")
    ax.set_xticks(WIDTHS, [str(d) for d in WIDTHS])
    ax.minorticks_off()
    ax.set_ylim(0, 105)
    name_lines(ax)
    return show(fig, f"Line chart of accuracy against d_k: {'; '.join(facts)}.")
