"""Find calls that an exercise forbids by reading the code: a flag for a human, not a proof."""

import ast
from types import ModuleType
from typing import Any

PACKAGE = "sdpa_helpers"
ALLOWED = ("check", "hint", "progress")
"""What an answer may use of the course's package; a graded notebook has nothing else of it."""

DYNAMIC = {
    "exec",
    "eval",
    "compile",
    "getattr",
    "globals",
    "vars",
    "__import__",
    "importlib",
    "runpy",
    "sys.modules",
    "get_ipython",
    "ctypes",
}
"""What lets code reach things without naming them."""

TOO_DEEP = "code that is nested too deeply"

_WELL_KNOWN = {
    "np": "numpy",
    "torch": "torch",
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "sdpa": PACKAGE,
    "solution": f"{PACKAGE}.solution",
}
"""What the usual short names stand for when an answer does not import them itself."""


def forbidden_calls(source: str, forbids: tuple[str, ...], given: dict[str, Any] | None = None) -> list[str]:
    """Dotted names used in `source` that are in `forbids` (or below one of them), sorted.

    The course's own package is forbidden everywhere. `given`: what names mean outside the source, where that is
    known. Also unreadable code gives []: whether it runs is for the kernel to say.
    """
    used = _used(source, given or {})
    return sorted(name for name in used if _of_the_course(name) or _below(name, forbids))


def dynamic_calls(source: str) -> list[str]:
    """What in `source` keeps a reader from seeing all that it uses, sorted; for a human to look at."""
    try:
        tree = _parse(source)
    except (RecursionError, MemoryError):
        return [TOO_DEEP]
    return sorted({name for name in _used_in(tree, {}) for d in DYNAMIC if _below(name, (d,))})


def reaches_for_the_course(name: str) -> bool:
    """Whether a name found leads to the course's own functions or solutions."""
    return _below(name, (PACKAGE,))


def _below(name: str, forbids: tuple[str, ...]) -> bool:
    return any(name == b or name.startswith(b + ".") for b in forbids)


def _of_the_course(name: str) -> bool:
    part = name.removeprefix(PACKAGE + ".").split(".")[0]
    return name.startswith(PACKAGE + ".") and part not in ALLOWED


def _used(source: str, given: dict[str, Any]) -> set[str]:
    try:
        return _used_in(_parse(source), given)
    except (RecursionError, MemoryError):
        return set()


def _used_in(tree: ast.AST, given: dict[str, Any]) -> set[str]:
    names = {**_WELL_KNOWN, **_meanings(given), **_imports(tree)}
    return {dotted for node in ast.walk(tree) for dotted in _dotted(node, names)}


def _parse(source: str) -> ast.AST:
    """The tree of a cell, without the lines that only IPython understands; empty for code that does not parse."""
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        lines[first] = ""
    plain = "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
    for text in (plain, None):
        try:
            return ast.parse(_without_magics(source) if text is None else text)
        except (SyntaxError, ValueError):
            continue
    return ast.Module([], [])


def _without_magics(source: str) -> str:
    """`x = %time f()` and the like as the calls that IPython makes of them."""
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        return TransformerManager().transform_cell(source)
    except Exception as error:  # it is not made for hostile text
        raise SyntaxError(str(error)) from None


def _imports(tree: ast.AST) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _meanings(given: dict[str, Any]) -> dict[str, str]:
    """The full names of modules, and of things that come from the course's package."""
    found = {}
    for name, value in given.items():
        module = getattr(value, "__module__", "")
        if isinstance(value, ModuleType):
            found[name] = value.__name__
        elif isinstance(module, str) and module.startswith(PACKAGE + ".") and name not in ALLOWED:
            found[name] = f"{PACKAGE}.{name}"
    return found


def _dotted(node: ast.AST, names: dict[str, str]) -> list[str]:
    """The full dotted names that a node stands for; [] for other nodes."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and _literal_getattr(node):
        inner = _dotted(node.args[0], names)
        return [f"{name}.{node.args[1].value}" for name in inner]  # pyright: ignore[reportAttributeAccessIssue]
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call) and (module := _literal_import(node, names)):
        return [".".join([module, *reversed(parts)])]
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return []
    return [".".join([names.get(node.id, node.id), *reversed(parts)])]


def _literal_getattr(node: ast.Call) -> bool:
    """getattr(x, "name"): an attribute, written differently."""
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) >= 2
        and isinstance(node.args[1], ast.Constant)
    )


def _literal_import(node: ast.Call, names: dict[str, str]) -> str:
    """The module of __import__("module") and importlib.import_module("module"); else ""."""
    by = _dotted(node.func, names)
    if by not in (["__import__"], ["importlib.import_module"]) or not node.args:
        return ""
    name = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
    return name if isinstance(name, str) else ""
