"""Cells as Python: the lines that only IPython understands are replaced, one by one."""

import ast
import re
from functools import lru_cache

_ASSIGNED = re.compile(r"([^=!%?#'\"()]{1,200})=[ \t]*([%!])(.*)")
"""`x = %time f()` and `files = !ls`."""

_TIMED = re.compile(r"^([ \t]{0,200})%time(?:it)?(?:[ \t]+-[a-z]+[ \t]?[0-9]{0,9}(?=[ \t])){0,9}[ \t]+")

_HELP = re.compile(r"\?{1,2}[%\w.*]+|[%\w.*]+\?{1,2}")
_ESCAPES = ("%", "!", "?", ",", ";", "/")


@lru_cache(maxsize=512)
def parse(source: str) -> ast.Module:
    """The tree of a cell; empty for code that does not parse. RecursionError or MemoryError where it nests too deep."""
    for plain in (str, with_calls_for_magics, without_magic_lines):
        try:
            return ast.parse(plain(source))
        except (SyntaxError, ValueError):
            continue
    return ast.Module([], [])


def without_magic_lines(source: str) -> str:
    """The cell without the lines that begin with % or !; the others keep their numbers."""
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in _lines(source))


def with_calls_for_magics(source: str) -> str:
    """The cell with a call of get_ipython() for each of IPython's lines, much as IPython does it.

    Who asks for help, as in `np.sum?`, calls nothing.
    Line by line, so that the time grows with the length only: IPython's own way reads all again for each.
    """
    return "\n".join(map(_as_call, _lines(source)))


def _lines(source: str) -> list[str]:
    """A cell's lines, without the `%%…` of a magic for all of it."""
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        lines[first] = ""
    return lines


def _as_call(line: str) -> str:
    line = _TIMED.sub(r"\1", line)
    plain = line.strip(" \t")
    if not plain or not set(plain) & set("%!?,;/"):
        return line
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    if _HELP.fullmatch(plain):
        return f"{indent}pass"
    if plain.startswith(_ESCAPES):
        return f"{indent}get_ipython().run_line_magic({plain!r})"
    if match := _ASSIGNED.fullmatch(plain):
        target, sign, rest = match.groups()
        if sign == "%" and (timed := _TIMED.sub("", f"%{rest}")) != f"%{rest}":
            return f"{indent}{target}= {timed}"
        how = "run_line_magic" if sign == "%" else "getoutput"
        return f"{indent}{target}= get_ipython().{how}({rest!r})"
    return line
