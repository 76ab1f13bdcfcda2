"""The slides of one lesson: its outline, with what it refers to taken from the lesson's stored cells."""

import html
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from editions.slides.outline import Outline, OutlineError, Slide, SlidePart
from editions.stored.formulas import Drawn
from editions.stored.outputs import CellOutput, ShownQuestion, parts_of
from editions.stored.text import code_html, html_of
from sdpa_helpers.course.registry import find

Cell = Mapping[str, Any]

LETTERS = "ABCD"
SHORT_CHOICE = 16
"""Letters: answers that are all this short stand beside each other."""

_NUMBER = re.compile(r"\{number: *(\S+) after (.+?)\}")
_MEASURED = re.compile(r"\{measured: *(\S+?)\}")


class Shown(NamedTuple):
    """One slide, as HTML."""

    kind: str
    """title, asks, or plain."""
    claim: str
    body: str
    notes: str
    minutes: float


class Deck(NamedTuple):
    """The slides of a lesson."""

    lesson: str
    title: str
    slides: tuple[Shown, ...]

    @property
    def minutes(self) -> float:
        """How long they take."""
        return sum(slide.minutes for slide in self.slides)


class Lesson:
    """What an outline may refer to: the cells of a lesson's notebook, by their ids, and its predictions."""

    def __init__(self, name: str, cells: Sequence[Cell], drawn: Drawn) -> None:
        self.name, self.drawn = name, drawn
        self.title = cells[0]["source"].split("\n")[0].lstrip("# ")
        self.cells = {cell["id"]: cell for cell in cells}
        self.asks = {
            found[1]: cell["id"]
            for cell in cells
            if (found := re.search(r'\blesson\.predict\(\s*"(\w+)"', cell["source"]))
        }

    def cell(self, name: str) -> Cell:
        """The cell of this id."""
        if name not in self.cells:
            raise OutlineError(f"slides.md of {self.name}: there is no cell {name!r}")
        return self.cells[name]

    def outputs(self, name: str) -> list[CellOutput]:
        """What a cell left; of a question what is shown with its answer."""
        parts = parts_of(self.cell(name).get("outputs", ()))
        flat = [one for part in parts for one in (part.shown if isinstance(part, ShownQuestion) else (part,))]
        if not flat:
            raise OutlineError(f"slides.md of {self.name}: the cell {name!r} shows nothing")
        return flat

    def asked(self, prediction: str) -> ShownQuestion:
        """A question as it was stored."""
        parts = parts_of(self.cell(self.asks.get(prediction, prediction)).get("outputs", ()))
        found = next((part for part in parts if isinstance(part, ShownQuestion)), None)
        if found is None:
            raise OutlineError(f"slides.md of {self.name}: no prediction {prediction!r}")
        return found

    def html(self, text: str) -> str:
        """Markdown of the outline or of a cell; numbers are looked up where the lesson has them."""
        text = _NUMBER.sub(lambda found: self.number(found[1], found[2]), text)
        text = _MEASURED.sub(lambda found: _bare(self.asked(found[1]).measured), text)
        return html_of(text, self.drawn).strip()

    def line(self, text: str) -> str:
        """The same, without a paragraph around it."""
        return re.sub(r"^<p>|</p>$", "", self.html(text))

    def number(self, name: str, label: str) -> str:
        """The number that a cell shows after some text, in print or in a figure's description."""
        shown = " ".join(" ".join(_told(part) for part in self.outputs(name)).split())
        found = re.search(rf"{re.escape(' '.join(label.split()))}\D*?([-−]?\d[\d,]*(?:\.\d+)?)", shown)
        if not found:
            raise OutlineError(f"slides.md of {self.name}: the cell {name!r} shows no number after {label!r}")
        return found[1].rstrip(",")


def _told(part: CellOutput) -> str:
    described = " ".join(re.findall(r'aria-label="([^"]*)"', part.html))
    return html.unescape(described if part.kind == "figure" else re.sub(r"<[^>]+>", " ", part.html))


def _bare(measured: str) -> str:
    return re.sub(r"^(Measured|Answer): |\.$", "", re.sub(r"<[^>]+>", "", measured))


def deck_of(outline: Outline, lesson: Lesson) -> Deck:
    """All slides of a lesson.

    Raises:
        OutlineError: the outline names what the lesson has not.
    """
    first, *others = outline.slides
    number, _, _ = lesson.title.partition(" · ")
    head = f'<p class="number">{number}</p><h1>{lesson.line(first.claim)}</h1>'
    lead = "".join(_part(part, lesson) for part in first.parts)
    title = Shown("title", "", f'{head}<div class="lead">{lead}</div>', lesson.html(first.say), first.minutes)
    return Deck(lesson.name, lesson.title, (title, *(_shown(slide, lesson) for slide in others)))


def _shown(slide: Slide, lesson: Lesson) -> Shown:
    asks = next((part for part in slide.parts if part.kind == "ask"), None)
    body = "".join(_part(part, lesson) for part in slide.parts if part is not asks)
    notes = lesson.html(slide.say) + _mistakes(*(part.of for part in slide.parts if part.kind == "exercise"))
    claim = lesson.line(slide.claim)
    if asks is None:
        return Shown("plain", claim, body, notes, slide.minutes)
    asked = lesson.asked(asks.of)
    in_words = slide.claim.endswith("?")
    question = "" if in_words else f'<p class="question">{asked.question}</p>'
    return Shown(
        "asks", claim, question + body + _choices(asked), notes + _expected(asked, asks.of), slide.minutes
    )


