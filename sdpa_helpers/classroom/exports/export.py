"""`sdpa export` without its options: read the results, choose the format, write."""

from collections.abc import Iterator
from pathlib import Path

from sdpa_helpers.classroom.exports.nbgrader import to_nbgrader
from sdpa_helpers.classroom.exports.roster import (
    TOTAL,
    CannotExport,
    Exported,
    read_roster,
    to_canvas,
    to_gradescope,
    to_moodle,
    totals_of,
)
from sdpa_helpers.classroom.results_folder import read_results
from sdpa_helpers.grading.result import GradedNotebook
from sdpa_helpers.lessons.registry import LESSONS


def export_folder(
    folder: Path,
    to: str,
    out: Path | None,
    roster: Path | None,
    notebooks: list[str],
    columns: list[str],
    gradebook: str | None,
    assignment: str,
) -> Exported:
    """Export the results in `folder`; CannotExport says what to change."""
    chosen = _notebooks(folder, notebooks)
    waiting = sum(r.waiting for r in read_results(folder) if r.notebook in chosen)
    done = _export(folder, to, out, roster, chosen, columns, gradebook, assignment)
    if waiting:
        done.notes.append(
            f"{waiting} answers in words count as 0 points: nobody has read them; see sdpa review"
        )
    return done


def _export(
    folder: Path,
    to: str,
    out: Path | None,
    roster: Path | None,
    chosen: list[str],
    columns: list[str],
    gradebook: str | None,
    assignment: str,
) -> Exported:

    def records() -> Iterator[GradedNotebook]:
        return (r for r in read_results(folder) if r.notebook in chosen)

    if to == "gradescope":
        return to_gradescope(records(), out or folder / "export" / "gradescope")
    if to == "nbgrader":
        path = out or folder / "export" / "nbgrader.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        done = to_nbgrader(records(), gradebook or f"sqlite:///{path.resolve()}", assignment)
        done.paths = [] if gradebook else [path]
        return done
    rows = read_roster(roster) if roster else None
    target = out or folder / "export" / f"{to}.csv"
    marks = totals_of(records())
    if to == "canvas":
        return to_canvas(marks, chosen, target, rows, _titles(columns, chosen))
    return to_moodle(marks, chosen[0] if len(chosen) == 1 else TOTAL, target, rows)


def _notebooks(folder: Path, wanted: list[str]) -> list[str]:
    there = {r.notebook for r in read_results(folder)}
    for name in wanted:
        if name not in there:
            raise CannotExport(
                f"--notebook {name}: not among the graded ones: {', '.join(sorted(there)) or 'none'}"
            )
    chosen = [n for n in LESSONS if n in (set(wanted) or there)]
    if not chosen:
        raise CannotExport(f"{folder} holds no results of this course's notebooks")
    return chosen


def _titles(columns: list[str], notebooks: list[str]) -> dict[str, str]:
    titles = {}
    for text in columns:
        name, equals, title = text.partition("=")
        if not equals or name not in notebooks or not title:
            raise CannotExport(f"--column {text}: expected NOTEBOOK=TITLE with one of {', '.join(notebooks)}")
        titles[name] = title
    return titles
