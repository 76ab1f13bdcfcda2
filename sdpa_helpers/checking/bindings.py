"""Which names a piece of Python's syntax gives to which values, as far as reading can tell, and which text it is."""

import ast
from collections.abc import Iterator

_LONGEST = 200


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of everything that a node binds: `a = b`, `a, b = c, d`, a default, a loop over a list, a match."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _taken_apart(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            yield from _taken_apart(target, value)
        case ast.For(target=target, iter=values) | ast.comprehension(target=target, iter=values):
            for value in getattr(values, "elts", ()):
                yield from _taken_apart(target, value)
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield from _taken_apart(target, value)
            for given in value.args if isinstance(value, ast.Call) else ():  # nullcontext(torch)
                yield from _taken_apart(target, given)
        case ast.Match(subject=value, cases=cases):
            for case in cases:
                if isinstance(case.pattern, ast.MatchAs) and case.pattern.name:
                    yield from _named(case.pattern.name, value)
        case ast.arguments():
            last = [*node.posonlyargs, *node.args][-len(node.defaults) :] if node.defaults else []
            for argument, value in (
                *zip(last, node.defaults, strict=True),
                *zip(node.kwonlyargs, node.kw_defaults, strict=True),
            ):
                if value is not None:
                    yield from _named(argument.arg, value)


def _taken_apart(target: ast.AST, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield from _named(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for part, given in zip(target.elts, value.elts, strict=False):
            yield from _taken_apart(part, given)


def _named(name: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The values that it may be."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            yield from (*_named(name, one), *_named(name, other))
        case ast.BoolOp(values=values):
            for each in values:
                yield from _named(name, each)
        case ast.NamedExpr(value=inner):
            yield from _named(name, inner)
        case _:
            yield name, value


def text_of(node: ast.AST | None) -> str:
    """The text that a node is, also one put together from texts: "softmax" for `"soft" + "max"`; else ""."""
    match node:
        case ast.Constant(value=str(text)):
            return text[:_LONGEST]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = text_of(left), text_of(right)
            return (one + other)[:_LONGEST] if one and other else ""
        case ast.JoinedStr(values=values) if all(isinstance(value, ast.Constant) for value in values):
            return "".join(map(text_of, values))[:_LONGEST]
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"),
            args=[ast.List() | ast.Tuple() as parts],
        ):
            texts = [text_of(part) for part in parts.elts]
            return between.join(texts)[:_LONGEST] if all(texts) else ""
    return ""
