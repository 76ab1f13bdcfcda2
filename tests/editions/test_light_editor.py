"""The editor of the light pages: keys in and out, names that give nothing away, Run, and room for its card."""

import json
import re

import pytest

from editions.npm import bundled
from editions.try_it import build, words
from tests.browser.harness import open_page
from tests.editions.editor import NOT_OFFLINE, START_MS, paste, text_in
from tests.editions.test_try_it import RIGHT

BLOCKED = "window.blocked = []; document.onsecuritypolicyviolation = (e) => blocked.push(e.violatedDirective)"
LONG = RIGHT + "".join(f"# line {number}\n" for number in range(60))


@pytest.fixture(scope="module")
def page(browser, built_site, site_address):
    built_site("pyodide", "try")
    opened = open_page(browser, site_address, height=800, **NOT_OFFLINE)
    opened.set_default_timeout(START_MS)
    opened.add_init_script(BLOCKED)
    opened.goto(f"{site_address}/try/softmax.html")
    yield opened
    assert opened.evaluate("blocked") == []
    assert opened.log.refused == opened.log.thrown == []
    opened.context.close()


def test_its_one_file_is_the_same_each_time_and_makes_no_code_of_text(tmp_path):
    texts = []
    for name in ("one.js", "two.js"):
        bundled(build.HERE / "editor.js", tmp_path / name)
        texts.append((tmp_path / name).read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    assert not re.search(
        r"\beval\(|new Function|innerHTML|document\.write|https?://(?!www\.w3\.org)", texts[0]
    )


def test_a_page_takes_styles_from_its_own_files_only():
    for page in ("exercise.html", "yours.html", "index.html"):
        text = (build.HERE / "templates" / page).read_text(encoding="utf-8")
        assert "style-src 'self';" in text
        assert "<style" not in text


def test_tab_indents_and_escape_then_tab_leaves(page):
    paste(page, "x = 1")
    page.keyboard.press("Tab")
    assert text_in(page) == "    x = 1"
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "run"
    assert text_in(page) == "    x = 1"


def test_the_line_numbers_fill_the_frame_and_its_height_follows_the_text(page):
    fill = """() => { const frame = document.querySelector(".editor"), root = frame.querySelector(".code").shadowRoot;
        const [high, gutter] = [frame, root.querySelector(".cm-gutters")].map(e => e.getBoundingClientRect().height);
        return Math.abs(high - gutter) < 4 && high }"""
    paste(page, "x = 1")
    few = page.wait_for_function(fill).json_value()
    paste(page, "x = 1\n" * 30)
    many = page.wait_for_function(f"few => ({fill})() > few + 200 && ({fill})()", arg=few).json_value()
    assert many > few + 200


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("np.lin", "linspace"), ("def f(scores_of_mine):\n    return scores_of", "scores_of_mine")],
)
def test_names_are_offered_without_python(page, typed, offered):
    paste(page, "# begun")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type(typed, delay=20)
    names = page.locator(".cm-tooltip-autocomplete li", has_text=offered)
    names.first.wait_for()
    assert names.first.inner_text().startswith(offered)
    page.keyboard.press("Escape")


def begin_a_word(page):
    paste(page, "k = 1")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("k", delay=20)


def test_enter_is_a_new_line_while_names_are_offered(page):
    begin_a_word(page)
    page.locator(".cm-tooltip-autocomplete").wait_for()
    page.wait_for_timeout(100)  # the list takes no key in its first 75 ms
    page.keyboard.press("Enter")
    assert text_in(page) == "k = 1\nk\n"


@pytest.mark.parametrize("wait", [0, 400])
def test_offered_names_cover_nothing_once_something_is_asked(page, wait):
    for leave in ("Shift+Enter", None):
        begin_a_word(page)
        page.wait_for_timeout(wait)
        page.keyboard.press(leave) if leave else page.locator("#run").click()
        page.locator("#verdict pre", has_text="1").wait_for()
        page.wait_for_timeout(400)
        assert page.locator(".cm-tooltip-autocomplete").count() == 0
        page.locator("#verdict pre").evaluate_all("all => all.forEach((one) => one.remove())")


