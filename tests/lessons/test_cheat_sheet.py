"""The cheat sheet: docs/cheat-sheet.html is what the cards make, and has a place for every lesson that has a card."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sdpa_helpers.course.cheat_sheet import SYMBOLS, cheat_sheet, write_sheet
from sdpa_helpers.course.registry import LESSONS, folder_of
from sdpa_helpers.show.predict import plain

COURSE = Path(__file__).parents[2]
STORED = COURSE / "docs" / "cheat-sheet.html"


def test_the_stored_page_is_made_from_the_cards_that_there_are():
    assert cheat_sheet() == STORED.read_text(encoding="utf-8"), "run `make cheat-sheet`"


def test_every_lesson_with_a_card_is_on_it_in_order():
    with_card = [
        lesson[:2]
        for lesson in LESSONS
        if (COURSE / "sdpa_helpers" / "lessons" / folder_of(lesson) / "card.md").is_file()
    ]
    page = STORED.read_text(encoding="utf-8")
    assert re.findall(r"<h2><i>(\d\d)</i>", page) == with_card
    assert page.count("<svg") == len(with_card)


def test_lessons_still_show_their_cards_after_it_was_made():
    code = """
import importlib
from sdpa_helpers.course.cheat_sheet import cheat_sheet
from sdpa_helpers.course.registry import LESSONS, folder_of
cheat_sheet()
lessons = [importlib.import_module(f"sdpa_helpers.lessons.{folder_of(lesson)}") for lesson in LESSONS]
print(sum(callable(lesson.cheat_card) for lesson in lessons))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=COURSE, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == len(LESSONS)


def test_it_needs_nothing_beside_itself():
    page = STORED.read_text(encoding="utf-8")
    assert not re.findall(r"<link|<img|@import|url\(|\bsrc=", page)
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}


def test_its_letters_are_those_of_lesson_00():
    cells = json.loads((COURSE / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8"))["cells"]
    table = next("".join(cell["source"]) for cell in cells if cell["id"] == "symbols-table")
    there = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert [_letters(letter) for letter in there] == [_letters(plain(symbol.letter)) for symbol in SYMBOLS]


def _letters(text):
    text = re.sub(r"\\text|`attn_mask`|_", "", text.replace("ₖ", "k").replace("ᵥ", "v"))
    text = text.replace("ᵢ", "i").replace("ⱼ", "j")
    return re.sub(r"[^A-Za-z]", "", text)


def test_a_file_that_is_no_sheet_of_ours_stays(tmp_path):
    (tmp_path / "thesis.html").write_text("mine")
    with pytest.raises(OSError, match="no cheat sheet of ours"):
        write_sheet(tmp_path / "thesis.html")
    assert (tmp_path / "thesis.html").read_text() == "mine"
