"""How an answer is found in a notebook: by the line `# exercise: NAME` near the top of its cell.

A cell with the line holds an answer when it defines the function, or when it is no Python: then it was to be one. One
with the line over something else, a test say, is a cell like any other.
"""

import ast
import hashlib
import re

from sdpa_helpers.checking.code.own_definitions import bound_in

ANSWER_LINE = re.compile(r"^[ \t]*#[ \t]*exercise:[ \t]*([A-Za-z_]\w*)[ \t]*$", re.MULTILINE)
MAX_ANSWER_CHARACTERS = 50_000
"""Longer cells are not read."""


def answered_in(source: str) -> list[str]:
    """The exercises that a cell says it answers; the line may stand among its first five."""
    return ANSWER_LINE.findall("\n".join(source.split("\n", 5)[:5]))


def answers_in(source: str) -> list[str]:
    """Those of the exercises in its line that a cell defines; all where that cannot be told."""
    named = answered_in(source)
    if not named or len(source) > MAX_ANSWER_CHARACTERS:
        return named
    bound = bound_in(source)
    return named if bound is None else [name for name in named if name in bound]


def defines(source: str, name: str) -> bool:
    """Whether a cell defines the function, with a line or without; one that is no Python is compared as text."""
    if name not in source or len(source) > MAX_ANSWER_CHARACTERS:
        return False
    bound = bound_in(source, imports=False)
    return f"def {name}" in source if bound is None else name in bound


STARTER = "sdpa_starter"
"""In the metadata of an answer cell that begins with more than a stub: the digest of what it begins with."""


def digest_of(source: str) -> str:
    """The same for the same cell, apart from the space around it."""
    return hashlib.sha256(source.strip().encode("utf-8", "replace")).hexdigest()[:16]


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
