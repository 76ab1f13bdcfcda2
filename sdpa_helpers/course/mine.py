"""`yours("softmax", scores)`: the learner's own function, from my_attention.py, beside ours on the same input."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.answers.time_limit import observe_within
from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.markup import code_spans
from sdpa_helpers.checking.card.render import Shown, framed
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.difference import tolerances
from sdpa_helpers.course.my_attention import FILE, NotPut, code_of, own_file, read, run_within
from sdpa_helpers.course.registry import all_exercises

State = Literal["passed", "failed", "not-attempted"]


@dataclass(frozen=True, repr=False)
class Compared(Shown):
    """What came of it: a sentence."""

    says: str
    state: State = "not-attempted"

    def text(self) -> str:
        """The sentence."""
        return self.says

    def html(self) -> str:
        """The sentence as a card."""
        return styled(framed(f"<p>{code_spans(self.says)}</p>", self.state))


def yours(name: str, *inputs: Any) -> Shown:
    """Call the learner's own answer to an exercise, and ours, with these inputs, and say whether they agree.

    Without a file of their own, in a stored notebook say, it tells where the exercise is.
    """
    exercise = all_exercises()[name]
    path = own_file()
    space: dict[str, Any] = {"__name__": "my_attention"}
    try:
        code = code_of(read(path)) if path else ""
    except NotPut as why:
        return Compared(f"Your {FILE} cannot be used: {why}.")
    if stopped := run_within(code, space):
        return Compared(f"Your {FILE} cannot be used. {stopped}.")
    if name not in space:
        lesson = exercise.lesson
        return Compared(
            f"You have no `{name}` of your own yet. Solve the exercise `{name}` of lesson {lesson[:2]}, and this cell "
            f"puts yours beside ours."
        )
    if exercise.sealed:
        return Compared(f"You have your own `{name}`. This edition has no answer to put beside it.")
    theirs = observe_within(space[name], _copies(inputs))
    return _beside(exercise, theirs, observe(exercise.reference, _copies(inputs)))


def _copies(inputs: tuple) -> tuple:
    """Whoever changes them changes nothing of the lesson."""
    return tuple(np.array(value) if isinstance(value, np.ndarray) else value for value in inputs)


def _beside(exercise: Exercise, theirs: Answer, ours: Answer) -> Compared:
    name, parts = exercise.name, _parts(theirs)
    if theirs.kind == "stopped":
        return Compared(f"Your `{name}` was stopped {theirs.message}.", "failed")
    if theirs.kind == "error":
        return Compared(f"Your `{name}` stops with {theirs.error}: {theirs.message}", "failed")
    wanted = _parts(ours)
    if [part.shape for part in parts] != [part.shape for part in wanted]:
        return Compared(f"Your `{name}` returns {_shapes(parts)}, ours returns {_shapes(wanted)}.", "failed")
    off = max((_off(a, b) for a, b in zip(parts, wanted, strict=True)), default=0.0)
    allowed = max((_allowed(part) for part in wanted), default=0.0)
    if not off <= allowed:
        return Compared(f"Your `{name}` and ours differ here by up to {off:.2g}.", "failed")
    how = "agree in every digit" if off == 0 else f"agree: the largest difference is {off:.1e}"
    return Compared(f"Your `{name}` and ours {how}. Both return {_shapes(wanted)}.", "passed")


def _parts(answer: Answer) -> list[np.ndarray]:
    """The arrays that came back."""
    if answer.items:
        return [array for item in answer.items for array in _parts(item)]
    return [] if answer.array is None else [answer.array]


def _off(a: np.ndarray, b: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a.astype(float) - b))
    return float(apart.max(initial=0.0))


def _allowed(expected: np.ndarray) -> float:
    relative, absolute = tolerances(expected)
    finite = np.abs(expected[np.isfinite(expected)]) if expected.dtype.kind == "f" else np.zeros(1)
    return absolute + relative * float(finite.max(initial=0.0))


def _shapes(parts: list[np.ndarray]) -> str:
    written = [f"shape {part.shape}" if part.shape else "one number" for part in parts]
    return " and ".join(written) or "nothing"
