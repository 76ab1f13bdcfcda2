"""Work in a light page: nothing that a learner wrote goes because of a file, another tab, a button or a reload."""

import json

import pytest

from sdpa_helpers.course.exercise_notebook import exercise_notebook
from tests.browser.harness import open_page
from tests.editions.editor import NOT_OFFLINE, READ, text_in, write
from tests.editions.test_accessible import violations
from tests.nightly import at_night

LESSON = "03_softmax"
MINE = "def softmax(x, axis=-1):\n    return x  # mine, of a whole evening"
THEIRS = MINE.replace("mine", "theirs")
OTHERS = ("entropy", "log_softmax")
WORDS = "when_gradients_vanish"
MADE_UP = 500
NO_DATABASE = (
    "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('', 'SecurityError') } })"
)
DEAF = """const add = window.addEventListener;
window.addEventListener = (kind, ...rest) => ["storage", "focus"].includes(kind) || add.call(window, kind, ...rest);"""


@pytest.fixture
def light(browser, built_site, site_address):
    """`light()` is softmax's page in a browser that has kept nothing, without Python; `light.tab()` one more."""
    built_site("try")
    first = open_page(browser, site_address, **NOT_OFFLINE)
    first.context.route("**/pyodide/**", lambda route: route.abort())

    def tab(page=None, name="softmax"):
        page = page or first.context.new_page()
        page.goto(f"{site_address}/try/{name}.html")
        page.locator("#versions summary").first.wait_for()
        return page

    yield lambda *, script="", name="softmax": (script and first.add_init_script(script), tab(first, name))[1]
    assert first.log.thrown == []
    first.context.close()


@pytest.fixture
def another(light, site_address):
    """`another(page)` opens the same exercise in a second tab."""

    def open_(page, script=""):
        tab = page.context.new_page()
        if script:
            tab.add_init_script(script)
        tab.goto(page.url)
        tab.locator("#versions summary").first.wait_for()
        return tab

    return open_


def keep(page, **answers):
    """As if they had been written on their pages."""
    page.evaluate(
        "answers => localStorage.setItem('sdpa-try', JSON.stringify({version: 1, answers, points: {}}))",
        answers,
    )
    page.reload()


def kept(page):
    return page.evaluate("() => JSON.parse(localStorage.getItem('sdpa-try') ?? '{}').answers ?? {}")


def file(folder, **answers):
    """The lesson's notebook with these answers in their cells."""
    notebook = exercise_notebook(LESSON)
    for cell in notebook.cells:
        name = cell["id"].removesuffix("-answer").replace("-", "_")
        if cell["id"].endswith("-answer") and name in answers:
            cell.source = f"{cell.source.splitlines()[0]}\n{answers[name]}"
    path = folder / f"{LESSON}.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def opened(page, path, told):
    page.locator("#open").set_input_files(path)
    page.locator("#file-status", has_text=told).wait_for()
    return page.locator("#file-status").inner_text()


def versions(page):
    """The texts in the list of earlier versions, the newest first."""
    if page.locator("#versions[open]").count() == 0:
        page.locator("#versions > summary").click()
    page.locator("#versions .small").first.wait_for()
    return page.locator("#versions pre").all_text_contents()


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def test_an_untouched_notebook_replaces_nothing(light, tmp_path):
    page = light()
    mine = dict.fromkeys(("softmax", *OTHERS), MINE)
    keep(page, **mine)
    said = opened(page, file(tmp_path), "not answered in it")
    assert "softmax, entropy and log_softmax are not answered in it: yours stay" in said
    assert kept(page) == mine
    assert text_in(page) == MINE
    assert page.locator(".question").count() == 0


