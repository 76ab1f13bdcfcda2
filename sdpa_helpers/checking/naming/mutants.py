"""Mutants of an exercise's reference, or of another right answer to it: the same function with one small mistake in it.

The cases of an exercise have to tell every mutant from the reference. `survivors` finds those that they do not.
"""

import ast
import itertools
import linecache
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from sdpa_helpers.checking.code.changes import (
    Changed,
    OfExpression,
    arguments_of,
    changes_inside,
    compiled,
    first_of,
)
from sdpa_helpers.checking.code.mutations import Argument, at_the_start, changes_of, instead_of
from sdpa_helpers.checking.exercise import Exercise, stream
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED


@dataclass(frozen=True)
class Mutant:
    """A right answer to an exercise with one change."""

    exercise: str
    kind: str
    """What was changed, e.g. "comparison"."""
    line: int
    """The line of the file in which the changed statement stands."""
    before: str
    """The statement as it is, the first line of it; "" when one was added at the start."""
    after: str
    """What stands there instead."""
    function: Callable = field(compare=False)
    file: str = ""
    """The file of the reference, or of a function that it calls."""
    was: str = ""
    """The expression that was changed, with a little of what stands around it; "" where a statement was."""
    now: str = ""
    """The same, changed."""

    @property
    def name(self) -> str:
        """How an exercise that spares it names it."""
        return f"{self.before} → {self.after}".strip()


def mutants_of(
    exercise: Exercise,
    answer: Callable | None = None,
    of_expression: OfExpression = changes_of,
    kept: Container[str] = (),
) -> Iterator[Mutant]:
    """Every mutant of an exercise, in the order of the source; ValueError when there is no source to change.

    answer: one in another style, in place of the reference; what spoils arguments before the work begins is left to
    the reference, as it says nothing of a style. of_expression: what may stand where one stands. kept: first lines of
    statements that stay as they are. Functions that are called are changed too, if they stand in the same file or in
    another of its folder.
    """
    original = exercise.reference if answer is None else answer
    functions = _with_helpers(original)
    for changed in functions:
        tree, file = _tree(changed), changed.__code__.co_filename
        start = _at_the_start(exercise, tree, file) if changed is exercise.reference else ()
        inside = changes_inside(tree, file, (of_expression, instead_of), kept)
        for kind, line, before, after, code, *piece in itertools.chain(start, inside):
            function = _rebuilt(original, functions, changed, code)
            yield Mutant(exercise.name, kind, line, before, after, function, file, *piece)


# ---- the source -------------------------------------------------------------------------------------------


def _with_helpers(reference: Callable) -> tuple[FunctionType, ...]:
    """A right answer, and the functions of its folder that it calls, and those that they call."""
    if not isinstance(reference, FunctionType) or reference.__closure__:
        raise ValueError(f"{reference!r} is not a function of a module: its source cannot be changed")
    home, found = Path(reference.__code__.co_filename).parent, [reference]
    for function in found:  # grows while it is read
        for name in _names_in(function.__code__):
            other = function.__globals__.get(name)
            if isinstance(other, FunctionType) and other not in found and _is_ours(other, home):
                found.append(other)
    return tuple(found)


def _is_ours(function: FunctionType, home: Path) -> bool:
    in_folder = Path(function.__code__.co_filename).parent == home
    return in_folder and not function.__closure__ and function.__name__ != "<lambda>"


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names_in(part)


def _tree(function: FunctionType) -> ast.FunctionDef:
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    for node in ast.walk(ast.parse("".join(linecache.getlines(file)))):
        if isinstance(node, ast.FunctionDef) and line in (
            node.lineno,
            *(d.lineno for d in node.decorator_list),
        ):
            return node
    raise ValueError(f"{file}: the source of {function.__name__} is not there")


# ---- the changes ------------------------------------------------------------------------------------------


def _at_the_start(exercise: Exercise, tree: ast.FunctionDef, file: str) -> Iterator[Changed]:
    """The reference with a statement added before its first."""
    drawn = [case.make(stream(PUBLIC_SEED, exercise.name, case.name)) for case in exercise.cases]
    names = arguments_of(tree)
    defaults = dict(zip(reversed(names), map(ast.unparse, reversed(tree.args.defaults)), strict=False))
    arrays = {i for inputs in drawn for i, value in enumerate(inputs) if isinstance(value, np.ndarray)}
    nan = any(
        not np.isfinite(value).all()
        for inputs in drawn
        for value in inputs
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )
    arguments = tuple(Argument(name, defaults.get(name, ""), i in arrays) for i, name in enumerate(names))
    start = first_of(tree)
    for kind, after in at_the_start(arguments, nan):
        if code := compiled(tree, tree.body, slice(start, start), after, file):
            yield kind, tree.lineno, "", after, code


# ---- the function -----------------------------------------------------------------------------------------


class _Numpy(ModuleType):
    """NumPy in which memory that nobody filled is never right by luck."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        setattr(self, name, found)  # asked for once: a loop asks a million times
        return found

    def empty(self, *arguments: Any, **options: Any) -> np.ndarray:
        """An array that holds no number that could be meant."""
        return _spoiled(np.empty(*arguments, **options))

    def empty_like(self, *arguments: Any, **options: Any) -> np.ndarray:
        """An array that holds no number that could be meant."""
        return _spoiled(np.empty_like(*arguments, **options))


def _spoiled(array: np.ndarray) -> np.ndarray:
    array.fill(np.nan if array.dtype.kind in "fc" else 77)
    return array


def _rebuilt(
    reference: Callable, functions: tuple[FunctionType, ...], changed: FunctionType, code: CodeType
) -> Callable:
    """The reference, calling a changed function in place of the one it calls (or changed itself)."""
    scopes: dict[str, dict[str, Any]] = {}
    new: dict[FunctionType, FunctionType] = {}
    for function in functions:
        scope = scopes.setdefault(function.__code__.co_filename, dict(function.__globals__))
        if function is changed:
            exec(code, scope)  # our own source, with one change
            new[function] = scope[function.__name__]
        else:
            new[function] = FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
            new[function].__kwdefaults__ = function.__kwdefaults__
    for scope in scopes.values():
        scope["np"] = _Numpy("numpy")
        for name, value in scope.items():
            if isinstance(value, FunctionType) and value in new:
                scope[name] = new[value]
    return new[reference]  # type: ignore[index]
