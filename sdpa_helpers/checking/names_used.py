"""Which things a piece of code uses, by their full names: "torch.nn.functional.softmax" for `F.softmax`.

This reads the code and does not run it. It follows imports, other names for the same thing, and helpers that stand
in other cells.
"""

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

from sdpa_helpers.checking.magics import with_calls_for_magics, without_magic_lines

PACKAGE = "sdpa_helpers"

_WELL_KNOWN = {
    "np": "numpy",
    "torch": "torch",
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "sp": "scipy",
    "scipy": "scipy",
    "sdpa": PACKAGE,
    "solution": f"{PACKAGE}.solution",
}
"""What the usual short names stand for where nothing says what they are."""


_DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Used:
    """What a piece of code uses."""

    names: frozenset[str]
    """Full dotted names, e.g. "scipy.special.softmax"."""
    methods: frozenset[str]
    """Attributes of things that are neither modules nor the learner's own, e.g. "softmax" in `t.softmax(-1)`."""


def used_in(source: str, given: Mapping[str, Any] | None = None, others: Iterable[str] = ()) -> Used:
    """What `source` uses, and what the helpers use that it takes from `others`, the notebook's other cells.

    given: what names mean outside of all these, where that is known. Code that does not parse uses nothing.
    Raises RecursionError or MemoryError for code that is nested too deeply.
    """
    cells = [_Cell(text) for text in others]
    first = _Cell(source)
    notebook = _Notebook([first, *cells], dict(_meanings(given or {})))
    todo: list[tuple[_Cell, ast.AST]] = [(first, first.tree)]
    seen: set[int] = set()
    names: set[str] = set()
    methods: set[str] = set()
    while todo:
        cell, node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for inner in ast.walk(node):
            names |= set(notebook.dotted(inner, cell))
            methods |= notebook.method(inner, cell)
            if isinstance(inner, ast.Name) and inner.id not in cell.bound | set(cell.imports):
                todo += notebook.definitions(inner.id, apart_from=cell)
    return Used(frozenset(names), frozenset(methods))


@lru_cache(maxsize=512)
def parse(source: str) -> ast.Module:
    """The tree of a cell, without the lines that only IPython understands; empty for code that does not parse."""
    for text in (without_magic_lines(source), None):
        try:
            return ast.parse(with_calls_for_magics(source) if text is None else text)
        except (SyntaxError, ValueError):
            continue
    return ast.Module([], [])


