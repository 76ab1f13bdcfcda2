"""A few strokes of SVG, for pictures that are drawn again at every move of a slider.

A figure of matplotlib takes half a second, these take a millisecond. Lines and letters have the colour of the text
around them (`currentColor`), so they can be read on light and on dark paper; bars get an outline of it.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from sdpa_helpers.show.figures import PAINTS, write
from sdpa_helpers.show.panels import Drawing
from sdpa_helpers.show.symbols import marked_up

Point = tuple[float, float]
Ends = tuple[float, float]


class Scale:
    """From numbers of the data to places in the picture; beyond the ends means at the end."""

    def __init__(self, data: Ends, picture: Ends, *, log: bool = False) -> None:
        self.data, self.picture, self.log = data, picture, log

    def __call__(self, x: float) -> float:
        (low, high), (start, end) = self.data, self.picture
        if self.log:
            low, high, x = np.log(low), np.log(high), np.log(x) if x > 0 else -np.inf
        share = np.clip((x - low) / (high - low), 0.0, 1.0) if np.isfinite(x) else float(x > 0)
        return float(start + share * (end - start))


class Canvas:
    """Collects strokes; `finish` makes the picture."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height, self.parts = width, height, []

    def _add(self, tag: str, content: str = "", **attributes: object) -> None:
        told = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{_short(value)}"'
            for name, value in _in_the_pages_ink(attributes).items()
            if value is not None
        )
        self.parts.append(f"<{tag}{told}>{content}</{tag}>" if content else f"<{tag}{told}/>")

    def line(
        self,
        start: Point,
        end: Point,
        colour: str = "currentColor",
        width: float = 1.0,
        dash: str | None = None,
        opacity: float | None = None,
    ) -> None:
        """A straight line."""
        (x1, y1), (x2, y2) = start, end
        self._add(
            "line",
            x1=x1,
            y1=y1,
            x2=x2,
            y2=y2,
            stroke=colour,
            stroke_width=width,
            stroke_dasharray=dash,
            opacity=opacity,
        )

    def curve(
        self, points: Iterable[Point], colour: str, width: float = 2.0, dash: str | None = None
    ) -> None:
        """A line through points."""
        told = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._add(
            "polyline",
            points=told,
            fill="none",
            stroke=colour,
            stroke_width=width,
            stroke_dasharray=dash,
            stroke_linejoin="round",
        )

    def box(
        self,
        corner: Point,
        width: float,
        height: float,
        fill: str,
        outline: bool = True,
        opacity: float | None = None,
    ) -> None:
        """A rectangle; negative sizes go to the left and up."""
        x, y = corner
        self._add(
            "rect", x=min(x, x + width), y=min(y, y + height), width=abs(width), height=abs(height), fill=fill,
            stroke="currentColor" if outline else None, stroke_width=0.8 if outline else None, fill_opacity=opacity,
        )  # fmt: skip

    def dot(self, place: Point, radius: float, fill: str) -> None:
        """A disc with an outline."""
        self._add(
            "circle", cx=place[0], cy=place[1], r=radius, fill=fill, stroke="currentColor", stroke_width=1
        )

    def arrow(self, start: Point, end: Point, colour: str, width: float = 3.0) -> None:
        """A line with a head; too short for a head, it is a dot."""
        direction = np.subtract(end, start)
        length = float(np.hypot(*direction))
        if length < 3:
            return self.dot(end, 4, colour)
        head = min(11.0, 0.7 * length)
        unit = direction / length
        neck, side = np.subtract(end, head * unit), 0.45 * head * np.array([-unit[1], unit[0]])
        self.line(start, (float(neck[0]), float(neck[1])), colour, width)
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (end, neck + side, neck - side))
        return self._add("polygon", points=corners, fill=colour)

    def text(
        self,
        place: Point,
        content: str,
        *,
        anchor: str = "start",
        size: float = 14,
        bold: bool = False,
        name: str | None = None,
    ) -> None:
        """Words or a number; dₖ, QKᵀ and 10⁻³ get real sub- and superscripts. `name` marks a number that is to be
        found again (tests read it)."""
        self._add(
            "text", marked_up(content), x=place[0], y=place[1], text_anchor=None if anchor == "start" else anchor,
            font_size=None if size == 14 else size, font_weight=600 if bold else None, data_name=name,
        )  # fmt: skip

    def axis(
        self, scale: Scale, y: float, ticks: Sequence[float], label: str, shown: Sequence[str] | None = None
    ) -> None:
        """A horizontal axis with ticks, their numbers, and what it measures."""
        start, end = scale.picture
        self.line((start, y), (end, y))
        for tick, text in zip(ticks, shown or [plain(t) for t in ticks], strict=True):
            self.line((scale(tick), y), (scale(tick), y + 5))
            self.text((scale(tick), y + 18), text, anchor="middle", size=12)
        self.text(((start + end) / 2, y + 36), label, anchor="middle", size=13)

    def finish(self, title: str, text: str) -> Drawing:
        """The picture with its name and its words; both are in it for readers who cannot see it."""
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_short(self.width)} {_short(self.height)}" '
            'role="img" aria-labelledby="svg-title svg-text" fill="currentColor" '
            'font-family="system-ui, sans-serif" font-size="14">'
            f'<title id="svg-title">{escape(title)}</title><desc id="svg-text">{escape(text)}</desc>'
            f"{''.join(self.parts)}</svg>"
        )
        return Drawing(svg, text)


def ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers from low to high."""
    rough = (high - low) / about
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(float(power * m) for m in (1, 2, 2.5, 5, 10) if power * m >= 0.999 * rough)
    return [
        float(step * i) for i in range(int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9)) + 1)
    ]


def plain(x: float) -> str:
    """A number as short as it can be said in three digits: 0.25, 64, 2050, −3.1."""
    if not np.isfinite(x) or x == 0:
        return write(x, 0)
    digits = max(0, 2 - int(np.floor(np.log10(abs(x)))))
    text = write(x, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _in_the_pages_ink(attributes: dict[str, Any]) -> dict[str, Any]:
    """INK, FAINT, SHADE and GRID as the page has them; a role's colour stays as it is."""
    for name in ("fill", "stroke"):
        paint = PAINTS.get(str(attributes.get(name)).lower())
        if paint:
            attributes[name] = paint.colour
            if paint.opacity < 1:
                attributes[f"{name}_opacity"] = paint.opacity * (attributes.get(f"{name}_opacity") or 1.0)
    return attributes


def _short(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return escape(str(value))
