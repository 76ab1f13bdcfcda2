"""Small changes of a function's source text: what a mistyped or half-understood answer may look like.

Each rule looks at one expression or statement and returns what could stand there instead, as text. `mutants` puts it
into the function. Rules may return nonsense: what raises or is refuted by a case costs nothing.
"""

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass


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

_OTHER_OPERATORS: dict[type, tuple[str, ...]] = {
    ast.Add: ("-", "*"),
    ast.Sub: ("+",),
    ast.Mult: ("/", "+", "@"),
    ast.Div: ("*", "//", "-"),
    ast.FloorDiv: ("/", "*"),
    ast.Mod: ("//",),
    ast.Pow: ("*",),
    ast.MatMult: ("*",),
    ast.BitAnd: ("|", "^"),
    ast.BitOr: ("&", "^"),
}
_OTHER_COMPARISONS: dict[type, tuple[str, ...]] = {
    ast.Lt: ("<=", ">", ">=", "!="),
    ast.LtE: ("<", ">", ">=", "=="),
    ast.Gt: (">=", "<", "<=", "!="),
    ast.GtE: (">", "<", "<=", "=="),
    ast.Eq: ("!=", "<=", ">="),
    ast.NotEq: ("==", "<", ">"),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_OPPOSITE = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
_SYMBOLS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
_IN_PLACE: dict[type, str] = {
    ast.Add: "np.add",
    ast.Sub: "np.subtract",
    ast.Mult: "np.multiply",
    ast.Div: "np.divide",
}
_OTHER_FUNCTIONS = {
    "max": ("min", "sum", "mean"),
    "min": ("max",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "any": ("all",),
    "all": ("any",),
    "sum": ("mean", "max", "prod"),
    "mean": ("sum", "max"),
    "maximum": ("minimum", "add"),
    "minimum": ("maximum",),
    "log": ("log2", "log10", "log1p"),
    "exp": ("exp2", "expm1"),
    "sqrt": ("cbrt",),
    "isfinite": ("isnan", "isinf"),
    "isinf": ("isnan", "isposinf", "isneginf"),
    "isnan": ("isinf",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "diag": ("diagflat",),
    "triu": ("tril",),
    "tril": ("triu",),
}
_NEGLIGIBLE = ("1e-3", "1e-10")
"""What people take for zero."""


def text(node: ast.AST) -> str:
    """Source of an expression, in parentheses: it may be put anywhere."""
    return f"({ast.unparse(node)})"


def changes_of(spot: Spot) -> Iterator[Change]:
    """What could stand where an expression stands."""
    for rule in (
        _numbers,
        _names,
        _operators,
        _comparisons,
        _conditions,
        _calls,
        _attributes,
        _indices,
        _loops,
    ):
        yield from rule(spot)
    if spot.returned:
        yield from _results(spot)


def _numbers(spot: Spot) -> Iterator[Change]:
    if spot.field == "operand":  # of a minus: the number with its sign is changed as one
        return
    try:
        value = ast.literal_eval(spot.node)
    except ValueError:
        return
    if isinstance(value, bool):
        yield "flag", str(not value)
    elif isinstance(value, int):
        for other in (value + 1, value - 1, -value, 0, 1, 2 * value, value // 2):
            yield "number", str(other)
    elif isinstance(value, float):
        for other in (2 * value, value / 2, -value, 100 * value, value / 100, 0.0, 1.0):
            yield "number", repr(other)


def _names(spot: Spot) -> Iterator[Change]:
    if isinstance(spot.node, ast.Name) and spot.node.id in spot.names:
        for name in spot.names:
            yield "name", name


def _operators(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if isinstance(node, ast.UnaryOp):
        yield "sign dropped", text(node.operand)
        if isinstance(inner := node.operand, ast.Compare) and type(inner.ops[0]) in _OPPOSITE:
            opposite = _OPPOSITE[type(inner.ops[0])]  # the same, but for NaN
            yield "comparison", f"{text(inner.left)} {opposite} {text(inner.comparators[0])}"
    if not isinstance(node, ast.BinOp):
        return
    left, right = text(node.left), text(node.right)
    for operator in _OTHER_OPERATORS.get(type(node.op), ()):
        yield "operator", f"{left} {operator} {right}"
    yield "one side", left
    yield "one side", right
    if not isinstance(node.op, ast.Add | ast.Mult):
        yield "sides swapped", text(ast.BinOp(node.right, node.op, node.left))
    yield "negated", f"-{text(node)}"
    if isinstance(node.op, ast.Div):
        yield "epsilon", f"{left} / ({right} + 1e-6)"
        yield "epsilon", f"{left} / np.maximum({right}, 1e-12)"
    if function := _IN_PLACE.get(type(node.op)):
        for side in (node.left, node.right):
            if isinstance(side, ast.Name) and side.id in spot.arguments:
                yield "in place", f"{function}({left}, {right}, out={side.id})"


def _comparisons(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    left, right, operator = text(node.left), text(node.comparators[0]), type(node.ops[0])
    for other in _OTHER_COMPARISONS[operator]:
        yield "comparison", f"{left} {other} {right}"
    if operator in (ast.Eq, ast.NotEq):
        sign = "<" if operator is ast.Eq else ">="
        for small in _NEGLIGIBLE:
            yield "nearly", f"np.abs({left} - {right}) {sign} {small}"
        yield "nearly", f"np.isclose({left}, {right})" if sign == "<" else f"~np.isclose({left}, {right})"
    if operator in (ast.Lt, ast.LtE, ast.Gt, ast.GtE):
        for small in _NEGLIGIBLE:
            yield "nearly", f"{left} - {right} {_SYMBOLS[operator]} {small}"
            yield "nearly", f"{left} - {right} {_SYMBOLS[operator]} -{small}"
    if any(isinstance(side, ast.Constant) and side.value == 0 for side in (node.left, node.comparators[0])):
        for name in spot.arguments:  # a zero somewhere taken for zeros everywhere
            yield "zero somewhere", f"not np.all({name})"
            yield "zero sum", f"np.sum({name}) == 0"
            yield "first is zero", f"np.ravel({name})[0] == 0"


def _conditions(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if isinstance(node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield "and, or", word.join(map(text, node.values))
        for value in node.values:
            yield "one condition", text(value)
    if isinstance(node, ast.IfExp):
        yield "one branch", text(node.body)
        yield "one branch", text(node.orelse)
    if spot.field == "test":
        yield "always", "True"
        yield "never", "False"


def _calls(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if not isinstance(node, ast.Call):
        return
    function, values = ast.unparse(node.func), [ast.unparse(value) for value in node.args]
    named = [ast.unparse(keyword) for keyword in node.keywords]
    for value in values:
        yield "call dropped", f"({value})"
    if isinstance(node.func, ast.Attribute):
        owner, name = ast.unparse(node.func.value), node.func.attr
        if owner != "np":
            yield "call dropped", f"({owner})"
        for other in _OTHER_FUNCTIONS.get(name, ()):
            yield "function", f"({owner}).{other}({', '.join([*values, *named])})"
        yield from _one_function(owner, name, values, named)
    for i in range(len(values)):
        yield "argument dropped", f"{function}({', '.join([*values[:i], *values[i + 1 :], *named])})"
    for i in range(len(named)):
        yield "argument dropped", f"{function}({', '.join([*values, *named[:i], *named[i + 1 :]])})"
    yield "argument dropped", f"{function}({', '.join(values)})"
    for i in range(len(values) - 1):
        swapped = [*values[:i], values[i + 1], values[i], *values[i + 2 :]]
        yield "arguments swapped", f"{function}({', '.join([*swapped, *named])})"
    if function == "range":
        yield from (("range", f"range({inside})") for inside in _other_ranges(values))


def _one_function(owner: str, name: str, values: list[str], named: list[str]) -> Iterator[Change]:
    first = values[0] if owner == "np" and values else owner
    if name == "swapaxes":
        yield "transpose", f"({first}).T"
        yield "transpose", f"np.reshape({first}, np.swapaxes({first}, -1, -2).shape)"
    if name == "max":
        yield "less than the largest", f"({owner}).max({', '.join([*values, *named])}) / 2"
    if name in ("argmax", "argmin"):
        yield "last of a tie", f"len({first}) - 1 - np.{name}(({first})[::-1])"
        for place in ("0", "1", "-1"):
            yield "fixed place", place
    if name == "norm":
        yield "norm", f"np.linalg.norm({', '.join([*values, *named, 'ord=1'])})"
        yield "norm", f"np.linalg.norm({', '.join([*values, *named, 'ord=np.inf'])})"
    if name == "where":
        yield "condition negated", f"np.where(~({values[0]}), {', '.join(values[1:])})"
    if name == "isfinite":
        yield "function", f"~np.isnan({first})"
        yield "function", f"~np.isinf({first})"
    if name == "log":
        yield "epsilon", f"np.log({first} + 1e-6)"


def _other_ranges(values: list[str]) -> Iterator[str]:
    stop = 0 if len(values) == 1 else 1
    for change in ("- 1", "+ 1"):
        yield ", ".join([*values[:stop], f"{values[stop]} {change}", *values[stop + 1 :]])
    if len(values) == 1:
        yield f"1, {values[0]}"


def _attributes(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield "transpose", text(node.value)
    if isinstance(node, ast.Attribute) and node.attr == "inf":
        for value in ("-np.inf", "1e4", "1e9", "np.finfo(np.float32).max", "0.0", "np.nan"):
            yield "infinity", value


def _indices(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if not isinstance(node, ast.Subscript):
        return
    value = text(node.value)
    yield "index dropped", value
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for i, part in enumerate(parts):
        others = [ast.unparse(p) for p in parts]
        less = [*others[:i], *others[i + 1 :]]
        if less:
            yield "index dropped", f"{value}[{', '.join(less)}]"
        if isinstance(part, ast.Slice):
            for lower, upper in ((None, part.upper), (part.lower, None)):
                other = ast.unparse(ast.Slice(lower, upper, part.step))
                yield "slice", f"{value}[{', '.join([*others[:i], other, *others[i + 1 :]])}]"


def _loops(spot: Spot) -> Iterator[Change]:
    if spot.field == "iter":
        for part in ("[1:]", "[:-1]", "[:1]", "[:2]", "[::-1]"):
            yield "loop", f"list({ast.unparse(spot.node)}){part}"


def _results(spot: Spot) -> Iterator[Change]:
    value = ast.unparse(spot.node)
    for function in (
        "np.squeeze",
        "np.atleast_1d",
        "np.atleast_2d",
        "np.ravel",
        "np.transpose",
        "np.nan_to_num",
    ):
        yield "result", f"{function}({value})"
    yield "result", f"np.asarray({value})[None]"
    yield "result", f"-({value})"
    yield "result", f"np.abs({value})"
    yield "result", f"np.round({value}, 4)"
    yield "result", f"np.asarray({value}).astype(np.float32)"
    yield "result", f"np.asarray({value}).astype(np.float32).astype(np.float64)"
    if isinstance(spot.node, ast.Tuple):
        yield "result", f"({value})[::-1]"
        yield "result", f"list({value})"
    for name in spot.arguments:
        yield "input changed", f"({value}, {name}.fill(7))[0]"


def instead_of(statement: ast.stmt) -> Iterator[Change]:
    """What could stand where a statement stands: nothing, another operator, a return that comes too early."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr):
        yield "statement dropped", "pass"
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        yield "early return", f"return {ast.unparse(statement.value)}"
    if isinstance(statement, ast.AugAssign):
        target, value = ast.unparse(statement.target), ast.unparse(statement.value)
        yield "operator", f"{target} = {value}"
        for operator in _OTHER_OPERATORS.get(type(statement.op), ()):
            yield "operator", f"{target} {operator}= {value}"
    if isinstance(statement, ast.For):
        yield "loop", f"{ast.unparse(statement)}\n    break"


@dataclass(frozen=True)
class Argument:
    """An argument of the function."""

    name: str
    default: str
    """Its default as text; "" when there is none."""
    array: bool
    """Whether a case has an array there."""


def at_the_start(arguments: tuple[Argument, ...], nan: bool) -> Iterator[Change]:
    """Statements that spoil arguments before the work begins, or refuse some; `nan`: whether a case has NaN or ∞."""
    for argument in arguments:
        name = argument.name
        if argument.default:
            yield "argument ignored", f"{name} = {argument.default}"
        yield "absolute", f"{name} = np.abs({name})"
        if argument.array:
            yield "float32 inside", f"{name} = {name}.astype(np.float32).astype({name}.dtype)"
            yield "squeezed", f"{name} = np.squeeze({name})"
            yield from ((kind, f"if {condition}: raise ValueError") for kind, condition in _narrow(name))
    for a, b in itertools.combinations([argument.name for argument in arguments], 2):
        yield "arguments swapped", f"{a}, {b} = {b}, {a}"
        yield "argument ignored", f"{a} = {b}"
        yield "argument ignored", f"{b} = {a}"
    arrays = [argument.name for argument in arguments if argument.array]
    for names in [*((name,) for name in arrays), *itertools.combinations(arrays, 2)]:
        together = ", ".join(names)
        if nan:
            yield "NaN ignored", f"{together} = {', '.join(f'np.nan_to_num({name})' for name in names)}"
        for n, rest in itertools.product((1, 2, 3, 4, 8), ("", ", :")):
            yield "first few only", f"{together} = {', '.join(f'{name}[..., :{n}{rest}]' for name in names)}"


def _narrow(name: str) -> Iterator[Change]:
    """Conditions under which an answer that thinks of one shape alone would fail."""
    for condition in ("== 1", "> 1", "== 2", "> 2"):
        yield "number of axes", f"np.ndim({name}) {condition}"
    for axis in (-1, -2, -3):
        yield "length 1", f"np.ndim({name}) >= {-axis} and np.shape({name})[{axis}] == 1"
