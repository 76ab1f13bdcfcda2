"""Code with a bug, found and mended. What every exercise is held to is tested elsewhere."""

import inspect
import json

import numpy as np
import pytest

from sdpa_helpers.checking.card.render import card, report_text
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.judging.as_it_came import CHANGED, SEEN
from sdpa_helpers.course.exercise_notebook import answer_cell, exercise_notebook
from sdpa_helpers.course.registry import LESSONS, all_exercises, exercises_of, find
from sdpa_helpers.desk.copy_text import as_saved, has_answers

MENDS = [e for e in all_exercises().values() if e.whole]
EVERY_MEND = pytest.mark.parametrize("mend", MENDS, ids=lambda e: e.name)

BUGS = {
    "softmax": "max-over-last-axis",
    "softmax_backward": "mean-not-sum",
    "attention_backward": "scale-missing-in-queries",
    "masked_softmax": "hidden-key-sets-the-maximum",
    "chunked_attention": "sum-not-rescaled",
    "tiled_attention": "tile-on-the-diagonal-skipped",
    "multi_head_attention": "heads-joined-by-reshape",
}
"""The exercise → its wrong answer that is the bug."""


def original(exercise):
    return find(exercise.name.partition("_")[2])


# ---- mend ---------------------------------------------------------------------------------------------------


def test_each_bug_is_found_before_it_is_mended():
    assert [e.name for e in MENDS] == [f"mend_{name}" for name in BUGS]
    for mend in MENDS:
        names = [e.name for e in exercises_of(mend.lesson)]
        assert names[names.index(mend.name) - 1] == f"hunt_{original(mend).name}"
        assert names.index(original(mend).name) < names.index(mend.name)


@EVERY_MEND
def test_the_bug_is_a_wrong_answer_of_the_bank(mend):
    assert {m.name for m in try_out(original(mend), mend.starter).mistakes} == {BUGS[original(mend).name]}


@EVERY_MEND
def test_it_is_tried_with_the_cases_of_the_exercise_it_comes_from(mend):
    theirs = original(mend)
    assert [(c.name, c.make) for c in mend.cases] == [(c.name, c.make) for c in theirs.cases]
    assert (mend.wrong, mend.also_right, mend.mistakes) == (theirs.wrong, theirs.also_right, theirs.mistakes)
    assert mend.whole
    assert not try_out(theirs, mend.starter).passed


@EVERY_MEND
def test_code_that_is_as_it_came_is_not_attempted_and_hears_nothing_of_its_bug(mend):
    bug = next(w for w in mend.wrong if w.name == BUGS[original(mend).name])
    result = try_out(mend, mend.starter)
    assert (result.attempted, result.points, result.mistakes) == (False, 0, ())
    assert {(c.verdict.status, c.diagnosis) for c in result.cases} == {("not-attempted", "as-it-came")}
    text = report_text(result)
    assert f"{SEEN[1:]}." in text
    assert bug.says[:40] not in text + card(result)
    assert "Change the code in the cell above" in text
    assert "Change the code in the cell above" in card(result)


def test_a_change_that_alters_no_result_hears_so():
    mend = find("mend_softmax")

    def mend_softmax(x, axis=-1):
        return mend.starter(x, axis)

    result = try_out(mend, mend_softmax)
    assert {c.means for c in result.cases} == {CHANGED}
    assert CHANGED in report_text(result)
    assert "changed, and not mended yet" in report_text(result)
    assert CHANGED not in report_text(try_out(mend, mend.starter))


@EVERY_MEND
def test_its_cell_holds_the_code_that_the_prompt_before_it_shows(mend):
    cell = answer_cell(mend)
    assert cell.startswith(f"# exercise: {mend.name}\ndef {mend.name}(")
    hunt = find(mend.name.replace("mend", "hunt"))
    shown = [
        line.lstrip("0123456789 ")
        for line in hunt.prompt.partition("```python\n")[2].split("\n```")[0].split("\n")
    ]
    assert [line.strip() for line in cell.split("\n")[2:]] == shown[1:]
    assert shown[0] == cell.split("\n")[1].replace(mend.name, original(mend).name)
    scope = {"np": np}
    exec(cell, scope)
    assert not try_out(mend, scope[mend.name]).attempted


def test_a_mend_that_breaks_something_earns_nothing():
    mend = find("mend_softmax")

    def only_columns(x, axis=-1):
        e = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True) if np.abs(x).max() < 100 else e

    result = try_out(mend, only_columns)
    assert sum(c.verdict.passed for c in result.cases) > len(mend.cases) / 2
    assert (result.attempted, result.points) == (True, 0)
    assert "The points come when every case passes" in report_text(result)
    assert "The points come when every case passes" in card(result)
    assert "every case passes" not in report_text(try_out(mend, mend.reference))
    assert try_out(mend, original(mend).reference).points == mend.max_points


def test_another_bug_in_its_place_is_named_and_earns_nothing():
    mend = find("mend_softmax")
    wrong = next(w for w in mend.wrong if w.name == "mean-subtracted")
    result = try_out(mend, wrong.function)
    assert ([m.name for m in result.mistakes], result.points) == (["mean-subtracted"], 0)


def test_a_copy_with_code_in_it_is_answered_only_once_that_is_changed():
    """Else a new edition would lie beside it, not in its place."""
    begun = {lesson: json.loads(as_saved(exercise_notebook(lesson))) for lesson in LESSONS}
    assert not [lesson for lesson, notebook in begun.items() if has_answers(notebook)]
    for exercise in (e for e in all_exercises().values() if e.starter):
        notebook = json.loads(as_saved(exercise_notebook(exercise.lesson)))
        cell = next(c for c in notebook["cells"] if c["id"] == f"{exercise.name.replace('_', '-')}-answer")
        cell["source"] += "\n# mine"
        assert has_answers(notebook), exercise.name


