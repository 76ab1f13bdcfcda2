"""Tracks: which cells are core, and how long each track takes."""

import pytest

from sdpa_helpers.course.tracks import minutes_in_words, size_of, sizes_of, track_of_cells


def text(source, *tags):
    return {"cell_type": "markdown", "source": source, "metadata": {"tags": list(tags)}}


def code(source):
    return {"cell_type": "code", "source": source, "metadata": {}}


LESSON = [
    text("# 03 · Softmax\n\n**9 minutes** · [exercises](x)"),
    code("lesson.recall()"),
    text("## 1. Scores"),
    code("scores"),
    text("### Deeper: floats", "deeper"),
    code("floats"),
    text("#### Still deeper"),
    text("### Temperature"),
    code('x = 1\nlesson.predict("a", x)'),
    text("## 2. Other shapes", "deeper"),
    text("### Of the same section"),
    text("## 9. More claims, checked", "claims"),
    text("word " * 360),
    text("## Summary"),
]


def test_a_folded_section_ends_at_the_next_heading_of_its_level_or_above():
    core, deeper, claims = (track_of_cells(LESSON).count(name) for name in ("core", "deeper", "claims"))
    assert track_of_cells(LESSON)[4:8] == ["deeper", "deeper", "deeper", "core"]
    assert track_of_cells(LESSON)[9:] == ["deeper", "deeper", "claims", "claims", "core"]
    assert (core, deeper, claims) == (7, 5, 2)


def test_minutes_come_from_words_code_and_questions():
    assert size_of([text("one [two three](https://four) — $5$")]).words == 4
    assert size_of([text("word " * 180)]).minutes == 1
    assert [size_of([cell]).minutes for cell in LESSON[:9] if cell["cell_type"] == "code"] == [3, 0.5, 0.5, 1]
    assert sizes_of(LESSON)["claims"].minutes == pytest.approx(365 / 180, abs=0.03)


def test_the_head_says_whole_minutes_rounded_up():
    assert minutes_in_words(LESSON) == "**5 minutes** · folded: 1 deeper, 3 claims"
