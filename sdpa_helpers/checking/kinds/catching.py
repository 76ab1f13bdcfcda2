"""Catch them all: the learner writes test cases for an exercise; its known wrong answers are tried on them.

A `Catch` is what one such exercise is made of. Every right answer has to pass every case; what counts then is how many
of the wrong ones at least one case finds out. What the known answers give for some inputs is kept by the inputs' bytes,
so that a second check of the same cases costs nothing.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from sdpa_helpers.checking.answers import made_value
from sdpa_helpers.checking.answers.carried import pack_inputs, unpack_inputs
from sdpa_helpers.checking.answers.observe import Answer, call, copies, describe, quiet
from sdpa_helpers.checking.exercise import Case, Exercise, Inputs, Misses, WrongAnswer, criterion
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.checking.kinds.alike import essence, same, where_apart

MOST_LIVE = 3
"""Wrong answers that are named of those no case has caught."""
_SMALL = 2_000
"""Of a case of the exercise: with more numbers it is not used to tell wrong answers apart."""

TestCase = tuple[Inputs, Any]
"""(inputs, expected)."""


@dataclass(frozen=True)
class BlindSpot:
    """A kind of input that none of the learner's cases has: why much is not caught."""

    name: str
    """The name of the wrong answer of the exercise that says it."""
    holds: Callable[[list[Inputs]], bool]
    """Whether all inputs together have it."""


@dataclass(frozen=True)
class KnownMistake:
    """A known wrong answer."""

    name: str
    says: str
    function: Callable


class Tested(NamedTuple):
    """What the known answers come to on one test case's inputs."""

    right: Answer | None
    """What right answers give; None where they give different things, or errors."""
    caught: np.ndarray
    """For each known wrong answer whether it gives something else."""


