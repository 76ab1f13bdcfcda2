"""The shape of a piece of code: its tokens without comments, docstrings and the names that its author chose.

Two answers with the same shape are the same but for names. A shape is text: tokens with one space between them.
"""

import builtins
import hashlib
import inspect
import io
import keyword
import textwrap
import tokenize
from collections.abc import Callable
from typing import Any

MAX_TOKENS = 3000
"""So many of a longer text are kept."""

LONGEST_TOKEN = 40
"""Characters of one; a longer one is cut, with a digest of the whole."""

_KEPT_NAMES = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"np", "numpy", "torch", "math"}
_DROPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_LAYOUT = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def shape_of(source: str) -> str:
    """The shape of some code; "" for what does not read as Python."""
    found: list[str] = []
    alone = True  # at the beginning of a statement: a string there is a docstring
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in _DROPPED or (token.type == tokenize.STRING and alone):
                continue
            if token.type == tokenize.NAME:
                after_dot = bool(found) and found[-1] == "."
                found.append(_short(token.string) if after_dot or token.string in _KEPT_NAMES else "name")
            elif token.type in _LAYOUT:
                found.append(tokenize.tok_name[token.type])
            else:
                found.append(_short(token.string))
            alone = token.type in _LAYOUT
    except (tokenize.TokenError, SyntaxError, ValueError):
        return ""
    return " ".join(found[:MAX_TOKENS])


def _short(token: str) -> str:
    """A token without spaces, at most as long as one may be; different ones stay different."""
    plain = "".join(token.split())
    if plain == token and len(token) <= LONGEST_TOKEN:
        return token
    digest = hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{plain[: LONGEST_TOKEN - 9]}#{digest}"


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function; "" where none can be read."""
    try:
        return textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return ""
