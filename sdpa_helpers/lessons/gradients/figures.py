"""Lesson 04, gradients: its figures draw data; the experiments that make the data are in `experiments`.

The notebook makes the input (the five words of lesson 01) and hands it in: no number is hidden here.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from numpy import ndarray as Array

from sdpa_helpers.lessons.gradients.experiments import (
    DEAD,
    Cell,
    dead_share,
    interval,
    losers_slope,
    ratios,
    two_key_slope,
)
from sdpa_helpers.lessons.gradients.training import Course
from sdpa_helpers.show.figures import (
    FAINT,
    INK,
    OUTPUT,
    PAPER,
    SHADE,
    SKY,
    VALUE,
    WEIGHT,
    Picture,
    arrow,
    bars,
    figure,
    heat_map,
    legend,
    name_lines,
    panels,
    show,
    write,
)
from sdpa_helpers.show.symbols import raised, with_index

UNSCALED, SCALED = SKY, INK
Place = Literal["scores", "queries"]
_RUNS = ((UNSCALED, "-"), (SCALED, "-"), (FAINT, "-."))
_NAMES = {"scores": "‖dS‖, at the scores", "queries": "‖dQ‖, at the queries"}


def plot_push(
    before: Float[Array, "n"], after: Float[Array, "n"], words: Sequence[str], pushed: str
) -> Picture:
    """Weights before and after one score was raised."""
    fig, ax = figure(f"One score is raised, that of “{pushed}”: every weight moves", x="key", y="weight")
    bars(ax, words, {"before": before, "after": after}, colours=((WEIGHT, 0.3), WEIGHT), digits=3)
    facts = "; ".join(
        f"{word} from {write(b, 3)} to {write(a, 3)}" for word, b, a in zip(words, before, after, strict=True)
    )
    return show(fig, f"Bar chart of weights before and after the score of {pushed} is raised: {facts}.")


def plot_jacobians(whole: Float[Array, "n n"], part: Float[Array, "n n"], words: Sequence[str]) -> Picture:
    """The Jacobian beside the part of it that many texts give."""
    fig, axes = panels(
        ["all slopes: diag(s) − s sᵀ", "the diagonal alone: s(1 − s)"],
        x="score that moves",
        y="weight that answers",
        size=(9.2, 3.7),
    )
    for ax, matrix in zip(axes, (whole, part), strict=True):
        heat_map(ax, matrix, words, words)
    diagonal = ", ".join(f"{word} {write(v, 2)}" for word, v in zip(words, np.diag(whole), strict=True))
    off = whole[~np.eye(len(whole), dtype=bool)]
    return show(
        fig,
        f"Two heat maps. Both have the diagonal {diagonal}. Off the diagonal the Jacobian holds numbers from "
        f"{write(off.min(), 2)} to {write(off.max(), 2)}, all negative; the diagonal alone has zeros there.",
    )


def plot_difference_errors(
    steps: Float[Array, "k"], errors: Mapping[str, Float[Array, "k"]], wanted: float = 1e-6
) -> Picture:
    """Error of finite differences against the step size."""
    fig, ax = figure(
        "Finite differences: the step has a best size",
        x="step h (units of the score)",
        y="largest error of a slope",
        size=(7.2, 3.8),
    )
    facts = []
    for (name, error), (colour, dash) in zip(errors.items(), ((INK, "-"), (SKY, "-.")), strict=True):
        ax.loglog(steps, error, dash, color=colour, linewidth=2.2, label=name)
        best = int(np.argmin(error))
        ax.plot(steps[best], error[best], "o", color=colour, markersize=8)
        facts.append(f"{name} is best at h about 1e{np.log10(steps[best]):.0f}")
    exponent = raised(f"{np.log10(wanted):.0f}")
    ax.plot(
        steps, np.full(len(steps), wanted), "--", color=FAINT, linewidth=1.2, label=f"tolerance 10{exponent}"
    )
    name_lines(ax)
    return show(
        fig,
        "V-shaped curves on logarithmic axes: for large steps the error falls with h², for small steps rounding "
        f"makes it grow again; {', '.join(facts)}.",
    )


def plot_pull(
    V: Float[Array, "n_k 2"],
    output: Float[Array, "2"],
    wanted: Float[Array, "2"],
    scores_grad: Float[Array, "n_k"],
    words: Sequence[str],
) -> Picture:
    """Where the output should go, and which scores rise for it. `wanted` points against the output's gradient."""
    fig, ax = figure(
        "A score rises if its value lies where the output should go",
        x="value, coordinate 0",
        y="value, coordinate 1",
        size=(7.6, 4.6),
    )
    unit = wanted / np.linalg.norm(wanted)
    across = np.array([-unit[1], unit[0]])
    facts = []
    ax.plot(*np.stack([output - 2.6 * across, output + 2.6 * across]).T, "--", color=FAINT, linewidth=1.2)
    for place, slope, word in zip(V, scores_grad, words, strict=True):
        rises = slope < 0
        look = {"markerfacecolor": VALUE if rises else PAPER, "markeredgewidth": 2, "zorder": 3}
        ax.plot(*place, "^" if rises else "v", color=VALUE, markersize=12, **look)
        change = f"{word}: {'rises' if rises else 'falls'}, {write(abs(slope), 2)}"
        place_of_text = (11, -4) if place @ unit > output @ unit or word == words[0] else (-11, -4)
        side = "left" if place_of_text[0] > 0 else "right"
        ax.annotate(
            change,
            tuple(place),
            place_of_text,
            textcoords="offset points",
            color=INK,
            fontsize=10.5,
            ha=side,
        )
        facts.append(change)
    ax.plot(*output, "o", color=OUTPUT, markersize=9, zorder=4)
    tip = (float(output[0] + 1.2 * unit[0]), float(output[1] + 1.2 * unit[1]))
    arrow(
        ax,
        tip,
        "should go here",
        start=(float(output[0]), float(output[1])),
        shift=(-4, -16),
    )
    ax.annotate("output", tuple(output), (10, -14), textcoords="offset points", color=INK, fontsize=10.5)
    ax.set_aspect("equal", adjustable="datalim")  # no lines through zero: they would cross the names
    ax.margins(x=0.22)
    return show(
        fig,
        "Scatter plot of five values, the output and the direction it should move. A dashed line through the output "
        f"separates the values whose scores rise from those whose scores fall: {'; '.join(facts)}.",
    )


