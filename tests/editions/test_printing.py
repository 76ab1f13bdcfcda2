"""Paper: a lesson's PDF has its text, its pages, its fonts and an outline; answers stand at the end."""

import re
import zlib

import pytest
from nbformat.v4 import new_markdown_cell

from editions.slides.build import cells_of
from sdpa_helpers.course.tracks import FOLDED, track_of_cells

LESSON = "09_many_machines"


@pytest.fixture(scope="module")
def sheet(needs, needs_program):
    for module in ("bs4", "mistune", "pygments", "playwright"):
        needs(module)
    needs_program("npm")
    from editions.printing.sheet import sheet_of
    from editions.stored.formulas import draw
    from editions.stored.text import all_formulas

    cells = cells_of(LESSON)
    texts = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    return sheet_of("09 · One sequence on many machines", cells, draw(all_formulas(texts)))


def test_no_answer_stands_beside_its_question(sheet):
    text, _, answers = sheet.partition('<section class="answers">')
    asked = sum(str(cell.get("outputs", "")).count("Show the answer") for cell in cells_of(LESSON))
    assert asked
    assert text.count('class="asks"') == asked
    assert "Measured" not in text
    assert "<details" not in text
    assert answers.count("Measured") + answers.count("Answer") >= asked
    led_to = re.findall(r'href="#(a\d+)"', text)
    assert led_to == re.findall(r'class="one" id="(a\d+)"', answers)


def test_what_is_folded_on_a_screen_is_marked_and_nothing_needs_a_script(sheet):
    tracks = track_of_cells(cells_of(LESSON))
    runs = sum(
        track in FOLDED and track != before for before, track in zip(["core", *tracks], tracks, strict=False)
    )
    assert sheet.count('<section class="folded') == runs
    assert "<script" not in sheet
    assert not re.search(r'<a href="(?!https?:|#)', sheet), "a link to a file leads nowhere from paper"


@pytest.fixture(scope="module")
def printed(sheet, needs_program, in_a_thread, tmp_path_factory):
    from editions.printing.build import build_print
    from editions.programs import CHROMIUM

    needs_program(*CHROMIUM)

    folder = tmp_path_factory.mktemp("print")
    return {
        path.stem: path.read_bytes() for path in in_a_thread(build_print, folder, [LESSON, "cheat-sheet"])
    }


def pages_in(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def test_a_lesson_and_the_cheat_sheet_have_their_pages_fonts_and_outline(printed):
    lesson = printed[LESSON]
    assert 12 <= pages_in(lesson) <= 36
    assert pages_in(printed["cheat-sheet"]) == 1
    assert b"/Outlines" in lesson
    assert b"/StructTreeRoot" in lesson
    described = lesson.count(b"/Type /FontDescriptor")
    embedded = len(re.findall(rb"/FontFile[23]?\b", lesson))
    drawn_as_shapes = lesson.count(b"/Subtype /Type3")
    assert described
    assert embedded + drawn_as_shapes >= described
    assert lesson.count(b"/ToUnicode") >= embedded, "its text can be searched and copied"


def letters_of_pages(pdf: bytes) -> list[int]:
    """How many pieces of text each page shows."""
    shown = []
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", pdf, re.DOTALL):
        try:
            content = zlib.decompressobj().decompress(stream)
        except zlib.error:
            continue  # a font, or no compressed stream
        if b"\nBT" in content:
            shown.append(content.count(b"Tj"))
    return shown


def test_no_page_is_blank(printed):
    shown = letters_of_pages(printed[LESSON])
    assert len(shown) == pages_in(printed[LESSON])
    assert min(shown) > 150, "the lines above and below the text are about 50 letters"


def test_a_formula_and_a_list_stand_apart_where_no_empty_line_says_so():
    from editions.printing.sheet import sheet_of
    from editions.stored.formulas import Formula

    cell = new_markdown_cell("## A\n\nText:\n$$x$$\nMore:\n- one\n- two")
    page = sheet_of("A", [cell], {Formula("x", True): "<svg>x</svg>"})
    assert re.sub(r"\s", "", page).endswith(
        "<h2>A</h2><p>Text:</p><p><svg>x</svg></p><p>More:</p><ul><li>one</li><li>two</li></ul></body></html>"
    )
