"""What stands in the gradebook, wherever it lies: the columns of its tables, and the rows of a result."""

from collections.abc import Iterator

from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedNotebook

NAME, WORD, NUMBER = "VARCHAR(255)", "VARCHAR(64)", "FLOAT"
RESULTS = {
    **{"student": NAME, "notebook": NAME, "status": "VARCHAR(32)", "reason": "TEXT"},
    **{"points": NUMBER, "max_points": NUMBER, "fingerprint": WORD},
}
CASES = {
    **{"result_id": "INTEGER", "exercise": NAME, "case": NAME, "points": NUMBER, "max_points": NUMBER},
    **{"status": "VARCHAR(32)", "diagnosis": NAME, "message": "TEXT"},
}
FLAGS = {"result_id": "INTEGER", "kind": WORD, "message": "TEXT"}
TABLES = {"results": RESULTS, "cases": CASES, "flags": FLAGS}
"""By table, what its columns hold, in SQL. Each has an `id` in front; `result_id` is that of the result."""


class CannotWrite(Refusal):
    """The gradebook cannot be written; the text says which, without its password, and why."""


def result_row(result: GradedNotebook) -> tuple:
    """The values of RESULTS."""
    return tuple(getattr(result, column) for column in RESULTS)


def case_rows(result: GradedNotebook, number: int) -> Iterator[tuple]:
    """The values of CASES, for each case; number: the id of its result's row."""
    for exercise in result.exercises:
        for c in exercise.counted:
            about = (number, exercise.name, c.case, c.points, c.max_points)
            yield (*about, c.status, c.diagnosis, c.message)


def flag_rows(result: GradedNotebook, number: int) -> Iterator[tuple]:
    """The values of FLAGS, for each flag."""
    for flag in result.flags:
        yield (number, flag.kind, flag.message)
