"""Which parts of a learner's own cells count beside the answers: definitions, and nothing that computes.

Functions, classes, imports, and names for plain values: numbers, texts, lists and the like of these, arithmetic with
them, f-strings of names, lambdas, other names for what counts (`norm = np.linalg.norm`). A value that a call returns
doesn't count: what it is depends on what ran before, and to run all of a notebook's experiments again would cost more
than to grade it. Nor does a name of which the last value in these cells is such a one.

This reads the code and runs nothing. `check` and the grader both ask here, so that they agree.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sdpa_helpers.checking.code.magics import parse, without_magic_lines

GIVEN = frozenset(dir(builtins)) | {
    *("np", "display", "get_ipython"),
    *("check", "hint", "ladder", "progress", "solution"),
}
"""What every notebook has from the start."""

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINES = _FUNCTION | ast.ClassDef
_IMPORTS = ast.Import | ast.ImportFrom
_NEW_SCOPE = _DEFINES | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_PLAIN = (
    ast.Constant
    | ast.Name
    | ast.Attribute
    | ast.Lambda
    | ast.Tuple
    | ast.List
    | ast.Set
    | ast.Dict
    | ast.UnaryOp
    | ast.BinOp
    | ast.JoinedStr
    | ast.FormattedValue
    | ast.Starred
    | ast.operator
    | ast.unaryop
    | ast.expr_context
)
_WHOLE_CELL = ("%%time", "%%capture")
"""Magics for a whole cell that run it where its names stay."""

SAFELY = "with __import__('contextlib').suppress(Exception): "
"""Stands before what is short and may fail, so that the rest of the cell runs all the same."""


@dataclass(frozen=True)
class Counted:
    """What counts of one cell."""

    text: str
    """Python code; a function's lines have the numbers that they have in the cell."""
    names: frozenset[str]
    """The names that it gives."""
    stars: tuple[str, ...] = ()
    """Modules of which it imports everything."""


def bound_in(cell: str, *, imports: bool = True) -> frozenset[str] | None:
    """The names that a cell gives to something, with or without those of imports; None for one that is no Python."""
    found = _statements(cell)
    lines = () if found or _is_a_magic(cell) else without_magic_lines(cell).split("\n")
    if any(line.strip()[:1] not in ("", "#") for line in lines):
        return None
    chosen = (s for s in found if imports or not isinstance(s.node, _IMPORTS))
    return frozenset().union(*(s.binds for s in chosen))


@dataclass(frozen=True)
class _Statement:
    """One statement at the top of a cell."""

    node: ast.stmt
    binds: frozenset[str]
    needs: frozenset[str]
    """Names that must be there when it is run, not only when its functions are called."""
    counts: bool


def own_definitions(cells: Sequence[str], answered: Collection[str]) -> tuple[Counted, ...]:
    """What counts of a learner's own cells, a part for each of them; its text is "" where nothing does.

    cells: in the order in which they run. answered: the exercises that have an answer cell of their own; nothing else
    can define these, and none of them is there yet when these parts run.
    """
    read = [_statements(cell) for cell in cells]
    last: dict[str, _Statement] = {name: s for statements in read for s in statements for name in s.binds}
    kept = [s for statements in read for s in statements if s.counts and not s.binds & set(answered)]
    kept = [s for s in kept if all(last[name].counts for name in s.binds)]
    chosen = {id(s) for s in _supplied(kept)}
    pairs = zip(cells, read, strict=True)
    return tuple(_counted(cell, [s for s in statements if id(s) in chosen]) for cell, statements in pairs)


def _supplied(statements: list[_Statement]) -> list[_Statement]:
    """Those that find all names that they need when they run."""
    if any(_stars(s.node) for s in statements):
        return statements  # whatever is needed may be among what comes with a star
    givers = Counter(name for s in statements for name in s.binds)
    users: dict[str, list[_Statement]] = {}
    for statement in statements:
        for name in statement.needs:
            users.setdefault(name, []).append(statement)
    missing = [name for name in users if name not in GIVEN and not givers[name]]
    dropped: set[int] = set()
    while missing:
        for user in users.pop(missing.pop(), ()):
            if id(user) not in dropped:
                dropped.add(id(user))
                givers.subtract(user.binds)
                missing += [name for name in user.binds if name not in GIVEN and not givers[name]]
    return [s for s in statements if id(s) not in dropped]


def _counted(cell: str, statements: list[_Statement]) -> Counted:
    names = frozenset(name for s in statements for name in s.binds)
    stars = tuple(module for s in statements for module in _stars(s.node))
    try:
        return Counted(_text(cell, statements), names, stars)
    except (RecursionError, MemoryError):
        return Counted("", frozenset())


