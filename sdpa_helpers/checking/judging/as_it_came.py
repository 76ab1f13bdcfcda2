"""Exercises whose answer cell holds code from the start: an answer that does what that did was not attempted.

What counts is what it returns, not its text: a comment mends nothing. Where `Exercise.whole` says so, there are points
only once every case passes: most of them pass with the bug in, and what works may not break.
"""

import ast
import inspect
import textwrap
from dataclasses import replace

from sdpa_helpers.checking.answers.observe import alike, quiet
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Tried
from sdpa_helpers.checking.judging.judge import Verdict, outcome

FAULT = "as-it-came"
"""The fault of a case in it."""

SEEN = "the code does what it did when it came"
CHANGED = "Your change alters no result here: the bug is in what you left, or stands in your lines too, in other words."
"""What it means where the text is another."""


def is_as_it_came(exercise: Exercise, tried: list[Tried]) -> bool:
    """Whether an answer returns in every case what the starter returns."""
    if exercise.starter is None:
        return False
    with quiet():
        return all(
            t.answer is not None and alike(outcome(t.truth, exercise.starter), t.answer) for t in tried
        )


def is_changed(exercise: Exercise, source: str) -> bool:
    """Whether the statements of an answer are others than the starter's; no, where its text is not known."""
    steps = _steps(source, exercise.name)
    return (
        bool(steps) and exercise.starter is not None and steps != _steps(inspect.getsource(exercise.starter))
    )


def _steps(source: str, name: str = "") -> list[str]:
    """The statements of a function, without its comments and its docstring."""
    try:
        nodes = ast.walk(ast.parse(textwrap.dedent(source)))
    except SyntaxError:
        return []
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef) and name in ("", n.name)]
    body = functions[0].body if functions else []
    return [
        ast.dump(step)
        for step in body
        if not (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
    ]


def not_attempted(tried: list[Tried]) -> list[Tried]:
    """The cases of an answer that is as it came. Its bug is not named: to find it is an exercise of its own."""
    untouched = [
        Verdict(t.verdict.case, "not-attempted", 0.0, t.verdict.max_points, FAULT, SEEN) for t in tried
    ]
    return [replace(t, verdict=verdict) for t, verdict in zip(tried, untouched, strict=True)]


def all_or_nothing(exercise: Exercise, tried: list[Tried]) -> list[Tried]:
    """The cases with their points, or without, where all have to pass and one does not."""
    if not exercise.whole or all(t.verdict.passed for t in tried):
        return tried
    return [replace(t, verdict=replace(t.verdict, points=0.0)) for t in tried]
