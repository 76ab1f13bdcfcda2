"""The corpus keeps its form: every file can be read, every answer compiles, every label is a known name."""

import inspect
import traceback
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import LAST_SIGNS, SIGNS
from sdpa_helpers.checking.naming.forms import FORMS
from sdpa_helpers.checking.naming.name_mistakes import UNWRITTEN
from sdpa_helpers.classroom.answers_as_written import spared_mutants
from sdpa_helpers.course.registry import all_exercises, exercises_of, find
from tests.corpus import GENERAL, HERE, CorpusAnswer, entries, function_of, read

SOMEWHERE = Path("exercises/dot_product.answers.txt")


def test_every_answer_defines_its_function():
    assert entries()
    for entry in entries():
        assert callable(function_of(entry))


def test_every_file_is_named_like_a_lesson_and_its_exercise():
    known = {(e.lesson, e.name) for e in all_exercises().values()}
    assert {(e.lesson, e.exercise) for e in entries()} <= known


def test_every_exercise_of_a_lesson_has_right_and_wrong_answers():
    counts = defaultdict(Counter)
    for entry in entries():
        counts[entry.exercise][entry.right] += 1
    lessons = {e.lesson for e in entries()}
    every = [e for lesson in lessons for e in exercises_of(lesson)]
    asked = [e.name for e in every if not (e.is_made or e.whole)]  # makings, and code that is already there
    few = {
        name: dict(counts[name])
        for name in asked
        if counts[name].total() < 10 or counts[name][True] < 3 or counts[name][False] < 5
    }
    assert not few


def test_every_name_is_known_or_marked_as_new():
    listed = {e.name: _own(e) | GENERAL for e in all_exercises().values()}
    unknown = {
        (entry.exercise, entry.title, name)
        for entry in entries()
        for name in entry.names
        if not name.startswith("?") and name not in listed[entry.exercise]
    }
    assert not unknown
    new = {(e.exercise, n) for e in entries() for n in e.names if n.removeprefix("?") in listed[e.exercise]}
    assert not {(exercise, name) for exercise, name in new if name.startswith("?")}


def _own(exercise: Exercise) -> set[str]:
    """The names that an exercise has for its wrong answers, listed or as options of its products."""
    together = exercise.mistakes.names if exercise.mistakes is not None else frozenset()
    return {w.name for w in exercise.wrong} | together


def test_every_name_that_can_be_said_anywhere_is_general():
    assert {form.name for form in FORMS if form.name} <= GENERAL
    assert {sign.name for sign in (*SIGNS, *LAST_SIGNS)} | {UNWRITTEN.name} <= GENERAL


def test_no_answer_stands_in_a_file_twice():
    codes = Counter((entry.exercise, entry.code) for entry in entries())
    assert not [where for where, times in codes.items() if times > 1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1\n=== right | a | own\ny = 1\n", "line 1: .* is expected first"),
        ("=== right | a title\ny = 1\n", "a verdict, a title and a source"),
        ("=== good | a | own\ny = 1\n", "the verdict is"),
        ("=== right: scaled-already | a | own\ny = 1\n", "the verdict is"),
        ("=== wrong | a | own\ny = 1\n", "the verdict is"),
        ("=== wrong: Not a slug | a | own\ny = 1\n", "no name: 'Not a slug'"),
        ("=== right | a | own\n\n", "no code"),
        ("=== right | a | own\nx = 1\n=== right | a | own\nx = 2\n", "two entries are called 'a'"),
    ],
)
def test_a_malformed_file_is_named(text, why):
    with pytest.raises(ValueError, match=why) as caught:
        read(text, SOMEWHERE, "01_dot_product")
    assert SOMEWHERE.name in str(caught.value)


def test_an_entry_is_read_as_it_is_written():
    text = "=== wrong: not-summed, ?new-name | two | public code\n\nx = 1\n\n\n=== right | one | own\nx = 2\n"
    wrong, right = read(text, SOMEWHERE, "01_dot_product")
    assert wrong == CorpusAnswer(
        "01_dot_product", "dot_product", False, ("not-summed", "?new-name"), "two", "public code", "x = 1\n"
    )
    assert (right.right, right.names, right.code) == (True, (), "x = 2\n")


def _entry(code: str) -> CorpusAnswer:
    return CorpusAnswer("01_dot_product", "dot_product", True, (), "a title", "own", code)


def test_tracebacks_and_inspect_show_an_answers_text():
    answer = function_of(_entry("def dot_product(q, k):\n    return q / 0\n"))
    assert inspect.getsource(answer) == "def dot_product(q, k):\n    return q / 0\n"
    with pytest.raises(ZeroDivisionError) as caught:
        answer(1, 2)
    assert "return q / 0" in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("code", ["def dot_product(:", "1 / 0", "def another():\n    pass"])
def test_an_answer_without_its_function_is_named(code):
    with pytest.raises(ValueError, match="01_dot_product/dot_product: a title"):
        function_of(_entry(code))


def test_every_mutant_that_is_spared_has_a_reason_and_an_exercise():
    lines = (HERE / "spared_mutants.txt").read_text(encoding="utf-8").splitlines()
    reasons = [line for line in lines if line.startswith("=== ")]
    assert lines[0] in reasons
    assert all(len(reason) > 30 for reason in reasons)
    named = [line.partition(": ") for line in lines if line not in reasons]
    assert {name for name, _, _ in named} <= set(all_exercises())
    assert all(" → " in mutant for _, _, mutant in named)
    merge = spared_mutants(find("merge"))
    assert all(f"merge: {mutant}" in lines and f"=== {reason}" in lines for mutant, reason in merge)
