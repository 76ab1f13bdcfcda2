"""What holds for the panel of each lesson in JupyterLab: one output, names, room, readable, quick, and a still."""

import re

import nbformat
import numpy as np
import pytest

from tests.lessons.pictures import DRAWN
from tests.nightly import BRIEFLY_AND_AT_NIGHT

from .harness import open_page, time_presses
from .lesson_widgets import CELLS, wait_for

CONTROLS = {
    "dot_product": 8,
    "variance_proof": 8,
    "softmax": 6,
    "gradients": 9,
    "masking": 57,
    "complexity": 7,
    "flash_attention": 265,  # 256 of them are the cells
    "heads_and_variants": 6,
    "does_scaling_matter": 5,
    "many_machines": 9,
}
SHOWN_BY = {"gradients": "explore_way_back", "masking": "paint_mask"}  # else lesson.explore_…
LETTERS = ".plane .name, .bars .inside, .rope .name, .chart .bold, .picture svg text"
CANNOT_BE_HIT = """panel => [...panel.querySelectorAll("input, select, button, [role=slider]")].flatMap(control => {
    control.scrollIntoView({block: "center"});
    const grip = control.querySelector(".grip"), {x, y, width, height} = (grip ?? control).getBoundingClientRect();
    const hit = panel.getRootNode().elementFromPoint(x + width / 2, grip ? y + height - 2 : y + height / 2);
    const fits = control.contains(hit) && Math.min(width, height) >= 24;
    const name = control.ariaLabel || control.id || control.textContent;
    return fits ? [] : [[name, width, height, hit?.outerHTML.slice(0, 80)]] })"""
SMALLEST_WORDS = """panel => [...panel.querySelectorAll("svg text, label, output, p, th, td, button, select, small")]
    .filter(e => e.textContent.trim() && e.getClientRects().length)
    .map(e => [parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement?.getScreenCTM().a ?? 1), e.textContent])
    .reduce((least, one) => (one[0] < least[0] ? one : least))"""
EVERY_DRAWN = pytest.mark.parametrize("lesson", DRAWN)
EVERY_LESSON = pytest.mark.parametrize("lesson", CELLS)


def test_a_stored_output_shows_the_still_and_running_it_shows_the_panel_alone(untouched):
    output = untouched.output("variance_proof")
    assert output.locator("img[alt^='Histograms of 2,000 scores']").is_visible()
    assert "Run this cell, and the picture moves" in output.inner_text()
    assert output.locator(".panel").count() == 0
    untouched.run_panels()
    for lesson in CELLS:
        output = untouched.output(lesson)
        assert output.locator(".jp-OutputArea-output").count() == 1
        assert output.locator("img").count() == 0
    for lesson in ("dot_product", "variance_proof", "masking"):  # run twice, shown once
        untouched.lab.run_cell(untouched.cell(lesson))
        untouched.output(lesson).locator(".panel svg").first.wait_for()
    page = untouched.page
    assert page.locator(".panel").count() == len(CELLS)
    assert page.locator(".panel:has(.grid table)").count() == 1
    assert page.log.thrown == page.log.ours() == page.log.refused == []


