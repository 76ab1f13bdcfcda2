"""Figures in the page's ink: no colour of one theme, no id, nothing beyond the axes, words as words."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from sdpa_helpers.show import figures as style

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def everything() -> str:
    """One of each: bars, cells, markers, arrows, areas, a legend, logarithmic axes, several lines of text."""
    fig, axes = style.panels(["bars", "cells", "lines"], x="x of d_k", y="y", size=(9.0, 3.0))
    style.bars(axes[0], ["a\nscore 1", "b"], {"one": [1.0, 2.0], "two": [2.0, 1.0]})
    style.heat_map(axes[1], [[0.5, -np.inf], [-1.0, 0.0]], ["q", "r"], ["k", "l"], colour=style.WEIGHT)
    style.arrow(axes[2], (10.0, 10.0), "q", colour=style.QUERY, start=(1.0, 1.0))
    axes[2].loglog([1e-9, 10.0, 1e3], [0.1, 10.0, 1e12], "o-", color=style.INK, label="x < y & z")
    axes[2].plot([2.0, 3.0], [2.0, 3.0], "s", color=style.KEY)
    axes[2].axvspan(1e-20, 2.0, color=style.SHADE, alpha=0.25)
    axes[2].set(xlim=(1, 100), ylim=(1, 100))
    style.legend(axes[2])
    return style.show(fig, "everything").svg()


def test_ink_and_paper_are_the_pages(everything):
    colours = set(re.findall(r'(?:fill|stroke)="([^"]*)"', everything))
    assert colours == {
        "currentColor",
        "none",
        *(c.lower() for c in (style.WEIGHT, style.SKY, style.QUERY, style.KEY)),
    }


def test_nothing_refers_to_anything(everything):
    """So two figures in a page cannot take each other's parts, and one that is hidden breaks none."""
    assert not re.search(r"\b(id|href|clip-path|class|style)=|url\(|<style|<image", everything)


def test_words_are_text(everything):
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(everything).iter(f"{SVG}text")]
    assert {"bars", "a", "score 1", "0.50", "−∞", "x < y & z", "q", "x of dk"} <= set(texts)
    assert "10−1" not in texts  # 10⁻¹ lies outside
    assert {"100", "101", "102"} <= set(texts)  # 10⁰, 10¹, 10²: raised, not written with a caret


def test_lines_of_a_centred_text_have_one_middle(everything):
    found = re.findall(r'<text x="([^"]*)" y="[^"]*" text-anchor="middle"[^>]*>(a|score 1)<', everything)
    places = {text: float(x) for x, text in found}
    assert places["a"] == pytest.approx(places["score 1"], abs=0.3)


def test_everything_lies_in_the_picture(everything):
    picture = ElementTree.fromstring(everything)
    _, _, width, height = map(float, picture.get("viewBox").split())
    assert (width, height) == (900, 300)
    for path in picture.iter(f"{SVG}path"):
        places = np.array(list(walked(path.get("d"))))
        assert (places >= -2).all()
        assert (places <= np.array([width, height]) + 2).all()


def walked(d: str):
    """The points of a path that is written as in these figures: M absolute, everything else in steps."""
    at = np.zeros(2)
    for letter, told in re.findall(r"([Mmlhvqcz])([^Mmlhvqcz]*)", d):
        numbers = np.array([float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", told)])
        if letter in "hv":
            numbers = np.array([numbers[0], 0.0] if letter == "h" else [0.0, numbers[0]])
        steps = numbers.reshape(-1, 2)
        if letter in "qc":  # the last of two or three is the end
            yield from at + steps
            steps = steps[-1:]
        for step in steps:
            at = step if letter == "M" else at + step
            yield at


def test_steps_lead_where_the_line_leads():
    """No rounding adds up over many points, and neighbours that look the same share an element."""
    fig, ax = style.figure("walk", size=(6.0, 3.0))
    x = np.arange(400)
    y = np.cumsum(np.where(x % 7 < 3, 0.37, -0.29))
    ax.plot(x, y, color=style.KEY)
    (line,) = ax.lines
    svg = style.show(fig, "walk").svg()
    (d,) = re.findall(rf'<path d="([^"]*)" fill="none" stroke="{style.KEY.lower()}"', svg)
    wanted = ax.transData.transform(line.get_xydata())[[0, -1]] * [1, -1] + [0, 300]
    found = list(walked(d))
    assert np.allclose([found[0], found[-1]], wanted, atol=0.06)


def test_a_raster_image_is_refused():
    fig, ax = style.figure("pixels")
    ax.imshow([[0.0, 1.0]])
    with pytest.raises(TypeError, match="does not follow the page's theme"):
        style.show(fig, "pixels").svg()
