"""No word of the trade is used before it is explained. Where it is, the cell's metadata says `"explains": ["token"]`.

The lessons are walked in their order, once as somebody reads who opens no folded section, once with all of them.
Read are the texts, and what predictions ask and answer. Code, formulas, links and the titles of lessons are not.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import nbformat
import pytest

from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.questions import predictions_of
from sdpa_helpers.course.registry import LESSONS
from sdpa_helpers.course.tracks import STORY, track_of_cells

WORDS = {
    "head": r"heads?",
    "token": r"tokens?",
    "batch": r"batch(es)?",
    "loss": r"loss(es)?",
    "gradient": r"gradients?",
    "LSE": r"LSE|log-sum-exp",
    "logits": r"logits?",
    "causal": r"causal(ly)?",
    "padding": r"padd(ing|ed)",
    "fused": r"fused",
    "kernel": r"kernels?",
    "tile": r"tiles?",
    "FLOP": r"FLOPs?",
    "rank": r"ranks?",
    "arm": r"arms?",
    "self-attention": r"self-attention",
    "cross-attention": r"cross-attention",
    "encoder": r"encoders?",
    "tokenizer": r"tokenizers?",
    "entropy": r"(?<!-)entropy",
    "bfloat16": r"bfloat16",
    "residual": r"residual",
    "saturated": r"saturat\w+",
    "autograd": r"autograd",
    "SymPy": r"SymPy",
    "article": r"articles?(?:, which we call A| [A-E]\b)",
}
"""The word, and the forms in which it stands."""

_ASKED = re.compile(r'lesson\.predict\(\s*"(\w+)"')
_NOT_PROSE = re.compile(r"\[[^\]]*\]\([^)]*\)|`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


class Told(NamedTuple):
    place: str
    text: str
    explains: list[str]
    is_story: bool


def course() -> Iterator[Told]:
    """What is told by each cell of the course, in the order of its lessons."""
    for lesson in ("00_start_here", *LESSONS):
        cells = nbformat.read(course_root() / "notebooks" / f"{lesson}.ipynb", as_version=4).cells
        asked = {one.name: one for one in predictions_of(lesson)}
        for cell, track in zip(cells, track_of_cells(cells), strict=True):
            told = [cell.source] if cell.cell_type == "markdown" else []
            for name in _ASKED.findall(cell.source):
                reasons = [f"{option.text} {option.because}" for option in asked[name].options]
                told += [asked[name].question, *reasons, asked[name].after]
            text = _NOT_PROSE.sub(" ", re.sub(r"^# .*", "", "\n".join(told)))
            yield Told(f"{lesson}, {cell.id}", text, cell.metadata.get("explains", []), track in STORY)


TOLD = tuple(course())


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("folded", [False, True], ids=["folded sections closed", "open"])
def test_a_word_is_explained_where_it_first_stands(word, folded):
    form = re.compile(rf"\b(?:{WORDS[word]})\b", re.IGNORECASE)
    read = [told for told in TOLD if folded or told.is_story]
    used = next((told for told in read if form.search(told.text)), None)
    explained = next((told for told in read if word in told.explains), None)
    assert used == explained, (
        f"{word}: first in {used and used.place}, explained in {explained and explained.place}"
    )


def test_what_a_cell_explains_is_a_known_word_that_stands_in_it():
    for told in TOLD:
        for word in told.explains:
            assert re.search(rf"(?i)\b(?:{WORDS[word]})\b", told.text), told.place
