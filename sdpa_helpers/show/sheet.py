"""A sheet that is measured in the page's pixels: pictures that are placed by hand, in the look of all figures.

pen = Pen(600, 100)
pen.words(10, 20, "scores QKᵀ")
style.show(pen.figure, "…")
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon, Rectangle
from matplotlib.path import Path

from sdpa_helpers.show import figures as style
from sdpa_helpers.show.symbols import with_symbols


class Pen:
    """A sheet that is measured in the page's pixels from its upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        inches = (width / style.PIXELS_PER_INCH, height / style.PIXELS_PER_INCH)
        self.figure = Figure(figsize=inches, dpi=style.PIXELS_PER_INCH, facecolor=style.PAPER)
        self.ax = self.figure.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, width), ylim=(height, 0))
        self.ax.axis("off")

    def box(self, x: float, y: float, w: float, h: float, fill: str, alpha: float = 1.0) -> None:
        """A filled rectangle."""
        self.ax.add_patch(Rectangle((x, y), w, h, facecolor=fill, alpha=alpha, linewidth=0))

    def boxes(self, boxes: Sequence[tuple[float, float, float, float]], fill: str) -> None:
        """Filled rectangles (x, y, width, height) as one shape."""
        corners = [
            corner
            for x, y, w, h in boxes
            for corner in ((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y))
        ]
        codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(boxes)
        self.ax.add_patch(PathPatch(Path(corners, codes), fc=fill, lw=0))

    def outline(self, x: float, y: float, w: float, h: float) -> None:
        """A thin rectangle without a fill."""
        self.ax.add_patch(Rectangle((x, y), w, h, fc="none", ec=style.FAINT, lw=0.8))

    def frame(self, x: float, y: float, w: float, h: float, colour: str) -> None:
        """A rounded outline."""
        self.ax.add_patch(
            FancyBboxPatch((x + 7, y + 7), w - 14, h - 14, "round,pad=7", ec=colour, fc="none", lw=1)
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = style.GRID) -> None:
        """A thin line."""
        self.ax.plot([x1, x2], [y1, y2], color=colour, linewidth=0.9)

    def curve(self, x1: float, y1: float, x2: float, y2: float, colour: str) -> None:
        """From left to right, level at both ends."""
        half = (x1 + x2) / 2
        path = Path([(x1, y1), (half, y1), (half, y2), (x2, y2)], [Path.MOVETO, *[Path.CURVE4] * 3])
        self.ax.add_patch(PathPatch(path, ec=colour, fc="none", lw=1, alpha=0.5))

    def arrow(self, start: np.ndarray, tip: np.ndarray, colour: str, width: float, alpha: float = 1) -> None:
        """A line with a head, as `arrowPath` of the living picture."""
        length = float(np.hypot(*(tip - start)))
        if length < 0.5:
            return
        along = (tip - start) / length
        aside, head = np.array([-along[1], along[0]]), min(3.6 * width, 0.75 * length)
        half, neck = min(width / 2, head / 3), start + (length - head) * along
        right = [start + half * aside, neck + half * aside, neck + 0.5 * head * aside]
        left = [neck - 0.5 * head * aside, neck - half * aside, start - half * aside]
        self.ax.add_patch(Polygon([*right, tip, *left], fc=colour, lw=0, alpha=alpha))

    def hatch(self, x: float, y: float, w: float, h: float) -> None:
        """Slanted lines: what a mask hides."""
        for at in np.arange(7 - h, w, 7):
            low, high = max(at, 0), min(at + h, w)
            self.line(x + low, y + h - (low - at), x + high, y + h - (high - at))

    def words(self, x: float, y: float, text: str, size: float = 13, **how: Any) -> None:
        """Words that stand on y."""
        look: dict[str, Any] = {"color": style.INK, "ha": "left", "va": "baseline"} | how
        self.ax.text(x, y, with_symbols(text), fontsize=size * 72 / style.PIXELS_PER_INCH, **look)
