"""The lines of a function as blocks, which can be put in another order, and a function made of such blocks."""

import ast
import hashlib
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple


class Block(NamedTuple):
    """One statement; of one that holds others, as `for` does, its first line."""

    text: str
    """Without indentation."""
    depth: int = 0
    """How far it is indented: 0 for the statements of the function itself."""


class Parts(NamedTuple):
    """What a function is made of."""

    head: str
    """The line with `def`."""
    blocks: tuple[Block, ...]


def parts_of(function: Callable) -> Parts:
    """A function's statements in their order, without docstring and comments; raises as `parts_in`."""
    return parts_in(textwrap.dedent(inspect.getsource(function)))


def parts_in(source: str) -> Parts:
    """The same of a function's text.

    Raises:
        ValueError: a statement has an `else`, or another part that no single line begins.
    """
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    lines = source.split("\n")
    body = definition.body[1:] if ast.get_docstring(definition) else definition.body
    head = " ".join(line.strip() for line in lines[definition.lineno - 1 : definition.body[0].lineno - 1])
    return Parts(head, tuple(_blocks(body, lines, 0)))


def _blocks(statements: Iterable[ast.stmt], lines: list[str], depth: int) -> Iterable[Block]:
    for statement in statements:
        inner: list[ast.stmt] = getattr(statement, "body", [])
        last = inner[0].lineno - 1 if inner else statement.end_lineno
        text = textwrap.dedent("\n".join(lines[statement.lineno - 1 : last])).strip()
        if getattr(statement, "orelse", None) or getattr(statement, "handlers", None) or "\n" in text:
            raise ValueError(f"this is no single line: {text}")
        yield Block(text, depth)
        yield from _blocks(inner, lines, depth + 1)


def put_together(head: str, blocks: Iterable[Block]) -> str:
    """Source of a function with these blocks, whether it can run or not: the first line is `head`, then one a block."""
    return "\n".join([head, *("    " * (1 + block.depth) + block.text for block in blocks)]) + "\n"


def as_function(source: str, name: str, given: Mapping[str, Any]) -> Callable:
    """The function that a source defines; its lines are known to whoever asks where an error came from.

    Raises:
        SyntaxError: it cannot be read.
    """
    file = f"<{name}-{hashlib.sha256(source.encode()).hexdigest()[:8]}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"__name__": file, **given}
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]
