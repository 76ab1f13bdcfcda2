"""Code whose use cannot be told by reading: it reaches things without naming them, or changes what others see.

What runs is noted too (`watch_use`), but code that hides what it does can hide that as well. So where something is
forbidden, such code earns nothing (`rules.hidden_in`). Names that are written out are read, also in
`getattr(x, "shape")`, and are none of this. It is a list, so it is no proof; a person looks at flags.
"""

import ast
import builtins
import re
from collections.abc import Callable

from sdpa_helpers.checking.bindings import text_of

PUT_TOGETHER = "with a name that is put together"
"""What is said of a name that is not written out."""

_BY_NAME = {
    "getattr": 1,
    "__import__": 0,
    "importlib.import_module": 0,
    "operator.attrgetter": 0,
    "operator.methodcaller": 0,
}
"""Function → which of its arguments is a name. The attributes `__getattribute__` and the like are below."""

_METHODS_BY_NAME = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__")

_TABLES = ("globals", "locals", "vars")

_HIDING = (
    "exec",
    "eval",
    "compile",
    "breakpoint",
    "setattr",
    "delattr",
    "builtins",
    "__builtins__",
    "ctypes",
    "cffi",
    "_ctypes",
    "gc",
    "marshal",
    "pickle.loads",
    "pickle.load",
    "pickle.Unpickler",
    "_pickle",
    "dill",
    "cloudpickle",
    "runpy",
    "code.InteractiveConsole",
    "code.InteractiveInterpreter",
    "code.interact",
    "codeop",
    "pydoc",
    "pkgutil",
    "zipimport",
    "string.Formatter",
    "typing.get_type_hints",
    "unittest.mock",
    "types.CodeType",
    "types.FunctionType",
    "importlib.util",
    "importlib.machinery",
    "importlib.abc",
    "importlib.__import__",
    "inspect.currentframe",
    "inspect.stack",
    "inspect.trace",
    "inspect.getouterframes",
    "inspect.getinnerframes",
    "inspect.getattr_static",
    "inspect.getmembers",
    "sys._getframe",
    "sys._current_frames",
    "sys.settrace",
    "sys.setprofile",
    "sys.meta_path",
    "sys.path_hooks",
    "sys.path_importer_cache",
    "sys.addaudithook",
    "sys.monitoring",
    "threading.settrace",
    "threading.setprofile",
    "torch.library",
    "IPython.get_ipython",
    "IPython.core",
    "ipykernel",
)
"""What is below one of these names is of this kind."""

_KEPT_IN_OTHERS = frozenset(
    {"sys", "gc", "builtins", "ctypes", "inspect", "importlib", "types", "operator", "marshal", "pickle"}
)
"""Modules that others hold as attributes."""

_INSIDES = (
    "_getframe",
    "setprofile",
    "settrace",
    "__code__",
    "__closure__",
    "__globals__",
    "__builtins__",
    "__subclasses__",
    "__self__",
    "__loader__",
    "__spec__",
    "__reduce__",
    "__reduce_ex__",
    "f_globals",
    "f_locals",
    "f_builtins",
    "f_back",
    "gi_frame",
    "tb_frame",
    "ag_frame",
    "__traceback__",
    "cr_frame",
    "cell_contents",
)
"""Attributes that lead past what is offered."""

_HARMLESS_MAGICS = frozenset(
    {
        "matplotlib",
        "precision",
        "autoreload",
        "config",
        "xmode",
        "pip",
        "conda",
        "mamba",
        "micromamba",
        "uv",
        "who",
        "whos",
        "who_ls",
        "pwd",
        "ls",
        "history",
        "hist",
        "doctest_mode",
        "capture",
        "time",
        "timeit",
        "pdoc",
        "pinfo",
        "pinfo2",
        "pdef",
        "psource",
        "lsmagic",
        "quickref",
        "colors",
        "env",
        "cls",
        "clear",
    }
)
_READ_OR_NOT_RUN = ("time", "timeit", "capture", "pip", "conda", "mamba", "micromamba", "uv")
"""Of the others, IPython evaluates what stands in braces in their line."""
_MAGIC = re.compile(r"%{0,2}(\w+)[ \t]*(.*)", re.DOTALL)

Dotted = Callable[[ast.AST], list[str]]
"""The full names that a node stands for."""


