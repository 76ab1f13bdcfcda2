"""What holds for the panel of each lesson: sound pictures, stills, names, and a key of its own."""

import itertools
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter

from sdpa_helpers.lessons.masking.widget import presets
from tests.lessons.pictures import DRAWN, PANELS, SVG, TOKENS

EVERY_PANEL = pytest.mark.parametrize("make", PANELS.values(), ids=PANELS)
EVERY_DRAWN = pytest.mark.parametrize("make", DRAWN.values(), ids=DRAWN)
MASKS = [*presets(len(TOKENS)).values(), np.eye(7, dtype=bool)[::-1], np.ones((7, 7), dtype=bool)]


def positions(panel):
    """Every stop of every control from the start, some masks, and the corners of all."""
    stops = {
        name: MASKS if c.kind == "grid" else list(c.stops) or range(3) for name, c in panel.controls.items()
    }
    for name, values in stops.items():
        for value in values:
            yield panel.start | {name: value}
    for corner in itertools.product(*((values[0], values[-1]) for values in stops.values())):
        yield panel.start | dict(zip(stops, corner, strict=True))


@EVERY_DRAWN
def test_every_picture_is_sound(make):
    panel, seen = make(), set()
    for state in positions(panel):
        drawing = panel.draw(state)
        picture = ElementTree.fromstring(drawing.svg)
        _, _, width, height = map(float, picture.get("viewBox").split())
        assert picture.get("role") == "img"
        described = [picture.find(f"{SVG}{tag}") for tag in ("title", "desc")]
        assert picture.get("aria-labelledby").split() == [part.get("id") for part in described]
        assert described[0].text
        assert described[1].text == drawing.text
        assert not re.search(r"\b(nan|inf|None)\b", drawing.svg), state
        assert drawing.text.endswith(".")
        limits = {"x": width, "x1": width, "x2": width, "cx": width, "y": height, "y1": height, "y2": height}
        for stroke in picture.iter():
            for name, limit in limits.items():
                assert -1 <= float(stroke.get(name, 0)) <= limit + 1, (state, stroke.attrib)
            assert all(float(stroke.get(size, 0)) >= 0 for size in ("width", "height", "r"))
        assert len(drawing.svg) < 40_000
        seen.add(drawing.svg)
    assert len(seen) > 15


@EVERY_DRAWN
def test_the_same_state_gives_the_same_picture(make):
    for state in itertools.islice(positions(make()), 0, None, 17):
        assert make().draw(state) == make().draw(state)


@EVERY_DRAWN
def test_letters_have_the_colour_of_the_page(make):
    """So they can be read in light and in dark."""
    picture = ElementTree.fromstring(make().draw(make().start).svg)
    assert picture.get("fill") == "currentColor"
    assert all(text.get("fill") is None for text in picture.iter(f"{SVG}text"))


@EVERY_PANEL
def test_a_cell_stores_a_still_with_alt_text_and_no_widget(make):
    panel = make()
    data, _ = DisplayFormatter().format(panel)
    assert set(data) == {"text/plain", "text/html"}
    assert re.fullmatch(r"[^<>]{100,}", re.search(r'<img alt="([^"]+)"', data["text/html"])[1])
    assert data["text/plain"].startswith(panel.title)
    assert data["text/html"] == make().html() == panel.html()


@EVERY_DRAWN
def test_every_control_has_a_name_and_starts_at_a_stop(make):
    panel = make()
    labels = [control.label for control in panel.controls.values()]
    assert len({*labels}) == len(labels)
    assert all(labels)
    np.testing.assert_equal(panel.values(panel.indices(panel.start)), panel.start)
    json.dumps(panel.given(), allow_nan=False)


def test_the_key_tells_panels_apart_and_stays():
    keys = [make().given()["key"] for make in DRAWN.values()]
    assert len({*keys}) == len(keys)
    assert keys == [make().given()["key"] for make in DRAWN.values()]
