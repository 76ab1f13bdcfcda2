"""Lesson 03, softmax: its figures. They draw what `experiments` computes."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from matplotlib.colors import ListedColormap
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.softmax.experiments import FailureMap, Sweep, where_it_shows, with_temperature
from sdpa_helpers.show.figures import (
    FAINT,
    INK,
    LINES,
    SHADE,
    WEIGHT,
    Picture,
    bars,
    figure,
    legend,
    name_lines,
    panels,
    show,
    write,
)

Dash: TypeAlias = str | tuple[int, tuple[int, ...]]
_DASHES: tuple[Dash, ...] = ("-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)))


def _lines(scores: Float[Array, "n"], alone: int = -1) -> list[tuple[Dash, list[int]]]:
    """A dash and its words, from the highest score to the lowest: a word has one dash in every figure of the lesson.

    Words with equal scores share a line; `alone` keeps a line of its own.
    """
    groups: dict[tuple[float, bool], list[int]] = {}
    for i, score in enumerate(scores):
        groups.setdefault((float(score), i == alone), []).append(i)
    return list(zip(_DASHES, (groups[key] for key in sorted(groups, reverse=True)), strict=False))


def plot_steps(scores: Float[Array, "n"], words: Sequence[str]) -> Picture:
    """Scores, their exponentials, their weights: one panel each."""
    steps = {
        "1 · scores": scores,
        "2 · exponentials": np.exp(scores),
        "3 · divided by their sum": softmax(scores),
    }
    fig, axes = panels(list(steps), x="key", size=(9.0, 3.3))
    facts = []
    for ax, (title, heights), unit in zip(axes, steps.items(), ("score", "eˢᶜᵒʳᵉ", "weight"), strict=True):
        bars(ax, words, heights, colours=(WEIGHT if unit == "weight" else SHADE,))
        ax.set_ylabel(unit, color=INK, fontsize=10.5)
        facts.append(f"{title[4:]}: " + ", ".join(write(h, 2) for h in heights))
    return show(fig, f"Three bar charts for the keys {', '.join(words)}. " + "; ".join(facts) + ".")


def plot_one_score_moves(
    scores: Float[Array, "n"], moving: int, words: Sequence[str], *, low: float = -3.0, high: float = 6.0
) -> Picture:
    """All weights while a single score moves."""
    values = np.linspace(low, high, 181)
    rows = np.tile(scores, (len(values), 1))
    rows[:, moving] = values
    weights = softmax(rows)
    fig, ax = figure(
        f"Only the score of “{words[moving]}” moves; every weight answers",
        x=f"score of “{words[moving]}”",
        y="weight",
        size=(7.2, 3.7),
    )
    for dash, members in _lines(scores, alone=moving):
        names = ", ".join(words[i] for i in members)
        ax.plot(values, weights[:, members[0]], color=WEIGHT, linestyle=dash, linewidth=2.4, label=names)
    ax.axvline(scores[moving], color=FAINT, linewidth=1)
    ax.annotate(
        "where it was",
        (scores[moving], 1.0),
        (5, -4),
        textcoords="offset points",
        color=FAINT,
        fontsize=10,
        va="top",
    )
    ax.set_xlim(low, high)
    name_lines(ax)
    ends = [
        f"{words[i]} from {write(weights[0, i], 2)} to {write(weights[-1, i], 2)}" for i in range(len(words))
    ]
    return show(
        fig,
        f"Line chart: while the score of {words[moving]} goes from {write(low, 0)} to {write(high, 0)}, "
        f"the weights go: {', '.join(ends)}.",
    )


def plot_ranges(ranges: dict[str, tuple[float, float]]) -> Picture:
    """For each dtype the scores whose exponential is neither 0 nor infinite."""
    fig, ax = figure(
        "Scores whose exponential survives",
        x="score (axis compressed away from 0)",
        y="dtype",
        size=(8.0, 3.2),
    )
    ax.set_xscale("symlog", linthresh=5, linscale=0.6)
    names = list(ranges)[::-1]
    for place, name in enumerate(names):
        low, high = ranges[name]
        ax.barh(place, high - low, left=low, height=0.46, color=SHADE)
        style = {"color": INK, "fontsize": 10.5, "va": "center"}
        ax.text(low * 1.12, place, write(low, 1), ha="right", **style)
        ax.text(high * 1.12, place, write(high, 2), ha="left", **style)
    ax.text(-6300, len(names) - 0.42, "exp is 0", color=FAINT, fontsize=10)
    ax.text(6300, len(names) - 0.42, "exp is ∞", color=FAINT, fontsize=10, ha="right")
    ax.set(xlim=(-7000, 7000), ylim=(-0.6, len(names) - 0.1))
    ticks = [-1000, -100, -10, 0, 10, 100, 1000]
    ax.set_xticks(ticks, [write(t, 0) for t in ticks])
    ax.set_xticks([], minor=True)
    ax.set_yticks(range(len(names)), names)
    ax.grid(visible=False)
    ax.axvline(0, color=FAINT, linewidth=0.8)
    facts = "; ".join(f"{name} from {write(a, 1)} to {write(b, 2)}" for name, (a, b) in ranges.items())
    return show(
        fig, f"Horizontal bars: the scores for which exp is neither 0 nor infinite, by dtype: {facts}."
    )


def plot_failure_map(found: FailureMap, dtype: str = "float32") -> Picture:
    """One panel per choice of what to subtract: where softmax of two scores is right, and where it is not."""
    fig, axes = panels(
        [f"subtract:\n{name}" for name in found.works],
        x="larger score of the row",
        y="",
        size=(9.6, 3.5),
        sharey=True,
    )
    for ax, works in zip(axes, found.works.values(), strict=True):
        # one cell a measurement: contours would round off corners of the grid
        ax.pcolormesh(
            found.level, found.gap, np.where(works, np.nan, 1), cmap=ListedColormap([SHADE]), vmin=0, vmax=1
        )
        ax.grid(visible=False)
        for value, text in ((True, "right"), (False, "fails")):
            where = np.argwhere(works == value)
            if len(where) > 40:
                i, j = _deep_inside(works == value)
                ax.text(
                    found.level[j],
                    found.gap[i],
                    text,
                    color=INK,
                    fontsize=10.5,
                    ha="center",
                    va="center",
                    weight="bold",
                )
        ax.set_xticks([-200, 0, 200], ["−200", "0", "200"])
    axes[0].set_ylabel("gap to the smaller score", color=INK, fontsize=10.5)
    facts = ", ".join(f"{name} {100 * works.mean():.0f}%" for name, works in found.works.items())
    return show(
        fig,
        f"Four maps over the level of a row and the gap in it, in {dtype}, next to a row of zeros. "
        f"Share of the map where softmax is right, by what is subtracted: {facts}.",
    )


def _deep_inside(region: Array) -> tuple[int, int]:
    """A place far from the region's edges: where it is still there after the most erosions."""
    place, left = (0, 0), region
    while left.any():
        inside = np.argwhere(left)
        middle = inside[((inside - inside.mean(axis=0)) ** 2).sum(axis=1).argmin()]
        place = int(middle[0]), int(middle[1])
        wide = np.pad(left, 1)
        left = left & wide[:-2, 1:-1] & wide[2:, 1:-1] & wide[1:-1, :-2] & wide[1:-1, 2:]
    return place