LOOK = """(panel, letters) => {
    const word = panel.querySelector(letters) ?? panel.querySelector(".title"); // where no letter lies in a shape
    const ink = getComputedStyle(word)[word.ownerSVGElement ? "fill" : "color"];
    return [ink, getComputedStyle(panel).backgroundColor] }"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_and_letters_can_be_read(widgets, axe, dark):
    widgets.lab.theme(dark)
    for lesson in CELLS:
        output = widgets.fresh(lesson)
        part = f".jp-Cell:nth-child({widgets.cell(lesson) + 1}) .jp-Cell-outputArea"
        assert axe(widgets.page, part, every=True, contrast=dark) == []
        scheme = output.locator(".panel").evaluate("panel => getComputedStyle(panel).colorScheme")
        assert scheme == ("dark" if dark else "light")
        # Both at once: a picture that is drawn again meanwhile takes its letters out of the page.
        letters, paper = output.locator(".panel").evaluate(LOOK, LETTERS)
        ink, ground = (min(map(int, re.findall(r"\d+", colour)[:3])) for colour in (letters, paper))
        assert (ink > 200 and ground < 60) if dark else (ink < 60 and ground > 200)
    widgets.lab.theme(False)


@EVERY_LESSON
def test_every_control_has_a_name(widgets, lesson):
    panel = widgets.fresh(lesson).locator(".panel")
    assert panel.locator("input, select, button, [role=slider]").count() == CONTROLS[lesson]
    tree = panel.aria_snapshot()
    roles = re.findall(r"- (slider|combobox|button|checkbox)( \"[^\"]+\")?", tree)
    assert len(roles) == CONTROLS[lesson]
    assert all(name for _, name in roles), tree


@EVERY_DRAWN
def test_every_control_stays_in_its_column(widgets, lesson):
    panel = widgets.fresh(lesson).locator(".panel")
    column, picture = (panel.locator(part).bounding_box() for part in (".controls", ".picture"))
    for control in panel.locator("input, select, table").all():
        box = control.bounding_box()
        assert box["x"] + box["width"] <= column["x"] + column["width"] + 1 < picture["x"] + 1


@BRIEFLY_AND_AT_NIGHT
def test_at_every_width_controls_are_hit_where_they_stand_and_words_are_large_enough(widgets, at_night):
    """With the mouse, and with a finger: a control is 24 px, and nothing lies on it."""
    lab = widgets.lab
    lab.resize(700)
    beside = 700 - widgets.output("complexity").locator(".panel").bounding_box()["width"]
    for width in (560, 720, 1000, 1280) if at_night else (560, 1000):  # of a panel, if it did not end at 960
        lab.resize(round(width + beside))
        for lesson in CELLS:
            panel = widgets.fresh(lesson).locator(".panel")
            assert panel.evaluate(CANNOT_BE_HIT) == [], (lesson, width)
            size, words = panel.evaluate(SMALLEST_WORDS)
            assert size >= 12, (lesson, width, words)
            if lesson in DRAWN:
                controls, picture = (panel.locator(part).bounding_box() for part in (".controls", ".picture"))
                below = controls["y"] + controls["height"] <= picture["y"] + 1
                assert below or controls["x"] + controls["width"] < picture["x"] + 1
    lab.resize(1280)


def test_the_panels_of_two_cells_move_apart(widgets):
    first, other = widgets.fresh("masking"), widgets.fresh("complexity").locator(".say")
    before = other.inner_text()
    first.get_by_role("button", name="window", exact=True).click()
    wait_for(first, "The mask allows 13 of 49 pairs")
    assert other.inner_text() == before


def test_a_key_held_down_leaves_no_gap_and_ends_where_it_should(widgets):
    output = widgets.fresh("variance_proof")
    output.locator(".picture").evaluate(
        """picture => { window.blank = 0; window.seen = 0; new MutationObserver(() => {
            window.seen += 1; if (picture.querySelectorAll('svg').length !== 1) window.blank += 1;
        }).observe(picture, {childList: true}) }"""
    )
    slider = output.get_by_label("correlation")
    slider.focus()
    for _ in range(20):
        widgets.page.keyboard.press("ArrowRight")
        widgets.page.wait_for_timeout(30)
    wait_for(output, "exactly 128")
    assert widgets.page.evaluate("window.blank") == 0
    assert (
        widgets.page.evaluate("window.seen") > 3
    )  # of 20; without other work on the machine about all of them
    assert output.locator(".notice").is_hidden()


@pytest.mark.parametrize(
    ("lesson", "role", "name", "keys"),
    [
        ("dot_product", "slider", "tip of key B", ["ArrowRight", "ArrowLeft"] * 5),
        ("masking", "button", "the may attend to the", [" "] * 8),
    ],
    ids=["dot_product", "masking"],
)
def test_a_key_press_is_soon_on_screen(widgets, lesson, role, name, keys):
    """Only a generous bound: the machine is busy with other tests."""
    output = widgets.fresh(lesson)
    control = output.get_by_role(role, name=name, exact=True)
    took = np.median(time_presses(widgets.page, control, output.locator(".picture, .plane"), keys)["in_page"])
    print(f"{lesson}: key press to the new picture: median {took:.1f} ms")
    assert took < 500


@pytest.fixture(scope="module")
def offline(browser):
    """A page without a network, and what makes an HTML page of a notebook: both for all lessons."""
    from nbconvert import HTMLExporter

    opened = open_page(browser, width=900)
    opened.context.set_offline(True)
    yield opened, HTMLExporter()
    opened.context.close()


@EVERY_DRAWN
def test_a_page_of_nbconvert_shows_the_still(offline, course, tmp_path, lesson):
    opened, exporter = offline
    (path,) = (course / "notebooks").glob(f"[0-9][0-9]_{lesson}.ipynb")
    notebook = nbformat.read(path, as_version=4)
    shows = f"lesson.{SHOWN_BY.get(lesson, 'explore_')}"
    notebook.cells = [c for c in notebook.cells if c.cell_type == "code" and shows in c.source]
    assert len(notebook.cells) == 1
    assert set(notebook.cells[0].outputs[0].data) == {"text/plain", "text/html"}
    (tmp_path / "page.html").write_text(exporter.from_notebook_node(notebook)[0])
    opened.log.thrown.clear()
    opened.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
    still = opened.locator("[data-key] [role=img]:visible, [data-key] img:visible")
    assert still.count() == 1
    assert still.bounding_box()["height"] > 150
    assert len(still.get_attribute("aria-label") or still.get_attribute("alt")) > 100
    assert [error for error in opened.log.thrown if "MathJax" not in error and "require" not in error] == []
