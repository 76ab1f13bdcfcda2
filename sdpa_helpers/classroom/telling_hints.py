"""Hints that give an answer away: whose code earns points, as the engine judges it, or that write the answer down.

What a hint says in code, or in words that read as code, is put into the stub in the obvious ways: its assignments as
the body, each expression behind `return`, alone, within a function that the hint names, or joined with another.
"""

import ast
import builtins
import inspect
import re
from collections.abc import Iterator
from functools import cache
from itertools import permutations

from sdpa_helpers.checking.diagnose import points_of
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.course.exercise_notebook import answer_cell

_SAID = {"·": "*", "−": "-", "²": "**2", "≤": "<=", "≥": ">=", "ln(": "np.log(", "√d_k": "np.sqrt(d_k)"}
"""Signs of the words that Python writes otherwise."""
_JOINED = ("@", "*", "-", "+", "/", "<", "<=", "&")
_WRITES = re.compile(r"[=·²√^@∘ᵀ]|\bnp\.|\w\(|\d[a-zρ]")
"""An expression in the words of a hint."""


@cache
def telling(exercise: Exercise) -> tuple[int, ...]:
    """The numbers, from 1 on, of the hints that are as good as the answer, or as a part of it that earns points.

    The last is to be almost the code, so there it is enough that it writes an expression. Of what is made, or to be
    mended, the last names the very thing.
    """
    last = len(exercise.hints)
    tells = exercise.whole or exercise.is_made or _writes_an_expression(exercise.hints[-1])
    earning = (number for number, hint in enumerate(exercise.hints, 1) if number < last or not tells)
    found = [number for number in earning if earns_points(exercise, exercise.hints[number - 1])]
    return (*found, last) if tells else tuple(found)


def earns_points(exercise: Exercise, hint: str) -> bool:
    """Whether what a hint says as code earns any points in one of the obvious ways."""
    if exercise.starter is not None:
        return False  # its cell holds code already: a line of it earns nothing by itself
    arguments = list(inspect.signature(exercise.reference).parameters)
    bodies = dict.fromkeys(_bodies(hint, arguments))
    return any(_finds_its_names(exercise, body) and _points(exercise, body) > 0 for body in bodies)


def _writes_an_expression(hint: str) -> bool:
    """Whether there is more in it than words and names."""
    spans, words = _parts(hint)
    return bool(_WRITES.search(words)) or any(not re.fullmatch(r"[\w.]+", span) for span in spans)


def _parts(hint: str) -> tuple[list[str], str]:
    """(what is marked as code, the rest)."""
    return re.findall(r"`([^`\n]+)`", hint), re.sub(r"`[^`\n]+`", " ", hint)


def _bodies(hint: str, arguments: list[str]) -> Iterator[str]:
    """Bodies of a function with these arguments that the hint suggests; not each is Python."""
    spans, _ = _parts(hint)
    plain = hint.replace("`", " ")
    for sign, python in _SAID.items():
        plain = plain.replace(sign, python)
    given = [*_assignments(spans), *_equations(plain)]
    names = [name for name, _ in given]
    expressions = list(
        dict.fromkeys([*filter(_is_expression, spans), *(value for _, value in given), *names])
    )
    before = [f"{name} = {value}" for name, value in given]
    for lines in ([], before, before[::-1]) if before else ([],):
        for returned in _returned(expressions, arguments, plain):
            yield "".join(f"    {line}\n" for line in (*lines, f"return {returned}"))


def _assignments(spans: list[str]) -> list[tuple[str, str]]:
    """(name, value) of those spans that give a name to something."""
    found = []
    for span in spans:
        for part in _statements(span):
            if isinstance(part, ast.Assign):
                found.append((ast.unparse(part.targets[0]), ast.unparse(part.value)))
    return found


def _statements(span: str) -> list[ast.stmt]:
    try:
        return ast.parse(span).body
    except SyntaxError:
        return []


def _equations(text: str) -> list[tuple[str, str]]:
    """(name, value) of what reads as an equation: `s = ln(L / n_k) with …`, as far as it is an expression."""
    found = []
    for name, rest in re.findall(r"\b([A-Za-z_]\w*) = ([^=,;]+)", text):
        words = rest.split()
        ends = (" ".join(words[:n]).rstrip(".") for n in range(len(words), 0, -1))
        if value := next(filter(_is_expression, ends), ""):
            found.append((name, value))
    return found


def _is_expression(text: str) -> bool:
    try:
        return not isinstance(ast.parse(text, mode="eval").body, ast.Constant)
    except SyntaxError:
        return False


def _returned(expressions: list[str], arguments: list[str], text: str) -> Iterator[str]:
    """What can stand behind `return`: something of the hint is in it."""
    yield from expressions
    named = re.findall(r"\bnp\.(\w+)\b(?!\.)", text) + re.findall(r"\b(arg\w+|any|all)\b", text)
    for function in dict.fromkeys(named):
        for one in expressions:
            yield from (f"np.{function}({one}{more})" for more in ("", ", axis=-1", ", axis=axis"))
    for one, other in permutations([*expressions, *arguments], 2):
        if one in arguments and other in arguments:
            continue
        yield from (f"({one}) {sign} ({other})" for sign in _JOINED)


@cache
def _head(exercise: Exercise) -> str:
    """The answer cell up to its stub."""
    return answer_cell(exercise).partition("\n")[2].rpartition("    return")[0]


def _finds_its_names(exercise: Exercise, body: str) -> bool:
    """False where every case would end with a NameError: so it is with most of what reads as code in a hint's words."""
    try:
        nodes = [*ast.walk(ast.parse(_head(exercise) + body))]
    except SyntaxError:
        return False
    names = [node for node in nodes if isinstance(node, ast.Name)]
    given = {node.arg for node in nodes if isinstance(node, ast.arg)}
    given |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    given |= {exercise.name, *_cell_of(exercise), *vars(builtins)}
    left_out = any(isinstance(node, ast.IfExp | ast.BoolOp | ast.Lambda) for node in nodes)  # it may be
    return left_out or given.issuperset(node.id for node in names)


def _cell_of(exercise: Exercise) -> dict[str, object]:
    """What its file, or its page, defines."""
    return inspect.unwrap(exercise.reference).__globals__


def _points(exercise: Exercise, body: str) -> float:
    cell = _cell_of(exercise).copy()
    try:
        exec(compile(_head(exercise) + body, "<hint>", "exec"), cell)
    except SyntaxError:
        return 0.0
    return points_of(exercise, cell[exercise.name])
