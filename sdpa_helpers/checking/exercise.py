"""What an exercise is: data plus small functions. Everything else in the course is made from it."""

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sdpa_helpers.checking.answers.carried import unpack_inputs
from sdpa_helpers.checking.answers.sealed import SealedCase
from sdpa_helpers.checking.code.edits import Pairs
from sdpa_helpers.checking.worth import shares, worth

Inputs = tuple
"""The positional arguments of one call."""

EXAMPLE = "the prompt's example"
"""The name of the case that is made from it; with a number where there are several."""

COURSE_SOFTMAX = "sdpa_helpers.softmax"
"""What an exercise may allow of the course: where softmax is a step on the way, not the subject."""


@dataclass(frozen=True)
class Case:
    """One named situation in which an answer is tried."""

    name: str
    """What the learner reads, e.g. "a batch of three"."""
    make: Callable[[np.random.Generator], Inputs]
    """Draws the inputs from a seeded generator; of a criterion, what it looks with at what the learner made."""
    weight: int = 1
    """How much of the exercise's points it gets: as much as others with 1, twice as much with 2, nothing with 0."""
    says: str = ""
    """What this case is about, shown when it fails and no mistake is named for it."""
    peak_bytes: int = 0
    """How much memory an answer may hold at once beyond its inputs. 0: that is not looked at."""
    sealed: SealedCase | None = None
    """In an edition without answers: the public inputs, and what is expected, behind a seal."""
    accepts: Callable[..., object] | None = None
    """Where the learner makes something: called with it, and with what `make` draws; raises `Misses` for what does not
    meet this criterion. See `criterion`."""
    kept: bool = False
    """In an edition without answers: a criterion of which only the instructor's grader knows whether it is met."""
    points: float = 0.0
    """What passing it earns: its share, which the exercise gives it. See `worth`."""


def sealed_case(sealed: SealedCase, name: str, **about: Any) -> Case:
    """A case of an edition without answers: its inputs are the public ones. about: the other fields of `Case`."""
    return Case(name, lambda _rng: unpack_inputs(sealed.packed), sealed=sealed, **about)


class Misses(Exception):
    """What a learner made does not meet a criterion: raised by what `Case.accepts` calls.

    fault: which idea it misses, the name of one of the exercise's wrong answers where there is one. seen: what is
    wrong, in words of ours and small counts: marked feedback shows it, so nothing of the value itself may stand there.
    compare, notes: more of it, with the learner's own numbers, for their own check only; each note on a line.
    """

    def __init__(self, fault: str, seen: str, compare: str = "", notes: tuple[str, ...] = ()) -> None:
        super().__init__(seen)
        self.fault, self.seen, self.compare, self.notes = fault, seen, compare, notes


def criterion(
    name: str,
    accepts: Callable[..., object],
    weight: int = 1,
    says: str = "",
    draw: Callable[[np.random.Generator], Inputs] = lambda _rng: (),
) -> Case:
    """A case of an exercise in which the learner makes something: what they return is not compared, but judged.

    All cases of such an exercise are criteria, and its reference takes no arguments and returns something that meets
    them all: numbers, texts, arrays, lists and tuples of these, as `made_value` bounds them. It is called once, and
    each `accepts` is called with what came back, outside of the learner's kernel: it may be anything within those
    bounds, so look at its form first; what else it raises reads as "not of the form that the prompt asks for".
    draw: what the seed decides about the criterion; `accepts` gets it after the value.

        def pair_that_sums_to_ten():
            return 3, 7

        def _pair(value):
            if not isinstance(value, tuple) or len(value) != 2 or not all(isinstance(n, int | float) for n in value):
                raise Misses("no-pair", "two numbers are asked for, as a tuple")
            return value

        def _sums_to_ten(value):
            a, b = _pair(value)
            if a + b != 10:
                raise Misses("another-sum", "the numbers do not sum to 10", f"{a} + {b} is {a + b}")

        def _differ(value):
            a, b = _pair(value)
            if a == b:
                raise Misses("twice-the-same", "both numbers are the same")

        cases=(criterion("they sum to 10", _sums_to_ten, 2), criterion("they differ", _differ)),
        wrong=(WrongAnswer("twice-the-same", lambda: (5, 5), "5 and 5 are one number twice. …"), …)
        also_right=(lambda: (4, 6),)

    The fault that `accepts` raises names the mistake: each wrong answer is a making that fails with its own name, and
    with no other, in every criterion that it fails.
    """
    return Case(name, draw, weight, says, accepts=accepts)


@dataclass(frozen=True)
class WrongAnswer:
    """A wrong answer that real people write, as a function that can be run."""

    name: str
    """The diagnosis in gradebooks, e.g. "no-scaling"."""
    function: Callable
    says: str
    """One or two sentences for the learner."""
    hints: tuple[str, ...] = ()
    """From a nudge to almost the code; shown before the exercise's own hints."""
    section: str = ""
    """The heading in the lesson that treats it, where that is another than the exercise's."""
    clue: str = ""
    """What in the source shows it, a kind of `clues.Clue`: then it may be named where it only raises errors."""
    errors_tell: bool = False
    """Whether what it says is true of every answer that fails with an error in just the cases in which it does."""


@dataclass(frozen=True)
class Invariant:
    """A property that every right answer has, checkable without the reference."""

    name: str
    says: str
    holds: Callable[[Inputs, Any], bool]
    """Called with (inputs, values): an array, or a tuple of arrays. True when the property holds."""
    tells: bool = False
    """Whether its code is as good as the answer: an edition without answers leaves it out."""


