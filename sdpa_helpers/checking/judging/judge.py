"""Compare an answer with the truth of a case: a pure function, used by `check` and by the grader alike.

The order of questions: was it attempted, did it raise, is it the right kind, shape, dtype, finite, close; did it
leave the caller's arrays alone, and does it say the same when asked twice. Which mistake was made is asked in
`name_mistakes`, where all cases are seen together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np

from sdpa_helpers.checking.answers import made_value
from sdpa_helpers.checking.answers.carried import pack_inputs, unpack_inputs
from sdpa_helpers.checking.answers.observe import (
    NOTHING_ELSE,
    Answer,
    Watch,
    call,
    describe_made,
    observe,
    quiet,
)
from sdpa_helpers.checking.answers.sealed import Seal, SealedCase
from sdpa_helpers.checking.exercise import Case, Exercise, Inputs, Misses, stream
from sdpa_helpers.checking.judging.difference import Difference, difference, difference_behind_seals
from sdpa_helpers.checking.judging.part_names import by_name

PUBLIC_SEED = "public"
"""The seed of `check` and `sdpa check`; a grader takes another."""

CaseStatus = Literal[
    "passed", "failed", "error", "not-attempted", "missing", "timeout", "out-of-memory", "not-run"
]
"""What became of a case; the last four come from the grader, or from a limit: there was no answer to judge."""


@dataclass(frozen=True, eq=False)
class Truth:
    """A case with its numbers."""

    case: Case
    packed: str
    """The inputs, as `carried.pack_inputs` writes them."""
    expected: Answer
    """What the reference returns; in an edition without answers its form alone."""
    watch: Watch = NOTHING_ELSE
    """What to look at beside the result."""
    seals: tuple[Seal, ...] = ()
    """In an edition without answers: the expected numbers, of a tuple part by part."""
    asked_in: str = ""
    """Where the learner makes something: the case whose call answers this one too. "" for a case with its own call."""
    drawn: Inputs = ()
    """Where the learner makes something: what the seed draws for the criterion. It stays on this side."""

    @property
    def inputs(self) -> Inputs:
        """Fresh inputs: nobody can spoil them for the next caller."""
        return unpack_inputs(self.packed)

    @cached_property
    def _kept(self) -> Inputs:
        return self.inputs

    @property
    def shared(self) -> Inputs:
        """The same inputs for every caller, where nothing in them can be written; else fresh ones."""
        locked = all(
            not x.flags.writeable if isinstance(x, np.ndarray) else not isinstance(x, list)
            for x in self._kept
        )
        return self._kept if locked else self.inputs

    @property
    def watched(self) -> str:
        """`watch` in words, as a hidden check says it (`carried.question`)."""
        return " ".join(name for name in ("memory", "twice", "made") if getattr(self.watch, name))


@dataclass(frozen=True)
class Verdict:
    """What one case earned, and what was seen."""

    case: str
    """The case's name."""
    status: CaseStatus
    points: float
    max_points: float
    fault: str = ""
    """The kind of difference, e.g. "wrong-shape"."""
    seen: str = ""
    """What was observed; holds nothing of the expected values."""
    compare: str = ""
    """Seen against expected, for the learner's own check only."""
    broken: str = ""
    """The invariant that the answer breaks."""
    notes: tuple[str, ...] = ()
    """What else there is to say, a line each, for the learner's own check only."""

    @property
    def passed(self) -> bool:
        """Whether the case earned its points."""
        return self.status == "passed"


@lru_cache(maxsize=512)
def truths(exercise: Exercise, seed: str) -> tuple[Truth, ...]:
    """Every case of an exercise with the numbers that a seed draws for it.

    All arrays are read-only, but for those of the first case: there a change of them would show afterwards. An edition
    without answers knows the public cases alone: ValueError for another seed.
    """
    if exercise.is_made:
        return _criteria(exercise, seed)
    found = []
    for number, case in enumerate(exercise.cases):
        if case.sealed is not None:
            if seed != PUBLIC_SEED:
                raise ValueError(
                    f"{exercise.name} has no answer in this edition, and so no cases but the public ones"
                )
            watch = Watch(bool(case.peak_bytes), number == 0)
            found.append(Truth(case, case.sealed.packed, _hollow(case.sealed), watch, case.sealed.seals))
            continue
        inputs = case.make(stream(seed, exercise.name, case.name))
        packed = pack_inputs(inputs if number == 0 else tuple(map(_locked, inputs)))
        expected = observe(exercise.reference, unpack_inputs(packed))
        if expected.kind in ("error", "none", "other", "not-attempted") or expected.changed:
            raise ValueError(f"the reference of {exercise.name!r} fails in case {case.name!r}: {expected}")
        found.append(Truth(case, packed, expected.plain, Watch(bool(case.peak_bytes), number == 0)))
    return tuple(found)


def _criteria(exercise: Exercise, seed: str) -> tuple[Truth, ...]:
    """The cases of an exercise in which something is made: one call, of which all are judged."""
    first = exercise.cases[0].name
    watch = Watch(twice=True, made=True)
    expected = observe(exercise.reference, (), watch).plain if not exercise.sealed else Answer("made")
    if expected.kind != "made":
        raise ValueError(f"the reference of {exercise.name!r} makes nothing: {expected}")
    return tuple(
        Truth(
            case,
            pack_inputs(()),
            expected,
            watch,
            asked_in="" if case.name == first else first,
            drawn=case.make(stream(seed, exercise.name, case.name)),
        )
        for case in exercise.cases
    )