def _meanings(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The full names of modules, of what comes from the course's package, and of functions of other modules."""
    for name, value in given.items():
        module, own = getattr(value, "__module__", ""), getattr(value, "__name__", "")
        qualified = str(getattr(value, "__qualname__", ""))
        if isinstance(value, ModuleType):
            yield name, value.__name__
        elif qualified.startswith("_VariableFunctionsClass."):  # torch.softmax and the like name no module
            yield name, f"torch.{own}"
        elif not isinstance(module, str) or not isinstance(own, str) or module in ("", "__main__"):
            continue
        elif module.startswith(PACKAGE + "."):
            yield name, f"{PACKAGE}.{own or name}"
        elif own and callable(value):
            yield name, f"{_public(module)}.{own}"


def _public(module: str) -> str:
    """Where a module's functions are offered: scipy.special for scipy.special._logsumexp."""
    parts = module.split(".")
    private = next((n for n, part in enumerate(parts) if n and part.startswith("_")), len(parts))
    return ".".join(parts[:private])


@dataclass(eq=False)
class _Cell:
    """One cell: what its names are bound to."""

    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Parsed when it is first asked for: most cells of a long notebook never are."""
        return parse(self.text)

    @cached_property
    def bound(self) -> frozenset[str]:
        """Names that the cell itself gives to something other than an import."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, _DEFINES | ast.ExceptHandler) and node.name:
                found.add(node.name)
        return frozenset(found)

    @cached_property
    def imports(self) -> dict[str, str]:
        """Name → what it was imported as."""
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.split(".")[0]
                    found[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names if a.name != "*"}
        return found

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """Modules of which everything was imported."""
        froms = (node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) and node.module)
        return tuple(str(node.module) for node in froms if any(alias.name == "*" for alias in node.names))

    @cached_property
    def renamings(self) -> list[tuple[str, ast.expr]]:
        """`name = something.dotted`, wherever it stands."""
        found: list[tuple[str, ast.expr]] = []
        for node in ast.walk(self.tree):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if isinstance(value, ast.Name | ast.Attribute | ast.Call):
                found += [(target.id, value) for target in targets if isinstance(target, ast.Name)]
        return found

    @cached_property
    def top_level(self) -> dict[str, list[ast.AST]]:
        """What it defines for other cells, by name. Its imports are looked up elsewhere."""
        found: dict[str, list[ast.AST]] = {}
        for statement in self.tree.body:
            if isinstance(statement, _DEFINES):
                found.setdefault(statement.name, []).append(statement)
            elif isinstance(statement, ast.Assign | ast.AnnAssign):
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        found.setdefault(node.id, []).append(statement)
        return found

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """Methods that its classes define, and attributes that it sets."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)]
        found = {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}
        classes = (node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef))
        return frozenset(found | {str(getattr(item, "name", "")) for c in classes for item in c.body})


@dataclass(eq=False)
class _Notebook:
    """Cells that share their names; the first one is the one that is read."""

    cells: list[_Cell]
    given: dict[str, str]
    _resolving: set[str] = field(default_factory=set)

    def meanings(self, name: str, cell: _Cell) -> list[str]:
        """The full names that a name may stand for in a cell; [] for something of the learner's own."""
        found = self._in_cell(name, cell)
        if found or name in cell.bound:
            return found
        if name in self.given:  # what it really is
            return [self.given[name]]
        for other in self._others(name, cell):
            found += self._in_cell(name, other)
            if name in other.top_level:
                return found
        return found or ([_WELL_KNOWN[name]] if name in _WELL_KNOWN else [])

    def _others(self, name: str, cell: _Cell) -> Iterator[_Cell]:
        """The cells that may say what a name is; none for one of Python's own."""
        if not hasattr(builtins, name):
            yield from (other for other in self.cells if other is not cell and _mentions(other, name))

    def _in_cell(self, name: str, cell: _Cell) -> list[str]:
        found = [cell.imports[name]] if name in cell.imports else []
        if name not in cell.bound and not found:
            found += [f"{module}.{name}" for module in cell.stars]
        if name not in self._resolving:  # a = b; b = a
            self._resolving.add(name)
            for target, value in cell.renamings:
                if target == name:
                    found += self._renamed(value, cell)
            self._resolving.discard(name)
        return found

    def _renamed(self, value: ast.expr, cell: _Cell) -> list[str]:
        """What a value is another name for: a module or a function that has a full name."""
        if isinstance(value, ast.Call):
            return [module] if (module := self._literal_import(value, cell)) else []
        root: ast.AST = value
        while isinstance(root, ast.Attribute):
            root = root.value
        known = not isinstance(root, ast.Name) or self.meanings(root.id, cell)
        return self.dotted(value, cell) if known else []

    def definitions(self, name: str, apart_from: _Cell) -> list[tuple[_Cell, ast.AST]]:
        """Where the other cells define a name: the first of them that does."""
        if name in self.given:
            return []
        for cell in self._others(name, apart_from):
            if nodes := cell.top_level.get(name):
                return [(cell, node) for node in nodes]
        return []

    def dotted(self, node: ast.AST, cell: _Cell) -> list[str]:
        """The full dotted names that a node stands for; [] for other nodes."""
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.module:
            return [f"{node.module}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Call) and (attribute := _literal_getattr(node)):
            return [f"{name}.{attribute}" for name in self.dotted(node.args[0], cell)]
        parts: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        node = inner
        if isinstance(node, ast.Call) and (module := self._literal_import(node, cell)):
            return [".".join([module, *reversed(parts)])]
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return []
        roots = self.meanings(node.id, cell) or [node.id]
        return [".".join([root, *reversed(parts)]) for root in roots]

    def method(self, node: ast.AST, cell: _Cell) -> set[str]:
        """The attribute that a node takes from something which is neither a module nor the learner's own."""
        if isinstance(node, ast.Call) and (attribute := _literal_getattr(node)):
            name, base = attribute, node.args[0]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            name, base = node.attr, node.value
        else:
            return {name} if (name := _named_by_text(node)) else set()
        while isinstance(base, ast.Attribute):
            base = base.value
        if isinstance(base, ast.Call) and self._literal_import(base, cell):
            return set()
        if isinstance(base, ast.Name) and self.meanings(base.id, cell):
            return set()
        own = any(name in each.text and name in each.own_attributes for each in self.cells)
        return set() if own else {name}

    def _literal_import(self, node: ast.Call, cell: _Cell) -> str:
        """The module of __import__("module") and importlib.import_module("module"); else ""."""
        if not node.args or not isinstance(node.args[0], ast.Constant):
            return ""
        by = self.dotted(node.func, cell)
        if by not in (["__import__"], ["importlib.import_module"]):
            return ""
        name = node.args[0].value if isinstance(node.args[0].value, str) else ""
        return name.split(".")[0] if by == ["__import__"] else name  # it gives the package above


def _mentions(cell: _Cell, name: str) -> bool:
    """Whether a cell can be about a name, without parsing it: what is imported with a star has any name."""
    return name in cell.text or "import *" in cell.text


def _named_by_text(node: ast.AST) -> str:
    """What methodcaller("name"), attrgetter("name") and things.__dict__["name"] take; else ""."""
    if isinstance(node, ast.Call) and node.args:
        by = getattr(node.func, "attr", getattr(node.func, "id", ""))
        taken = node.args[0] if by in ("methodcaller", "attrgetter", "__getattribute__") else None
    elif isinstance(node, ast.Subscript):
        by = getattr(node.value, "attr", getattr(getattr(node.value, "func", None), "id", ""))
        taken = node.slice if by in ("__dict__", "vars") else None
    else:
        taken = None
    name = taken.value if isinstance(taken, ast.Constant) else ""
    return name.split(".")[-1] if isinstance(name, str) else ""


def _literal_getattr(node: ast.Call) -> str:
    """The attribute of getattr(x, "name"), which is x.name written differently; else ""."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2):
        return ""
    name = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
    return name if isinstance(name, str) else ""
