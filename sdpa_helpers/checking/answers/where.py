"""Where an error was raised in a learner's code, and on what: the line, the expression, the shapes in it.

Runs next to untrusted code, in the kernel of a submission too, so it needs NumPy alone. It evaluates nothing but names.
"""

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

MOST_NAMES = 4


@dataclass(frozen=True)
class Place:
    """Where it happened."""

    line: str = ""
    """e.g. "line 3: return Q @ K.T"."""
    operands: str = ""
    """What stood in the expression, e.g. "`Q` has shape (2, 3, 4) and `K.T` (4, 5, 2)"."""


def place_of(error: BaseException, function: Any) -> Place:
    """The deepest line of the learner's own file in the traceback, and what it worked on."""
    home = getattr(getattr(function, "__code__", None), "co_filename", None)
    found, step = None, error.__traceback__
    while step is not None:
        if home is not None and step.tb_frame.f_code.co_filename == home:
            found = step
        step = step.tb_next
    if found is None:
        return Place()
    source = linecache.getline(str(home), found.tb_lineno).strip()
    line = f"line {found.tb_lineno}: {source}" if source else f"line {found.tb_lineno}"
    try:
        return Place(line, _operands(found, str(home)))
    except Exception:  # hostile names and shapes: the line alone will do
        return Place(line)


def _operands(step: TracebackType, home: str) -> str:
    tree = _expression(step, home)
    shown: list[str] = []
    for text, array in _arrays(tree, step.tb_frame.f_locals):
        piece = f"`{text}` has shape {array.shape}"
        if piece not in shown:
            shown.append(piece)
    if not shown:
        return ""
    told = ", ".join(shown[:MOST_NAMES])
    return told + _advice(tree, step.tb_frame.f_locals)


def _expression(step: TracebackType, home: str) -> ast.AST:
    """The expression that was being computed, or else the whole line."""
    positions = list(step.tb_frame.f_code.co_positions())[step.tb_lasti // 2]
    first, last, start, end = positions
    line = linecache.getline(home, step.tb_lineno)
    if first is not None and first == last == step.tb_lineno and start is not None and end is not None:
        text = line.encode()[start:end].decode()
    else:
        text = line.strip()
    for candidate in (text, text.removeprefix("return ").strip(), text.rstrip(":") + ": pass"):
        try:
            return ast.parse(candidate.strip()[:2000])
        except SyntaxError:
            continue
    return ast.Module([], [])


def _arrays(tree: ast.AST, names: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays that an expression names, in its order; `K.T` counts as one."""
    inner = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _transposed(node)
    }
    for node in ast.walk(tree):
        if name := _transposed(node):
            value = names.get(name)
            if type(value) is np.ndarray:
                yield f"{name}.T", value.T
        elif isinstance(node, ast.Name) and id(node) not in inner:
            value = names.get(node.id)
            if type(value) is np.ndarray:
                yield node.id[:40], value


def _transposed(node: ast.AST) -> str:
    """The name of which a node takes `.T`, or ""."""
    if isinstance(node, ast.Attribute) and node.attr == "T" and isinstance(node.value, ast.Name):
        return node.value.id[:40]
    return ""


def _advice(tree: ast.AST, names: dict[str, Any]) -> str:
    """For `.T` on more than two axes: what swapping the last two would give."""
    for node in ast.walk(tree):
        value = names.get(name) if (name := _transposed(node)) else None
        if type(value) is np.ndarray and value.ndim > 2:
            swapped = value.swapaxes(-1, -2).shape
            return f". `.T` reverses all the axes; `np.swapaxes({name}, -1, -2)` has shape {swapped}"
    return ""
