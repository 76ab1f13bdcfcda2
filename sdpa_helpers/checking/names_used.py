"""Which things a piece of code uses, by their full names: "torch.nn.functional.softmax" for `F.softmax`.

This reads the code and does not run it. It follows imports, other names for the same thing, names put together from
texts, and helpers that stand in other cells. An import by itself is no use; what is never used is in `Used.idle`.
"""

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from types import ModuleType
from typing import Any

from sdpa_helpers.checking.bindings import bindings, text_of
from sdpa_helpers.checking.hidden_use import hidden_at, hidden_magics
from sdpa_helpers.checking.magics import with_calls_for_magics, with_timed_lines, without_magic_lines
from sdpa_helpers.checking.reached import Part, Parts, take_apart

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
    "hint": f"{PACKAGE}.hint",
    "ladder": f"{PACKAGE}.ladder",
}
"""What the usual short names stand for where nothing says what they are."""


_DO_NOTHING = (f"{PACKAGE}.solution", f"{PACKAGE}.hint", f"{PACKAGE}.ladder")
"""What only shows something."""

_NAMING = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
"""The nodes that can stand for something which has a name."""


@dataclass(frozen=True)
class Used:
    """What a piece of code uses."""

    names: frozenset[str]
    """Full dotted names, e.g. "scipy.special.softmax"."""
    methods: frozenset[str]
    """Attributes of things that are neither modules nor the learner's own, e.g. "softmax" in `t.softmax(-1)`."""
    patched: frozenset[str] = frozenset()
    """What it changes in modules, e.g. "numpy.exp" for `np.exp = f`."""
    idle: tuple[tuple[str, str], ...] = ()
    """What stands in it and does nothing: (the full name, the line), of imports that nothing uses, and of calls of
    `solution`, `hint` and `ladder` whose value goes nowhere."""
    hidden: frozenset[str] = frozenset()
    """What keeps a reader from telling what it uses, in words: see `hidden_use`."""
    beside: tuple[tuple[str, str], ...] = ()
    """What stands in it and the answer does without, as in a test: (a full name or ".method", the line)."""
    called: frozenset[str] = frozenset()
    """Those of the methods that are called where they stand."""


def used_in(
    source: str, given: Mapping[str, Any] | None = None, others: Iterable[str] = (), answer: str = ""
) -> Used:
    """What `source` uses, and what the helpers use that it takes from `others`, the notebook's other cells.

    given: what names mean outside of all these, where that is known. answer: the name by which the answer is called,
    for an import can be the answer. Code that does not parse uses nothing. Raises RecursionError or MemoryError for
    code that is nested too deeply.
    """
    cells = [_Cell(text) for text in others]
    first = _Cell(source)
    notebook = _Notebook([first, *cells], dict(_meanings(given or {})))
    found = _Found(notebook)
    if answer in first.imports or first.stars:
        found.names |= set(notebook.meanings(answer, first))
    found.hidden |= first.hidden_magics
    found.skipped |= {id(part) for node, _ in notebook.idle_calls(first) for part in ast.walk(node)}
    reached = notebook.reached(first, answer)
    for cell, part in reached:
        found.add(cell, part)
    in_use = {id(part) for _, part in reached}
    beside: list[tuple[str, str]] = []
    for part in first.parts.parts:
        if id(part) not in in_use:
            aside = _Found(notebook, skipped=found.skipped, passed=found.passed)
            aside.add(first, part)
            line = ast.unparse(part.node).partition("\n")[0]
            beside += [(name, line) for name in sorted({*aside.names, *(f".{m}" for m in aside.methods)})]
            found.patched |= aside.patched
            found.hidden |= aside.hidden
    idle = [*notebook.idle_calls(first), *first.unused_imports(answer)]
    told = tuple((name, ast.unparse(node)) for node, name in idle)
    names, methods, patched = map(frozenset, (found.names, found.methods, found.patched))
    hidden = frozenset({*found.hidden, *(f"assigning to `{name}`" for name in patched)})
    return Used(names, methods, patched, told, hidden, tuple(dict.fromkeys(beside)), frozenset(found.called))