def plot_temperature(scores: Float[Array, "n"], words: Sequence[str]) -> Picture:
    """Every weight against the temperature, from nearly 0 to large."""
    temperatures = np.geomspace(0.05, 100, 241)
    weights = with_temperature(scores, temperatures)
    fig, ax = figure(
        "From one key to all keys", x="temperature T (logarithmic axis)", y="weight", size=(7.4, 3.8)
    )
    ax.set_xscale("log")
    for dash, members in _lines(scores):
        label = f"{', '.join(words[i] for i in members)} (score {write(scores[members[0]], 0)})"
        ax.plot(
            temperatures, weights[:, members[0]], color=WEIGHT, linestyle=dash, linewidth=2.4, label=label
        )
    ax.axhline(1 / len(scores), color=FAINT, linewidth=1)
    ax.annotate(
        f"1/n = {1 / len(scores):.2f}",
        (0.055, 1 / len(scores)),
        (0, 4),
        textcoords="offset points",
        color=FAINT,
        fontsize=10,
    )
    ax.axvline(1, color=FAINT, linewidth=1)
    ax.annotate(
        "T = 1: plain softmax", (1, 1.0), (5, 0), textcoords="offset points", color=FAINT, fontsize=10
    )
    ticks = [0.1, 1, 10, 100]
    ax.set_xticks(ticks, [f"{t:g}" for t in ticks])
    legend(ax, loc="center right")
    top = int(np.argmax(scores))
    return show(
        fig,
        f"Line chart: the weight of {words[top]} falls from {write(weights[0, top], 2)} at temperature 0.05 to "
        f"{write(weights[-1, top], 2)} at 100, where all weights meet at 1/n = {1 / len(scores):.2f}.",
    )


