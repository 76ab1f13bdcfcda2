"""What stands in the gradebook, wherever it lies: the columns of its tables, and the rows of a result."""

from collections.abc import Iterator

from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedNotebook

RESULTS = ("student", "notebook", "status", "reason", "points", "max_points", "fingerprint")
CASES = ("result_id", "exercise", "case", "points", "max_points", "status", "diagnosis", "message")
FLAGS = ("result_id", "kind", "message")


class CannotWrite(Refusal):
    """The gradebook cannot be written; the text says which, without its password, and why."""


def result_row(result: GradedNotebook) -> tuple:
    """The values of RESULTS."""
    return tuple(getattr(result, column) for column in RESULTS)


def case_rows(result: GradedNotebook, number: int) -> Iterator[tuple]:
    """The values of CASES, for each case; number: the id of its result's row."""
    for exercise in result.exercises:
        for case in exercise.counted:
            yield (
                number,
                exercise.name,
                case.case,
                case.points,
                case.max_points,
                case.status,
                case.diagnosis,
                case.message,
            )


def flag_rows(result: GradedNotebook, number: int) -> Iterator[tuple]:
    """The values of FLAGS, for each flag."""
    for flag in result.flags:
        yield (number, flag.kind, flag.message)
