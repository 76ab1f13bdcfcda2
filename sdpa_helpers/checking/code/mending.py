"""Changes that mend code where `mutations` break it: steps that were forgotten, axes, brackets, a return too early.

None of them makes a wrong answer right by force: nothing is normalised, cast, rounded or cleared of NaN.
"""

import ast
import itertools
from collections.abc import Iterator

from sdpa_helpers.checking.code.changes import ORDERS, Change, Spot, sign_of, text

_KEEP = {"sum", "max", "min", "mean", "any", "all"}
_ALONG_AXES = _KEEP | {"argmax", "argmin", "concatenate", "stack", "repeat", "softmax"}
_AXES = ("-1", "-2", "-3", "0", "1")


def mends_of(spot: Spot) -> Iterator[Change]:
    """What could stand where an expression stands."""
    for rule in (sizes_of, _numbers, _axes, _brackets, _transposes, _slices, _steps):
        yield from rule(spot)


def sizes_of(spot: Spot) -> Iterator[Change]:
    """Another axis of another argument where the length of an axis is read; one more or less where it is compared."""
    node = spot.node
    if isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
        for name, axis in itertools.product(spot.arguments, _AXES):
            yield "size", f"{name}.shape[{axis}]"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ORDERS):
        left, right, sign = text(node.left), text(node.comparators[0]), sign_of(node.ops[0])
        yield from (("off by one", f"{left} {sign} {right} {one}") for one in ("+ 1", "- 1"))


def _numbers(spot: Spot) -> Iterator[Change]:
    if spot.field == "operand":
        return
    try:
        value = ast.literal_eval(spot.node)
    except ValueError:
        return
    if type(value) is int:
        yield from (("number", other) for other in ("-1", "-2", "-3", "2"))
    if type(value) is float and abs(value) >= 1e3:
        yield "number", "-np.inf"


def _axes(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in _ALONG_AXES:
        return
    is_method = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) != "np"
    values = [] if is_method else [ast.unparse(value) for value in node.args]
    named = [ast.unparse(word) for word in node.keywords if word.arg not in ("axis", "keepdims")]
    for axis in [*_AXES, *(["axis"] if "axis" in spot.arguments else [])]:
        for keep in ("", "keepdims=True") if name in _KEEP else ("",):
            inside = ", ".join(filter(None, [*values[:1], *named, f"axis={axis}", keep]))
            yield "axis", f"{ast.unparse(node.func)}({inside})"


def _brackets(spot: Spot) -> Iterator[Change]:
    """`a / b * c` where a / (b * c) was meant, and the like."""
    node = spot.node
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.BinOp):
        inner = ast.BinOp(node.left.right, node.op, node.right)
        yield "brackets", f"{text(node.left.left)} {sign_of(node.left.op)} {text(inner)}"


def _transposes(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield "transpose", f"np.swapaxes({ast.unparse(node.value)}, -1, -2)"
    elif isinstance(node, ast.Name | ast.Call):
        yield "transpose", f"np.swapaxes({ast.unparse(node)}, -1, -2)"
        yield "transpose", f"np.swapaxes({ast.unparse(node)}, -2, -3)"


def _slices(spot: Spot) -> Iterator[Change]:
    node = spot.node
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        begin, end = (ast.unparse(part) if part else "" for part in (node.slice.lower, node.slice.upper))
        if end:
            yield from (("slice", f"{text(node.value)}[{begin}:({end}) {one}]") for one in ("+ 1", "- 1"))


_STEPS = ("-{}", "1 - {}", "1 / {}", "np.sqrt({})", "np.log({})", "np.exp({})", "{} ** 2", "{} + 1", "{} - 1")
_STEPS += ("{}[..., None]",)


def _steps(spot: Spot) -> Iterator[Change]:
    """A step around a name, a call or a calculation."""
    node, kinds = spot.node, ast.Name | ast.Call | ast.BinOp | ast.Subscript | ast.Compare
    if spot.field == "func" or not isinstance(node, kinds):
        return
    it = text(node)
    if isinstance(node, ast.Compare | ast.Name | ast.BinOp):
        yield "condition", f"~{it}"
    if isinstance(node, ast.Compare):
        return
    for step in _STEPS:
        yield "step", step.format(it)
    for name in spot.arguments:
        yield "step", f"{it} / np.sqrt({name}.shape[-1])"
        yield "step", f"{it} * np.sqrt({name}.shape[-1])"


def instead_of(statement: ast.stmt) -> Iterator[Change]:
    """What could stand where a statement stands."""
    if isinstance(statement, ast.AugAssign):
        target, sign = ast.unparse(statement.target), sign_of(statement.op)
        if sign:
            yield "in place", f"{target} = {target} {sign} {text(statement.value)}"
    if (
        isinstance(statement, ast.For)
        and isinstance(statement.body[-1], ast.Return)
        and len(statement.body) > 1
    ):
        loop = ast.For(statement.target, statement.iter, statement.body[:-1], statement.orelse, lineno=1)
        yield "return", f"{ast.unparse(loop)}\n{ast.unparse(statement.body[-1])}"
    if isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call) and call.args:
        names = [node.id for node in ast.walk(call) if isinstance(node, ast.Name) and node.id != "np"]
        yield from (("thrown away", f"{name} = {ast.unparse(call)}") for name in dict.fromkeys(names))
