"""What the course says about comparisons with NaN is true: all are False, but `!=` is not."""

import json
import operator
import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "text",
    [
        "a **test that NaN passes**, because every comparison with NaN is false.",
        "Comparisons with NaN are False.",
        "NaN compares false with everything. So nothing fails.",
        "NaN where there is one: what is compared with it is never true.",
    ],
)
def test_a_sentence_that_says_too_much_is_found(text):
    assert len(says_too_much(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "With NaN every comparison but `!=` is false.",
        "Compared with NaN, `<` and `>` are False.",
        "A comparison that NaN cannot pass.",
        "NaN is not compared. False alarms are rare.",
    ],
)
def test_a_true_sentence_may_stay(text):
    assert says_too_much(text) == []


def test_of_all_comparisons_with_nan_only_one_is_true():
    compare = operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne
    for x in (0.0, float("inf"), float("nan")):
        assert [f(x, float("nan")) for f in compare] == [False] * 5 + [True]
