"""The two doors, NumPy and words: the learner's lines, right, wrong and not written; and how long they take."""

import nbformat
import numpy as np
import pytest

from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.reading_time import minutes_of
from sdpa_helpers.course.registry import DOORS
from sdpa_helpers.course.tracks import track_of_cells
from sdpa_helpers.lessons import numpy_in_five_minutes as shapes
from sdpa_helpers.lessons import words_in_five_minutes as words

CUPS = shapes.CUPS
RIGHT = {
    "tea": CUPS[:, 0],
    "each": CUPS.sum(axis=-1),
    "shares": CUPS / CUPS.sum(axis=1)[:, None],
    "apart": CUPS.sum(axis=0)[:, None] - CUPS.sum(axis=0)[None, :],
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_line_is_praised(name):
    found = shapes.line(name, RIGHT[name])
    assert found.passed
    assert found.text().startswith("✓ Right: ")


@pytest.mark.parametrize(
    ("name", "yours", "says"),
    [
        ("tea", ..., "Replace the dots"),
        ("tea", None, "Numbers are wanted here; yours is of type NoneType."),
        ("tea", CUPS[0], "Yours has shape (4,); shape (5,) is wanted."),
        (
            "each",
            CUPS[:, 0],
            "The right shape, and other numbers.\nyours:\n[1 0 4 0 1]\nwanted:\n[3 5 4 6 7]",
        ),
        ("shares", CUPS / 4, "The right shape, and other numbers."),
        ("apart", RIGHT["apart"].T, "The right shape, and other numbers."),
    ],
)
def test_any_other_line_says_what_it_is(name, yours, says):
    found = shapes.line(name, yours)
    assert not found.passed
    assert found.text().startswith(says)
    assert "sdpa-card" in found.html()


def test_the_lines_of_words():
    assert words.line("loss", -np.log(0.25)).passed
    assert not words.line("loss", np.log(0.25)).passed
    assert words.line("step", 2.0).passed


@pytest.mark.parametrize("door", DOORS)
def test_a_door_takes_the_five_minutes_that_it_says(door):
    cells = nbformat.read(course_root() / "notebooks" / f"{door}.ipynb", as_version=4).cells
    tracks = track_of_cells(cells)
    first = [cell for cell, track in zip(cells, tracks, strict=True) if track == "core"]
    assert minutes_of(first) <= 5
    assert "\nAbout **5 minutes**\n" in cells[0]["source"]
