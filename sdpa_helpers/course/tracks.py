"""The tracks of a lesson: its short, which opens it, the long way, and folded sections that go deeper.

The short is one screen: everything above the heading that is tagged "core", where the long way begins. A heading that
is tagged "deeper" or "claims" begins a section of its own: it and all cells down to the next heading of the same or a
higher level. JupyterLab and Notebook 7 show all these headings alone until the reader opens them. How long a track
takes is computed from its cells (`reading_time`); `make minutes` writes it into the lesson's head.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from sdpa_helpers.course.reading_time import lines_of, minutes_of, words_of

Track = Literal["short", "core", "deeper", "claims"]
Cells = Sequence[Mapping[str, Any]]

TRACKS: tuple[Track, ...] = ("short", "core", "deeper", "claims")
FOLDED: tuple[Track, ...] = ("deeper", "claims")
STORY: tuple[Track, ...] = ("short", "core")
"""What a reader follows without opening a section that goes deeper."""
COLLAPSED = "jp-MarkdownHeadingCollapsed"
"""The metadata of a heading cell whose section is folded."""

_HEADING = re.compile(r"(#{1,6}) ")


class Size(NamedTuple):
    """How much there is of a track."""

    cells: int
    words: int
    """Of its text."""
    lines: int
    """Of its code."""
    minutes: float


def track_of_cells(cells: Cells) -> list[Track]:
    """The track of each cell of a notebook, in their order; a lesson without a short is all core."""
    story: Track = "short" if any(begins_long_way(cell) for cell in cells) else "core"
    tracks: list[Track] = []
    track, level = story, 0  # level: of the heading of the folded section we are in
    for cell in cells:
        found = _HEADING.match(cell["source"]) if cell["cell_type"] == "markdown" else None
        if begins_long_way(cell):
            story = track = "core"
            level = 0
        elif found and (not level or len(found[1]) <= level):
            track = _folded(cell) or story
            level = len(found[1]) if track in FOLDED else 0
        tracks.append(track)
    return tracks


def begins_long_way(cell: Mapping[str, Any]) -> bool:
    """Whether this is the heading below which the long way lies."""
    return cell["cell_type"] == "markdown" and "core" in cell["metadata"].get("tags", ())


def _folded(cell: Mapping[str, Any]) -> Track | None:
    return next((name for name in FOLDED if name in cell["metadata"].get("tags", ())), None)


def size_of(cells: Cells) -> Size:
    """How much some cells are, and how long they take."""
    return Size(len(cells), words_of(cells), lines_of(cells), minutes_of(cells))


def sizes_of(cells: Cells) -> dict[Track, Size]:
    """How much there is of each track that a lesson has, in their order."""
    tracks = track_of_cells(cells)
    of: dict[Track, Cells] = {
        name: [cell for cell, track in zip(cells, tracks, strict=True) if track == name] for name in TRACKS
    }
    return {name: size_of(some) for name, some in of.items() if some}


def story_minutes(cells: Cells) -> int:
    """The minutes of the short and of the long way, as a lesson's head says them."""
    return sum(whole_minutes(size) for name, size in sizes_of(cells).items() if name in STORY)


def whole_minutes(size: Size) -> int:
    """Its minutes as a lesson's head says them: rounded up."""
    return math.ceil(size.minutes)


def minutes_in_words(cells: Cells) -> str:
    """On paper: "**8 minutes**, an estimate · the long way: 22 more · deeper: 17 · claims: 10"."""
    minutes = {name: whole_minutes(size) for name, size in sizes_of(cells).items()}
    parts = [f"the long way: {minutes['core']} more"] if "short" in minutes else []
    parts += [f"{name}: {minutes[name]}" for name in FOLDED if name in minutes]
    return " · ".join([f"**{next(iter(minutes.values()))} minutes**, an estimate", *parts])
