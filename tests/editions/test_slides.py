"""Slides: composed in each lesson's slides.md, one file each, measured in a browser, no answer before its key."""

import itertools
import re

import pytest

from editions.site.source import _ways
from editions.slides.build import build_slides, cells_of
from editions.slides.deck import Lesson, deck_of
from editions.slides.outline import OutlineError, lessons, outline_path, read
from editions.stored.outputs import ShownQuestion, parts_of

MOST_SLIDES = 25
MOST_WORDS = 60
LEAST_LETTERS = 24
LEAST_USED = 0.5
"""Of the room below a claim, from the first mark to the last. None used less than 0.56, with letters of two widths."""

SMALL: dict[str, dict[int, float]] = {
    "01_dot_product": {2: 20.8, 8: 23.6},
    "02_variance_proof": {12: 20.4, 16: 18.8, 18: 19.6},
    "03_softmax": {3: 22.4, 14: 20.4, 19: 18.8, 20: 22.8, 22: 18.8},
    "04_gradients": {4: 23.2, 6: 23.6, 19: 23.6, 21: 23.6, 22: 23.2},
    "05_masking": {20: 22.8, 22: 22.8},
    "06_complexity": {17: 21.2},
    "07_flash_attention": {12: 21.6, 15: 22.0},
    "10_does_scaling_matter": {10: 19.6, 12: 18.8, 18: 16.4, 20: 22.4},
}
"""Lesson → slide → the letters of a figure that cannot grow without lying on each other, in pixels."""

FAULTS = """async ([MOST_WORDS, LEAST_LETTERS, LEAST_USED]) => {
  const found = [];
  const page = document.querySelector("section.present .page"), body = page.querySelector(".body");
  const shown = e => e.getClientRects().length
    && [...e.childNodes].some(part => part.nodeType === 3 && part.data.trim());
  const letters = e => parseFloat(getComputedStyle(e).fontSize) * (e.currentCSSZoom ?? 1);
  const words = page.cloneNode(true);
  words.querySelectorAll("svg, .grows, style, script").forEach(part => part.replaceWith(" "));
  const count = words.textContent.split(/\\s+/).filter(word => /\\p{L}/u.test(word)).length;
  if (count > MOST_WORDS) found.push(`${count} words`);
  if (page.innerText.trim().endsWith(":")) found.push("ends in a colon");
  if (!page.querySelector("h1, h2")?.textContent.trim()) found.push("has no heading");
  for (const e of page.querySelectorAll("*")) {
    if (e.closest("mjx-container, svg, .grows")) continue;
    const box = e.getBoundingClientRect();
    if (box.bottom > innerHeight + 1 || box.right > innerWidth + 1) found.push(`${e.tagName} lies beyond the edge`);
    if (e.tagName === "PRE" && e.scrollWidth > e.clientWidth + 1) found.push("code is cut off");
  }
  if (body.scrollHeight > body.clientHeight + 1) found.push("more than fits");
  const boxes = [...body.querySelectorAll("*")].filter(e => shown(e) || e.closest("svg") && !e.children.length)
    .map(e => e.getBoundingClientRect()).filter(box => box.height);
  const used = (Math.max(...boxes.map(box => box.bottom)) - Math.min(...boxes.map(box => box.top))) / body.clientHeight;
  if (used < LEAST_USED) found.push(`is half-empty: uses ${Math.round(100 * used)}% of its height`);
  for (const e of page.querySelectorAll("*"))
    if (!e.closest("mjx-container, svg, sub, sup") && !e.matches(".right > .letter")
        && shown(e) && letters(e) < LEAST_LETTERS - 0.1)
      found.push(`${e.tagName} has letters of ${letters(e)} px`);
  return found;
}"""

FIGURES = """() => Math.min(99,
  ...[...document.querySelectorAll("section.present .grows.figure > svg")].flatMap(svg => {
  const { width, height } = svg.viewBox.baseVal, scale = Math.min(svg.clientWidth / width, svg.clientHeight / height);
  return [...svg.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize) * scale);
}))"""


