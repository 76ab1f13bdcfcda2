"""The smallest example of a failure: from a case with many numbers to one that a person can check by hand.

Steps that make the inputs simpler are tried one after another, and a step is taken when the exercise still accepts the
inputs (the reference returns something finite, and every other right answer agrees with it) and the answer is still
wrong in the same way. The learner's function is called often here, so what it prints is dropped, and the search is
bounded by what can be counted: the calls, and the numbers in their inputs. So the example is the same on a machine that
is slow or busy. Time decides one thing only, whether there is an example at all.
"""

import contextlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from sdpa_helpers.checking.answers.carried import pack_inputs, unpack_inputs
from sdpa_helpers.checking.answers.observe import Answer, observe, quiet
from sdpa_helpers.checking.diagnose import Result
from sdpa_helpers.checking.exercise import Exercise, Inputs
from sdpa_helpers.checking.helping.simpler import (
    lengths_of,
    limits_of,
    nature_of,
    numbers_in,
    with_rounder_entries,
    with_rounder_numbers,
    with_shorter_axes,
    with_smaller_numbers,
    without_the_first_axis,
)
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, judge, truths
from sdpa_helpers.checking.naming.forms import FORMS, in_right_kind

MAX_CALLS = 200
"""Calls of the learner's function; with `MAX_NUMBERS` what bounds the search, and makes it end the same each time."""
MAX_NUMBERS = 100_000
"""In the inputs of all those calls together."""
PATIENCE = 3.0
"""Seconds; the longest search that is known takes 0.1. Who takes so long gets no example, rather than another one."""
FEW_NUMBERS = 8
"""So many are read at a glance: below it an axis of length 2 stays."""
READABLE_NUMBERS = 40
"""An example with more numbers than that is none."""

SameWay = Callable[[Inputs, Answer], bool]
"""Whether an answer to other inputs is wrong for the same reason; asked with fresh inputs."""


@dataclass(frozen=True)
class Small:
    """An example of a failure."""

    inputs: Inputs
    """The positional arguments of the call."""
    expected: Answer
    """What the reference returns for them."""
    answer: Answer
    """What the learner's function returned, or how it failed."""


Step = Callable[[Exercise, Inputs], Iterator[Inputs]]
"""What proposes simpler inputs."""
Call = Callable[[Callable, Inputs], Answer]
"""How the learner's function is called, e.g. with a limit on its time."""


def example_of(result: Result, function: Callable, call: Call = observe) -> Small | None:
    """One readable example for a checked answer: of the first mistake that was named, else of the first fault.

    None where nothing failed, or where a sentence says it all: a missing `return`, an error in every case. None where
    a call had to be stopped, in the check or here. None in an edition without answers: nothing says there what is
    expected for other inputs.
    """
    exercise, faults = result.exercise, {case.verdict.fault for case in result.cases}
    if exercise.sealed or exercise.is_made or faults == {"raised-error"} or "timeout" in faults:
        return None
    seen = [mistake for mistake in result.mistakes if mistake.name not in _SAID]
    if result.mistakes and not seen:
        return None
    cases = seen[0].cases if seen else [c.verdict.case for c in result.cases]
    failed = {c.verdict.case for c in result.cases if c.verdict.fault in _FAULTS_TO_SHOW} & {*cases}
    tried = sorted(  # more than one: with one component, a case can be right but for its kind
        (t for t in truths(exercise, PUBLIC_SEED) if t.case.name in failed), key=lambda t: len(t.packed)
    )
    same_way = _gives_the_same(_functions(exercise, seen[0].name if seen else ""))
    ends = time.monotonic() + PATIENCE
    return first_example(Search(exercise, function, truth, same_way, call, ends) for truth in tried)


_SAID = ("changes-its-input", "differs-each-call", "too-much-memory", "returned-nothing")
"""Mistakes that no numbers show."""
_FAULTS_TO_SHOW = ("wrong-values", "wrong-shape", "not-finite", "wrong-dtype", "wrong-kind", "raised-error")


