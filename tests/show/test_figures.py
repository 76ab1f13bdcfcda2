"""The shared look of figures, and the reader's predictions."""

import base64
import re
import subprocess
import sys

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from matplotlib.colors import to_rgb
from PIL import Image

from sdpa_helpers.show import figures as style
from sdpa_helpers.show.predict import compare


def bar_chart() -> style.Picture:
    fig, ax = style.figure("Title", x="key", y="score", size=(4.0, 3.0))
    style.bars(ax, ["a", "b"], [1.0, -0.5])
    return style.show(fig, 'Bars: "a" is 1 &\n  b is −0.5.')


def test_a_picture_is_an_image_with_alt_text_at_twice_the_resolution():
    data, _ = DisplayFormatter().format(bar_chart())
    assert set(data) == {"text/html", "text/plain"}
    assert data["text/plain"] == 'Figure: Bars: "a" is 1 & b is −0.5.'
    assert 'alt="Bars: &quot;a&quot; is 1 &amp; b is −0.5."' in data["text/html"]
    assert 'width="400"' in data["text/html"]
    assert "max-width:100%" in data["text/html"]
    png = base64.b64decode(re.search(r"base64,([^\"]+)\"", data["text/html"])[1])
    assert png.startswith(b"\x89PNG")
    assert len(png) < 60_000


def test_the_same_figure_gives_the_same_bytes():
    assert bar_chart().png() == bar_chart().png()


def test_the_image_is_an_opaque_light_card(tmp_path):
    (tmp_path / "a.png").write_bytes(bar_chart().png())
    image = Image.open(tmp_path / "a.png")
    assert image.size == (800, 600)
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


def contrast(one, other) -> float:
    def luminance(colour):
        channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [style.SEQUENTIAL, style.DIVERGING])
def test_numbers_in_cells_are_readable_on_every_colour_of_the_maps(colours):
    for place in np.linspace(0, 1, 101):
        background = colours(place)[:3]
        ink = style.readable_on(background)
        # Between the two inks lies a colour on which both have contrast √(their ratio): nothing can do better.
        assert contrast(ink, background) > 3.6
        assert (
            contrast(ink, background) >= max(contrast(i, background) for i in (style.INK, style.CARD)) - 1e-9
        )


def test_text_on_the_card_has_contrast():
    assert contrast(style.INK, style.CARD) > 7
    assert contrast(style.FAINT, style.CARD) > 4.5


def test_heat_map_writes_every_number_and_marks_masked_scores():
    fig, ax = style.figure("Scores", x="key", y="query")
    style.heat_map(ax, [[0.5, -np.inf, -2.0], [np.nan, 1.0, -0.001]], ["q0", "q1"], ["k0", "k1", "k2"])
    assert [t.get_text() for t in ax.texts] == ["0.50", "−∞", "−2.00", "nan", "1.00", "0.00"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["k0", "k1", "k2"]
    image = ax.images[0]
    assert image.get_clim() == (-2.0, 2.0)  # two-sided, so that zero is the neutral colour
    assert style.show(fig, "scores").png()


@pytest.mark.parametrize("matrix", [[[0.0, 0.0]], [[-np.inf, -np.inf]]])
def test_heat_map_without_any_range(matrix):
    fig, ax = style.figure("Weights")
    style.heat_map(ax, matrix, ["q"], ["a", "b"])
    assert style.show(fig, "weights").png()


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


@pytest.mark.parametrize(
    ("answer", "measured", "said"),
    [
        (..., 2.71828, "No answer yet: put yours in place of the three dots, and run the cell again."),
        (None, 2.71828, "Measured: 2.72."),
        (2.72, 2.71828, "Your answer: 2.72. Measured: 2.72. They agree."),
        (2, 2.71828, "Your answer: 2. Measured: 2.72. They differ: what did you assume?"),
        (-0.17, np.float64(-0.1736), "Your answer: -0.17. Measured: -0.17. They agree."),
        (0.17, -0.1736, "Your answer: 0.17. Measured: -0.17. They differ: what did you assume?"),
        (0, np.int64(0), "Your answer: 0. Measured: 0. They agree."),
        ("(4,5)", "(4, 5)", "Your answer: (4,5). Measured: (4, 5). They agree."),
        ("Cat", "dogs", "Your answer: Cat. Measured: dogs. They differ: what did you assume?"),
    ],
)
def test_compare(answer, measured, said, capsys):
    compare(answer, measured)
    assert capsys.readouterr().out.strip() == said
