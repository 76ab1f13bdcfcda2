"""What a notebook says of its cells, said of a page, which has an editor; and the names that the editor knows."""

import json
import re
from collections import Counter

import nbformat

from sdpa_helpers.course.places import course_root

LESSONS_WITH = 2
"""A name of NumPy is offered on every page, whatever its exercise needs, where as many lessons use it."""

_NO_CELLS = {
    "The cell below holds": "The editor holds",
    "use the cell of": "use the editor of",
    "in a new cell:": "in a new cell of the notebook:",
    "in a cell of your own": "in a cell of the notebook",
}


def in_a_page(prompt: str) -> str:
    """An exercise's prompt as a page says it."""
    for in_a_notebook, here in _NO_CELLS.items():
        prompt = prompt.replace(in_a_notebook, here)
    return prompt


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
