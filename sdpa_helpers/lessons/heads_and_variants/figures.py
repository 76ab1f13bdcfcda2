"""Lesson 08, heads and variants: its figures. They draw what the page and `experiments` compute."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy import ndarray as Array

from sdpa_helpers.lessons.heads_and_variants.experiments import Recall, rotated
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
    fullest,
    name_lines,
    panels,
    show,
    write,
)

_LETTERS = "abcdefghijkl"
_LOOKS = ((INK, "-", "o"), (INK, "--", "s"), (SKY, "-", "^"), (FAINT, ":", "v"))
"""Colour, dash and shape of a memory, in the order they are given."""


def plot_heads(x: Float[Array, "n width"], right: Float[Array, "n d"], wrong: Float[Array, "n d"]) -> Picture:
    """The tokens, and head 0 cut in two ways. `x` counts its numbers from 0, token by token."""
    n, width = x.shape
    titles = [f"{n} tokens of width {width}", "head 0, solid frame", "reshape alone, dashed"]
    fig, axes = panels(titles, size=(9.2, 3.3), width_ratios=[width, 3.6, 3.6])
    for ax, matrix in zip(axes, (x, right, wrong), strict=True):
        cells(ax, [f"row {i + 1}" for i in range(n)], [""] * matrix.shape[1])
        for (i, j), number in np.ndenumerate(matrix):
            token, letter = divmod(int(number), width)
            cell(ax, i, j, INK, 0.12 + 0.15 * (token % 6))
            ax.text(j, i, f"{token + 1}{_LETTERS[letter]}", color=INK, fontsize=11, ha="center", va="center")
    frame = {"fill": False, "edgecolor": INK, "linewidth": 1.8}
    axes[0].add_patch(Rectangle((-0.48, -0.48), right.shape[1] - 0.04, n - 0.04, **frame))
    axes[0].add_patch(Rectangle((-0.43, -0.43), width - 0.14, n // 2 - 0.14, linestyle="--", **frame))
    rows = (", ".join(sorted({str(int(number) // width + 1) for number in row})) for row in wrong)
    return show(
        fig,
        f"Three tables. The first has {n} tokens as rows, the coordinates a to {_LETTERS[width - 1]} as columns. "
        f"A solid frame shows what belongs to head 0, a dashed one what it gets from reshape alone. "
        f"The second, head 0 with the axes moved, has coordinates a to {_LETTERS[right.shape[1] - 1]} of all {n} "
        f"tokens, one token in each row. The third, reshaped only, has in its rows the tokens {', '.join(rows)}.",
    )


def plot_weights(variants: Mapping[str, Float[Array, "n n"]], rules: Mapping[str, str]) -> Picture:
    """A small picture of each variant's weights, its rule below: a row for each query, the darker the larger."""
    fig, axes = panels(list(variants), size=(10.4, 2.3))
    facts = []
    for ax, (name, weights) in zip(axes, variants.items(), strict=True):
        _squares(ax, weights)
        ax.set_xlabel(rules[name], color=INK, fontsize=10.5)
        sums = weights.sum(axis=-1)
        seen = int((weights > 1e-9).sum())
        told = f"{name}, {rules[name]}: {seen} of {weights.size} weights above 0"
        facts.append(
            told if np.allclose(sums, 1) else f"{told}, rows sum to {write(sums.mean(), 2)} on average"
        )
    return show(
        fig,
        f"Small pictures of the weights of {len(next(iter(variants.values())))} queries, one picture for each variant. "
        + "; ".join(facts)
        + ".",
    )


def _squares(ax: Axes, weights: Float[Array, "n m"], steps: int = 12) -> None:
    """Cells filled by weight, 1 the darkest, in a few shades: one path for each keeps the picture small."""
    n, m = weights.shape
    ax.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), aspect="equal", xticks=[], yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set_visible(True)
    ax.spines[:].set_color(GRID)
    shades = np.ceil(np.sqrt(weights) * steps).astype(int)
    for shade in range(1, steps + 1):
        squares = [_square(i, j) for i, j in np.argwhere((shades == shade) & (weights > 1e-9))]
        if squares:
            share = shade / steps * fullest(WEIGHT)
            ax.add_patch(PathPatch(Path.make_compound_path(*squares), facecolor=(WEIGHT, share), linewidth=0))


def _square(i: int, j: int) -> Path:
    left, right, top, bottom = j - 0.46, j + 0.46, i - 0.46, i + 0.46
    return Path([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], closed=True)


def plot_recall(once: Recall, again: Recall) -> Picture:
    """The share of pairs read back, against their number: each key once, for each width, and each key written again."""
    drawn = [(f"each key once, width {width}", curves) for width, curves in once.by_width.items()]
    drawn += [(f"each key rewritten, width {width}", curves) for width, curves in again.by_width.items()]
    fig, axes = panels(
        [title for title, _ in drawn],
        x="pairs stored (logarithmic axis)",
        y="",
        size=(10.6, 3.6),
        sharey=True,
    )
    facts = []
    for ax, (title, curves) in zip(axes, drawn, strict=True):
        ax.set_xscale("log", base=2)
        for (name, line), (colour, dash, shape) in zip(curves.items(), _LOOKS, strict=False):
            values, low, high = np.array(line).T
            ax.fill_between(once.pairs, low, high, color=colour, alpha=0.2, linewidth=0)
            ax.plot(once.pairs, values, color=colour, linestyle=dash, marker=shape, markersize=5, label=name)
        ax.set_xticks(once.pairs, [str(n) for n in once.pairs])
        ax.set_xticks([], minor=True)
        ax.set_ylim(-0.03, 1.06)
        at = f"with {once.pairs[-1]} pairs " + ", ".join(
            f"{name} {write(line[-1].value, 2)}" for name, line in curves.items()
        )
        facts.append(f"{title}: {at}")
    axes[0].set_ylabel("share read back", color=INK, fontsize=10.5)
    name_lines(axes[-1])
    return show(
        fig,
        "Line charts: the share of stored pairs that is read back, against the number of pairs. "
        + "; ".join(facts)
        + ". Bands are 95% bootstrap intervals over 20 draws.",
    )


def plot_rope_in_short(distances: Sequence[int] = tuple(range(0, 33))) -> Picture:
    """For the cheat card: the score of one pair of vectors against their distance, at three places in a text."""
    rng = np.random.default_rng(8)
    q = k = rng.standard_normal(8)
    fig, ax = figure("RoPE: one curve for every place", x="key − query", y="score", size=(4.4, 2.3))
    spread = np.asarray(distances)
    found = [
        rotated(np.tile(k, (len(spread), 1)), place + spread, 100.0)
        @ rotated(q[None], np.array([place]), 100.0)[0]
        for place in (0, 7, 100)
    ]
    ax.plot(spread, found[0], color=INK, linewidth=2)
    ax.axhline(0, color=FAINT, linewidth=0.8)
    apart = float(np.ptp(found, axis=0).max())
    return show(
        fig,
        f"The score of one query and one key with RoPE against their distance, from {write(found[0][0], 1)} at 0 to "
        f"{write(found[0][-1], 1)} at {spread[-1]}. Queries at the places 0, 7 and 100 give the same curve: they "
        f"differ by {write(apart, 2)}.",
    )
