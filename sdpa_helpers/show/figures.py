"""The look of every figure of the course, and how a figure reaches the reader.

    fig, ax = figure("Score of each key", x="key", y="score")
    bars(ax, ["the", "cat"], [0.0, 1.0])
    return show(fig, "Bar chart: the key cat scores 1, the key the scores 0.")

Figures are plain `matplotlib.figure.Figure` objects: no pyplot, so no global state and none is shown twice.
`show` makes them pictures that follow the page's theme: SVG in the page's ink (`page_svg`), and beside it an image for
viewers that take SVG out of a page (GitHub, a notebook that is not trusted) and for PDF.

Words and numbers are in ink. A colour says a role, and nothing else: what has no role is ink or grey, and a second
series is told by its dash or its shape first.
"""

import base64
import html
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from numpy.typing import ArrayLike
from PIL import Image

from sdpa_helpers.show import figure_numbers
from sdpa_helpers.show.page_svg import Paint, page_svg
from sdpa_helpers.show.symbols import with_symbols

Pair = tuple[float, float]

# Okabe and Ito's palette: its colours stay apart for every common kind of colour blindness.
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

# One role, one colour, in all lessons, panels, formulas and cards.
QUERY, KEY, VALUE, WEIGHT, OUTPUT = BLUE, ORANGE, GREEN, PURPLE, VERMILION

# Ink in four strengths: words and lines; lines that help; areas without a role; grids. And the paper.
INK, FAINT, SHADE, GRID, PAPER = "#1F2933", "#5B6770", "#9CA3A9", "#DDE3E8", "#FFFFFF"
PAINTS: Mapping[str, Paint | None] = {
    INK.lower(): Paint("currentColor", 1.0),
    "#000000": Paint("currentColor", 1.0),  # what matplotlib takes when it is not told
    FAINT.lower(): Paint("currentColor", 0.72),
    SHADE.lower(): Paint("currentColor", 0.45),
    GRID.lower(): Paint("currentColor", 0.15),
    PAPER.lower(): None,
}
"""What stands for them in a page: its own ink, in these shares, and for paper nothing."""

THEMES = (("#212121", "#FFFFFF"), ("#FFFFFF", "#212121"))
"""Ink and paper of JupyterLab, light and dark."""

SERIES = (SHADE, SKY, INK, YELLOW)
"""Bars without a role, in this order."""

LINES = ((INK, "-"), (SKY, "--"), (FAINT, "-."), (SKY, ":"))
"""Colour and dash of lines without a role, in this order."""

PIXELS_PER_INCH = 100  # on the page
LEAST = 0.56  # of its width: where a screen is narrower still, a figure can be pushed to the side instead

_STYLE = (
    "<style>.sdpa-figure{color:var(--jp-content-font-color1,var(--vscode-foreground,var(--pst-color-text-base,"
    "light-dark(#1f2933,#e8ecef))))}.sdpa-figure>div:has(svg){display:block!important}"
    ".sdpa-figure:has(svg)>img{display:none}.sdpa-figure>div{overflow-x:auto}"
    ".sdpa-figure svg{display:block;max-width:100%;min-width:var(--least);height:auto;"
    "font-family:var(--jp-content-font-family,system-ui,sans-serif);font-variant-numeric:tabular-nums}"
    ".sdpa-figure>details{font-size:13px;margin:2px 0 8px;border:0;box-shadow:none;background:none}"
    ".sdpa-figure summary{cursor:pointer;min-height:24px;width:max-content;padding:2px 4px;opacity:.8}"
    ".sdpa-figure details>div{overflow-x:auto}.sdpa-figure table{margin:4px 0 12px;border-collapse:collapse;width:auto}"
    ".sdpa-figure caption{text-align:left;padding:4px 8px;font-weight:600;white-space:nowrap;caption-side:top;"
    "color:inherit}"
    ".sdpa-figure :is(td,th){padding:2px 8px;text-align:right}@media print{.sdpa-figure>details{display:none}}</style>"
)


def figure(title: str, *, x: str = "", y: str = "", size: Pair = (6.4, 3.6)) -> tuple[Figure, Axes]:
    """A figure with one pair of axes. `size` is in inches, 100 pixels each on the page."""
    fig, (ax,) = panels([title], x=x, y=y, size=size)
    return fig, ax


