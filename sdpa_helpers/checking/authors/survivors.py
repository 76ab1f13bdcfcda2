"""Which mutants of a reference pass all cases of their exercise, and yet are no right answers.

A mutant that agrees with the reference on very many inputs is taken for the same function, written otherwise. One
that passes the cases and differs elsewhere shows a hole: a case is missing.
"""

import contextlib
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from sdpa_helpers.checking.answers.carried import pack_inputs
from sdpa_helpers.checking.answers.observe import Answer, copies, describe, has_nan
from sdpa_helpers.checking.authors.wide_inputs import MAX_NUMBERS, many_inputs, size
from sdpa_helpers.checking.diagnose import passes
from sdpa_helpers.checking.exercise import Exercise, Inputs, Invariant
from sdpa_helpers.checking.judging.difference import difference
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, Truth, truths, values_of
from sdpa_helpers.checking.naming.mutants import Mutant, mutants_of

SECONDS = 1.0
"""A call that computes longer is ended. It is the processor's time, so that nothing depends on a machine's load."""
MEMORY = 1 << 30
"""Bytes that calls may take beyond what the process has."""

SEEDS = (PUBLIC_SEED, *(f"luck {number}" for number in range(7)))
"""Every mutant has to fail for each of these seeds: no mark may depend on luck."""
MOST_SHOWN = 24
"""Numbers of an array that are printed."""
MOST = 600
"""Inputs on which a mutant that passes the cases is compared with the reference."""


@dataclass(frozen=True)
class Survivor:
    """A mutant that passes every case for some seed, and is wrong."""

    mutant: Mutant
    seeds: tuple[str, ...]
    """The seeds for which it passes: where these are not all, marks depend on luck."""
    inputs: Inputs
    """The smallest inputs found on which it differs, and the answer that it was made of does not."""
    expected: Answer
    answer: Answer

    @property
    def example(self) -> str:
        """In words: the inputs, what the reference returns for them, what the mutant does; where, if that is long."""
        wanted, came = _result(self.expected), _result(self.answer)
        alike = self.answer.kind != "error" and (wanted == came or len(came) > 40)
        place = f"; {difference(self.expected, self.answer).seen}" if alike else ""
        inputs = ", ".join(map(_short, self.inputs))
        return f"for {inputs}: expected {wanted}, {_verb(self.answer)}{came}{place}"


def _short(value: object) -> str:
    """A value as one would write it; only the shape of a long one."""
    if isinstance(value, np.ndarray) and value.size > MOST_SHOWN:
        return f"{value.dtype} of shape {value.shape}"
    return repr(value.tolist()) if isinstance(value, np.ndarray | np.generic) else repr(value)


def _result(answer: Answer) -> str:
    if answer.kind == "error":
        return f"{answer.error} {answer.message}".strip()
    if answer.kind == "tuple":
        return f"({', '.join(map(_result, answer.items))})"
    return answer.type_name if answer.array is None else _short(answer.array)


def _verb(answer: Answer) -> str:
    return "raised " if answer.kind == "error" else "returned "


@dataclass(frozen=True)
class MutantHunt:
    """What became of the mutants of an exercise."""

    exercise: Exercise
    seeds: tuple[str, ...]
    mutants: int
    equivalent: int
    """How many pass and agree with the reference on every input tried."""
    survivors: tuple[Survivor, ...]
    """Those without a reason."""
    stale: tuple[str, ...]
    """Names of mutants that the exercise spares, and that are no survivors."""

    @property
    def clean(self) -> bool:
        """Whether there is nothing to do."""
        return not self.survivors and not self.stale


def hunt(exercise: Exercise, seeds: tuple[str, ...] = SEEDS) -> MutantHunt:
    """Try every mutant of an exercise on the cases of each seed, and those that pass for one on many inputs more."""
    return _hunt(exercise, list(mutants_of(exercise)), seeds, (), exercise.spared)


