"""How an answer is found in a notebook: by the line `# exercise: NAME` near the top of its cell."""

import ast
import re

ANSWER_LINE = re.compile(r"^[ \t]*#[ \t]*exercise:[ \t]*([A-Za-z_]\w*)[ \t]*$", re.MULTILINE)
MAX_ANSWER_CHARACTERS = 50_000
"""Longer cells are not read."""


def answered_in(source: str) -> list[str]:
    """The exercises that a cell says it answers; the line may stand among its first five."""
    return ANSWER_LINE.findall("\n".join(source.split("\n", 5)[:5]))


def is_untouched(source: str) -> bool:
    """Whether a cell is a stub, also that of an older edition: one function that only returns NotImplemented."""
    if "NotImplemented" not in source or len(source) > MAX_ANSWER_CHARACTERS:
        return False
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        return False
    last = body[0].body[-1]
    doc = 1 if ast.get_docstring(body[0]) is not None else 0
    return len(body[0].body) == doc + 1 and ast.unparse(last) == "return NotImplemented"
