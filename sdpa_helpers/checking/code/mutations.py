"""Changes that break a function: what a mistyped or half-understood answer may look like."""

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from sdpa_helpers.checking.code.changes import ORDERS, Change, Spot, sign_of, text

_OTHERS = {
    **{"+": "- *", "-": "+", "*": "/ + @", "/": "* // -", "//": "/ *", "%": "//", "**": "*", "@": "*"},
    **{"&": "| ^", "|": "& ^", "<": "<= > >= !=", "<=": "< > >= ==", ">": ">= < <= !=", ">=": "> < <= =="},
    **{"==": "!= <= >=", "!=": "== < >"},
}
"""For an operator those that people take for it."""
_OPPOSITE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
_IN_PLACE = {"+": "np.add", "-": "np.subtract", "*": "np.multiply", "/": "np.divide"}
_NEGLIGIBLE = ("1e-3", "1e-10")
"""What people take for zero."""
_OTHER_FUNCTIONS = {
    name: others
    for name, *others in map(
        str.split,
        (
            *("max min sum mean", "min max", "argmax argmin", "argmin argmax", "any all", "all any"),
            *("sum mean max prod", "mean sum max", "maximum minimum add", "minimum maximum"),
            *("log log2 log10 log1p", "exp exp2 expm1", "sqrt cbrt", "isfinite isnan isinf"),
            *("isinf isnan isposinf isneginf", "isnan isinf", "zeros ones", "ones zeros", "diag diagflat"),
            *("triu tril", "tril triu"),
        ),
    )
}
"""What is taken for what: the name, then the others."""


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
        _results,
    ):
        yield from rule(spot)


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
        yield from (("name", name) for name in spot.names)