@pytest.fixture(scope="module")
def built(tmp_path_factory, needs, needs_program):
    for module in ("bs4", "mistune", "pygments"):
        needs(module)
    needs_program("npm")
    return build_slides(tmp_path_factory.mktemp("slides"))[0].parent


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
def test_every_slide_is_composed(opened, lesson):
    page = opened(lesson)
    total = page.evaluate("Reveal.getTotalSlides()")
    assert total <= MOST_SLIDES
    found = []
    for number in range(1, total + 1):
        page.evaluate(
            "while (document.querySelector('.present .fragment:not(.visible)') && Reveal.nextFragment());"
        )
        limits = [MOST_WORDS, LEAST_LETTERS, LEAST_USED]
        found += [(number, fault) for fault in page.evaluate(FAULTS, limits)]
        least = SMALL.get(lesson, {}).get(number, LEAST_LETTERS)
        if (letters := page.evaluate(FIGURES)) < least - 0.1:
            found.append((number, f"a figure's letters have {letters:.1f} px"))
        page.evaluate(f"Reveal.slide({number})")
    assert not found


def letters_of_each_slide(browser, deck, motion: str) -> list[str]:
    page = browser.new_page(viewport={"width": 1280, "height": 720}, reduced_motion=motion)
    page.goto(deck.as_uri())
    page.wait_for_function("window.Reveal?.isReady()")
    found = []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(f"Reveal.slide({number})")
        found.append(page.locator(".present .body").evaluate("e => e.style.getPropertyValue('--size')"))
        page.wait_for_timeout(50)
    page.close()
    return found


def test_what_moves_has_no_part_in_how_large_a_slide_is(browser, built):
    deck = built / "03_softmax.html"
    still, moving = (letters_of_each_slide(browser, deck, motion) for motion in ("reduce", "no-preference"))
    assert len(set(still)) > 1
    assert moving == still


def test_every_deck_was_opened_and_has_a_prediction_and_notes_on_each_slide(built):
    assert [path.stem for path in sorted(built.glob("[01]*.html"))] == lessons()
    assert len(lessons()) == 11
    for lesson in lessons():
        text = (built / f"{lesson}.html").read_text(encoding="utf-8")
        slides = text.count('<div class="page ')
        assert text.count('<div class="page asks') >= 1
        assert text.count('<p class="minutes">') == slides
        assert not re.search(r'<aside class="notes"><p class="minutes">[^<]*</p></aside>', text)


def test_a_lesson_without_an_outline_is_not_shown(built):
    assert not outline_path("00a_numpy_in_five_minutes").exists()
    assert "00a_numpy_in_five_minutes" not in lessons()
    assert not (built / "00a_numpy_in_five_minutes.html").exists()
    assert "Slides" not in _ways("00a_numpy_in_five_minutes")
    assert 'href="../slides/03_softmax.html">Slides</a>' in _ways("03_softmax")


def test_numbers_come_from_cells_and_what_is_missing_has_a_name():
    lesson = Lesson("03_softmax", cells_of("03_softmax"), {})

    def body(wall):
        return (
            deck_of(read(f"# T\n\nSay (1 min): a\n\n## Claim\n\n{wall}\n\nSay (2 min): b"), lesson)
            .slides[1]
            .body
        )

    assert "<p>0.0763</p>" in body("{number: shift-compare after scores}")
    assert "<p>the same</p>" in body("{measured: add_a_hundred}")
    assert '<p class="wonder">Why?</p>' in body("? Why?")
    assert '<table class="out numbers"><tr><th>row 0 by<th>float32' in body("{picture: global-max-compare}")
    for wall, says in (
        ("{number: shift-compare after cocoa}", "no number after 'cocoa'"),
        ("{picture: nowhere}", "no cell 'nowhere'"),
        ("{picture: short-max}", "shows nothing"),
        ("{ask: nowhere}", "no cell 'nowhere'"),
    ):
        with pytest.raises(OutlineError, match=says):
            body(wall)
    with pytest.raises(OutlineError, match=r"Claim.*needs one line"):
        read("## Claim\n\nNo minutes.")


