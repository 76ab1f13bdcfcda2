"""The shared look of figures, and the reader's predictions."""

import base64
import io
import re
import subprocess
import sys

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.colors import to_hex, to_rgb
from PIL import Image

from sdpa_helpers.show import figures as style


def bar_chart() -> style.Picture:
    fig, ax = style.figure("Title", x="key", y="score", size=(4.0, 3.0))
    style.bars(ax, ["a", "b"], [1.0, -0.5])
    return style.show(fig, 'Bars: "a" is 1 &\n  b is −0.5.')


def test_a_picture_is_svg_with_an_image_beside_it_and_both_say_what_it_shows():
    data, _ = DisplayFormatter().format(bar_chart())
    assert set(data) == {"text/html", "text/plain", "image/png"}
    assert data["text/plain"] == 'Figure: Bars: "a" is 1 & b is −0.5.'
    said = "Bars: &quot;a&quot; is 1 &amp; b is −0.5."
    assert re.search(rf'<svg [^>]*role="img" aria-label="{said}"', data["text/html"])
    assert f'<img alt="{said}" width="400"' in data["text/html"]
    assert re.search(r"base64,([^\"]+)\"", data["text/html"])[1] == data["image/png"]
    png = base64.b64decode(data["image/png"])
    assert png.startswith(b"\x89PNG")
    assert len(png) < 20_000


def test_only_the_style_shows_the_svg_and_hides_the_image():
    """Who takes out style or SVG must find the image alone, and no litter of the SVG's words."""
    html = bar_chart()._repr_html_()
    assert re.search('<div hidden="hidden"><svg .*</svg></div><img ', html)
    style_sheet = re.search("<style>(.*)</style>", html)[1]
    assert ".sdpa-figure>div:has(svg){display:block!important}" in style_sheet
    assert ".sdpa-figure:has(svg)>img{display:none}" in style_sheet


def test_the_same_figure_gives_the_same_bytes():
    one, other = bar_chart(), bar_chart()
    assert one.png() == other.png()
    assert one.svg() == other.svg() == one.svg()


def test_the_image_is_an_opaque_light_card():
    image = Image.open(io.BytesIO(bar_chart().png()))
    assert image.size == (600, 450)
    assert "transparency" not in image.info
    assert min(image.convert("RGB").getpixel((3, 3))) > 245


@pytest.mark.parametrize("alt", ["", "  \n "])
def test_alt_text_is_required(alt):
    fig, _ = style.figure("Title")
    with pytest.raises(ValueError, match="alt text is required"):
        style.show(fig, alt)


def test_no_pyplot_and_no_torch_are_imported():
    modules = "('torch', 'matplotlib.pyplot')"
    code = f"import sys, sdpa_helpers.show.figures; print([m for m in {modules} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


COLOURS = (style.INK, style.QUERY, style.KEY, style.VALUE, style.WEIGHT, style.OUTPUT, style.SKY)


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize(("ink", "paper"), style.THEMES)
def test_numbers_in_cells_are_readable_on_every_shade_in_both_themes(colour, ink, paper):
    fill = np.array(to_rgb(ink if colour == style.INK else colour))
    for share in np.linspace(0, style.fullest(colour), 21):
        assert style.contrast(ink, share * fill + (1 - share) * np.array(to_rgb(paper))) >= 4.5
    assert style.fullest(colour) >= 0.3  # or the cells would all look alike


def test_contrast_is_that_of_wcag():
    assert style.contrast("#000", "#fff") == pytest.approx(21)
    assert style.contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.01)


def test_fainter_words_can_be_read_in_both_themes():
    strength = style.PAINTS[style.FAINT.lower()].opacity
    for ink, paper in style.THEMES:
        seen = strength * np.array(to_rgb(ink)) + (1 - strength) * np.array(to_rgb(paper))
        assert style.contrast(seen, paper) > 4.5
    assert style.contrast(style.FAINT, style.PAPER) > 4.5


def test_heat_map_writes_every_number_and_strikes_masked_scores_out():
    fig, ax = style.figure("Scores", x="key", y="query")
    style.heat_map(ax, [[0.5, -np.inf, -2.0], [np.nan, 1.0, -0.001]], ["q0", "q1"], ["k0", "k1", "k2"])
    assert [t.get_text() for t in ax.texts] == ["0.50", "−∞", "−2.00", "nan", "1.00", "0.00"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["k0", "k1", "k2"]
    assert len(ax.lines) == 2
    fills = [(to_hex(p.get_facecolor()).upper(), p.get_facecolor()[3]) for p in ax.patches if p.get_fill()]
    half, whole = style.fullest(style.INK) / 4, style.fullest(style.SKY)
    assert fills[:2] == [(style.INK.upper(), pytest.approx(half)), (style.SKY.upper(), pytest.approx(whole))]
    assert style.show(fig, "scores").svg()


@pytest.mark.parametrize("matrix", [[[0.0, 0.0]], [[-np.inf, -np.inf]]])
def test_heat_map_without_any_range(matrix):
    fig, ax = style.figure("Weights")
    style.heat_map(ax, matrix, ["q"], ["a", "b"])
    assert style.show(fig, "weights").svg()


def test_lines_carry_their_names_at_their_ends_apart_from_each_other():
    fig, ax = style.figure("Lines", y="value")
    for label, end in (("low", 0.0), ("a", 1.0), ("b", 1.01), ("_not named", 0.5)):
        ax.plot([0, 1], [0, end], label=label)
    style.name_lines(ax, gap=15)
    picture = style.show(fig, "three lines")
    heights = {
        text: float(y)
        for y, text in re.findall(r'<text x="[^"]*" y="([^"]*)"[^>]*>(low|a|b)</text>', picture.svg())
    }
    assert heights["low"] > heights["a"] > heights["b"]
    assert heights["a"] - heights["b"] == pytest.approx(15 * 100 / 72, abs=0.5)


@pytest.mark.parametrize("places", [[5.0, 5.0, 5.0], [0.0, 40.0], [30.0, 1.0, 2.0, 29.0]])
def test_spread_moves_no_more_than_needed(places):
    found = style.spread(places, 10)
    assert min(np.diff(np.sort(found))) >= 10 - 1e-6
    assert np.mean(found) == pytest.approx(np.mean(places))
    assert [found[i] for i in np.argsort(places, kind="stable")] == sorted(found)


def test_several_series_have_a_legend_and_one_has_none():
    _, ax = style.figure("One")
    style.bars(ax, ["a", "b"], [1, 2])
    assert ax.get_legend() is None
    _, ax = style.figure("Two")
    style.bars(ax, ["a", "b"], {"dot": [1, 2], "cosine": [3, 4]})
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["dot", "cosine"]


def test_arrows_are_inside_the_axes():
    _, ax = style.figure("Plane")
    style.arrow(ax, (3.0, -2.0), "k")
    style.arrow(ax, (-1.0, 4.0), "q", colour=style.QUERY)
    style.plane(ax)
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    assert left <= -1
    assert right >= 3
    assert low <= -2
    assert high >= 4


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.5, "0.50"), (-2, "−2.00"), (-0.0, "0.00"), (-0.001, "0.00"), (-np.inf, "−∞"), (np.inf, "∞")],
)
def test_write(number, text):
    assert style.write(number, 2) == text
