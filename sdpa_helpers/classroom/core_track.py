"""Lessons without their folded sections, or their shorts alone: `sdpa release --track core`, `--track short`.

Sections keep the numbers of the full course, so that cards, talks and a neighbor's full edition mean the same section.
Exercises all stay, so that points and the grader's gradebook do not depend on the edition; `beyond_the_core` names
those that belong to a section left out. Lesson 00 keeps its two short tables, to which other lessons link.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from sdpa_helpers.classroom.course_map import FIRST, with_head_line, write_long_way
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.course.tracks import FOLDED, STORY, Cells, Track, track_of_cells

_HEADING = re.compile(r"^#{1,6} (?:(\d+)\. )?(.*)$", re.MULTILINE)
_ABOUT_FOLDING = re.compile(r" ?(?:Folded sections|Sections called \*Deeper\*)[^.\n]*\.")
_DEEPER = re.compile(r"^- \*\*Deeper\.\*\*.*$", re.MULTILINE)
_SECTION = re.compile(r"\b([Ss]ection (\d+))\b(?! of (?:the full )?lesson)")
_CORE_ONLY = "- **Deeper.** You have the cores alone. Where a section's number is missing, the full course goes deeper."


def lessons_of_track(root: Path, track: str) -> dict[str, str]:
    """The files of all lessons, by their paths from the course's root, as the edition of a track has them."""
    kept: tuple[Track, ...] = ("short",) if track == "short" else STORY
    return {
        f"notebooks/{lesson}.ipynb": nbformat.writes(
            part_of(lesson, nbformat.read(root / "notebooks" / f"{lesson}.ipynb", as_version=4), kept)
        )
        + "\n"
        for lesson in (FIRST, *LESSONS)
    }


def part_of(lesson: str, notebook: NotebookNode, kept: tuple[Track, ...] = STORY) -> NotebookNode:
    """A lesson with some of its tracks; its head line and what it says of sections adapt."""
    if lesson == FIRST:
        for cell in notebook.cells:
            cell.source = _DEEPER.sub(_CORE_ONLY, cell.source)
        return notebook
    tracks = track_of_cells(notebook.cells)
    gone = _numbers_left_out(notebook.cells, tracks, kept)
    notebook.cells = [c for c, track in zip(notebook.cells, tracks, strict=True) if track in kept]
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = _of_the_full_lesson(_ABOUT_FOLDING.sub("", cell.source), gone)
    write_long_way(notebook.cells)
    notebook.cells[0].source = with_head_line(lesson, notebook.cells)
    return notebook


def _of_the_full_lesson(text: str, gone: set[str]) -> str:
    """The text; of a section that is not here it says where it is."""
    return _SECTION.sub(lambda m: f"{m[1]} of the full lesson" if m[2] in gone else m[1], text)


def _numbers_left_out(cells: Cells, tracks: list[Track], kept: tuple[Track, ...]) -> set[str]:
    """The numbers of sections that this edition lacks."""
    gone = [cell for cell, track in zip(cells, tracks, strict=True) if track not in kept]
    return {number for number, _ in _headings(gone) if number}


def _headings(cells: Cells) -> list[tuple[str, str]]:
    """(number or "", title) of each heading."""
    texts = [cell["source"] for cell in cells if cell["cell_type"] == "markdown"]
    return [found for text in texts for found in _HEADING.findall(text)]


def beyond_the_core(root: Path) -> Mapping[str, list[str]]:
    """Lesson → those of its exercises whose section is folded; lessons without any are left out."""
    found = {}
    for lesson in LESSONS:
        cells = nbformat.read(root / "notebooks" / f"{lesson}.ipynb", as_version=4).cells
        folded = [c for c, track in zip(cells, track_of_cells(cells), strict=True) if track in FOLDED]
        sections = {f"{number}. {title}" if number else title for number, title in _headings(folded)}
        found[lesson] = [e.name for e in exercises_of(lesson) if e.section in sections]
    return {lesson: names for lesson, names in found.items() if names}
