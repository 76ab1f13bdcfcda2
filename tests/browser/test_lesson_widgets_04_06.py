"""The widgets of lessons 04 to 06 in JupyterLab: mouse and keyboard, the numbers on screen, light and dark."""

import re

import nbformat
import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.lessons.complexity.widget import PUBLISHED, bound

KEYS, TOKENS = ["the", "cat", "fears", "big", "dogs"], ["the", "small", "cat", "fears", "two", "big", "dogs"]
SCORES, ARRIVED = [0, 0.577, 0, 0, 1.155], [-0.5, -4, -3, -3, -6.5]
CELLS = (
    f"from sdpa_helpers.lessons.gradients import explore_way_back\nexplore_way_back({KEYS}, {SCORES}, {ARRIVED})",
    f"from sdpa_helpers.lessons.masking import paint_mask\nmasks = paint_mask({TOKENS})\nmasks",
    "from sdpa_helpers.lessons.complexity import explore_roofline\nfrom sdpa_helpers.lessons.complexity.experiments import Machine\nexplore_roofline(Machine(5e10, 8e9))",
    "print(masks.state['mask'].astype(int).tolist(), masks.state['layers'])",
    "masks.set(layers=6)",
    "from sdpa_helpers.lessons.softmax.widget import explore_temperature\nexplore_temperature()",
)
FOCUSED = """() => { let element = document.activeElement;
    while (element.shadowRoot) element = element.shadowRoot.activeElement;
    return element.ariaLabel || element.textContent }"""
LESSONS = {
    "04_gradients": "explore-way-back",
    "05_masking": "paint-mask",
    "06_complexity": "explore-roofline",
}


@pytest.fixture(scope="module")
def notebook(lab, lab_server):
    """The three widgets in one notebook, run."""
    lab_server.write("widgets_04_06.ipynb", *CELLS)
    opened = lab.open("widgets_04_06.ipynb")
    opened.run_all()
    return opened


@pytest.fixture(scope="module")
def begins(notebook):
    """What the sentence of each widget says at the start."""
    return [notebook.output(i).locator(".say", has_text="a").inner_text() for i in range(3)]


@pytest.fixture
def fresh(notebook, begins):
    """fresh(0) sets a cell's widget back to its start, and gives the cell's output."""

    def again(number):
        output = notebook.output(number)
        output.get_by_role("button", name="Start again").click()
        output.locator(".say", has_text=begins[number]).wait_for()
        return output

    return again


def shown(output, name: str) -> str:
    return output.locator(f"[data-name='{name}']").text_content()


def number(output, name: str) -> float:
    return float(shown(output, name).replace("−", "-"))


def wait_for(output, says: str) -> None:
    """Until the sentence below the picture contains some words."""
    output.locator(".say", has_text=says).wait_for()
    assert says in output.locator("svg[role=img] desc").text_content()


def cell(output, query: str, key: str):
    """A cell of the grid."""
    return output.get_by_role("button", name=f"{query} may attend to {key}", exact=True)


def test_each_cell_has_one_output_and_nothing_complains(notebook, begins):
    notebook.run_cell(1)  # run twice, shown once
    for number_of_cell in (0, 1, 2, 5):
        output = notebook.output(number_of_cell)
        output.locator(".picture svg").wait_for()
        assert output.locator(".jp-OutputArea-output").count() == 1
        assert output.locator("img").count() == 0
    assert notebook.page.locator(".panel").count() == 4
    assert notebook.page.locator(".panel:has(.grid)").count() == 1
    assert notebook.page.log.thrown == notebook.page.log.ours() == notebook.page.log.refused == []


# ---- lesson 04 ---------------------------------------------------------------------------------------------