def _functions(exercise: Exercise, name: str) -> list[Callable]:
    """The functions that make a mistake: of the exercise's list, and of its products."""
    listed = [wrong.function for wrong in exercise.wrong if wrong.name == name]
    products = exercise.mistakes.deviants(1) if exercise.mistakes is not None else ()
    return listed + [deviant.function for deviant in products if deviant.names == (name,)]


def _gives_the_same(known: list[Callable]) -> SameWay:
    """Whether a known mistake gives an answer too; yes, where none is known."""

    def same_way(inputs: Inputs, answer: Answer) -> bool:
        others = (observe(function, unpack_inputs(pack_inputs(inputs))).plain for function in known)
        return not known or any(FORMS[1].same(other, in_right_kind(other, answer.plain)) for other in others)

    return same_way


def first_example(searches: "Iterable[Search]") -> Small | None:
    """The smallest inputs found by the first search whose case fails; None where what was found is not readable.

    The prompt's own examples come first.
    """
    with _silence():
        try:
            return next((search.smallest() for search in searches if search.begin()), None)
        except _TookTooLong:
            return None


class _TookTooLong(Exception):
    """The answer runs over here: whatever was found so far depends on the machine."""


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Nothing that a call prints or displays is shown."""
    with contextlib.ExitStack() as stack:
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output  # which knows what a notebook displays

            stack.enter_context(capture_output())
        nowhere = stack.enter_context(open(os.devnull, "w"))
        stack.enter_context(contextlib.redirect_stdout(nowhere))
        stack.enter_context(contextlib.redirect_stderr(nowhere))
        yield


@dataclass
class Search:
    """One search, which begins with the case itself; counts the calls and the numbers in them."""

    exercise: Exercise
    function: Callable
    truth: Truth
    same_way: SameWay
    call: Call
    ends: float
    calls: int = 0
    numbers: int = 0
    start: Small = field(init=False)
    """The case itself."""
    fault: tuple[str, ...] = field(init=False)
    """How the answer fails there; () where it does not, or in nothing but the kind of thing it returns."""

    def begin(self) -> bool:
        """Try the case itself: whether the answer fails there."""
        self.start = Small(self.truth.inputs, self.truth.expected, self._call(self.truth.inputs))
        self.fault = self._fault_of(self.start)
        return bool(self.fault)

    def smallest(self) -> Small | None:
        """The smallest example found; None where it has more numbers than a person reads."""
        if not self.same_way(self.start.inputs, self.start.answer):
            self.same_way = lambda inputs, answer: True  # a product of two mistakes: neither alone gives this
        small = self._an_example_of_the_prompt() or self._shrunk(self.start)
        return small if numbers_in(small.inputs) <= READABLE_NUMBERS else None

    def _an_example_of_the_prompt(self) -> Small | None:
        every = (example.inputs_for(self.exercise.reference) for example in self.exercise.examples)
        return next((small for inputs in every if (small := self._fails(inputs))), None)

    def _shrunk(self, small: Small) -> Small:
        natures = {i: nature_of(v) for i, v in enumerate(small.inputs) if isinstance(v, np.ndarray)}
        if self.exercise.remade:
            natures = {}  # what follows from other inputs has the nature that it gets
        limits = set(limits_of(small.inputs))
        axes = _fewest_axes(self.exercise)

        def fits(inputs: Inputs) -> bool:
            arrays = [(i, v) for i, v in enumerate(inputs) if isinstance(v, np.ndarray)]
            if not {(i, j) for i, j in limits if i < len(inputs)} <= set(limits_of(inputs)):
                return False
            return all((i not in natures or natures[i].fits(v)) and v.ndim >= axes[i] for i, v in arrays)

        def proposals(step: Step, inputs: Inputs) -> Iterator[Inputs]:
            return self._that_belong_together(filter(fits, step(self.exercise, inputs)), inputs)

        for _ in range(2):
            before = small
            for step in _STEPS:
                small = self._as_far_as_it_goes(small, lambda inputs, step=step: proposals(step, inputs))
            if small is before:
                break
        return small

    def _that_belong_together(self, proposed: Iterable[Inputs], before: Inputs) -> Iterator[Inputs]:
        """What is proposed; where some inputs follow from others, with those anew."""
        remade = self.exercise.remade
        if remade is None:
            yield from proposed
            return
        packed = pack_inputs(before)
        for inputs in proposed:
            whole = before
            with quiet(), contextlib.suppress(Exception):  # shapes that don't fit: no inputs of this exercise
                whole = remade(*inputs)
            if pack_inputs(whole) != packed:  # a step that is undone would be taken for ever
                yield whole

    def _as_far_as_it_goes(self, small: Small, step: Callable[[Inputs], Iterator[Inputs]]) -> Small:
        """Take the first proposal that still fails, and go on from there."""
        while simpler := next((s for inputs in step(small.inputs) if (s := self._fails(inputs))), None):
            small = simpler
        return small

    def _fails(self, inputs: Inputs) -> Small | None:
        """The example that these inputs make, if they are inputs of the exercise and it fails in the same way."""
        if self.calls >= MAX_CALLS or self.numbers >= MAX_NUMBERS:
            return None
        packed = pack_inputs(inputs)
        expected = observe(self.exercise.reference, unpack_inputs(packed))
        if not _alike(self.truth.expected, expected):
            return None
        small = Small(inputs, expected, self._call(inputs))
        if self._fault_of(small) != self.fault or not self.same_way(unpack_inputs(packed), small.answer):
            return None
        others = (observe(right, unpack_inputs(packed)) for right in self.exercise.also_right)
        return small if not any(self._fault_of(replace(small, answer=other)) for other in others) else None

    def _call(self, inputs: Inputs) -> Answer:
        self.calls += 1
        self.numbers += numbers_in(inputs)
        answer = self.call(self.function, unpack_inputs(pack_inputs(inputs)))
        if answer.kind == "stopped" or time.monotonic() > self.ends:
            raise _TookTooLong
        return answer

    def _fault_of(self, small: Small) -> tuple[str, ...]:
        """What is wrong; for an error also which, and where it was raised."""
        truth = replace(self.truth, packed=pack_inputs(small.inputs), expected=small.expected)
        verdict = judge(self.exercise, truth, in_right_kind(small.expected, small.answer))
        return () if verdict.passed else (verdict.fault, small.answer.error, small.answer.line)


def _without_the_last_argument(exercise: Exercise, inputs: Inputs) -> Iterator[Inputs]:
    """Where it has a default, the call can do without."""
    names = list(inspect.signature(exercise.reference).parameters.values())
    if inputs and names[len(inputs) - 1].default is not inspect.Parameter.empty:
        yield inputs[:-1]


def _shorter(exercise: Exercise, inputs: Inputs) -> Iterator[Inputs]:
    for effort in range(3):
        for length in lengths_of(inputs):
            if length > 2:
                yield from with_shorter_axes(inputs, length, 2, effort)
    if numbers_in(inputs) > FEW_NUMBERS:
        yield from (cut for effort in range(2) for cut in with_shorter_axes(inputs, 2, 1, effort))


_STEPS: tuple[Step, ...] = (
    _without_the_last_argument,
    lambda exercise, inputs: without_the_first_axis(inputs),
    _shorter,
    lambda exercise, inputs: with_smaller_numbers(inputs),
    lambda exercise, inputs: with_rounder_numbers(inputs),
    lambda exercise, inputs: with_rounder_entries(inputs),
)
"""From what makes most smaller to the last number."""


def _fewest_axes(exercise: Exercise) -> list[int]:
    """For each argument, with how many axes it is met in the cases: one for matrices is not asked about a vector."""
    found = [99] * len(inspect.signature(exercise.reference).parameters)
    for truth in truths(exercise, PUBLIC_SEED):
        for i, value in enumerate(truth.inputs):
            found[i] = min(found[i], value.ndim if isinstance(value, np.ndarray) else 99)
    return found


def _alike(first: Answer, second: Answer) -> bool:
    """Whether the reference accepts other inputs: the same kind of answer, something in it, and as finite."""
    if first.kind == "tuple" or second.kind == "tuple":
        same_length = first.kind == second.kind and len(first.items) == len(second.items)
        return same_length and all(map(_alike, first.items, second.items))
    if first.array is None or second.array is None or not second.array.size:
        return False
    if first.array.dtype != second.array.dtype:
        return False
    return bool(np.isfinite(second.array).all()) or not np.isfinite(first.array).all()
