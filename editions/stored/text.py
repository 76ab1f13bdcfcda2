"""Markdown and Python as HTML, with formulas as pictures."""

import re
from collections.abc import Iterable

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from editions.stored.formulas import Drawn, Formula, formulas_in, put_back, take_out

_MARKDOWN = mistune.create_markdown(escape=False, plugins=["table", "strikethrough"])
_TO_A_FILE = re.compile(r'<a href="(?!https?:|#)[^"]*">(.*?)</a>', re.DOTALL)


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


def all_formulas(texts: Iterable[str]) -> list[Formula]:
    """The formulas of some texts."""
    return [one for text in texts for one in formulas_in(text)]
