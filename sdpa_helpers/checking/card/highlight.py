"""Python source as HTML with a class for each kind of word; `card_style` has the colours.

Python's own tokenizer reads it, so nothing has to be installed, and it looks the same wherever a card is made.
"""

import builtins
import html
import io
import keyword
import tokenize
from collections.abc import Iterator

_STRINGS = {"STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END"}
_KINDS = {"COMMENT": "c", "NUMBER": "n"}


def code_html(source: str) -> str:
    """Source text as a `<pre>`: keywords, strings, comments, numbers, names of functions have their classes.

    Text that is not Python comes out as it is.
    """
    return f"<pre class='code' tabindex='0'><code>{words_html(source)}</code></pre>"


def words_html(source: str) -> str:
    """The same without the `<pre>`: for a line among others."""
    try:
        return "".join(_pieces(source))
    except (tokenize.TokenError, SyntaxError):
        return html.escape(source)


def _pieces(source: str) -> Iterator[str]:
    lines = source.splitlines(keepends=True)
    row, column, before = 1, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.NL):
            continue  # only space, which comes with what is between two words
        yield html.escape(_between(lines, (row, column), token.start))
        text = _between(lines, token.start, token.end)
        kind = _kind(token, before)
        yield f"<span class='{kind}'>{html.escape(text)}</span>" if kind else html.escape(text)
        (row, column), before = token.end, token.string


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """What stands between two places, each a line (from 1) and a column."""
    taken = lines[start[0] - 1 : end[0]]
    if not taken:
        return ""
    if len(lines) >= end[0]:
        taken[-1] = taken[-1][: end[1]]
    taken[0] = taken[0][start[1] :]
    return "".join(taken)


def _kind(token: tokenize.TokenInfo, before: str) -> str:
    """The class of a word: "k" keyword, "d" a name that is defined, "b" built in, "s", "c", "n"; "" without one."""
    name = tokenize.tok_name[token.type]
    if name in _STRINGS:
        return "s"
    if name != "NAME":
        return _KINDS.get(name, "")
    if keyword.iskeyword(token.string):
        return "k"
    if before in ("def", "class"):
        return "d"
    return "b" if before != "." and hasattr(builtins, token.string) else ""