@dataclass(frozen=True)
class Example:
    """A call with small numbers that the prompt shows, with what it returns computed from the reference."""

    inputs: tuple[Any, ...]
    """The positional arguments. A list stands for an array of float64, or of bool; an array of ints is an array."""
    keywords: tuple[tuple[str, Any], ...] = ()
    """Arguments by name, after those."""
    form: Literal["named", "call", "values"] = "named"
    """How it is written: `q = [1, 0]` gives `1`, `f([1, 0])` gives `1`, or `[1, 0]` gives `1`."""
    writes: tuple[str, ...] = ()
    """With the form "named": the arguments to write, where the text before has the others. All, when empty."""
    shows: str = ""
    """What stands for the result where more is to be said than its numbers, e.g. "ln 2 = 0.6931…"."""
    weight: int = 1
    """Its weight as a case. It is the same for every seed, so many of them should not all count."""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The positional arguments, with arrays in place of lists."""
        return tuple(_array(value) for value in self.inputs)

    def inputs_for(self, function: Callable) -> Inputs:
        """All arguments in the order of the function's parameters, those between filled with their defaults."""
        bound = inspect.signature(function).bind(*self.arguments, **dict(self.keywords))
        last = max((list(bound.signature.parameters).index(name) for name in bound.arguments), default=-1)
        bound.apply_defaults()
        return tuple(bound.arguments.values())[: last + 1]


@dataclass(frozen=True)
class Exercise:
    """One graded function: the single source of its prompt, checks, hints, hidden cases and feedback."""

    name: str
    lesson: str
    """The notebook that it belongs to, e.g. "01_dot_product"."""
    title: str
    prompt: str
    """What the learner reads above the answer cell, in Markdown. `{example:1}` is where the first example stands,
    or `{inputs:1}` and `{result:1}`, where words come between."""
    difficulty: int
    """From 1 to 5."""
    minutes: int
    """How long it takes a learner."""
    reference: Callable
    """The answer that is handed out: its signature and docstring stand in the learner's notebook."""
    cases: tuple[Case, ...]
    wrong: tuple[WrongAnswer, ...]
    also_right: tuple[Callable, ...]
    """Other right answers, all of which must pass."""
    hints: tuple[str, str, str]
    """Where to look, what idea, almost the code."""
    invariants: tuple[Invariant, ...] = ()
    allows: tuple[str, ...] = ()
    """What an answer may use of the course's package, e.g. (COURSE_SOFTMAX,)."""
    ready: tuple[str, ...] = ()
    """What NumPy has ready and would be the whole answer, e.g. ("numpy.tri",): whoever uses it is flagged."""
    section: str = ""
    """The heading in the lesson that treats it, e.g. "3. Length and angle"; the class report links there."""
    examples: tuple[Example, ...] = field(default=(), compare=False)
    """What the prompt shows, in its order. Each is a case too, after those in `cases`."""
    mistakes: Pairs | None = field(default=None, compare=False)
    """The wrong answers that deviate in one or two respects, where they are more than a list can hold."""
    spared: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Mutants that pass every case and need not fail, by their name, "before → after", each with the reason."""
    starter: Callable | None = field(default=None, compare=False)
    """What stands in the answer cell where that is more than a stub: code with a bug in it, or places to fill in."""
    ladder: bool = field(default=False, compare=False)
    """In an edition without its answer: whether a ladder leads to it where the answer is."""
    remade: Callable[..., Inputs] | None = field(default=None, compare=False)
    """Makes of any inputs those that belong together, where some follow from others: O and LSE from Q, K and V."""
    whole: bool = field(default=False, compare=False)
    """Whether it earns its points only where every case passes, as code does that is to be mended."""

    def __post_init__(self) -> None:
        there = {case.name for case in self.cases}
        examples = [case for case in _example_cases(self) if case.name not in there]
        cases = (*self.cases, *examples)
        earned = shares(worth(self.difficulty, self.minutes), [case.weight for case in cases])
        shared = (replace(case, points=points) for case, points in zip(cases, earned, strict=True))
        object.__setattr__(self, "cases", tuple(shared))

    @property
    def sealed(self) -> bool:
        """Whether this edition has no answer to it: `check` then says right or wrong, and not why."""
        return any(case.sealed is not None or case.kept for case in self.cases)

    @property
    def is_made(self) -> bool:
        """Whether the learner makes something that is judged, where else a function is compared with the reference."""
        return any(case.accepts is not None or case.kept for case in self.cases)

    @property
    def max_points(self) -> float:
        """Points of all cases together, its worth."""
        return sum(case.points for case in self.cases)


def _example_cases(exercise: Exercise) -> list[Case]:
    """The prompt's examples as cases: what a learner reads is what an answer is tried with."""
    numbered = len(exercise.examples) > 1
    cases = []
    for number, example in enumerate(exercise.examples, 1):
        name = f"{EXAMPLE} {number}" if numbered else EXAMPLE
        cases.append(
            Case(name, lambda _rng, example=example: example.inputs_for(exercise.reference), example.weight)
        )
    return cases


def _array(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    array = np.array(value)
    return array if array.dtype == bool else array.astype(float)


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


def read_only_strided(array: np.ndarray) -> np.ndarray:
    """The same numbers, both at once: a layout that is not contiguous, in memory that cannot be written."""
    view = strided(array)
    view.flags.writeable = False
    return view


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
