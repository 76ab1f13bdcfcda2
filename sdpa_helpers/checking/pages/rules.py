"""What an answer may use, in words, and what reading an answer tells of it.

An answer may use what is there when it is graded: NumPy, the standard library, and what its exercise allows of the
course. All else is not there (`not_there.py`), so running it decides. Reading gives it a name, for the verdict's
sentence, and finds what NumPy itself has ready, where that would be the answer; a person looks at that.
"""

import ast
import contextlib
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from sdpa_helpers.checking.answers.not_there import IN_EVERY_NOTEBOOK, is_there
from sdpa_helpers.checking.code.magics import parse
from sdpa_helpers.checking.code.own_definitions import bound_in
from sdpa_helpers.checking.exercise import COURSE_SOFTMAX, Exercise


def ready_in(exercise: Exercise, source: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """What an answer, and what it takes of other cells, uses of that which NumPy has ready for its exercise, sorted.

    Dotted names, e.g. "numpy.tri"; "numpy" alone where all of NumPy is passed on, so that what is used can't be told.
    """
    if not exercise.ready:
        return ()
    cells = _with_helpers(source, others)
    used = _used_in(cells)
    found = {name for name in exercise.ready if any(_is_of(one, name.rpartition(".")[2]) for one in used)}
    texts = {text for cell in cells for text in _read(cell).texts}
    whole = any(map(_is_all_of_numpy, used)) or any(map(_NUMPYS.fullmatch, texts))
    return tuple(sorted(found)) or (("numpy",) if whole else ())


_NUMPYS = re.compile(r"(ext://)?(np|numpy)([.:]\w*)*(?<!ndarray)")
"""A text that names something of NumPy's."""


def _texts_at_work(node: ast.AST) -> Iterator[str]:
    """The texts with which a node does something: calls a function, puts them together."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id == "print"):
        parts = node.args
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.JoinedStr):
        parts = node.values
    yield from (
        part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def _is_all_of_numpy(used: str) -> bool:
    """Whether this is NumPy or a module of it, or leads to all that one has, as `np.eye.__globals__` does."""
    root, _, rest = used.partition(".")
    found: Any = None if rest else np
    with contextlib.suppress(Exception):  # NumPy may answer anything when it is asked
        found = operator.attrgetter(rest)(np) if rest else np
    inside = re.search(r"\b__(dict|globals|getattribute|getattr|class|self|loader|spec)__", rest)
    return root == "numpy" and (isinstance(found, ModuleType) or bool(inside))


def _is_of(used: str, name: str) -> bool:
    """Whether this is NumPy's `tril`, or made by it as `tril_indices` is, in whatever module of NumPy's."""
    last = used.rpartition(".")[2]
    return used.startswith("numpy.") and (last == name or last.startswith(f"{name}_"))


def not_there_in(source: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """What an answer and the other cells of its notebook use and a graded notebook doesn't have, sorted.

    Dotted names, e.g. "torch.softmax". Imports and annotations use nothing, nor does `isinstance`.
    """
    used = _used_in([source, *others])
    return tuple(sorted(name for name in used if not is_there(name) and name not in IN_EVERY_NOTEBOOK))


def not_allowed(right: int, cases: int, names: Iterable[str], made: bool = False) -> str:
    """The verdict on an answer that ran into what is not there, the same sentence wherever it is said.

    made: whether the exercise asks for something that is found, and not for a function that computes.
    """
    *first, last = [f"`{name}`" if re.fullmatch(r"[\w.]+", name) else name for name in names]
    those = f"{', '.join(first)} and {last} aren't" if first else f"{last} isn't"
    counted = f"{right} of {cases} {'case' if cases == 1 else 'cases'} right, " if right else ""
    instead = "find it in a cell of your own, and return what you found" if made else "write it in NumPy"
    return f"{counted}0 points: {those} there when it's graded: {instead}"


def in_words(exercise: Exercise) -> str:
    """What an answer to the exercise may use, and what it should do without: the line that closes its prompt."""
    if exercise.is_made:  # e.g. lines of a derivation
        return "Nothing but NumPy is there when it's graded."
    softmax = f" and `{COURSE_SOFTMAX}`" if COURSE_SOFTMAX in exercise.allows else ""
    line = f"Write it in NumPy{softmax}; nothing else is there when it's graded."
    *first, last = [f"`np.{name.removeprefix('numpy.')}`" for name in exercise.ready] or [""]
    ready = f"{', '.join(first)} and {last}" if first else last
    them = "them" if first else "it"
    noted = f"{ready} would be the answer: do without. Using {them} costs no points, but a grader's report says so."
    return f"{line} {noted}" if ready else line


# ---- reading ----------------------------------------------------------------------------------------------


Chain = tuple[str, ...]
"""`a.b.c` as ("a", "b", "c")."""


@dataclass(frozen=True)
class _Read:
    """What the text of one cell shows, whatever stands in others."""

    imported: tuple[tuple[str, str], ...] = ()
    """(name, what it was imported as)."""
    assigned: tuple[tuple[str, Chain], ...] = ()
    """(name, what it stands for): `t = torch`, in the order of the lines."""
    used: frozenset[Chain] = frozenset()
    """Names with what is asked of them, but for types that are only named."""
    texts: frozenset[str] = frozenset()
    """Texts with which something is done."""


@lru_cache(maxsize=1024)
def _read(cell: str) -> _Read:
    """What a cell shows; nothing of one that can't be read."""
    try:
        nodes = list(ast.walk(parse(cell)))
    except (RecursionError, MemoryError):
        return _Read()
    assigns = sorted((n for n in nodes if isinstance(n, ast.Assign)), key=lambda n: n.lineno)
    assigned = ((t.id, _chain(n.value)) for n in assigns for t in n.targets if isinstance(t, ast.Name))
    passed = {id(inner) for node in nodes for kind in _kinds(node) for inner in ast.walk(kind)}
    used = set[Chain]()
    for node in nodes:  # what is further out comes first
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in passed:
            if isinstance(node.ctx, ast.Load):
                used.add(_chain(node))
            while isinstance(node, ast.Attribute):
                node = node.value
                passed.add(id(node))
    texts = frozenset(text for node in nodes for text in _texts_at_work(node))
    known = tuple((name, chain) for name, chain in assigned if chain)
    return _Read(tuple(_imported(nodes)), known, frozenset(used - {()}), texts)


def _used_in(cells: Iterable[str]) -> set[str]:
    """The dotted names that cells use, of what is imported in one of them."""
    read = [_read(cell) for cell in cells]
    imported = {"np": "numpy"} | {name: dotted for one in read for name, dotted in one.imported}
    found = set[str]()
    for one in read:
        names = dict(imported) if one.assigned else imported
        for name, chain in one.assigned:
            if dotted := _dotted(chain, names):
                names[name] = dotted
        found |= {_dotted(chain, names) for chain in one.used}
    return found - {""}


def _with_helpers(source: str, others: Iterable[str]) -> list[str]:
    """A cell and those of the others that give names which it takes, from one to the next."""
    givers: dict[str, list[str]] = {}
    for other in dict.fromkeys(others):
        for name in bound_in(other) or ():
            givers.setdefault(name, []).append(other)
    found = [source]
    for cell in found:  # grows meanwhile
        for root in {chain[0] for chain in _read(cell).used}:
            found += givers.pop(root, ())
    return list(dict.fromkeys(found))


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


def _chain(node: ast.AST) -> Chain:
    """`a.b.c`; () for what does not begin with a name."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else ()


def _dotted(chain: Chain, names: Mapping[str, str]) -> str:
    """The full name of `a.b.c`, where `a` was imported; else ""."""
    known = names.get(chain[0], "")
    return ".".join([known, *chain[1:]]) if known else ""


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
