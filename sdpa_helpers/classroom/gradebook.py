"""The gradebook: a database behind a SQLAlchemy URL, with a row for each submission, case and flag."""

import re
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice

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

from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedNotebook


class CannotWrite(Refusal):
    """The gradebook cannot be written; the text says which, without its password, and why."""


def gradebook_url(folder: ResultsFolder, wanted: str | None) -> str | URL:
    """The URL of the gradebook that was asked for, else of the SQLite file in the folder."""
    return wanted or URL.create("sqlite", database=str(folder.gradebook_db.absolute()))


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
        CaseRow(exercise=exercise.name, **asdict(case))
        for exercise in result.exercises
        for case in exercise.cases
    ]
    flags = [FlagRow(kind=flag.kind, message=flag.message) for flag in result.flags]
    return ResultRow(**{c: getattr(result, c) for c in columns}, cases=cases, flags=flags)
