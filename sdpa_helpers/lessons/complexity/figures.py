"""Lesson 06: its figures draw data that the notebook hands in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter
from numpy import ndarray as Array

from sdpa_helpers.lessons.complexity.counting import intensities, tiled
from sdpa_helpers.show.figures import (
    FAINT,
    INK,
    LINES,
    PAPER,
    SHADE,
    SKY,
    Picture,
    bars,
    figure,
    name_lines,
    panels,
    show,
)

if TYPE_CHECKING:
    from sdpa_helpers.lessons.complexity.counting import LayerFlops
    from sdpa_helpers.lessons.complexity.experiments import (
        Estimate,
        LayerRace,
        Machine,
        Timings,
    )


class Look(NamedTuple):
    """How a way to compute attention is drawn in every figure."""

    colour: str
    dash: str
    marker: str


WAYS = {
    "step by step": Look(SKY, "--", "s"),
    "textbook": Look(SKY, "--", "s"),
    "fused": Look(INK, "-", "o"),
    "numpy-tiled": Look(INK, "-", "o"),
    "numba": Look(FAINT, "-.", "D"),
    "torch-fused": Look(INK, ":", "^"),
}

NOISE = 1.0  # MiB: below it, peak memory is what the allocator had left over


def plot_operations(tally: Mapping[str, Mapping[str, int]]) -> Picture:
    """Which operations, how often: one group of bars per step."""
    fig, ax = figure("What attention does, counted", x="operation", y="how often", size=(7.6, 3.8))
    names = ["multiply", "add", "exp", "divide", "compare"]
    series = {step: [counts.get(name, 0) for name in names] for step, counts in tally.items()}
    bars(ax, names, series, colours=(SHADE, SKY, PAPER), digits=0)
    facts = "; ".join(
        f"{step}: " + ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
        for step, counts in series.items()
    )
    return show(fig, f"Bar chart of operations by step. {facts}.")


def plot_exponents(
    against_n: Mapping[str, tuple[Timings, Estimate]], against_d: tuple[Timings, Estimate]
) -> Picture:
    """Time against length, by way, and against width, with the fitted power laws."""
    fig, axes = panels(["time against length", "time against width"], y="time (ms)", size=(9.2, 3.9))
    drawn = [(axes[0], way, *measured) for way, measured in against_n.items()]
    drawn.append((axes[1], "step by step", *against_d))
    axes[0].set_xlabel("number of tokens n (d = 64)")
    axes[1].set_xlabel("width of a head d (n = 1024)")
    facts = []
    for ax, way, timings, slope in drawn:
        x, middle = timings.sizes, np.exp(np.log(timings.medians).mean())
        line = middle * (x / np.exp(np.log(x).mean())) ** slope.value
        _powers_of_two(ax, x)
        ax.set_yscale("log")
        runs = timings.seconds.ravel() * 1e3
        look = WAYS[way]
        ax.plot(np.repeat(x, timings.seconds.shape[1]), runs, ".", color=SHADE, markersize=4)
        name = f"{way}:\nslope {slope.value:.2f}"
        ax.plot(x, line * 1e3, look.dash, color=look.colour, linewidth=2, label=name)
        ax.plot(x, timings.medians * 1e3, look.marker, color=look.colour, markersize=6)
        variable = "the number of tokens" if ax is axes[0] else "the width of a head"
        facts.append(f"{way}, against {variable}: slope {slope.value:.2f}")
    for ax in axes:
        _plain_numbers(ax)
        name_lines(ax, gap=30)
    return show(
        fig, "Two charts with logarithmic axes, measured times and fitted straight lines. " + "; ".join(facts)
    )


def plot_layer(sizes: Array, shares: Mapping[int, LayerFlops]) -> Picture:
    """Attention's part of a layer's FLOPs, for several widths of model."""
    fig, ax = figure(
        "Attention's share of a layer's FLOPs",
        x="number of tokens n",
        y="share of FLOPs (%)",
        size=(7.4, 4.0),
    )
    facts = []
    for (d_model, flops), (colour, dash) in zip(shares.items(), LINES, strict=False):
        ax.plot(sizes, 100 * flops.share, dash, color=colour, linewidth=2.2, label=f"d_model = {d_model:,}")
        ax.plot(6 * d_model, 50, "o", color=INK, markersize=6)
        ax.annotate(
            f"{6 * d_model:,}",
            (6 * d_model, 50),
            (7, -12),
            textcoords="offset points",
            color=INK,
            fontsize=10,
        )
        facts.append(f"for d_model {d_model:,} half is reached at {6 * d_model:,} tokens")
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(FuncFormatter(_in_ki))
    ax.axhline(50, color=FAINT, linewidth=1, linestyle=":")
    ax.set_ylim(0, 100)
    name_lines(ax)
    return show(fig, "Rising S-shaped curves, wider models further to the right: " + ", ".join(facts) + ".")


def plot_layer_race(race: LayerRace, d_model: int) -> Picture:
    """Measured: the layer's other parts against its attention."""
    fig, ax = figure(
        f"One layer, d_model = {d_model:,}: time of its parts",
        x="number of tokens n",
        y="time (ms)",
        size=(7.4, 4.0),
    )
    ax.set_yscale("log")
    _powers_of_two(ax, race.sizes)
    lines = {
        "projections and MLP": (race.rest, Look(FAINT, ":", "D")),
        "attention, step by step": (race.step_by_step, WAYS["step by step"]),
        "attention, fused": (race.fused, WAYS["fused"]),
    }
    for label, (timings, (colour, dash, marker)) in lines.items():
        look = {"color": colour, "linestyle": dash, "marker": marker, "linewidth": 2}
        ax.plot(timings.sizes, timings.medians * 1e3, label=label, **look)
    ax.axvline(6 * d_model, color=FAINT, linewidth=1.2, linestyle=":")
    ax.annotate(
        f"counted: 6·d_model = {6 * d_model:,}",
        (6 * d_model, 0.02),
        (5, 2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        color=INK,
        fontsize=10,
    )
    _plain_numbers(ax)
    name_lines(ax)
    facts = ", ".join(
        f"{way.replace('_', ' ')} "
        + ("does not cross it" if np.isnan(x := race.crossover(way)) else f"crosses it near {x:,.0f} tokens")
        for way in ("step_by_step", "fused")
    )
    return show(
        fig,
        "Line chart with logarithmic axes: time of projections and MLP, and time of attention done "
        "in two ways, against "
        f"the number of tokens. Attention grows faster than the rest: {facts}. Counted, it would be {6 * d_model:,}.",
    )


def plot_readings(bytes_held: Mapping[str, float]) -> Picture:
    """The same weights under different assumptions."""
    fig, ax = figure(
        "How many bytes of attention weights at once?",
        x="bytes held at once (GB, logarithmic)",
        y="reading",
        size=(8.4, 3.8),
    )
    names, gigabytes = list(bytes_held), np.array(list(bytes_held.values())) / 1e9
    rows = np.arange(len(names))[::-1]
    ax.barh(rows, gigabytes, 0.66, left=0, color=[SHADE, SHADE, SHADE, SKY, SKY, SKY][: len(names)])
    ax.set_xscale("log")
    ax.set_xlim(1e-3, 8e3)
    for row, size in zip(rows, gigabytes, strict=True):
        ax.annotate(
            _gigabytes(size),
            (size, row),
            (5, 0),
            textcoords="offset points",
            va="center",
            color=INK,
            fontsize=10.5,
        )
    ax.set_yticks(rows, names)
    ax.grid(visible=False)
    facts = "; ".join(f"{name}: {_gigabytes(size)}" for name, size in zip(names, gigabytes, strict=True))
    return show(fig, f"Horizontal bars, logarithmic. {facts}.")


def plot_peaks(ways: Mapping[str, Sequence[int]], peaks: Mapping[str, Array], d: int = 64) -> Picture:
    """Peak memory against length, by way; what is below a MiB is noise, and left out."""
    fig, ax = figure(
        f"Peak memory beyond the inputs, d = {d}, float32",
        x="number of tokens n",
        y="peak memory (MiB)",
        size=(7.6, 4.2),
    )
    ax.set_yscale("log")
    facts = []
    for way, mib in peaks.items():
        colour, dash, marker = WAYS[way]
        seen = np.where(np.asarray(mib) < NOISE, np.nan, mib)
        facts.append(f"{way} {mib[-1]:.3g} MiB at {ways[way][-1]:,}")
        if not np.isnan(seen).all():
            ax.plot(ways[way], seen, color=colour, linestyle=dash, marker=marker, linewidth=2, label=way)
    sizes = np.array(max(ways.values(), key=len), dtype=float)
    _powers_of_two(ax, sizes)
    for name, mib in (("one n × n matrix", sizes**2 / 2**18), ("the output alone", sizes * d / 2**18)):
        ax.plot(sizes, mib, color=SHADE, linewidth=1.4, label=name)
    _plain_numbers(ax)
    name_lines(ax)
    return show(
        fig,
        f"Line chart with logarithmic axes, peak memory against length. {'; '.join(facts)}; at {sizes[-1]:,.0f} tokens "
        f"one n by n matrix has {sizes[-1] ** 2 / 2**18:.0f} MiB and the output {sizes[-1] * d / 2**18:.0f} MiB.",
    )


def plot_traffic(
    lengths: Array,
    curves: Mapping[str, Array],
    ridges: Mapping[str, float] | None = None,
    size: tuple[float, float] = (8.0, 4.6),
) -> Picture:
    """FLOPs for each byte against length: step by step, tiled, and the least traffic that there can be."""
    fig, ax = figure(
        "How much work does a byte do?",
        x="number of tokens n (d = 64, float16)",
        y="FLOPs per byte",
        size=size,
    )
    _powers_of_two(ax, lengths[::2])
    ax.xaxis.set_major_formatter(FuncFormatter(_in_ki))
    ax.set_yscale("log")
    looks = {"step by step": (SKY, "--"), "minimum": (FAINT, ":")}
    facts = []
    for way, intensity in curves.items():
        colour, dash = looks.get(way, (INK, "-"))
        ax.plot(lengths, intensity, dash, color=colour, linewidth=2.2, label=way)
        facts.append(f"{way} {intensity[-1]:,.0f}")
    for name, ridge in (ridges or {}).items():
        ax.axhline(ridge, color=SHADE, linewidth=1.2, linestyle=(0, (1, 3)))
        ax.annotate(
            f"ridge of the {name}: {ridge:.0f}", (lengths[-1], ridge), (0, 2), textcoords="offset points",
            color=INK, fontsize=9.5, ha="right",
        )  # fmt: skip
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    name_lines(ax)
    above = "".join(f" The ridge of the {name} is at {ridge:.0f}." for name, ridge in (ridges or {}).items())
    return show(
        fig,
        f"Line chart with logarithmic axes, FLOPs per byte against length. At {lengths[-1]:,.0f} tokens: "
        f"{', '.join(facts)}. All but the minimum level off.{above}",
    )


def plot_roofline(machine: Machine, placed: Mapping[str, tuple[float, float]]) -> Picture:
    """The roof of the measured machine and where attention's steps are: `placed` maps names to (intensity, FLOP/s)."""
    fig, ax = figure(
        "The roofline of the measured machine (one core, float32)",
        x="arithmetic intensity (FLOP per byte)",
        y="speed (GFLOP/s)",
        size=(8.4, 4.6),
    )
    reach = np.geomspace(0.2, 2000, 200)
    roof = np.minimum(machine.peak, reach * machine.bandwidth) / 1e9
    ax.plot(reach, roof, color=INK, linewidth=2.2)
    ax.fill_between(reach, roof, roof.min() / 30, color=SHADE, alpha=0.25, linewidth=0)
    ax.axvline(machine.ridge, color=FAINT, linewidth=1, linestyle=":")
    shifts = {"QKᵀ": (-32, -5), "A·V": (10, -7), "softmax": (10, -2), "decoding": (-4, -19)}
    for name, (intensity, speed) in placed.items():
        ax.plot(intensity, speed / 1e9, "o", color=INK, markersize=8, zorder=4)
        ax.annotate(
            name,
            (intensity, speed / 1e9),
            shifts.get(name, (9, -12)),
            textcoords="offset points",
            color=INK,
            fontsize=10.5,
        )
    ax.set(xscale="log", yscale="log", xlim=(0.2, 2000), ylim=(roof.min() / 4, roof.max() * 2.2))
    _plain_numbers(ax)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    return show(
        fig,
        "Roofline: a line that rises with the intensity up to a ridge and is flat from there on. "
        "Decoding and softmax "
        "have the lowest intensity, on the rising side; the fused call has by far the highest, on the flat side.",
    )


def _powers_of_two(ax: Axes, sizes: Array) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator([float(size) for size in sizes]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _in_ki(n: float, _: object = None) -> str:
    return f"{n / 1024:g} Ki" if n >= 1024 else f"{n:g}"


def _plain_numbers(ax: Axes) -> None:
    low, high = ax.get_ylim()
    if high / low < 100:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def _gigabytes(size: float) -> str:
    return f"{size:.1f} GB" if size >= 1 else f"{1000 * size:.1f} MB"


def plot_traffic_in_short() -> Picture:
    """FLOPs per byte against length, in float16 with d = 64."""
    lengths = 2.0 ** np.arange(7, 18)
    whole = [intensities(int(n), 64, element=2) for n in lengths]
    curves = {
        "step by step": np.array([ways["step by step"].intensity for ways in whole]),
        "tiles of 128": np.array([tiled(int(n), 64, 128, element=2).intensity for n in lengths]),
        "minimum": np.array([ways["minimum"].intensity for ways in whole]),
    }
    return plot_traffic(lengths, curves, size=(4.4, 4.0))
