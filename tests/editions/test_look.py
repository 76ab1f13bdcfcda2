"""One look: the same bar and the same choice of light or dark on every page, and the list of exercises by its kinds."""

from collections import Counter

import pytest

from editions.try_it.build import light_pages
from editions.try_it.kinds import KINDS, WAYS
from tests.browser.harness import open_page

PLACES = (
    "index.html",
    "lessons/03_softmax.html",
    "ledger.html",
    "try/index.html",
    "try/softmax.html",
    "mistakes/index.html",
    "slides/index.html",
)
PAPER = "() => getComputedStyle(document.body).backgroundColor"
FIRST_THEME = """new MutationObserver(() => {
    window.first ??= document.body && document.documentElement.dataset.theme;
}).observe(document, {childList: true, subtree: true})"""


@pytest.fixture
def page(browser, built_site, site_address):
    built_site("pages", "pyodide", "try", "mistakes", "slides")
    opened = open_page(browser, site_address)
    yield opened
    assert opened.log.refused == opened.log.thrown == []
    opened.context.close()


def test_light_or_dark_is_chosen_once_for_all_pages_before_anything_is_painted(page, site_address):
    page.goto(f"{site_address}/try/softmax.html")
    white = page.evaluate(PAPER)
    for said in ("dark", "light", "as the system", "dark"):
        page.locator("#theme").click()
        assert page.locator("#theme").get_attribute("aria-label") == f"Colors: {said}"
        assert (page.evaluate(PAPER) == white) == (said != "dark")
    page.add_init_script(FIRST_THEME)
    papers, bars = set(), set()
    for place in PLACES:
        page.goto(f"{site_address}/{place}")
        assert page.evaluate("window.first") == "dark", place
        papers.add(page.evaluate(PAPER))
        bars.add(page.locator(".course-bar nav").inner_text())
    assert len(papers) == len(bars) == 1
    page.locator("#theme").click()
    assert page.evaluate(PAPER) not in papers


def test_the_editor_in_a_lessons_frame_follows_the_page_around_it(page, site_address):
    page.goto(f"{site_address}/exercises/03_softmax.html")
    page.locator("details.try > summary").first.click()
    editor = page.frame_locator("details.try iframe").first.locator(".cm-editor")
    editor.wait_for()
    for said in ("dark", "light"):
        page.locator("#theme").click()
        wanted = page.evaluate(PAPER)
        page.wait_for_function(
            "paper => { const inside = document.querySelector('details.try iframe').contentDocument; const editor = "
            "inside.querySelector('.code').shadowRoot.querySelector('.cm-editor'); return "
            "getComputedStyle(editor).backgroundColor === paper && inside.documentElement.dataset.theme }",
            arg=wanted,
        )
        assert page.evaluate("document.documentElement.dataset.theme") == said
    assert not page.frame_locator("details.try iframe").first.locator(".course-bar").is_visible()


def test_every_exercise_has_a_title_a_kind_and_a_way():
    pages = light_pages()
    assert {one.kind for one in pages} == {*KINDS}
    assert {one.way for one in pages} == {*WAYS}
    assert all(one.title != one.name for one in pages)
    kinds = {one.name: one.kind for one in pages}
    known = {
        "softmax": "write",
        "hunt_softmax": "find",
        "mend_softmax": "mend",
        "test_cases_for_softmax": "catch",
        "scores_that_hide_a_bug": "construct",
        "merge_proof": "derive",
        "proof_in_words": "words",
    }
    assert {name: kinds[name] for name in known} == known
    of_a_lesson = Counter(one.lesson for one in pages if one.way == "short")
    assert {*of_a_lesson.values()} == {1}  # a short has one


def test_the_list_shows_what_is_chosen_and_its_address_says_it(page, site_address):
    page.goto(f"{site_address}/try/index.html")
    rows = page.locator("[data-name]:visible")
    assert rows.count() == len(light_pages())
    page.get_by_label("What you do").select_option("mend")
    page.get_by_label("Lesson").select_option("04")
    mended = [one.name for one in light_pages() if one.kind == "mend" and one.lesson.startswith("04")]
    assert [row.get_attribute("data-name") for row in rows.all()] == mended
    assert page.locator("section:visible").count() == 1
    page.reload()
    assert [row.get_attribute("data-name") for row in rows.all()] == mended
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("!location.search")
    assert rows.count() == len(light_pages())


def test_without_scripts_the_list_is_plain(browser, built_site, site_address):
    built_site("pyodide", "try")
    with browser.new_context(java_script_enabled=False) as context:
        opened = context.new_page()
        opened.goto(f"{site_address}/try/index.html")
        assert opened.locator("[data-name]:visible").count() == len(light_pages())
        assert opened.locator("select:visible, #theme:visible").count() == 0
