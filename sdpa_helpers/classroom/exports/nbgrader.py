"""nbgrader: marks go into its gradebook, through its own API."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SAWarning, SQLAlchemyError

from sdpa_helpers.classroom.exports.order import CannotExport, Exported, Order
from sdpa_helpers.grading.result import Graded, GradedNotebook, GradedWords


def export(order: Order) -> Exported:
    """Write the results into the gradebook at a SQLAlchemy URL, by default a new SQLite file.

    Each notebook is an assignment of its own name, or all are notebooks of the order's assignment. Cells are those
    of solutions/: the grade of `dot_product` goes to the cell "dot_product-check"; an answer in words is itself the
    cell that is graded, and needs a grade until somebody has read it. What is there already is updated;
    a manual score that a human gave in formgrader stays, and goes before ours, as it does with nbgrader's own.
    """
    path = order.target("nbgrader.db")
    path.parent.mkdir(parents=True, exist_ok=True)
    url = order.gradebook or f"sqlite:///{path.resolve()}"
    try:
        learners = _write(order.results(), url, order.assignment)
    except SQLAlchemyError as error:
        given = f"--gradebook {order.gradebook}" if order.gradebook else str(path)
        expected = "the address of nbgrader's gradebook, e.g. sqlite:///gradebook.db, or its file"
        raise CannotExport(f"{given}: expected {expected}; {str(error).partition(chr(10))[0]}") from None
    return Exported(() if order.gradebook else (path,), learners)


def _write(results: Iterable[GradedNotebook], url: str, assignment: str) -> int:
    """Write into the gradebook; returns the number of learners."""
    try:
        from nbgrader.api import Gradebook
    except ModuleNotFoundError as error:
        raise CannotExport(
            f"{error.name} is not installed; this export needs: pip install nbgrader"
        ) from None

    students, known = set(), set()
    with _own_programs(), Gradebook(url) as book:
        for result in results:
            if result.no_mark:
                continue  # what nbgrader has of it stays
            name, student, notebook = assignment or result.notebook, result.student, result.notebook
            if (name, notebook) not in known:
                _lay_out(book, name, result)
                known.add((name, notebook))
            if student not in students:
                book.update_or_create_student(student)
                students.add(student)
            when: Any = {"timestamp": time} if (time := _time(result)) else {}
            submission = book.update_or_create_submission(name, student, **when)
            for graded in result.exercises:
                grade: Any = _grade(book, submission, notebook, _cell_of(graded))
                grade.auto_score = graded.points
                waits = isinstance(graded, GradedWords) and graded.waits
                grade.needs_manual_grade = waits and grade.manual_score is None
            _take_off(submission, result)
            book.db.commit()
    return len(students)


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


def _lay_out(book, assignment: str, result: GradedNotebook) -> None:
    """The assignment, its notebook, and the cells that carry points: made where they are missing."""
    book.update_or_create_assignment(assignment)
    book.update_or_create_notebook(result.notebook, assignment)
    for graded in result.exercises:
        book.update_or_create_grade_cell(
            _cell_of(graded),
            result.notebook,
            assignment,
            max_score=graded.max_points,
            cell_type="markdown" if isinstance(graded, GradedWords) else "code",
        )


def _cell_of(graded: Graded) -> str:
    return graded.name if isinstance(graded, GradedWords) else f"{graded.name}-check"


def _grade(book, submission, notebook: str, cell: str):
    """The grade of one cell; a submission that is older than the cell or its notebook gets what it lacks."""
    from nbgrader.api import Grade, MissingEntry, SubmittedNotebook

    assignment, student = submission.assignment.name, submission.student.id
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


def _take_off(submission: Any, result: GradedNotebook) -> None:
    """What being late costs, where nbgrader keeps it: in points."""
    for handed_in in submission.notebooks:
        if handed_in.name == result.notebook:
            handed_in.late_submission_penalty = round(result.earned - result.points, 4) or None


def _time(result: GradedNotebook) -> str:
    return next((file.time for file in result.handed_in if file.graded and file.time), "")
