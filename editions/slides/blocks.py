"""Blocks of a slide with the height that they need, and the slides that they fill.

A slide is 1280 by 720. The heights are estimates, a little generous; a test opens every slide in a browser.
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from bs4 import BeautifulSoup

from editions.slides.formulas import Drawn, Formula, formulas_in
from editions.slides.outputs import Part
from editions.slides.text import Chunk, html_of, words

ROOM = 596
"""For a slide's blocks, below its heading."""

LETTERS = 80
"""In a line of text."""

LINE = 40
GAP = 18
CODE_WIDTH = 1160
SMALLEST, LARGEST = 18.0, 26.0
"""Letters of code, in pixels."""


class Block(NamedTuple):
    """One thing on a slide."""

    html: str
    height: int
    """In pixels; what grows has the least that it needs."""
    leads: bool = False
    """Whether it belongs to the block after it, as a sentence with a colon does."""


def letters_of(text: str) -> int:
    """About how many letters wide a text is, with formulas about half of their TeX."""
    total = len(re.sub(r"\]\([^)]*\)|[*`]", "", text))
    return total - sum(math.ceil(len(one.tex) * 0.6) for one in formulas_in(text))


def lines_of(text: str, letters: int = LETTERS) -> int:
    """How many lines a paragraph takes."""
    return max(1, math.ceil(letters_of(text) / letters))


def text_block(text: str, drawn: Drawn) -> Block:
    """A paragraph."""
    return Block(html_of(text, drawn), lines_of(text) * LINE + GAP, text.rstrip().endswith(":"))


def formula_block(text: str, drawn: Drawn) -> Block:
    """A formula in a line of its own."""
    tall = sum(_ex(drawn[one]) for one in formulas_in(text) if one.display)
    return Block(f'<div class="formula">{html_of(text, drawn)}</div>', round(tall * 17) + 30)


def _ex(picture: str) -> float:
    found = re.search(r'\bheight="([\d.]+)ex"', picture)
    return float(found[1]) if found else 4.0


def list_blocks(text: str, drawn: Drawn) -> list[Block]:
    """A list, an item a block: it may go on on the next slide."""
    items = re.split(r"\n(?=(?:[-*] |\d+\. ))", text)
    return [Block(html_of(item, drawn), lines_of(item, LETTERS - 4) * LINE + 10) for item in items]


def quote_block(text: str, drawn: Drawn) -> Block:
    """A sentence of an article."""
    return Block(html_of(text, drawn), lines_of(text, 66) * 44 + 50)


def table_blocks(text: str, drawn: Drawn) -> list[Block]:
    """A table, cut where it is longer than a slide; its head stands on each piece."""
    rows = text.split("\n")
    head, body = rows[:2], rows[2:]
    widths = _widths(rows)
    heights = [max(map(_cell_lines, _cells(row), widths)) * 34 + 18 for row in body]
    pieces: list[list[str]] = [[]]
    room = 0
    for row, height in zip(body, heights, strict=True):
        if pieces[-1] and room + height > ROOM - 130:
            pieces.append([])
            room = 0
        pieces[-1].append(row)
        room += height
    each = len(body) and sum(heights) / len(body)
    return [
        Block(
            f'<div class="rows">{html_of(chr(10).join(head + piece), drawn)}</div>',
            round(len(piece) * each) + 60,
        )
        for piece in pieces
    ]


def _cells(row: str) -> list[str]:
    return re.split(r"(?<!\\)\|", row.strip().strip("|"))


def _widths(rows: list[str]) -> list[float]:
    """How many letters fit into each column: the browser gives long columns more."""
    longest = [
        max(map(letters_of, column)) for column in zip(*map(_cells, rows[:1] + rows[2:]), strict=False)
    ]
    total = sum(longest) or 1
    return [max(8.0, 84 * one / max(total, 84)) if total > 84 else float(one) + 1 for one in longest]


def _cell_lines(cell: str, width: float) -> int:
    return max(1, math.ceil(letters_of(cell.strip()) / width))


