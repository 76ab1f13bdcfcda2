"""The slides of one lesson, from its cells: what stands on each, and what its speaker is told."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from editions.slides import blocks as lay
from editions.slides.blocks import Block
from editions.slides.cut import is_setup
from editions.slides.formulas import Drawn
from editions.slides.outputs import Asked, Part, parts_of
from editions.slides.text import Chunk, chunks_of, code_html, html_of, short
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.course.tracks import size_of

MANY_WORDS = 70
"""A text with more of them is cut to what it shows: the rest is for the speaker to say."""

_FOR_READERS = re.compile(r"\[← |next: \[|\*\*Predict, then see|\*\*For whom")
"""Begins what is said to who reads alone."""

LONG_CODE = 7
"""Lines: as much code as this and more gets a slide of its own before its figure, less goes into the notes."""


@dataclass
class Slide:
    """One slide."""

    kind: str
    """title, text, look, asks."""
    section: str
    """The heading of its section, as HTML."""
    heading: str = ""
    """Its own heading, as HTML: the first slide of a section shows the section's."""
    blocks: list[Block] = field(default_factory=list)
    say: list[str] = field(default_factory=list)
    """For the speaker, as HTML."""
    minutes: float = 0.0
    starts: bool = False
    """Whether its section begins here."""
    cell: str = ""
    """The id of the cell that it begins with."""


class Deck(NamedTuple):
    """The slides of a lesson."""

    lesson: str
    title: str
    slides: tuple[Slide, ...]

    @property
    def minutes(self) -> float:
        """How long they take."""
        return sum(slide.minutes for slide in self.slides)


Cell = Mapping[str, Any]


def kind_of(cell: Cell) -> str:
    """The slide type that a cell has in its notebook; a cell without one is left out."""
    return cell["metadata"].get("slideshow", {}).get("slide_type", "skip")


def texts_of(cells: Sequence[Cell]) -> list[str]:
    """The texts of the cells that are in the slides."""
    return [c["source"] for c in cells if c["cell_type"] == "markdown" and kind_of(c) != "skip"]


def deck_of(lesson: str, cells: Sequence[Cell], drawn: Drawn) -> Deck:
    """The slides of a lesson whose formulas are drawn."""
    title = re.sub(r"^#\s*", "", cells[0]["source"].split("\n")[0])
    mistakes = _mistakes_by_section(lesson)
    slides: list[Slide] = []
    section = ""
    for group in _groups(cells):
        first = group[0]
        starts = kind_of(first) == "slide"
        if starts:
            section = _heading(first["source"], drawn)
        made = _slides_of(group, section, drawn)
        made[0].starts = starts
        made[0].minutes = size_of(group).minutes
        if starts:
            made[0].say += mistakes.get(_plain_heading(first["source"]), [])
        slides += made
    if slides:
        slides[0].minutes += size_of(
            [cell for cell in cells if is_setup(cell) and kind_of(cell) == "skip"][:1]
        ).minutes
    return Deck(lesson, title, tuple(slides))