def test_a_stored_question_is_read_as_it_was_asked():
    asked = [
        part
        for cell in cells_of("03_softmax")
        if cell["cell_type"] == "code"
        and re.search(r"^[^#\n]*\blesson\.(predict|recall)\(", cell["source"], re.M)
        for part in parts_of(cell["outputs"])
        if isinstance(part, ShownQuestion)
    ]
    first = next(one for one in asked if "rises from 2 to 3" in one.question)
    assert [answer.right for answer in first.answers] == [False, False, False, True]
    assert all(
        one.question and len(one.answers) >= 2 and all(a.because for a in one.answers) for one in asked
    )
    assert [part.kind for part in first.shown] == ["figure"]


def test_a_deck_is_one_file_and_says_its_minutes(built):
    for lesson in lessons():
        text = (built / f"{lesson}.html").read_text(encoding="utf-8")
        page = re.sub(
            r"<script>.*?</script>", "", text, flags=re.DOTALL
        )  # reveal.js can show frames, and has none to
        assert not re.search(r"<(script|link|img|iframe)[^>]*\s(src|href)=(?!.data:)", page)
        assert '<link rel="icon" href="data:image/svg+xml,' in page
        assert not re.search(r"@import|url\((?!['\"]?(data:|#))", page)
        said = sum(slide.minutes for slide in read(outline_path(lesson).read_text(encoding="utf-8")).slides)
        assert text.count(f"of {said:.0f} min<") == text.count('<p class="minutes">')
        assert f"at the end {said:.0f} of {said:.0f} min" in text


def test_without_scripts_the_slides_stand_one_below_the_other(browser, built):
    context = browser.new_context(
        java_script_enabled=False, offline=True, viewport={"width": 800, "height": 700}
    )
    page = context.new_page()
    page.goto(f"file://{built / '05_masking'}.html")
    claims = page.locator(".page h1, .page h2")
    slides = (built / "05_masking.html").read_text(encoding="utf-8").count('<div class="page ')
    boxes = [claims.nth(at).bounding_box() for at in range(claims.count())]
    assert len(boxes) == slides
    assert all(box["height"] > 20 for box in boxes)
    assert all(a["y"] + a["height"] < b["y"] for a, b in itertools.pairwise(boxes))
    assert all(figure.bounding_box()["height"] > 100 for figure in page.locator(".grows.figure > svg").all())
    context.close()


def test_nothing_gives_an_answer_away_before_its_key(opened):
    page = opened("05_masking")
    go_to(page, ".asks")
    measured = page.locator(".present .measured")  # with the reason why the right answer is right
    notes = page.locator(".present aside.notes")
    assert "The ratio of two weights is" in measured.text_content()
    assert "What people answer" in notes.text_content()
    assert notes.evaluate("e => getComputedStyle(e).display") == "none"
    assert measured.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    assert page.locator(".present .page.shown").count() == 0
    page.keyboard.press("r")
    page.locator(".present .page.shown").wait_for()
    assert measured.evaluate("e => getComputedStyle(e).visibility") == "visible"
    page.keyboard.press("r")
    assert page.locator(".present .page.shown").count() == 0


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
    page.locator(".present .page.shown").wait_for()
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


def test_on_a_site_a_deck_has_the_readers_colors_and_buttons_turn_it(browser, built):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.route("http://decks/**", lambda route: route.fulfill(path=built / "05_masking.html"))
    page.goto("http://decks/05_masking.html")
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    assert page.evaluate("document.documentElement.classList.contains('dark')")
    assert page.get_by_role("link", name="All slides").is_visible()
    page.get_by_role("button", name="Next").click()
    page.wait_for_function("Reveal.getSlidePastCount() === 1")
    page.get_by_role("button", name="Back").click()
    page.wait_for_function("Reveal.getSlidePastCount() === 0")
    context.close()


def test_on_paper_every_answer_is_seen(opened):
    page = opened("05_masking", "?print-pdf")
    page.locator(".page.asks.shown").first.wait_for(state="attached")
    assert page.locator(".page.asks:not(.shown)").count() == 0
    assert page.locator(".fragment:not(.visible)").count() == 0