def _operators(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if isinstance(node, ast.UnaryOp):
        yield "sign dropped", text(node.operand)
        if isinstance(inner := node.operand, ast.Compare) and isinstance(inner.ops[0], ORDERS):
            opposite = _OPPOSITE[sign_of(inner.ops[0])]  # the same, but for NaN
            yield "comparison", f"{text(inner.left)} {opposite} {text(inner.comparators[0])}"
    if not isinstance(node, ast.BinOp):
        return
    left, right, sign = text(node.left), text(node.right), sign_of(node.op)
    yield from (("operator", f"{left} {other} {right}") for other in _OTHERS.get(sign, "").split())
    yield "one side", left
    yield "one side", right
    if sign not in ("+", "*"):
        yield "sides swapped", text(ast.BinOp(node.right, node.op, node.left))
    yield "negated", f"-{text(node)}"
    if sign == "/":
        yield "epsilon", f"{left} / ({right} + 1e-6)"
        yield "epsilon", f"{left} / np.maximum({right}, 1e-12)"
    for side in (node.left, node.right) if sign in _IN_PLACE else ():
        if isinstance(side, ast.Name) and side.id in spot.arguments:
            yield "in place", f"{_IN_PLACE[sign]}({left}, {right}, out={side.id})"


def _comparisons(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return
    left, right, sign = text(node.left), text(node.comparators[0]), sign_of(node.ops[0])
    for other in _OTHERS[sign].split() if sign in _OTHERS else [_OPPOSITE[sign]]:
        at_the_edge = other.strip("=") == sign.strip("=")
        yield "edge" if at_the_edge else "comparison", f"{left} {other} {right}"
    if sign in ("==", "!="):
        near, no = ("<", "") if sign == "==" else (">=", "~")
        yield from (("nearly", f"np.abs({left} - {right}) {near} {small}") for small in _NEGLIGIBLE)
        yield "nearly", f"{no}np.isclose({left}, {right})"
    if isinstance(node.ops[0], ORDERS):
        for small, minus in itertools.product(_NEGLIGIBLE, ("", "-")):
            yield "nearly", f"{left} - {right} {sign} {minus}{small}"
    if any(isinstance(side, ast.Constant) and side.value == 0 for side in (node.left, node.comparators[0])):
        for name in spot.arguments:  # a zero somewhere taken for zeros everywhere
            yield "zero somewhere", f"not np.all({name})"
            yield "zero sum", f"np.sum({name}) == 0"
            yield "first is zero", f"np.ravel({name})[0] == 0"


def _conditions(spot: Spot) -> Iterator[Change]:
    if isinstance(node := spot.node, ast.BoolOp):
        word = " or " if isinstance(node.op, ast.And) else " and "
        yield "and, or", word.join(map(text, node.values))
        yield from (("one condition", text(value)) for value in node.values)
    if isinstance(node, ast.IfExp):
        yield from (("one branch", text(branch)) for branch in (node.body, node.orelse))
    if spot.field == "test":
        yield "always", "True"
        yield "never", "False"


_TIED = (
    ("last of a tie", "len({first}) - 1 - np.{name}(({first})[::-1])"),
    *(("fixed place", n) for n in ["0", "1", "-1"]),
)
_OF_ONE = {
    "swapaxes": (
        ("transpose", "({first}).T"),
        ("transpose", "np.reshape({first}, np.swapaxes({first}, -1, -2).shape)"),
    ),
    "max": (("less than the largest", "({owner}).max({given}) / 2"),),
    "argmax": _TIED,
    "argmin": _TIED,
    "norm": (("norm", "np.linalg.norm({given}, ord=1)"), ("norm", "np.linalg.norm({given}, ord=np.inf)")),
    "where": (("condition negated", "np.where(~({first}), {rest})"),),
    "isfinite": (("function", "~np.isnan({first})"), ("function", "~np.isinf({first})")),
    "log": (("epsilon", "np.log({first} + 1e-6)"),),
}
"""What people write for one function of NumPy."""


def _calls(spot: Spot) -> Iterator[Change]:
    if not isinstance(node := spot.node, ast.Call):
        return
    function, values = ast.unparse(node.func), [ast.unparse(value) for value in node.args]
    named = [ast.unparse(keyword) for keyword in node.keywords]
    yield from (("call dropped", f"({value})") for value in values)
    if isinstance(node.func, ast.Attribute):
        owner, name, given = ast.unparse(node.func.value), node.func.attr, ", ".join([*values, *named])
        if owner != "np":
            yield "call dropped", f"({owner})"
        yield from (("function", f"({owner}).{other}({given})") for other in _OTHER_FUNCTIONS.get(name, ()))
        first = values[0] if owner == "np" and values else owner
        for kind, after in _OF_ONE.get(name, ()):
            yield (
                kind,
                after.format(first=first, owner=owner, given=given, rest=", ".join(values[1:]), name=name),
            )
    for given in _less_of(values, named):
        yield "argument dropped", f"{function}({', '.join(given)})"
    for i in range(len(values) - 1):
        swapped = [*values[:i], values[i + 1], values[i], *values[i + 2 :]]
        yield "arguments swapped", f"{function}({', '.join([*swapped, *named])})"
    if function == "range":
        yield from (("range", f"range({inside})") for inside in _other_ranges(values))


def _less_of(values: list[str], named: list[str]) -> Iterator[list[str]]:
    """The arguments of a call without one of them, or without all that have names."""
    every = [*values, *named]
    yield from ([*every[:i], *every[i + 1 :]] for i in range(len(every)))
    yield values


def _other_ranges(values: list[str]) -> Iterator[str]:
    stop = 0 if len(values) == 1 else 1
    for change in ("- 1", "+ 1"):
        yield ", ".join([*values[:stop], f"{values[stop]} {change}", *values[stop + 1 :]])
    if len(values) == 1:
        yield f"1, {values[0]}"


def _attributes(spot: Spot) -> Iterator[Change]:
    if isinstance(spot.node, ast.Attribute) and spot.node.attr == "T":
        yield "transpose", text(spot.node.value)
    if isinstance(spot.node, ast.Attribute) and spot.node.attr == "inf":
        for value in ("-np.inf", "1e4", "1e9", "np.finfo(np.float32).max", "0.0", "np.nan"):
            yield "infinity", value


def _indices(spot: Spot) -> Iterator[Change]:
    if not isinstance(node := spot.node, ast.Subscript):
        return
    value = text(node.value)
    yield "index dropped", value
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts = [ast.unparse(part) for part in parts]
    for i, part in enumerate(parts):
        if less := [*texts[:i], *texts[i + 1 :]]:
            yield "index dropped", f"{value}[{', '.join(less)}]"
        if isinstance(part, ast.Slice):
            for lower, upper in ((None, part.upper), (part.lower, None)):
                other = ast.unparse(ast.Slice(lower, upper, part.step))
                yield "slice", f"{value}[{', '.join([*texts[:i], other, *texts[i + 1 :]])}]"


def _loops(spot: Spot) -> Iterator[Change]:
    if spot.field == "iter":
        for part in ("[1:]", "[:-1]", "[:1]", "[:2]", "[::-1]"):
            yield "loop", f"list({ast.unparse(spot.node)}){part}"


_RESULTS = (
    *("np.squeeze({})", "np.atleast_1d({})", "np.atleast_2d({})", "np.ravel({})", "np.transpose({})"),
    *("np.nan_to_num({})", "np.asarray({})[None]", "-({})", "np.abs({})", "np.round({}, 4)"),
    *("np.asarray({}).astype(np.float32)", "np.asarray({}).astype(np.float32).astype(np.float64)"),
)


def _results(spot: Spot) -> Iterator[Change]:
    if not spot.returned:
        return
    value = ast.unparse(spot.node)
    of_tuples = ("({})[::-1]", "list({})") if isinstance(spot.node, ast.Tuple) else ()
    yield from (("result", form.format(value)) for form in (*_RESULTS, *of_tuples))
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
        for other in _OTHERS.get(sign_of(statement.op), "").split():
            yield "operator", f"{target} {other}= {value}"
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
