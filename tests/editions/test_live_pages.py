"""Pages of the site without a kernel: questions ask before they answer, panels move, the ledger filters."""

import pytest

from editions.ledger.page import entries_of


@pytest.fixture(scope="module")
def context(browser, built_site):
    built_site("pages")
    with browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce") as opened:
        yield opened


@pytest.fixture(scope="module")
def lesson(context, site_address):
    page = context.new_page()
    page.goto(f"{site_address}/lessons/05_masking.html")
    page.locator(".live-question").first.wait_for(state="attached")
    open_all(page)
    return page


def open_all(page):
    page.evaluate(
        "() => { for (const folded of document.querySelectorAll('details.folded')) folded.open = true }"
    )


def question(page, key):
    return page.locator(f"[data-key^={key}] .live-question .panel")


def test_on_a_phone_all_letters_of_a_cards_table_are_in_sight(context, site_address):
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site_address}/lessons/05_masking.html")
    box = page.get_by_role("region", name="Table").and_(page.locator(".sdpa-card .scrolls")).first
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth && e.tabIndex === 0")
    assert box.locator("tr", has_text="weights").evaluate("e => e.offsetHeight") < 40  # "13" is not broken


ON_A_PHONE = """() => {
    const box = e => e.getBoundingClientRect(), walk = ".formula [data-part=Q]";
    const root = [...document.querySelectorAll("*")].find(e => e.shadowRoot?.querySelector(walk)).shadowRoot;
    const matrix = root.querySelector(".matrix"), parts = [...root.querySelectorAll(".formula > *")].map(box);
    const math = document.querySelector("div.math"), drawn = box(math.querySelector("svg"));
    return {
        matrix: matrix.scrollWidth <= matrix.clientWidth,
        line: Math.max(...parts.map(r => r.top)) < Math.min(...parts.map(r => r.bottom)),
        formula: drawn.left >= box(math).left && drawn.right <= innerWidth,
        page: document.documentElement.scrollWidth === innerWidth,
    }; }"""


@pytest.mark.parametrize("lesson", ["00_start_here", "03_softmax"])
def test_on_a_phone_the_walk_through_and_the_formula_above_it_are_whole(context, site_address, lesson):
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site_address}/lessons/{lesson}.html")
    page.locator(".formula [data-part=Q]").first.wait_for()
    found = page.evaluate(ON_A_PHONE)
    assert all(found.values()), found


def test_on_a_phone_the_drawer_begins_with_the_lessons(context, site_address):
    page = context.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site_address}/lessons/00_start_here.html")
    page.locator(".course-bar .sidebar-toggle").click()
    lessons = page.locator("details.lessons a")
    lessons.last.wait_for()
    assert lessons.last.bounding_box()["y"] < 700
    assert (lessons.count(), page.locator(".tooltip").count()) == (11, 0)
    assert page.locator(".prev-next-area a").all_inner_texts() == ["Next\n\n01 The dot product"]


def test_a_question_answers_only_after_the_choice_and_the_first_choice_stays(lesson):
    asked = question(lesson, "ratio_of_two_that_stay")
    assert "Measured" not in asked.inner_text()
    assert lesson.get_by_text("Show the answer").count() == 0
    asked.get_by_role("button").first.click()
    asked.get_by_text("your answer").wait_for()
    assert "Measured" in asked.inner_text()
    settled = asked.locator("li", has_text="your answer").inner_text()
    lesson.reload()
    open_all(lesson)
    asked.get_by_text("your answer").wait_for()
    assert asked.locator("li", has_text="your answer").inner_text() == settled


def test_recall_questions_come_one_after_the_other(lesson):
    hosts = lesson.locator(".cell_output .live-question", has_text="Remember")
    first, second = hosts.nth(0), hosts.nth(1)
    assert first.is_visible()
    assert not second.is_visible()
    first.get_by_role("button").first.click()
    second.get_by_role("button").first.wait_for()


def test_a_mask_is_painted_without_a_kernel(lesson):
    panel = lesson.locator("[data-key^=masking]")
    panel.get_by_role("button", name="causal + padding", exact=True).click()
    panel.locator(".say", has_text="The mask allows 25 of 49 pairs").wait_for()
    cell = panel.get_by_role("button", name="Ann may attend to tea")
    cell.click()
    panel.locator(".say", has_text="The mask allows 26 of 49 pairs").wait_for()
    assert "1 leak into the future: in layer 1 Ann → tea" in panel.locator(".say").inner_text()


def test_a_panel_that_needs_python_says_where_it_moves(context, site_address):
    page = context.new_page()
    page.goto(f"{site_address}/lessons/06_complexity.html")
    note = page.locator("[data-key^=complexity] em")
    note.wait_for(state="attached")
    open_all(page)
    assert "it needs Python to move" in note.inner_text()
    assert note.locator("a").get_attribute("href").startswith("../lite/")
    page.close()


def test_the_ledger_filters_by_its_address_and_keeps_what_is_chosen(context, site_address, course):
    entries = entries_of(course)
    wanted = [e for e in entries if e.verdict == "wrong" and e.claim.where.startswith("01")]
    assert wanted
    page = context.new_page()
    page.goto(f"{site_address}/ledger.html#verdict=wrong&lesson=01")
    found = page.locator(".found")
    found.get_by_text(f"{len(wanted)} of {len(entries)} claims.").wait_for()
    assert page.locator(".claims tbody tr:visible").count() == len(wanted)
    page.get_by_label("Lesson").select_option("")
    page.get_by_role("searchbox", name="Search").fill("152")
    page.get_by_label("Verdict").select_option("")
    page.locator("#claim-152").wait_for()
    assert page.evaluate("location.hash") == "#text=152"
    page.get_by_role("button", name="Show all").click()
    found.get_by_text(f"All {len(entries)} claims.").wait_for()
    page.close()


def test_without_scripts_the_ledger_is_a_table_of_all_claims(browser, site_address, built_site):
    built_site("pages")
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site_address}/ledger.html")
        assert page.locator(".claims [id^=claim-]:visible").count() == 163
        assert not page.locator(".filters").is_visible()
