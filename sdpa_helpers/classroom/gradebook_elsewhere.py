"""The gradebook in the database behind a SQLAlchemy URL; `gradebook.py` writes the file that is the default."""

import re
from collections.abc import Iterable
from itertools import islice

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    delete,
    insert,
    make_url,
    select,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from sdpa_helpers.classroom.gradebook_rows import TABLES, CannotWrite, case_rows, flag_rows, result_row
from sdpa_helpers.grading.result import GradedNotebook

_KINDS = {"FLOAT": Float(), "TEXT": Text(), **{f"VARCHAR({n})": String(n) for n in (32, 64, 255)}}
_ALL = MetaData()


def _column(name: str, kind: str) -> Column:
    if name == "result_id":
        return Column(name, ForeignKey("results.id"), index=True, nullable=False)
    return Column(name, _KINDS[kind], nullable=False)


_RESULTS, _CASES, _FLAGS = (
    Table(
        table,
        _ALL,
        Column("id", Integer, primary_key=True),
        *(_column(*each) for each in columns.items()),
        *([] if "result_id" in columns else [UniqueConstraint("student", "notebook")]),
    )
    for table, columns in TABLES.items()
)


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
        _ALL.create_all(engine)
        with engine.begin() as connection:
            while chunk := list(islice(left, 100)):
                _forget(connection, chunk)
                _add(connection, chunk)
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


def _numbers(connection: Connection, results: list[GradedNotebook]) -> dict[tuple[str, str], int]:
    """(student, notebook) → the number that the database has given to the row, for those that it holds."""
    wanted = {(result.student, result.notebook) for result in results}
    query = select(_RESULTS.c.id, _RESULTS.c.student, _RESULTS.c.notebook)
    found = connection.execute(query.where(_RESULTS.c.student.in_({student for student, _ in wanted})))
    numbers = {(student, notebook): number for number, student, notebook in found}
    return {pair: numbers[pair] for pair in wanted if pair in numbers}


def _forget(connection: Connection, results: list[GradedNotebook]) -> None:
    """Delete what the gradebook holds of these submissions."""
    old = list(_numbers(connection, results).values())
    for column in (_CASES.c.result_id, _FLAGS.c.result_id, _RESULTS.c.id) if old else ():
        connection.execute(delete(column.table).where(column.in_(old)))


def _add(connection: Connection, results: list[GradedNotebook]) -> None:
    """Insert rows, many at a time."""
    connection.execute(insert(_RESULTS), _named(_RESULTS, map(result_row, results)))
    numbers = _numbers(connection, results)
    for table, rows_of in ((_CASES, case_rows), (_FLAGS, flag_rows)):
        rows = [row for one in results for row in rows_of(one, numbers[one.student, one.notebook])]
        if rows:
            connection.execute(insert(table), _named(table, rows))


def _named(table: Table, rows: Iterable[tuple]) -> list[dict[str, object]]:
    return [dict(zip(TABLES[table.name], row, strict=True)) for row in rows]
