"""What the checks make of several hundred answers as people write them: the four numbers that this course lives by.

The numbers are printed at the end of a run with `-s`. An answer is named truly when everything that is said of it is
true, and falsely when anything is not.
"""

from collections import Counter
from dataclasses import dataclass

import pytest

from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.diagnose import Result, assess, source_of
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, for_all, truths, with_own_calls
from sdpa_helpers.course.registry import all_exercises
from sdpa_helpers.grading.judge import Evidence, Marking, judge_exercise
from sdpa_helpers.grading.read import Lifted, shown_names
from sdpa_helpers.grading.result import GradedExercise
from sdpa_helpers.grading.run import Outcome
from tests.corpus import CorpusAnswer, entries, function_of

NAMED_TRULY, NAMED_FALSELY = 0.80, 0.01


@dataclass(frozen=True)
class Told:
    """An answer and what `check` and `sdpa grade` said of it."""

    entry: CorpusAnswer
    result: Result
    graded: GradedExercise

    @property
    def names(self) -> set[str]:
        return {mistake.name for mistake in self.result.mistakes}

    @property
    def true_names(self) -> set[str]:
        return {name.removeprefix("?") for name in self.entry.names}

    def __str__(self) -> str:
        e = self.entry
        return f"{e.exercise}: {e.title}: told {sorted(self.names)}, true {sorted(self.true_names)}"


@pytest.fixture(scope="module")
def told() -> list[Told]:
    exercises = all_exercises()
    return [_told(entry, exercises[entry.exercise]) for entry in entries()]


def _told(entry: CorpusAnswer, exercise: Exercise) -> Told:
    function, known = function_of(entry), truths(exercise, PUBLIC_SEED)
    answers = for_all(known, [observe(function, t.inputs, t.watch) for t in with_own_calls(known)])
    result = assess(exercise, answers, PUBLIC_SEED, source_of(function))
    return Told(entry, result, _graded(entry, exercise, answers))


def _graded(entry: CorpusAnswer, exercise: Exercise, answers: list[Answer]) -> GradedExercise:
    """The way of `sdpa grade`, which tells nothing of the inputs; on those of `check`, where all is computed."""
    known = truths(exercise, PUBLIC_SEED)
    came = {(exercise.name, k.asked_in or k.case.name): a for k, a in zip(known, answers, strict=True)}
    lifted = Lifted({exercise.name: entry.code}, (), {}, names={exercise.name: shown_names(entry.code)})
    return judge_exercise(exercise, Evidence(lifted, Outcome(came), {}), Marking(PUBLIC_SEED, hidden=True))


def test_no_right_answer_is_rejected(told):
    assert not [str(t) for t in told if t.entry.right and not t.result.passed]


def test_no_wrong_answer_is_accepted(told):
    assert not [str(t) for t in told if not t.entry.right and t.result.passed]


def test_what_is_said_is_true(told):
    wrong = [t for t in told if not t.entry.right]
    falsely = [t for t in wrong if not t.names <= t.true_names]
    truly = [t for t in wrong if t.names and t.names <= t.true_names]
    print(
        f"\n{len(told)} answers, {len(wrong)} of them wrong: {len(truly)} named truly ({len(truly) / len(wrong):.1%}), "
        f"{len(falsely)} falsely ({len(falsely) / len(wrong):.1%}), {len(wrong) - len(truly) - len(falsely)} not"
    )
    assert len(falsely) < NAMED_FALSELY * len(wrong), [str(t) for t in falsely]
    assert len(truly) >= NAMED_TRULY * len(wrong), Counter(t.entry.exercise for t in wrong if not t.names)


def test_marked_feedback_has_the_same_points_and_a_sentence_for_every_case_that_failed(told):
    for t in told:
        assert t.graded.points == t.result.points, str(t)
        assert all(case.message for case in t.graded.cases if not case.passed), str(t)
