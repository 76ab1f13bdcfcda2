"""What comes next: a lesson is left when its end was reached, and nothing moves while one is in it."""

import json

import pytest

from sdpa_helpers.course import saved
from sdpa_helpers.desk.course import NextStep, course_state
from sdpa_helpers.desk.laying import lay

from .course_folder import code, edit, make_course, markdown, write

IN_THE_FIRST = NextStep("00_start_here", None)
IN_SOFTMAX = NextStep("03_softmax", None)
AT_ITS_EXERCISES = NextStep("03_softmax", "softmax")


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A newcomer's course: each lesson asks one thing, and has a code cell after it."""
    monkeypatch.setenv("SDPA_HOME", str(tmp_path / "home"))
    make_course(tmp_path)
    for name in ("00_start_here", "03_softmax"):
        asks = code('lesson.predict("guess", 3)', "asks")
        write(
            tmp_path / f"notebooks/{name}.ipynb",
            [markdown(f"# {name}", "title"), asks, code("progress()", "end"), markdown("## Next", "next")],
        )
    lay(tmp_path)
    return tmp_path


def run(root, lesson: str, cell: int) -> None:
    """Run a code cell of a copy, and save it."""
    edit(root / f"work/notebooks/{lesson}.ipynb", lambda cells: cells[cell].update(execution_count=cell))


def answer(lesson: str) -> None:
    saved.keep_prediction(lesson, "guess", saved.Predicted(0, True))


def next_of(root) -> NextStep | None:
    return course_state(root).next


def test_the_first_lesson_is_next_until_its_last_cell_has_run(root):
    assert next_of(root) == IN_THE_FIRST
    run(root, "00_start_here", 1)
    answer("00_start_here")  # the only question that it asks
    assert course_state(root).lessons[0].answered == 1
    assert next_of(root) == IN_THE_FIRST
    run(root, "00_start_here", 2)
    assert next_of(root) == IN_SOFTMAX


def test_a_lesson_leads_to_its_exercises_at_its_end(root):
    answer("03_softmax")  # who has begun here has left the first lesson
    assert next_of(root) == IN_SOFTMAX
    run(root, "03_softmax", 1)
    assert next_of(root) == IN_SOFTMAX
    run(root, "03_softmax", 2)
    assert next_of(root) == AT_ITS_EXERCISES


def test_the_shorts_come_one_after_the_other_and_exercises_after_the_last(root):
    tagged = {"tags": ["short"]}
    for lesson in ("00_start_here", "03_softmax"):
        edit(root / f"work/notebooks/{lesson}.ipynb", lambda cells: cells[1].update(metadata=tagged))
    assert next_of(root) == IN_THE_FIRST
    saved.keep("softmax", 2.0)  # who has begun a later lesson
    assert next_of(root) == IN_SOFTMAX
    run(root, "00_start_here", 1)
    assert next_of(root) == IN_SOFTMAX
    run(root, "03_softmax", 1)
    assert next_of(root) == AT_ITS_EXERCISES


def test_who_works_at_exercises_is_led_to_the_next_of_them(root):
    saved.keep("softmax", 2.0)
    assert next_of(root) == AT_ITS_EXERCISES
    saved.keep("softmax", 1e5)
    assert next_of(root) == NextStep("03_softmax", "test_cases_for_softmax")
    solved = next(e for lesson in course_state(root).lessons for e in lesson.exercises if e.name == "softmax")
    assert (solved.points, solved.done) == (solved.max_points, True), (
        "more than it is worth today is all of it"
    )


@pytest.mark.parametrize("text", [None, "{", "[]", json.dumps({"cells": [{"cell_type": "code"}]})])
def test_a_copy_that_is_gone_or_damaged_was_not_read_to_its_end(root, text):
    copy = root / "work/notebooks/00_start_here.ipynb"
    copy.unlink()
    if text is not None:
        copy.write_text(text)
    assert next_of(root) == IN_THE_FIRST