def test_what_is_missing_here_is_taken_and_what_differs_is_asked_about(light, tmp_path):
    page = light()
    keep(page, softmax=MINE)
    both = file(tmp_path, softmax=THEIRS, entropy=THEIRS)
    opened(page, both, "1 answer taken")
    assert page.locator(".question").inner_text().startswith("softmax is not the same in 03_softmax.ipynb")
    assert THEIRS in kept(page)["entropy"]
    assert text_in(page) == kept(page)["softmax"] == MINE  # until the learner has said so
    press(page, "With the file's")
    page.locator(
        "#file-status", has_text="What was there before is in Earlier versions of softmax"
    ).wait_for()
    assert THEIRS in text_in(page)
    page.reload()
    assert THEIRS in text_in(page)
    assert versions(page) == [MINE]
    page.locator("#versions li summary").click()
    press(page, "Put this back")
    page.locator("#status", has_text="is back").wait_for()
    assert text_in(page) == kept(page)["softmax"] == MINE
    assert [THEIRS in one for one in versions(page)] == [True, False]


def test_who_stays_with_their_own_finds_the_other_among_the_versions(light, tmp_path):
    page = light()
    keep(page, softmax=MINE, entropy=MINE)
    page.locator("#open").set_input_files(file(tmp_path, softmax=THEIRS, entropy=THEIRS))
    page.locator(".question", has_text="softmax and entropy are not the same").wait_for()
    press(page, "With mine")
    page.locator("#file-status", has_text="is yours").wait_for()
    assert set(kept(page).values()) == {MINE}
    assert text_in(page) == MINE
    assert THEIRS in versions(page)[0]


def test_the_notebook_that_was_downloaded_asks_nothing_when_it_comes_back(light, tmp_path):
    page = light(name=WORDS)
    keep(page, softmax_backward=MINE, **{WORDS: "As it grows, the weights come to be alike."})
    with page.expect_download() as coming:
        press(page, "Download my notebook")
    path = tmp_path / coming.value.suggested_filename
    coming.value.save_as(path)
    before = kept(page)
    opened(page, path, "no answer that is not here already")
    assert kept(page) == before
    assert page.locator(".question").count() == 0


def test_made_up_exercises_are_refused_by_name_and_take_no_room(light, tmp_path):
    page = light()
    names = [f"made_up_{number}" for number in range(MADE_UP)]
    cells = [
        {"cell_type": "code", "source": f"# exercise: {name}\n" + "x" * 15_000}
        for name in (*names, "__proto__", "softmax")
    ]
    path = tmp_path / "many.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    began = page.evaluate("performance.now()")
    said = opened(page, path, "1 answer taken")
    assert page.evaluate("performance.now()") - began < 5000  # it was 30 seconds
    assert "no exercises of lesson 03: made_up_0, made_up_1, made_up_2 and 498 more" in said
    assert list(kept(page)) == ["softmax"]

    path.write_text(json.dumps({"cells": cells[:-1]}), encoding="utf-8")
    opened(page, path, "has no answer of lesson 03; it answers made_up_0, made_up_1, made_up_2 and 498 more")
    assert list(kept(page)) == ["softmax"]
    write(page, MINE)
    page.reload()
    assert text_in(page) == MINE


@pytest.mark.parametrize(
    "theirs", ["x" * 60_000, at_night("x" + "\n" * 10_000 + "x"), at_night("x" + "\u0301" * 10_000)]
)
def test_an_answer_that_no_editor_shows_at_once_is_left_out_by_name(light, tmp_path, theirs):
    page = light()
    keep(page, softmax=MINE)
    said = opened(page, file(tmp_path, softmax=theirs), "Left out")
    assert "longer than 50,000 letters or 2,000 lines, or with accents piled on one letter: softmax" in said
    assert kept(page) == {"softmax": MINE}


def test_a_cell_whose_text_is_none_costs_no_other_answer(light, tmp_path):
    page = light()
    path = file(tmp_path, softmax=THEIRS)
    notebook = json.loads(path.read_text("utf-8"))
    odd = [{"toString": 1}, ["x", {"toString": 1}], 7, None]
    notebook["cells"] += [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in odd
    ]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    opened(page, path, "1 answer taken")
    assert THEIRS in kept(page)["softmax"]


