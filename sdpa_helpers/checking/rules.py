"""What an answer may use, in words, and what reading an answer tells of it.

An answer may use what is there when it is graded: NumPy, the standard library, and what its exercise allows of the
course. All else is not there (`not_there.py`), so running it decides. Reading gives it a name, for the verdict's
sentence, and finds what NumPy itself has ready, where that would be the answer; a person looks at that.
"""

import ast
import re
from collections.abc import Iterable, Iterator

import numpy as np

from sdpa_helpers.checking.exercise import COURSE_SOFTMAX, Exercise
from sdpa_helpers.checking.magics import parse
from sdpa_helpers.checking.not_there import IN_EVERY_NOTEBOOK, is_there


def ready_in(exercise: Exercise, source: str) -> tuple[str, ...]:
    """What an answer uses of that which NumPy has ready for its exercise, e.g. ("numpy.tri",)."""
    return tuple(sorted({name for name in _used_in(source, ()) if name in exercise.ready}))


def not_there_in(source: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """What an answer and the other cells of its notebook use and a graded notebook doesn't have, sorted.

    Dotted names, e.g. "torch.softmax". Imports and annotations use nothing, nor does `isinstance`.
    """
    cells = [source, *others]
    used = {name for cell in cells for name in _used_in(cell, cells)}
    return tuple(sorted(name for name in used if not is_there(name) and name not in IN_EVERY_NOTEBOOK))


def not_allowed(right: int, cases: int, names: Iterable[str]) -> str:
    """The verdict on an answer that ran into what is not there, the same sentence wherever it is said."""
    *first, last = [f"`{name}`" if re.fullmatch(r"[\w.]+", name) else name for name in names]
    those = f"{', '.join(first)} and {last} aren't" if first else f"{last} isn't"
    counted = f"{right} of {cases} {'case' if cases == 1 else 'cases'} right, " if right else ""
    return f"{counted}0 points: {those} there when it's graded: write it in NumPy"


def in_words(exercise: Exercise) -> str:
    """What an answer to the exercise may use, and what it should do without: the line that closes its prompt."""
    if exercise.is_made:  # e.g. lines of a derivation
        return "Nothing but NumPy is there when it's graded."
    softmax = f" and `{COURSE_SOFTMAX}`" if COURSE_SOFTMAX in exercise.allows else ""
    line = f"Write it in NumPy{softmax}; nothing else is there when it's graded."
    *first, last = [f"`np.{name.removeprefix('numpy.')}`" for name in exercise.ready] or [""]
    ready = f"{', '.join(first)} and {last}" if first else last
    return f"{line} {ready} would be the answer: do without." if ready else line


# ---- reading ----------------------------------------------------------------------------------------------


def _used_in(source: str, cells: Iterable[str]) -> set[str]:
    """The dotted names that code uses, of what is imported in it, or else in these cells; () where it can't be read."""
    try:
        nodes = list(ast.walk(parse(source)))
        names = {"np": "numpy"}
        for cell in (*cells, source):
            names |= dict(_imported(ast.walk(parse(cell))))
    except (RecursionError, MemoryError):
        return set()
    for node in sorted((n for n in nodes if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
        dotted = _dotted(node.value, names)  # t = torch
        names |= {target.id: dotted for target in node.targets if isinstance(target, ast.Name) and dotted}
    passed = {id(inner) for node in nodes for kind in _kinds(node) for inner in ast.walk(kind)}
    found: set[str] = set()
    for node in nodes:  # what is further out comes first
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in passed:
            passed |= {id(inner) for inner in _chain(node)}
            found.add(_dotted(node, names) if isinstance(node.ctx, ast.Load) else "")
    return found - {""}


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Names, and what they were imported as. Of what a star gives, only what NumPy has is known."""
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (root, root)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                stars = np.__all__ if alias.name == "*" and node.module == "numpy" else ()
                yield from ((name, f"numpy.{name}") for name in stars)
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _chain(node: ast.AST) -> Iterator[ast.AST]:
    """`a.b.c`, `a.b` and `a`."""
    yield node
    while isinstance(node, ast.Attribute):
        node = node.value
        yield node


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    """The full name of `a.b.c`, where `a` was imported; else ""."""
    *attributes, root = _chain(node)
    known = names.get(root.id, "") if isinstance(root, ast.Name) else ""
    parts = [part.attr for part in reversed(attributes) if isinstance(part, ast.Attribute)]
    return ".".join([known, *parts]) if known else ""


def _kinds(node: ast.AST) -> list[ast.expr]:
    """Where a node names types and does nothing with them: annotations, and what `isinstance` compares with."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return [kinds]
        case ast.arg(annotation=ast.expr() as kind) | ast.AnnAssign(annotation=kind):
            return [kind]
        case ast.FunctionDef(returns=ast.expr() as kind) | ast.AsyncFunctionDef(returns=ast.expr() as kind):
            return [kind]
    return []