def _groups(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells of each slide; notes belong to the slide before them."""
    groups: list[list[Cell]] = []
    for cell in cells:
        kind = kind_of(cell)
        if kind in ("slide", "subslide"):
            groups.append([cell])
        elif kind in ("-", "notes") and groups:
            groups[-1].append(cell)
    return groups


def _plain_heading(source: str) -> str:
    return re.sub(r"^#+\s*", "", source.split("\n")[0]).strip()


def _heading(source: str, drawn: Drawn) -> str:
    if not source.startswith("#"):
        return ""
    number, dot, said = re.fullmatch(r"(\d*)(\.?) *(.*)", _plain_heading(source)).groups()  # type: ignore[union-attr]
    inside = re.sub(r"^<p>|</p>\s*$", "", html_of(said, drawn).strip())
    return f'<span class="nth">{number}</span> {inside}' if dot else f"{number} {inside}".strip()


# ---- one group of cells ------------------------------------------------------------------------------------


def _slides_of(group: Sequence[Cell], section: str, drawn: Drawn) -> list[Slide]:
    first = group[0]
    slides: list[Slide] = []
    waiting: list[Block] = []
    say: list[str] = []
    for cell in group:
        if cell["cell_type"] == "markdown":
            if cell["source"].startswith("# "):
                slides.append(_title(cell, drawn))
                continue
            shown, left_out = _text(cell, drawn)
            if left_out or kind_of(cell) == "notes":
                say.append(html_of(_without_heading(cell["source"]), drawn))
            if kind_of(cell) != "notes":
                waiting += shown
            continue
        blocks, asked, said = _code(cell)
        say += said
        for question in asked:
            lead = "".join(block.html for block in waiting) if len(waiting) == 1 else ""
            if lead:
                waiting.clear()
            slides += _flushed(waiting, section, "text")
            slides += _question(question, section, lead)
        if waiting and sum(block.height for block in (*waiting, *blocks)) > lay.ROOM:
            slides += _flushed(waiting, section, "text")
        waiting += blocks
    kind = "text" if first["cell_type"] == "markdown" else "look"
    slides += _flushed(waiting, section, kind)
    slides = slides or [Slide("text", section)]
    slides[0].say += say
    slides[0].cell = first.get("id", "")
    if first["source"].startswith("## ") and slides[0].kind == "text":
        slides[0].heading = section
    return slides


def _flushed(waiting: list[Block], section: str, kind: str) -> list[Slide]:
    """Slides with the blocks that wait, which are then no more waiting."""
    made = [Slide(kind, section, blocks=page) for page in lay.filled(waiting) if page]
    waiting.clear()
    return made


def _title(cell: Cell, drawn: Drawn) -> Slide:
    parts = [part for part in cell["source"].split("\n\n")[1:] if "**" not in part or " minutes" not in part]
    number, dot, name = _plain_heading(cell["source"]).partition(" · ")
    if not dot:  # where the long way begins
        number, name = "", number
    inside = "".join(html_of(part, drawn) for part in parts)
    head = f'<p class="number">{number}</p><h1>{html.escape(name, quote=False)}</h1><div class="lead">{inside}</div>'
    return Slide("title", "", blocks=[Block(head, 500)])


def _without_heading(source: str) -> str:
    return re.sub(r"^#+ .*\n+", "", source)


def _text(cell: Cell, drawn: Drawn) -> tuple[list[Block], bool]:
    """The blocks of a text, and whether something was left out."""
    chunks = [c for c in chunks_of(cell["source"]) if c.kind != "heading" and not _FOR_READERS.match(c.text)]
    shown = [chunk for chunk in chunks if chunk.kind != "hidden"]
    long = lay.total_words(shown) > MANY_WORDS
    kept = [_shortened(chunk, shown[at + 1 :], long) for at, chunk in enumerate(shown)]
    blocks = [block for chunk in kept for block in lay.chunk_blocks(chunk, drawn)]
    return blocks, kept != chunks


def _shortened(chunk: Chunk, after: Sequence[Chunk], long: bool) -> Chunk:
    if chunk.kind != "text" or not long:
        return chunk
    leads_on = bool(after) and after[0].kind in ("formula", "list", "table", "quote")
    return Chunk("text", short(chunk.text, leads_on))


def _code(cell: Cell) -> tuple[list[Block], list[Asked], list[str]]:
    """What a code cell shows, what it asks, and what its speaker is told."""
    source = cell["source"].rstrip()
    parts = parts_of(cell.get("outputs", ()))
    asked = [part for part in parts if isinstance(part, Asked)]
    # What says that nothing is written yet says nothing to a room.
    shown = [
        part for part in parts if isinstance(part, Part) and "sdpa-card sdpa-not-attempted" not in part.html
    ]
    lines = source.count("\n") + 1
    if parts and not asked and not shown and lines == 1:
        return [], [], []
    folded = [part.html for part in shown if part.kind == "hidden"]
    shown = [part for part in shown if part.kind != "hidden"]
    code = code_html(source)
    looks = any(part.kind != "text" for part in shown)
    # A line that only calls for what is shown says nothing on a slide; a few go into the notes.
    if asked or folded or (looks and (lines == 1 or (lines < LONG_CODE and not _has_card(shown)))):
        said = f"<details><summary>The cell</summary><pre>{code}</pre></details>" if lines > 1 else ""
        return _blocks(shown), asked, [*filter(None, [said]), *folded]
    together = bool(shown) and shown[0].kind == "text" and lay.size_of_both(lines, shown[0]) >= lay.SMALLEST
    if not together:
        return [lay.code_block(code, source), *_blocks(shown)], asked, []
    most = min(lay.LARGEST, lay.size_of_both(lines, shown[0]))
    pair = [lay.code_block(code, source, most)._replace(leads=True), lay.output_block(shown[0], most)]
    return [*pair, *_blocks(shown[1:])], asked, []


def _has_card(parts: Sequence[Part]) -> bool:
    return any(part.kind == "card" for part in parts)


def _blocks(parts: Sequence[Part]) -> list[Block]:
    blocks: list[Block] = []
    for part in parts:
        blocks += lay.table_parts(part) if "sdpa-table" in part.html else [lay.part_block(part)]
    return blocks


def _question(asked: Asked, section: str, lead: str) -> list[Slide]:
    """The question with its choices, and then what was measured."""
    letters = "ABCD"
    rows = "".join(
        f'<li class="{"right" if answer.right else "wrong"}"><span class="letter">{letter}</span>'
        f'<div>{answer.text}<div class="because fragment" data-fragment-index="0">{answer.because}</div></div></li>'
        for letter, answer in zip(letters, asked.answers, strict=False)
    )
    measured = f'<p class="measured fragment" data-fragment-index="0">{asked.measured}</p>'
    above = f'<div class="above">{lead}</div>' if lead else ""
    ask = f'{above}<p class="question">{asked.question}</p><ol class="choices">{rows}</ol>{measured}'
    tempting = "".join(
        f"<li><strong>{'✓' if answer.right else '✗'} {answer.text}</strong>: {answer.because}</li>"
        for answer in asked.answers
    )
    say = (
        f"<h3>Ask</h3><p>{asked.question}</p><p>Let them vote (A to {letters[len(asked.answers) - 1]}) "
        "and defend a choice before you reveal.</p>"
        f"<h3>What people answer, and why</h3><ul>{tempting}</ul><p>{asked.measured}</p>"
    )
    flag = f'<span class="flag">{asked.title}</span>'
    slides = [Slide("asks", f"{flag} {section}", blocks=[Block(ask, lay.ROOM)], say=[say])]
    seen = [lay.part_block(part) for part in asked.shown]
    after = [
        Block(part, lay.lines_of(_text_of(part)) * lay.LINE + lay.GAP) for part in _paragraphs(asked.after)
    ]
    if seen or after:
        slides += [
            Slide("look", section, heading=asked.measured.rstrip("."), blocks=page)
            for page in lay.filled([*after, *seen])
        ]
    return slides


def _paragraphs(inside: str) -> list[str]:
    return [f"<p>{part}</p>" for part in re.findall(r"<p>(.*?)</p>", inside, re.DOTALL)]


def _text_of(inside: str) -> str:
    return re.sub(r"<[^>]+>", "", inside)


# ---- what people get wrong ---------------------------------------------------------------------------------


def _mistakes_by_section(lesson: str) -> dict[str, list[str]]:
    """What to expect of the exercises that belong to each section: their first wrong answers."""
    told: dict[str, list[str]] = {}
    for exercise in exercises_of(lesson) if lesson in LESSONS else ():
        if exercise.section and exercise.wrong:
            items = "".join(f"<li>{html_of(wrong.says, {})}</li>" for wrong in exercise.wrong[:2])
            told.setdefault(exercise.section, []).append(
                f"<h3>In the exercise <em>{html.escape(exercise.title)}</em> people get</h3><ul>{items}</ul>"
            )
    return told
