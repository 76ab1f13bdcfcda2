"""Where a lesson is cut into slides: the rule that gives each cell its `slideshow.slide_type`.

The types are those of nbconvert, RISE and VS Code, and stand in the notebooks, where an author may change them:

- slide: a new section begins; subslide: one more slide of the same section;
- "-": the cell stands on the slide before it; notes: for the speaker alone; skip: not in the slides.

    python -m editions.slides.cut            # give every cell without a type the rule's
    python -m editions.slides.cut --again    # and overwrite those that have one

Only metadata changes: sources and outputs stay as they are.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import nbformat

from sdpa_helpers.classroom.authoring import as_text
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.tracks import STORY, Cells, Track, track_of_cells

SlideType = Literal["slide", "subslide", "-", "notes", "skip"]
TYPES: tuple[SlideType, ...] = ("slide", "subslide", "-", "notes", "skip")

FEW_WORDS = 30
"""So short a text may stand above a question."""

EXCEPTIONS: Mapping[tuple[str, str], SlideType] = {
    ("00_start_here", "doctor"): "skip",
    ("00_start_here", "doctor-run"): "skip",
    ("00_start_here", "progress-run"): "skip",
    ("00_start_here", "check-more"): "notes",
    ("00_start_here", "map"): "skip",
    ("00_start_here", "play-try"): "skip",
    ("02_variance_proof", "proof-one-run"): "skip",
    ("02_variance_proof", "proof-all-run"): "skip",
    ("02_variance_proof", "proof-scale-run"): "skip",
    ("02_variance_proof", "proof-whole-run"): "notes",
}
"""Cells of which the rule knows too little: what each reader runs alone is no slide."""

_LOOKS = re.compile(r"^(\$\$|\||[-*] |\d\. |> )", re.MULTILINE)


def slide_types(lesson: str, cells: Cells) -> list[SlideType]:
    """The rule's type of each cell of a lesson, in their order."""
    tracks = track_of_cells(cells)
    types: list[SlideType] = []
    for at, (cell, track) in enumerate(zip(cells, tracks, strict=True)):
        before = cells[at - 1] if at and tracks[at - 1] in STORY else None
        after = cells[at + 1] if at + 1 < len(cells) and tracks[at + 1] in STORY else None
        known = EXCEPTIONS.get((lesson, cell.get("id", "")))
        types.append(known or _type_of(cell, track, before, after))
    return types


def _type_of(cell: Mapping[str, Any], track: Track, before: Any, after: Any) -> SlideType:
    if track not in STORY:
        return "skip"
    if cell["cell_type"] == "code":
        return _type_of_code(cell, before)
    text = cell["source"]
    if text.startswith("#"):
        return "slide"
    if text.startswith("<details"):
        return "notes"
    introduces = after is not None and after["cell_type"] == "code"
    if _LOOKS.search(text) or text.startswith("**") or introduces or "<details" in text:
        return "subslide"
    return "notes"


def _type_of_code(cell: Mapping[str, Any], before: Any) -> SlideType:
    if is_setup(cell):
        return "skip"
    if before is None or before["cell_type"] != "markdown":
        return "subslide"
    if asks(cell):
        # A question is a slide; only a word or two that leads to it may stand above it.
        return "-" if is_short(before["source"]) and not before["source"].startswith("#") else "subslide"
    return "-"


def is_setup(cell: Mapping[str, Any]) -> bool:
    """Whether a code cell only imports."""
    lines = [
        line for line in cell["source"].splitlines() if line.strip() and not line.startswith(("#", " ", ")"))
    ]
    return not cell.get("outputs") and all(re.match(r"(import|from)\b|\w+ = ", line) for line in lines)


def is_short(text: str) -> bool:
    """Whether a text is a few words without anything to look at."""
    return len(text.split()) <= FEW_WORDS and not _LOOKS.search(text)


def asks(cell: Mapping[str, Any]) -> bool:
    """Whether a code cell asks for a prediction, or about earlier lessons."""
    return bool(re.search(r"^[^#\n]*\blesson\.(predict|recall)\(", cell["source"], re.MULTILINE))


def write_types(path: Path, again: bool = False) -> int:
    """Store the rule's types in a notebook; returns how many cells changed."""
    notebook = nbformat.read(path, as_version=4)
    changed = 0
    for cell, kind in zip(notebook.cells, slide_types(path.stem, notebook.cells), strict=True):
        given = cell.metadata.get("slideshow", {}).get("slide_type")
        if given != kind and (again or given is None):
            cell.metadata["slideshow"] = {"slide_type": kind}
            changed += 1
    if changed:
        path.write_text(as_text(notebook), encoding="utf-8")
    return changed


def main(arguments: Sequence[str]) -> None:
    """Write the types into every lesson."""
    for path in sorted((course_root() / "notebooks").glob("*.ipynb")):
        if changed := write_types(path, "--again" in arguments):
            print(f"{path.name}: {changed} cells")


if __name__ == "__main__":
    main(sys.argv[1:])
