"""A lesson as one HTML page for paper: the core and its deeper sections, with the answers on pages of their own.

Who reads on paper cannot click on an answer. So a question stands with its choices in the text, and what was measured,
with its figure, stands at the end under the same number.
"""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from pygments.formatters import HtmlFormatter

from editions.stored.formulas import Drawn
from editions.stored.outputs import CellOutput, ShownQuestion, parts_of
from editions.stored.text import code_html, html_of, without_files
from sdpa_helpers.course.tracks import FOLDED, Track, minutes_in_words, track_of_cells

Cell = Mapping[str, Any]

STYLE = Path(__file__).with_name("paper.css")
POINTS_OF_A_LINE = 478
"""How wide a line is, between the margins."""

_LEFT_OUT = re.compile(
    r"^.*\*\*\d+ minutes\*\*.*$|^\[← .*$|^next: \[.*$|^\*\*Predict, then see\.\*\*.*$", re.MULTILINE
)
_DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)


class Answers:
    """What stands at the end, numbered in the order of the lesson."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def keep(self, inside: str) -> str:
        """Keep an answer for the end; returns what leads to it."""
        self.kept.append(inside)
        number = len(self.kept)
        return f'<a class="to" id="q{number}" href="#a{number}">Answer {number}</a>'

    def page(self) -> str:
        """All answers."""
        items = "".join(
            f'<div class="one" id="a{number}"><a class="back" href="#q{number}">{number}</a><div>{inside}</div></div>'
            for number, inside in enumerate(self.kept, 1)
        )
        return f'<section class="answers"><h2>Answers</h2>{items}</section>' if items else ""


def sheet_of(title: str, cells: Sequence[Cell], drawn: Drawn) -> str:
    """The whole page of a lesson."""
    answers = Answers()
    cells = [cell for cell in cells if not re.match(r"## Next\b", cell["source"])]
    parts: list[str] = []
    before: Track = "short"
    for cell, track in zip(cells, track_of_cells(cells), strict=True):
        if track != before:
            parts.append("</section>" if before in FOLDED else "")
            parts.append(f'<section class="folded {track}">' if track in FOLDED else "")
            before = track
        parts.append(_text(cell, drawn, answers) if cell["cell_type"] == "markdown" else _code(cell, answers))
    parts.append("</section>" if before in FOLDED else "")
    minutes = re.sub(r"\*\*", "", minutes_in_words(cells))
    told = f'<p class="led">{minutes}. A line in the margin marks what is folded on a screen: ' + (
        "the story is complete without it. Answers stand at the end.</p>"
    )
    text = "\n".join(parts).replace("</h1>", f"</h1>{told}", 1)
    body = without_files(text + answers.page())
    style = STYLE.read_text(encoding="utf-8") + HtmlFormatter(style="xcode").get_style_defs("pre.code")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{style}</style></head><body>{body}</body></html>"
    )


def _text(cell: Cell, drawn: Drawn, answers: Answers) -> str:
    """A text; what is folded in it stands at the end."""
    text, *folded = _DETAILS.split(_LEFT_OUT.sub("", cell["source"]))
    parts = [html_of(_apart(text), drawn)]
    for title, inside, after in zip(folded[::3], folded[1::3], folded[2::3], strict=True):
        heading = "" if title == "Answer" else f"<h4>{title}</h4>"
        kept = answers.keep(heading + html_of(inside.strip(), drawn))
        parts += [f'<p class="led">{title}: {kept}</p>', html_of(_apart(after), drawn)]
    return "\n".join(parts)


def _apart(text: str) -> str:
    """Markdown in which a formula on its own lines, or a list, is a block also where no empty line says so."""
    return re.sub(r"\s*(?<!`)(\$\$.+?\$\$)([.,]?)\s*", r"\n\n\1\2\n\n", text, flags=re.DOTALL)


def _code(cell: Cell, answers: Answers) -> str:
    source = cell["source"].rstrip()
    lines = source.split("\n")
    outputs = parts_of(cell.get("outputs", ()))
    # A line that only calls for a card, a table or a question says nothing on paper.
    only_calls = len(lines) == 1 and all(
        isinstance(part, ShownQuestion) or part.kind == "card" for part in outputs
    )
    parts = (
        [] if only_calls and outputs else [mono("code", code_html(source), max(map(len, lines)), len(lines))]
    )
    for part in outputs:
        parts.append(_question(part, answers) if isinstance(part, ShownQuestion) else shown(part))
    return "\n".join(parts)


def mono(name: str, inside: str, wide: int, lines: int) -> str:
    """Letters of one width, smaller where a line is long; it may be cut only where it is longer than half a page."""
    size = max(7.0, min(9.0, POINTS_OF_A_LINE / (max(wide, 1) * 0.61)))
    return f'<pre class="{name}{" long" if lines > 30 else ""}" style="font-size:{size:.1f}pt">{inside}</pre>'


def shown(part: CellOutput) -> str:
    """An output, on paper: of a panel its still."""
    if part.kind == "text":
        return mono("out", part.html, part.wide, part.lines)
    if part.kind == "figure":
        return f'<figure style="max-width:{min(part.wide, 900) * 0.68:.0f}px">{part.html}</figure>'
    if part.kind == "panel":
        still = re.search(r"<svg\b.*?</svg>", part.html, re.DOTALL)
        inside = still[0] if still else ""
        return f"<figure>{inside}<figcaption>On a screen this picture moves.</figcaption></figure>"
    if part.kind == "hidden":
        return re.sub(r"<details>", "<details open>", part.html)
    return f'<div class="card">{_without_buttons(part.html)}</div>'


def _without_buttons(card: str) -> str:
    """Hints and answers of an exercise are behind buttons, which paper lacks."""
    page = BeautifulSoup(card, "html.parser")
    for folded in page.select(".ways, details"):
        folded.decompose()
    return str(page)


def _question(asked: ShownQuestion, answers: Answers) -> str:
    choices = "".join(f"<li>{answer.text}</li>" for answer in asked.answers)
    reasons = "".join(
        f'<li class="{"right" if answer.right else "wrong"}">{answer.text}: {answer.because}</li>'
        for answer in asked.answers
    )
    found = f"<p>{asked.measured}</p><ol class='reasons'>{reasons}</ol>{asked.after}{''.join(map(shown, asked.shown))}"
    return (
        f'<div class="asks"><p><strong>{asked.title}.</strong> {asked.question}</p><ol>{choices}</ol>'
        f'<p class="led">{answers.keep(found)}</p></div>'
    )
