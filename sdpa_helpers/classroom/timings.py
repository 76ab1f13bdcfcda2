"""timings.csv: how long each submission took. The only file that differs between two runs with the same seed."""

import csv
from collections.abc import Iterable
from pathlib import Path

from sdpa_helpers.classroom.files import Table, no_formula, whole_table
from sdpa_helpers.classroom.results_folder import Pair

COLUMNS = ("student", "notebook", "seconds")


def add_timing(path: Path, student: str, notebook: str, seconds: float) -> None:
    """Note at once how long a submission took: the run may be interrupted."""
    begun = path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        table = Table(file)
        if not begun:
            table.add(COLUMNS)
        table.add((student, notebook, f"{seconds:.2f}"))


def tidy_timings(path: Path, pairs: Iterable[Pair]) -> None:
    """Rewrite the file, whole or not at all: one row for each of the pairs, in their order, with its last time."""
    known = read_timings(path)
    with whole_table(path, COLUMNS) as table:
        for student, notebook in pairs:
            as_written = (str(no_formula(student)), str(no_formula(notebook)))
            table.add((student, notebook, known.get(as_written, "")))


def read_timings(path: Path) -> dict[tuple[str, ...], str]:
    """(student, notebook) as they stand in the file → seconds, as text; rows that were cut off are passed over."""
    try:
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            rows = [row for row in csv.reader(file) if len(row) == len(COLUMNS)]
    except (OSError, csv.Error):
        return {}
    return {tuple(row[:2]): row[2] for row in rows[1:]}
