"""Which statements of a cell a function needs: what it names, what that names, and what changes any of it.

An answer cell also holds tests and leftovers. What only these use is no part of the answer. Where it cannot be told
whether a statement acts on what the answer uses, it does.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sdpa_helpers.checking.bindings import text_of

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_ACTS = ("exec", "eval", "compile", "setattr", "delattr", "globals", "vars", "locals", "__import__")
_ACTS += ("patch", "get_ipython", "__dict__", "modules")
"""A statement with one of these names, or attributes, may act on anything."""


@dataclass(frozen=True, eq=False)
class Part:
    """One statement at the top level of a cell."""

    node: ast.stmt
    binds: frozenset[str]
    """Names of the notebook that it gives a meaning."""
    loads: frozenset[str]
    """Names of the notebook that it uses, at once or in its functions."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A cell, taken apart."""

    parts: tuple[Part, ...]
    local: frozenset[int]
    """The ids of its nodes which are names that belong to a function."""
    bound: frozenset[str]
    """Names that it binds outside of functions, its imports apart."""

    def binding(self, name: str) -> list[Part]:
        """The statements that give a name its meaning."""
        return [part for part in self.parts if name in part.binds]

    def acting_on(self, reached: list[Part]) -> list[Part]:
        """Of the others, those that may change what is in use, themselves or by what others of them define."""
        passed = set(map(id, reached))
        rest = [part for part in self.parts if id(part) not in passed]
        data, functions = _data_and_functions(reached)
        made = frozenset(name for part in reached if _makes(part.node) for name in part.binds)
        found: list[Part] = []
        while more := [p for p in rest if p not in found and self._acts(p, data, functions, made)]:
            found += more
            data |= frozenset().union(*(part.binds for part in more))
            made -= data - made
        return found

    def _acts(
        self, part: Part, data: frozenset[str], functions: frozenset[str], made: frozenset[str]
    ) -> bool:
        """Whether a statement names data, an attribute of a function, or something that may do anything.

        made: names that may be called all the same."""
        nodes = [node for node in ast.walk(part.node) if id(node) not in self.local]
        called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        for node in nodes:
            match node:
                case ast.Name(id=name) if name in _ACTS:
                    return True
                case ast.Name(id=name) if name in data and not (name in made and id(node) in called):
                    return True
                case ast.Attribute(attr=name) if name in _ACTS:
                    return True
                case ast.Attribute(value=ast.Name(id=name) as of) if name in functions:
                    if id(of) not in self.local:
                        return True
        return bool(part.binds & data)


def take_apart(tree: ast.Module) -> Parts:
    """Each statement with the names that it binds and uses."""
    local: set[int] = set()
    parts = []
    for statement in tree.body:
        binds, loads = set[str](), set[str]()
        for node, names in _scopes(statement):
            if isinstance(node, ast.Name):
                if node.id in names:
                    local.add(id(node))
                elif isinstance(node.ctx, ast.Load):
                    loads.add(node.id)
                else:
                    binds.add(node.id)
                    loads.add(node.id)  # `kit += …`, `del kit`
            elif isinstance(node, ast.Constant | ast.Subscript):
                loads.add(text_of(getattr(node, "slice", node)))  # globals()["name"]
            else:
                binds |= set(_names_bound_by(node)) - names
        parts.append(Part(statement, frozenset(binds), frozenset(loads)))
    plain = (p.binds - _imported(p.node) for p in parts)
    return Parts(tuple(parts), frozenset(local), frozenset().union(*plain))


def _imported(statement: ast.stmt) -> set[str]:
    """What a statement imports, and does not bind otherwise."""
    nodes = list(ast.walk(statement))
    names = {name for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for name in _names_bound_by(n)}
    return names - {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _scopes(statement: ast.stmt) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Every node, with the names that belong to the functions around it. Without recursion: code can be deep."""
    todo: list[tuple[ast.AST, frozenset[str]]] = [(statement, frozenset())]
    while todo:
        node, names = todo.pop()
        yield node, names
        if isinstance(node, _FUNCTIONS):
            body = node.body if isinstance(node.body, list) else [node.body]
            inside = (names | _of_function(node, body)) - _declared(body, ast.Global)
            within = {id(child) for child in body}
            todo += [
                (child, inside if id(child) in within else names) for child in ast.iter_child_nodes(node)
            ]
        elif isinstance(node, _COMPREHENSIONS):
            inside = names | {n.id for g in node.generators for n in _stores(g.target)}
            first = node.generators[0].iter  # this alone is looked up outside
            parts = [part for g in node.generators for part in (g.target, g.iter, *g.ifs)]
            parts += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
            todo += [(part, names if part is first else inside) for part in parts]
        else:
            todo += [(child, names) for child in ast.iter_child_nodes(node)]


def _stores(node: ast.AST) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))


def _of_function(function: ast.AST, body: list) -> set[str]:
    """The names that a function has of its own."""
    of: ast.arguments = function.args  # type: ignore[attr-defined]
    given = (*of.posonlyargs, *of.args, of.vararg, *of.kwonlyargs, of.kwarg)
    found = {a.arg for a in given if a is not None}
    for node in _in_this_scope(body):
        found |= set(_names_bound_by(node))
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
    return found - _declared(body, ast.Nonlocal)


def _in_this_scope(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function's body that are not in another one's; of a comprehension those with `:=`."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.NamedExpr):
            yield node.target
        yield node
        if isinstance(node, _COMPREHENSIONS):
            todo += [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
        elif not isinstance(node, _FUNCTIONS | ast.ClassDef):
            todo += ast.iter_child_nodes(node)


def _declared(body: Iterable[ast.AST], kind: type) -> set[str]:
    return {name for node in _in_this_scope(body) if isinstance(node, kind) for name in node.names}  # type: ignore[attr-defined]


def _names_bound_by(node: ast.AST) -> Iterable[str]:
    """What a node binds that is no `Name`."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [a.asname or a.name.split(".")[0] for a in aliases]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Global(names=names):
            return names
    return []


def _data_and_functions(reached: list[Part]) -> tuple[frozenset[str], frozenset[str]]:
    """(names of what can be changed, names of functions), of those that these statements bind."""
    data, functions = set[str](), set[str]()
    for part in reached:
        if isinstance(part.node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.add(part.node.name)
            data |= part.binds - {part.node.name}  # `global kit`
        elif not isinstance(part.node, ast.Import | ast.ImportFrom) and not _is_plain(part.node):
            data |= part.binds
    return frozenset(data), frozenset(functions - data)


def _makes(statement: ast.stmt) -> bool:
    """Whether a statement defines a class, or a function by `lambda`."""
    of_a_lambda = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda)
    return isinstance(statement, ast.ClassDef) or of_a_lambda


def _is_plain(statement: ast.stmt) -> bool:
    """Whether a statement gives names to numbers, texts and the like, which cannot change."""
    value = getattr(statement, "value", None)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or value is None:
        return False
    plain = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
    return all(
        isinstance(node, plain)
        or ast.unparse(node) in ("np.inf", "np.pi", "np.e", "np", "math.inf", "math.pi", "math")
        for node in ast.walk(value)
    )
