"""Find calls that an exercise forbids by reading the code: a flag for a human, not a proof."""

import ast

ALWAYS = (
    "sdpa_helpers.exercises",
    "sdpa_helpers.grading",
    "sdpa_helpers.solution",
)
"""Names no answer needs: they lead to the solutions."""

_WELL_KNOWN = {
    "np": "numpy",
    "torch": "torch",
    "F": "torch.nn.functional",
    "nn": "torch.nn",
    "sdpa": "sdpa_helpers",
    "solution": "sdpa_helpers.solution",
}
"""What the usual short names stand for when an answer does not import them itself."""


def forbidden_calls(source: str, forbids: tuple[str, ...]) -> list[str]:
    """Dotted names used in `source` that are in `forbids` (or below one of them), sorted.

    Also unreadable code gives []: whether it runs is for the kernel to say.
    """
    try:
        tree = ast.parse(_dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    names = {**_WELL_KNOWN, **_imports(tree)}
    used = {dotted for node in ast.walk(tree) for dotted in _dotted(node, names)}
    bad = (*forbids, *ALWAYS)
    return sorted(name for name in used if any(name == b or name.startswith(b + ".") for b in bad))


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


def _dotted(node: ast.AST, names: dict[str, str]) -> list[str]:
    """The full dotted names that a node stands for; [] for other nodes."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return []
    return [".".join([names.get(node.id, node.id), *reversed(parts)])]


def _dedent(source: str) -> str:
    lines = source.splitlines()
    return "\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines)
