"""Cells of a lesson that need what is not here (PyTorch, processes): each says so in one sentence, and the rest runs.

Without this, `import torch` would raise, "run all cells" would stop there, and every cell after it that uses a name
from that cell would raise too. So where something is absent, a cell is read before it runs. One that imports what is
absent, calls a helper marked with `needs`, or uses a name that such a cell would have bound, is not run.

The same reading, without running anything, tells which cells of a notebook these are: `cells_that_need`.
"""

import ast
import dis
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any, NamedTuple, TypeVar

WORDS = {"torch": "PyTorch", "processes": "processes of its own"}
"""What may be absent, as a reader knows it."""

Helper = TypeVar("Helper", bound=Callable[..., Any])


def needs(what: str) -> Callable[[Helper], Helper]:
    """Mark a function or a class that a lesson's cells call: it needs "torch", or "processes"."""
    assert what in WORDS, what

    def mark(helper: Helper) -> Helper:
        setattr(helper, MARK, what)
        return helper

    return mark


MARK = "needs_what"


def absent() -> frozenset[str]:
    """What is not here."""
    found = {"torch"} if importlib.util.find_spec("torch") is None else set()
    return frozenset(found | ({"processes"} if sys.platform == "emscripten" else set()))


class Need(NamedTuple):
    """Why a cell cannot run: what is absent, and the name in the cell that leads to it."""

    what: str
    through: str
    direct: bool
    """False where the name would have come from another cell that needs it."""


@dataclass
class Reader:
    """Reads the cells of one session in the order in which they run."""

    lacks: frozenset[str]
    missing: dict[str, str] = field(default_factory=dict)
    """Names that a cell would have bound which did not run → what it needed."""

    def read(self, tree: ast.Module, known: Mapping[str, Any]) -> Need | None:
        """Why this cell cannot run, or None; `known` are the names of the session."""
        names = _names(tree)
        need = self._need(tree, names.read, known)
        for name in names.bound:
            if need:
                self.missing[name] = need.what
            else:
                self.missing.pop(name, None)
        return need

    def _need(self, tree: ast.Module, read: list[str], known: Mapping[str, Any]) -> Need | None:
        for module in _imported(tree):
            if module in self.lacks:
                return Need(module, module, direct=True)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                what = _need_of_helper(known.get(node.value.id), node.attr)
                if what in self.lacks:
                    return Need(what, f"{node.value.id}.{node.attr}", direct=True)
        without = ((self.missing[name], name) for name in read if name in self.missing)
        return next((Need(what, name, direct=name == what) for what, name in without), None)


def cells_that_need(sources: Iterable[str], lacks: frozenset[str]) -> Iterator[Need | None]:
    """For each code cell of a notebook, why it could not run where this is absent. Only our own modules are loaded."""
    reader, known = Reader(lacks), {}
    for source in sources:
        tree = ast.parse(source)
        known |= _modules_of_ours(tree)
        yield reader.read(tree, known)


_CARD = "sdpa_helpers.course.not_run"


class _Transformer:
    """What IPython calls with each cell's tree before it is run."""

    def __init__(self, shell: Any, lacks: frozenset[str]) -> None:
        self.shell = shell
        self.reader = Reader(lacks)

    def visit(self, tree: ast.Module) -> ast.Module:
        names = self.shell.user_ns
        if not isinstance(tree, ast.Module) or not any(_is_lesson(value) for value in list(names.values())):
            return (
                tree  # an exercise notebook, or one of the learner's own: errors are said as Python says them
            )
        need = self.reader.read(tree, names)
        if need is None:
            return tree
        return ast.parse(f"__import__({_CARD!r}, fromlist=['']).NotRun{tuple(need)!r}")


def watch_cells() -> None:
    """From now on, in a notebook where something is absent, cells that need it say so and do not run."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "ast_transformers"):
        return
    lacks = absent()
    if lacks and not any(isinstance(one, _Transformer) for one in shell.ast_transformers):
        shell.ast_transformers.append(_Transformer(shell, lacks))


def _is_lesson(value: Any) -> bool:
    return (
        isinstance(value, ModuleType)
        and value.__name__.startswith("sdpa_helpers.lessons.")
        and value.__name__.count(".") == 2
    )


def _need_of_helper(module: Any, name: str) -> str | None:
    """What a helper of a lesson needs, where it is marked, or where its module needs it to load."""
    if not isinstance(module, ModuleType) or not module.__name__.startswith("sdpa_helpers"):
        return None
    try:
        return getattr(getattr(module, name, None), MARK, None)
    except ModuleNotFoundError as error:
        return error.name if error.name in WORDS else None


def _imported(tree: ast.AST) -> Iterator[str]:
    """The packages that a cell imports, its functions included; not what it only tries to import."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]
        elif not isinstance(node, ast.Try):
            yield from _imported(node)


class _Names(NamedTuple):
    read: list[str]
    """What a cell reads before it binds it, in its functions too, in the order of the cell."""
    bound: set[str]


def _names(tree: ast.Module) -> _Names:
    """The session's names that a cell reads and binds, taken from its compiled code, line after line."""
    try:
        code = compile(tree, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return _Names([], set())  # Python says so when the cell runs
    read, bound = [], set()
    for one in dis.get_instructions(code):
        if one.opname in ("STORE_NAME", "STORE_GLOBAL"):
            bound.add(one.argval)
        else:
            read += [name for name in _read_by(one) if name not in bound]
    return _Names(read, bound)


def _read_by(one: dis.Instruction) -> Iterator[str]:
    """The session's names that an instruction reads, or the function that it makes."""
    if one.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"):
        yield one.argval
    elif isinstance(one.argval, CodeType):
        for inner in dis.get_instructions(one.argval):
            yield from _read_by(inner)


def _modules_of_ours(tree: ast.Module) -> dict[str, ModuleType]:
    """The modules of this package that a cell imports, by the names it gives them."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            pairs = [(alias.name, alias.asname) for alias in node.names if alias.asname]
        elif isinstance(node, ast.ImportFrom) and node.module == "sdpa_helpers.lessons":
            pairs = [(f"{node.module}.{alias.name}", alias.asname or alias.name) for alias in node.names]
        else:
            continue
        ours = [(home, name) for home, name in pairs if home.startswith("sdpa_helpers")]
        found |= {name: importlib.import_module(home) for home, name in ours}
    return found
