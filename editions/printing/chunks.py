"""The blocks that a lesson's text is made of: who reads on paper finds the folded ones at the end."""

import re
from typing import NamedTuple

_DETAILS = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)


class Chunk(NamedTuple):
    """A block of a text."""

    kind: str
    """heading, formula, table, list, quote, answer, hidden, or text."""
    text: str
    """Its Markdown; of an answer or a hidden part: what is inside."""
    title: str = ""
    """Of a hidden part: its line that is seen."""


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