def test_gradients_by_keyboard_and_by_choice(notebook, fresh):
    output, page = fresh(0), notebook.page
    output.get_by_label("add to “the”").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    output.locator("[data-name='score-0']", has_text="2.000").wait_for()
    output.get_by_label("all scores times").press("ArrowLeft")
    output.locator("[data-name='score-0']", has_text="1.000").wait_for()
    A, dA = sdpa.softmax(np.add(SCORES, [2, 0, 0, 0, 0]) / 2), np.array(ARRIVED)
    right, diagonal = A * (dA - A @ dA), A * (1 - A) * dA
    for i in range(5):
        assert number(output, f"dS-{i}") == pytest.approx(right[i], abs=5.1e-4)
        assert number(output, f"diagonal-{i}") == pytest.approx(diagonal[i], abs=5.1e-4)
        assert number(output, f"J-{i}-{i}") == pytest.approx(A[i] * (1 - A[i]), abs=5.1e-4)
    assert shown(output, "dS-sum") == "0"
    output.get_by_label("dA", exact=True).select_option("7 for all")
    wait_for(output, "The right answer is zero; the diagonal's is not.")
    assert {shown(output, f"dS-{i}") for i in range(5)} == {"0"}
    output.get_by_role("button", name="Start again").click()
    wait_for(output, "Largest slope 0.240")
    output.get_by_label("scores", exact=True).select_option("saturated")
    wait_for(output, "Largest slope 8e−9")
    output.get_by_label("all scores times").press("End")
    output.get_by_label("add to “dogs”").press("End")
    output.locator("[data-name='score-4']", has_text="3000").wait_for()
    assert shown(output, "J-0-0") == "0"
    output.get_by_label("all scores times").press("Home")
    wait_for(output, "Largest slope 0.160")
    assert page.log.thrown == []


# ---- lesson 05 ---------------------------------------------------------------------------------------------


def test_a_mask_painted_by_mouse(notebook, fresh):
    output, page = fresh(1), notebook.page
    wait_for(output, "No leak is marked")
    cell(output, "small", "big").click()
    wait_for(output, "1 leak into the future: in layer 1 small → big")
    layers = output.get_by_label("layers", exact=True)
    layers.press("ArrowRight")
    wait_for(output, "7 leaks")
    layers.press("ArrowRight")
    wait_for(output, "10 leaks")
    assert shown(output, "reach-1-5") == "1!"
    output.get_by_label("the future is a leak").click()
    wait_for(output, "No leak is marked")
    output.get_by_role("button", name="empty", exact=True).click()
    wait_for(output, "7 rows see nothing")
    start, end = (cell(output, "cat", key).bounding_box() for key in ("the", "two"))
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + 8, end["y"] + 8, steps=12)
    page.mouse.up()
    wait_for(output, "The mask allows 5 of 49 pairs")
    assert cell(output, "cat", "fears").get_attribute("aria-pressed") == "true"
    assert cell(output, "cat", "big").get_attribute("aria-pressed") == "false"


def test_a_mask_painted_by_keyboard_and_read_by_python(notebook, fresh):
    output, page = fresh(1), notebook.page
    window = output.get_by_role("button", name="window", exact=True)
    window.press("Enter")
    wait_for(output, "The mask allows 13 of 49 pairs")
    for _ in range(3):  # padding and causal + padding lie between: tab goes on to "empty", then into the grid
        page.keyboard.press("Tab")
    for _ in range(6):  # the grid remembers its place
        page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Space")
    wait_for(output, "in layer 1 small → dogs")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    wait_for(output, "2 leaks into the future")
    assert page.evaluate(FOCUSED) == "small may attend to big"
    page.keyboard.press("Tab")  # one step leaves the grid
    assert page.evaluate(FOCUSED) == "Start again"
    assert page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex") == 1
    notebook.run_cell(3)
    mask = (np.eye(7, dtype=int) + np.eye(7, k=-1, dtype=int)).tolist()
    mask[1][5] = mask[1][6] = 1
    assert notebook.output(3).inner_text().strip() == f"{mask} 1"
    notebook.run_cell(4)
    wait_for(output, "pairs are connected. ")
    output.locator("[data-name='reach-6-0']", has_text="6").wait_for()
    assert page.log.thrown == []


# ---- lesson 06 ---------------------------------------------------------------------------------------------


def test_the_roofline_by_keyboard_and_by_choice(notebook, fresh):
    output = fresh(2)
    tokens = output.get_by_label("tokens n")
    tokens.press("End")
    wait_for(output, "1,048,576 tokens")
    assert shown(output, "limit") == "memory"
    assert shown(output, "held") == "more than its 80 GB"
    output.get_by_label("way").select_option("fused")
    wait_for(output, "Fused, 1,048,576 tokens")
    assert shown(output, "limit") == "arithmetic"
    output.get_by_label("hardware").select_option("T4")
    output.get_by_label("numbers").select_option("float32")
    output.get_by_label("width of a head d").press("ArrowRight")
    wait_for(output, "d = 128, float32")
    right = bound(PUBLISHED["T4"], 2**20, 128, "fused", "float32")
    assert shown(output, "time") == f"{right.seconds:.1f} s"
    tokens.press("Home")
    wait_for(output, "32 tokens")
    assert shown(output, "limit") == "memory"
    output.get_by_label("hardware").select_option("this machine")
    output.get_by_label("numbers").select_option("float16")
    wait_for(output, "No float16 peak is known here")
    assert shown(output, "ridge") == "6.25 FLOP/B"
    assert notebook.page.log.thrown == []


