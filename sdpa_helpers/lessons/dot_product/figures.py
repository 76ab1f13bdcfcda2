"""Lesson 01, the dot product: its figures. They draw what `experiments` computes.

The notebook makes the input (four queries, five keys, five values) and hands it in: no number is hidden here.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle
from numpy import ndarray as Array

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.dot_product.experiments import (
    convex_hull,
    distance_outside,
    in_proportion,
    score_at,
    view_from,
)
from sdpa_helpers.show.figures import (
    FAINT,
    INK,
    KEY,
    LINES,
    OUTPUT,
    PAPER,
    QUERY,
    SHADE,
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
    plane,
    show,
    write,
)

_PAGES = (("making a tea", 0.62), ("roasting a coffee", 0.3), ("filing your taxes", 0.08))
"""What three pages are filed under, and how much attention takes of each. A sketch: nothing is measured."""


def plot_roles() -> Picture:
    """Query, keys and values in a search engine, and in attention."""
    fig, axes = panels(["A search engine: one page", "Attention: some of every value"], size=(8.4, 3.6))
    for ax, shares in zip(axes, ((1.0, 0.0, 0.0), [share for _, share in _PAGES]), strict=True):
        ax.set(xlim=(0, 10.8), ylim=(0, 6.4), xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        for name, x in {"query": 1.1, "keys": 4.25, "values": 6.95, "output": 9.6}.items():
            ax.text(x, 6.0, name, color=INK, fontsize=11, ha="center", weight="bold")
        _box(ax, (0.1, 2.2), (2.0, 1.2), QUERY, "hot drink")
        top = 2.8 + 0.55  # where the next band enters the output
        for row, ((page, _), share) in enumerate(zip(_PAGES, shares, strict=True)):
            y, height = 4.7 - 1.9 * row, 1.1 * share
            ax.plot([2.1, 2.9], [2.8, y], color=SHADE, linewidth=1.2)
            _box(
                ax, (2.9, y - 0.6), (2.7, 1.2), KEY, page.replace(" a ", " a\n").replace(" your ", " your\n")
            )
            _box(ax, (6.15, y - 0.6), (1.6, 1.2), VALUE, "its text")
            _band(ax, (5.6, y), (6.15, y), height)
            _band(ax, (7.75, y), (8.7, top - height / 2), height)
            top -= height
        _box(ax, (8.7, 2.2), (1.8, 1.2), OUTPUT, "one text" if shares[0] == 1 else "a blend")
    return show(
        fig,
        "Two sketches. In both, the query “hot drink” is compared with three keys: making a tea, roasting a coffee, "
        "filing your taxes. The search engine returns the text of the best match. Attention returns a blend of "
        "all three texts, most of the first and a little of the last.",
    )


def _box(ax: Axes, corner: tuple[float, float], size: tuple[float, float], colour: str, text: str) -> None:
    """A name in ink, in a frame that has the colour of its role."""
    (x, y), (width, height) = corner, size
    ax.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=colour, linewidth=2.2, zorder=3))
    ax.text(x + width / 2, y + height / 2, text, color=INK, fontsize=10, ha="center", va="center")


def _band(ax: Axes, start: tuple[float, float], end: tuple[float, float], height: float) -> None:
    """A weight: as thick as it is large."""
    corners = [
        (x, y + side * height / 2) for (x, y), sides in ((start, (1, -1)), (end, (-1, 1))) for side in sides
    ]
    ax.add_patch(Polygon(corners, facecolor=WEIGHT, linewidth=0))


def plot_products(
    q: Float[Array, "d_k"], k: Float[Array, "d_k"], features: Sequence[str], names: str
) -> Picture:
    """The terms of one dot product, and their sum."""
    products = q * k
    fig, ax = figure(f"{names}: one product per coordinate, then the sum", x="coordinate", y="product qᵢ·kᵢ")
    heights = [*products, products.sum()]
    bars(ax, [*features, "sum = score"], heights)
    ax.patches[-1].set_facecolor(FAINT)
    terms = ", ".join(f"{name} {write(value, 2)}" for name, value in zip(features, products, strict=True))
    return show(
        fig, f"Bar chart for {names}. Products: {terms}. Their sum, the score, is {write(heights[-1], 2)}."
    )


def plot_view(
    Q: Float[Array, "n_q d_k"], K: Float[Array, "n_k d_k"], queries: Sequence[str], keys: Sequence[str]
) -> Picture:
    """The keys as two or more queries see them: along the query, and off it."""
    fig, axes = panels(
        [f"seen from “{name}”" for name in queries],
        x="distance along the query",
        y="distance off the query",
        size=(8.8, 3.9),
        sharey=True,
    )
    facts = []
    for ax, q, query in zip(axes, Q, queries, strict=True):
        places: dict[tuple[float, float], list[str]] = {}
        for place, name in zip(view_from(q, K).round(9), keys, strict=True):
            places.setdefault((float(place[0]), float(place[1])), []).append(name)
        for (along, off), names in places.items():
            label = ", ".join(names)
            if along == off == 0:
                ax.plot(0, 0, "o", color=KEY, markersize=7, zorder=4)
                ax.annotate(
                    label, (0, 0), (-7, -4), textcoords="offset points", color=INK, fontsize=10.5, ha="right"
                )
            else:
                arrow(ax, (along, off), label, colour=KEY)
                ax.plot([along, along], [0, off], ":", color=FAINT, linewidth=1.2)
            facts.append(f"from {query}: {label} {write(along, 2)} along and {write(off, 2)} off")
        arrow(ax, (float(np.linalg.norm(q)), 0.0), "query", colour=QUERY, shift=(4, -13))
        ax.axvspan(-20, 0, color=SHADE, alpha=0.25, linewidth=0, zorder=0)
        ax.set(xlim=(-2.2, 3.0), ylim=(-0.55, 3.3))
        ax.text(-2.1, -0.42, "score below 0", color=FAINT, fontsize=10)
        ax.set_aspect("equal")
        ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    return show(fig, "Keys as arrows in the plane of query and key; " + "; ".join(facts) + ".")


def plot_angle_curve(lengths: Sequence[float], marks: Sequence[tuple[float, float]]) -> Picture:
    """Score against angle: a query of length 1, keys of given lengths; `marks` are (angle, key length)."""
    fig, ax = figure(
        "The score depends on the angle and on the lengths",
        x="angle between query and key (degrees)",
        y="score q·k",
        size=(7.2, 3.8),
    )
    degrees = np.linspace(0, 180, 361)
    for length, (colour, dash) in zip(lengths, LINES, strict=False):
        scores = score_at(degrees, 1.0, length)
        ax.plot(degrees, scores, dash, color=colour, linewidth=2.2, label=f"key of length {length:g}")
    facts = []
    for angle, length in marks:
        score = float(score_at(angle, 1.0, length))
        ax.plot(angle, score, "o", color=INK, markersize=6)
        ax.annotate(
            f"{angle:g}°: {write(score, 2)}",
            (angle, score),
            (-8 if angle > 150 else 8, 7),
            textcoords="offset points",
            color=INK,
            fontsize=10.5,
            ha="right" if angle > 150 else "left",
        )
        facts.append(f"a key of length {length:g} at {angle:g} degrees scores {write(score, 2)}")
    ax.axhline(0, color=FAINT, linewidth=0.8)
    ax.set(xticks=range(0, 181, 30), xlim=(0, 180))
    name_lines(ax)
    return show(
        fig,
        "Cosine curves of score against angle, positive below 90 degrees and negative above; "
        + ", ".join(facts)
        + ".",
    )


def plot_dot_and_cosine(
    dots: Float[Array, "n_k"], cosines: Float[Array, "n_k"], keys: Sequence[str]
) -> Picture:
    """Two rankings of the same keys."""
    fig, ax = figure("The same keys, ranked by two measures", x="key", y="value", size=(7.2, 3.6))
    bars(ax, keys, {"dot product": dots, "cosine": cosines})
    first = f"By dot product {keys[int(dots.argmax())]} comes first with {write(float(dots.max()), 2)}"
    return show(
        fig, f"{first}; by cosine {keys[int(cosines.argmax())]} with {write(float(cosines.max()), 2)}."
    )


def plot_matrix(
    matrix: Float[Array, "n_q n_k"], rows: Sequence[str], columns: Sequence[str], title: str
) -> Picture:
    """Scores or weights: one row per query, one column per key."""
    fig, ax = figure(title, x="key", y="query", size=(6.4, 3.2))
    rows_are_weights = (matrix >= 0).all() and np.allclose(matrix.sum(axis=-1), 1)
    heat_map(ax, matrix, rows, columns, colour=WEIGHT if rows_are_weights else INK)
    facts = "; ".join(
        f"{row}: " + ", ".join(f"{key} {write(v, 2)}" for key, v in zip(columns, line, strict=True))
        for row, line in zip(rows, matrix, strict=True)
    )
    return show(fig, f"Heat map, {title}. {facts}.")


def plot_rules(scores: Float[Array, "n_k"], keys: Sequence[str], query: str) -> Picture:
    """Three ways to turn scores into weights."""
    hard = np.zeros_like(scores)
    hard[scores.argmax()] = 1.0
    rules = {"argmax": hard, "in proportion (wrong)": in_proportion(scores), "softmax": softmax(scores)}
    fig, ax = figure(
        f"Three rules for “{query}”: only one is attention", x="key", y="weight", size=(8.0, 3.8)
    )
    labels = [f"{key}\nscore {write(score, 1)}" for key, score in zip(keys, scores, strict=True)]
    bars(ax, labels, rules, colours=(SHADE, PAPER, WEIGHT))
    facts = "; ".join(f"{name}: " + ", ".join(write(v, 2) for v in rule) for name, rule in rules.items())
    return show(fig, f"Weights of the keys {', '.join(keys)} under three rules. {facts}.")


def plot_hull(
    V: Float[Array, "n_k 2"],
    outputs: Float[Array, "n 2"],
    cloud: Float[Array, "m 2"],
    words: Sequence[str],
    queries: Sequence[str],
) -> Picture:
    """Values, the region they span, and where outputs land."""
    fig, ax = figure(
        "Every output lies in the region that the values span",
        x="value, coordinate 0",
        y="value, coordinate 1",
        size=(7.2, 4.6),
    )
    corners = convex_hull(V)
    ax.fill(*corners.T, color=VALUE, alpha=0.10, zorder=1)
    ax.plot(*np.vstack([corners, corners[:1]]).T, color=VALUE, linewidth=1.2, zorder=1)
    ax.plot(
        *cloud.T, ".", color=OUTPUT, markersize=4, alpha=0.5, zorder=2, label=f"{len(cloud)} random queries"
    )
    ax.plot(*V.T, "s", color=VALUE, markersize=9, zorder=3, label="values")
    ax.plot(*outputs.T, "o", color=OUTPUT, markersize=8, zorder=4, label="our four outputs")
    for place, word in zip(V, words, strict=True):
        ax.annotate(
            word, tuple(place), (9, 5), textcoords="offset points", color=INK, fontsize=11, weight="bold"
        )
    for place, query in zip(outputs, queries, strict=True):
        ax.annotate(f"“{query}”", tuple(place), (8, -12), textcoords="offset points", color=INK, fontsize=10)
    plane(ax)
    legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    outside = int((distance_outside(corners, cloud) > 1e-9).sum())
    return show(
        fig,
        f"Scatter plot: five values span a region with {len(corners)} corners; the outputs of {len(outputs)} "
        f"named queries and of {len(cloud)} random queries lie in it, {outside} outside.",
    )


def plot_turn(
    share: Float[Array, "steps"],
    hard: Float[Array, "steps"],
    soft: Float[Array, "steps"],
    start: str,
    end: str,
) -> Picture:
    """One coordinate of a hard and a soft lookup while the query moves."""
    fig, ax = figure(
        "While the query moves, the hard lookup jumps",
        x=f"share of the way from “{start}” to “{end}”",
        y="output, coordinate 1",
        size=(7.2, 3.6),
    )
    jump = int(np.abs(np.diff(hard)).argmax())
    for piece in (slice(None, jump + 1), slice(jump + 1, None)):
        name = "argmax" if piece.start is not None else None
        ax.plot(share[piece], hard[piece], "--", color=OUTPUT, linewidth=2.2, label=name)
    ax.plot(share, soft, color=OUTPUT, linewidth=2.2, label="softmax")
    ax.set_xlim(0, 1)
    name_lines(ax)
    before, after, first, last = (write(v, 2) for v in (hard[jump], hard[jump + 1], soft[0], soft[-1]))
    return show(
        fig,
        f"Line chart: the argmax lookup jumps from {before} to {after} at share "
        f"{write(share[jump + 1], 2)}; the softmax lookup moves smoothly from {first} to {last}.",
    )


def plot_overtaking_in_short() -> Picture:
    """A key that points along the query, and a longer one that is 60° off and beats it."""
    fig, ax = figure("A longer key overtakes: 1.5 beats 1", x="score, along the query", size=(4.2, 3.4))
    for name, (along, off), shift in (("A", (1.0, 0.0), (-8, 8)), ("B", (1.5, 1.5 * 3**0.5), (-46, -4))):
        ax.plot([along, along], [-0.45, off], ":", color=FAINT, linewidth=1.4)
        ax.plot(along, -0.45, "o", color=INK, markersize=6, clip_on=False)
        arrow(ax, (along, off), f"key {name}", colour=KEY, shift=shift)
    ax.plot([0, 1], [0, 0], color=QUERY, linewidth=7, alpha=0.35, solid_capstyle="butt", zorder=0)
    ax.annotate("query", (0.1, 0), (0, -15), textcoords="offset points", color=INK, fontsize=10.5)
    ax.set(xlim=(-0.1, 3.1), ylim=(-0.45, 2.8), xticks=[0, 0.5, 1, 1.5, 2], yticks=[])
    ax.spines["left"].set_visible(False)
    ax.set_aspect("equal")
    return show(
        fig,
        "Arrows from one point: a query of length 1; key A of length 1 in the same direction, which scores 1; key B "
        "of length 3, 60° off, which reaches 1.5 along the query and scores 1.5.",
    )
