"""Lesson 02, the variance of a score: the figures. They draw the data that they are given."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons.variance_proof.experiments import (
    SCALES,
    SUSPECTS,
    exponent,
    scale_probe,
    side_by_side,
    weights_by_maximum,
)
from sdpa_helpers.show.figures import (
    FAINT,
    GRID,
    INK,
    LINES,
    PAPER,
    SHADE,
    SKY,
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
from sdpa_helpers.show.symbols import with_index

SCALE_LINES = {"1": (FAINT, "-."), "1/√d": (INK, "-"), "1/d": (SKY, "--")}
KIND_LINES = {"normal": (INK, "-", "o"), "uniform": (SKY, "-", "s"), "coins": (FAINT, "-", "^")}
_D_K = "number of coordinates dₖ"


def plot_walks(paths: Float[Array, "count steps"]) -> Picture:
    """Scores of coins while they are being added up, with ±√d."""
    fig, ax = figure(
        "A score is a random walk", x="coordinates added so far, d", y="sum so far", size=(7.2, 3.8)
    )
    steps = np.arange(1, paths.shape[-1] + 1)
    ax.plot(steps, paths.T, color=SHADE, linewidth=0.9)
    for sign in (1, -1):
        ax.plot(steps, sign * np.sqrt(steps), color=SKY, linewidth=2.6, label="√d" if sign > 0 else "−√d")
        straight = sign * steps
        ax.plot(steps, straight, color=INK, linewidth=1.6, linestyle=":")
    limit = 3.6 * np.sqrt(steps[-1])
    ax.set(ylim=(-limit, limit), xlim=(0, steps[-1]))
    ax.axhline(0, color=FAINT, linewidth=0.8)
    for sign, name in ((1, "d"), (-1, "−d")):
        at = (limit, sign * limit)
        ax.annotate(
            name, at, (8, -12 * sign), textcoords="offset points", color=INK, fontsize=10, va="center"
        )
    name_lines(ax)
    inside = float(np.mean(np.abs(paths[:, -1]) <= np.sqrt(steps[-1])))
    return show(
        fig,
        f"{len(paths)} random walks of {steps[-1]} steps. They spread like the square root of the number of steps: "
        f"at the end {100 * inside:.0f} percent lie between minus and plus √{steps[-1]} = "
        f"{write(float(np.sqrt(steps[-1])), 0)}. None comes near the straight lines ±d.",
    )


def plot_growth(dims: Sequence[int], found: Sequence[Interval]) -> Picture:
    """The measured standard deviation against √d_k: both on logarithmic axes, and their ratio with its interval."""
    fig, (left, right) = panels(
        ["The standard deviation of q·k", "Measured, divided by √dₖ"], x=_D_K, size=(9.2, 3.8)
    )
    values, low, high = (np.array(column) for column in zip(*found, strict=True))
    roots = np.sqrt(dims)
    left.loglog(dims, roots, color=SKY, linewidth=2.6, label="√dₖ, from the proof")
    left.loglog(dims, values, "o", color=INK, markersize=6, label="measured")
    left.set_ylabel("standard deviation", color=INK)
    legend(left)
    right.axhline(1, color=SKY, linewidth=2.6, label="the proof")
    right.errorbar(
        dims, values / roots, [(values - low) / roots, (high - values) / roots],
        fmt="o", color=INK, markersize=6, capsize=4, label="measured, 95% interval",
    )  # fmt: skip
    right.set(xscale="log", ylim=(0.93, 1.07), ylabel="ratio")
    legend(right, loc="lower left")
    for ax in (left, right):
        _powers(ax, dims)
    left.set_yticks(roots, [write(root, 0) for root in roots])
    widest = float(np.max(np.abs(values / roots - 1)))
    return show(
        fig,
        f"Left: the measured standard deviation rises along the line √dₖ, from {write(values[0], 1)} at dₖ = "
        f"{dims[0]} to {write(values[-1], 1)} at {dims[-1]}. Right: divided by √dₖ it stays within "
        f"{100 * widest:.1f} percent of 1, with 95 percent intervals.",
    )


def plot_shapes(
    one: Mapping[str, Float[Array, "n"]],
    dims: Sequence[int],
    kurtosis: Mapping[str, Sequence[float]],
    expected: Mapping[str, Sequence[float]],
) -> Picture:
    """Left: scores at d_k = 1, three shapes with one variance. Right: what is left of the shape as d_k grows."""
    fig, (left, right) = panels(["dₖ = 1: three shapes, one variance", "The shape fades"], size=(9.2, 3.8))
    for name, samples in one.items():
        if name == "coins":
            for value in (-1, 1):
                share = float(np.mean(samples == value))
                left.plot([value, value], [0, share], color=KIND_LINES[name][0], linewidth=5,
                          label="coins (share of pairs)" if value > 0 else None)  # fmt: skip
        else:
            left.hist(samples, bins=60, range=(-3.2, 3.2), density=True, histtype="step", linewidth=2,
                      color=KIND_LINES[name][0], label=name)  # fmt: skip
    left.set(xlabel="score q·k", ylabel="density", ylim=(0, 1.55), xlim=(-3.3, 3.3))
    for name, found in kurtosis.items():
        colour, dash, marker = KIND_LINES[name]
        right.plot(dims, found, marker, color=colour, markersize=6.5, label=name)
        right.plot(dims, expected[name], dash, color=colour, linewidth=1.6)
    right.axhline(0, color=FAINT, linewidth=0.8)
    right.set(xscale="log", xlabel=_D_K, ylabel="excess kurtosis (bell curve: 0)")
    _powers(right, dims)
    for ax in (left, right):
        legend(ax)
    facts = ", ".join(
        f"{name} from {write(found[0], 2)} to {write(found[-1], 2)}" for name, found in kurtosis.items()
    )
    return show(
        fig,
        "Left: at dₖ = 1 the score of normal coordinates has a sharp peak and long tails, of uniform coordinates a "
        "peak and short tails, of coins two spikes at −1 and 1; each has variance 1. Right: the excess kurtosis goes "
        f"to 0 as dₖ grows from {dims[0]} to {dims[-1]}: {facts}. Lines: theory.",
    )


def plot_broken(d: int, scores: Mapping[str, Float[Array, "n"]]) -> Picture:
    """The score divided by √d_k, for each broken assumption: a box from −1 to +1 is what the proof promises."""
    fig, ax = figure(
        f"Divided by √dₖ, at dₖ = {d}: only some survive", x="scaled score q·k / √dₖ", y="assumption that is broken",
        size=(8.2, 4.2),
    )  # fmt: skip
    facts = []
    ax.axvspan(-1, 1, color=GRID, alpha=0.8, zorder=0)
    for place, (name, raw) in enumerate(reversed(list(scores.items()))):
        scaled = raw / np.sqrt(d)
        mean, sd = float(scaled.mean()), float(scaled.std())
        kept = abs(mean) < 0.1 and abs(sd - 1) < 0.1
        few = scaled[:: max(1, scaled.size // 250)]
        few = few[few < 17]  # further right stand the numbers
        ax.plot(few, place + np.linspace(-0.22, 0.22, few.size), ".", color=SHADE, markersize=2.5)
        ax.plot(
            [mean - sd, mean + sd], [place, place], color=INK if kept else SKY, linewidth=5 if kept else 3
        )
        ax.plot(mean, place, "o", color=INK, markersize=6)
        ax.annotate(
            f"mean {write(mean, 1)}, sd {write(sd, 1)}", (1.0, place), (-4, 0), xycoords=("axes fraction", "data"),
            textcoords="offset points", color=INK, fontsize=10, ha="right", va="center",
        )  # fmt: skip
        facts.append(f"{name}: mean {write(mean, 1)}, standard deviation {write(sd, 1)}")
    ax.set_yticks(range(len(scores)), list(scores)[::-1])
    ax.set_xlim(-12.5, 26)
    ax.grid(visible=False, axis="y")
    return show(
        fig,
        "Scaled scores as dots, their mean and one standard deviation as bars, for each broken assumption. "
        + "; ".join(reversed(facts))
        + ".",
    )


def plot_side_by_side(unrelated: Mapping[int, Array], matched: Mapping[int, Array]) -> Picture:
    """What each scale does to unrelated keys, and to a key that matches; raw scores (n_q, n_k) for each d_k."""
    dims, found = list(unrelated), side_by_side(unrelated, matched)
    fig, (left, right) = panels(
        ["Unrelated keys: how evenly weighted?", "Key 0 matches (correlation 0.5)"], x=_D_K, size=(9.2, 3.9)
    )
    facts = []
    for name, (colour, dash) in SCALE_LINES.items():
        even, score = found[name]["entropy share"], found[name]["match score"]
        look = {"color": colour, "linestyle": dash, "linewidth": 2, "label": f"scale {with_index(name)}"}
        left.plot(dims, even, "o", **look)
        right.plot(dims, score, "o", **look)
        facts.append(
            f"scale {with_index(name)}: entropy share from {write(even[0], 2)} to {write(even[-1], 2)}, "
            f"score of the match from {write(score[0], 1)} to {write(score[-1], 1)}"
        )
    left.set(xscale="log", ylim=(-0.03, 1.06), ylabel="entropy share  (1: all equal, 0: one key)")
    right.set(xscale="log", yscale="log", ylabel="mean scaled score of the match")
    for ax in (left, right):
        _powers(ax, dims)
        name_lines(ax)
    return show(fig, f"Two line charts for dₖ from {dims[0]} to {dims[-1]}. " + "; ".join(facts) + ".")


def plot_learned(dims: Sequence[int], learned: Mapping[str, Sequence[float]]) -> Picture:
    """The learned scale in two worlds, between the lines 1/√d and 1/d."""
    fig, ax = figure("The data choose the exponent", x=_D_K, y="scale", size=(7.4, 4.0))
    for name in SCALES:
        ax.loglog(dims, [SCALES[name](d) for d in dims], color=FAINT, linewidth=1.4, linestyle="--",
                  label=f"fixed: {with_index(name)}")  # fmt: skip
    facts = []
    for (name, values), colour, marker in zip(learned.items(), (INK, SKY), ("o", "s"), strict=True):
        power = exponent(dims, values)
        ax.loglog(dims, values, marker + "-", color=colour, linewidth=2, markersize=7,
                  label=f"learned: {with_index(name)}, slope {write(power, 2)}")  # fmt: skip
        facts.append(f"with {name} it falls like d to the power {write(power, 2)}")
    _powers(ax, dims)
    name_lines(ax)
    return show(fig, "Learned scale against dₖ on logarithmic axes: " + "; ".join(facts) + ".")


def plot_maximum(cases: Sequence[Sequence[float]]) -> Picture:
    """Weights by softmax, and by softmax of scores divided by their maximum."""
    titles = [", ".join(write(s, 0) for s in case) for case in cases]
    fig, axes = panels(
        [f"scores {title}" for title in titles], x="key", y="weight", size=(9.2, 3.4), sharey=True
    )
    facts = []
    for ax, title, case in zip(axes, titles, cases, strict=True):
        scores = np.array(case, dtype=float)
        soft, divided = softmax(scores), weights_by_maximum(scores)
        broken = not np.isfinite(divided).all()
        rules = {"softmax": soft} | ({} if broken else {"divided by the maximum first": divided})
        bars(ax, [f"{i}" for i in range(len(case))], rules, colours=(WEIGHT, PAPER))
        if broken:
            ax.text(0.97, 0.8, "divided by 0:\nno weights at all", transform=ax.transAxes, color=INK, fontsize=10.5,
                    ha="right", va="top")  # fmt: skip
        if ax is not axes[0] and (drawn := ax.get_legend()):
            drawn.remove()
        after = "nothing but NaN" if broken else ", ".join(write(v, 2) for v in divided)
        facts.append(
            f"scores {title}: softmax {', '.join(write(v, 2) for v in soft)}, after division {after}"
        )
    axes[0].set_ylim(0, 1.3)
    legend(axes[0], loc="upper left")
    return show(fig, "Bar charts of weights under two rules. " + "; ".join(facts) + ".")


def plot_probe(dims: Sequence[int] = (4, 16, 64, 256)) -> Picture:
    """The scale that each suspect uses, read off its output."""
    fig, ax = figure(
        "The probe: which scale did the code use?", x=_D_K, y="scale that the probe reads", size=(7.6, 4.0)
    )
    markers = dict(zip(SUSPECTS, "osv^Dx", strict=True))
    looks = dict(zip(SUSPECTS, itertools.cycle(LINES), strict=False))
    facts = []
    for name, attention in SUSPECTS.items():
        read = [scale_probe(attention, d) for d in dims]
        size = 14 if name == "divides by √d" else 8  # another line lies on top of it
        colour, dash = looks[name]
        look = {"marker": markers[name], "color": colour, "linewidth": 1.8, "markersize": size}
        ax.loglog(dims, read, linestyle=dash, label=with_index(name), **look)
        facts.append(f"{name}: " + ", ".join(f"{value:.3g}" for value in read))
    _powers(ax, dims)
    name_lines(ax)
    return show(
        fig, f"Scale read by the probe at dₖ = {', '.join(map(str, dims))}. " + "; ".join(facts) + "."
    )


def _powers(ax: Axes, dims: Sequence[int]) -> None:
    """Ticks at the numbers of coordinates themselves."""
    ax.set_xticks(list(dims), [str(d) for d in dims])
    ax.minorticks_off()


def plot_spreads_in_short() -> Picture:
    """The spread of unrelated scores under three scales."""
    dims = np.array([4, 4096])
    fig, ax = figure(
        "Spread of unrelated scores", x="coordinates dₖ", y="standard deviation", size=(4.3, 3.2)
    )
    spreads = {"1": dims**0.5, "1/√d": dims * 0 + 1.0, "1/d": dims**-0.5}
    for name, spread in spreads.items():
        colour, dash = SCALE_LINES[name]
        ax.loglog(dims, spread, color=colour, linestyle=dash, linewidth=2, label=f"scale {with_index(name)}")
    ax.set_xticks([4, 64, 1024, 4096], ["4", "64", "1024", ""])
    ax.set_yticks([1 / 64, 1 / 8, 1, 8, 64], ["1/64", "1/8", "1", "8", "64"])
    ax.minorticks_off()
    name_lines(ax)
    return show(
        fig,
        "The standard deviation of unrelated scores, for dₖ from 4 to 4096: with scale 1 it rises from 2 to 64, with "
        "1/√dₖ it stays 1, with 1/dₖ it falls from 1/2 to 1/64.",
    )