def _stars(node: ast.stmt) -> list[str]:
    is_star = isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    return [str(node.module)] if is_star and isinstance(node, ast.ImportFrom) else []


# ---- reading ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _statements(cell: str) -> tuple[_Statement, ...]:
    """The statements of a cell; none for one that does not parse, or is not Python at all."""
    if _is_a_magic(cell):
        return ()
    try:
        body = parse(cell).body
    except (RecursionError, MemoryError):
        return ()
    return tuple(_Statement(n, _binds(n), _needs(n), _is_definition(n)) for n in body)


def _is_a_magic(cell: str) -> bool:
    """Whether all of a cell is handed to a magic that keeps none of its names: `%%bash`, `%%timeit`."""
    first = cell.lstrip()
    return first.startswith("%%") and not first.startswith(_WHOLE_CELL)


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return node.value is not None and all(map(_is_name, targets)) and _is_plain(node.value)
    if isinstance(node, ast.Try):  # an import with another one for where it fails
        inner = [*node.body, *node.orelse, *node.finalbody, *(s for h in node.handlers for s in h.body)]
        return all(isinstance(s, ast.Pass) or _is_definition(s) for s in inner)
    return isinstance(node, _DEFINES | _IMPORTS)


def _is_name(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(map(_is_name, target.elts))
    return isinstance(target, ast.Name)


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression calls nothing; what a lambda does when it is called is its own affair."""
    todo: list[ast.AST] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Lambda):
            todo += [default for default in (*node.args.defaults, *node.args.kw_defaults) if default]
        elif isinstance(node, _PLAIN):
            todo += ast.iter_child_nodes(node)
        else:
            return False
    return True


def _binds(node: ast.stmt) -> frozenset[str]:
    """The names that a statement gives to something, or takes away."""
    found: set[str] = set()
    for inner in _in_scope(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        elif isinstance(inner, _DEFINES):
            found.add(inner.name)
        elif isinstance(inner, _IMPORTS):
            found |= {a.asname or a.name.split(".")[0] for a in inner.names if a.name != "*"}
        elif isinstance(inner, ast.ExceptHandler) and inner.name:
            found.add(inner.name)
    return frozenset(found)


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what stands in it, without what has names of its own."""
    todo = [node]
    while todo:
        inner = todo.pop()
        yield inner
        if not isinstance(inner, _NEW_SCOPE):
            todo += ast.iter_child_nodes(inner)


def _needs(node: ast.stmt) -> frozenset[str]:
    """The names that it reads when it is run, apart from those that it gives itself."""
    found: set[str] = set()
    todo: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while todo:
        inner, own = todo.pop()
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id not in own:
            found.add(inner.id)
        if isinstance(inner, _FUNCTION | ast.Lambda):
            todo += [(part, own) for part in _at_definition(inner)]
            continue
        if isinstance(inner, ast.ClassDef):
            todo += [(part, own) for part in (*inner.decorator_list, *inner.bases, *inner.keywords)]
            inside = own | {name for statement in inner.body for name in _binds(statement)} | {inner.name}
            todo += [(part, inside) for part in inner.body]
            continue
        if isinstance(inner, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets = (n for g in inner.generators for n in ast.walk(g.target) if isinstance(n, ast.Name))
            own = own | {n.id for n in targets}
        todo += [(part, own) for part in ast.iter_child_nodes(inner)]
    return frozenset(found - (_binds(node) if isinstance(node, ast.Try) else set()))


def _at_definition(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The parts of a function that are run where it is defined."""
    arguments = function.args
    yield from arguments.defaults
    yield from (default for default in arguments.kw_defaults if default)
    if isinstance(function, _FUNCTION):
        yield from function.decorator_list
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [a for a in (arguments.vararg, arguments.kwarg) if a]
        yield from (a.annotation for a in every if a.annotation)
        if function.returns:
            yield function.returns


# ---- writing ----------------------------------------------------------------------------------------------


def _text(cell: str, statements: list[_Statement]) -> str:
    """The statements alone, each at its line. What may fail and is short does so without ending the cell."""
    lines = without_magic_lines(cell).split("\n")
    found: dict[int, str] = {}
    at_first = True
    for statement in statements:
        node = statement.node
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        last = node.end_lineno or node.lineno
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            if at_first:
                found[first] = ast.unparse(node)
            continue
        at_first = False
        if isinstance(node, _DEFINES | ast.Try):
            found |= {n: lines[n] for n in range(first, last)}
        elif first in found:  # import this; import that
            found[first] += f"; {ast.unparse(node)}"
        else:
            found[first] = SAFELY + ast.unparse(node)
    if not found:
        return ""
    return "\n".join(found.get(n, "") for n in range(max(found) + 1))
