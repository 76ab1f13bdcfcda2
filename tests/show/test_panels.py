"""Controls, the part of a panel in the kernel, and how a new kind of control or panel comes in."""

import re
from pathlib import Path

import numpy as np
import pytest

from sdpa_helpers.show import figures, panels_model
from sdpa_helpers.show.panels import Control, Panel, button, choice, inlined, module, slider, switch
from sdpa_helpers.show.svg import Canvas

PACKAGE = Path(panels_model.__file__).parents[1]


def still():
    """A small one."""
    return figures.show(figures.figure("Still")[0], "A still.")


def small_panel() -> Panel:
    def draw(state):
        return Canvas(10, 10).finish("A <title>", f"n & T: {state['n']}, {state['T']}, {state['on']}.")

    controls = [
        slider("n", "keys", range(3), 1, str),
        slider("T", "T", [0.0, 1.0, np.inf], 1.0),
        switch("on", "on"),
        choice("way", "way", ["a", "b"], "b"),
        button("again", "again"),
    ]
    return Panel("small", "Small", controls, draw, still)


def test_values_and_positions():
    panel = small_panel()
    assert panel.start == {"n": 1, "T": 1.0, "on": False, "way": "b", "again": 0}
    assert panel.values({"n": 99, "T": 2, "on": 1, "way": -1, "again": 7}) == {
        "n": 2, "T": np.inf, "on": True, "way": "a", "again": 7,
    }  # fmt: skip
    assert panel.given()["controls"][1]["shown"] == ["0", "1", "inf"]
    with pytest.raises(ValueError, match=re.escape("n has no stop at 9, the nearest is 2")):
        panel.indices({"n": 9})
    with pytest.raises(ValueError, match="way has no stop at 'c'"):
        panel.indices({"way": "c"})
    with pytest.raises(ValueError, match="no control is called m; there are n, T, on, way, again"):
        panel.set(m=1)


def test_the_kernel_answers_what_is_asked_and_not_what_the_page_has():
    panel = small_panel()
    model = panel.widget()
    assert (model.answer["number"], model.answer["text"]) == (0, "n & T: 1, 1.0, False.")
    model.asked = {"number": 4, "at": model.asked["at"] | {"T": 2}, "known": False}
    assert (model.answer["number"], model.answer["text"]) == (4, "n & T: 1, inf, False.")
    model.asked = {"number": 5, "at": model.asked["at"] | {"n": 0}, "known": True}
    assert model.answer["number"] == 4
    assert panel.state["n"] == 0
    panel.set(n=2, on=True)
    assert (model.answer["number"], model.answer["text"]) == (6, "n & T: 2, inf, True.")


def test_the_kernel_draws_ahead_for_a_slice_of_time_but_at_least_one(monkeypatch):
    model, sent = small_panel().widget(), []
    monkeypatch.setattr(model, "send", sent.append)
    wanted = [model.asked["at"] | {"n": n} for n in (0, 2)]
    model._draw_ahead(None, {"ahead": wanted}, [])
    assert [frame["text"] for frame in sent[0]["frames"]] == [
        "n & T: 0, 1.0, False.",
        "n & T: 2, 1.0, False.",
    ]
    monkeypatch.setattr(panels_model, "SLICE", -1.0)
    model._draw_ahead(None, {"ahead": wanted}, [])
    assert [frame["at"] for frame in sent[1]["frames"]] == wanted[:1]


def test_a_new_kind_of_control_is_one_file_that_the_control_names(tmp_path):
    dial = tmp_path / "dial.js"
    dial.write_text("kinds.dial = given => ({ element: make('i'), show() {} });\n")
    controls = [Control("dial", name, name, [0, 1], ["0", "1"], file=dial) for name in "ab"]
    panel = Panel("dials", "Dials", controls, lambda state: Canvas(1, 1).finish("t", "t."), still)
    assert panel.widget()._esm.count("kinds.dial =") == 1
    assert "kinds.dial" not in small_panel().widget()._esm
    assert {"kind": "dial", "name": "a", "label": "a", "shown": ["0", "1"]} in panel.given()["controls"]


def test_a_new_kind_of_panel_is_one_file_that_registers_itself(tmp_path):
    clock = tmp_path / "clock.js"
    clock.write_text("bodies.clock = { style: '', fill: () => () => {} };\n")
    given = {"body": "clock", "title": "A clock </script>", "ticks": 3}
    html = inlined(still()._repr_html_(), "Run this cell.", given, [clock])
    assert html.startswith('<div><div class="sdpa-figure"')
    assert html.count("</script>") == 1
    assert html.count("bodies.clock =") == module(clock).count("bodies.clock =") == 1
    model = panels_model.SettingsModel(module(clock), given, {"ticks": 3, "pace": 1.0, "zone": "UTC"})
    model.ticks, model.pace = 4, 2
    assert {"ticks", "pace", "zone", "given", "_esm"} <= set(model.keys)
    assert (model.ticks, model.pace, model.zone) == (4, 2.0, "UTC")


def test_no_file_imports_exports_or_ends_a_script():
    """So that they can be joined, and stand in a page."""
    files = [*PACKAGE.glob("show/*.js"), *PACKAGE.glob("lessons/*/*.js")]
    assert len(files) >= 5
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"^(import|export)\b|</script|<!--", text, re.MULTILINE), file
