"""What a reader of answers in words looks for, and model answers: for those who mark, not in the student edition.

A page for each lesson that asks for words, beside this file; its sections are the exercises:

    ## proof_in_words

    - sum
      The variance of the sum is the sum of the variances, because ...
      Look for: “Variances add up”, as if they always did.

    The model answer, in paragraphs.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sdpa_helpers.course.content import ContentEntry, ContentPage, Paragraph, read_content
from sdpa_helpers.course.registry import folder_of


@dataclass(frozen=True)
class Guide:
    """How to decide on one criterion. says: what earns its points. beware: the misconception to look for."""

    says: str
    beware: str


def guides(lesson: str) -> dict[str, dict[str, Guide]]:
    """Exercise → criterion's key → guide, for a notebook; {} where nothing is answered in words."""
    sections = _rubric(lesson).sections
    return {section.title: {e.text: _guide(e) for e in section.of(ContentEntry)} for section in sections}


def model_answers(lesson: str) -> dict[str, str]:
    """Exercise → a model answer, for a notebook; {} where nothing is answered in words."""
    sections = _rubric(lesson).sections
    return {section.title: "\n\n".join(p.text for p in section.of(Paragraph)) for section in sections}


def _guide(entry: ContentEntry) -> Guide:
    says, _, beware = entry.says.partition(" Look for: ")
    return Guide(says, beware)


@cache
def _rubric(lesson: str) -> ContentPage:
    return read_content(Path(__file__).with_name(f"{folder_of(lesson)}.md"))