def code_block(html: str, source: str, most: float = LARGEST) -> Block:
    """Lines of code, as large as they fit."""
    lines = source.split("\n")
    return mono_block("code", html, len(lines), max(map(len, lines)), most)


def output_block(part: Part, most: float = LARGEST) -> Block:
    """What a cell printed."""
    return mono_block("out", part.html, part.lines, part.wide, most)


def size_of_both(lines: int, part: Part) -> float:
    """The size of letters with which code and what it printed fit on one slide."""
    return (ROOM - 90) / ((lines + part.lines) * 1.36)


def mono_block(name: str, html: str, lines: int, wide: int, most: float) -> Block:
    """Text in letters of one width."""
    size = min(most, CODE_WIDTH / (max(wide, 1) * 0.605), (ROOM - 40) / (lines * 1.36))
    size = max(SMALLEST, math.floor(size * 2) / 2)
    return Block(
        f'<pre class="{name}" style="font-size:{size:g}px">{html}</pre>', math.ceil(lines * size * 1.36) + 42
    )


def grown(name: str, html: str, least: int) -> Block:
    """What takes all room that is left: a figure, a panel, a card."""
    return Block(f'<div class="grows {name}">{html}</div>', least)


TABLE_ROWS = 4
"""Of a table of sentences: so many stand on a slide."""


def table_parts(part: Part) -> list[Block]:
    """A lesson's own table of sentences, a few rows a slide."""
    page = BeautifulSoup(part.html, "html.parser")
    head = page.find("thead")
    rows = [str(row) for body in page.find_all("tbody") for row in body.find_all("tr")]
    pieces = [rows[at : at + TABLE_ROWS] for at in range(0, len(rows), TABLE_ROWS)]
    return [
        Block(
            f'<div class="rows tight"><table>{head or ""}<tbody>{"".join(piece)}</tbody></table></div>',
            ROOM - 180,
        )
        for piece in pieces
    ]


def part_block(part: Part) -> Block:
    """An output of a cell."""
    if part.kind == "text":
        return output_block(part)
    least = {"figure": 340, "panel": 560, "card": 200}[part.kind]
    return grown(part.kind, part.html, least)


def filled(blocks: Iterable[Block], room: int = ROOM) -> list[list[Block]]:
    """The blocks, cut into slides that have room for them; what leads to a block stays with it."""
    pages: list[list[Block]] = [[]]
    for run in _runs(list(blocks)):
        used, more = (sum(block.height for block in some) for some in (pages[-1], run))
        if pages[-1] and used + more > room:
            pages.append([])
        pages[-1] += run
    return pages


def _runs(blocks: list[Block]) -> list[list[Block]]:
    runs: list[list[Block]] = []
    open_run = False
    for block in blocks:
        if open_run:
            runs[-1].append(block)
        else:
            runs.append([block])
        open_run = block.leads
    return runs


def chunk_blocks(chunk: Chunk, drawn: Drawn) -> list[Block]:
    """The blocks of a part of a text."""
    if chunk.kind == "formula":
        return [formula_block(chunk.text, drawn)]
    if chunk.kind == "list":
        return list_blocks(chunk.text, drawn)
    if chunk.kind == "table":
        return table_blocks(chunk.text, drawn)
    if chunk.kind == "quote":
        return [quote_block(chunk.text, drawn)]
    if chunk.kind == "answer":
        inside = html_of(chunk.text, drawn)
        height = lines_of(chunk.text, LETTERS - 4) * LINE + 30
        return [Block(f'<div class="answer fragment">{inside}</div>', height)]
    return [text_block(chunk.text, drawn)]


def all_formulas(texts: Iterable[str]) -> list[Formula]:
    """The formulas of some texts."""
    return [one for text in texts for one in formulas_in(text)]


def total_words(chunks: Iterable[Chunk]) -> int:
    """How many words some parts of a text have."""
    return sum(words(chunk.text) for chunk in chunks)
