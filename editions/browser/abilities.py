"""A page of the site: what runs in the browser and what does not, counted from the notebooks' own tags."""

import json
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.checking.time_limit import SECONDS
from sdpa_helpers.classroom.course_map import FIRST, title_of
from sdpa_helpers.lessons.registry import LESSONS, all_exercises

PAGE = """# In your browser, nothing installed

Python itself runs in the page: <a href="try/index.html">one exercise at a time</a>, or
<a href="lite/index.html">whole lessons</a> in JupyterLite. Nothing you type leaves your computer.

## What runs

All {exercises} exercises that a program checks run here, with the verdicts and points they have anywhere else. So do
the lessons, panels and predictions included: {here} of {cells} code cells. The others need PyTorch or processes of
their own, which a browser does not have. Each of them says so in one sentence, and *Run All Cells* goes on to the next.

| lesson | code cells | do not run here |
|:--|--:|--:|
{rows}

What such a cell shows where the course is installed is on the lesson's page of this site.

## What is different

- **It is slower.** Python needs a few seconds to start, and arithmetic takes longer. The large measurement in lesson 04
  took about a minute when we tried it; an installed Python needs seconds.
- **A function that never ends** is stopped by its check after {seconds:.0f} seconds, as everywhere. Any other cell
  that never ends takes *Kernel → Restart Kernel*.
- **Your work stays in this browser.** Notebooks and points survive a reload, but not a browser that clears its
  site data, and they do not follow you to another computer. Download your notebook: it is the file to hand in.
- **Some backends are missing.** `sdpa.backends()` lists the two that are here, both in NumPy. `sdpa.doctor()` says what
  this Python has.
- **The command line stays outside.** Grading others' notebooks needs an installation.
"""


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
    return PAGE.format(
        exercises=len(all_exercises()),
        here=code - not_here,
        cells=code,
        rows="\n".join(rows),
        seconds=SECONDS,
    )
