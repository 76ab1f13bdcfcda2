"""The gradebook in the database behind a SQLAlchemy URL; `gradebook.py` writes the file that is the default."""

import re
from collections.abc import Iterable
from itertools import islice

from sqlalchemy import (
    Engine,
    ForeignKey,
    String,
    Text,
    UniqueConstraint,
    create_engine,
    delete,
    insert,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from sdpa_helpers.classroom.gradebook_rows import (
    CASES,
    FLAGS,
    RESULTS,
    CannotWrite,
    case_rows,
    flag_rows,
    result_row,
)
from sdpa_helpers.grading.result import GradedNotebook


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


def open_gradebook(url: str) -> Engine:
    """The database at a SQLAlchemy URL, not yet connected to. Raises CannotWrite when there is no way to it."""
    try:
        return create_engine(url)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise CannotWrite(
            f"--gradebook {_shown(url)}: {error}; expected a SQLAlchemy URL whose driver is installed, e.g. "
            "postgresql+psycopg://user@host/grades after pip install 'psycopg[binary]'"
        ) from None


def write_elsewhere(url: str, results: Iterable[GradedNotebook]) -> None:
    """What `write_gradebook` does, at a SQLAlchemy URL."""
    engine, left = open_gradebook(url), iter(results)
    try:
        Base.metadata.create_all(engine)
        with Session(engine) as session, session.begin():
            while chunk := list(islice(left, 100)):
                _forget(session, chunk)
                _add(session, chunk)
    except SQLAlchemyError as error:
        why = " ".join(str(getattr(error, "orig", None) or error).split())[:400]
        raise CannotWrite(f"the gradebook {_shown(url)} could not be written: {why}") from error
    finally:
        engine.dispose()


def _shown(url: str) -> str:
    """The URL without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return re.sub(r"://.*@", "://…@", str(url))


def _numbers(session: Session, results: list[GradedNotebook]) -> dict[tuple[str, str], int]:
    """(student, notebook) → the number that the database has given to the row, for those that it holds."""
    wanted = {(result.student, result.notebook) for result in results}
    query = select(ResultRow.id, ResultRow.student, ResultRow.notebook)
    found = session.execute(query.where(ResultRow.student.in_({student for student, _ in wanted})))
    numbers = {(student, notebook): number for number, student, notebook in found}
    return {pair: numbers[pair] for pair in wanted if pair in numbers}


def _forget(session: Session, results: list[GradedNotebook]) -> None:
    """Delete what the gradebook holds of these submissions."""
    old = list(_numbers(session, results).values())
    if old:
        session.execute(delete(CaseRow).where(CaseRow.result_id.in_(old)))
        session.execute(delete(FlagRow).where(FlagRow.result_id.in_(old)))
        session.execute(delete(ResultRow).where(ResultRow.id.in_(old)))


def _add(session: Session, results: list[GradedNotebook]) -> None:
    """Insert rows, many at a time; without them becoming objects that the session watches."""
    session.execute(insert(ResultRow), _named(RESULTS, map(result_row, results)))
    numbers = _numbers(session, results)
    cases = [row for result in results for row in case_rows(result, numbers[result.student, result.notebook])]
    flags = [row for result in results for row in flag_rows(result, numbers[result.student, result.notebook])]
    for table, columns, rows in ((CaseRow, CASES, cases), (FlagRow, FLAGS, flags)):
        if rows:
            session.execute(insert(table), _named(columns, rows))


def _named(columns: tuple[str, ...], rows: Iterable[tuple]) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in rows]
