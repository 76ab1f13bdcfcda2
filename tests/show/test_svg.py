"""Strokes: scales, ticks, numbers, and words that stay words."""

from xml.etree import ElementTree

import numpy as np
import pytest

from sdpa_helpers.show.figures import FAINT, INK, KEY
from sdpa_helpers.show.svg import Canvas, Scale, plain, ticks

SVG = "{http://www.w3.org/2000/svg}"


def test_a_scale_ends_at_its_ends():
    linear, log = Scale((-2, 2), (100, 0)), Scale((1, 100), (0, 10), log=True)
    assert [linear(x) for x in (-2, 0, 2, 9, -np.inf)] == [100, 50, 0, 0, 100]
    assert [log(x) for x in (0.0, 1, 10, 100, np.inf)] == pytest.approx([0, 0, 5, 10, 10])


def test_ticks_are_round_and_inside():
    assert ticks(-4, 4) == [-4, -2, 0, 2, 4]
    assert ticks(-100, 100) == [-100, -50, 0, 50, 100]
    assert ticks(0, 0.03) == pytest.approx([0, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03])
    for low, high in [(-32.1, 32.1), (-256, 2400), (-1e-3, 4e-3)]:
        found = ticks(low, high)
        assert 3 <= len(found) <= 9
        assert low - 1e-9 <= found[0] < found[-1] <= high + 1e-9


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (64, "64"),
        (0.0625, "0.0625"),
        (2048.4, "2048"),
        (-3.14159, "−3.14"),
        (np.inf, "∞"),
    ],
)
def test_numbers_are_short(number, text):
    assert plain(number) == text


def test_ink_is_the_pages_and_a_role_keeps_its_colour():
    canvas = Canvas(10, 10)
    canvas.curve([(0, 0), (1, 1)], FAINT)
    canvas.box((0, 0), 1, 1, INK, outline=False, opacity=0.5)
    canvas.dot((1, 1), 1, KEY)
    line, box, dot = canvas.parts
    assert 'stroke="currentColor"' in line
    assert 'stroke-opacity="0.72"' in line
    assert 'fill="currentColor" fill-opacity="0.5"' in box
    assert f'fill="{KEY}"' in dot


def test_words_are_escaped():
    canvas = Canvas(10, 10)
    canvas.text((1, 2), "a < b & c")
    picture = ElementTree.fromstring(canvas.finish("<title>", 'say "&"').svg)
    assert [picture.find(f"{SVG}{tag}").text for tag in ("title", "desc", "text")] == [
        "<title>", 'say "&"', "a < b & c",
    ]  # fmt: skip
