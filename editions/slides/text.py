"""A lesson's Markdown as HTML, and the blocks that it is made of."""

import re
from typing import NamedTuple

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from editions.slides.formulas import Drawn, put_back, take_out

_MARKDOWN = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])
_DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
_TO_A_FILE = re.compile(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?:])(?P<bold>\*\*)?\s+(?=[\"“(*`$A-Z\d])")


class Chunk(NamedTuple):
    """A block of a text."""

    kind: str
    """heading, formula, table, list, quote, answer, hidden, or text."""
    text: str
    """Its Markdown; of an answer or a hidden part: what is inside."""
    title: str = ""
    """Of a hidden part: its line that is seen."""


def html_of(text: str, drawn: Drawn) -> str:
    """Markdown with formulas as HTML."""
    held, formulas = take_out(text)
    return put_back(str(_MARKDOWN(held)), formulas, drawn)


def without_files(page: str) -> str:
    """HTML whose links to other notebooks are their words alone: where the page goes, those are not."""
    return _TO_A_FILE.sub(r"\1", page)


def code_html(source: str) -> str:
    """Python as HTML with the classes of Pygments."""
    return highlight(source.rstrip(), PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")


def chunks_of(text: str) -> list[Chunk]:
    """The blocks of a text in Markdown, in their order."""
    chunks: list[Chunk] = []
    end = 0
    for found in _DETAILS.finditer(text):
        chunks += _plain(text[end : found.start()])
        kind = "answer" if found[1] == "Answer" else "hidden"
        chunks.append(Chunk(kind, found[2].strip(), found[1]))
        end = found.end()
    return chunks + _plain(text[end:])


def _plain(text: str) -> list[Chunk]:
    # A display formula is a block of its own, also where no empty line says so.
    apart = re.sub(r"\s*(?<!`)(\$\$.+?\$\$)([.,]?)\s*", r"\n\n\1\2\n\n", text, flags=re.DOTALL)
    parts = [part.strip() for part in re.split(r"\n\s*\n", apart) if part.strip()]
    chunks: list[Chunk] = []
    for part in parts:
        for one in _at_its_list(part):
            kind = _kind(one)
            if kind == "list" and chunks and chunks[-1].kind == "list":
                chunks[-1] = Chunk("list", f"{chunks[-1].text}\n{one}")
            elif kind == "quote" and chunks and chunks[-1].kind == "quote":
                chunks[-1] = Chunk("quote", f"{chunks[-1].text}\n>\n{one}")
            else:
                chunks.append(Chunk(kind, one))
    return chunks


def _at_its_list(part: str) -> list[str]:
    """A heading and a list may stand in one block with the lines around them."""
    if part.startswith("#") and "\n" in part:
        head, rest = part.split("\n", 1)
        return [head, *_at_its_list(rest.strip())]
    found = re.search(r"\n(?=(?:- |\d\. |\|))", part)
    if found and _kind(part) == "text":
        return [part[: found.start()], part[found.end() :]]
    return [part]


def _kind(part: str) -> str:
    starts = {"#": "heading", "$$": "formula", "|": "table", "- ": "list", "> ": "quote"}
    for start, kind in starts.items():
        if part.startswith(start):
            return kind
    return "list" if re.match(r"\d+\. ", part) else "text"


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    held, formulas = take_out(" ".join(text.split()))
    parts = re.split("\x03", _SENTENCE.sub(lambda found: f"{found['bold'] or ''}\x03", held))
    return [_with_tex(part, formulas) for part in parts]


def _with_tex(text: str, formulas: list) -> str:
    return re.sub("\x02(\\d+)\x02", lambda found: f"${formulas[int(found[1])].tex}$", text)


def short(text: str, leads_on: bool) -> str:
    """What of a paragraph stands on a slide: its bold beginning, and the sentence that says what is shown."""
    said = sentences(text)
    if len(said) == 1:
        return text
    bold = said[0].startswith("**")
    last = said[-1]
    if leads_on:
        return f"{said[0]} {last}" if bold else last
    return f"{said[0]} {said[1]}" if bold and len(said[0].split()) < 9 else said[0]


def words(text: str) -> int:
    """How many words a text has; a formula is one."""
    held, _ = take_out(re.sub(r"\]\([^)]*\)", "]", text))
    return sum(bool(re.search(r"[\w\x02]", word)) for word in held.split())
