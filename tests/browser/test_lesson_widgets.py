"""The lessons' widgets in JupyterLab: mouse and keyboard, the numbers on screen, what is left without a kernel."""

import re

import nbformat
import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.lessons.dot_product.widget import explore_keys
from sdpa_helpers.lessons.softmax.widget import unit_scores
from sdpa_helpers.lessons.variance_proof.widget import correlated_scores

CELLS = (
    "from sdpa_helpers.lessons.dot_product.widget import explore_keys\nkeys = explore_keys()\nkeys",
    "from sdpa_helpers.lessons.variance_proof.widget import explore_scores\nexplore_scores()",
    "from sdpa_helpers.lessons.softmax.widget import explore_temperature\nexplore_temperature()",
    "print(keys.state)",
    "keys.set(angle=180, length_k=4.0)",
)
LESSONS = {"01_dot_product": 0, "02_variance_proof": 1, "03_softmax": 2}


@pytest.fixture(scope="module")
def notebook(lab, lab_server):
    """The three widgets in one notebook, the first with an output that somebody else stored; not yet run."""
    stored = {"text/plain": "still", "text/html": explore_keys().html()}
    lab_server.write("widgets.ipynb", *CELLS, outputs={0: stored})
    return lab.open("widgets.ipynb")


@pytest.fixture
def fresh(notebook):
    """fresh(0) runs the cell again and gives its output, once the living panel is there."""

    def run(number):
        notebook.run_cell(number)
        output = notebook.output(number)
        output.locator(".picture svg").wait_for()
        return output

    return run


def number(output, name: str) -> float:
    text = output.locator(f"[data-name='{name}']").text_content()
    return float(text.replace("−", "-").replace("∞", "inf"))


def wait_for(notebook, output, says: str) -> None:
    """Until the sentence below the picture contains some words."""
    output.locator(".say", has_text=says).wait_for()
    assert says in output.locator("svg[role=img] desc").text_content()


def click_on(notebook, slider, share: float) -> None:
    """A click of the mouse on a slider's track."""
    box = slider.bounding_box()
    notebook.page.mouse.click(box["x"] + 8 + share * (box["width"] - 16), box["y"] + box["height"] / 2)


# ---- one output, before and after --------------------------------------------------------------------------


def test_a_stored_output_shows_the_still_and_running_it_shows_the_panel_alone(notebook):
    output = notebook.output(0)
    assert output.locator("img[alt^='A query and key A']").is_visible()
    assert "In JupyterLab, run this cell" in output.inner_text()
    assert output.locator(".panel").count() == 0
    notebook.run_all()
    for cell in range(3):
        output = notebook.output(cell)
        output.locator(".picture svg").wait_for()
        assert output.locator(".jp-OutputArea-output").count() == 1
        assert output.locator("img").count() == 0
    notebook.run_cell(0)
    notebook.output(0).locator(".picture svg").wait_for()
    assert notebook.page.locator(".panel").count() == 3
    assert notebook.page.log.thrown == notebook.page.log.ours() == notebook.page.log.refused == []


# ---- lesson 01 ---------------------------------------------------------------------------------------------


def test_keys_by_keyboard(notebook, fresh):
    output, page = fresh(0), notebook.page
    angle = output.get_by_label("angle of key B")
    angle.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    wait_for(notebook, output, "63° off")
    assert angle.get_attribute("aria-valuetext") == "63°"
    page.keyboard.press("Tab")  # on to the next control
    page.keyboard.press("End")
    wait_for(notebook, output, "length 4.0")
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    wait_for(notebook, output, "Query of length 0.1")
    q, k = 0.1 * np.array([1, 0]), 4 * np.array([np.cos(np.radians(63)), np.sin(np.radians(63))])
    assert number(output, "dot-B") == pytest.approx(q @ k, abs=0.00501)
    assert number(output, "cosine-B") == pytest.approx(np.cos(np.radians(63)), abs=0.00501)
    assert page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == 0
    notebook.run_cell(3)  # Python knows where the controls are
    assert "{'angle': 63, 'length_k': 4.0, 'length_q': 0.1}" in notebook.output(3).inner_text()