def plot_backward(
    matrices: Mapping[str, Float[Array, "n_q n_k"]],
    hidden: Bool[Array, "n_q n_k"],
    rows: Sequence[str],
    columns: Sequence[str],
) -> Picture:
    """Matrices on the way back under a mask, by title; what the mask hides is crossed out."""
    fig, axes = panels(list(matrices), x="key", size=(9.8, 3.2))
    axes[0].set_ylabel("query", color=INK, fontsize=10.5)
    for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
        names = rows if ax is axes[0] else [""] * len(rows)
        heat_map(ax, matrix, names, columns, colour=WEIGHT if title.startswith("A,") else INK)
        for text in ax.texts:
            text.set_fontsize(10)
        for i, j in np.argwhere(hidden):
            ax.plot([j - 0.42, j + 0.42], [i + 0.42, i - 0.42], color=SHADE, linewidth=1)
    *_, last = matrices.values()
    facts = "; ".join(
        f"{row}: " + ", ".join(f"{key} {write(v, 2)}" for key, v in zip(columns, line, strict=True))
        for row, line in zip(rows, last, strict=True)
    )
    return show(
        fig,
        f"Heat maps under a mask: {'; '.join(matrices)}. Where the mask hides a key the last holds 0. It is {facts}.",
    )


def plot_slopes(gaps: Float[Array, "k"]) -> Picture:
    """s(1 − s) against the gap of two scores, as float64 and float32 compute it."""
    fig, ax = figure(
        "The slope falls like e⁻ᵍᵃᵖ, and then to exactly 0",
        x="gap between two scores",
        y="slope s(1 − s)",
        size=(7.6, 3.9),
    )
    curves = {
        "exact": (losers_slope(gaps), FAINT, "-"),
        "loser, float32": (losers_slope(gaps, np.float32), INK, "-"),
        "winner, float32": (two_key_slope(gaps, np.float32), SKY, "--"),
    }
    facts = []
    for name, (slope, colour, style) in curves.items():
        positive = slope > 0
        ax.semilogy(gaps[positive], slope[positive], style, color=colour, linewidth=2.4, label=name)
        if not positive.all():
            ax.plot(gaps[positive][-1], slope[positive][-1], "o", color=colour, markersize=8)
            facts.append(f"{name} from a gap of about {gaps[~positive][0]:.0f}")
    legend(ax)
    return show(
        fig,
        "Line chart, logarithmic: the slope of two-key softmax falls exponentially with the gap. In float32 it becomes "
        f"exactly 0: {', '.join(facts)}.",
    )


