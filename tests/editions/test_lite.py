"""The browser edition in a real Chromium, every other host refused: from a link to a named mistake, and out again."""

import gzip
import os
import shutil

import pytest

from editions.browser import image
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from tests.browser.harness import open_page
from tests.editions.conftest import served
from tests.editions.editor import START_MS

STUB = "# exercise: softmax\ndef softmax(x, axis=-1):\n"
WRONG = f"{STUB}    weights = np.exp(x)\n    return weights / weights.sum(axis=axis, keepdims=True)\n"
RIGHT = WRONG.replace("np.exp(x)", "np.exp(x - np.max(x, axis=axis, keepdims=True))")
SETUP, ANSWER, CHECK = 1, 3, 4  # cells of exercises/03_softmax.ipynb
ALL_POINTS = 15
WHERE = "import sys\nprint(sys._emscripten_info.runtime)\n"
OF_THE_IMAGE = "a browser"  # what Python believes where the image was made
KEPT = "import sdpa_helpers.course.saved as saved\nprint(saved.load())"

IDLE = """() => {
    const panel = window.jupyterapp?.shell.currentWidget, kernel = panel?.sessionContext?.session?.kernel;
    const waits = cell => cell.node.querySelector('.jp-InputPrompt')?.textContent.includes('*');
    return kernel?.status === 'idle' && !panel.content.widgets.some(waits) }"""


class Desk:
    """The browser edition in one page."""

    def __init__(self, browser, address):
        self.page, self.address = open_page(browser, address, accept_downloads=True), address
        self.page.set_default_timeout(START_MS)

    def open(self, path):
        self.page.goto(f"{self.address}/lite/lab/index.html?path={path}")
        self.page.wait_for_selector(".jp-Notebook .jp-Cell")
        self.page.wait_for_function(IDLE)
        return self

    def run(self, number):
        self.page.evaluate("n => { jupyterapp.shell.currentWidget.content.activeCellIndex = n }", number)
        self.page.evaluate("() => jupyterapp.commands.execute('notebook:run-cell').then(() => null)")
        self.page.wait_for_function(IDLE)
        return self.page.locator(".jp-Notebook:visible .jp-Cell").nth(number).locator(".jp-Cell-outputArea")

    def type(self, number, text):
        """Into a cell, as a learner does: select all that stands there, and write."""
        self.page.locator(".jp-Notebook .jp-Cell").nth(number).locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def text(self, number):
        return self.page.evaluate(
            "n => jupyterapp.shell.currentWidget.content.widgets[n].model.sharedModel.getSource()", number
        )


@pytest.fixture(scope="module")
def desk(browser, needs, built_site, site_address):
    """An exercise in the browser edition, served as any web server would."""
    needs("jupyterlite_core")
    built_site("pyodide", "lite")
    opened = Desk(browser, site_address).open("exercises/03_softmax.ipynb")
    yield opened
    assert opened.page.log.refused == []
    opened.page.context.close()


def test_from_a_link_to_a_named_mistake_to_points_to_a_file_that_is_graded_and_back(desk, tmp_path):
    desk.run(SETUP)
    desk.type(ANSWER, WRONG)
    desk.run(ANSWER)
    assert "no-max-subtracted" in desk.run(CHECK).inner_text()
    desk.type(ANSWER, RIGHT)
    desk.run(ANSWER)
    assert f"{ALL_POINTS} of {ALL_POINTS} points" in desk.run(CHECK).inner_text()
    saved = "() => !jupyterapp.shell.currentWidget.context.model.dirty"
    desk.page.wait_for_function(saved)  # by itself

    desk.page.reload()
    desk.page.wait_for_function(IDLE)
    assert desk.text(ANSWER) == RIGHT
    desk.page.get_by_text(", 1 of 10 exercises solved").wait_for(state="attached")
    desk.run(SETUP)
    desk.type(SETUP, KEPT)
    assert str({"softmax": float(ALL_POINTS)}) in desk.run(SETUP).inner_text()  # and so does the kernel

    with desk.page.expect_download() as coming:
        desk.page.locator(".sdpa-course").get_by_role("button", name="Download my notebook").click()
    file = tmp_path / coming.value.suggested_filename
    coming.value.save_as(file)
    assert graded(file)["softmax"] == ALL_POINTS

    desk.type(ANSWER, WRONG)
    with desk.page.expect_file_chooser() as asked:
        desk.page.locator(".sdpa-course").get_by_role("button", name="Open mine").click()
    asked.value.set_files(file)
    desk.page.wait_for_function(
        "([n, text]) => jupyterapp.shell.currentWidget.content.widgets[n]?.model.sharedModel.getSource() === text",
        arg=[ANSWER, RIGHT],
    )


def test_the_bar_of_the_site_is_there_and_its_choice_of_light_or_dark_in_both_directions(desk):
    desk.page.locator(".course-bar #theme").click()  # the system is light: the first press turns it dark
    desk.page.locator("body[data-jp-theme-name='JupyterLab Dark'] .course-bar").wait_for()
    desk.page.evaluate(
        "void jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})"
    )
    desk.page.locator("[data-mode=light] [data-jp-theme-name='JupyterLab Light'] .course-bar").wait_for()
    assert desk.page.evaluate("localStorage.getItem('mode')") == "light"


def graded(file):
    """Points by exercise, as `sdpa grade` gives them."""
    result = grade(Submission("ada", file.stem, file), Settings(seed="editions"))
    return {one.name: one.points for one in result.exercises}


def test_the_kernel_starts_from_an_image_of_its_memory(desk):
    desk.type(SETUP, WHERE)
    assert desk.run(SETUP).inner_text().strip() == OF_THE_IMAGE


def test_where_the_image_does_not_fit_the_kernel_starts_from_nothing(browser, needs, built_site, tmp_path):
    needs("jupyterlite_core")
    for part in ("pyodide", "look", "lite"):
        shutil.copytree(built_site("pyodide", "lite") / part, tmp_path / part, copy_function=os.symlink)
    packed = tmp_path / "lite/kernel" / f"kernel-memory{image.PACKED}"
    archive = gzip.decompress(packed.read_bytes())
    packed.unlink()
    moved = archive.replace(b'"table":1', b'"table":2', 1)  # the first library would come to another place
    packed.write_bytes(gzip.compress(moved, 1))
    with served(tmp_path) as address:
        desk = Desk(browser, address).open("exercises/03_softmax.ipynb")
        desk.run(SETUP)
        desk.type(ANSWER, WRONG)
        desk.run(ANSWER)
        assert "no-max-subtracted" in desk.run(CHECK).inner_text()
        desk.type(SETUP, WHERE + KEPT)
        told = desk.run(SETUP).inner_text()
        assert "Chrome" in told  # what Python says of its browser
        assert OF_THE_IMAGE not in told
        assert "'softmax'" in told  # points are kept as by the other kernel
        assert desk.page.log.refused == []
        desk.page.context.close()


def test_keys_pressed_in_a_panel_stay_in_it(desk):
    desk.type(SETUP, "import sdpa_helpers as sdpa\nsdpa.walk_through()")  # as lesson 00 begins
    cells = desk.page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length")
    panel = desk.run(SETUP)
    control = panel.get_by_role("slider").first
    before = control.input_value()
    control.focus()
    for key in ("ArrowRight", *"bddx"):  # letters that add and cut a notebook's cells
        desk.page.keyboard.press(key)
    assert control.input_value() != before
    state = "(one => [one.widgets.length, one.activeCellIndex])(jupyterapp.shell.currentWidget.content)"
    assert desk.page.evaluate(state) == [cells, SETUP]
