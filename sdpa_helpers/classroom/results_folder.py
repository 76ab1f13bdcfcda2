"""Write what was graded: a JSON file per submission, two CSV files, and the gradebook through SQLAlchemy."""

import contextlib
import csv
import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from sqlalchemy import (
    URL,
    Engine,
    ForeignKey,
    String,
    Text,
    UniqueConstraint,
    create_engine,
    delete,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from sdpa_helpers.grading.result import GradedNotebook, as_json, from_json

DETAILS = ("student", "notebook", "exercise", "case", "points", "max_points", "status", "diagnosis")

HANDED_IN = ("student", "notebook", "file", "time", "late", "graded")


class CannotWrite(Exception):
    """The gradebook cannot be written; the text says which, without its password, and why."""


# ---- files ------------------------------------------------------------------------------------------------


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with whole_file(path) as file:
        file.write(text)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A file to write to that takes its place when all is on the disk: no crash ever leaves half of it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with draft.open("w", newline="", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(out: Path) -> None:
    """Remove what a writer that was killed has left in an --out folder."""
    for pattern in (".*.tmp", "results/*/.*.tmp", "feedback/*/.*.tmp"):
        for draft in out.glob(pattern):
            draft.unlink(missing_ok=True)


def result_path(out: Path, student: str, notebook: str) -> Path:
    """Where the record of a submission is written."""
    return out / "results" / student / f"{notebook}.json"


def write_result(out: Path, result: GradedNotebook) -> None:
    """The result of one submission as JSON."""
    path = result_path(out, result.student, result.notebook)
    write_text(path, json.dumps(as_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_result(path: Path) -> GradedNotebook | None:
    """The result in a file; None when it is cut off, of an older form, or none of ours."""
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def read_results(out: Path, only: Iterable[tuple[str, str]] | None = None) -> Iterator[GradedNotebook]:
    """The results in `out`, one at a time, by student and notebook; `only`: of these (student, notebook) pairs.

    A file that was cut off, has an older form, or is none of ours, is passed over.
    """
    if only is None:
        paths = sorted((out / "results").glob("*/*.json"))
    else:
        paths = [result_path(out, student, notebook) for student, notebook in sorted(only)]
    yield from filter(None, map(read_result, paths))


def write_tables(out: Path, results: Iterable[GradedNotebook], notebooks: list[str]) -> list[dict[str, str]]:
    """details.csv, handed_in.csv and grades.csv: a row per case, per file, per student; gives those of grades.csv.

    The results are taken one at a time. A notebook that nobody handed in stays blank and does not count.
    """
    rows: dict[str, dict[str, str]] = {}
    totals: dict[str, list[float]] = {}
    with _table(out / "details.csv", DETAILS) as details, _table(out / "handed_in.csv", HANDED_IN) as files:
        for result in results:
            student, notebook = result.student, result.notebook
            who = {"student": student, "notebook": notebook}
            details.writerows(_plain({**who, **row}) for row in _detail_rows(result))
            files.writerows(_plain({**who, **row}) for row in _file_rows(result))
            row = rows.setdefault(student, {"student": student, **dict.fromkeys(notebooks, "")})
            row[notebook] = f"{result.points:g}"
            total = totals.setdefault(student, [0.0, 0.0])
            total[0] += result.points
            total[1] += result.max_points
    for student, (points, maximum) in totals.items():
        rows[student] |= {"total": f"{points:g}", "max": f"{maximum:g}"}
    ordered = [rows[student] for student in sorted(rows)]
    with _table(out / "grades.csv", ("student", *notebooks, "total", "max")) as grades:
        grades.writerows(map(_plain, ordered))
    return ordered


def _detail_rows(result: GradedNotebook) -> Iterator[dict[str, Any]]:
    for exercise in result.exercises:
        for case in exercise.cases:
            yield {"exercise": exercise.name, **{column: getattr(case, column) for column in DETAILS[3:]}}


def _file_rows(result: GradedNotebook) -> Iterator[dict[str, str]]:
    for file in result.handed_in:
        yield {
            "file": file.file,
            "time": file.time,
            "late": "yes" if file.late else "no",
            "graded": "yes" if file.graded else "no",
        }


@contextlib.contextmanager
def _table(path: Path, columns: Iterable[str]) -> Iterator[csv.DictWriter]:
    with whole_file(path) as file:
        writer = csv.DictWriter(file, list(columns))
        writer.writeheader()
        yield writer


def _plain(row: dict[str, Any]) -> dict[str, object]:
    return {key: no_formula(value) for key, value in row.items()}


def no_formula(value: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, str) and value[:1] in "=+-@\t\r" and value:
        return "'" + value
    return f"{value:g}" if isinstance(value, float) else value


# ---- the gradebook ----------------------------------------------------------------------------------------


class Base(DeclarativeBase):
    """The tables of the gradebook."""


class ResultRow(Base):
    """One graded submission."""

    __tablename__ = "results"
    __table_args__ = (UniqueConstraint("student", "notebook"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    student: Mapped[str] = mapped_column(String(255))
    notebook: Mapped[str] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str] = mapped_column(Text)
    points: Mapped[float]
    max_points: Mapped[float]
    fingerprint: Mapped[str] = mapped_column(String(64))
    cases: Mapped[list["CaseRow"]] = relationship(cascade="all, delete-orphan")
    flags: Mapped[list["FlagRow"]] = relationship(cascade="all, delete-orphan")


class CaseRow(Base):
    """One case of one exercise of a submission."""

    __tablename__ = "cases"
    id: Mapped[int] = mapped_column(primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"), index=True)
    exercise: Mapped[str] = mapped_column(String(255))
    case: Mapped[str] = mapped_column(String(255))
    points: Mapped[float]
    max_points: Mapped[float]
    status: Mapped[str] = mapped_column(String(32))
    diagnosis: Mapped[str] = mapped_column(String(255))
    message: Mapped[str] = mapped_column(Text)


class FlagRow(Base):
    """Something in a submission that a human should look at."""

    __tablename__ = "flags"
    id: Mapped[int] = mapped_column(primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"), index=True)
    kind: Mapped[str] = mapped_column(String(64))
    message: Mapped[str] = mapped_column(Text)


def open_gradebook(url: str | URL) -> Engine:
    """The database at a SQLAlchemy URL, not yet connected to. Raises CannotWrite when there is no way to it."""
    try:
        return create_engine(url)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise CannotWrite(
            f"--gradebook {_shown(url)}: {error}; expected a SQLAlchemy URL whose driver is installed, e.g. "
            "postgresql+psycopg://user@host/grades after pip install 'psycopg[binary]'"
        ) from None


def write_gradebook(url: str | URL, results: Iterable[GradedNotebook]) -> None:
    """Put the results into the gradebook at a SQLAlchemy URL, replacing earlier ones of the same submissions.

    One transaction: the gradebook holds all of this or, after a failure, what it held before. Few results are in
    memory at a time. Raises CannotWrite.
    """
    engine, left = open_gradebook(url), iter(results)
    try:
        Base.metadata.create_all(engine)
        with Session(engine) as session, session.begin():
            while chunk := list(islice(left, 100)):
                _forget(session, chunk)
                session.add_all(map(_row, chunk))
                session.flush()
                session.expunge_all()
    except SQLAlchemyError as error:
        why = " ".join(str(getattr(error, "orig", None) or error).split())[:400]
        raise CannotWrite(f"the gradebook {_shown(url)} could not be written: {why}") from error
    finally:
        engine.dispose()


def _shown(url: str | URL) -> str:
    """The URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return re.sub(r"://.*@", "://…@", str(url))


def _forget(session: Session, results: list[GradedNotebook]) -> None:
    """Delete what the gradebook holds of these submissions."""
    again = {(result.student, result.notebook) for result in results}
    query = select(ResultRow.id, ResultRow.student, ResultRow.notebook)
    found = session.execute(query.where(ResultRow.student.in_({student for student, _ in again})))
    old = [number for number, student, notebook in found if (student, notebook) in again]
    if old:
        session.execute(delete(CaseRow).where(CaseRow.result_id.in_(old)))
        session.execute(delete(FlagRow).where(FlagRow.result_id.in_(old)))
        session.execute(delete(ResultRow).where(ResultRow.id.in_(old)))


def _row(result: GradedNotebook) -> ResultRow:
    columns = ("student", "notebook", "status", "reason", "points", "max_points", "fingerprint")
    cases = [
        CaseRow(exercise=exercise.name, **vars(case))
        for exercise in result.exercises
        for case in exercise.cases
    ]
    flags = [FlagRow(kind=flag.kind, message=flag.message) for flag in result.flags]
    return ResultRow(**{c: getattr(result, c) for c in columns}, cases=cases, flags=flags)