def _short(ratio: float) -> str:
    if ratio >= 9.95:
        return f"{ratio:.0f}"
    if ratio >= 0.0995:
        return f"{ratio:.1f}"
    if ratio >= 0.00995:
        return f"{ratio:.2f}"
    digit, power = f"{ratio:.0e}".split("e")
    return f"{digit}·10{raised(str(int(power)))}"


def plot_ratios(grid: Mapping[tuple[int, int], Cell], place: Place) -> Picture:
    """Median and mean of a norm, unscaled divided by scaled, for every pair (d_k, n_k)."""
    fig, axes = panels(
        [f"median {_NAMES[place]}", f"mean {_NAMES[place]}"],
        x="dₖ",
        y="nₖ",
        size=(9.6, 3.6),
    )
    keys, dimensions = sorted({n for _, n in grid}), sorted({d for d, _ in grid})
    facts = []
    for ax, statistic, name in zip(axes, (np.median, np.mean), ("median", "mean"), strict=True):
        table = ratios(dict(grid), place, statistic)
        colours = np.clip(np.log10(table.ratio), -2, 2)
        heat_map(ax, colours, [str(n) for n in keys], [str(d) for d in dimensions], limit=2)
        for text, ratio, sure in zip(ax.texts, table.ratio.flat, table.sure.flat, strict=True):
            text.set_text(_short(ratio) if sure else f"≈ {_short(ratio)}")
            text.set_fontsize(10)
        facts.append(
            f"the {name} is smaller without the scale in {(table.ratio < 1).sum()} of {table.ratio.size} cells, "
            f"down to {table.ratio.min():.0e}, and larger in {(table.ratio > 1).sum()}, up to {table.ratio.max():.1f}"
        )
    fig.suptitle(
        "Gradient without the scale ÷ gradient with it (≈: the interval holds 1)",
        color=INK,
        fontsize=11,
        x=0.01,
        ha="left",
    )
    return show(
        fig,
        f"Two heat maps over d_k and n_k of the ratio unscaled to scaled of {_NAMES[place]}: {'; '.join(facts)}.",
    )


