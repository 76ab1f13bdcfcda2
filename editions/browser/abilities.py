"""A page of the site: what runs in the browser and what does not, counted from the notebooks' own tags."""

import json
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.checking.answers.time_limit import SECONDS
from sdpa_helpers.classroom.course_map import FIRST, title_of
from sdpa_helpers.course.registry import LESSONS, all_exercises

PAGE = """# In your browser, nothing installed

Python itself runs in the page: <a href="try/index.html">one exercise at a time</a>, or
<a href="lite/index.html">whole lessons</a> in JupyterLite. This site sends nothing you write anywhere.

## What runs

All {exercises} exercises that a program checks run here, with the verdicts and points they have anywhere else. So do
the lessons, panels and predictions included: {here} of {cells} code cells. The others need PyTorch or processes of
their own, which a browser does not have. Each of them says so in one sentence, and *Run All Cells* goes on to the next.

| lesson | code cells | do not run here |
|:--|--:|--:|
{rows}

What such a cell shows where the course is installed is on the lesson's page of this site.

## Who can reach what

- **A page with one exercise: nothing you write leaves this machine, whatever the code does.** An answer runs behind a
  wall: in a frame with an origin of its own, which may connect to nothing and store nothing, and a worker that
  inherits that. The page fetches Python from this site, takes each file only with the sha256 it had when the site was
  built, and hands it in. What comes out is read within bounds, and the card is drawn anew from it. So you can open and
  check an answer that somebody else wrote. Tests do that in Chromium with hostile answers: nine kinds of requests, the
  browser's stores, and cards that hold scripts, frames, forms and style sheets. Nothing arrived anywhere, and the page
  stayed as it was. We have not tried other browsers. No wall keeps such code from using your processor: *Stop*, or
  closing the page, ends it.
- **JupyterLite has no such wall.** A notebook there runs as a part of this site: its code can send what it likes, and
  read and change all that this browser keeps for the site, your answers on the exercise pages too. Run there what you
  wrote, or trust, as in any Jupyter.

## Without a network

After your first check of an answer, the browser keeps Python and all pages with exercises, about 20 MB, and the page
says when that is done. From then on they work without a network. A kept file is used only with the sha256 it had when
the site was built. The lessons and JupyterLite need the network. Browsers keep files in this way only for addresses
with https and for this machine's own, and not in every private window.

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
