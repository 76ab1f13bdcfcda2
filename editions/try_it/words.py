"""What a notebook says of its cells, said of a page, which has an editor; and the names that the editor knows."""

import json
import re
from collections import Counter

import nbformat

from sdpa_helpers.course.in_page import IN_A_PAGE
from sdpa_helpers.course.places import course_root

LESSONS_WITH = 2
"""A name of NumPy is offered on every page, whatever its exercise needs, where as many lessons use it."""

NO_CELLS = {
    "The cell below holds": "The editor holds",
    "use the cell of": "use the editor of",
    "in a new cell:": "in a new cell of the notebook:",
    "in a cell of your own": "in a cell of the notebook",
    "Click on the cell below, press **Shift + Enter**, then press **Play**": "Press **Play**",
    "Run it with **Shift + Enter**. ": "",
    "Run the cell: the": "The",
    "Run the cell and drag": "Drag",
    ", run the cell, and": ", press **Check**, and",
    "and run both cells again": "and check it again",
    "Run the next cell. It prints what it found": "In a notebook the code below prints what it finds",
    "Change `rate` to 0.9, then to 1.1, and": "In a notebook, change `rate` to 0.9, then to 1.1, and",
    "The next cell": "The code below",
    "the next cell": "the code below",
    **IN_A_PAGE,
}
"""What lessons, exercises and stored cards say → what a page says instead; for the rest one wording serves both."""


def in_a_page(text: str) -> str:
    """What a notebook says, as a page says it."""
    for in_a_notebook, here in NO_CELLS.items():
        text = text.replace(in_a_notebook, here)
    return text


def numpy_names() -> list[str]:
    """The names that the editor offers after "np."."""
    seen: Counter[str] = Counter()
    for path in sorted((course_root() / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        seen.update({name for cell in cells for name in re.findall(r"\bnp\.([a-z]\w*)", cell.source)})
    return sorted(name for name, lessons in seen.items() if lessons >= LESSONS_WITH)


def names_js() -> str:
    """The module by which a page knows them."""
    return f"// Written by the build.\nexport const NUMPY = {json.dumps(numpy_names())};\n"