def plot_norms(cell: Cell, d_k: int, n_k: int) -> Picture:
    """How the gradients of single queries are distributed, with median and mean."""
    fig, ax = figure(
        f"dₖ = {d_k}, nₖ = {n_k}: few rows carry the mean",
        x="‖dQ‖ of one query (logarithmic)",
        y="share of queries (%)",
        size=(7.6, 3.9),
    )
    edges = np.arange(-12, 2.01, 0.5)
    facts = []
    for name, norms, colour in (
        ("without scale", cell.unscaled.queries, UNSCALED),
        ("with 1/√dₖ", cell.scaled.queries, SCALED),
    ):
        logs = np.clip(np.log10(np.maximum(norms.ravel(), 1e-300)), -11.9, 1.9)
        ax.hist(
            logs,
            list(edges),
            weights=np.full(logs.size, 100 / logs.size),
            color=colour,
            alpha=0.55,
            label=name,
        )
        middle, mean = float(np.median(norms)), float(norms.mean())
        ax.axvline(np.log10(middle), color=colour, linewidth=2, linestyle=":")
        ax.axvline(np.log10(mean), color=colour, linewidth=2)
        facts.append(f"{name}: median {middle:.1e}, mean {mean:.2f}")
    ax.set_xticks(range(-12, 3, 2), ["≤10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "1", "100"])
    ax.plot([], [], ":", color=INK, label="median")
    ax.plot([], [], "-", color=INK, label="mean")
    legend(ax, loc="upper left")
    return show(fig, f"Histogram of the gradient's length per query at n_k = {n_k}: {'; '.join(facts)}.")


def plot_growth(grid: Mapping[tuple[int, int], Cell], keys: Sequence[int]) -> Picture:
    """Means with 95% bands against d_k, at the scores and at the queries."""
    fig, axes = panels([f"mean {_NAMES[p]}" for p in ("scores", "queries")], x="dₖ", size=(9.6, 3.8))
    axes[0].set_ylabel("mean norm of a row", color=INK, fontsize=10.5)
    dimensions = sorted({d for d, _ in grid})
    facts = []
    for ax, place in zip(axes, ("scores", "queries"), strict=True):
        for n, style in zip(keys, ("-", "--"), strict=True):
            for scaled, colour in ((False, UNSCALED), (True, SCALED)):
                cells = [grid[d, n].scaled if scaled else grid[d, n].unscaled for d in dimensions]
                found = np.array([interval(getattr(cell, place)) for cell in cells])
                name = f"nₖ = {n}, {'1/√dₖ' if scaled else 'no scale'}"
                ax.loglog(dimensions, found[:, 0], style, color=colour, linewidth=2, label=name)
                ax.fill_between(dimensions, found[:, 1], found[:, 2], color=colour, alpha=0.25, linewidth=0)
                facts.append(f"{place}, {name}: from {write(found[0, 0], 2)} to {write(found[-1, 0], 2)}")
        _dimension_ticks(ax, dimensions)
    axes[0].set_yticks([0.02, 0.05, 0.1, 0.2, 0.4], ["0.02", "0.05", "0.1", "0.2", "0.4"])
    axes[1].set_yticks([0.05, 0.1, 0.25, 0.5, 1, 2], ["0.05", "0.1", "0.25", "0.5", "1", "2"])
    name_lines(axes[1])
    return show(
        fig, f"Line charts of mean gradients for d_k from 4 to 4096, with 95% bands. {'; '.join(facts)}."
    )


def _dimension_ticks(ax: Axes, dimensions: Sequence[int]) -> None:
    ax.set_xticks(dimensions, [str(d) for d in dimensions])
    ax.minorticks_off()


def plot_dead(grid: Mapping[tuple[int, int], Cell]) -> Picture:
    """The share of dead rows without the scale, for every pair (d_k, n_k)."""
    keys, dimensions = sorted({n for _, n in grid}), sorted({d for d, _ in grid})
    shares = np.array([[dead_share(grid[d, n].unscaled.scores) for d in dimensions] for n in keys])
    with_scale = max(float(dead_share(cell.scaled.scores)) for cell in grid.values())
    fig, ax = figure("Dead rows without the scale, in %", x="dₖ", y="nₖ", size=(6.8, 3.5))
    heat_map(ax, 100 * shares, [str(n) for n in keys], [str(d) for d in dimensions], digits=0)
    return show(
        fig,
        f"Heat map of the share of rows whose gradient at the scores is shorter than {DEAD:g}: "
        f"{100 * shares.min():.0f}% for small d_k, up to {100 * shares.max():.0f}% for few keys and large d_k. "
        f"With the scale the largest share is {100 * with_scale:.0f}%.",
    )


def plot_training(runs: Mapping[str, Sequence[Course]]) -> Picture:
    """Accuracy against steps, one thin line per seed, a thick one for their mean."""
    fig, ax = figure(
        "A demo: looking up one of 16 keys, dₖ = 64",
        x="training step",
        y="right key found (%)",
        size=(7.6, 3.9),
    )
    facts = []
    for (name, several), (colour, dash) in zip(runs.items(), _RUNS, strict=True):
        curves = 100 * np.array([np.convolve(run.accuracy, np.ones(10) / 10, "valid") for run in several])
        ax.plot(curves.T, color=colour, linewidth=0.8, alpha=0.35)
        ax.plot(curves.mean(axis=0), dash, color=colour, linewidth=2.4, label=with_index(name))
        facts.append(f"{name} ends {'above' if curves[:, -1].mean() > 90 else 'below'} 90%")
    steps = len(next(iter(runs.values()))[0].accuracy)
    ax.plot([0, steps - 10], [100 / 16] * 2, ":", color=FAINT, linewidth=1.6, label="guessing")
    name_lines(ax)
    return show(fig, f"Line chart of accuracy over 150 steps: {'; '.join(facts)}.")
