"""Through the real grader, kernel and all: every solution earns full marks, every untouched exercise none."""

import pytest

from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.grading.grade_one import Settings, grade
from sdpa_helpers.grading.read import Submission
from sdpa_helpers.sandbox.limits import Limits

SETTINGS = Settings("every notebook", Limits(seconds=120, cell_seconds=20))


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_solutions_earn_full_marks(course, lesson):
    result = grade(Submission("ada", lesson, course / "solutions" / f"{lesson}.ipynb"), SETTINGS)
    lost = [case.message for e in result.code for case in e.cases if not case.passed]
    assert (result.status, lost, result.flags) == ("graded", [], ())
    assert result.points == result.max_points - sum(e.max_points for e in result.words) > 0
    assert all(words.waits for words in result.words)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_untouched_exercise_earns_nothing(course, lesson):
    result = grade(Submission("bob", lesson, course / "exercises" / f"{lesson}.ipynb"), SETTINGS)
    assert (result.status, result.points) == ("graded", 0)
    assert {case.status for e in result.exercises for case in e.cases} == {"not-attempted"}