# ---- for every reader --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_and_letters_can_be_read(notebook, fresh, axe, dark):
    notebook.theme(dark)
    for i in range(3):
        output = fresh(i)
        assert axe(notebook.page, f".jp-Cell:nth-child({i + 1}) .jp-Cell-outputArea") == []
        letters, paper = (
            output.locator(where).first.evaluate(f"e => getComputedStyle(e).{what}")
            for where, what in (("svg text", "fill"), (".panel", "backgroundColor"))
        )
        ink, ground = (min(map(int, re.findall(r"\d+", colour)[:3])) for colour in (letters, paper))
        assert (ink > 200 and ground < 60) if dark else (ink < 60 and ground > 200)
    notebook.theme(False)


def test_every_control_has_a_name_and_stays_in_its_column(notebook, fresh):
    for i, count in ((0, 9), (1, 2 + 5 + 49 + 1), (2, 6)):
        panel = fresh(i).locator(".panel")
        roles = re.findall(r"- (slider|combobox|button|checkbox)( \"[^\"]+\")?", panel.aria_snapshot())
        assert len(roles) == count
        assert all(name for _, name in roles)
        column, picture = (panel.locator(part).bounding_box() for part in (".controls", ".picture"))
        for control in panel.locator("input, select, table").all():
            box = control.bounding_box()
            assert box["x"] + box["width"] <= column["x"] + column["width"] + 1 < picture["x"] + 1


def test_in_a_narrow_window_nothing_lies_on_top_of_anything(notebook, fresh):
    notebook.page.set_viewport_size({"width": 640, "height": 1000})
    for i in range(3):
        panel = fresh(i).locator(".panel")
        controls, picture = (panel.locator(part).bounding_box() for part in (".controls", ".picture"))
        assert controls["y"] + controls["height"] <= picture["y"] + 1
    notebook.page.set_viewport_size({"width": 1280, "height": 1000})


def test_fast_painting_leaves_no_gap_and_ends_where_it_should(notebook, fresh):
    output, page = fresh(1), notebook.page
    output.locator(".picture").evaluate(
        """picture => { window.blank = 0; new MutationObserver(() => {
            if (picture.querySelectorAll('svg').length !== 1) window.blank += 1;
        }).observe(picture, {childList: true}) }"""
    )
    output.get_by_role("button", name="empty", exact=True).click()
    cell(output, "the", "the").focus()
    for _ in range(7):
        page.keyboard.press("Space")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
    wait_for(
        output, "The mask allows 7 of 49 pairs; over the layers 7 pairs are connected. No leak is marked."
    )
    assert page.evaluate("window.blank") == 0
    assert output.locator(".notice").is_hidden()


def test_a_painted_cell_is_soon_on_screen(notebook, fresh):
    """Only a generous bound: real measurements are in benchmarks/screens_widgets_04_06.py."""
    output, page = fresh(1), notebook.page
    button = cell(output, "the", "the")
    button.focus()
    button.evaluate(
        """cell => { window.took = []; const picture = cell.getRootNode().querySelector('.picture');
            let pressed; cell.addEventListener('keydown', () => { pressed = performance.now(); }, true);
            new MutationObserver(() => window.took.push(performance.now() - pressed))
                .observe(picture, {childList: true}) }"""
    )
    for _ in range(8):
        page.keyboard.press("Space")
        page.wait_for_timeout(60)
    took = page.evaluate("window.took")
    print(f"key press to the new picture: median {np.median(took):.1f} ms of {len(took)}")
    assert np.median(took) < 500


# ---- without a kernel --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_of_nbconvert_shows_the_still(page, course, tmp_path, name):
    from nbconvert import HTMLExporter

    notebook = nbformat.read(course / "notebooks" / f"{name}.ipynb", as_version=4)
    notebook.cells = [c for c in notebook.cells if c.id == LESSONS[name]]
    assert set(notebook.cells[0].outputs[0].data) == {"text/plain", "text/html"}
    (tmp_path / "page.html").write_text(HTMLExporter().from_notebook_node(notebook)[0])
    opened = page(width=900)
    opened.context.set_offline(True)
    opened.goto((tmp_path / "page.html").as_uri(), wait_until="domcontentloaded")
    still = opened.locator("[data-key] img")
    assert still.count() == 1
    assert still.bounding_box()["height"] > 150
    assert len(still.get_attribute("alt")) > 100
    assert [error for error in opened.log.thrown if "MathJax" not in error and "require" not in error] == []
