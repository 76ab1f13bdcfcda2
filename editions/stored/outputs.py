"""What a cell left in the notebook, as parts that a slide or a sheet of paper can place."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bs4 import BeautifulSoup, Tag


class AnswerOption(NamedTuple):
    """One of the answers to a question, as HTML."""

    text: str
    because: str
    right: bool


class ShownQuestion(NamedTuple):
    """A prediction, or a question about earlier lessons."""

    title: str
    """Predict, or Remember · 1 of 3."""
    question: str
    answers: tuple[AnswerOption, ...]
    measured: str
    """"Measured: 5.", as HTML."""
    after: str
    """What there is to say then, as HTML."""
    shown: tuple["CellOutput", ...]
    """Its figures and tables."""


class CellOutput(NamedTuple):
    """Something to look at."""

    kind: str
    """text, figure, panel, card (HTML with a style of its own), or hidden (what is folded)."""
    html: str
    lines: int = 0
    """Of a text."""
    wide: int = 0
    """Of a text: the letters of its longest line. Of a figure: its pixels."""
    high: int = 0
    """Of a figure: its pixels."""


def parts_of(outputs: Iterable[Mapping[str, Any]]) -> list[ShownQuestion | CellOutput]:
    """Everything that a cell's outputs show, in their order."""
    parts: list[ShownQuestion | CellOutput] = []
    for output in outputs:
        if output["output_type"] == "stream":
            parts.append(text_part(_whole(output["text"])))
        elif "text/html" in (data := output.get("data", {})):
            parts += _of_html(_whole(data["text/html"]))
        elif "text/plain" in data:
            parts.append(text_part(_whole(data["text/plain"])))
    return parts


def _whole(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def text_part(text: str) -> CellOutput:
    """Printed text."""
    lines = text.rstrip("\n").split("\n")
    return CellOutput("text", html.escape("\n".join(lines)), len(lines), max(map(len, lines)))


def _of_html(text: str) -> list[ShownQuestion | CellOutput]:
    if "Show the answer" in text:
        page = BeautifulSoup(text, "html.parser")
        return [_asked(place) for place in page.find_all("div", attrs={"data-key": True})]
    if "replaceStill" in text:
        return [CellOutput("panel", text)]
    if text.lstrip().startswith("<details"):
        return [CellOutput("hidden", text)]
    return [
        _figure(text)
        if re.match(r'<div [^>]*class="sdpa-figure"|<div data-key', text.lstrip())
        else CellOutput("card", text)
    ]


def _figure(text: str) -> CellOutput:
    """A figure: its SVG alone, without the image that other viewers show."""
    found = re.search(r"<svg\b.*?</svg>", text, re.DOTALL)
    if found is None:
        return CellOutput("card", text)
    wide, high = (re.search(rf'\s{name}="([\d.]+)"', found[0]) for name in ("width", "height"))
    size = (round(float(one[1])) if one else 0 for one in (wide, high))
    return CellOutput("figure", found[0], 0, *size)


def _asked(place: Tag) -> ShownQuestion:
    head = _one(place, "p")
    title = _one(head, "strong").extract().get_text().rstrip(".")
    answers = [li.decode_contents() for li in _one(place, "ol").find_all("li")]
    folded = _one(place, "details")
    _one(folded, "summary").extract()
    measured = _one(folded, "p").extract()
    reasons = _one(folded, "ul").extract()
    said = list(folded.find_all("p", recursive=False))
    shown = [part for part in folded.find_all(recursive=False) if part.name != "p"]
    return ShownQuestion(
        title,
        head.decode_contents().strip(),
        tuple(_answer(text, li) for text, li in zip(answers, reasons.find_all("li"), strict=True)),
        measured.decode_contents(),
        "".join(map(str, said)),
        tuple(_shown(part) for part in shown),
    )


def _answer(text: str, reason: Tag) -> AnswerOption:
    right = reason.get_text().startswith("✓")
    _one(reason, "strong").extract()
    because = re.sub(r"^\s*[✓✗]\s*:?\s*", "", reason.decode_contents())
    return AnswerOption(text, because.strip(), right)


def _shown(part: Tag) -> CellOutput:
    return text_part(part.get_text()) if part.name == "pre" else _figure(str(part))


def _one(where: Tag, name: str) -> Tag:
    found = where.find(name)
    if not isinstance(found, Tag):
        raise ValueError(f"a stored question has no <{name}>: {str(where)[:200]}")
    return found