def test_a_browser_that_is_full_says_that_a_file_is_not_kept(light, tmp_path):
    page = light()
    page.evaluate("""() => { for (const size of [1e6, 1e4]) try {
        for (let n = 0; ; n++) localStorage.setItem(`${size} ${n}`, "x".repeat(size)); } catch {} }""")
    said = opened(page, file(tmp_path, softmax=THEIRS + "#" * 40_000), "1 answer taken")
    assert "download your notebook before you leave" in said
    assert kept(page) == {}


def test_two_tabs_of_one_exercise_show_the_same(light, another):
    one = light()
    two = another(one)
    write(one, MINE)
    two.wait_for_function(f"text => ({READ})() === text", arg=MINE)
    two.locator(".cm-content").click()
    two.keyboard.press("Control+End")
    two.keyboard.insert_text("!")
    one.wait_for_function(f"text => ({READ})() === text", arg=f"{MINE}!")
    for page in (one, two):
        page.reload()
        assert text_in(page) == f"{MINE}!"


def test_a_tab_that_heard_nothing_of_the_other_overwrites_nothing(light, another):
    one = light()
    old = another(one, DEAF)
    write(one, MINE)
    old.locator(".cm-content").click()
    old.keyboard.insert_text("a letter")
    old.locator("#status", has_text="Another tab changed this answer").wait_for()
    assert text_in(one) == text_in(old) == kept(one)["softmax"] == MINE
    (letter,) = versions(old)
    assert "a letter" in letter


def test_an_answer_in_words_is_in_step_too(light, another):
    one = light(name=WORDS)
    two = another(one)
    write(one, "It is warmer.")
    two.wait_for_function("() => document.querySelector('#source').value === 'It is warmer.'")
    write(two, "So")
    one.wait_for_function("() => document.querySelector('#source').value === 'So'")
    assert versions(two) == ["It is warmer."]  # before most of it was deleted


def test_start_again_can_be_undone_after_a_reload(light):
    page = light()
    first = text_in(page)
    write(page, MINE)
    press(page, "Start again")
    page.locator("#status", has_text="Begun again").wait_for()
    assert text_in(page) == first
    page.reload()
    assert text_in(page) == first
    assert versions(page) == [MINE]
    assert "before Start again" in page.locator("#versions li summary").inner_text()
    page.locator("#versions li summary").click()
    press(page, "Put this back")
    page.locator("#status", has_text="is back").wait_for()
    page.reload()
    assert text_in(page) == MINE


def test_the_last_twenty_versions_of_each_exercise_are_kept_each_once(light):
    page = light()
    page.evaluate(
        """async () => { const { note } = await import("./journal.js");
        for (let n = 0; n < 25; n++) await note("softmax", `version ${n}`, "checked");
        await note("softmax", "version 7", "checked");
        await note("entropy", "another", "checked"); }"""
    )
    numbers = [7, *(n for n in range(24, 4, -1) if n != 7)]
    assert versions(page) == [f"version {n}" for n in numbers]


def test_without_a_database_versions_last_as_long_as_the_page_and_it_says_so(light):
    page = light(script=NO_DATABASE)
    write(page, MINE)
    press(page, "Start again")
    assert versions(page) == [MINE]
    assert "only until you leave this page" in page.locator("#versions .small").first.inner_text()
    page.reload()
    assert versions(page) == []


def test_the_question_and_the_list_are_read_and_reached_by_everyone(light, tmp_path, needs):
    needs("axe_playwright_python")
    page = light()
    keep(page, softmax=MINE)
    write(page, MINE + "!")
    assert versions(page) == [MINE]
    page.locator("#versions li summary").click()
    page.locator("#open").set_input_files(file(tmp_path, softmax=THEIRS))
    page.locator(".question").wait_for()
    assert page.evaluate("document.activeElement.className") == "question"
    assert violations(page) == []
    page.set_viewport_size({"width": 320, "height": 700})
    page.wait_for_function("innerWidth === 320 && document.documentElement.scrollWidth <= 320")
    press(page, "With mine")
    assert page.locator(".question").count() == 0
