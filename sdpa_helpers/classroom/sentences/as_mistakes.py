"""An instructor's sentence as a mistake for the exercise's page: an edit of the answer where one line differs.

Nothing that a learner wrote is run here. Whoever takes an entry over reads it, and tries it with `sdpa try`.
"""

import ast
import copy
import textwrap
from collections.abc import Iterator

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.classroom.sentences.store import Sentence
from sdpa_helpers.grading.shape import source_of

LONGEST_ANSWER = 4_000
"""Characters of a learner's answer; of a longer one only the sentence is offered."""


def as_mistake(exercise: Exercise, sentence: Sentence, answer: str) -> str:
    """The entry in Markdown. answer: that of a learner whom the sentence reached, or ""."""
    says = "\n".join(f"  {line}" for line in textwrap.wrap(sentence.says, 110, break_long_words=False))
    try:
        entry = _entry(exercise, sentence.name, answer)
    except RecursionError:  # somebody nested it on purpose
        entry = None
    if entry is None:
        return f"- **{sentence.name}** (an edit of the answer is missing: nobody's reads as Python)\n{says}"
    return f"{entry[0]}\n{says}{entry[1]}"


def _entry(exercise: Exercise, name: str, answer: str) -> tuple[str, str] | None:
    """What stands above the sentence, and what below it."""
    source = source_of(exercise.reference)
    ours, theirs = _function(source, exercise.name), _function(answer, exercise.name)
    if ours is None or theirs is None:
        return None
    before, after = _edit(ours, _with_names_of(ours, theirs), source)
    if before:
        return f"- **{name}** `{before}` → `{after}`", ""
    called = name.replace("-", "_")
    given = ", ".join(arg.arg for arg in (*ours.args.posonlyargs, *ours.args.args, *ours.args.kwonlyargs))
    whole = copy.deepcopy(theirs)
    whole.name = called
    below = f"\n\nand below `## Helpers`:\n\n{_fenced(ast.unparse(whole))}"
    return f"- **{name}** result: `{called}({given})` · alone", below


def _fenced(code: str) -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}python\n{code}\n{fence}"


def _function(source: str, name: str) -> ast.FunctionDef | None:
    """The function in a text, without its docstring and annotations; None where there is none to be read."""
    if len(source) > LONGEST_ANSWER:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found:
        return None
    function = found[-1]
    if len(function.body) > 1 and ast.get_docstring(function) is not None:
        function.body = function.body[1:]
    function.returns, function.decorator_list = None, []
    for arg in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        arg.annotation = None
    return function


def _with_names_of(ours: ast.FunctionDef, theirs: ast.FunctionDef) -> ast.FunctionDef:
    """Their function with our names for what has its first place in the same order: arguments, then variables."""
    mine, other = list(dict.fromkeys(_bound(ours))), list(dict.fromkeys(_bound(theirs)))
    if len(mine) != len(other):
        return theirs
    names = dict(zip(other, mine, strict=True))
    told = copy.deepcopy(theirs)
    for node in ast.walk(told):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
    return told


def _bound(function: ast.FunctionDef) -> Iterator[str]:
    for node in _in_order(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


def _edit(ours: ast.FunctionDef, theirs: ast.FunctionDef, source: str) -> tuple[str, str]:
    """(before, after): the smallest piece of our answer that reads otherwise in theirs; ("", "") where several do.

    What goes has to stand once in the answer, or a larger piece around it is taken, up to its line.
    """
    before: ast.AST = ours
    after: ast.AST = theirs
    pieces: list[tuple[ast.AST, ast.AST]] = []
    while (both := _only_difference(before, after)) is not None:
        before, after = both
        pieces.append(both)
    for mine, other in reversed(pieces):
        if not isinstance(mine, (ast.expr, ast.stmt)):
            continue
        text = ast.get_source_segment(source, mine) or ""
        put = ast.unparse(other)
        if isinstance(mine, ast.expr) and isinstance(other, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Lambda)):
            put = f"({put})" if not isinstance(mine, type(other)) else put
        if text and source.count(text) == 1 and not any(c in text + put for c in "`\n"):
            return text, put
    return "", ""


def _only_difference(one: ast.AST, other: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The one pair of children that differ, where all else is the same; None where it is not so, or there is none."""
    if type(one) is not type(other):
        return None
    found: list[tuple[ast.AST, ast.AST]] = []
    for field in one._fields:
        mine, theirs = getattr(one, field, None), getattr(other, field, None)
        lists = (mine, theirs) if isinstance(mine, list) and isinstance(theirs, list) else ([mine], [theirs])
        if len(lists[0]) != len(lists[1]):
            return None
        for a, b in zip(*lists, strict=True):
            if isinstance(a, ast.AST) and isinstance(b, ast.AST):
                if ast.dump(a) != ast.dump(b):
                    found.append((a, b))
            elif a != b:
                return None
    return found[0] if len(found) == 1 else None
