"""Lesson 07: its figures draw what the notebook hands in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator
from numpy import ndarray as Array

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.show.figures import FAINT, INK, SHADE, SKY, Picture, figure, name_lines, panels, show

if TYPE_CHECKING:
    from sdpa_helpers.lessons.flash_attention.rungs import Climb

SKIPPED, MASKED, WHOLE = 0, 1, 2
"""The kinds of tiles."""


class Look(NamedTuple):
    """How a rung is drawn."""

    colour: str
    dash: str
    marker: str


LOOKS = {
    "formula": Look(SKY, "--", "s"),
    "tiled NumPy": Look(INK, "-", "o"),
    "Numba": Look(FAINT, "-.", "D"),
    "torch's fused call": Look(INK, ":", "^"),
    "Triton": Look(SKY, "-", "v"),
}
STROKES = ((0.0, 0.5, 0.5, 1.0), (0.0, 0.0, 1.0, 1.0), (0.5, 0.0, 1.0, 0.5))
"""Of a hatched cell: from where to where."""
ALLOWED = 0.42  # how much ink a pair has that the mask allows
LEAST_MIB = 0.25  # below it, peak memory is what the allocator had left over


def plot_climb(climb: Climb, d: int = 64) -> Picture:
    """Time and peak memory against the length, on logarithmic axes: a line for each rung."""
    fig, axes = panels(["time", "peak memory beyond the inputs"], x="number of tokens n", size=(9.6, 4.4))
    facts = []
    for rung, seconds in climb.seconds.items():
        look = LOOKS[rung]
        milliseconds, mib = 1e3 * np.median(seconds, axis=-1), climb.mib[rung]
        kept = np.where(mib < LEAST_MIB, np.nan, mib)
        for ax, line in zip(axes, (milliseconds, kept), strict=True):
            if not np.isnan(line).all():
                ax.plot(
                    climb.sizes, line, color=look.colour, linestyle=look.dash, marker=look.marker,
                    markersize=6, linewidth=2, label=rung,
                )  # fmt: skip
        facts.append(f"{rung} {milliseconds[-1]:.3g} ms and {mib[-1]:.3g} MiB")
    axes[1].plot(climb.sizes, climb.sizes * d / 2**18, color=SHADE, linewidth=1.4, label="the output alone")
    for ax, unit in zip(axes, ("milliseconds", "MiB"), strict=True):
        ax.set_ylabel(unit, color=INK, fontsize=10.5)
        ax.set(xscale="log", yscale="log")
        _lengths(ax, climb.sizes)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
        name_lines(ax)
    return show(
        fig,
        f"Two charts with logarithmic axes against the number of tokens. At {climb.sizes[-1]:,} tokens: "
        f"{'; '.join(facts)}. In time all lines are about parallel; in memory the formula rises twice as steeply.",
    )


def _lengths(ax: Axes, sizes: Array) -> None:
    ax.xaxis.set_major_locator(FixedLocator([float(n) for n in sizes]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())


def plot_kinds(masks: Mapping[str, Array], tile: int) -> Picture:
    """Masks in square tiles: skipped ones empty, whole ones full, and where the mask cuts, pair by pair."""
    fig, axes = panels(
        list(masks), x="keys", y="queries", size=(3.2 * len(masks), 3.5), sharex=True, sharey=True
    )
    facts = []
    for ax, (name, mask) in zip(axes, masks.items(), strict=True):
        kinds = tile_kinds(mask, tile)
        draw_tiles(ax, mask, tile)
        counts = [int((kinds == kind).sum()) for kind in (SKIPPED, MASKED, WHOLE)]
        ax.set_title(f"{name}: {counts[0]} of {kinds.size} skipped", color=INK, fontsize=11.5, loc="left")
        facts.append(f"{name}: {counts[0]} skipped, {counts[1]} partly masked, {counts[2]} whole")
    for ax in axes[1:]:
        ax.set_ylabel("")
    tokens = len(next(iter(masks.values())))
    return show(
        fig,
        f"Masks over {tokens} tokens, cut into tiles of {tile} by {tile}. {'; '.join(facts)}. Filled cells are "
        "pairs that the mask allows; hatched ones are computed and then hidden; empty tiles are skipped.",
    )


def tile_kinds(mask: Array, tile: int) -> Array:
    """SKIPPED, MASKED or WHOLE for each square tile."""
    tiles = mask.reshape(len(mask) // tile, tile, -1, tile)
    return tiles.any(axis=(1, 3)).astype(int) + tiles.all(axis=(1, 3))


def draw_tiles(ax: Axes, mask: Array, tile: int) -> None:
    """One mask in its tiles."""
    n_q, n_k = mask.shape
    ax.set(xlim=(0, n_k), ylim=(n_q, 0), aspect="equal")
    ax.set_xticks(range(0, n_k + 1, tile))
    ax.set_yticks(range(0, n_q + 1, tile))
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    kinds = tile_kinds(mask, tile)
    computed = np.kron(kinds != SKIPPED, np.ones((tile, tile), dtype=bool))
    _squares(ax, mask, 1, facecolor=(INK, ALLOWED), linewidth=0)
    _hatched(ax, computed & ~mask)
    _squares(ax, kinds == SKIPPED, tile, facecolor="none", edgecolor=SHADE, linestyle=":", linewidth=1)
    _squares(ax, kinds != SKIPPED, tile, facecolor="none", edgecolor=INK, linewidth=1.4)


def _squares(ax: Axes, where: Array, side: int, **look: Any) -> None:
    """One path of all squares that are True, `side` long."""
    corners = np.array([(0, 0), (0, 1), (1, 1), (1, 0), (0, 0)])
    paths = [Path(side * (corners + place[::-1]), closed=True) for place in np.argwhere(where)]
    if paths:
        ax.add_patch(PathPatch(Path.make_compound_path(*paths), **look))


def _hatched(ax: Axes, where: Array) -> None:
    """Cells that are True get strokes, drawn one by one: a page's SVG has no hatches."""
    strokes = [[(j + a, i + b), (j + c, i + d)] for i, j in np.argwhere(where) for a, b, c, d in STROKES]
    ax.add_collection(LineCollection(strokes, colors=SHADE, linewidths=0.9))


def plot_tiles_in_short() -> Picture:
    """A causal mask in tiles."""
    fig, ax = figure("A causal mask in tiles of 4 × 4", x="keys", y="queries", size=(4.2, 4.2))
    draw_tiles(ax, causal_mask(16, 16), 4)
    return show(
        fig,
        "A causal mask over 16 tokens in tiles of 4 by 4: the 6 tiles above the diagonal are skipped, the 4 on "
        "it are partly masked, the 6 below it are whole.",
    )