def test_keys_by_mouse(notebook, fresh):
    output = fresh(0)
    click_on(notebook, output.get_by_label("angle of key B"), 0.5)
    wait_for(notebook, output, "90° off")
    assert number(output, "dot-B") == 0
    click_on(notebook, output.get_by_label("length of the query"), 1.0)
    wait_for(notebook, output, "Query of length 2.0")
    assert number(output, "dot-A") == 2
    click_on(notebook, output.get_by_label("length of key B"), 0.0)
    wait_for(notebook, output, "Key B, length 0.0")
    output.get_by_role("button", name="Start again").click()
    wait_for(notebook, output, "Key B, length 1.5, 60° off")


def test_python_moves_the_controls(notebook, fresh):
    output = fresh(0)
    notebook.run_cell(4)
    wait_for(notebook, output, "Key B, length 4.0, 180° off")
    assert output.get_by_label("angle of key B").input_value() == "180"
    assert number(output, "dot-B") == -4


# ---- lesson 02 ---------------------------------------------------------------------------------------------


def test_scores_by_keyboard_and_mouse(notebook, fresh):
    output, page = fresh(1), notebook.page
    d_k = output.get_by_label("d_k", exact=True)
    d_k.press("ArrowRight")
    d_k.press("ArrowRight")
    wait_for(notebook, output, "d_k = 128, scale 1")
    assert number(output, "variance") == pytest.approx(correlated_scores(128).var(), rel=0.006)
    assert number(output, "variance-exact") == 128
    output.get_by_label("correlation").press("End")
    wait_for(notebook, output, "exactly 256")
    output.get_by_label("components", exact=True).select_option("coins")
    wait_for(notebook, output, "variance 0 (0 to 0), exactly 0")
    click_on(notebook, output.get_by_label("correlation"), 0.5)
    click_on(notebook, output.get_by_label("mean of all"), 1.0)
    wait_for(notebook, output, "exactly 512; ")
    assert number(output, "variance-exact") == 128 * 9  # both means 2: 1 + 2·2²
    output.get_by_label("scale", exact=True).select_option("1/√d")
    wait_for(notebook, output, "scale 1/√d")
    right = correlated_scores(128, "coins", mean=2.0) / np.sqrt(128)
    assert number(output, "mean") == pytest.approx(right.mean(), rel=0.006)
    assert number(output, "spread") == pytest.approx(right.std(), rel=0.006)
    output.get_by_label("axis", exact=True).select_option("−4 to 4")
    wait_for(notebook, output, "100 % of the scores lie beyond the axis")
    again = output.get_by_role("button", name="Sample again")
    for times in (1, 2):
        again.press("Enter")
        right = correlated_scores(128, "coins", mean=2.0, draw=times) / np.sqrt(128)
        output.locator("[data-name=mean]", has_text=f"{right.mean():.1f}").wait_for()
    assert page.log.thrown == []


# ---- lesson 03 ---------------------------------------------------------------------------------------------


def test_temperature_by_keyboard_and_mouse(notebook, fresh):
    output = fresh(2)
    temperature = output.get_by_label("temperature T")
    temperature.press("Home")
    wait_for(notebook, output, "temperature 0: the largest weight is 1.000")
    assert number(output, "entropy") == 0
    temperature.press("End")
    wait_for(notebook, output, "temperature ∞")
    assert number(output, "effective") == 16
    temperature.press("ArrowLeft")
    wait_for(notebook, output, "temperature 100:")
    output.get_by_label("divide by √d_k").press("Space")
    wait_for(notebook, output, "not scaled")
    click_on(notebook, output.get_by_label("d_k", exact=True), 1.0)
    wait_for(notebook, output, "d_k = 4096")
    output.get_by_label("number of keys").press("End")
    wait_for(notebook, output, "64 keys")
    weights = sdpa.softmax(unit_scores(64) * 64 / 100)
    assert number(output, "largest") == pytest.approx(weights.max(), abs=0.000501)
    assert number(output, "entropy") == pytest.approx(-(weights * np.log(weights)).sum(), abs=0.00501)
    output.get_by_role("button", name="Other keys").click()
    others = sdpa.softmax(unit_scores(64, 1) * 64 / 100)
    output.locator("[data-name=largest]", has_text=f"{others.max():.3f}").wait_for()


