"""The prompt of an exercise: its Markdown, with the examples written from their data, and what an answer may use."""

import inspect
import math
import re
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Example, Exercise
from sdpa_helpers.checking.pages import rules

_PLACE = re.compile(r"\{(example|inputs|result):(\d+)\}")


def prompt_of(exercise: Exercise) -> str:
    """The prompt with its examples and its rules; ValueError when an example is not shown, or twice, or absent."""
    return f"{with_examples(exercise)}\n\n{rules.in_words(exercise)}"


def with_examples(exercise: Exercise) -> str:
    """The prompt with its examples."""
    places = _PLACE.findall(exercise.prompt)
    shown = sorted(int(number) for part, number in places if part != "inputs")
    if shown != list(range(1, len(exercise.examples) + 1)):
        raise ValueError(
            f"the prompt of {exercise.name!r} shows the results of the examples {shown}, and it has "
            f"{len(exercise.examples)}: write {{example:1}} for the first, or {{inputs:1}} and {{result:1}}"
        )

    parts = {"example": in_words, "inputs": inputs_in_words, "result": result_in_words}
    return _PLACE.sub(
        lambda place: parts[place[1]](exercise, exercise.examples[int(place[2]) - 1]), exercise.prompt
    ).strip()


def source_called(function: Callable, name: str) -> str:
    """The text of a function under another name, without what is above it."""
    source = textwrap.dedent(inspect.getsource(function)).rstrip("\n")
    return re.sub(r"\Adef \w+", f"def {name}", source)


def in_words(exercise: Exercise, example: Example) -> str:
    """An example as a sentence: the arguments, "gives" or "give", and what the reference returns for them."""
    verb = "gives" if len(_written_inputs(exercise, example)) == 1 else "give"
    return f"{inputs_in_words(exercise, example)} {verb} {result_in_words(exercise, example)}"


def inputs_in_words(exercise: Exercise, example: Example) -> str:
    """The first half: `q = [1, 0]` and `k = [2, 3]`."""
    parts = [f"`{value}`" for value in _written_inputs(exercise, example)]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def result_in_words(exercise: Exercise, example: Example) -> str:
    """The second half: what the reference returns, computed now."""
    return f"`{example.shows or written(result_of(exercise, example))}`"


def result_of(exercise: Exercise, example: Example) -> Any:
    """What the reference returns for an example."""
    return exercise.reference(*example.arguments, **dict(example.keywords))


def written(value: Any) -> str:
    """A value as a learner would write it: lists for arrays, 2 for 2.0, 0.7071… for a number with more decimals."""
    if isinstance(value, np.ndarray | np.generic):
        return written(value.tolist())
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))})"
    if isinstance(value, str):
        return f'"{value}"'
    return _number(value) if isinstance(value, float) else repr(value)


def _written_inputs(exercise: Exercise, example: Example) -> list[str]:
    values = [written(value) for value in example.inputs]
    keywords = [(name, written(value)) for name, value in example.keywords]
    if example.form == "call":
        inside = [*values, *(f"{name}={value}" for name, value in keywords)]
        return [f"{exercise.name}({', '.join(inside)})"]
    if example.form == "values":
        return values
    pairs = [*zip(inspect.signature(exercise.reference).parameters, values, strict=False), *keywords]
    return [f"{name} = {value}" for name, value in pairs if not example.writes or name in example.writes]


def _number(value: float) -> str:
    """Four decimals, or more until two digits show; from a millionth down and a million up also 1e-9 and 1e9."""
    if not math.isfinite(value) or value == 0:
        return repr(value) if value else "0"
    exponent = math.floor(math.log10(abs(value)))
    if -6 <= exponent < 6:
        return _with_decimals(value, max(4, 1 - exponent))
    mantissa, power = f"{value:.14e}".split("e")
    short = f"{_with_decimals(float(mantissa), 4)}e{int(power)}"
    if not 0 < exponent < 15:
        return short
    plain = _with_decimals(value, 4)
    return plain if "…" in short or len(plain) <= len(short) else short  # 1234567, but 1e9


def _with_decimals(value: float, decimals: int) -> str:
    near = round(value, decimals)
    if math.isclose(value, near, rel_tol=1e-12):
        return f"{near:.{decimals}f}".rstrip("0").rstrip(".")
    cut = math.trunc(value * 10**decimals) / 10**decimals
    return f"{cut:.{decimals}f}…"
