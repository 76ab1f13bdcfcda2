"""A page of the site: what runs in the browser and what does not, counted from the notebooks' own tags."""

import json
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.checking.answers.time_limit import SECONDS
from sdpa_helpers.classroom.course_map import FIRST, title_of
from sdpa_helpers.course.registry import LESSONS, all_exercises

PAGE = Path(__file__).with_suffix(".md")


class Cells(NamedTuple):
    """The code cells of a lesson, and how many of them do not run in a browser."""

    lesson: str
    code: int
    not_here: int


def cells_of(root: Path, lesson: str) -> Cells:
    """Counted from the tags that `make minutes` writes."""
    cells = json.loads((root / "notebooks" / f"{lesson}.ipynb").read_text(encoding="utf-8"))["cells"]
    tags = [cell["metadata"].get("tags", []) for cell in cells if cell["cell_type"] == "code"]
    return Cells(lesson, len(tags), sum(any(tag.startswith("needs-") for tag in those) for those in tags))


def as_source(root: Path) -> str:
    """The page in Markdown, for Sphinx."""
    counted = [cells_of(root, lesson) for lesson in (FIRST, *LESSONS)]
    rows = [
        f"| [{title_of(one.lesson)}](notebooks/{one.lesson}.ipynb) | {one.code} | {one.not_here or '–'} |"
        for one in counted
    ]
    code, not_here = sum(one.code for one in counted), sum(one.not_here for one in counted)
    return PAGE.read_text(encoding="utf-8").format(
        exercises=len(all_exercises()),
        here=code - not_here,
        cells=code,
        rows="\n".join(rows),
        seconds=SECONDS,
    )
