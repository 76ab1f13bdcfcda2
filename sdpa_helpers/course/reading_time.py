"""How long a reader takes for some cells: the model behind every number of minutes that the course says of a lesson.

It's an estimate. Its figures below are what people who read aloud, type and answer take, by the review of a whole
course; no reader's clock has been read yet. Nothing else in the course turns cells into minutes.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sdpa_helpers.course.registry import find

Cell = Mapping[str, Any]

WORDS_A_MINUTE = 200
FORMULA = 15.0
"""Seconds for a displayed formula. This, and all that follow."""
LINE_OF_CODE = 6.5
"""To read it; imports are free."""
RUN = 2.0
"""To run a cell."""
PRINTED_LINE = 2.5
QUESTION = 40.0
"""To read a question, think, and answer. What is said to the answer is read on top."""
FIGURE = 30.0
PANEL = 90.0
"""To drag, and to see what happens."""
CHEAT_CARD = 60.0
OWN_CODE, OWN_LINE = 120.0, 60.0
"""To write an answer where its text stands: to begin and to check, and for each line of the right answer."""

_LINK = re.compile(r"\]\([^)]*\)")
_FORMULA = re.compile(r"\$\$.*?\$\$", re.DOTALL)
_CHECKED = re.compile(r"^check\((\w+)\)", re.MULTILINE)
_IMPORT = re.compile(r"\s*(import|from)\b")
_ASKED = re.compile(r"<div data-key=.*?(?=<div data-key=|\Z)", re.DOTALL)
_REASON = re.compile(r"<li>[✓✗].*?</li>", re.DOTALL)
_AFTER = re.compile(r"</ul>(<p>.*)", re.DOTALL)
_LEFT_OUT = re.compile(r"<(svg|style|script|table|pre)\b.*?</\1>", re.DOTALL)
_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_PRINTED = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
_MARK = re.compile(r"<[^>]+>")


def minutes_of(cells: Sequence[Cell]) -> float:
    """How long some cells take to read, to answer and to write."""
    return sum(_seconds(cell) for cell in cells) / 60


def words_of(cells: Sequence[Cell]) -> int:
    """How many words their texts have; those of displayed formulas don't count."""
    return sum(_words(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def lines_of(cells: Sequence[Cell]) -> int:
    """How many lines of code there are to read: neither empty ones nor imports."""
    return sum(len(_lines(cell["source"])) for cell in cells if cell["cell_type"] == "code")


def checked_in(cell: Cell) -> tuple[str, ...]:
    """The exercises whose answer is to be written in a cell, and counts."""
    return tuple(_CHECKED.findall(cell["source"])) if cell["cell_type"] == "code" else ()


def _seconds(cell: Cell) -> float:
    if cell["cell_type"] == "markdown":
        return _reading(_words(cell["source"])) + FORMULA * len(_FORMULA.findall(cell["source"]))
    if cell["cell_type"] != "code":
        return 0.0
    own = sum(_writing(name, cell["source"]) for name in checked_in(cell))
    shown = sum(map(_looking, cell.get("outputs", ())))
    return own + LINE_OF_CODE * len(_lines(cell["source"])) + RUN + shown


def _words(text: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in _LINK.sub("]", _FORMULA.sub(" ", text)).split())


def _reading(words: int) -> float:
    return 60 * words / WORDS_A_MINUTE


def _lines(source: str) -> list[str]:
    return [line for line in source.splitlines() if line.strip() and not _IMPORT.match(line)]


def _writing(exercise: str, cell: str) -> float:
    """Lines that stand there already are given. Never more than the exercise itself takes, prompt and all."""
    asked = find(exercise)
    given = dict(_bodies(cell)).get(exercise, 1) - 1  # all but `return NotImplemented`
    ((_, whole),) = _bodies(textwrap.dedent(inspect.getsource(asked.reference)))
    return min(60 * asked.minutes, OWN_CODE + OWN_LINE * max(whole - given, 1))


def _bodies(source: str) -> Iterator[tuple[str, int]]:
    """The functions of some code, each with the lines of its body, however it is laid out."""
    for written in ast.parse(source).body:
        if isinstance(written, ast.FunctionDef):
            body = written.body[1:] if ast.get_docstring(written) else written.body
            yield written.name, sum(len(ast.unparse(statement).splitlines()) for statement in body)


def _looking(output: Mapping[str, Any]) -> float:
    """At one output of a cell."""
    data = output.get("data", {})
    page, text = _whole(data.get("text/html", "")), _whole(data.get("text/plain", output.get("text", "")))
    if asked := [part for part in _ASKED.findall(page) if "Show the answer" in part]:
        return sum(map(_answering, asked))
    if "replaceStill" in page or "sdpaPanels" in page:
        return PANEL
    if "sdpa-cheat" in page:
        return CHEAT_CARD
    if 'class="sdpa-figure"' in page:
        return FIGURE
    return PRINTED_LINE * len(text.strip().splitlines())


def _answering(page: str) -> float:
    """A question, and what is said then: on one's own answer, on the right one, and below with its figures."""
    reasons = [_of_page(reason) for reason in _REASON.findall(page)]
    two_of_them = 2 * sum(reasons) / max(len(reasons), 2)
    after = sum(_paragraphs(page))
    figures = page.count('class="sdpa-figure"') * FIGURE
    printed = sum(len(part.splitlines()) for part in _PRINTED.findall(page)) * PRINTED_LINE
    return QUESTION + _reading(round(two_of_them + after)) + figures + printed


def _paragraphs(page: str) -> Iterator[int]:
    for after in _AFTER.findall(_LEFT_OUT.sub("", page)):
        yield from map(_of_page, _PARAGRAPH.findall(after))


def _of_page(inside: str) -> int:
    return len(_MARK.sub(" ", inside).split())


def _whole(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