def panels(
    titles: Sequence[str], *, x: str = "", y: str = "", size: Pair = (8.4, 3.6), **subplots: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with one pair of axes per title, side by side. `subplots` goes to `Figure.subplots`."""
    fig = Figure(figsize=size, facecolor=PAPER, layout="constrained", dpi=PIXELS_PER_INCH)
    fig.get_layout_engine().set(w_pad=0.06, h_pad=0.06)  # type: ignore[union-attr]
    axes = list(fig.subplots(1, len(titles), squeeze=False, **subplots)[0])
    for ax, title in zip(axes, titles, strict=True):
        ax.set_facecolor("none")
        ax.set_title(title, color=INK, fontsize=12, loc="left", pad=10)
        ax.set_xlabel(x, color=INK, fontsize=10.5)
        ax.set_ylabel(y, color=INK, fontsize=10.5)
        ax.tick_params(which="both", color=FAINT, labelcolor=INK, labelsize=10, length=3)
        ax.tick_params(which="minor", length=2)
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
        """The figure on white paper, for viewers without SVG and for print."""
        self._lay_out()
        raw, small = io.BytesIO(), io.BytesIO()
        self.figure.savefig(raw, format="png", dpi=1.5 * PIXELS_PER_INCH, pil_kwargs={"compress_level": 0})
        # Few colours are in use: a palette makes the file three times smaller and looks the same.
        flat = (
            Image.open(raw).convert("RGB").quantize(32, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        )
        flat.save(small, "png", optimize=True)
        return small.getvalue()

    def svg(self) -> str:
        """The figure as an SVG element in the page's ink, with its words as its name."""
        self._lay_out()
        return page_svg(self.figure, PAINTS, self.alt)

    def _lay_out(self) -> None:
        """Find places for everything, once: matplotlib would do it again for each format."""
        engine = self.figure.get_layout_engine()
        if engine is not None:
            for text in self.figure.findobj(Text):
                text.set_text(with_symbols(text.get_text()))
            engine.execute(self.figure)
            self.figure.set_layout_engine(None)

    @cached_property
    def _image(self) -> str:
        return base64.b64encode(self.png()).decode()

    def _repr_html_(self) -> str:
        return self.html(figure_numbers.as_html(figure_numbers.tables_of(self.figure)))

    def html(self, below: str = "") -> str:
        """The SVG, hidden until a style that goes away together with it says otherwise, and an image in its place.

        JupyterLab takes SVG and style out of what it does not trust, and leaves their words, and `hidden` if it has
        a value. `below` is HTML that belongs to the figure: its numbers as text.
        """
        width = round(self.figure.get_figwidth() * PIXELS_PER_INCH)
        return (
            f'<div class="sdpa-figure" style="--least:{round(LEAST * width)}px">{_STYLE}'
            f'<div hidden="hidden">{self.svg()}</div>'
            f'<img alt="{html.escape(self.alt)}" width="{width}" style="max-width:100%;height:auto;border-radius:6px" '
            f'src="data:image/png;base64,{self._image}">{below}</div>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_(), "image/png": self._image}

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"


def show(fig: Figure, alt: str) -> Picture:
    """Make `fig` the result of a cell. `alt` says what a reader who cannot see it should know."""
    if not alt.strip():
        raise ValueError("alt text is required: say in a sentence or two what the figure shows.")
    return Picture(fig, " ".join(alt.split()))


def heat_map(
    ax: Axes,
    values: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    digits: int = 2,
    colour: str = INK,
    limit: float | None = None,
) -> None:
    """A matrix as coloured cells with its numbers in them: the larger, the more of `colour`, and zero is the paper.
    Negative entries are SKY; entries that are not finite (a masked score is −∞) are struck out. `limit` is the
    number that is coloured most, the largest if it is not given."""
    matrix = np.asarray(values, dtype=float)
    finite = matrix[np.isfinite(matrix)]
    limit = limit or float(np.abs(finite).max(initial=0.0)) or 1.0
    cells(ax, rows, columns)
    for (i, j), number in np.ndenumerate(matrix):
        if np.isfinite(number):
            cell(ax, i, j, colour if number > 0 else SKY, min(1.0, abs(number) / limit))
        else:
            ax.plot([j - 0.42, j + 0.42], [i + 0.42, i - 0.42], color=GRID, linewidth=1)
        ax.text(j, i, write(number, digits), color=INK, fontsize=11, ha="center", va="center")
    figure_numbers.record(ax, rows, columns, [[write(x, digits) for x in row] for row in matrix])


def cells(ax: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Axes for a table of cells: an outline for each, names at the sides, the first row on top."""
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.grid(visible=False)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    outlines = [_square(i, j) for i in range(len(rows)) for j in range(len(columns))]
    whole = Path.make_compound_path(*outlines)
    ax.add_patch(PathPatch(whole, fill=False, edgecolor=GRID, linewidth=0.8, zorder=1.5))


def cell(ax: Axes, i: int, j: int, colour: str, share: float = 1.0) -> None:
    """Fill the cell in row i and column j with a share of the most of a colour that ink can be read on."""
    alpha = share * fullest(colour)
    if alpha >= 0.005:
        ax.add_patch(PathPatch(_square(i, j), facecolor=(colour, alpha), linewidth=0))


def _square(i: int, j: int) -> Path:
    left, right, top, bottom = j - 0.47, j + 0.47, i - 0.47, i + 0.47
    return Path([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], closed=True)


def bars(
    ax: Axes,
    names: Sequence[str],
    series: ArrayLike | Mapping[str, ArrayLike],
    *,
    colours: Sequence[Any] = SERIES,
    digits: int = 2,
) -> None:
    """Bars with their numbers on top; several named series stand side by side, with a legend."""
    named = series if isinstance(series, Mapping) else {"": series}
    width, told = 0.8 / len(named), []
    for i, (label, given) in enumerate(named.items()):
        heights = np.asarray(given, dtype=float)
        places = np.arange(len(names)) + (i - (len(named) - 1) / 2) * width
        look = {"color": colours[i], "edgecolor": INK, "linewidth": 0.7}
        drawn = ax.bar(places, heights, 0.9 * width, label=label, **look)
        texts = [write(height, digits) for height in heights]
        ax.bar_label(drawn, texts, color=INK, fontsize=10, padding=2)
        told.append(texts)
    figure_numbers.record(ax, names, list(named), zip(*told, strict=True))
    ax.set_xticks(range(len(names)), names)
    ax.tick_params(axis="x", length=0)
    ax.grid(visible=False)  # each bar has its number
    ax.axhline(0, color=INK, linewidth=0.8)
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
    """The names of bars or points, in ink and without a frame. Lines have theirs at their ends: `name_lines`."""
    ax.legend(frameon=False, labelcolor=INK, fontsize=10, **where)


def name_lines(ax: Axes, gap: float = 15) -> None:
    """Write each line's label at its right end, `gap` points apart where ends meet. Call it when the limits are set."""
    whole = ax.figure.figure  # a browser's matplotlib, 3.8, has no get_figure(root=True)
    height = 72 * 0.7 * float(whole.get_figheight())  # points, about
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    low, high = ax.transScale.transform([(1, y) for y in ax.get_ylim()])[:, 1]
    ends = [np.asarray(line.get_xydata())[np.isfinite(line.get_ydata())][-1] for line in lines]
    places = [height * (ax.transScale.transform((1, y))[1] - low) / (high - low) for _, y in ends]
    free = spread(places, gap)
    crowded = max(abs(now - then) for now, then in zip(free, places, strict=True)) > 4
    for line, end, place, now in zip(lines, ends, places, free, strict=True):
        # Where ends meet, a piece of the line itself leads to its name.
        lead = {
            "arrowstyle": "-",
            "color": line.get_color(),
            "linestyle": line.get_linestyle(),
            "linewidth": 1.6,
        }
        ax.annotate(
            str(line.get_label()), tuple(end), (30 if crowded else 7, now - place), textcoords="offset points",
            color=INK, fontsize=10, va="center", annotation_clip=False,
            arrowprops=lead | {"shrinkA": 1, "shrinkB": 3} if crowded else None,
        )  # fmt: skip


def spread(places: Sequence[float], gap: float) -> list[float]:
    """The same places, moved as little as needed to be `gap` apart."""
    order = np.argsort(places, kind="stable")
    free = np.asarray(places, dtype=float)[order]
    for _ in range(60):
        short = gap - np.diff(free)
        if (short <= 1e-6).all():
            break
        push = np.maximum(short, 0) / 2
        free[:-1] -= push
        free[1:] += push
    found = np.empty_like(free)
    found[order] = free
    return found.tolist()


@lru_cache(maxsize=16)
def fullest(colour: str) -> float:
    """How far an area may be filled with a colour so that the page's ink can be read on it: contrast 4.5, WCAG's AA,
    in both of JupyterLab's themes."""
    shares = [round(share, 2) for share in np.arange(0.85, 0.05, -0.05)]
    return next(share for share in shares if all(_is_readable(colour, share, *theme) for theme in THEMES))


def _is_readable(colour: str, share: float, ink: Any, paper: Any) -> bool:
    fill = np.asarray(to_rgb(ink if colour == INK else colour))
    return contrast(ink, share * fill + (1 - share) * np.asarray(to_rgb(paper))) >= 4.5


def contrast(one: Any, other: Any) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Any) -> float:
    channels = np.asarray(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def write(number: float, digits: int) -> str:
    """A number as a figure shows it: a real minus sign, ∞ for infinity, no −0.00."""
    if np.isinf(number):
        return "∞" if number > 0 else "−∞"
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")
