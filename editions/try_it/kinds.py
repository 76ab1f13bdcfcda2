"""What one does in an exercise, and how far into its lesson it belongs: found from what it is, listed nowhere."""

from collections.abc import Iterator

import nbformat

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds import bug_hunt, catching, derivation
from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.reading_time import checked_in
from sdpa_helpers.course.registry import sheet_of
from sdpa_helpers.course.tracks import track_of_cells

KINDS = {
    "write": "write a function",
    "find": "find the bug",
    "mend": "mend the code",
    "catch": "catch wrong code",
    "construct": "construct an input",
    "derive": "derive, line by line",
    "words": "say it in words",
}
"""Kind → what one does."""
WAYS = {"short": "opening", "core": "core", "deeper": "deeper"}
"""Where a lesson treats it → what the list says of it."""
_JUDGES = {bug_hunt.__name__: "find", catching.__name__: "catch", derivation.__name__: "derive"}
"""The module whose criteria an exercise has tells its kind."""


def kind_of(exercise: Exercise | WrittenExercise) -> str:
    """One of KINDS."""
    if isinstance(exercise, WrittenExercise):
        return "words"
    if exercise.whole:
        return "mend"
    judges = [getattr(case.accepts, "__module__", "") for case in exercise.cases]
    return next(
        (_JUDGES[one] for one in judges if one in _JUDGES), "construct" if exercise.is_made else "write"
    )


def ways_of(lesson: str) -> dict[str, str]:
    """Exercise → one of WAYS: where it is to be written in the short, or where the section is that treats it."""
    cells = nbformat.read(course_root() / "notebooks" / f"{lesson}.ipynb", as_version=4).cells
    tracked = list(zip(cells, track_of_cells(cells), strict=True))
    short = {name for cell, track in tracked if track == "short" for name in checked_in(cell)}
    deeper = {heading for cell, track in tracked if track == "deeper" for heading in _headings(cell)}
    return {
        one.name: "short" if one.name in short else "deeper" if one.section in deeper else "core"
        for one in sheet_of(lesson).exercises
    }


def _headings(cell: nbformat.NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield from (line.lstrip("# ") for line in cell.source.splitlines() if line.startswith("#"))