def hidden_at(node: ast.AST, dotted: Dotted, known: Callable[[ast.AST], bool], passed: set[int]) -> set[str]:
    """What a node hides, in words; {} for most. Nodes come before their parts.

    known: whether a node leads to a module or something in one. passed: ids of nodes that are read as a part of
    another; it grows.
    """
    if id(node) in passed:
        return set()
    if isinstance(node, ast.Call):
        return _at_call(node, dotted, passed)
    if isinstance(node, ast.Subscript):
        _pass_a_table(node.value, dotted, passed, asked=bool(text_of(node.slice)))
    elif isinstance(node, ast.Compare) and all(isinstance(o, ast.In | ast.NotIn) for o in node.ops):
        for table in node.comparators:
            _pass_a_table(table, dotted, passed, asked=True)
    elif isinstance(node, ast.Attribute):
        return _at_attribute(node, dotted, passed)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        named = dotted(node)
        return _named(named if known(node) else [n for n in named if hasattr(builtins, n) or n in _GIVEN])
    return set()


_GIVEN = ("__builtins__", "get_ipython")
"""What a notebook has beside Python's own names."""


def _at_call(node: ast.Call, dotted: Dotted, passed: set[int]) -> set[str]:
    for name in dotted(node.func):
        if name in ("setattr", "delattr") and _is_self(node.args[:1]):
            passed.add(id(node.func))
        place = _BY_NAME.get(name.removeprefix("builtins."))
        if place is not None and len(node.args) > place and text_of(node.args[place]):
            passed |= {id(part) for part in ast.walk(node.func)}
    match node.func:
        case ast.Attribute(attr=attr) if attr in _METHODS_BY_NAME:
            if any(text_of(argument) for argument in node.args[:2]):
                passed.add(id(node.func))
        case ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython") as asked), attr="run_line_magic"):
            if node.args and not hiding_magic(" ".join(map(text_of, node.args)), read=False):
                passed.add(id(asked))
        case ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython") as asked), attr="getoutput"):
            passed.add(id(asked))
    return set()


def _is_self(arguments: list[ast.expr]) -> bool:
    return [getattr(argument, "id", "") for argument in arguments] == ["self"]


def _at_attribute(node: ast.Attribute, dotted: Dotted, passed: set[int]) -> set[str]:
    names = dotted(node)
    found = _named(names)
    if node.attr in _METHODS_BY_NAME:
        found.add(f"`{node.attr}` {PUT_TOGETHER}")
    elif node.attr in _INSIDES or node.attr == "__dict__":
        found.add(f"`{node.attr}`")
    return found


def _named(names: list[str]) -> set[str]:
    found = set[str]()
    for name in map(_from_its_module, names):
        if name in _BY_NAME:
            found.add(f"`{name.rpartition('.')[2]}` {PUT_TOGETHER}")
        elif name in _TABLES:
            found.add(f"`{name}()`")
        elif name in ("get_ipython", "sys.modules"):
            found.add(f"`{name}`")
        else:
            found |= {f"`{hiding}`" for hiding in _HIDING if name == hiding or name.startswith(hiding + ".")}
    return found


def _from_its_module(name: str) -> str:
    """The same without modules in which the module is only kept: "sys.modules" for `warnings.sys.modules`."""
    parts = name.split(".")
    first = next((n for n, part in enumerate(parts) if part in _KEPT_IN_OTHERS), 0)
    return ".".join(parts[first:])


def _pass_a_table(table: ast.AST, dotted: Dotted, passed: set[int], *, asked: bool) -> None:
    """A table of names, asked for one that is written out."""
    if not asked:
        return
    if isinstance(table, ast.Call) and isinstance(table.func, ast.Name) and table.func.id in _TABLES:
        passed.add(id(table.func))
    elif (isinstance(table, ast.Attribute) and table.attr == "__dict__") or dotted(table) == ["sys.modules"]:
        passed.add(id(table))


def hidden_magics(source: str) -> set[str]:
    """Lines of a cell that only IPython understands and that may run anything, in words."""
    lines = (line.strip() for line in source.split("\n"))
    return {found for line in lines if line.startswith("%") and (found := hiding_magic(line, read=True))}


def hiding_magic(line: str, *, read: bool) -> str:
    """A magic that may run anything, in words; "" for a harmless one. read: whether what it times is read elsewhere."""
    if line.startswith(("!", "?")):
        return ""
    found = _MAGIC.fullmatch(line)
    name, rest = (found[1], found[2]) if found else (line[:20], "")
    if name in ("load_ext", "reload_ext"):
        harmless = rest.strip() == "autoreload"
    else:
        evaluates = name not in _READ_OR_NOT_RUN and not {"{", "$"}.isdisjoint(rest)
        harmless = name in _HARMLESS_MAGICS and not evaluates and (read or name not in ("time", "timeit"))
    return "" if harmless else f"`%{name}`"
