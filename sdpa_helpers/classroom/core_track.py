"""The core of each lesson without its folded sections: what `sdpa release --track core` gives away.

Sections keep the numbers of the full course, so that cards, talks and a neighbor's full edition mean the same section.
Exercises all stay, so that points and the grader's gradebook do not depend on the edition; `beyond_the_core` names
those that belong to a section left out. Lesson 00 keeps its two short tables, to which other lessons link.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from sdpa_helpers.classroom.course_map import FIRST, with_head_line
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.course.tracks import FOLDED, Cells, track_of_cells

_HEADING = re.compile(r"^#{1,6} (?:(\d+)\. )?(.*)$", re.MULTILINE)
_ABOUT_FOLDING = re.compile(r" ?(?:Folded sections|Sections called \*Deeper\*)[^.\n]*\.")
_DEEPER = re.compile(r"^- \*\*Deeper\.\*\*.*$", re.MULTILINE)
_SECTION = re.compile(r"\b([Ss]ection (\d+))\b(?! of (?:the full )?lesson)")
_CORE_ONLY = "- **Deeper.** You have the cores alone. Where a section's number is missing, the full course goes deeper."


def core_lessons(root: Path) -> dict[str, str]:
    """The files of all lessons, by their paths from the course's root, as this edition has them."""
    return {
        f"notebooks/{lesson}.ipynb": nbformat.writes(
            core_of(lesson, nbformat.read(root / "notebooks" / f"{lesson}.ipynb", as_version=4))
        )
        + "\n"
        for lesson in (FIRST, *LESSONS)
    }


def core_of(lesson: str, notebook: NotebookNode) -> NotebookNode:
    """A lesson without its folded sections; its head line and what it says of sections adapt."""
    if lesson == FIRST:
        for cell in notebook.cells:
            cell.source = _DEEPER.sub(_CORE_ONLY, cell.source)
        return notebook
    gone = _numbers_left_out(notebook.cells)
    tracks = track_of_cells(notebook.cells)
    notebook.cells = [c for c, track in zip(notebook.cells, tracks, strict=True) if track == "core"]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _of_the_full_lesson(_ABOUT_FOLDING.sub("", cell.source), gone)
    notebook.cells[0].source = with_head_line(lesson, notebook.cells)
    return notebook


def _of_the_full_lesson(text: str, gone: set[str]) -> str:
    """The text; of a section that is not here it says where it is."""
    return _SECTION.sub(lambda m: f"{m[1]} of the full lesson" if m[2] in gone else m[1], text)


def _numbers_left_out(cells: Cells) -> set[str]:
    """The numbers of sections that this edition lacks."""
    return {number for number, _ in _folded_headings(cells) if number}


def _folded_headings(cells: Cells) -> list[tuple[str, str]]:
    """(number or "", title) of each heading in a folded section."""
    texts = [
        cell["source"]
        for cell, track in zip(cells, track_of_cells(cells), strict=True)
        if track in FOLDED and cell["cell_type"] == "markdown"
    ]
    return [found for text in texts for found in _HEADING.findall(text)]


def beyond_the_core(root: Path) -> Mapping[str, list[str]]:
    """Lesson → those of its exercises whose section is folded; lessons without any are left out."""
    found = {}
    for lesson in LESSONS:
        cells = nbformat.read(root / "notebooks" / f"{lesson}.ipynb", as_version=4).cells
        folded = {f"{number}. {title}" if number else title for number, title in _folded_headings(cells)}
        found[lesson] = [e.name for e in exercises_of(lesson) if e.section in folded]
    return {lesson: names for lesson, names in found.items() if names}
