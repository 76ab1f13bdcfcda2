"""Through the real grader, kernel and all: every solution earns full marks, every untouched exercise none."""

import pytest

from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.lessons.registry import LESSONS
from sdpa_helpers.sandbox.limits import Limits

SETTINGS = Settings("every notebook", Limits(seconds=120, cell_seconds=20))


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_solutions_earn_full_marks(course, lesson):
    record = grade(Submission("ada", lesson, course / "solutions" / f"{lesson}.ipynb"), SETTINGS)
    words = {name: e for name, e in record["exercises"].items() if e.get("written")}
    lost = [c["message"] for e in record["exercises"].values() for c in e["cases"] if not c["passed"]]
    waiting = [e["cases"][0]["message"] for e in words.values()]
    assert (record["status"], lost, record["flags"]) == ("graded", waiting, [])
    assert record["points"] == record["max_points"] - sum(e["max_points"] for e in words.values()) > 0
    assert {e["cases"][0]["status"] for e in words.values()} <= {"to-review"}


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_untouched_exercise_earns_nothing(course, lesson):
    record = grade(Submission("bob", lesson, course / "exercises" / f"{lesson}.ipynb"), SETTINGS)
    assert (record["status"], record["points"]) == ("graded", 0)
    assert {c["status"] for e in record["exercises"].values() for c in e["cases"]} == {"not-attempted"}
