"""Small edits of a learner's answer, to ask what they would change. The text is read in a box, as the grader does."""

import ast
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from sdpa_helpers.checking.code.changes import Change, Spot, changes_inside
from sdpa_helpers.checking.code.mending import mends_of
from sdpa_helpers.checking.code.mutations import changes_of
from sdpa_helpers.grading.reading_box import boxed

MOST = 14
LONGEST, LONGEST_PIECE = 6_000, 80
"""Characters of an answer, and of what is changed in it: more isn't read in two minutes."""
_KINDS = (
    *("axis", "flag", "argument dropped", "number", "function", "operator", "sides swapped"),
    *("sign dropped", "edge", "comparison", "index dropped", "transpose", "call dropped", "one side"),
)
"""Kinds of change that one can ask about."""


@dataclass(frozen=True)
class Edit:
    """One change of an answer."""

    line: int
    was: str
    now: str
    source: str
    """The whole answer with it."""


def edits_of(answer: str, function: str, seed: str) -> tuple[Edit, ...]:
    """A few, drawn by seed, of as many kinds as there are; () where the answer doesn't read as Python."""
    if len(answer) > LONGEST:
        return ()
    came = boxed(partial(_found, answer, function, seed)).parts
    return tuple(Edit(*part) for part in came if _is_edit(part))


def _found(answer: str, function: str, seed: str) -> Iterator[Any]:
    """What is done in the box."""
    tree = ast.parse(answer)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    if not found:
        return
    kept: dict[tuple[int, str, str], tuple[str, str]] = {}
    for kind, line, _, _, _, *piece in changes_inside(found[-1], "<an answer>", (_changes, lambda _: ())):
        was, now = map(str, piece)
        if max(len(was), len(now)) <= LONGEST_PIECE:
            kept.setdefault((line, was, now), (kind, ast.unparse(tree)))  # the tree has the change just now
    drawn = [(kind, *place, source) for place, (kind, source) in kept.items()]
    random.Random(seed).shuffle(drawn)
    seen, turns = Counter[tuple[str, int]](), []
    for kind, line, *rest in drawn:
        seen[kind, line] += 1
        turns.append((seen[kind, line], line, *rest))
    turns.sort(key=lambda turn: turn[0])
    yield from (turn[1:] for turn in turns[:MOST])


def _changes(spot: Spot) -> list[Change]:
    return [change for change in (*changes_of(spot), *mends_of(spot)) if change[0] in _KINDS]


def _is_edit(part: Any) -> bool:
    return (
        isinstance(part, list)
        and [type(value) for value in part] == [int, str, str, str]
        and all(text.isprintable() for text in part[1:3])
    )