@dataclass(frozen=True, eq=False)
class Catch:
    """One exercise's wrong answers, to be caught with test cases."""

    of: Exercise
    promised: Callable[[Inputs], Inputs]
    """The inputs as the exercise takes them, lists made arrays; raises ValueError, in words, for what it does not."""
    model: Callable[[], list]
    """The exercise's own test cases."""
    most: int
    """Test cases that may be used."""
    blind: tuple[BlindSpot, ...]
    """Looked for in this order."""

    @cached_property
    def known(self) -> tuple[KnownMistake, ...]:
        """The wrong answers, one of each behaviour, and none that only its conduct gives away."""
        cases = [t for t in truths(self.of, PUBLIC_SEED) if _size(t.inputs) <= _SMALL]
        found: dict[tuple, KnownMistake] = {}
        with quiet():
            for one in _every(self.of):
                gives = [call(one.function, copies(t.inputs)) for t in cases]
                if not all(same(t.expected, answer) for t, answer in zip(cases, gives, strict=True)):
                    found.setdefault(tuple(map(essence, gives)), one)
        return tuple(found.values())

    def test(self, inputs: Inputs) -> Tested:
        """What the known answers come to on these inputs, remembered by their bytes."""
        return _tested(self, pack_inputs(inputs))

    def cases(self, value: Any) -> list[TestCase]:
        """The learner's test cases, every one sound; raises `Misses` for the first that is not."""
        if not isinstance(value, list | tuple) or not value:
            raise Misses(
                "no-test-cases",
                "what came back is not a list of pairs `(inputs, expected)` with at least one pair",
            )
        if len(value) > self.most:
            cases = "test cases are" if self.most > 1 else "test case is"
            raise Misses("too-many-cases", f"at most {self.most} {cases} allowed", f"there are {len(value)}")
        return [self._sound(number, case) for number, case in enumerate(value, 1)]

    def _sound(self, number: int, case: Any) -> TestCase:
        if not isinstance(case, list | tuple) or len(case) != 2:
            raise Misses("no-test-cases", f"your test case {number} is no pair `(inputs, expected)`")
        inputs, expected = case
        no_tuple = f"the inputs of your test case {number} are no tuple; one argument alone is written `(x,)`"
        if not isinstance(inputs, tuple | list):
            raise Misses("no-test-cases", no_tuple)
        try:
            inputs = self.promised(tuple(inputs))
        except (ValueError, TypeError) as error:
            if isinstance(inputs, list) and self._is_promised((inputs,)):  # `([0, 1])` is `[0, 1]`
                raise Misses("no-test-cases", no_tuple) from None
            said = f"`{self.of.name}` is not asked about the inputs of your test case {number}"
            raise Misses("outside-the-promise", said, str(error)) from None
        right = self.test(inputs).right
        if right is None:
            said = (
                f"for the inputs of your test case {number} a right answer may do either: choose other inputs"
            )
            raise Misses("either-is-right", said)
        if not same(right, given := describe(expected)):
            said = f"your test case {number} expects something else than a right `{self.of.name}` gives"
            raise Misses("expects-another-value", said, where_apart(self.of.name, right, given))
        return inputs, expected

    def _is_promised(self, inputs: Inputs) -> bool:
        try:
            self.promised(inputs)
        except (ValueError, TypeError):
            return False
        return True

    def caught(self, cases: list[TestCase]) -> np.ndarray:
        """For each test case (a row) which of the known wrong answers it catches."""
        return np.array([self.test(inputs).caught for inputs, _ in cases])

    @cached_property
    def reach(self) -> int:
        """How many the model's cases catch: all, or nearly all. More is never needed."""
        return int(self.caught(self.cases(self.model())).any(axis=0).sum())

    def fallen(self, made: str) -> tuple[tuple[str, bool], ...]:
        """Each wrong answer's name, and whether the test cases of an answer as it was made catch it; () where they
        can't be used."""
        try:
            caught = np.any(self.caught(self.cases(made_value.read(made))), axis=0)
        except (Misses, ValueError):
            return ()
        return tuple(
            (one.name, bool(is_caught)) for one, is_caught in zip(self.known, caught.tolist(), strict=True)
        )

    # ---- the criteria ---------------------------------------------------------------------------------------

    def criteria(self) -> tuple[Case, ...]:
        """What the learner's test cases earn points for."""
        catching = (criterion(name, partial(self._catches, share)) for share, name in SHARES)
        return (criterion("every right answer passes", self.cases, says=_SOUND), *catching)

    def _catches(self, share: float, value: Any) -> None:
        cases = self.cases(value)
        caught = self.caught(cases)
        live = np.logical_not(caught.any(axis=0))
        count = len(self.known) - int(live.sum())
        if count >= (needed := self._needed(share)):
            return
        inputs = [one for one, _ in cases]
        fault = next((spot.name for spot in self.blind if spot.holds(inputs)), "some-live")
        seen = f"{count} of {len(self.known)} are caught; this point needs {needed}"
        is_first = all(count >= self._needed(other) for other, _ in SHARES if other < share)
        notes = (*_by_case(caught), *self._living(live.tolist())) if is_first else ()
        raise Misses(fault, seen, notes=notes)

    def _needed(self, share: float) -> int:
        return math.ceil(share * self.reach - 1e-9)

    def _living(self, live: Iterable[bool]) -> Iterator[str]:
        """Some of those that no case has caught, those of the exercise's own list first."""
        named = {one.name: one for one, lives in zip(self.known, live, strict=True) if lives}
        yield "Alive, with the first thing that `check` tells their authors:"
        for one in list(named.values())[:MOST_LIVE]:
            yield f"`{one.name}`: “{_first_sentence(one.says)}”"


def hunt_of(exercise: Exercise) -> Catch | None:
    """The hunt that judges an exercise; None where it is none."""
    judges = (getattr(case.accepts, "__self__", None) for case in exercise.cases)
    return next((judge for judge in judges if isinstance(judge, Catch)), None)


SHARES = (
    (0.5, "half of the wrong versions are caught"),
    (0.75, "three quarters of the wrong versions are caught"),
    (0.9, "nine tenths of the wrong versions are caught"),
    (1.0, "as many are caught as by our own cases"),
)
"""Of what can be reached; each earns the same."""


_SOUND = "A test that a right answer fails is worse than none, so nothing else counts until all of them pass."


def _every(exercise: Exercise) -> Iterator[KnownMistake]:
    """The wrong answers of an exercise: its list, then what deviates in one part."""
    says = {wrong.name: wrong.says for wrong in exercise.wrong}
    for wrong in exercise.wrong:
        yield KnownMistake(wrong.name, wrong.says, wrong.function)
    if exercise.mistakes is not None:
        for deviant in exercise.mistakes.deviants(1):
            (name,) = deviant.names
            yield KnownMistake(name, says.get(name, ""), deviant.function)


