"""Gradescope: results.json of each learner, in the form that it reads from /autograder/results/."""

import json
from typing import Any

from sdpa_helpers.classroom.exports.order import Exported, Order
from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.grading.result import GradedCase


def export(order: Order) -> Exported:
    """A folder for each learner, with every case as a test.

    Where the grader itself failed on an exercise its tests and the whole have no `score`, which Gradescope needs to
    show a mark.
    """
    tests: dict[str, list[dict[str, Any]]] = {}
    taken_off: dict[str, float] = {}
    failed: dict[str, list[str]] = {}
    for result in order.results():
        late = taken_off.get(result.student, 0.0)
        taken_off[result.student] = late + result.earned - result.points
        mine = tests.setdefault(result.student, [])
        why = result.reason if result.status == "missing" else ""
        if result.failed:
            failed.setdefault(result.student, []).extend(result.failed)
        for exercise in result.exercises:
            for case in exercise.counted:
                number = f"{result.notebook[:2]}.{len(mine) + 1}"
                tags = [result.notebook, exercise.name]
                mine.append(
                    {
                        "name": f"{exercise.name}: {case.case}",
                        "number": number,
                        "tags": tags,
                        **_test(case, why),
                    }
                )
    paths = []
    for student, mine in sorted(tests.items()):
        whole = {"visibility": "visible", "stdout_visibility": "hidden", "tests": mine}
        if student in failed:
            whole |= {"output": f"{NO_MARK} ({', '.join(failed[student])}). {KEPT}", "output_format": "text"}
        else:
            whole["score"] = round(sum(test["score"] for test in mine) - taken_off[student], 4)
        paths.append(order.target("gradescope") / student / "results.json")
        write_text(paths[-1], json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    return Exported(tuple(paths), len(tests))


NO_MARK = "No mark yet: the grader itself failed"
KEPT = "Your file is kept: tell your instructor."


def _test(case: GradedCase, why: str) -> dict[str, Any]:
    """A case as a test; `why` it could not be run, where no file was graded."""
    found: dict[str, Any] = {
        "max_score": case.max_points,
        "output": why or case.message,
        "output_format": "text",
        "visibility": "visible",
    }
    if case.status == "grader-failed":
        return found
    found["score"] = case.points
    if case.status != "to-review":  # what nobody has read is neither passed nor failed
        found["status"] = "passed" if case.passed else "failed"
    return found
