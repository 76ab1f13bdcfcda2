"""What the course says of NaN and comparisons: `!=` with NaN is true, so "every comparison is false" is not so.

The sentence was mended in two lessons and came back in a third: it is searched for, wherever a learner reads.
"""

import json
import re
from pathlib import Path

import pytest

COURSE = Path(__file__).parents[2]
PLACES = (
    *("notebooks/*.ipynb", "exercises/*.ipynb", "solutions/*.ipynb", "docs/**/*.md", "docs/*.html"),
    *("sdpa_helpers/**/*.md", "sdpa_helpers/**/*.py", "editions/**/*.md", "README.md"),
)
_ALL = r"(?:every|all|each|any|no)\b[^.;:\n]{0,30}\bcompar(?:ison|e|es|ing)\w*"
_SAID = re.compile(rf"{_ALL}[^.;\n]{{0,40}}\bnan\b[^.;\n]{{0,60}}", re.IGNORECASE)
_OF_ALL = re.compile(r"\bcompar", re.IGNORECASE)
_FALSE = re.compile(r"\bfalse\b|\b(?:never|not) (?:be )?true\b", re.IGNORECASE)
_NAMED = re.compile(r"`(?:<|>|<=|>=|==)`|\b(?:but|except)\b[^.]{0,9}`!=`")
_END = re.compile(r"(?<=[.?!])\s+(?=[^a-z])|\n\s*\n")
_TOLD = re.compile(r"!=|≠|not equal|unequal|but one|except|<=?|>=?|no error", re.IGNORECASE)


def false_of_nan(text: str) -> list[str]:
    """The sentences that say of all comparisons with NaN what `!=` refutes."""
    plain = re.sub(r"</?\w[^>]*>|[`*]|&[lg]t;", "", text)
    of_nan = (
        said for said in _END.split(text) if "NaN" in said and _OF_ALL.search(said) and _FALSE.search(said)
    )
    return [
        *(found for found in _SAID.findall(plain) if not _TOLD.search(found)),
        *(said for said in of_nan if not _NAMED.search(said)),
    ]


def words_of(path: Path) -> str:
    """What a learner reads in a file: of a notebook its cells and what they show."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n\n".join(_texts(json.loads(text)))


def _texts(node: object) -> list[str]:
    if isinstance(node, str):
        return [node]
    if isinstance(node, list) and all(isinstance(part, str) for part in node):
        return ["".join(node)]
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [text for part in parts for text in _texts(part)]


@pytest.mark.parametrize(
    "sentence",
    [
        "a test that NaN passes, because every comparison with NaN is false",
        "Every comparison with `NaN` is **False**.",
        "All comparisons with NaN give False.",
        "A number that is compared with NaN: that is never true.",
        "because any comparison\nthat meets NaN is false".replace("\n", " "),
    ],
)
def test_the_sentence_is_found(sentence):
    assert false_of_nan(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "every comparison with NaN but `!=` is false",
        "`<`, `>`, `<=`, `>=` and `==` with NaN are all False",
        "`>` and `<=` with NaN are both False",
        "NumPy only warns, and comparing with NaN is no error.",
    ],
)
def test_what_is_so_may_be_said(sentence):
    assert not false_of_nan(sentence)


def test_nobody_says_of_every_comparison_with_nan_that_it_is_false():
    paths = [path for place in PLACES for path in COURSE.glob(place)]
    assert len(paths) > 100
    found = {path.relative_to(COURSE): false_of_nan(words_of(path)) for path in paths}
    assert not {path: said for path, said in found.items() if said}
