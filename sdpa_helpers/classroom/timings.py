"""timings.csv: how long each submission took. The only file that differs between two runs with the same seed."""

import csv
from collections.abc import Iterable
from pathlib import Path

from sdpa_helpers.classroom.results_folder import no_formula, whole_file

COLUMNS = ("student", "notebook", "seconds")
Pair = tuple[str, str]
"""(student, notebook)."""


def add_timing(out: Path, student: str, notebook: str, seconds: float) -> None:
    """Note at once how long a submission took: the run may be interrupted."""
    path = out / "timings.csv"
    begun = path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if not begun:
            writer.writerow(COLUMNS)
        writer.writerow((no_formula(student), no_formula(notebook), f"{seconds:.2f}"))


def tidy_timings(out: Path, pairs: Iterable[Pair]) -> None:
    """Rewrite the file, whole or not at all: one row for each of the pairs, in their order, with its last time."""
    known = read_timings(out)
    with whole_file(out / "timings.csv") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for pair in pairs:
            told = tuple(str(no_formula(name)) for name in pair)
            writer.writerow((*told, known.get(told, "")))


def read_timings(out: Path) -> dict[tuple[str, ...], str]:
    """(student, notebook) as they stand in the file → seconds, as text; rows that were cut off are passed over."""
    try:
        with (out / "timings.csv").open(newline="", encoding="utf-8", errors="replace") as file:
            rows = [row for row in csv.reader(file) if len(row) == len(COLUMNS)]
    except (OSError, csv.Error):
        return {}
    return {tuple(row[:2]): row[2] for row in rows[1:]}
