"""The gradebook: a database with a row for each submission, case and flag; by default a SQLite file.

That file is written without SQLAlchemy, which takes longer to be imported than ten submissions to be graded.
"""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from sdpa_helpers.classroom.gradebook_rows import (
    CASES,
    FLAGS,
    RESULTS,
    CannotWrite,
    case_rows,
    flag_rows,
    result_row,
)
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.grading.result import GradedNotebook

# As `gradebook_elsewhere` has them; a test compares.
_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    id INTEGER NOT NULL,
    student VARCHAR(255) NOT NULL,
    notebook VARCHAR(255) NOT NULL,
    status VARCHAR(32) NOT NULL,
    reason TEXT NOT NULL,
    points FLOAT NOT NULL,
    max_points FLOAT NOT NULL,
    fingerprint VARCHAR(64) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE (student, notebook)
);
CREATE TABLE IF NOT EXISTS cases (
    id INTEGER NOT NULL,
    result_id INTEGER NOT NULL,
    exercise VARCHAR(255) NOT NULL,
    "case" VARCHAR(255) NOT NULL,
    points FLOAT NOT NULL,
    max_points FLOAT NOT NULL,
    status VARCHAR(32) NOT NULL,
    diagnosis VARCHAR(255) NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(result_id) REFERENCES results (id)
);
CREATE INDEX IF NOT EXISTS ix_cases_result_id ON cases (result_id);
CREATE TABLE IF NOT EXISTS flags (
    id INTEGER NOT NULL,
    result_id INTEGER NOT NULL,
    kind VARCHAR(64) NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(result_id) REFERENCES results (id)
);
CREATE INDEX IF NOT EXISTS ix_flags_result_id ON flags (result_id);
"""


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

    One transaction: the gradebook holds all of this or, after a failure, what it held before. Few results are in
    memory at a time. Raises CannotWrite.
    """
    if isinstance(place, str):
        from sdpa_helpers.classroom.gradebook_elsewhere import write_elsewhere

        return write_elsewhere(place, results)
    try:
        with closing(sqlite3.connect(place)) as connection:
            connection.executescript(_TABLES)
            with connection:
                for result in results:
                    _forget(connection, result)
                    _add(connection, result)
    except sqlite3.Error as error:
        raise CannotWrite(f"the gradebook {place} could not be written: {error}") from error


def _forget(connection: sqlite3.Connection, result: GradedNotebook) -> None:
    query = "SELECT id FROM results WHERE student = ? AND notebook = ?"
    for number in connection.execute(query, (result.student, result.notebook)).fetchall():
        connection.execute("DELETE FROM cases WHERE result_id = ?", number)
        connection.execute("DELETE FROM flags WHERE result_id = ?", number)
        connection.execute("DELETE FROM results WHERE id = ?", number)


def _add(connection: sqlite3.Connection, result: GradedNotebook) -> None:
    number = connection.execute(_insert("results", RESULTS), result_row(result)).lastrowid
    assert number is not None
    connection.executemany(_insert("cases", CASES), case_rows(result, number))
    connection.executemany(_insert("flags", FLAGS), flag_rows(result, number))


def _insert(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{column}"' for column in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"
