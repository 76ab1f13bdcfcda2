"""The tracks of a lesson: its core, which is a story of its own, and folded sections that go deeper.

A heading cell that is tagged "deeper" or "claims" begins such a section: it and all cells down to the next heading of
the same or a higher level. JupyterLab and Notebook 7 show its heading alone until the reader opens it. How long a
track takes is computed from its cells, and written into the lesson's head: `python -m sdpa_helpers.lessons.tracks`.
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import nbformat

from sdpa_helpers.lessons.places import course_root

Track = Literal["core", "deeper", "claims"]
Cells = Sequence[Mapping[str, Any]]

FOLDED: tuple[Track, ...] = ("deeper", "claims")
COLLAPSED = "jp-MarkdownHeadingCollapsed"
"""The metadata of a heading cell whose section is folded."""

WORDS_A_MINUTE = 180
MINUTES_A_CODE_CELL = 0.5
MINUTES_A_QUESTION = 1.0
QUESTIONS_TO_RECALL = 3

_HEADING = re.compile(r"(#{1,6}) ")
_ASKS = re.compile(r"^[^#\n]*\blesson\.predict\(", re.MULTILINE)
_RECALLS = re.compile(r"^[^#\n]*\blesson\.recall\(", re.MULTILINE)
_LINK = re.compile(r"\]\([^)]*\)")
_HEAD = re.compile(r"\*\*\d+ minutes\*\*(?: · folded: \d+ \w+(?:, \d+ \w+)*)?")


class Size(NamedTuple):
    """How much there is of a track."""

    cells: int
    words: int
    """Of its text."""
    minutes: float


def track_of_cells(cells: Cells) -> list[Track]:
    """The track of each cell of a notebook, in their order."""
    tracks: list[Track] = []
    track: Track = "core"
    level = 0  # of the heading of the folded section we are in
    for cell in cells:
        found = _HEADING.match(cell["source"]) if cell["cell_type"] == "markdown" else None
        if found and (not level or len(found[1]) <= level):
            track = _tagged(cell)
            level = len(found[1]) if track != "core" else 0
        tracks.append(track)
    return tracks


def _tagged(cell: Mapping[str, Any]) -> Track:
    folded: list[Track] = [name for name in FOLDED if name in cell["metadata"].get("tags", ())]
    return folded[0] if folded else "core"


def size_of(cells: Cells) -> Size:
    """How much some cells are, and how long they take.

    180 words a minute, half a minute a code cell; a question takes a minute, and the three at a lesson's beginning
    three. Experience with readers, not a law.
    """
    texts = [_LINK.sub("]", cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    words = sum(bool(re.search(r"\w", word)) for text in texts for word in text.split())
    codes = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    return Size(len(cells), words, words / WORDS_A_MINUTE + sum(map(_minutes_of_code, codes)))


def _minutes_of_code(source: str) -> float:
    if _RECALLS.search(source):
        return QUESTIONS_TO_RECALL * MINUTES_A_QUESTION
    return MINUTES_A_QUESTION if _ASKS.search(source) else MINUTES_A_CODE_CELL


def sizes_of(cells: Cells) -> dict[Track, Size]:
    """How much there is of each track that a lesson has, core first."""
    tracks = track_of_cells(cells)
    names: tuple[Track, ...] = ("core", *FOLDED)
    of: dict[Track, Cells] = {
        name: [cell for cell, track in zip(cells, tracks, strict=True) if track == name] for name in names
    }
    return {name: size_of(some) for name, some in of.items() if some}


def minutes_in_words(cells: Cells) -> str:
    """What a lesson's head says: "**28 minutes** · folded: 21 deeper, 7 claims"; whole minutes, rounded up."""
    minutes = {name: math.ceil(size.minutes) for name, size in sizes_of(cells).items()}
    folded = ", ".join(f"{minutes[name]} {name}" for name in FOLDED if name in minutes)
    return f"**{minutes['core']} minutes**" + (f" · folded: {folded}" if folded else "")


def with_minutes(head: str, cells: Cells) -> str:
    """A lesson's first text, with the minutes that its cells give.

    Raises:
        ValueError: it has no place for them.
    """
    told, places = _HEAD.subn(minutes_in_words(cells), head)
    if places != 1:
        raise ValueError(f"the lesson's first cell needs **… minutes** once; it has it {places} times")
    return told


def main() -> None:
    """Write the minutes into the head of every lesson, and print what each track takes."""
    for path in sorted((course_root() / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        first = notebook.cells[0]
        before, first.source = first.source, with_minutes(first.source, notebook.cells)
        if first.source != before:
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        told = (
            f"{name} {math.ceil(s.minutes)} min, {s.words} words, {s.cells} cells"
            for name, s in sizes_of(notebook.cells).items()
        )
        print(f"{path.stem}: {'; '.join(told)}")


if __name__ == "__main__":
    sys.exit(main())
