"""Put the marks into nbgrader's gradebook, through nbgrader's own API."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SAWarning

from sdpa_helpers.classroom.exports.roster import CannotExport, Exported
from sdpa_helpers.grading.grade_one import Record
from sdpa_helpers.grading.lift_words import waits


def to_nbgrader(records: Iterable[Record], url: str, assignment: str = "") -> Exported:
    """Write the records into the gradebook at `url`, e.g. "sqlite:///gradebook.db".

    Each notebook is an assignment of its own name, or all are notebooks of `assignment`. Cells are those of
    solutions/: the grade of `dot_product` goes to the cell "dot_product-check"; an answer in words is itself the
    cell that is graded, and needs a grade until somebody has read it. What is there already is updated;
    a manual score that a human gave in formgrader stays, and goes before ours, as it does with nbgrader's own.
    """
    try:
        from nbgrader.api import Gradebook
    except ModuleNotFoundError as error:
        raise CannotExport(
            f"{error.name} is not installed; this export needs: pip install nbgrader"
        ) from None

    done, students, known = Exported(), set(), set()
    with _own_programs(), Gradebook(url) as book:
        for record in records:
            name, student, notebook = assignment or record["notebook"], record["student"], record["notebook"]
            if (name, notebook) not in known:
                _lay_out(book, name, record)
                known.add((name, notebook))
            if student not in students:
                book.update_or_create_student(student)
                students.add(student)
            when: Any = {"timestamp": time} if (time := _time(record)) else {}
            submission = book.update_or_create_submission(name, student, **when)
            for exercise, graded in record["exercises"].items():
                grade: Any = _grade(book, submission, _cell_of(exercise, graded), notebook, name, student)
                grade.auto_score = graded["points"]
                grade.needs_manual_grade = waits(graded) and grade.manual_score is None
            book.db.commit()
    done.learners = len(students)
    return done


@contextlib.contextmanager
def _own_programs() -> Iterator[None]:
    """nbgrader calls `alembic` by name when it makes a gradebook: let it find the one beside this Python.

    Its use of SQLAlchemy also warns about an order of statements that does no harm.
    """
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            yield
    finally:
        os.environ["PATH"] = before


def _lay_out(book, assignment: str, record: Record) -> None:
    """The assignment, its notebook, and the cells that carry points: made where they are missing."""
    book.update_or_create_assignment(assignment)
    book.update_or_create_notebook(record["notebook"], assignment)
    for exercise, graded in record["exercises"].items():
        book.update_or_create_grade_cell(
            _cell_of(exercise, graded),
            record["notebook"],
            assignment,
            max_score=graded["max_points"],
            cell_type="markdown" if graded.get("written") else "code",
        )


def _cell_of(exercise: str, graded: dict[str, Any]) -> str:
    return exercise if graded.get("written") else f"{exercise}-check"


def _grade(book, submission, cell: str, notebook: str, assignment: str, student: str):
    """The grade of one cell; a submission that is older than the cell or its notebook gets what it lacks."""
    from nbgrader.api import Grade, MissingEntry, SubmittedNotebook

    try:
        return book.find_grade(cell, notebook, assignment, student)
    except MissingEntry:
        handed_in = next((n for n in submission.notebooks if n.name == notebook), None)
        if handed_in is None:
            handed_in = SubmittedNotebook(
                notebook=book.find_notebook(notebook, assignment), assignment=submission
            )
        grade = Grade(cell=book.find_grade_cell(cell, notebook, assignment), notebook=handed_in)
        book.db.add(grade)
        return grade


def _time(record: Record) -> str:
    return next((e["time"] for e in record.get("handed_in", ()) if e["graded"] and "time" in e), "")
