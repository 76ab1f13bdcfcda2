"""Small changes of a function's source, one at a time: where they may stand, and the function with each of them.

`mutations` and `mending` are the rules: what could stand where an expression or a statement stands, as text. Rules may
return nonsense: what is no Python is left out, and what raises or is refuted by a case costs nothing.
"""

import ast
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType

_SIGNS: dict[type, str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"},
    **{ast.Pow: "**", ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"},
}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def sign_of(operator: ast.operator | ast.cmpop) -> str:
    """How an operator is written; "" for the rarest."""
    return _SIGNS.get(type(operator), "")


@dataclass(frozen=True)
class Spot:
    """An expression, and what a rule may have to know of its surroundings."""

    node: ast.expr
    field: str
    """The field of the node above that holds it, e.g. "iter"."""
    returned: bool
    """Whether it is what the function returns, or a part of the tuple that it returns."""
    names: tuple[str, ...]
    """Arguments and variables of the function."""
    arguments: tuple[str, ...]


Change = tuple[str, str]
"""The kind of a change, and the text that stands there instead."""
OfExpression = Callable[[Spot], Iterable[Change]]
OfStatement = Callable[[ast.stmt], Iterable[Change]]
"""What could stand where one stands."""


def text(node: ast.AST) -> str:
    """Source of an expression, in parentheses: it may be put anywhere."""
    return f"({ast.unparse(node)})"


Changed = tuple[str, int, str, str, CodeType] | tuple[str, int, str, str, CodeType, str, str]
"""Kind, line, the statement before, the statement after, the whole function compiled; the expression that was changed,
before and after."""


def changes_inside(
    tree: ast.FunctionDef, file: str, rules: tuple[OfExpression, OfStatement], kept: Container[str] = ()
) -> Iterator[Changed]:
    """Every change of its statements, but for kept first lines. The tree is changed for each, and put right again."""
    of_expression, of_statement = rules
    seen: set[tuple[int, str]] = set()

    def is_new(line: int, after: str) -> bool:
        return (line, after) not in seen and not seen.add((line, after))

    stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    known = tuple(dict.fromkeys([*arguments_of(tree), *stored])), arguments_of(tree)

    def rule(node: ast.expr, field: str, returned: bool) -> Iterable[Change]:
        return of_expression(Spot(node, field, returned, *known))

    if _first_line(tree) not in kept:
        yield from _in_expressions(tree, tree, rule, is_new, file)  # defaults of arguments
    for block in _blocks(tree):
        for i in range(first_of(tree) if block is tree.body else 0, len(block)):
            statement = block[i]
            if (before := _first_line(statement)) in kept:
                continue
            for kind, after in of_statement(statement):
                shown, where = " ".join(after.split()), slice(i, i + 1)
                if is_new(statement.lineno, shown) and (code := compiled(tree, block, where, after, file)):
                    yield kind, statement.lineno, before, shown, code
            yield from _in_expressions(tree, statement, rule, is_new, file)


def arguments_of(tree: ast.FunctionDef) -> tuple[str, ...]:
    """The names of a function's arguments that may be given by place."""
    return tuple(a.arg for a in [*tree.args.posonlyargs, *tree.args.args])


def first_of(tree: ast.FunctionDef) -> int:
    """The place of the first statement, behind the docstring."""
    return 1 if ast.get_docstring(tree) else 0


def _blocks(tree: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Every list of statements inside a function, outermost first."""
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(tree, name, None):
            yield block
            for statement in block:
                yield from _blocks(statement)


def compiled(
    tree: ast.FunctionDef, block: list[ast.stmt], where: slice, text: str, file: str
) -> CodeType | None:
    """The function with statements of a block replaced; None when that is no Python."""
    kept = list(block)
    try:
        block[where] = ast.parse(text).body
        return _compile(tree, file)
    except SyntaxError:
        return None
    finally:
        block[:] = kept


def _compile(tree: ast.FunctionDef, file: str) -> CodeType:
    return compile(ast.Module([tree], []), file, "exec")


def _in_expressions(
    tree: ast.FunctionDef,
    statement: ast.stmt,
    rule: Callable[[ast.expr, str, bool], Iterable[Change]],
    is_new: Callable[[int, str], bool],
    file: str,
) -> Iterator[Changed]:
    before = _first_line(statement)
    for parent, name, i in _places(statement):
        held = getattr(parent, name)
        node = held if i is None else held[i]
        returned = name == "value" and parent is statement and isinstance(statement, ast.Return)
        returned = returned or (
            isinstance(statement, ast.Return)
            and parent is statement.value is not node
            and isinstance(parent, ast.Tuple)
        )
        around = _around(parent, node)
        was = ast.unparse(around)
        for kind, text in rule(node, name, returned):
            try:
                other = ast.parse(text, mode="eval").body
                _put(parent, name, i, other)
                after = _first_line(statement)
                if after != before and is_new(statement.lineno, after):
                    now = ast.unparse(other if around is node else around)
                    yield kind, statement.lineno, before, after, _compile(tree, file), was, now
            except SyntaxError:
                continue
            finally:
                _put(parent, name, i, node)


def _around(parent: ast.AST, node: ast.expr) -> ast.AST:
    """What shows best where an expression stands: it, or what a name or a number is a part of."""
    small = isinstance(node, ast.Name | ast.Constant | ast.UnaryOp)
    if not small or not isinstance(parent, ast.expr | ast.keyword):
        return node
    return parent if len(ast.unparse(parent)) <= MOST_AROUND else node


MOST_AROUND = 40
"""Characters."""


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where expressions that are read stand in a statement: the node above, its field, the place in a list."""
    for name, held in ast.iter_fields(node):
        items = list(enumerate(held)) if isinstance(held, list) else [(None, held)]
        for i, child in items:
            if isinstance(child, ast.stmt) or not isinstance(child, ast.AST):
                continue
            reads = not isinstance(getattr(child, "ctx", ast.Load()), ast.Store | ast.Del)
            if isinstance(child, ast.expr) and not isinstance(child, ast.Slice | ast.Starred) and reads:
                yield node, name, i
            yield from _places(child)


def _put(parent: ast.AST, name: str, i: int | None, node: ast.AST) -> None:
    if i is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[i] = node


def _first_line(statement: ast.stmt) -> str:
    return ast.unparse(statement).partition("\n")[0]