# ---- for every reader --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_and_letters_can_be_read(notebook, fresh, axe, dark):
    notebook.theme(dark)
    for cell in range(3):
        output = fresh(cell)
        assert axe(notebook.page, f".jp-Cell:nth-child({cell + 1}) .jp-Cell-outputArea") == []
        letters, paper = (
            output.locator(where).first.evaluate(f"e => getComputedStyle(e).{what}")
            for where, what in (("svg text", "fill"), (".panel", "backgroundColor"))
        )
        ink, ground = (min(map(int, re.findall(r"\d+", colour)[:3])) for colour in (letters, paper))
        assert (ink > 200 and ground < 60) if dark else (ink < 60 and ground > 200)
    notebook.theme(False)


def test_every_control_has_a_name(notebook, fresh):
    for cell, count in ((0, 4), (1, 8), (2, 6)):
        panel = fresh(cell).locator(".panel")
        named = panel.locator("input, select, button")
        assert named.count() == count
        tree = panel.aria_snapshot()
        roles = re.findall(r"- (slider|combobox|button|checkbox)( \"[^\"]+\")?", tree)
        assert len(roles) == count
        assert all(name for _, name in roles), tree


def test_the_panels_of_two_cells_move_apart(notebook, fresh):
    first, others = fresh(0), notebook.page.locator(".panel .say")
    before = others.nth(2).inner_text()
    first.get_by_label("length of key B").press("End")
    wait_for(notebook, first, "length 4.0")
    assert others.nth(2).inner_text() == before
    assert notebook.page.locator(".panel").count() == 3


def test_a_key_held_down_leaves_no_gap_and_ends_where_it_should(notebook, fresh):
    output = fresh(1)
    output.locator(".picture").evaluate(
        """picture => { window.blank = 0; window.seen = 0; new MutationObserver(() => {
            window.seen += 1; if (picture.querySelectorAll('svg').length !== 1) window.blank += 1;
        }).observe(picture, {childList: true}) }"""
    )
    slider = output.get_by_label("correlation")
    slider.focus()
    for _ in range(20):
        notebook.page.keyboard.press("ArrowRight")
        notebook.page.wait_for_timeout(30)
    wait_for(notebook, output, "exactly 128")
    assert notebook.page.evaluate("window.blank") == 0
    assert (
        notebook.page.evaluate("window.seen") > 3
    )  # of 20; without other work on the machine about all of them
    assert output.locator(".notice").is_hidden()


def test_a_key_press_is_soon_on_screen(notebook, fresh):
    """Only a generous bound: real measurements are in benchmarks/screens_widgets.py."""
    slider = fresh(0).get_by_label("angle of key B")
    slider.focus()
    slider.evaluate(
        """slider => { window.took = []; const picture = slider.getRootNode().querySelector('.picture');
            let pressed; slider.addEventListener('keydown', () => { pressed = performance.now(); }, true);
            const changed = () => window.took.push(performance.now() - pressed);
            new MutationObserver(changed).observe(picture, {childList: true}) }"""
    )
    for key in ["ArrowRight", "ArrowLeft"] * 5:
        notebook.page.keyboard.press(key)
        notebook.page.wait_for_timeout(40)
    took = notebook.page.evaluate("window.took")
    print(f"key press to the new picture: median {np.median(took):.1f} ms of {len(took)}")
    assert np.median(took) < 500


# ---- without a kernel --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_of_nbconvert_shows_the_still(page, course, tmp_path, name):
    from nbconvert import HTMLExporter

    notebook = nbformat.read(course / "notebooks" / f"{name}.ipynb", as_version=4)
    cells = [c for c in notebook.cells if c.cell_type == "code" and "lesson.explore_" in c.source]
    assert len(cells) == 1
    assert set(cells[0].outputs[0].data) == {"text/plain", "text/html"}
    notebook.cells = cells
    (tmp_path / "page.html").write_text(HTMLExporter().from_notebook_node(notebook)[0])
    opened = page(width=900)
    opened.context.set_offline(True)
    opened.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
    still = opened.locator("[data-key] img")
    assert still.count() == 1
    assert still.bounding_box()["height"] > 150
    assert len(still.get_attribute("alt")) > 100
    assert [error for error in opened.log.thrown if "MathJax" not in error and "require" not in error] == []


def test_when_the_kernel_is_gone_it_says_so(notebook, fresh):
    """The last test: it takes the kernel away."""
    output = fresh(2)
    assert output.locator(".notice").is_hidden()
    notebook.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.shutdown().then(() => null)")
    output.get_by_label("number of keys").press("End")
    output.locator(".notice", has_text="run the cell again").wait_for()
    assert output.locator(".picture svg").count() == 1
    assert notebook.page.log.thrown == []
