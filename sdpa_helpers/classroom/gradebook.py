"""The gradebook: a database with a row for each submission, case and flag; by default a SQLite file.

That file is written without SQLAlchemy, which takes longer to be imported than ten submissions to be graded.
"""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from pathlib import Path

from sdpa_helpers.classroom.gradebook_rows import (
    CASES,
    FLAGS,
    RESULTS,
    TABLES,
    CannotWrite,
    case_rows,
    flag_rows,
    result_row,
)
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.result import GradedNotebook


def gradebook_place(folder: ResultsFolder, wanted: str | None) -> str | Path:
    """The SQLAlchemy URL that was asked for, else the SQLite file in the folder."""
    return wanted or folder.gradebook_db


def check_place(place: str | Path) -> None:
    """Raise CannotWrite when a URL is none, or its driver is not installed; nothing is connected to."""
    if isinstance(place, str):
        from sdpa_helpers.classroom.gradebook_elsewhere import open_gradebook

        open_gradebook(place).dispose()


def write_gradebook(place: str | Path, results: Iterable[GradedNotebook]) -> None:
    """Put the results into the gradebook, a file or a SQLAlchemy URL, replacing earlier ones of the same submissions.

    What has not changed is not written to a file: the same results leave the same bytes. One transaction: the gradebook
    holds all of this or, after a failure, what it held before. Few results are in memory at a time. Raises CannotWrite.
    """
    if isinstance(place, str):
        from sdpa_helpers.classroom.gradebook_elsewhere import write_elsewhere

        return write_elsewhere(place, results)
    try:
        with closing(sqlite3.connect(place)) as connection:
            connection.executescript("".join(_layout(*each) for each in TABLES.items()))
            with connection:
                for result in results:
                    _put(connection, result)
    except sqlite3.Error as error:
        raise CannotWrite(f"the gradebook {place} could not be written: {error}") from error


def _put(connection: sqlite3.Connection, result: GradedNotebook) -> None:
    """Write what is new; a result that was there keeps its number."""
    pair = (result.student, result.notebook)
    found = connection.execute("SELECT id FROM results WHERE student = ? AND notebook = ?", pair).fetchone()
    number = None if found is None else found[0]
    if number is not None:
        if _held(connection, number) == _rows(result, number):
            return
        for table, columns in reversed(TABLES.items()):
            connection.execute(f"DELETE FROM {table} WHERE {_key(columns)} = ?", (number,))
    written = connection.execute(_insert("results", ("id", *RESULTS)), (number, *result_row(result)))
    number = written.lastrowid
    assert number is not None
    connection.executemany(_insert("cases", CASES), case_rows(result, number))
    connection.executemany(_insert("flags", FLAGS), flag_rows(result, number))


def _rows(result: GradedNotebook, number: int) -> list[list[tuple]]:
    """All rows of a result, by table."""
    return [[result_row(result)], list(case_rows(result, number)), list(flag_rows(result, number))]


def _held(connection: sqlite3.Connection, number: int) -> list[list[tuple]]:
    """The same as the gradebook holds them."""
    return [
        connection.execute(
            f"SELECT {_names(columns)} FROM {table} WHERE {_key(columns)} = ? ORDER BY id", (number,)
        ).fetchall()
        for table, columns in TABLES.items()
    ]


def _key(columns: Iterable[str]) -> str:
    """Where a table has the number of a result."""
    return "result_id" if "result_id" in columns else "id"


def _names(columns: Collection[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _insert(table: str, columns: Collection[str]) -> str:
    return f"INSERT INTO {table} ({_names(columns)}) VALUES ({', '.join('?' * len(columns))})"


def _layout(table: str, columns: Mapping[str, str]) -> str:
    """The statements that make a table, in the words that SQLAlchemy has for it; a test compares."""
    held = [f"{_quoted(column)} {kind} NOT NULL" for column, kind in columns.items()]
    more, index = ["UNIQUE (student, notebook)"], ""
    if "result_id" in columns:
        more = ["FOREIGN KEY(result_id) REFERENCES results (id)"]
        index = f"CREATE INDEX IF NOT EXISTS ix_{table}_result_id ON {table} (result_id);\n"
    lines = ",\n    ".join(["id INTEGER NOT NULL", *held, "PRIMARY KEY (id)", *more])
    return f"CREATE TABLE IF NOT EXISTS {table} (\n    {lines}\n);\n{index}"


def _quoted(column: str) -> str:
    return f'"{column}"' if column == "case" else column  # a word of SQL