def _hunt(
    exercise: Exercise,
    mutants: list[Mutant],
    seeds: tuple[str, ...],
    answers: Sequence[Callable],
    reasons: tuple[tuple[str, str], ...],
) -> MutantHunt:
    with _bounded(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = {seed: _cases(exercise, seed) for seed in seeds}
        passing = [(mutant, passed) for mutant in mutants if (passed := _passed(mutant.function, cases))]
        wide = [one for one in _wide(exercise) if _undisputed(answers, *one)] if passing else []
        found = [_differing(mutant, passed, wide) for mutant, passed in passing]
        alive = [survivor for one in found if one and (survivor := _confirmed(exercise, one))]
    names = {s.mutant.name for s in alive}
    spared = [name for name, _ in reasons]
    return MutantHunt(
        exercise,
        seeds,
        len(mutants),
        found.count(None),
        tuple(s for s in alive if s.mutant.name not in spared),
        tuple(name for name in spared if name not in names),
    )


def hunt_in_styles(
    exercise: Exercise,
    answers: Sequence[Callable],
    reasons: tuple[tuple[str, str], ...] = (),
    seeds: tuple[str, ...] = SEEDS[:1],
) -> MutantHunt:
    """The same with mutants of other right answers: a case that the reference's form never needs is missing, too.

    An input on which right answers differ is none that the exercise asks about, so nothing shows there, nor on one with
    tiny or huge numbers, which tells of rounding. Answers whose source cannot be changed are only asked what they say.

    reasons: mutants that need not fail, as in `Exercise.spared`; one that is no survivor is no fault here, as answers
    come and go.
    """
    mutants = [mutant for answer in answers for mutant in _all_of(exercise, answer)]
    return replace(_hunt(exercise, mutants, seeds, answers, reasons), stale=())


def _all_of(exercise: Exercise, answer: Callable) -> list[Mutant]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # a change may be Python and nonsense
            return list(mutants_of(exercise, answer))
    except ValueError:  # a lambda, or a function made by another one
        return []


def _cases(exercise: Exercise, seed: str) -> list[Truth]:
    """The cases with the numbers of a seed, small ones first; those too large to try often are left to `passes`."""
    sizes = [(size(truth.inputs), truth) for truth in truths(exercise, seed)]
    return [truth for n, truth in sorted(sizes, key=itemgetter(0)) if n <= MAX_NUMBERS]


def _passed(function: Callable, cases: dict[str, list[Truth]]) -> tuple[str, ...]:
    """The seeds for which a function passes."""
    return tuple(seed for seed, drawn in cases.items() if all(_agrees(function, truth) for truth in drawn))


def _confirmed(exercise: Exercise, found: Survivor) -> Survivor | None:
    """A survivor with the seeds for which the course itself lets it pass; None when there is none."""
    passed = tuple(s for s in found.seeds if passes(exercise, found.mutant.function, s))
    return replace(found, seeds=passed) if passed else None


def _differing(mutant: Mutant, passed: tuple[str, ...], wide: list[tuple[Inputs, Answer]]) -> Survivor | None:
    """The mutant with the first inputs on which it differs from the reference; None when it never does."""
    for inputs, expected in wide:
        answer = _call_and_look(mutant.function, inputs)
        if difference(expected, answer)[0]:
            return Survivor(mutant, passed, inputs, expected, answer)
    return None


def _undisputed(answers: Sequence[Callable], inputs: Inputs, expected: Answer) -> bool:
    """Whether right answers all say the same, where others than the reference are asked."""
    return not (answers and _far_out(inputs)) and not any(
        difference(expected, _call_and_look(answer, inputs)).fault for answer in answers
    )


def _agrees(function: Callable, truth: Truth) -> bool:
    return not difference(truth.expected, _call(function, truth.inputs))[0]


def _wide(exercise: Exercise) -> list[tuple[Inputs, Answer]]:
    """Inputs from small to large, with what the reference returns."""
    found: dict[str, tuple[Inputs, Answer]] = {}
    for base, inputs in many_inputs(exercise):
        key = pack_inputs(inputs)
        if key not in found and (answer := _sound(exercise, base, inputs)):
            found[key] = (inputs, answer)
        if len(found) == MOST:
            break
    return sorted(found.values(), key=lambda one: (_far_out(one[0]), size(one[0])))


def _far_out(inputs: Inputs) -> bool:
    """Whether there are tiny or huge numbers in it: such an example is shown only when there is no other."""
    floats = [
        np.abs(v) for v in inputs if type(v) is float or (isinstance(v, np.ndarray) and v.dtype.kind == "f")
    ]
    return any(
        bool(((v > 0) & (v < 1e-6) | np.isfinite(v) & (v > 1e6)).any()) for v in map(np.asarray, floats)
    )


def _sound(exercise: Exercise, base: Inputs, inputs: Inputs) -> Answer | None:
    """What the reference returns; None where the exercise asks nothing.

    That is where the reference raises, breaks an invariant, or meets numbers that it can't compute with as it never
    does for `base`.
    """
    reference, answer = exercise.reference, _call(exercise.reference, inputs)
    if answer.kind not in ("array", "number", "tuple"):
        return None
    if inputs is base:
        return answer
    if has_nan(answer) and not has_nan(_call(reference, base)):
        return None
    if _quiet(reference, base) and not _quiet(reference, inputs):
        return None
    return answer if all(_holds(invariant, inputs, answer) for invariant in exercise.invariants) else None


def _holds(invariant: Invariant, inputs: Inputs, answer: Answer) -> bool:
    try:
        return invariant.holds(inputs, values_of(answer))
    except Exception:  # it was not written for such inputs
        return False


def _quiet(function: Callable, inputs: Inputs) -> bool:
    with np.errstate(invalid="raise", divide="raise", over="raise"):
        return _call(function, inputs).kind != "error"


# ---- one call ---------------------------------------------------------------------------------------------


class _TooLong(BaseException):
    """Ends a call; no `except Exception` of a mutant stops it."""


def _call(function: Callable, inputs: Inputs) -> Answer:
    """What a function returns; taking too long is an error."""
    try:
        with _time_limit():
            return describe(function(*inputs))
    except (Exception, SystemExit, _TooLong) as error:
        return Answer("error", error=type(error).__name__, message=str(error)[:200])


def _call_and_look(function: Callable, inputs: Inputs) -> Answer:
    """What a function returns for a copy of some inputs; changing them is an error."""
    fresh = copies(inputs)
    answer = _call(function, fresh)
    for before, after in zip(inputs, fresh, strict=True):
        if isinstance(before, np.ndarray) and before.tobytes() != after.tobytes():
            return Answer("error", error="ValueError", message="it changes its inputs")
    return answer


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    """End what computes too long, again and again; only where such signals are, and in the main thread."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _TooLong(f"ended after {SECONDS} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS, 0.2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Let this process take a gigabyte more than it has, and no more; only on Linux."""
    try:
        import resource

        with open("/proc/self/statm") as numbers:
            has = int(numbers.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = has + MEMORY if hard == resource.RLIM_INFINITY else min(hard, has + MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