@dataclass(eq=False)
class _Found:
    """What was found so far."""

    notebook: "_Notebook"
    names: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)
    patched: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    passed: set[int] = field(default_factory=set)
    """What `hidden_at` has seen to be harmless."""
    skipped: set[int] = field(default_factory=set)
    """The ids of nodes that are not looked at."""

    def add(self, cell: "_Cell", part: Part) -> None:
        """What a statement uses."""
        reads = (partial(self.notebook.dotted, cell=cell), partial(self.notebook.is_known, cell=cell))
        for inner in ast.walk(part.node):
            self.hidden |= hidden_at(inner, *reads, self.passed)
            self.skipped |= {id(part) for kind in _kinds_in(inner) for part in ast.walk(kind)}
            if not isinstance(inner, _NAMING) or id(inner) in self.skipped:
                continue
            if isinstance(inner, ast.Call) and _literal_getattr(inner):
                self.skipped.add(id(inner.func))
            if isinstance(inner, ast.Call):
                self.called |= self.notebook.method(inner.func, cell)
            self.names |= set(self.notebook.dotted(inner, cell))
            self.methods |= self.notebook.method(inner, cell)
            self.patched |= set(self.notebook.patched(inner, cell))


@lru_cache(maxsize=512)
def parse(source: str) -> ast.Module:
    """The tree of a cell, without the lines that only IPython understands; empty for code that does not parse."""
    for plain in (str, with_timed_lines, without_magic_lines, with_calls_for_magics):
        try:
            return ast.parse(plain(source))
        except (SyntaxError, ValueError):
            continue
    return ast.Module([], [])


