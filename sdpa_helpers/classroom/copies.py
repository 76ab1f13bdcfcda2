"""Where an edition still prints the code of an answer that was to be kept back: found by the shape of its tokens."""

import ast
import inspect
import keyword
import re
import textwrap
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import nbformat

from sdpa_helpers.checking.exercise import Exercise

FEWEST = 9
"""Tokens. Shorter answers, as `weights @ V`, are in every text about attention."""

_TOKEN = re.compile(
    r"(?P<text>\"{3}.*?\"{3}|'{3}.*?'{3}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<comment>#[^\n]*)"
    r"|(?P<attribute>\.\s*[^\W\d]\w*)|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<other>[^\s\w])",
    re.DOTALL,
)

_FENCED = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def copies_in(folder: Path, exercises: Iterable[Exercise]) -> list[tuple[str, tuple[str, ...]]]:
    """Files of an edition that hold the whole code of some of these exercises' references: (path, their names)."""
    shapes = {e.name: _answer_of(e) for e in exercises}
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".md", ".ipynb"):
            text = f" {' '.join(_tokens(_code_of(path)))} "
            names = tuple(name for name, shape in shapes.items() if _is_code(shape) and f" {shape} " in text)
            if names:
                found.append((path.relative_to(folder).as_posix(), names))
    return found


def _is_code(shape: str) -> bool:
    """Whether it is long enough to be told from others. All texts look the same here, so a list of them is not."""
    return shape.count(" ") >= FEWEST and bool(set(shape.split()) - {"'", "(", ")", ","})


@cache
def _answer_of(exercise: Exercise) -> str:
    """The shape of what a reference does, without its head and its last `return`."""
    function = ast.parse(textwrap.dedent(inspect.getsource(exercise.reference))).body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = [ast.unparse(node) for node in function.body if not _is_text(node)]
    if len(lines) == 1:
        lines = [lines[0].removeprefix("return ")]
    return " ".join(_tokens("\n".join(lines)))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _code_of(path: Path) -> str:
    """What is written in a file; of a notebook what is in its cells, of a page what stands between ```."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    if path.suffix == ".md":
        return "\n".join(_FENCED.findall(text))
    return "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)


def _tokens(source: str) -> list[str]:
    """Names that people choose are alike; what is called, operators and numbers count, comments don't."""
    found = []
    for match in _TOKEN.finditer(source):
        text = "".join(match.group().split())
        if match["text"]:
            found.append("'")
        elif match["name"]:
            found.append(text if keyword.iskeyword(text) else "name")
        elif not match["comment"]:
            found.append(text)
    return found