def with_own_calls(known: Iterable[Truth]) -> list[Truth]:
    """The cases for which the answer is called."""
    return [truth for truth in known if not truth.asked_in]


def for_all(known: Iterable[Truth], answers: Iterable[Answer]) -> list[Answer]:
    """An answer for every case, from those to `with_own_calls`."""
    came = iter(answers)
    found: dict[str, Answer] = {}
    for truth in known:
        found[truth.case.name] = found[truth.asked_in] if truth.asked_in else next(came)
    return list(found.values())


def _hollow(sealed: SealedCase) -> Answer:
    """The form of what is expected."""
    parts = tuple(Answer(s.form[0], s.form[1], array=s.hollow()) for s in sealed.seals)
    return Answer("tuple", "tuple", items=parts) if sealed.is_tuple else parts[0]


def _locked(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value


@lru_cache(maxsize=1 << 14)
def outcome(truth: Truth, function: Any) -> Answer:
    """What a known answer returns in a case; of an error, not where. Call it where warnings are `quiet`."""
    return call(function, truth.shared, describe_made if truth.watch.made else None, placed=False)


def judge(exercise: Exercise, truth: Truth, answer: Answer) -> Verdict:
    """The verdict on one answer to one case."""
    case = truth.case
    if answer.kind == "not-attempted":
        seen = "the function still returns NotImplemented"
        return Verdict(case.name, "not-attempted", 0.0, case.points, fault="not-attempted", seen=seen)
    if answer.kind == "stopped":
        where = f", {answer.line}" if answer.line else ""
        seen = f"stopped {answer.message}{where}"
        return Verdict(case.name, "timeout", 0.0, case.points, fault="timeout", seen=seen)
    if answer.kind == "not-run":
        seen = "not run: the case before it had to be stopped"
        return Verdict(case.name, "not-run", 0.0, case.points, fault="not-run", seen=seen)
    notes: tuple[str, ...] = ()
    if answer.changed:
        found = _changed(answer)
    elif truth.watch.made:
        found, notes = _misses(truth, answer)
    elif truth.seals:
        found = difference_behind_seals(truth.expected, truth.seals, answer)
    else:
        found = difference(truth.expected, answer)
    found = found if found.fault else _conduct(truth, answer)
    if not found.fault:
        return Verdict(case.name, "passed", case.points, case.points)
    broken = _broken_invariant(exercise, truth, answer) if found.fault == "wrong-values" else ""
    found = found._replace(seen=by_name(exercise, found.seen))
    status = "error" if found.fault == "raised-error" else "failed"
    return Verdict(case.name, status, 0.0, case.points, *found, broken, notes)


def _misses(truth: Truth, answer: Answer) -> tuple[Difference, tuple[str, ...]]:
    """What a criterion says of what a learner made, and notes. Whatever it is, it ends in a sentence."""
    if answer.kind in ("error", "none"):
        return difference(answer, answer), ()
    if answer.kind != "made":
        return _unfit(answer.type_name), ()
    try:
        value = made_value.read(answer.made)
    except ValueError as error:
        return _unfit(str(error)), ()
    if truth.case.accepts is None:
        return Difference("kept-by-your-instructor", _KEPT), ()
    try:
        with quiet():
            truth.case.accepts(value, *truth.drawn)
    except Misses as missing:
        if isinstance(value, np.ndarray) and isinstance(_reference_made(truth), tuple):
            return Difference(
                "array-not-tuple", "what came back is one array; return a tuple: `return a, b`"
            ), ()
        return Difference(missing.fault, missing.seen, missing.compare), missing.notes
    except Exception:  # of our own code, on a value that nobody thought of
        return Difference("another-form", "what came back is not of the form that the prompt asks for"), ()
    return Difference(), ()


def _reference_made(truth: Truth) -> Any:
    """What the reference makes; None in an edition without answers."""
    return made_value.read(truth.expected.made) if truth.expected.made else None


def _unfit(why: str) -> Difference:
    return Difference("unfit", made_value.SAYS.get(why, made_value.SAYS["kind"]))


_KEPT = "a value came back; your instructor's grader says what it is worth"


def _changed(answer: Answer) -> Difference:
    numbers = ", ".join(f"{n + 1}" for n in answer.changed)
    return Difference("changed-input", f"changed the caller's array: argument {numbers} is not what it was")


def _conduct(truth: Truth, answer: Answer) -> Difference:
    """What can be wrong about an answer whose numbers are right."""
    if answer.differs:
        return Difference("differs-each-call", "called twice with the same inputs, it returned two results")
    if truth.case.peak_bytes and answer.peak_bytes > truth.case.peak_bytes:
        held, allowed = (f"{n / 1e6:.3g} MB" for n in (answer.peak_bytes, truth.case.peak_bytes))
        return Difference(
            "too-much-memory", f"held {held} at once; {allowed} are enough for what has to be there"
        )
    return Difference()


def values_of(answer: Answer) -> np.ndarray | tuple[np.ndarray | None, ...] | None:
    """What an invariant looks at: the array, or the arrays of a tuple."""
    return tuple(item.array for item in answer.items) if answer.kind == "tuple" else answer.array


def _broken_invariant(exercise: Exercise, truth: Truth, answer: Answer) -> str:
    parts = zip(truth.expected.items, answer.items, strict=True)
    if any(b.array is None or a.array is None or a.array.shape != b.array.shape for a, b in parts):
        return ""  # the first part differs in its values, a later one in more
    with quiet():
        for invariant in exercise.invariants:
            if not invariant.holds(truth.inputs, values_of(answer)):
                return invariant.name
    return ""
