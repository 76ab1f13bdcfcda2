"""The prompt of an exercise: its Markdown, with the examples written from their data."""

import inspect
import math
import re
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Example, Exercise

_PLACE = re.compile(r"\{example:(\d+)\}")
_DIGITS = 4


def prompt_of(exercise: Exercise) -> str:
    """The prompt with its examples; ValueError when an example is not shown, or shown and not there."""
    places = [int(number) for number in _PLACE.findall(exercise.prompt)]
    if sorted(places) != list(range(1, len(exercise.examples) + 1)):
        raise ValueError(
            f"the prompt of {exercise.name!r} shows the examples {places}, and it has {len(exercise.examples)}: "
            "write {example:1} for the first, and each one once"
        )
    return _PLACE.sub(
        lambda place: in_words(exercise, exercise.examples[int(place[1]) - 1]), exercise.prompt
    ).strip()


def in_words(exercise: Exercise, example: Example) -> str:
    """An example as a sentence: the arguments, "gives" or "give", and what the reference returns for them."""
    result = example.shows or written(exercise.reference(*arguments(example), **dict(example.keywords)))
    values = [written(value) for value in example.inputs]
    if example.form == "call":
        inside = [*values, *(f"{name}={written(value)}" for name, value in example.keywords)]
        return f"`{exercise.name}({', '.join(inside)})` gives `{result}`"
    if example.form == "named":
        names = list(inspect.signature(exercise.reference).parameters)
        pairs = [*zip(names, values, strict=False), *((n, written(v)) for n, v in example.keywords)]
        values = [f"{name} = {value}" for name, value in pairs]
    parts = [f"`{value}`" for value in values]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{listed} {'gives' if len(parts) == 1 else 'give'} `{result}`"


def arguments(example: Example) -> tuple[Any, ...]:
    """The positional arguments of an example, with arrays in place of lists."""
    return tuple(_array(value) for value in example.inputs)


def _array(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    array = np.array(value)
    return array if array.dtype == bool else array.astype(float)


def written(value: Any) -> str:
    """A value as a learner would write it: lists for arrays, 0.7071… for a number with more than four decimals."""
    if isinstance(value, np.ndarray | np.generic):
        return written(value.tolist())
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))})"
    return _number(value) if isinstance(value, float) else repr(value)


def _number(value: float) -> str:
    if not math.isfinite(value) or (value != 0 and not 1e-4 <= abs(value) < 1e15):
        return repr(value)
    near = round(value, _DIGITS)
    if math.isclose(value, near, rel_tol=1e-12):
        return f"{near:.{_DIGITS}f}".rstrip("0").rstrip(".")
    cut = math.trunc(value * 10**_DIGITS) / 10**_DIGITS
    return f"{cut:.{_DIGITS}f}…"
