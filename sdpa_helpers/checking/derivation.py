"""A derivation whose steps a learner types: what each claims, what is right, which slips are known by name.

`Derivation` makes of it the criteria of an exercise and its wrong answers. A step is right in any form; a slip that is
known gets its sentence; of any other wrong step a point is shown at which it differs, with exact numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sdpa_helpers.checking.exercise import Case, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.formula import Formula, Names, Point, Unreadable, read, same, written


@dataclass(frozen=True)
class Slip:
    """A wrong step that people write."""

    name: str
    """The diagnosis, e.g. "sign-flipped"."""
    text: str
    """The formula, as it could be typed."""
    says: str
    """One or two sentences for the learner."""


@dataclass(frozen=True)
class Step:
    """One line of a derivation."""

    claim: str
    """What stands left of the equals sign, e.g. "∂a₁/∂s₁"."""
    right: str
    names: tuple[str, ...]
    """Those that the line may use."""
    slips: tuple[Slip, ...]
    says: str = ""
    """What the line is about."""


@dataclass(frozen=True)
class Derivation:
    """All lines, with the points at which formulas are compared."""

    names: Names
    points: tuple[Point, ...]
    """The first one is shown where a step is wrong and no slip is known."""
    steps: tuple[Step, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """A criterion for each step, worth a point."""
        return tuple(
            criterion(step.claim, self._judge_of(number), says=step.says)
            for number, step in enumerate(self.steps, 1)
        )

    @property
    def wrong(self) -> tuple[WrongAnswer, ...]:
        """An answer for each slip, right but for it."""
        return tuple(
            WrongAnswer(slip.name, self._with(number, slip.text), slip.says)
            for number, step in enumerate(self.steps)
            for slip in step.slips
        )

    def answer(self, *lines: str) -> Callable[[], tuple[str, ...]]:
        """A function that returns these lines; for other right answers."""
        return lambda: lines

    def check_step(self, number: int, text: object) -> None:
        """Say nothing of a right step; raises `Misses` for any other."""
        step = self.steps[number - 1]
        given = self._read(step, text)
        right = _known(step.right, self.names)
        if same(given, right, self.points):
            return
        for slip in step.slips:
            if same(given, _known(slip.text, self.names), self.points):
                raise Misses(slip.name, WRONG, self._counter_example(step, given, right))
        raise Misses(ANOTHER, WRONG, self._counter_example(step, given, right))

    def _with(self, number: int, text: str) -> Callable[[], tuple[str, ...]]:
        lines = [step.right for step in self.steps]
        return self.answer(*lines[:number], text, *lines[number + 1 :])

    def _judge_of(self, number: int) -> Callable[[Any], None]:
        def judge(value: Any) -> None:
            if not isinstance(value, tuple | list) or len(value) != len(self.steps):
                came = f"; {len(value)} came" if isinstance(value, tuple | list) else ""
                raise Misses(NO_LINES, f"return {len(self.steps)} lines, as a tuple of texts{came}")
            self.check_step(number, value[number - 1])

        return judge

    def _read(self, step: Step, text: object) -> Formula:
        if isinstance(text, int | float) and not isinstance(text, bool):
            text = repr(text)
        if not isinstance(text, str):
            raise Misses(UNREADABLE, "this line is no text", 'Write it in quotes, as in "2 x²".')
        if not text.strip():
            raise Misses(OPEN, "this line is still empty")
        try:
            return read(text, self.names.only(step.names))
        except Unreadable as sentence:
            raise Misses(UNREADABLE, "this line cannot be read", str(sentence)) from None

    def _counter_example(self, step: Step, given: Formula, right: Formula) -> str:
        """A point at which a step differs, in numbers."""
        for point in self.points:
            yours, truth = given.at(point), right.at(point)
            if yours != truth:
                used = [name for name in self.names.spellings if name in given.names | right.names]
                where = ", ".join(f"{name} = {written(point[name])}" for name in used)
                at = f"at {where}: " if where else ""
                return f"{at}yours gives {_written(yours)}, it is {_written(truth)}"
        return ""


WRONG = "this line is not right"
ANOTHER = "differs"
OPEN = "step-open"
UNREADABLE = "unreadable"
NO_LINES = "no-lines"


@lru_cache(maxsize=1024)
def _known(text: str, names: Names) -> Formula:
    """A formula of our own."""
    return read(text, names)


def _written(number: Fraction | None) -> str:
    return "a division by 0" if number is None else written(number)
