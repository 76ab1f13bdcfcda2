"""Slides: cut by the cells' metadata, one file each, nothing beyond the edge, no answer before its key."""

import re

import pytest

from editions.slides.build import build_slides, cells_of, lessons
from editions.slides.cut import TYPES, asks, slide_types
from editions.slides.deck import kind_of
from editions.slides.outputs import Asked, parts_of
from editions.slides.text import chunks_of, short
from sdpa_helpers.course.tracks import FOLDED, size_of, track_of_cells

SHOWN = ("02_variance_proof", "05_masking")

OVER = """() => [...document.querySelectorAll(".present > .present .page, .present > .present .page *")].filter(e => {
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  return !e.closest("mjx-container, svg, .grows") && style.display !== "none"
    && (box.bottom > innerHeight + 1 || box.right > innerWidth + 1
      || (e.tagName === "PRE" && e.scrollWidth > e.clientWidth + 1));
}).map(e => e.tagName + " " + e.textContent.slice(0, 60))"""

LETTERS = """() => Math.min(...[...document.querySelectorAll(".present > .present .page:not(.kicker) *")].filter(e =>
  !e.closest("svg, .grows, .letter, sub, sup, .kicker, pre, code, mjx-container") && e.textContent.trim()
  && e.getClientRects().length).map(e => parseFloat(getComputedStyle(e).fontSize)
    * (parseFloat(e.closest(".body")?.style.zoom) || 1)))"""


@pytest.fixture(scope="module")
def built(tmp_path_factory, needs, needs_program):
    for module in ("bs4", "mistune", "pygments"):
        needs(module)
    needs_program("npm")
    return build_slides(tmp_path_factory.mktemp("slides"), SHOWN)[0].parent


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, offline=True, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(page, built):
    def open_(lesson: str, query: str = ""):
        page.goto(f"file://{built / lesson}.html{query}")
        page.wait_for_function("window.Reveal && Reveal.isReady()")
        return page

    return open_


def go_to(page, selector: str) -> None:
    page.evaluate(
        """s => { const { h, v } = Reveal.getIndices(document.querySelector(s).closest("section"));
          Reveal.slide(h, v); }""",
        selector,
    )


@pytest.mark.parametrize("lesson", lessons())
def test_each_cell_has_the_slide_type_that_the_rule_gives(lesson):
    cells = cells_of(lesson)
    stored = [cell["metadata"].get("slideshow", {}).get("slide_type") for cell in cells]
    assert stored == slide_types(lesson, cells), "run `python -m editions.slides.cut --again`"
    assert set(stored) <= set(TYPES)
    folded = [kind for kind, track in zip(stored, track_of_cells(cells), strict=True) if track in FOLDED]
    assert set(folded) <= {"skip"}


def test_a_short_text_stands_above_its_question_and_a_section_begins_a_slide():
    def cell(kind, source, **more):
        return {"cell_type": kind, "source": source, "metadata": {}, **more}

    cells = [
        cell("markdown", "# 99 · A lesson"),
        cell("code", "import numpy as np\nfrom sdpa_helpers.lessons import softmax as lesson", outputs=[]),
        cell("markdown", "## 1. One"),
        cell("code", "print(1)", outputs=[{"output_type": "stream", "text": "1"}]),
        cell("markdown", "Now the other way round."),
        cell("code", 'lesson.predict("a", 1)', outputs=[]),
        cell("markdown", "<details><summary>What to look for</summary>\n\nx\n\n</details>"),
        cell("markdown", "So it is."),
    ]
    assert slide_types("99", cells) == ["slide", "skip", "slide", "-", "subslide", "-", "notes", "notes"]


def test_a_stored_question_is_read_as_it_was_asked():
    asked = [
        part
        for cell in cells_of("03_softmax")
        if cell["cell_type"] == "code" and asks(cell)
        for part in parts_of(cell["outputs"])
        if isinstance(part, Asked)
    ]
    first = next(one for one in asked if "rises from 2 to 3" in one.question)
    assert [answer.right for answer in first.answers] == [False, False, False, True]
    assert all(
        one.question and len(one.answers) >= 2 and all(a.because for a in one.answers) for one in asked
    )
    assert [part.kind for part in first.shown] == ["figure"]


