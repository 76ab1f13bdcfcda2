"""The look of every figure of the course, and how a figure reaches the reader.

    fig, ax = figure("Score of each key", x="key", y="score")
    bars(ax, ["the", "cat"], [0.0, 1.0])
    return show(fig, "Bar chart: the key cat scores 1, the key the scores 0.")

Figures are plain `matplotlib.figure.Figure` objects: no pyplot, so no global state and none is shown twice.
`show` makes them HTML images, the one form in which every viewer keeps the alt text.
"""

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from PIL import Image

Pair = tuple[float, float]

# Okabe and Ito's palette: its colours stay apart for every common kind of colour blindness.
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE, BLACK = "#0072B2", "#D55E00", "#CC79A7", "#000000"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, BLACK, YELLOW)

# One role, one colour, in all lessons.
QUERY, KEY, VALUE, OUTPUT = BLUE, ORANGE, GREEN, VERMILION

INK, FAINT, GRID, CARD = "#1F2933", "#5B6770", "#DDE3E8", "#FBFCFD"
SEQUENTIAL = LinearSegmentedColormap.from_list("sdpa-sequential", [CARD, SKY, BLUE, "#00304D"])
DIVERGING = LinearSegmentedColormap.from_list("sdpa-diverging", ["#7A3300", VERMILION, CARD, BLUE, "#00304D"])

PIXELS_PER_INCH = 100  # on the page; the image itself has twice as many


def figure(title: str, *, x: str = "", y: str = "", size: Pair = (6.4, 3.6)) -> tuple[Figure, Axes]:
    """A figure with one pair of axes. `size` is in inches, 100 pixels each on the page."""
    fig, (ax,) = panels([title], x=x, y=y, size=size)
    return fig, ax


def panels(
    titles: Sequence[str], *, x: str = "", y: str = "", size: Pair = (8.4, 3.6), **subplots: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with one pair of axes per title, side by side. `subplots` goes to `Figure.subplots`."""
    fig = Figure(figsize=size, facecolor=CARD, layout="constrained")
    fig.get_layout_engine().set(w_pad=0.12, h_pad=0.1)  # type: ignore[union-attr]
    axes = list(fig.subplots(1, len(titles), squeeze=False, **subplots)[0])
    for ax, title in zip(axes, titles, strict=True):
        ax.set_facecolor(CARD)
        ax.set_title(title, color=INK, fontsize=12, loc="left", pad=10)
        ax.set_xlabel(x, color=INK, fontsize=10.5)
        ax.set_ylabel(y, color=INK, fontsize=10.5)
        ax.tick_params(colors=FAINT, labelcolor=INK, labelsize=10, length=3)
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(FAINT)
        ax.grid(color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
    return fig, axes


@dataclass(frozen=True)
class Picture:
    """A figure together with what it says in words."""

    figure: Figure = field(repr=False)
    alt: str

    def png(self) -> bytes:
        raw, small = io.BytesIO(), io.BytesIO()
        self.figure.savefig(raw, format="png", dpi=2 * PIXELS_PER_INCH, metadata={"Software": None})
        # Few colours are in use: a palette of 128 makes the file three times smaller and looks the same.
        Image.open(raw).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
            small, "png", optimize=True
        )
        return small.getvalue()

    def _repr_html_(self) -> str:
        width = round(self.figure.get_figwidth() * PIXELS_PER_INCH)
        return (
            f'<img alt="{html.escape(self.alt)}" width="{width}" '
            'style="max-width:100%;height:auto;border-radius:8px" '
            f'src="data:image/png;base64,{base64.b64encode(self.png()).decode()}">'
        )

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"


def show(fig: Figure, alt: str) -> Picture:
    """Make `fig` the result of a cell. `alt` says what a reader who cannot see it should know."""
    if not alt.strip():
        raise ValueError("alt text is required: say in a sentence or two what the figure shows.")
    return Picture(fig, " ".join(alt.split()))


def heat_map(
    ax: Axes, values: ArrayLike, rows: Sequence[str], columns: Sequence[str], *, digits: int = 2
) -> None:
    """A matrix as coloured cells with its numbers in them. Negative entries make the scale two-sided; entries
    that are not finite (a masked score is −∞) stay grey."""
    matrix = np.asarray(values, dtype=float)
    finite = matrix[np.isfinite(matrix)]
    limit = float(np.abs(finite).max(initial=0.0)) or 1.0
    two_sided = bool((finite < 0).any())
    colours: Colormap = (DIVERGING if two_sided else SEQUENTIAL).with_extremes(bad=GRID)
    picture = ax.imshow(
        np.ma.masked_invalid(matrix),
        cmap=colours,
        vmin=-limit if two_sided else 0.0,
        vmax=limit,
        aspect="auto",
    )
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.grid(visible=False)
    ax.set_xticks(np.arange(len(columns) - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(len(rows) - 1) + 0.5, minor=True)
    ax.grid(which="minor", color=GRID, linewidth=1.2)
    ax.set_axisbelow(False)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    for (i, j), number in np.ndenumerate(matrix):
        ink = readable_on(picture.to_rgba(number)[:3]) if np.isfinite(number) else INK
        ax.text(j, i, write(number, digits), color=ink, fontsize=11, ha="center", va="center")


def bars(
    ax: Axes,
    names: Sequence[str],
    series: ArrayLike | Mapping[str, ArrayLike],
    *,
    colours: Sequence[str] = CYCLE,
    digits: int = 2,
) -> None:
    """Bars with their numbers on top; several named series stand side by side, with a legend."""
    named = series if isinstance(series, Mapping) else {"": series}
    width = 0.8 / len(named)
    for i, (label, heights) in enumerate(named.items()):
        places = np.arange(len(names)) + (i - (len(named) - 1) / 2) * width
        drawn = ax.bar(places, np.asarray(heights, dtype=float), 0.92 * width, color=colours[i], label=label)
        texts = [write(height, digits) for height in np.asarray(heights, dtype=float)]
        ax.bar_label(drawn, texts, color=INK, fontsize=9.5, padding=2)
    ax.set_xticks(range(len(names)), names)
    ax.grid(visible=False, axis="x")
    ax.axhline(0, color=FAINT, linewidth=0.8)
    ax.margins(y=0.14)
    if len(named) > 1:
        legend(ax)


def arrow(
    ax: Axes, tip: Pair, label: str = "", *, colour: str = INK, start: Pair = (0.0, 0.0), shift: Pair = (6, 6)
) -> None:
    """A vector in the plane, its name `shift` points away from the tip."""
    line = {"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", tip, start, arrowprops=line)
    ax.annotate(label, tip, shift, textcoords="offset points", color=INK, fontsize=10.5)
    ax.update_datalim([start, tip])
    ax.autoscale_view()


def plane(ax: Axes) -> None:
    """Equal units on both axes, and lines through zero: call it after the arrows."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)


def legend(ax: Axes, **where: Any) -> None:
    ax.legend(frameon=False, labelcolor=INK, fontsize=10, **where)


def readable_on(background: Any) -> str:
    """The ink, light or dark, that has more contrast on a colour (WCAG's relative luminance)."""

    def luminance(colour: Any) -> float:
        channels = np.asarray(to_rgb(colour))
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    light, dark, there = luminance(CARD) + 0.05, luminance(INK) + 0.05, luminance(background) + 0.05
    return INK if there / dark > light / there else CARD


def write(number: float, digits: int) -> str:
    """A number as a figure shows it: a real minus sign, ∞ for infinity, no −0.00."""
    if np.isinf(number):
        return "∞" if number > 0 else "−∞"
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")
