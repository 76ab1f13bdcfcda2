"""An exercise fails alone: where judging or wording it raises an error of ours, it alone has no mark.

What the learner reads of the error is its type and its place in our code: its text could hold hidden numbers.
"""

import contextlib
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.judge import Truth, truths
from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.grading.judge import Evidence, Marking, cell_flags, judge_exercise, use_flags
from sdpa_helpers.grading.lift_words import unmarked
from sdpa_helpers.grading.result import Flag, GradedCase, GradedExercise, GradedWords

_OURS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Judged:
    """An exercise with what was noticed of its answer."""

    graded: GradedExercise
    use: tuple[Flag, ...] = ()
    cell: tuple[Flag, ...] = ()


def draw_all(exercises: Iterable[Exercise], seed: str) -> dict[str, tuple[Truth, ...]]:
    """Exercise → its cases with numbers. One whose cases cannot be drawn is left out; judging it says so."""
    found = {}
    for exercise in exercises:
        with contextlib.suppress(Exception):
            found[exercise.name] = truths(exercise, seed)
    return found


def judge_alone(exercise: Exercise, evidence: Evidence, marking: Marking) -> Judged:
    """The judged exercise, whatever error of ours it meets. Raises OSError, which is the machine's trouble."""
    try:
        return Judged(
            judge_exercise(exercise, evidence, marking),
            use_flags(exercise, evidence),
            cell_flags([exercise], evidence, hidden=marking.hidden),
        )
    except OSError:
        raise
    except Exception as error:
        return Judged(not_judged(exercise, f"The grader itself failed on this exercise ({place_of(error)})"))


def not_judged(exercise: Exercise, why: str) -> GradedExercise:
    """The exercise without a mark; nothing is asked of its cases but their names and points."""
    cases = (
        GradedCase(case.name, "grader-failed", 0.0, case.points, "grader-failed", f"{why}: {NO_MARK_YET}")
        for case in exercise.cases
    )
    return GradedExercise(exercise.name, exercise.title, exercise.max_points, tuple(cases))


def not_lifted(exercise: WrittenExercise, why: str) -> GradedWords:
    """The same of one that is answered in words."""
    case = unmarked(exercise.max_points, "grader-failed", f"{why}: {NO_MARK_YET}")
    return GradedWords(exercise.name, exercise.title, exercise.max_points, case)


NO_MARK_YET = "it has no mark yet. It was not you who made the mistake; tell your instructor."


def place_of(error: BaseException) -> str:
    """The type of an error, and the last line of ours that it came from, e.g. "KeyError, grading/judge.py:77"."""
    ours = [
        f"{Path(frame.filename).relative_to(_OURS).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(_OURS)
    ]
    return ", ".join([type(error).__name__, *ours[-1:]])
