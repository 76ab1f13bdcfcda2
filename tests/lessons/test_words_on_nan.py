"""What the course says about comparisons with NaN is true: all are False, but `!=` is not."""

import json
import re
from pathlib import Path

COURSE = Path(__file__).parents[2]
WRITTEN = ("README.md", "docs/*.md", "docs/instructors/*.md", "sdpa_helpers/**/*.md", "sdpa_helpers/**/*.py")
NOTEBOOKS = ("notebooks/*.ipynb", "exercises/*.ipynb", "solutions/*.ipynb")

_OF_ALL = re.compile(r"\bcompar", re.IGNORECASE)
_FALSE = re.compile(r"\bfalse\b|\b(?:never|not) (?:be )?true\b", re.IGNORECASE)
_NAMED = re.compile(r"`(?:<|>|<=|>=|==)`|\b(?:but|except)\b[^.]{0,9}`!=`")
_END = re.compile(r"(?<=[.?!])\s+(?=[^a-z])|\n\s*\n")


def says_too_much(text: str) -> list[str]:
    """Its sentences by which comparisons with NaN are False and that name neither the operators nor `!=`."""
    return [
        sentence
        for sentence in _END.split(text)
        if "NaN" in sentence
        and _OF_ALL.search(sentence)
        and _FALSE.search(sentence)
        and not _NAMED.search(sentence)
    ]


def pages() -> list[tuple[str, str]]:
    """Where something is written, and what: a cell of a notebook, or a file."""
    found = [(str(p.relative_to(COURSE)), p.read_text("utf-8")) for w in WRITTEN for p in COURSE.glob(w)]
    for path in (p for pattern in NOTEBOOKS for p in COURSE.glob(pattern)):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        found += [
            (f"{path.parent.name}/{path.stem}, {cell['id']}", "".join(cell["source"])) for cell in cells
        ]
    return found


def test_no_page_says_that_every_comparison_with_nan_is_false():
    assert {place: said for place, text in pages() if (said := says_too_much(text))} == {}