def test_a_paragraph_keeps_the_sentence_that_leads_to_what_follows():
    text = "**The sum.** Call it $Z. A$. It is the same for all of them. So it factors out:"
    assert short(text, leads_on=True) == "**The sum.** So it factors out:"
    assert short("First this. Then that.", leads_on=False) == "First this."
    kinds = [chunk.kind for chunk in chunks_of("## A\n\nText:\n\n$$x$$\n\nMore:\n- one\n- two")]
    assert kinds == ["heading", "text", "formula", "text", "list"]


def test_a_deck_is_one_file_and_says_its_minutes(built):
    for lesson in SHOWN:
        text = (built / f"{lesson}.html").read_text(encoding="utf-8")
        page = re.sub(
            r"<script>.*?</script>", "", text, flags=re.DOTALL
        )  # reveal.js can show frames, and has none to
        assert not re.search(r"<(script|link|img|iframe)[^>]*\s(src|href)=(?!.data:)", page)
        assert not re.search(r"@import|url\((?!['\"]?(data:|#))", page)
        cells = cells_of(lesson)
        shown = [cell for cell in cells if kind_of(cell) != "skip"]
        said = float(re.findall(r"of (\d+) min", text)[-1])
        assert abs(said - size_of(shown).minutes) < 1, "the deck's minutes are those of the cells in it"


@pytest.mark.parametrize("lesson", SHOWN)
def test_nothing_lies_beyond_a_slides_edge_and_letters_are_large(opened, lesson):
    page = opened(lesson)
    found = []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(
            "while (document.querySelector('.present > .present .fragment:not(.visible)') && Reveal.nextFragment());"
        )
        found += [(number + 1, what) for what in page.evaluate(OVER)]
        if (size := page.evaluate(LETTERS)) < 21:
            found.append((number + 1, f"{size} px"))
        page.evaluate("Reveal.next()")
    assert not found


def test_nothing_gives_an_answer_away_before_its_key(opened):
    page = opened("05_masking")
    go_to(page, ".asks")
    reason, measured = (
        page.locator(".present > .present .because").first,
        page.locator(".present > .present .measured"),
    )
    assert reason.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    assert measured.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    assert page.locator(".present > .present .page.shown").count() == 0
    page.keyboard.press("r")
    page.locator(".present > .present .page.shown").wait_for()
    assert measured.evaluate("e => getComputedStyle(e).visibility") == "visible"
    page.keyboard.press("r")
    assert page.locator(".present > .present .page.shown").count() == 0


def test_the_speakers_window_has_minutes_reasons_and_the_next_slide_and_moves_the_deck(opened):
    page = opened("05_masking")
    go_to(page, ".asks")
    with page.expect_popup() as opening:
        page.keyboard.press("s")
    speaker = opening.value
    assert "min" in speaker.locator(".minutes").inner_text()
    assert "What people answer" in speaker.locator("main").inner_text()
    assert speaker.locator(".frame .page").count() == 1
    place = speaker.locator(".place").inner_text()
    speaker.keyboard.press("r")
    page.locator(".present > .present .page.shown").wait_for()
    speaker.keyboard.press("ArrowRight")
    assert speaker.locator(".place").inner_text() != place
    speaker.close()


def test_light_and_dark_have_paper_and_ink_that_differ_and_a_list_of_keys(opened):
    page = opened("05_masking", "?dark")
    paper = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(20, 24, 28)"
    page.keyboard.press("d")
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.keyboard.press("Shift+?")
    page.get_by_text("Reveal or hide the answer").wait_for()


def test_on_paper_every_answer_is_seen(opened):
    page = opened("05_masking", "?print-pdf")
    page.locator(".page.asks.shown").first.wait_for(state="attached")
    assert page.locator(".page.asks:not(.shown)").count() == 0
    assert page.locator(".fragment:not(.visible)").count() == 0
