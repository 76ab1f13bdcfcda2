"""A light page in a real Chromium, every other host refused: from a link to a named mistake, and out again."""

import json

import pytest

from sdpa_helpers.course.registry import all_exercises, all_written
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from tests.browser.harness import open_page
from tests.editions.editor import NOT_OFFLINE, START_MS, check, text_in, write

WRONG = (
    "def softmax(x, axis=-1):\n    e = np.exp(x - x.max())\n    return e / e.sum(axis=axis, keepdims=True)\n"
)
RIGHT = WRONG.replace("x.max()", "x.max(axis=axis, keepdims=True)")
ENDLESS = "while True:\n    pass\n"
ALL_POINTS = 15
MOST_BYTES = 20e6


@pytest.fixture(scope="module")
def address(built_site, site_address):
    built_site("pyodide", "try")
    return f"{site_address}/try"


@pytest.fixture(scope="module")
def page(browser, address):
    """One page for all tests of this file: Python starts once or twice, not ten times."""
    opened = open_page(browser, address.removesuffix("/try"), accept_downloads=True, **NOT_OFFLINE)
    opened.set_default_timeout(START_MS)
    opened.loaded = {}
    opened.context.on(
        "response",
        lambda r: (
            None  # what it has made of what it loaded
            if r.url.startswith("blob:")
            else opened.loaded.update({r.url: int(r.headers.get("content-length", 0))})
        ),
    )
    opened.goto(f"{address}/softmax.html")
    yield opened
    assert opened.log.refused == []
    assert opened.log.thrown == []
    opened.context.close()


def shown(page):
    page.locator("#verdict > *").first.wait_for()
    return page.locator("#verdict").inner_text()


def test_a_wrong_answer_gets_its_name_and_a_right_one_all_points(page):
    write(page, WRONG)  # while Python is on its way
    assert "global-max-subtracted" in check(page)
    assert page.evaluate("document.activeElement.id") == "verdict"
    assert sum(page.loaded.values()) < MOST_BYTES
    write(page, RIGHT)
    assert f"{ALL_POINTS} of {ALL_POINTS} points" in check(page)
    assert page.locator("#total").inner_text() == f"{ALL_POINTS} points so far"


def test_the_answer_and_its_points_survive_a_reload(page):
    page.reload()
    assert text_in(page) == RIGHT
    assert page.locator("#total").inner_text() == f"{ALL_POINTS} points so far"


def test_the_notebook_that_is_downloaded_is_graded_and_comes_back(page, tmp_path):
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download my notebook").click()
    file = tmp_path / coming.value.suggested_filename
    coming.value.save_as(file)
    result = grade(Submission("ada", file.stem, file), Settings(seed="light"))
    assert {one.name: one.points for one in result.exercises}["softmax"] == ALL_POINTS

    write(page, WRONG)
    page.locator("#open").set_input_files(file)
    page.get_by_role("button", name="With the file's").click()
    page.locator("#file-status", has_text="03_softmax.ipynb is yours").wait_for()
    assert "x.max(axis=axis" in text_in(page)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("no notebook", "it is not JSON"),
        ("[1, 2]", "has no cells"),
        ('{"cells": [{"cell_type": "code", "source": "x = 1"}, 3, null]}', "has no answer of this course"),
        (
            json.dumps({"cells": [{"cell_type": "code", "source": ["# exercise: __proto__\n", "1"]}]}),
            "no answer",
        ),
    ],
)
def test_a_file_that_is_no_notebook_gets_a_sentence_and_changes_nothing(page, content, told, tmp_path):
    before = page.evaluate("localStorage.getItem('sdpa-try')")
    (tmp_path / "mine.ipynb").write_text(content, encoding="utf-8")
    page.locator("#open").set_input_files(tmp_path / "mine.ipynb")
    page.locator("#file-status", has_text=told).wait_for()
    assert page.evaluate("localStorage.getItem('sdpa-try')") == before


def test_hints_and_the_solution_come_as_cards_and_stand_once(page):
    hint, solution = (page.get_by_role("button", name=name, exact=True) for name in ("Hint", "Solution"))
    hint.click()
    assert "hint 1 of" in shown(page)
    solution.click()
    page.locator("#verdict", has_text="one right answer").wait_for()
    write(page, WRONG)
    check(page)
    assert page.locator("#verdict summary", has_text="Solution").count() == 1
    assert hint.is_hidden()
    assert solution.is_hidden()
    page.get_by_role("button", name="Run", exact=True).click()
    solution.wait_for()
    assert hint.is_visible()


def test_a_loop_that_never_ends_is_stopped_and_the_page_goes_on(page):
    write(page, ENDLESS + WRONG)
    page.get_by_role("button", name="Check").click()
    page.locator("html[data-python=ready]").wait_for()
    page.get_by_role("button", name="Stop").click()
    assert "Your answer is kept" in shown(page)
    write(page, RIGHT)
    assert f"{ALL_POINTS} of {ALL_POINTS} points" in check(page)


def test_every_exercise_has_a_page_and_one_in_words_has_no_check(built_site):
    folder = built_site("try") / "try"
    for name in all_exercises():
        text = (folder / f"{name}.html").read_text(encoding="utf-8")
        assert 'id="check"' in text, name
        assert "<math" in text or "$" not in text, name
    for name in all_written():
        assert 'id="check"' not in (folder / f"{name}.html").read_text(encoding="utf-8")
