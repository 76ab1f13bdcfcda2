"""Tracks: which cells are the short, the long way and what goes deeper, and how long each takes."""

from types import SimpleNamespace

import pytest

from sdpa_helpers.course import reading_time
from sdpa_helpers.course.reading_time import checked_in, lines_of, minutes_of, words_of
from sdpa_helpers.course.tracks import minutes_in_words, sizes_of, track_of_cells


def text(source, *tags):
    return {"cell_type": "markdown", "source": source, "metadata": {"tags": list(tags)}}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": list(outputs)}


def result(page, plain=""):
    return {"output_type": "execute_result", "data": {"text/html": page, "text/plain": plain}}


LESSON = [
    text("# 03 · Softmax\n\n**9 minutes** · [exercises](x)"),
    text("word " * 400, "short"),
    text("# The long way\n\nReasons.", "core"),
    code("scores"),
    text("### Deeper: floats", "deeper"),
    code("floats"),
    text("#### Still deeper"),
    text("### Temperature"),
    code("x = 1"),
    text("## 2. Other shapes", "deeper"),
    text("### Of the same section"),
    text("## 9. More claims, checked", "claims"),
    text("word " * 395),
    text("## Summary"),
]


def test_the_short_stands_above_the_long_way_and_a_folded_section_ends_at_the_next_heading_of_its_level():
    assert track_of_cells(LESSON)[:4] == ["short", "short", "core", "core"]
    assert track_of_cells(LESSON)[4:9] == ["deeper", "deeper", "deeper", "core", "core"]
    assert track_of_cells(LESSON)[9:] == ["deeper", "deeper", "claims", "claims", "core"]
    assert set(track_of_cells(LESSON[3:])) == {"core", "deeper", "claims"}


def test_the_head_says_whole_minutes_rounded_up_the_short_first():
    said = "**3 minutes**, an estimate · the long way: 1 more · deeper: 1 · claims: 2"
    assert minutes_in_words(LESSON) == said
    assert minutes_in_words(LESSON[3:]) == "**1 minutes**, an estimate · deeper: 1 · claims: 2"
    assert {name: size.cells for name, size in sizes_of(LESSON).items()} == {
        "short": 2,
        "core": 5,
        "deeper": 5,
        "claims": 2,
    }


def test_words_formulas_and_lines_of_code_take_their_time():
    assert words_of([text("one [two three](https://four) $5$\n\n$$a + b$$")]) == 4
    assert minutes_of([text("word " * 200)]) == 1
    assert minutes_of([text("$$a$$\n\n$$b$$")]) == 0.5
    cell = code("import numpy as np\n\nx = 1\n\ny = 2", {"output_type": "stream", "text": "1\n2\n"})
    assert lines_of([cell]) == 2
    assert minutes_of([cell]) == pytest.approx((2 * 6.5 + 2 + 2 * 2.5) / 60)


def test_what_is_shown_takes_its_time():
    figure, panel = '<div class="sdpa-figure">', '<script>replaceStill(place, {"body": "keys"})</script>'
    for page, seconds in ((figure, 30), (figure + panel, 90), ('<div class="sdpa-cheat">', 60)):
        assert minutes_of([code("", result(page))]) == pytest.approx((seconds + 2) / 60)


def test_a_question_takes_forty_seconds_and_what_is_said_to_two_answers_of_it():
    reasons = "".join(f"<li>{sign} {'word ' * 9}</li>" for sign in "✗✗✓✗")
    page = (
        '<div data-key="a"><p>Predict.</p><details><summary>Show the answer</summary><p>Measured: 5.</p>'
        f"<ul>{reasons}</ul><p>{'word ' * 30}</p>"
        '<div class="sdpa-figure"><svg><text>not read</text></svg></div><pre>1\n2</pre></details></div>'
    )
    two_answers_and_the_rest = (2 * 10 + 30) / 200 * 60
    assert minutes_of([code("", result(page))]) == pytest.approx(
        (2 + 40 + two_answers_and_the_rest + 30 + 5) / 60
    )
    assert minutes_of([code("", result(page + page))]) == pytest.approx(
        (2 + 2 * (40 + two_answers_and_the_rest + 30 + 5)) / 60
    )


def test_own_code_takes_two_minutes_and_one_for_each_line_but_no_longer_than_its_exercise(monkeypatch):
    def answer(x):
        """What it is."""
        y = x + 1
        return y

    asked = SimpleNamespace(minutes=10, reference=answer)
    monkeypatch.setattr(reading_time, "find", lambda name: asked)
    cell = code("def f(x):\n    return ...\n\n\ncheck(f)")
    assert checked_in(cell) == ("f",)
    assert minutes_of([cell]) == pytest.approx(4 + (3 * 6.5 + 2) / 60)
    asked.minutes = 3
    assert minutes_of([cell]) == pytest.approx(3 + (3 * 6.5 + 2) / 60)
    assert checked_in(code("check(f, keep=False)")) == checked_in(text("check(f)")) == ()
