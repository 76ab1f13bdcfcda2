"""The graded result: to the disk and back, and what is refused."""

import json
from dataclasses import replace

import pytest

from sdpa_helpers.classroom.marks.store import AnswerKey
from sdpa_helpers.classroom.review.apply_marks import with_marks
from sdpa_helpers.classroom.review.decisions import Decision
from sdpa_helpers.course.registry import written_of
from sdpa_helpers.grading.lift_words import digest
from sdpa_helpers.grading.result import FileHandedIn, Flag, LmsIdentity, NotAResult, OlderForm
from sdpa_helpers.grading.result_json import as_json, from_json
from tests.results import in_words, like_all, result

WORDS = written_of("02_variance_proof")[0]
FULL = replace(
    result(
        "ada",
        like_all(1.0, mistake="a mistake", message="Off.", diagnosis="wrong-values"),
        status="timeout",
        lms=LmsIdentity("canvas", "12", "Ada"),
        flags=[Flag("late", "Late.")],
        answers={"dot_product": "x"},
        reason="Why.",
    ),
    handed_in=(
        FileHandedIn("a.ipynb", True, False, "2026-05-01T11:00:00"),
        FileHandedIn("b.ipynb", False, True),
    ),
)
UNREAD = in_words("ben", **{WORDS.name: "Because."})
KEY = AnswerKey("ben", "02_variance_proof", WORDS.name, digest("Because."))
MARKED = with_marks(UNREAD, {KEY: Decision((WORDS.criteria[0].key,), 0.5, 1.5, "Hm.").as_mark(KEY)})


@pytest.mark.parametrize("whole", [FULL, UNREAD, MARKED], ids=["code", "words, unread", "words, marked"])
def test_what_is_written_comes_back(whole):
    assert from_json(json.loads(json.dumps(as_json(whole)))) == whole


def test_the_form_is_that_of_the_contract():
    data = as_json(FULL)
    assert list(data)[:6] == ["student", "notebook", "status", "reason", "points", "max_points"]
    assert data["points"] == sum(e["points"] for e in data["exercises"].values()) == FULL.points > 0
    case = data["exercises"]["dot_product"]["cases"][0]
    assert case == {
        "case": FULL.exercise("dot_product").cases[0].case,
        "passed": True,
        "points": FULL.exercise("dot_product").cases[0].points,
        "max_points": FULL.exercise("dot_product").cases[0].max_points,
        "status": "passed",
        "diagnosis": "wrong-values",
        "message": "Off.",
    }
    assert data["lms"] == {"system": "canvas", "id": "12", "name": "Ada"}
    assert data["handed_in"][1] == {"file": "b.ipynb", "graded": False, "late": True}
    assert as_json(UNREAD)["lms"] == {}
    words = as_json(MARKED)["exercises"][WORDS.name]
    assert (words["written"], words["points"], words["mark"]["comment"]) == (True, 1.5, "Hm.")
    assert "mark" not in as_json(UNREAD)["exercises"][WORDS.name]


def test_a_mark_passes_only_with_all_points():
    full = with_marks(UNREAD, {KEY: Decision((), 0.0, WORDS.max_points).as_mark(KEY)})
    assert (MARKED.words[0].case.passed, full.words[0].case.passed) == (False, True)


def test_another_form_is_refused_by_name():
    for form, says in (("1", "has the form 1"), (None, "has the form 2 or older")):
        data = as_json(FULL) | {"form": form}
        if form is None:
            del data["form"]
        with pytest.raises(OlderForm, match=rf"{says}; expected form \d+.*sdpa grade.*--fresh"):
            from_json(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([1], "no fingerprint"),
        ({"student": "ada"}, "no fingerprint"),
        ({**as_json(FULL), "status": "excellent"}, "'excellent' is unknown; expected one of graded"),
        ({**as_json(FULL), "exercises": {"x": {}}}, "not a whole result"),
        ({**as_json(FULL), "flags": [{"kind": "x"}]}, "not a whole result"),
    ],
)
def test_what_is_no_result_is_refused_with_a_sentence(data, says):
    with pytest.raises(NotAResult, match=says):
        from_json(data)