# ---- hunt ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line", "inputs"),
    [
        ("softmax", 3, (np.array([[0.0, 1.0], [800.0, 0.0]]), 0)),
        ("softmax_backward", 4, (np.array([[1.0, 0.0]]), np.array([[3.0, 0.0]]))),
        ("attention_backward", 9, (np.zeros((1, 4)), np.eye(4), np.eye(4), np.ones((1, 4)) * [1, 0, 0, 0])),
        ("masked_softmax", 3, (np.array([[1.0, 900.0]]), np.array([[True, False]]))),
        ("chunked_attention", 11, (np.ones((1, 1)), np.array([[0.0], [2.0]]), np.array([[1.0], [0.0]]), 1)),
        ("chunked_attention", 12, (np.ones((1, 1)), np.array([[0.0], [2.0]]), np.array([[1.0], [0.0]]), 1)),
        ("tiled_attention", 9, (np.zeros((3, 1)), np.zeros((3, 1)), np.eye(3), 3, 1, True)),
    ],
)
def test_what_is_found_by_hand_is_accepted(name, line, inputs):
    hunt, mend = find(f"hunt_{name}"), find(f"mend_{name}")
    assert try_out(hunt, lambda: (line, inputs)).points == hunt.max_points
    assert mend.starter is not mend.reference
    given = [[np.array(x) if isinstance(x, np.ndarray) else x for x in inputs] for _ in range(2)]
    with np.errstate(all="ignore"):
        ours, right = mend.starter(*given[0]), mend.reference(*given[1])
    first = (ours[0], right[0]) if isinstance(ours, tuple) else (ours, right)
    assert not np.allclose(*first)


@pytest.mark.parametrize("name", BUGS)
def test_the_line_and_the_input_are_worth_half_each(name):
    hunt = find(f"hunt_{name}")
    line, inputs = hunt.reference()
    half = hunt.max_points / 2
    assert [case.points for case in hunt.cases] == [half, 0, half]
    assert try_out(hunt, lambda: (2, inputs)).points == half
    assert try_out(hunt, lambda: (line, ())).points == half
    assert try_out(hunt, lambda: (99, ())).points == 0
    lines = inspect.getsource(find(f"mend_{name}").starter).rstrip().split("\n")
    mended = inspect.getsource(find(f"mend_{name}").reference).rstrip().split("\n")
    assert lines[line - 1] not in mended


def test_an_input_on_which_nothing_shows_is_shown_what_comes_back():
    same = report_text(try_out(find("hunt_softmax"), lambda: (3, (np.zeros((2, 2)),))))
    assert "the code is right on this input (both return [[0.5, 0.5], [0.5, 0.5]])" in same


HOSTILE = [
    (np.zeros((0, 20_000)), np.zeros((20_000, 0))),
    (np.zeros((1, 1, 1, 1, 1)), 0),
    (np.array([np.nan, 1.0]), 0),
    (np.array([np.inf, 1.0]), 0),
    (np.ones(101), 0),
    ([[1.0], [1.0, 2.0]], 0),
    (["a"], 0),
    ([[]], 0),
    (np.ones((2, 2)), 10**18),
    (np.ones((2, 2)), True),
    (np.ones((2, 2)), 0.5),
    (np.ones((2, 2)), None),
    (None, None),
    (np.ones((2, 2)), np.ones((2, 2))),
    (np.array([[True]]), 0),
    ((),),
    (1, 2, 3, 4, 5),
]


@pytest.mark.parametrize("name", ["softmax", "masked_softmax", "chunked_attention"])
def test_any_other_input_is_refused_in_words(name):
    hunt = find(f"hunt_{name}")
    for inputs in HOSTILE:
        result = try_out(hunt, lambda inputs=inputs: (hunt.reference()[0], inputs))
        assert result.points == hunt.cases[0].points, inputs
        assert {m.name for m in result.mistakes} <= {"not-an-input", "does-not-show", "too-large"}, (
            inputs,
            report_text(result),
        )
    for value in (3, (3,), (3, 4), ("3", (1,)), (True, (1,)), [[3], [1]], (3, {"a": 1}), ((3, ()), ())):
        assert try_out(hunt, lambda value=value: value).points <= hunt.cases[0].points * (value == (3, ())), (
            value
        )


def test_a_hunt_takes_only_what_the_prompt_promises():
    weights, none, grad = np.array([[0.5, 0.9]]), np.zeros((1, 2)), np.array([[1.0, 3.0]])
    for name, inputs in {
        "softmax_backward": (weights, grad),
        "softmax": (np.array([[1.0, np.nan], [3.0, 1.0]]), 0),
    }.items():
        hunt = find(f"hunt_{name}")
        result = try_out(hunt, lambda hunt=hunt, inputs=inputs: (hunt.reference()[0], inputs))
        assert [m.name for m in result.mistakes] == ["not-an-input"]
    masked = try_out(find("hunt_softmax_backward"), lambda: (4, (none, grad)))
    assert [m.name for m in masked.mistakes] == ["does-not-show"]


def test_an_input_that_is_only_too_large_is_told_so():
    """It is one that the function has to answer: what is wrong is its size alone."""
    x, projections = np.ones((5, 16)), [np.eye(16)] * 4
    result = try_out(find("hunt_multi_head_attention"), lambda: (11, (x, *projections, 2)))
    assert [mistake.name for mistake in result.mistakes] == ["too-large"]
    assert result.cases[1].verdict.seen == "at most 100 numbers are allowed; your input has 1105"
    assert "none that" not in report_text(result)