@lru_cache(maxsize=1024)
def _tested(hunt: Catch, packed: str) -> Tested:
    inputs = unpack_inputs(packed)
    with quiet():
        right = call(hunt.of.reference, copies(inputs))
        others = [call(function, copies(inputs)) for function in hunt.of.also_right]
        wrong = [call(known.function, copies(inputs)) for known in hunt.known]
        agree = right.kind != "error" and all(same(right, other) for other in others)
        return Tested(right if agree else None, np.array([not same(right, one) for one in wrong]))


def _size(inputs: Inputs) -> int:
    return sum(value.size for value in inputs if isinstance(value, np.ndarray))


# ---- words ------------------------------------------------------------------------------------------------


def _by_case(caught: np.ndarray) -> Iterator[str]:
    """How many each test case catches, and how many nobody else does."""
    if len(caught) == 1:
        return
    alone = caught & (caught.sum(axis=0) == 1)
    counts = zip(caught.sum(axis=1), alone.sum(axis=1), strict=True)
    parts = [
        f"test case {number} catches {of} ({only} of them alone)"
        for number, (of, only) in enumerate(counts, 1)
    ]
    yield f"{', '.join(parts)}.".replace("test", "Test", 1)


def _first_sentence(says: str) -> str:
    end = says.find(". ")
    return says if end < 0 else says[: end + 1]


def prompt_of_hunt(name: str, most: int, arguments: str, example: str) -> str:
    """The prompt of such an exercise. arguments: what the inputs are, in words; example: one test case, as code."""
    so_many = f"at most {most} test cases, each " if most > 1 else "one test case, "
    return _PROMPT.format(name=name, most=so_many, arguments=arguments.strip(), example=example)


_PROMPT = (
    "`test_cases_for_{name}()`: it's easy to write tests that correct code passes. Write tests that catch incorrect "
    "code.\n\nWe keep a list of the wrong versions of `{name}` that people write. Return a list of {most}a pair "
    "`(inputs, expected)`:\n\n"
    "- `inputs`: the arguments as a tuple. {arguments}\n"
    "- `expected`: what a right `{name}` returns for them, worked out by hand. Six digits are compared, so write `1/3` "
    "rather than `0.333`.\n\n"
    "For example, `{example}` is a test case.\n\n"
    "A wrong version is caught when it returns something else for one of your cases, or raises an error. Every right "
    "version has to pass them all. Passing earns the first point; the others are for catching half, three quarters and "
    "nine tenths of the wrong versions, and as many as our own cases catch, which is all or nearly all.\n"
)


def usual_mistakes(model: Callable[[], list], outside: Inputs) -> tuple[WrongAnswer, ...]:
    """Wrong answers of every hunt, made from the model's cases. outside: inputs that the exercise does not take."""

    def first_is_wrong() -> list:
        (inputs, expected), *others = model()
        return [(inputs, 2 * np.asarray(expected) + 1), *others]

    return (
        WrongAnswer("no-test-cases", lambda: [], _NO_CASES),
        WrongAnswer("too-many-cases", lambda: model() * 9, _TOO_MANY),
        WrongAnswer("expects-another-value", first_is_wrong, _ANOTHER_VALUE),
        WrongAnswer("outside-the-promise", lambda: [*model()[:-1], (outside, 0.0)], _OUTSIDE),
    )


_NO_CASES = (
    "What came back is not a list of test cases. Each one is a pair: a tuple of the arguments, and what a right answer "
    "returns for them. One argument `x` alone is the tuple `(x,)`."
)
_TOO_MANY = (
    "You have more test cases than may be used. Look for two that catch the same, and join them into one."
)
_ANOTHER_VALUE = (
    "One of your test cases expects a value that a right answer does not give, so it would reject right answers too. "
    "Work it out again; where only its last digits differ, write `1/3` rather than `0.333`: six digits are compared."
)
_OUTSIDE = (
    "One of your test cases asks about inputs that the exercise does not promise anything about. What happens there is "
    "nobody's mistake. Read again what its arguments are."
)
