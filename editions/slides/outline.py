"""The outline of a lesson's slides, `slides.md` in the lesson's folder: one claim, one picture, one question a slide.

# What the wall says first
A sentence or two under it.

## The claim, as this slide's heading
Words for the wall, with {number: CELL after LABEL}: the number that the cell printed after this text.
{picture: CELL}         what the cell left: a figure, a panel, a card, a printed table; {picture: CELL 2}: the second
{code: CELL 3-7}        its lines 3 to 7, or all; {formula: CELL 2}, {table: CELL}: of a text
{ask: PREDICTION}       the lesson's question with its answers; a claim that ends in "?" asks it in fewer words
{exercise: NAME}        what to write now
? A question to the room.

Say (2 min): for the speaker alone, to the next heading.
"""

import re
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.course.places import course_root

_REFERENCE = re.compile(r"\{(picture|code|formula|table|ask|exercise): *(\S+?)(?: +([\d-]+))?\}")
_SAY = re.compile(r"^Say \(([\d.]+) min\): *", re.MULTILINE)


class SlidePart(NamedTuple):
    """One thing on a slide."""

    kind: str
    """words, wonder (a question to the room), or what it is of the lesson: picture, code, formula, table, …"""
    of: str
    """Its Markdown, or the name of what it refers to."""
    pick: str = ""
    """Which of several, or which lines."""


class Slide(NamedTuple):
    """What an outline says of one slide."""

    claim: str
    parts: tuple[SlidePart, ...]
    say: str
    minutes: float


class Outline(NamedTuple):
    """The slides of a lesson; the first is its title."""

    slides: tuple[Slide, ...]


class OutlineError(ValueError):
    """An outline that cannot be shown; the text says where and why."""


def outline_path(lesson: str) -> Path:
    """Where the outline of a lesson stands, if it has one."""
    return course_root() / "sdpa_helpers" / "lessons" / lesson.partition("_")[2] / "slides.md"


def lessons() -> list[str]:
    """Every lesson that has an outline, in the order of the course."""
    stems = (path.stem for path in sorted((course_root() / "notebooks").glob("*.ipynb")))
    return [stem for stem in stems if outline_path(stem).is_file()]


def read(text: str) -> Outline:
    """An outline from its Markdown.

    Raises:
        OutlineError: a slide has no minutes.
    """
    pieces = re.split(r"^##? ", text, flags=re.MULTILINE)
    return Outline(tuple(_slide(piece) for piece in pieces if piece.strip()))


def _slide(text: str) -> Slide:
    claim, _, rest = text.partition("\n")
    wall, *said = _SAY.split(rest)
    if len(said) != 2:
        raise OutlineError(f"the slide {claim!r} needs one line that begins: Say (2 min):")
    parts = tuple(
        _part(part.strip()) for part in re.split(r"\n\s*\n|\n(?=[{?])|(?<=\})\n", wall) if part.strip()
    )
    return Slide(claim.strip(), parts, said[1].strip(), float(said[0]))


def _part(text: str) -> SlidePart:
    if found := _REFERENCE.fullmatch(text):
        return SlidePart(found[1], found[2], found[3] or "")
    return SlidePart("wonder", text[1:].strip()) if text.startswith("?") else SlidePart("words", text)
