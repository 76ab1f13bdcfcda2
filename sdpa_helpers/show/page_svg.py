"""A figure of matplotlib as SVG in the page's own ink: it follows the theme, and its words are text.

matplotlib's own SVG backend writes fixed colours, ids that clash when a page holds two figures, and clip paths that
need these ids. This renderer draws the same artists in a few short elements without a single id. Ink is
`currentColor`, paper is nothing at all, lines that are fainter are the ink with an opacity; a role keeps its colour.
Lines and areas are cut to their axes here, so that nothing has to be clipped by the page.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, Bbox, Transform
from numpy import ndarray as Array
from numpy.typing import ArrayLike

from sdpa_helpers.show.symbols import marked_up, without_mathtext

CENTRED = "centred"
"""The mark (gid) of a text of several lines that are centred: a renderer is not told how lines are aligned."""

HOLLOW = ' fill="none"'
_LETTERS = {
    int(Path.MOVETO): ("M", 1),
    int(Path.LINETO): ("l", 1),
    int(Path.CURVE3): ("q", 2),
    int(Path.CURVE4): ("c", 3),
}
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}


class Paint(NamedTuple):
    """A colour as the page shows it, and its opacity."""

    colour: str
    opacity: float


def page_svg(figure: Figure, paints: Mapping[str, Paint | None], alt: str) -> str:
    """The SVG element. `paints` says what stands for a colour (`"#1f2933"`) in the page; None is not drawn.

    The figure has been laid out; a unit of the picture is a pixel of the page at the figure's own resolution.
    """
    renderer = PageRenderer(figure, paints)
    for text in figure.findobj(Text):
        if "\n" in text.get_text() and text.get_horizontalalignment() == "center":
            text.set_gid(CENTRED)
    figure.draw(renderer)
    width, height = (_short(x) for x in renderer.get_canvas_width_height())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(alt)}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" fill="currentColor" font-size="{_short(renderer.usual)}">'
        f"{renderer.drawn()}</svg>"
    )


class PageRenderer(RendererBase):
    """Collects elements. Neighbours that look the same become one path."""

    def __init__(self, figure: Figure, paints: Mapping[str, Paint | None]) -> None:
        super().__init__()
        self.width, self.height = (float(x) for x in figure.bbox.size)
        self.pixels_per_point = figure.dpi / 72
        self.usual = 10 * self.pixels_per_point  # the size of most texts: the others carry their own
        self.paints = paints
        self._up = Affine2D().scale(1, -1).translate(0, self.height)  # y grows downwards in a page
        self._parts: list[str] = []
        self._look, self._lines = "", []  # of the path that is being collected
        self._centred = False

    def drawn(self) -> str:
        """Everything drawn so far."""
        self._end_path()
        return "".join(self._parts)

    # What matplotlib asks for ----------------------------------------------------------------------------------

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self.width, self.height

    def points_to_pixels(self, points: Any) -> Any:
        return points * self.pixels_per_point

    def open_group(self, s: str, gid: str | None = None) -> None:
        self._centred = gid == CENTRED

    def draw_path(
        self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None
    ) -> None:
        fill, stroke = self._fill(gc, rgbFace), self._stroke(gc)
        if fill or stroke:
            shape = _cut(path, transform, gc.get_clip_rectangle(), filled=bool(fill))
            self._add(f"{fill or HOLLOW}{stroke}", _as_d(shape, self._up))

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,
    ) -> None:
        clip = gc.get_clip_rectangle()
        places = [points[-2:] for points, _ in path.iter_segments(trans, simplify=False)]
        fill, stroke = self._fill(gc, rgbFace), self._stroke(gc)
        one_colour = fill.replace(" fill", " stroke")
        radius = _radius(marker_path, marker_trans)
        if radius and fill and (not stroke or stroke.startswith(f"{one_colour} stroke-width")):
            # A line without length and with round ends is a disc, in a dozen letters.
            wide = 2 * radius + (self.points_to_pixels(gc.get_linewidth()) if stroke else 0)
            look = f'{HOLLOW}{one_colour} stroke-width="{_short(wide)}" stroke-linecap="round"'
            inside = [self._up.transform(place) for place in places if _holds(clip, place)]
            tenths = np.rint(10 * np.array(inside).reshape(-1, 2))
            moves = np.diff(tenths, axis=0, prepend=0)
            self._add(look, "".join(f"{'m' if i else 'M'}{_steps(move)}h0" for i, move in enumerate(moves)))
            return
        for place in places:
            # A marker at the edge is shown whole. (An area comes as a marker, too, when a figure has but one.)
            moved, edge = marker_trans + Affine2D().translate(*place), None if _holds(clip, place) else clip
            shape = _cut(marker_path, moved, edge, filled=bool(fill))
            self._add(f"{fill or HOLLOW}{stroke}", _as_d(shape, self._up))

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        paint = self._paint(gc.get_rgb()[:3], _alpha(gc))
        if paint is None:
            return
        self._end_path()
        words = without_mathtext(s) if ismath else s
        (x, y), anchor = self._anchor(x, y, words, prop, angle, mtext)
        size = self.points_to_pixels(prop.get_size_in_points())
        told = {
            "text-anchor": None if anchor == "start" else anchor,
            "font-size": None if abs(size - self.usual) < 0.01 else _short(size),
            "font-weight": 600 if prop.get_weight() in ("bold", "semibold", 600, 700) else None,
            "fill": None if paint.colour == "currentColor" else paint.colour,
            "opacity": None if paint.opacity == 1 else _short(paint.opacity, 2),
            "transform": f"rotate({_short(-angle)} {_short(x)} {_short(y)})" if angle else None,
        }
        look = "".join(f' {name}="{value}"' for name, value in told.items() if value is not None)
        self._parts.append(f'<text x="{_short(x)}" y="{_short(y)}"{look}>{marked_up(words)}</text>')

    def draw_image(
        self, gc: GraphicsContextBase, x: float, y: float, im: ArrayLike, transform: Any = None
    ) -> None:
        raise TypeError("a raster image does not follow the page's theme: draw cells, as heat_map does")

    # How it is written -----------------------------------------------------------------------------------------

    def _anchor(
        self, x: float, y: float, words: str, prop: FontProperties, angle: float, mtext: Text | None
    ) -> tuple[tuple[float, float], str]:
        """A place that is right in every font. matplotlib tells where the text starts in the font that it measures
        with, but the page has another, mostly a narrower one."""
        if mtext is not None and not angle:
            place = mtext.get_transform().transform(mtext.get_unitless_position())
            return (float(place[0]), y), _ANCHORS[mtext.get_horizontalalignment()]
        if angle or self._centred:
            half = self.get_text_width_height_descent(words, prop, False)[0] / 2
            turn = np.deg2rad(angle)
            return (x + half * float(np.cos(turn)), y - half * float(np.sin(turn))), "middle"
        return (x, y), "start"

    def _paint(self, rgb: Any, alpha: float) -> Paint | None:
        name = to_hex(rgb)
        paint = self.paints.get(name, Paint(name, 1.0))
        return paint and Paint(paint.colour, round(paint.opacity * alpha, 3)) if alpha else None

    def _fill(self, gc: GraphicsContextBase, face: Any) -> str:
        if face is None or (paint := self._paint(face[:3], _face_alpha(gc, face))) is None:
            return ""
        return _told("fill", paint)

    def _stroke(self, gc: GraphicsContextBase) -> str:
        width = self.points_to_pixels(gc.get_linewidth())
        if not width or (paint := self._paint(gc.get_rgb()[:3], _alpha(gc))) is None:
            return ""
        dashes: Any = gc.get_dashes()[1]
        dash = (
            f' stroke-dasharray="{" ".join(_short(self.points_to_pixels(d)) for d in dashes)}"'
            if dashes
            else ""
        )
        cap, join = gc.get_capstyle(), gc.get_joinstyle()
        ends = (
            f' stroke-linecap="{"square" if cap == "projecting" else cap}"'
            if cap != "butt" and not dashes
            else ""
        )
        corners = f' stroke-linejoin="{join}"' if join != "miter" else ""
        return f'{_told("stroke", paint)} stroke-width="{_short(width, 2)}"{dash}{ends}{corners}'

    def _add(self, look: str, d: str) -> None:
        if not d:
            return
        if look != self._look:
            self._end_path()
            self._look = look
        self._lines.append(d)

    def _end_path(self) -> None:
        if self._lines:
            self._parts.append(f'<path d="{"".join(self._lines)}"{self._look}/>')
        self._look, self._lines = "", []


def _told(what: str, paint: Paint) -> str:
    opacity = f' {what}-opacity="{_short(paint.opacity, 2)}"' if paint.opacity != 1 else ""
    return f' {what}="{paint.colour}"{opacity}'


def _alpha(gc: GraphicsContextBase) -> float:
    return float(gc.get_alpha() if gc.get_forced_alpha() else gc.get_rgb()[3])


def _face_alpha(gc: GraphicsContextBase, face: Sequence[float]) -> float:
    return float(gc.get_alpha() if gc.get_forced_alpha() or len(face) == 3 else face[3])


def _radius(marker: Path, transform: Transform) -> float:
    """The radius of a marker that is a disc around its place; 0 for any other."""
    if marker.codes is None or Path.CURVE4 not in np.asarray(marker.codes):
        return 0.0
    extent = marker.get_extents(transform)
    round_its_place = abs(extent.x0 + extent.x1) + abs(extent.y0 + extent.y1) < 0.1
    return float(extent.width / 2) if round_its_place else 0.0


def _holds(clip: Any, place: Array) -> bool:
    return bool(np.isfinite(place).all()) and (clip is None or bool(clip.padded(1).contains(*place)))


def _cut(path: Path, transform: Transform, clip: Any, *, filled: bool) -> Path:
    """The path in pixels, without what lies outside its axes."""
    shape = path.transformed(transform)
    if clip is None or _inside(shape, clip.padded(1)):
        return shape.cleaned(simplify=path.should_simplify, curves=True, remove_nans=True)
    if filled:
        return shape.clip_to_bbox(clip)
    return shape.cleaned(clip=clip.extents, simplify=path.should_simplify, remove_nans=True)


def _inside(shape: Path, box: Bbox) -> bool:
    vertices = np.asarray(shape.vertices)
    finite = vertices[np.isfinite(vertices).all(axis=1)]
    return bool((finite >= box.min).all() and (finite <= box.max).all())


def _as_d(path: Path, up: Transform) -> str:
    """The `d` of an SVG path, in steps from point to point: those are shorter to write than places."""
    places = np.rint(10 * np.asarray(up.transform(path.vertices)))  # tenths of a pixel: no rounding adds up
    lines = [Path.MOVETO] + [Path.LINETO] * (len(places) - 1)
    codes = [int(code) for code in (lines if path.codes is None else np.asarray(path.codes))]
    parts, i, at = [], 0, places[:1]
    while i < len(codes) and codes[i] != Path.STOP:
        if codes[i] == Path.CLOSEPOLY:
            parts.append("z")
            i += 1
            continue
        letter, many = _LETTERS[codes[i]]
        points = places[i : i + many]
        if letter == "M":
            parts.append("M" + _steps(points.ravel()))
        elif letter == "l":
            parts.append(_line(*(points - at)[0], after=parts[-1]))
        else:
            parts.append(letter + _steps((points - at).ravel()))
        at, i = points[-1:], i + many
    return "".join(parts)


def _line(across: float, down: float, after: str) -> str:
    if not across and not down:
        return ""
    if not across or not down:
        return f"v{_steps([down])}" if not across else f"h{_steps([across])}"
    steps = _steps([across, down])
    if not after.startswith(("l", " ", "-")):
        return f"l{steps}"
    return steps if steps.startswith("-") else f" {steps}"  # a pair after a line is a line without saying so


def _steps(tenths: Iterable[float]) -> str:
    """Numbers in a row, as short as SVG can read them: 2.5-.3 12"""
    texts = [
        _short(tenth / 10).replace("0.", ".", 1) if abs(tenth) < 10 else _short(tenth / 10)
        for tenth in tenths
    ]
    return "".join(text if text.startswith("-") or not i else f" {text}" for i, text in enumerate(texts))


def _short(number: float, digits: int = 1) -> str:
    text = f"{float(number):.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