@lru_cache(maxsize=64)
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """Every node of a cell's tree: what is asked of it is asked several times."""
    return tuple(ast.walk(parse(source)))


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
        root = self.nodes[0]
        assert isinstance(root, ast.Module)
        return root

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree, itself first."""
        return _nodes(self.text)

    @cached_property
    def hidden_magics(self) -> set[str]:
        """Its lines for IPython alone that may run anything; in plain Python, a line with % is something else."""
        if "%" not in self.text:
            return set()
        try:
            ast.parse(self.text)
        except (SyntaxError, ValueError):
            return hidden_magics(self.text)
        return set()

    @cached_property
    def parts(self) -> Parts:
        """Its statements, with the names that they bind and use."""
        return take_apart(self.tree)

    @property
    def bound(self) -> frozenset[str]:
        """Names that the cell itself gives the notebook, apart from its imports."""
        return self.parts.bound

    def unused_imports(self, answer: str) -> list[tuple[ast.stmt, str]]:
        """Imports of names that nothing in the cell uses, each with the full name."""
        loads = (n.id for n in self.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        used = {*loads, answer}
        found: list[tuple[ast.stmt, str]] = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [
                    (node, a.name) for a in node.names if (a.asname or a.name.split(".")[0]) not in used
                ]
            elif isinstance(node, ast.ImportFrom) and node.module:
                unused = (a.name for a in node.names if a.name != "*" and (a.asname or a.name) not in used)
                found += [(node, f"{node.module}.{name}") for name in unused]
        return found

    @cached_property
    def imports(self) -> dict[str, str]:
        """Name → what it was imported as."""
        return _imports_in(self.nodes)

    @cached_property
    def inner_imports(self) -> dict[str, str]:
        """Those of them that stand in a function."""
        functions = [n for n in self.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        return {
            name: what for function in functions for name, what in _imports_in(ast.walk(function)).items()
        }

    @cached_property
    def stars(self) -> tuple[str, ...]:
        """Modules of which everything was imported."""
        froms = (node for node in self.nodes if isinstance(node, ast.ImportFrom) and node.module)
        return tuple(str(node.module) for node in froms if any(alias.name == "*" for alias in node.names))

    @cached_property
    def renamings(self) -> dict[str, list[ast.expr]]:
        """Name → what may be another name for it, as in `name = something.dotted`, however it gets there."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.nodes:
            for name, value in bindings(node):
                if isinstance(value, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
                    found.setdefault(name, []).append(value)
        return found

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """Methods that its classes define, and attributes that it sets."""
        nodes = [node for node in self.nodes if isinstance(node, ast.Attribute)]
        found = {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}
        found |= {str(node.arg) for node in self.nodes if isinstance(node, ast.keyword)}
        for node in self.nodes:
            if isinstance(node, ast.ClassDef):
                found |= {str(getattr(item, "name", "")) for item in node.body}
                targets = (getattr(item, "target", None) for item in node.body)
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
            elif isinstance(node, ast.Call) and _last_name(node.func) in _NAMES_BY_TEXT:
                texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
                found |= {word for t in texts if isinstance(t, str) for word in t.replace(",", " ").split()}
        return frozenset(found)


_NAMES_BY_TEXT = ("namedtuple", "NamedTuple", "make_dataclass", "setattr")
"""What gives attributes their names by texts."""


def _last_name(node: ast.AST) -> str:
    """ "b" for `a.b`."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


@dataclass(eq=False)
class _Notebook:
    """Cells that share their names; the first one is the one that is read."""

    cells: list[_Cell]
    given: dict[str, str]
    _resolving: set[str] = field(default_factory=set)
    _known: dict[tuple[str, int, bool], list[str]] = field(default_factory=dict)

    def reached(self, first: _Cell, answer: str) -> list[tuple[_Cell, Part]]:
        """The statements that an answer needs, with their cells; all of the first cell where it is not bound there."""
        todo = [(first, part) for part in first.parts.binding(answer) or first.parts.parts]
        reached: dict[int, tuple[_Cell, Part]] = {}
        asked: set[tuple[int, str]] = set()
        while todo:
            while todo:
                cell, part = todo.pop()
                if id(part) in reached:
                    continue
                reached[id(part)] = cell, part
                for name in part.loads:
                    if (id(cell), name) in asked:
                        continue
                    asked.add((id(cell), name))
                    own = cell.parts.binding(name)
                    todo += [(cell, p) for p in own] if own else self.definitions(name, apart_from=cell)
            by_cell: dict[_Cell, list[Part]] = {}
            for cell, part in reached.values():
                by_cell.setdefault(cell, []).append(part)
            todo += [(cell, p) for cell, parts in by_cell.items() for p in self._acting(cell, parts)]
        return list(reached.values())

    def _acting(self, cell: _Cell, reached: list[Part]) -> list[Part]:
        """The other statements of a cell that may act on what is reached, on modules or on the course."""
        acting = cell.parts.acting_on(reached)
        passed = {id(p) for p in (*reached, *acting)}
        rest = (p for p in cell.parts.parts if id(p) not in passed)
        return [*acting, *(p for p in rest if any(self._tampers(node, cell) for node in ast.walk(p.node)))]

    def _tampers(self, node: ast.AST, cell: _Cell) -> bool:
        inside = [name for name in self.dotted(node, cell) if name.startswith(f"{PACKAGE}.")]
        inside = [name for name in inside if not name.startswith(f"{PACKAGE}.attention")]
        return bool(self.patched(node, cell)) or any(name.count(".") > 1 for name in inside)

    def meanings(self, name: str, cell: _Cell, *, local: bool = False) -> list[str]:
        """The full names that a name may stand for in a cell; [] for something of the learner's own.

        local: whether it is the name of a function's own variable.
        """
        key = name, id(cell), local
        if key not in self._known:
            found = self._in_cell(name, cell, local=local) if local else self._meanings(name, cell)
            self._known[key] = list(dict.fromkeys(found))
        return self._known[key]

    def _meanings(self, name: str, cell: _Cell) -> list[str]:
        found = self._in_cell(name, cell)
        if found or name in cell.bound:
            return found
        if name in self.given:  # what it really is
            return [self.given[name]]
        for other in self._others(name, cell):
            found += self._in_cell(name, other)
            if name in other.bound:
                return found
        return found or ([_WELL_KNOWN[name]] if name in _WELL_KNOWN else [])

    def _others(self, name: str, cell: _Cell) -> Iterator[_Cell]:
        """The cells that may say what a name is; none for one of Python's own."""
        if not hasattr(builtins, name):
            yield from (other for other in self.cells if other is not cell and _mentions(other, name))

    def _in_cell(self, name: str, cell: _Cell, *, local: bool = False) -> list[str]:
        imports = cell.inner_imports if local else cell.imports
        found = [imports[name]] if name in imports else []
        if name not in cell.bound and not found and not local:
            found += [f"{module}.{name}" for module in cell.stars if _offers(module, name)]
            found += [name] if found and hasattr(builtins, name) else []
        if name not in self._resolving:  # a = b; b = a
            self._resolving.add(name)
            for value in cell.renamings.get(name, ()):
                found += self._renamed(value, cell)
            self._resolving.discard(name)
        return found

    def _renamed(self, value: ast.expr, cell: _Cell) -> list[str]:
        """What a value is another name for: a module or a function that has a full name."""
        return self.dotted(value, cell) if self.is_known(value, cell) else []

    def is_known(self, node: ast.AST, cell: _Cell) -> bool:
        """Whether a node leads to something that has a full name: a module, or what lies in one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        if isinstance(node, ast.Name):
            return bool(self.meanings(node.id, cell, local=id(node) in cell.parts.local))
        if isinstance(node, ast.Call) and _literal_getattr(node):
            return self.is_known(node.args[0], cell)
        return bool(self._roots(node, cell))

    def definitions(self, name: str, apart_from: _Cell) -> list[tuple[_Cell, Part]]:
        """Where the other cells define a name: the first of them that does. Imports are looked up elsewhere."""
        if name in self.given:
            return []
        for cell in self._others(name, apart_from):
            if name in cell.bound:
                return [(cell, part) for part in cell.parts.binding(name)]
        return []

    def dotted(self, node: ast.AST, cell: _Cell) -> list[str]:
        """The full dotted names that a node stands for; [] for other nodes."""
        parts: list[str] = []
        inner: ast.AST = node
        while isinstance(inner, ast.Attribute):
            parts.append(inner.attr)
            inner = inner.value
        return [".".join([root, *reversed(parts)]) for root in self._roots(inner, cell)]

    def _roots(self, node: ast.AST, cell: _Cell) -> list[str]:
        """The full names of what stands before the dots: a name, or a call or a table that is asked by a text."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                local = id(node) in cell.parts.local
                own = local or (name in cell.bound and not hasattr(builtins, name))
                return self.meanings(name, cell, local=local) or ([] if own else [name])
            case ast.Call() if attribute := _literal_getattr(node):
                return [f"{name}.{attribute}" for name in self.dotted(node.args[0], cell)]
            case ast.Call() if module := self._literal_import(node, cell):
                return [module]
            case ast.Subscript(value=ast.Call(func=ast.Name(id="globals" | "locals"), args=[]), slice=key):
                return self.meanings(text_of(key), cell)
            case ast.Subscript(value=ast.Call(func=ast.Name(id="vars"), args=[of]), slice=key):
                return self._below(of, text_of(key), cell)
            case ast.Subscript(value=ast.Attribute(value=of, attr="__dict__"), slice=key):
                return self._below(of, text_of(key), cell)
            case ast.Subscript(value=table, slice=key) if self.dotted(table, cell) == ["sys.modules"]:
                return [text_of(key)] if text_of(key) else []
        return []

    def _below(self, of: ast.AST, attribute: str, cell: _Cell) -> list[str]:
        known = attribute and self.is_known(of, cell)
        return [f"{name}.{attribute}" for name in self.dotted(of, cell)] if known else []

    def patched(self, node: ast.AST, cell: _Cell) -> list[str]:
        """What a node changes in a module."""
        stores = isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
        return self.dotted(node, cell) if stores and self.is_known(node, cell) else []

    def idle_calls(self, cell: _Cell) -> list[tuple[ast.stmt, str]]:
        """Lines that call the course's `solution` or `hint` and do nothing with it, each with the full name."""
        lines = [n for n in cell.nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
        named = [(line, self.dotted(line.value.func, cell)) for line in lines]  # type: ignore[attr-defined]
        return [(line, names[0]) for line, names in named if names and names[0] in _DO_NOTHING]

    def method(self, node: ast.AST, cell: _Cell) -> set[str]:
        """The attribute that a node takes from something which is neither a module nor the learner's own."""
        if isinstance(node, ast.Call) and (attribute := _literal_getattr(node)):
            name, base = attribute, node.args[0]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            name, base = node.attr, node.value
        else:
            return set() if self._roots(node, cell) else {name} if (name := _named_by_text(node)) else set()
        if self.is_known(base, cell):
            return set()
        own = any(name in each.text and name in each.own_attributes for each in self.cells)
        return set() if own else {name}

    def _literal_import(self, node: ast.Call, cell: _Cell) -> str:
        """The module of __import__("module") and importlib.import_module("module"); else ""."""
        if not node.args or not (name := text_of(node.args[0])):
            return ""
        by = self.dotted(node.func, cell)
        if by not in (["__import__"], ["importlib.import_module"]):
            return ""
        return name.split(".")[0] if by == ["__import__"] else name  # it gives the package above


def _kinds_in(node: ast.AST) -> list[ast.expr]:
    """Where a node names types and does nothing with them: annotations, and what `isinstance` compares with."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            found = [kinds]
        case ast.arg(annotation=kind) | ast.AnnAssign(annotation=kind):
            found = [kind]
        case ast.FunctionDef(returns=kind) | ast.AsyncFunctionDef(returns=kind):
            found = [kind]
        case _:
            found = []
    only = (ast.Name, ast.Attribute, ast.Tuple, ast.BinOp, ast.BitOr, ast.Constant, ast.expr_context)
    return [k for k in found if k is not None and all(isinstance(part, only) for part in ast.walk(k))]


def _imports_in(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Name → what it was imported as."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names if a.name != "*"}
    return found


def _offers(module: str, name: str) -> bool:
    """Whether `from module import *` can give a name; where that is not known, nearly any."""
    if module == PACKAGE:
        return name in getattr(sys.modules.get(PACKAGE), "__all__", ())
    return name not in _WELL_KNOWN


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
    return text_of(taken).split(".")[-1]


def _literal_getattr(node: ast.Call) -> str:
    """The attribute of getattr(x, "name"), which is x.name written differently; else ""."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2):
        return ""
    return text_of(node.args[1])
