"""What an exercise is: data plus small functions. Everything else in the course is made from it."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Inputs = tuple
"""The positional arguments of one call."""


@dataclass(frozen=True)
class Case:
    """One named situation in which an answer is tried.

    name: what the learner reads, e.g. "a batch of three". make: draws the inputs from a seeded generator.
    points: what passing it earns. says: why this case is here, shown when it fails and nothing else explains it.
    """

    name: str
    make: Callable[[np.random.Generator], Inputs]
    points: float = 1.0
    says: str = ""


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer that real people give, as a function that can be run.

    name: the diagnosis in gradebooks, e.g. "no-scaling". says: one or two sentences for the learner.
    hints: from a nudge to almost the code; shown before the exercise's own hints. section: the heading in the
    lesson that treats it, e.g. "3. Length and angle", where that is another than the exercise's.
    """

    name: str
    function: Callable
    says: str
    hints: tuple[str, ...] = ()
    section: str = ""


@dataclass(frozen=True)
class Invariant:
    """A property that every right answer has, checkable without the reference.

    holds: called with (inputs, values); True when the property holds. Values: an array, or a tuple of arrays.
    """

    name: str
    says: str
    holds: Callable[[Inputs, Any], bool]


@dataclass(frozen=True)
class Exercise:
    """One graded function of a lesson: the single source of its checks, hints, hidden cases and feedback.

    section: the heading in the lesson that treats it, e.g. "3. Length and angle"; the class report links there.
    """

    name: str
    lesson: str
    title: str
    difficulty: int
    minutes: int
    reference: Callable
    cases: tuple[Case, ...]
    wrong: tuple[WrongAnswer, ...]
    also_right: tuple[Callable, ...]
    hints: tuple[str, str, str]
    invariants: tuple[Invariant, ...] = ()
    forbids: tuple[str, ...] = field(default=())
    section: str = ""

    @property
    def max_points(self) -> float:
        """Points of all cases together."""
        return sum(case.points for case in self.cases)


def stream(seed: str, exercise: str, case: str) -> np.random.Generator:
    """The random numbers of one case: a named stream, so that adding a case changes no other."""
    digest = hashlib.sha256("\0".join((seed, exercise, case)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "little"))


def read_only(array: np.ndarray) -> np.ndarray:
    """A copy that raises when somebody writes to it: catches answers that change the caller's arrays."""
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def strided(array: np.ndarray) -> np.ndarray:
    """The same numbers in a non-contiguous layout: catches answers that reshape where they should transpose."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def redraw(
    rng: np.random.Generator, draw: Callable[[np.random.Generator], Inputs], accept: Callable[..., bool]
) -> Inputs:
    """Draw inputs until they are worth asking about: until `accept(*inputs)`.

    Keeps a case from being easy for some seeds: marks must not depend on luck.
    """
    for _ in range(1000):
        inputs = draw(rng)
        if accept(*inputs):
            return inputs
    raise ValueError("1000 draws, and none was accepted: the condition is too narrow")


def signed(rng: np.random.Generator, signs: list[int], low: float = 1.0, high: float = 2.0) -> np.ndarray:
    """Numbers between low and high in size, with the given signs."""
    return rng.uniform(low, high, size=len(signs)) * np.array(signs)
