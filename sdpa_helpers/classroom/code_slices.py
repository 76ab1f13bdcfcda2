"""Parts of a Python file: what some of its names need, and nothing else."""

import ast
from collections.abc import Container
from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A file and its syntax tree."""

    text: str
    tree: ast.Module

    @classmethod
    def read(cls, text: str) -> "Source":
        """Parse a file's text."""
        return cls(text, ast.parse(text))


def imports_from(tree: ast.Module, modules: Container[str | None]) -> list[tuple[str, str]]:
    """What a file imports from these modules: (module, name)."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in modules]
    return [(str(node.module), alias.name) for node in found for alias in node.names]


def slice_of(source: Source, names: set[str], given: frozenset[str] = frozenset()) -> list[str]:
    """The top-level statements that define these names, and all that those need, in the order of the file.

    given: names that need no definition.
    """
    defined = [(node, _defines(node) - given) for node in source.tree.body]
    needed, waiting = set[str](), set(names)
    while waiting:
        needed |= waiting
        nodes = [node for node, here in defined if here & waiting and not _is_import(node)]
        waiting = {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)} - needed
    return [_text(source, node, needed) for node, here in defined if here & needed]


def _defines(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return set()


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _text(source: Source, node: ast.stmt, needed: set[str]) -> str:
    """A statement as it is written; of an import the names that are needed."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias for alias in node.names if (alias.asname or alias.name) in needed]
        if isinstance(node, ast.Import):
            return ast.unparse(ast.Import(names))
        return ast.unparse(ast.ImportFrom(node.module, names, node.level))
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    return "\n".join(source.text.split("\n")[first - 1 : node.end_lineno])
