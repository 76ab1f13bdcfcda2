"""The cheat sheet in a real browser: one sheet of paper, A4 or Letter, on which no card is cut."""

from tests.browser.harness import COURSE, open_page

SHEET = (COURSE / "docs" / "cheat-sheet.html").as_uri()
CUT = """[...document.querySelectorAll("main, header, .cards > div, .symbols p")]
    .filter(box => box.scrollHeight > box.clientHeight + 2 || box.scrollWidth > box.clientWidth + 2).length"""
SIZE = "parseFloat(document.body.style.getPropertyValue('--size'))"


def test_it_prints_on_one_sheet_of_paper_and_no_card_is_cut(browser):
    page = open_page(browser)
    page.goto(SHEET)
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        # It fits its letters some time after it has come. Millimetres: 5.4 pt, with the wide ones of a bare Linux.
        page.wait_for_function(f"{CUT} === 0 && {SIZE} >= 1.9")
    for paper in ("A4", "Letter"):
        assert page.pdf(format=paper).count(b"/Type /Page\n") == 1, paper
    assert page.log.thrown == page.log.refused == []


def test_a_phone_shows_one_column_of_ordinary_letters(browser):
    page = open_page(browser, width=390, height=800)
    page.goto(SHEET)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('li')).fontSize)") >= 14
