"""Files that are whole, and cells that a spreadsheet does not run."""

import contextlib
import csv
import io
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from sdpa_helpers.grading.refusal import Refusal

FORMULA = "=+-@"
"""A cell that begins with one of these is run by a spreadsheet, also after spaces or in its fullwidth form."""

_AFTER_AN_END = re.compile(r"([;\t])(?=\s*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺₌₊⩵⩶])")

DRAFTS = ".*.tmp"
"""The names of files that are still being written."""


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """Write a file whole or not at all; a private one only its owner can read, whatever was there before."""
    with whole_file(path, private=private) as file:
        file.write(text)


@contextlib.contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[TextIO]:
    """A file to write to that takes its place when all is on the disk: no crash ever leaves half of it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    rights = 0o600 if private else 0o666
    try:
        if private:
            draft.unlink(missing_ok=True)  # rights are those of a file's making
        with open(
            draft, "w", newline="", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, rights)
        ) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def no_formula(value: object) -> object:
    """A text that a spreadsheet would run as a formula, or that breaks out of its cell, gets an apostrophe in front.

    So does what would be one in a cell of its own, where a spreadsheet takes semicolons for the ends of cells.
    """
    if isinstance(value, str):
        return _no_formula_in(value)
    return f"{value:g}" if isinstance(value, float) else value


@lru_cache(maxsize=1000)  # a table of a class says the same few words again and again
def _no_formula_in(text: str) -> str:
    return as_text(_AFTER_AN_END.sub(r"\1'", text))


def as_text(text: str) -> str:
    """The text with an apostrophe in front, where a spreadsheet would run it: no more is changed."""
    return "'" + text if is_formula(text) else text


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may run it: what does not show at its beginning does not count."""
    if text[:1] in ("\t", "\r", "\n"):
        return True
    first = next((c for c in text if c.isprintable() and not c.isspace()), "")
    return unicodedata.normalize("NFKC", first)[:1] in (*FORMULA,)


@contextlib.contextmanager
def whole_table(path: Path, columns: Iterable[str]) -> Iterator["Table"]:
    """A CSV file to write rows to, whole or not at all."""
    with whole_file(path) as file:
        table = Table(file)
        table.add(columns)
        yield table


class Table:
    """Rows of CSV, without formulas."""

    def __init__(self, file: TextIO) -> None:
        self.writer = csv.writer(file)

    def add(self, cells: Iterable[object]) -> None:
        """Write one row."""
        self.writer.writerow(map(no_formula, cells))


# ---- tables that people fill in ---------------------------------------------------------------------------


def read_filled_in(path: Path, bad: type[Refusal]) -> csv.DictReader:
    """A table as a spreadsheet saves it, whatever stands between its cells; `bad` where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise bad(f"{path} cannot be read: {error}; save it as CSV in UTF-8") from None
    delimiter = max(",;\t", key=text.split("\n", 1)[0].count)
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")


def write_to_fill_in(
    path: Path, columns: Iterable[str], rows: Iterable[Iterable[str]], delimiter: str = ","
) -> None:
    """The same back. The mark in front tells spreadsheets that it is UTF-8."""
    with whole_file(path) as file:
        file.write("\ufeff")
        csv.writer(file, delimiter=delimiter).writerows([columns, *rows])


MOST_NAMED = 20
"""Of the rows that cannot be read."""


def first_of(wrong: Sequence[str]) -> str:
    """The first of these lines, and how many more there are."""
    more = [f"… and {len(wrong) - MOST_NAMED} more"] if len(wrong) > MOST_NAMED else []
    return "\n".join([*wrong[:MOST_NAMED], *more])


def typed(cell: str) -> str:
    """What somebody typed, without the apostrophe that keeps spreadsheets from running it."""
    text = cell.strip()
    return text[1:] if text[:1] == "'" and as_text(text[1:]) == text else text