def plot_fixed_temperatures(scores: Float[Array, "n"], printed: Float[Array, "n"]) -> Picture:
    """Four weights against 1/T, with the stretch where each one rounds to the printed number."""
    inverse = np.linspace(0, 8, 1601)
    weights = softmax(inverse[:, None] * scores)
    shows = where_it_shows(scores, printed, inverse, 0.005)
    fig, ax = figure(
        "Where each printed weight could come from",
        x="inverse temperature 1/T",
        y="weight",
        size=(7.6, 4.0),
    )
    facts = []
    for i in range(len(scores)):
        ax.plot(inverse, weights[:, i], color=WEIGHT, linewidth=1.6)
        here = np.where(shows[:, i], weights[:, i], np.nan)
        ax.plot(inverse, here, color=WEIGHT, linewidth=7, solid_capstyle="butt")
        name = f"page {i + 1}, printed {100 * printed[i]:.0f}%"
        ax.annotate(
            name,
            (8, weights[-1, i]),
            (6, 7 * (1 if weights[-1, i] > np.sort(weights[-1])[0] else -1)),
            textcoords="offset points",
            color=INK,
            fontsize=10,
            va="center",
            annotation_clip=False,
        )
        if shows[:, i].any():
            facts.append(f"{name}: {inverse[shows[:, i]].min():.1f} to {inverse[shows[:, i]].max():.1f}")
        else:
            facts.append(f"{name}: nowhere, it never exceeds {100 * weights[:, i].max():.1f}%")
            peak = int(weights[:, i].argmax())
            ax.annotate(
                f"at most {100 * weights[peak, i]:.1f}%",
                (inverse[peak], weights[peak, i]),
                (12, 14),
                textcoords="offset points",
                color=INK,
                fontsize=10,
                arrowprops={"arrowstyle": "-", "color": FAINT},
            )
    ax.plot([], [], color=WEIGHT, linewidth=7, label="rounds to the printed number")
    legend(ax, loc="upper left")
    ax.set_xlim(0, 8)
    return show(
        fig,
        "Four weights against the inverse temperature. The printed number appears: " + "; ".join(facts) + ".",
    )


def plot_sweep(found: Sweep) -> Picture:
    """Largest weight and entropy against d_k, scaled and not, with bootstrap bands."""
    fig, axes = panels(
        ["largest weight of a row", "entropy share of a row"],
        x="dₖ (logarithmic axis)",
        y="median over rows",
        size=(8.8, 3.7),
        sharey=True,
    )
    facts = []
    for ax, by_name, what in zip(
        axes, (found.largest, found.entropy_share), ("largest weight", "entropy share"), strict=True
    ):
        ax.set_xscale("log", base=2)
        for (name, line), (colour, dash) in zip(by_name.items(), LINES[:2][::-1], strict=True):
            values, low, high = np.array(line).T
            ax.fill_between(found.d_k, low, high, color=colour, alpha=0.25, linewidth=0)
            ax.plot(found.d_k, values, color=colour, linestyle=dash, marker="o", markersize=4, label=name)
            facts.append(f"{what} {name} from {write(values[0], 2)} to {write(values[-1], 2)}")
        ax.set_xticks(found.d_k[::2], [str(d) for d in found.d_k[::2]])
        ax.set_ylim(-0.03, 1.06)
    legend(axes[0], loc="upper left")
    return show(
        fig,
        f"Two line charts, n = {found.n_k} keys, d_k from {found.d_k[0]} to {found.d_k[-1]}: "
        + "; ".join(facts)
        + ". Bands are 95% bootstrap intervals of the median.",
    )


def plot_largest_weights(samples: dict[str, Float[Array, "rows"]]) -> Picture:
    """How the largest weight is spread over the rows."""
    fig, axes = panels(
        list(samples), x="largest weight of a row", y="share of rows (%)", size=(9.6, 3.4), sharey=True
    )
    edges = np.linspace(0, 1, 21)
    facts = []
    for ax, (name, sample) in zip(axes, samples.items(), strict=True):
        counts = 100 * np.histogram(sample, edges)[0] / len(sample)
        ax.bar(edges[:-1], counts, 0.046, align="edge", color=SHADE)
        ax.set_xlim(0, 1)
        ax.grid(visible=False, axis="x")
        above = 100 * (sample > 0.99).mean()
        facts.append(
            f"{name}: median {write(float(np.median(sample)), 2)}, above 0.99 in {above:.0f}% of rows"
        )
        ax.text(
            0.5,
            0.94,
            f"above 0.99: {above:.0f}%",
            transform=ax.transAxes,
            ha="center",
            color=INK,
            fontsize=10.5,
        )
    return show(fig, "Histograms of the largest weight of a row. " + "; ".join(facts) + ".")


def plot_temperatures_in_short(temperatures: Sequence[float] = (0.25, 1, 4)) -> Picture:
    """For the cheat card: one row of scores at a few temperatures."""
    scores = np.array([0.0, 1.0, 0.0, 0.0, 2.0])
    fig, axes = panels([f"T = {T:g}" for T in temperatures], size=(4.4, 1.7), sharey=True)
    facts = []
    for ax, T in zip(axes, temperatures, strict=True):
        weights = softmax(scores / T)
        ax.bar(range(len(scores)), weights, color=WEIGHT, edgecolor=INK, linewidth=0.7)
        ax.set(xticks=[], ylim=(0, 1.05))
        ax.grid(visible=False, axis="x")
        facts.append(f"{T:g}: " + ", ".join(write(w, 2) for w in weights))
    axes[0].set_ylabel("weight", color=INK)
    return show(fig, f"Weights of the scores 0, 1, 0, 0, 2 at temperature {'; '.join(facts)}.")
