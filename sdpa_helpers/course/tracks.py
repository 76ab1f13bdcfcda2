"""The tracks of a lesson: its core, which is a story of its own, and folded sections that go deeper.

A heading cell that is tagged "deeper" or "claims" begins such a section: it and all cells down to the next heading of
the same or a higher level. JupyterLab and Notebook 7 show its heading alone until the reader opens it. How long a
track takes is computed from its cells; `make minutes` writes it into the lesson's head.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

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


def whole_minutes(size: Size) -> int:
    """Its minutes as a lesson's head says them: rounded up."""
    return math.ceil(size.minutes)


def minutes_in_words(cells: Cells) -> str:
    """What a lesson's head says: "**28 minutes** · folded: 21 deeper, 7 claims"; whole minutes, rounded up."""
    minutes = {name: whole_minutes(size) for name, size in sizes_of(cells).items()}
    folded = ", ".join(f"{minutes[name]} {name}" for name in FOLDED if name in minutes)
    return f"**{minutes['core']} minutes**" + (f" · folded: {folded}" if folded else "")
