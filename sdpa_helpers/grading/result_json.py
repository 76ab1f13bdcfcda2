"""The form of results/<student>/<notebook>.json: a result as JSON, and back."""

from dataclasses import asdict
from functools import lru_cache
from typing import Any, get_args

from sdpa_helpers.grading.result import (
    RECORD_FORM,
    CaseStatus,
    FileHandedIn,
    Flag,
    Graded,
    GradedCase,
    GradedExercise,
    GradedNotebook,
    GradedWords,
    LmsIdentity,
    NamedMistake,
    NotAResult,
    OlderForm,
    ShownCriterion,
    ShownMark,
    Status,
)


def as_json(result: GradedNotebook) -> dict[str, Any]:
    """The result in the form of the results file."""
    return {
        "student": result.student,
        "notebook": result.notebook,
        "status": result.status,
        "reason": result.reason,
        "points": result.points,
        "max_points": result.max_points,
        "earned": result.earned,
        "late_penalty": result.late_penalty,
        "exercises": {exercise.name: _exercise_as_json(exercise) for exercise in result.exercises},
        "flags": [asdict(flag) for flag in result.flags],
        "answers": dict(result.answers),
        "shapes": dict(result.shapes),
        "handed_in": [
            {key: value for key, value in asdict(file).items() if value != ""} for file in result.handed_in
        ],
        "lms": asdict(result.lms) if result.lms else {},
        "fingerprint": result.fingerprint,
        "form": RECORD_FORM,
    }


def _exercise_as_json(exercise: Graded) -> dict[str, Any]:
    found: dict[str, Any] = {
        "title": exercise.title,
        "status": "grader-failed" if exercise.failed else "graded",
        "points": exercise.points,
        "max_points": exercise.max_points,
        "mistake": exercise.mistake if isinstance(exercise, GradedExercise) else "",
        "cases": [_case_as_json(case) for case in exercise.cases],
    }
    if isinstance(exercise, GradedExercise):
        found |= {
            "mistakes": [{**asdict(m), "cases": list(m.cases)} for m in exercise.mistakes],
            "pattern": exercise.pattern,
            "unknown": exercise.unknown,
            "before_cap": exercise.before_cap,
        }
    else:
        found |= {"written": True, "digest": exercise.digest}
    if exercise.mark is not None:
        found["mark"] = asdict(exercise.mark)
    return found


def _case_as_json(case: GradedCase) -> dict[str, Any]:
    return vars(case) | {"passed": case.passed}  # asdict would copy each text of half a million cases


def from_json(data: Any) -> GradedNotebook:
    """The result that stands in a results file.

    Raises OlderForm for one of another version, NotAResult for anything else that is no result.
    """
    if not isinstance(data, dict) or "fingerprint" not in data:
        raise NotAResult("this is not the result of a submission: it has no fingerprint")
    if data.get("form") != RECORD_FORM:
        raise OlderForm(str(data.get("form", "2 or older")))
    try:
        return GradedNotebook(
            student=data["student"],
            notebook=data["notebook"],
            status=_known(data["status"], get_args(Status)),
            exercises=tuple(_exercise_from_json(name, e) for name, e in data["exercises"].items()),
            reason=data["reason"],
            flags=tuple(Flag(**flag) for flag in data["flags"]),
            answers=data["answers"],
            shapes=data["shapes"],
            handed_in=tuple(FileHandedIn(**file) for file in data["handed_in"]),
            lms=LmsIdentity(**data["lms"]) if data["lms"] else None,
            fingerprint=data["fingerprint"],
            late_penalty=data.get("late_penalty", 0.0),
        )
    except NotAResult:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise NotAResult(f"this is not a whole result ({type(error).__name__}: {error})") from None


def _exercise_from_json(name: str, data: dict[str, Any]) -> Graded:
    cases = tuple(_case_from_json(**case) for case in data["cases"])
    mark = _mark_from_json(data["mark"]) if "mark" in data else None
    if not data.get("written"):
        mistakes = tuple(
            NamedMistake(m["name"], m["says"], tuple(m["cases"]), m.get("by", "")) for m in data["mistakes"]
        )
        more = (mistakes, data["pattern"], data["unknown"], data.get("before_cap"), mark)
        return GradedExercise(name, data["title"], data["max_points"], cases, *more)
    (case,) = cases
    return GradedWords(name, data["title"], data["max_points"], case, data["digest"], mark)


@lru_cache(maxsize=1 << 14, typed=True)  # of half a million cases of a class most are one of a few
def _case_from_json(status: str, passed: bool = False, **data: Any) -> GradedCase:
    return GradedCase(status=_known(status, get_args(CaseStatus)), **data)


def _mark_from_json(data: dict[str, Any]) -> ShownMark:
    criteria = tuple(ShownCriterion(**criterion) for criterion in data["criteria"])
    return ShownMark(criteria, data["adjusted"], data["comment"], data["asked"])


def _known(status: str, among: tuple[str, ...]) -> Any:
    if status not in among:
        raise NotAResult(f"the status {status!r} is unknown; expected one of {', '.join(among)}")
    return status
