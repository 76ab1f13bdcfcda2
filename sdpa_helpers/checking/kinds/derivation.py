"""A derivation whose steps a learner types: what each claims, what is right, which slips are known by name.

`Derivation` makes of it the criteria of an exercise and its wrong answers. A step is right in any form; a slip that is
known gets its sentence; of any other wrong step a point is shown at which it differs, with exact numbers.

The points are drawn, for `check` by the public seed and for marks by a secret one. Bring a wrong line and the right one
over one denominator: each of at most LONGEST / 2 terms adds at most HIGHEST to the degree of the numerator, and a name
that follows from others (D = a₁g₁ + a₂g₂ + a₃g₃) triples that at most. This polynomial, of degree 3,600 or less, is not
0, so at a point drawn from 2·10⁹ values for each name it is 0 with a probability below 3,600 / 2·10⁹ (Schwartz and
Zippel), and at all POINTS below 10⁻⁷⁰. Who knows the public seed and aims gets as little: numbers of 20 characters fill
a line before it has met ten points.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from sdpa_helpers.checking.exercise import Case, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.kinds.formula import (
    HIGHEST,
    Formula,
    Names,
    Point,
    Unreadable,
    read,
    same,
    written,
)

POINTS = HIGHEST + 2
"""How many points are drawn for each line."""
_LARGE = 10**9
_PRIME = _LARGE + 7


def numbers(text: str) -> list[Fraction]:
    """What stands in a text, e.g. "1/2 3 -2"."""
    return [Fraction(number) for number in text.split()]


def any_number(rng: np.random.Generator) -> Fraction:
    """A number between −1 and 1, of 2·10⁹."""
    return Fraction(int(rng.integers(-_LARGE, _LARGE + 1)), _PRIME)


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
    uses: str = ""
    """A name that has to stand in it, where the point of the line is that it can."""


@dataclass(frozen=True)
class Derivation:
    """All lines, with where formulas are compared."""

    names: Names
    shown: tuple[Point, ...]
    """Points with small numbers: formulas are compared there first, and what differs is told in them."""
    draw: Callable[[np.random.Generator, int], Point]
    """One more point, drawn; the number counts them, where there are kinds of points to go through in turn."""
    steps: tuple[Step, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """A criterion for each step."""
        return tuple(
            criterion(step.claim, self._judge_of(number), says=step.says, draw=self._points)
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

    def check_step(self, number: int, text: object, *drawn: Point) -> None:
        """Say nothing of a right step; raises `Misses` for any other. drawn: points beside those that are shown."""
        step, points = self.steps[number - 1], (*self.shown, *drawn)
        given = self._read(step, text)
        right = _known(step.right, self.names)
        fits = same(given, right, points)
        if fits and (not step.uses or step.uses in given.names):
            return
        known = (slip.name for slip in step.slips if same(given, _known(slip.text, self.names), points))
        seen = f"{step.uses} is not in this line" if fits else WRONG
        raise Misses(next(known, ANOTHER), seen, self._counter_example(points, given, right))

    def _points(self, rng: np.random.Generator) -> tuple[Point, ...]:
        return tuple(self.draw(rng, number) for number in range(POINTS))

    def _with(self, number: int, text: str) -> Callable[[], tuple[str, ...]]:
        lines = [step.right for step in self.steps]
        return self.answer(*lines[:number], text, *lines[number + 1 :])

    def _judge_of(self, number: int) -> Callable[..., None]:
        def judge(value: Any, *drawn: Point) -> None:
            if not isinstance(value, tuple | list) or len(value) != len(self.steps):
                came = f"; {len(value)} came" if isinstance(value, tuple | list) else ""
                raise Misses(NO_LINES, f"return {len(self.steps)} lines, as a tuple of texts{came}")
            self.check_step(number, value[number - 1], *drawn)

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

    def _counter_example(self, points: tuple[Point, ...], given: Formula, right: Formula) -> str:
        """The first point at which a step differs, in numbers."""
        for point in points:
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