def in_lines(text: str) -> str:
    """Formulas that stand beside each other, one below the other: so a slide has room for larger letters."""
    return re.sub(r",? *\\qquad *", "$$\n\n$$", re.sub(r"[ .]+\$\$", "$$", text))


def _part(part: SlidePart, lesson: Lesson) -> str:
    match part.kind:
        case "words":
            return lesson.html(part.of)
        case "wonder":
            return f'<p class="wonder">{lesson.line(part.of)}</p>'
        case "picture":
            return _picture(lesson.outputs(part.of), part.pick)
        case "code":
            first, _, last = part.pick.partition("-")
            lines = lesson.cell(part.of)["source"].split("\n")
            kept = lines[int(first) - 1 : int(last or first)] if first else lines
            return _pre("code", kept, code_html("\n".join(kept)))
        case "formula":
            found = re.findall(r"\$\$.+?\$\$", lesson.cell(part.of)["source"], re.DOTALL)
            return f'<div class="formula">{lesson.html(in_lines(found[int(part.pick or 1) - 1]))}</div>'
        case "table":
            found = re.findall(r"(?:^\|.*\n?)+", lesson.cell(part.of)["source"], re.MULTILINE)
            return f'<div class="rows">{lesson.html(found[int(part.pick or 1) - 1])}</div>'
    exercise = find(part.of)
    return (
        f'<div class="exercise"><p><span class="flag">Now you</span></p><h3>{html.escape(exercise.title)}</h3>'
        f"<p><code>{part.of}</code> · about {exercise.minutes} minutes</p></div>"
    )


def _picture(outputs: list[CellOutput], pick: str) -> str:
    looks = [part for part in outputs if part.kind in ("figure", "panel", "card")]
    part = outputs[int(pick) - 1] if pick else (looks or outputs)[0]
    if part.kind == "text":
        bare = re.sub(r"^array\((.*)\)$", r"      \1", html.unescape(part.html), flags=re.DOTALL)
        bare = textwrap.dedent(bare)
        return _columns(bare) or _pre("out", bare.split("\n"), html.escape(bare))
    if part.kind == "panel":  # it moves in the lesson; here its still stands
        still = re.search(r"<svg\b.*?</svg>", part.html, re.DOTALL)
        return f'<div class="grows figure">{still[0] if still else ""}</div>'
    return f'<div class="grows {part.kind}">{part.html}</div>'


def _pre(kind: str, lines: list[str], shown: str) -> str:
    """Letters by the longest line, however large the words beside it are."""
    return f'<pre class="{kind}" style="--longest: {max(map(len, lines))}">{shown}</pre>'


def _columns(printed: str) -> str:
    """Columns that were printed, as a table; "" where they are none. A head lacks a cell, or has words over numbers."""
    rows = [re.split(r" {2,}", line.strip()) for line in printed.strip("\n").split("\n")]
    if unnamed := len(rows[0]) + 1 == len(rows[-1]):
        rows[0].insert(0, "")
    if {*map(len, rows)} != {max(2, len(rows[-1]))} or len(rows) < 2 or re.search(r"^[\[(]|:", printed):
        return ""
    words = [row[-1][0].isalpha() for row in rows]
    marks = ["<th>" if unnamed or (words[0] and not any(words[1:])) else "<td>", *["<td>"] * len(words)]
    cells = [mark + mark.join(map(html.escape, row)) for mark, row in zip(marks, rows, strict=False)]
    return f'<table class="out {"words" if words[-1] else "numbers"}"><tr>{"<tr>".join(cells)}</table>'


def _choices(asked: ShownQuestion) -> str:
    """The answers; the reason of the right one, and what was measured, once they are revealed."""
    short = all(len(re.sub(r"<[^>]+>", "", answer.text)) <= SHORT_CHOICE for answer in asked.answers)
    rows = "".join(
        f'<li class="{"right" if answer.right else "wrong"}"><span class="letter">{letter}</span>'
        f"<div>{answer.text}</div></li>"
        for letter, answer in zip(LETTERS, asked.answers, strict=False)
    )
    because = " ".join(answer.because for answer in asked.answers if answer.right)
    return (
        f'<ol class="choices{" short" if short else ""}">{rows}</ol>'
        f'<p class="measured fragment" data-fragment-index="0">{asked.measured} {because}</p>'
    )


def _expected(asked: ShownQuestion, name: str) -> str:
    """What a speaker is told of a question: what people answer, and why."""
    reasons = "".join(
        f"<li><strong>{'✓' if answer.right else '✗'} {answer.text}</strong>: {answer.because}</li>"
        for answer in asked.answers
    )
    last = LETTERS[len(asked.answers) - 1]
    return (
        f"<h3>Ask</h3><p>{asked.question}</p><p>Let them vote, A to {last} (in <code>sdpa room</code>: "
        f"<code>{name}</code>), and defend a choice before you reveal with R.</p>"
        f"<h3>What people answer, and why</h3><ul>{reasons}</ul><p>{asked.measured}</p>{asked.after}"
    )


def _mistakes(*names: str) -> str:
    items = "".join(f"<li>{html_of(wrong.says, {})}</li>" for name in names for wrong in find(name).wrong[:2])
    return f"<h3>In this exercise people get</h3><ul>{items}</ul>" if items else ""