def test_the_names_of_numpy_are_those_of_the_lessons_and_the_same_on_every_page(built_site):
    folder = built_site("try") / "try"
    assert (folder / "names.js").read_text(encoding="utf-8") == words.names_js()
    names = words.numpy_names()
    assert {"array", "exp", "mean"} <= {*names}
    assert len(names) < 80
    assert "NUMPY" not in (folder / "softmax.html").read_text(encoding="utf-8")


def test_run_shows_what_is_printed_and_the_last_value_as_text_and_gives_no_points(page):
    paste(page, f"{RIGHT}print('<b>seen</b>')\nsoftmax(np.array([1.0, 1.0]))")
    page.keyboard.press("Shift+Enter")
    page.locator("#verdict pre", has_text="array([0.5, 0.5])").wait_for()
    assert page.locator("#verdict pre").first.inner_text().strip() == "<b>seen</b>"
    assert page.locator("#verdict b").count() == 0
    assert page.locator("#total").inner_text() == ""
    assert page.evaluate("document.activeElement.className") == "code"  # who runs writes on
    paste(page, "import matplotlib.pyplot as plt")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#verdict", has_text="no matplotlib here").wait_for()
    assert "draws no plots" in page.locator("#verdict").inner_text()


def test_after_a_check_code_and_card_are_both_in_view(page):
    for answer in (RIGHT.replace("axis=axis, keepdims=True)", ")"), LONG):
        paste(page, answer)
        page.keyboard.press("Control+Enter")
        page.locator("#verdict .card").wait_for()
        page.wait_for_function("document.querySelector('#stop').hidden")
        editor, card = (page.locator(name).bounding_box() for name in (".editor", "#verdict .card"))
        assert editor["y"] >= 0
        assert card["y"] >= editor["y"] + editor["height"]
        assert page.locator("#status").bounding_box()["height"] == 0  # nothing to say, no gap
        assert card["y"] + min(card["height"], 200) <= 800


def test_in_a_lesson_the_frame_is_as_high_as_what_is_in_it(browser, built_site, site_address):
    built_site("pages", "pyodide", "try")
    page = open_page(browser, site_address, **NOT_OFFLINE)
    page.goto(f"{site_address}/exercises/03_softmax.html")
    page.locator("details.try > summary").first.click()
    inside = page.frame_locator("details.try iframe").first
    inside.locator(".cm-content").wait_for()
    fits = (
        "() => { const f = document.querySelector('details.try iframe'); return f.style.height && "
        "Math.abs(f.clientHeight - f.contentDocument.body.getBoundingClientRect().height) < 4 }"
    )
    page.wait_for_function(fits)
    inside.locator("#versions > summary").click()  # higher
    page.wait_for_function(fits)
    page.evaluate(
        """() => new Promise(heard => { addEventListener("message", ({ data }) => data.height === 5000 && heard());
        postMessage({ height: 5000 }, location.origin); })"""  # of another than the frame
    )
    assert page.locator("details.try iframe").first.bounding_box()["height"] < 4000
    page.context.close()


def test_in_a_lesson_the_code_that_waits_opens_the_editor_and_says_what_was_earned(
    browser, built_site, site_address
):
    built_site("pages", "pyodide", "try")
    page = open_page(browser, site_address, **NOT_OFFLINE)
    page.goto(f"{site_address}/lessons/03_softmax.html")
    code, earned = page.locator("details.try + .cell .cell_input"), page.locator("details.try > summary span")
    assert page.locator(".tag_checks-softmax .sdpa-not-attempted").count() == 1
    assert (code.count(), page.locator("iframe").count(), earned.inner_text()) == (1, 0, "")
    code.click()
    page.frame_locator("details.try iframe").locator(".cm-content").wait_for()
    assert not code.is_visible()
    kept = {"version": 1, "answers": {}, "points": {"softmax": 15, "dot_product": 3}, "attempts": []}
    page.evaluate("kept => localStorage.setItem('sdpa-try', kept)", json.dumps(kept))
    page.reload()
    page.wait_for_function("document.querySelector('details.try span').textContent")
    assert earned.inner_text() == "✓ 15 of 15 points"
    assert not page.locator(".tag_checks-softmax .cell_output").count()
    page.goto(f"{site_address}/lessons/00_start_here.html")
    page.wait_for_function("document.querySelector('details.try span').textContent")
    assert "✓" not in earned.inner_text()
    assert page.log.thrown == []
    page.context.close()
