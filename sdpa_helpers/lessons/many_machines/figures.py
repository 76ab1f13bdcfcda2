"""Lesson 09: its figures draw partitions that the notebook hands in."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy import ndarray as Array

from sdpa_helpers.show.figures import GRID, INK, SHADE, Pair, Picture, cells, panels, show

Partition = Sequence[Int[Array, "rows"]]

SIDE = 0.8
"""Of a block of scores, where a step of a rank has a place of side 1."""


def allowed_block(mine: Int[Array, "rows"], theirs: Int[Array, "keys"]) -> Bool[Array, "rows keys"]:
    """What a causal mask leaves of a block."""
    return mine[:, None] >= theirs


def plot_work(partitions: Mapping[str, Partition], size: Pair = (9.4, 4.4)) -> Picture:
    """Ranks × steps: in each place the block of scores that the rank meets, what must be computed filled in."""
    fig, axes = panels(list(partitions), size=size)
    facts = []
    for ax, (name, holds) in zip(axes, partitions.items(), strict=True):
        ranks = len(holds)
        work = np.zeros((ranks, ranks), dtype=int)
        cells(ax, [f"rank {rank}" for rank in range(ranks)], [f"step {step}" for step in range(ranks)])
        ax.xaxis.tick_top()
        ax.set_aspect("equal")
        for patch in list(ax.patches):
            patch.remove()
        for rank, step in np.ndindex(ranks, ranks):
            block = allowed_block(holds[rank], holds[(rank - step) % ranks])
            work[rank, step] = block.sum()
            draw_block(ax, block, (step, rank))
        whole = len(holds[0]) ** 2
        busiest = work.max(axis=0) / whole
        for step, share in enumerate(busiest):
            ax.text(step, ranks - 0.25, f"{share:.2f}", color=INK, fontsize=10, ha="center", va="center")
        ax.set_yticks([*range(ranks), ranks - 0.25], [*(f"rank {rank}" for rank in range(ranks)), "busiest"])
        ax.set_ylim(ranks, -0.55)
        ax.set_title(
            f"{name}: {busiest.sum():.2f} blocks of time", color=INK, fontsize=12, loc="left", pad=10
        )
        facts.append(
            f"{name}: the busiest rank has {', '.join(f'{share:.2f}' for share in busiest)} of a block in the "
            f"steps, {busiest.sum():.2f} in all"
        )
    tables = "Two tables" if len(partitions) == 2 else "A table"
    return show(
        fig,
        f"{tables} of ranks and steps. Each place shows the block of scores that the rank meets in that step; what "
        "a causal mask leaves of it is filled. Below each step stands the share of the busiest rank. "
        f"{'; '.join(facts)}.",
    )


def who_waits(partition: Callable[[int, int], Any]) -> Picture:
    """The work of four ranks with 48 rows: a piece each, and beside it as the learner's function deals them out."""
    shown = {"a piece each": np.split(np.arange(48), 4)}
    yours = partition(48, 4)
    if _deals_out(yours, shown["a piece each"]):
        shown["yours"] = yours
    return plot_work(shown, size=(9.4 if "yours" in shown else 4.7, 4.4))


def _deals_out(found: Any, whole: Partition) -> bool:
    """Whether a function's answer has every row once, and as many for each rank."""
    if not isinstance(found, tuple | list) or len(found) != len(whole):
        return False
    sizes = [np.shape(rows) for rows in found] == [rows.shape for rows in whole]
    return sizes and np.array_equal(np.sort(np.concatenate(found)), np.concatenate(whole))


def draw_block(ax: Axes, block: Bool[Array, "rows keys"], place: Pair) -> None:
    """A block of scores around a place: its outline, and what must be computed filled, a bar for each stretch."""
    x, y = place[0] - SIDE / 2, place[1] - SIDE / 2 - 0.04
    high, wide = SIDE / block.shape[0], SIDE / block.shape[1]
    bars = []
    for row, line in enumerate(block):
        edges = np.flatnonzero(np.diff(np.r_[False, line, False]))
        bars += [
            _box(x + wide * begin, y + high * row, wide * (end - begin), high)
            for begin, end in edges.reshape(-1, 2)
        ]
    if bars:
        ax.add_patch(PathPatch(Path.make_compound_path(*bars), facecolor=SHADE, linewidth=0))
    ax.add_patch(
        PathPatch(_box(x, y, SIDE, SIDE), fill=False, edgecolor=INK if block.any() else GRID, linewidth=0.9)
    )


def _box(x: float, y: float, width: float, height: float) -> Path:
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    return Path(corners, closed=True)


def plot_zigzag_in_short() -> Picture:
    """The work of four ranks in zigzag."""
    chunks = np.split(np.arange(24), 8)
    zigzag = [np.concatenate([chunks[rank], chunks[-1 - rank]]) for rank in range(4)]
    return plot_work({"zigzag": zigzag}, size=(4.2, 3.9))
