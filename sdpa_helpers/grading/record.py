"""Write what was graded: a JSON file per submission, two CSV files, and the gradebook through SQLAlchemy."""

import csv
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from sqlalchemy import ForeignKey, String, UniqueConstraint, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from sdpa_helpers.grading.batch import Record

DETAILS = ("student", "notebook", "exercise", "case", "points", "max_points", "status", "diagnosis")

HANDED_IN = ("student", "notebook", "file", "time", "late", "graded")


# ---- files ------------------------------------------------------------------------------------------------


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: a reader, or a crash, never sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def result_path(out: Path, student: str, notebook: str) -> Path:
    """Where the record of a submission is written."""
    return out / "results" / student / f"{notebook}.json"


def write_result(out: Path, record: Record) -> None:
    """The record of one submission as JSON."""
    path = result_path(out, record["student"], record["notebook"])
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_results(out: Path, only: Iterable[tuple[str, str]] | None = None) -> Iterator[Record]:
    """The records in `out`, one at a time, by student and notebook; `only`: of these (student, notebook) pairs.

    A file that was cut off, or is none of ours, is passed over.
    """
    if only is None:
        paths = sorted((out / "results").glob("*/*.json"))
    else:
        paths = [result_path(out, student, notebook) for student, notebook in sorted(only)]
    for path in paths:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(record, dict) and "fingerprint" in record:
            yield record


def grade_rows(records: list[Record], notebooks: list[str]) -> list[dict[str, str]]:
    """One row per student; a notebook that nobody handed in stays blank and does not count."""
    rows: dict[str, dict[str, str]] = {}
    totals: dict[str, list[float]] = {}
    for record in records:
        row = rows.setdefault(
            record["student"], {"student": record["student"], **dict.fromkeys(notebooks, "")}
        )
        row[record["notebook"]] = f"{record['points']:g}"
        total = totals.setdefault(record["student"], [0.0, 0.0])
        total[0] += record["points"]
        total[1] += record["max_points"]
    for student, (points, maximum) in totals.items():
        rows[student] |= {"total": f"{points:g}", "max": f"{maximum:g}"}
    return [rows[student] for student in sorted(rows)]


def write_tables(out: Path, records: list[Record], notebooks: list[str]) -> None:
    """grades.csv, details.csv and handed_in.csv: a row per student, per case, per file."""
    _write_csv(out / "grades.csv", ["student", *notebooks, "total", "max"], grade_rows(records, notebooks))
    details = (
        {
            "student": r["student"],
            "notebook": r["notebook"],
            "exercise": name,
            **{k: case[k] for k in DETAILS[3:]},
        }
        for r in records
        for name, exercise in r["exercises"].items()
        for case in exercise["cases"]
    )
    _write_csv(out / "details.csv", DETAILS, details)
    files = (
        {
            "student": r["student"],
            "notebook": r["notebook"],
            "file": entry["file"],
            "time": entry.get("time", ""),
            "late": "yes" if entry["late"] else "no",
            "graded": "yes" if entry["graded"] else "no",
        }
        for r in records
        for entry in r.get("handed_in", ())
    )
    _write_csv(out / "handed_in.csv", HANDED_IN, files)


def _write_csv(path: Path, columns: Iterable[str], rows: Iterable[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.tmp")
    with draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(columns))
        writer.writeheader()
        writer.writerows({key: no_formula(value) for key, value in row.items()} for row in rows)
    draft.replace(path)


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
    reason: Mapped[str]
    points: Mapped[float]
    max_points: Mapped[float]
    fingerprint: Mapped[str] = mapped_column(String(64))
    cases: Mapped[list["CaseRow"]] = relationship(cascade="all, delete-orphan")
    flags: Mapped[list["FlagRow"]] = relationship(cascade="all, delete-orphan")


class CaseRow(Base):
    """One case of one exercise of a submission."""

    __tablename__ = "cases"
    id: Mapped[int] = mapped_column(primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"))
    exercise: Mapped[str] = mapped_column(String(255))
    case: Mapped[str] = mapped_column(String(255))
    points: Mapped[float]
    max_points: Mapped[float]
    status: Mapped[str] = mapped_column(String(32))
    diagnosis: Mapped[str] = mapped_column(String(255))
    message: Mapped[str]


class FlagRow(Base):
    """Something in a submission that a human should look at."""

    __tablename__ = "flags"
    id: Mapped[int] = mapped_column(primary_key=True)
    result_id: Mapped[int] = mapped_column(ForeignKey("results.id"))
    kind: Mapped[str] = mapped_column(String(64))
    message: Mapped[str]


def write_gradebook(url: str, records: list[Record]) -> None:
    """Put the records into the gradebook at a SQLAlchemy URL, replacing earlier ones of the same submissions.

    One transaction: the gradebook holds all of this or, after a failure, what it held before.
    """
    engine = create_engine(url)
    Base.metadata.create_all(engine)
    with Session(engine) as session, session.begin():
        earlier = {(row.student, row.notebook): row for row in session.scalars(select(ResultRow))}
        for record in records:
            if old := earlier.get((record["student"], record["notebook"])):
                session.delete(old)
        session.flush()
        session.add_all(_row(record) for record in records)
    engine.dispose()


def _row(record: Record) -> ResultRow:
    columns = ("student", "notebook", "status", "reason", "points", "max_points", "fingerprint")
    cases = [
        CaseRow(exercise=name, **{k: case[k] for k in (*DETAILS[3:], "message")})
        for name, exercise in record["exercises"].items()
        for case in exercise["cases"]
    ]
    flags = [FlagRow(**flag) for flag in record["flags"]]
    return ResultRow(**{c: record[c] for c in columns}, cases=cases, flags=flags)
