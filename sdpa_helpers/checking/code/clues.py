"""What the source of an answer shows by itself: lines that support the name of a mistake, and never prove one."""

import ast
import builtins
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal[
    "read",  # the text was there, whatever it shows
    "transpose-all",  # `K.T`, or transpose() without axes
    "transpose-of-two-axes",  # `K.transpose(-2, -1)`, as in PyTorch
    "literal-axis",  # axis=0, axis=1
    "where-without-out",  # np.log(w, where=w > 0)
    "writes-argument",  # `Q /= 2`, `x[mask] = 0` on an argument
    "finite-fill",  # -1e9
    "truth-of-array",  # `mask = mask or True`, `if mask:`
    "no-transpose",  # `Q @ K` of two arguments
    "squeeze",
    "float32",
    "float16",
    "no-return",
    "loop",
    "reshape",
    "log",
    "log2",
    "log10",
    "calls-own",  # another function, whose text isn't here
    "adds-maximum",  # `x + x.max()`, or `x + m` after `m = x.max()`
    "thrown-away",  # `np.where(mask, s, -np.inf)` as a statement
]

CLAIMS: tuple[tuple[str, tuple[Kind, ...], int], ...] = (
    ("in a loop and give", ("loop",), 1),
    ("different logarithms", ("log", "log2", "log10"), 2),
    ("You reshaped", ("reshape",), 1),
    ("by `reshape` alone", ("reshape",), 1),
    ("You added the maximum", ("adds-maximum",), 1),
)
"""What a sentence says of the code itself, what has to stand there then, and how many of these."""


DENIED: tuple[tuple[str, Kind], ...] = (("No maximum is subtracted", "adds-maximum"),)
"""What a sentence says of the code, and what must not stand there then."""


def backed(says: str, found: tuple["Clue", ...]) -> bool:
    """Whether what a sentence claims of the code is there; yes, where the code isn't known, or a part of it isn't."""
    there = {clue.kind for clue in found}
    if "read" not in there or "calls-own" in there:
        return True
    if any(claim in says and kind in there for claim, kind in DENIED):
        return False
    return all(len(there & {*kinds}) >= needed for claim, kinds, needed in CLAIMS if claim in says)


LONGEST = 20_000
"""More characters than any answer has; a longer source is not read."""


@dataclass(frozen=True)
class Clue:
    """One line that shows something."""

    kind: Kind
    line: str
    """e.g. "line 3: `scores = Q @ K.T`"."""


@lru_cache(maxsize=64)
def clues(source: str, name: str) -> tuple[Clue, ...]:
    """The clues in the function `name` (or, when there is none of that name, in all of the source)."""
    if len(source) > LONGEST or not source.strip():
        return ()
    text = textwrap.dedent(source)
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    lines = text.split("\n")
    found: dict[tuple[str, int], Clue] = {("read", 0): Clue("read", "")}
    for function in functions or [tree]:
        for kind, node in _all(function):
            number = getattr(node, "lineno", 1)
            shown = lines[number - 1].strip()[:120] if number <= len(lines) else ""
            lost = " makes something new, and throws it away" if kind == "thrown-away" else ""
            found.setdefault((kind, number), Clue(kind, f"line {number}: `{shown}`{lost}"))
    return tuple(found.values())


def _all(tree: ast.AST) -> Iterator[tuple[Kind, ast.AST]]:
    arguments = {a.arg for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) for a in n.args.args}
    rebound = {
        t.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    for node in ast.walk(tree):
        for kind in (*_of_node(node, arguments, arguments - rebound), *_of_way(node)):
            yield kind, node
    for node in _maximum_added(tree):
        yield "adds-maximum", node
    if isinstance(tree, ast.FunctionDef) and not any(isinstance(n, ast.Return) for n in ast.walk(tree)):
        yield "no-return", tree


def _of_node(node: ast.AST, arguments: set[str], untouched: set[str]) -> Iterator[Kind]:
    match node:
        case ast.Attribute(attr="T"):
            yield "transpose-all"
        case ast.Call(func=ast.Attribute(attr="transpose"), args=[]):
            yield "transpose-all"
        case ast.Call(
            func=ast.Attribute(attr="transpose"),
            args=[ast.Constant() | ast.UnaryOp(), ast.Constant() | ast.UnaryOp()],
        ):
            yield "transpose-of-two-axes"
        case ast.BinOp(left=ast.Name(id=one), op=ast.MatMult(), right=ast.Name(id=other)):
            if {one, other} <= untouched:
                yield "no-transpose"
        case ast.Call(func=ast.Attribute(attr="squeeze")):
            yield "squeeze"
        case ast.keyword(arg="axis" | "dim", value=ast.Constant(value=0 | 1 | 2)):
            yield "literal-axis"
        case ast.Call(keywords=words) if any(w.arg == "where" for w in words):
            if not any(w.arg in ("out", "initial") for w in words) and not _named(
                node.func, ("sum", "mean", "any", "all")
            ):
                yield "where-without-out"
        case ast.AugAssign(target=ast.Name(id=name)) if name in untouched:
            yield "writes-argument"
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))) if name in untouched:
            yield "writes-argument"
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if name in untouched:
            yield "writes-argument"
        case ast.keyword(arg="out", value=ast.Name(id=name)) if name in untouched:
            yield "writes-argument"
        case ast.Constant(value=float(number)) if 1e3 <= abs(number) < float("inf"):
            yield "finite-fill"
        case ast.BoolOp(values=[ast.Name(id=name), *_]) if name in arguments:
            yield "truth-of-array"
        case ast.If(test=ast.Name(id=name)) if name in arguments:
            yield "truth-of-array"
        case ast.Attribute(attr="float32" | "single"):
            yield "float32"
        case ast.Call() if any(_dtype(a) in ("float32", "f4", "f") for a in _given(node)):
            yield "float32"
        case ast.Attribute(attr="float16" | "half"):
            yield "float16"
        case ast.Call() if any(_dtype(a) in ("float16", "f2") for a in _given(node)):
            yield "float16"


def _of_way(node: ast.AST) -> Iterator[Kind]:
    """In which way something is done, for what a sentence claims of it."""
    match node:
        case ast.For() | ast.While() | ast.comprehension():
            yield "loop"
        case ast.Call(func=ast.Attribute(attr="reshape" | "view" | "resize" | "ravel" | "flatten")):
            yield "reshape"
        case ast.Assign(targets=[ast.Attribute(attr="shape")]):
            yield "reshape"
        case ast.Call(func=ast.Attribute(attr="log" | "log2" | "log10" as which)):
            yield which  # pyright: ignore[reportReturnType]
        case ast.Call(func=ast.Name(id=name)) if not hasattr(builtins, name):
            yield "calls-own"
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name in _MAKES:
            yield "thrown-away"


def _maximum_added(tree: ast.AST) -> Iterator[ast.AST]:
    """Sums with a maximum in them: the call itself, or a name that stands for it."""
    called = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_maximum(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            sides = (node.left, node.right)
            if any(_is_maximum(s) or (isinstance(s, ast.Name) and s.id in called) for s in sides):
                yield node


def _is_maximum(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _named(node.func, ("max", "amax"))


_MAKES = {"where", "masked_fill", "swapaxes", "transpose", "reshape", "astype"}
"""What returns a new array, and changes none."""


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(word.value for word in call.keywords)]


def _dtype(argument: ast.expr) -> str:
    """The text of an argument that may be the name of a dtype."""
    is_text = isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    return argument.value if is_text else ""  # pyright: ignore[reportAttributeAccessIssue, reportReturnType]


def _named(function: ast.expr, names: tuple[str, ...]) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in names
