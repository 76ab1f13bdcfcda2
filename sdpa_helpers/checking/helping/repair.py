"""The smallest change of a learner's own code after which every case passes: a fact about that code, and never a guess.

The code is the learner's, so this runs where the learner runs it, in `check` in their own kernel, and in no grader. It
ends after a second, found or not.
"""

import ast
import contextlib
import io
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.code.changes import Change, Spot, changes_inside
from sdpa_helpers.checking.code.mending import instead_of, mends_of
from sdpa_helpers.checking.code.mutations import changes_of
from sdpa_helpers.checking.code.mutations import instead_of as broken
from sdpa_helpers.checking.diagnose import Result
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, judge, truths, with_own_calls

SECONDS = 1.0
"""For all of it."""
OF_ONE_CALL = 0.1
LONGEST = 6_000
"""Characters of source."""

_TIERS = (
    (
        "one side",
        "call dropped",
        "sign dropped",
        "edge",
        "brackets",
        "return",
        "thrown away",
        "in place",
    ),
    ("operator", "sides swapped", "arguments swapped", "number", "flag", "function", "statement dropped"),
    (
        "size",
        "axis",
        "transpose",
        "index dropped",
        "argument dropped",
        "comparison",
        "condition",
        "condition negated",
        "range",
    ),
    ("step", "slice", "name"),
)
"""Kinds of change, in the order in which they are tried: what takes away or exchanges comes before what adds."""


@dataclass(frozen=True)
class Repair:
    """One change."""

    line: int
    was: str
    """What stands there."""
    now: str
    """What could stand there instead."""

    @property
    def where(self) -> str:
        """Where to look, and nothing of what to do."""
        return f"one small change in line {self.line} lets every case pass. Look at `{self.was}`."

    @property
    def hint(self) -> str:
        """The change itself."""
        if self.now == "pass":
            return f"In line {self.line}, leave out `{self.was}`: then every case passes."
        return f"In line {self.line}, try `{self.now}` for `{self.was}`: then every case passes."


def repair_of(result: Result, source: str, name: str, space: dict[str, Any]) -> Repair | None:
    """The change of the function called `name`, or None.

    source: its text, with as many lines above it as there are in its cell. space: the names that it is written with.
    """
    exercise = result.exercise
    if exercise.is_made or exercise.sealed or not 0 < len(source) <= LONGEST:
        return None
    ends = time.monotonic() + SECONDS
    failed = {c.verdict.case for c in result.cases if not c.verdict.passed}
    known = sorted(truths(exercise, PUBLIC_SEED), key=lambda t: (t.case.name not in failed, len(t.packed)))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for repair, code in _changes(source, name):
            if time.monotonic() > ends:
                return None
            function = _made(code, name, space)
            if function is not None and _passes(result, function, known, ends):
                return repair
    return None


def _changes(source: str, name: str) -> Iterator[tuple[Repair, CodeType]]:
    try:
        tree = ast.parse(textwrap.dedent(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if len(functions) != 1 or functions[0].decorator_list:
        return
    for tier in _TIERS:
        yield from _of_kinds(functions[0], tier)


def _of_kinds(function: ast.FunctionDef, kinds: tuple[str, ...]) -> Iterator[tuple[Repair, CodeType]]:
    """Only these are made, as each has to be compiled."""

    def in_place_of(spot: Spot) -> list[Change]:
        return [one for one in (*changes_of(spot), *mends_of(spot)) if one[0] in kinds]

    def instead(statement: ast.stmt) -> list[Change]:
        return [one for one in (*broken(statement), *instead_of(statement)) if one[0] in kinds]

    found = changes_inside(function, "<your code, changed>", (in_place_of, instead))
    for _, line, before, after, code, *piece in found:
        was, now = piece or (before, after)
        yield Repair(line, was, now), code


def _made(code: CodeType, name: str, space: dict[str, Any]) -> Callable | None:
    scope = dict(space)
    try:
        exec(code, scope)  # a definition of the learner's, in the learner's own process
        return scope[name]
    except Exception:
        return None


def _passes(result: Result, function: Callable, known: list[Truth], ends: float) -> bool:
    for truth in with_own_calls(known):
        left = ends - time.monotonic()
        if left <= 0:
            return False
        answer = observe_within(function, truth.inputs, min(OF_ONE_CALL, left), truth.watch)
        if not judge(result.exercise, truth, answer).passed:
            return False
    return True
