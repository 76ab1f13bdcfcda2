"""What the parts of a tuple are called: by the exercise's own prompt, else by the names that its answer returns."""

import ast
import inspect
import re
import textwrap
from functools import lru_cache

from sdpa_helpers.checking.exercise import Exercise

_SAID = re.compile(r"[Rr]eturns? a tuple[^`\n]*`\((\w+(?:, \w+)+)\)`")
_COUNTED = re.compile(r"part (\d+) of the tuple\b")


@lru_cache(maxsize=256)
def part_names(exercise: Exercise) -> tuple[str, ...]:
    """E.g. ("output", "weights"); () where neither says it."""
    if said := _SAID.search(exercise.prompt):
        return tuple(said[1].split(", "))
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(exercise.reference)))
    except (OSError, TypeError, SyntaxError):
        return ()
    returned = [n.value for n in ast.walk(tree) if isinstance(n, ast.Return)]
    if not returned or not isinstance(returned[-1], ast.Tuple):
        return ()
    parts = returned[-1].elts
    names = tuple(part.id for part in parts if isinstance(part, ast.Name))
    return names if len(names) == len(parts) else ()


def by_name(exercise: Exercise, text: str) -> str:
    """ "weights: 3 of 9 numbers differ" for "part 1 of the tuple: 3 of 9 numbers differ"."""

    def name(part: re.Match[str]) -> str:
        names, number = part_names(exercise), int(part[1])
        return f"`{names[number]}`" if number < len(names) else part[0]

    return _COUNTED.sub(name, text, count=1) if text.startswith("part ") else text
