"""Compare an answer with the truth of a case: a pure function, used by `check` and by the grader alike.

The order of questions: was it attempted, did it raise, is it the right kind, shape, dtype, finite, close; did it
leave the caller's arrays alone, and does it say the same when asked twice. Which mistake was made is asked in
`name_mistakes`, where all cases are seen together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from sdpa_helpers.checking.answers import made_value
from sdpa_helpers.checking.answers.observe import (
    NOTHING_ELSE,
    Answer,
    Watch,
    call,
    describe_made,
    observe,
    pack_inputs,
    quiet,
    unpack_inputs,
)
from sdpa_helpers.checking.answers.sealed import Seal, SealedCase
from sdpa_helpers.checking.exercise import Case, Exercise, Inputs, Misses, stream
from sdpa_helpers.checking.judging.part_names import by_name

PUBLIC_SEED = "public"
"""The seed of `check` and `sdpa check`; a grader takes another."""

_RELATIVE = {2: 5e-3, 4: 2e-5, 8: 1e-8}
"""By the bytes of a float."""


CaseStatus = Literal[
    "passed", "failed", "error", "not-attempted", "missing", "timeout", "out-of-memory", "not-run"
]
"""What became of a case; the last four come from the grader, or from a limit: there was no answer to judge."""


@dataclass(frozen=True, eq=False)
class Truth:
    """A case with its numbers."""

    case: Case
    packed: str
    """The inputs, as `observe.pack_inputs` writes them."""
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
        """`watch` in words, as a hidden check says it (`observe.question`)."""
        return " ".join(name for name in ("memory", "twice", "made") if getattr(self.watch, name))


class Difference(NamedTuple):
    """How an answer differs from what is expected; all empty when it does not."""

    fault: str = ""
    """The kind of difference, e.g. "wrong-shape"."""
    seen: str = ""
    """What was observed; holds nothing of the expected values."""
    compare: str = ""
    """Seen against expected."""


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
    """What a known answer returns in a case. Call it where warnings are `quiet`."""
    return call(function, truth.shared, describe_made if truth.watch.made else None)


def judge(exercise: Exercise, truth: Truth, answer: Answer) -> Verdict:
    """The verdict on one answer to one case."""
    case = truth.case
    if answer.kind == "not-attempted":
        seen = "the function still returns NotImplemented"
        return Verdict(case.name, "not-attempted", 0.0, case.points, fault="not-attempted", seen=seen)
    if answer.kind == "stopped":
        where = f", {answer.line}" if answer.line else ""
        seen = f"stopped in case {case.name} {answer.message}{where}"
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
        found = _difference_behind_seals(truth.expected, truth.seals, answer)
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
    numbers = ", ".join(_ORDINALS[n] if n < len(_ORDINALS) else f"{n + 1}th" for n in answer.changed)
    return Difference("changed-input", f"changed the caller's array: argument {numbers} is not what it was")


_ORDINALS = ("1", "2", "3", "4", "5")


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


def tolerances(expected: np.ndarray) -> tuple[float, float]:
    """(relative, absolute) tolerance for an expected array: from its dtype and the size of its numbers."""
    if expected.dtype.kind != "f":
        return 0.0, 0.0
    relative = _RELATIVE[expected.dtype.itemsize]
    finite = np.abs(expected[np.isfinite(expected)])
    largest = float(finite.max()) if finite.size else 0.0
    if largest == 0.0 and expected.dtype == np.float64:
        return relative, 1e-12  # what rounding leaves of a sum that is exactly 0
    return relative, 0.05 * relative * largest + 4 * float(np.finfo(expected.dtype).eps)


def close(expected: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Elementwise: equal up to tolerance; NaN only where NaN is expected, infinities equal."""
    if expected.dtype.kind != "f":
        return np.asarray(values == expected)
    relative, absolute = tolerances(expected)
    finite = np.isfinite(expected)
    with np.errstate(all="ignore"):  # as np.isclose, which takes its time
        near = np.abs(values - expected) <= absolute + relative * np.abs(expected)
        if finite.all():
            return np.asarray(near)
        both_nan = np.isnan(values) & np.isnan(expected)
        return np.asarray(np.where(finite, near, (values == expected) | both_nan))


def difference(expected: Answer, answer: Answer) -> Difference:
    """How an answer differs from what is expected."""
    if answer.kind == "error":
        return Difference("raised-error", _raised(answer))
    if answer.kind == "none":
        return Difference("returned-nothing", "returned None: is a `return` missing?")
    if expected.kind == "tuple":
        return _difference_of_tuples(expected, answer)
    if answer.kind not in ("array", "number"):  # of a part of a tuple it can be anything
        came = answer.type_name or "NotImplemented"
        return Difference("wrong-kind", f"returned {_an(came)}; expected {_kind(expected)}")
    assert expected.array is not None
    assert answer.array is not None
    if expected.array.shape != answer.array.shape:
        return Difference("wrong-shape", _shapes(expected.array, answer.array))
    if not _dtype_fits(expected.array.dtype, answer.array.dtype):
        wanted = expected.array.dtype
        whole = "whole numbers, " if expected.array.ndim else "a whole number, "
        came = "numbers" if answer.array.ndim else "a number"
        text = (
            f"returned {came} of dtype {answer.array.dtype}; expected {whole * (wanted.kind == 'i')}{wanted}"
        )
        return Difference("wrong-dtype", text)
    return _difference_of_values(expected.array, answer.array)


def _difference_behind_seals(hollow: Answer, seals: tuple[Seal, ...], answer: Answer) -> Difference:
    """The same where the expected numbers cannot be read: of those it says only whether they are the right ones."""
    if hollow.kind == "tuple" and answer.kind == "tuple" and len(hollow.items) == len(answer.items):
        for i, (want, seal, got) in enumerate(zip(hollow.items, seals, answer.items, strict=True)):
            found = _difference_behind_seals(want, (seal,), got)
            if found.fault:
                return found._replace(seen=f"part {i} of the tuple: {found.seen}")
        return Difference()
    found = difference(hollow, answer)
    if found.fault == "wrong-shape":
        return found._replace(seen=found.seen.removesuffix(SWAPPED))  # which compares numbers
    if found.fault not in ("", "wrong-values", "not-finite"):
        return found
    assert answer.array is not None
    if seals[0].fits(answer.array):
        return Difference()
    return _not_what_is_sealed(answer.array)


def _not_what_is_sealed(values: np.ndarray) -> Difference:
    """What can be said of wrong numbers without the right ones: how many of them are none."""
    what = "the number is" if not values.ndim else "the numbers are"
    if values.dtype.kind == "b":
        what = "True and False are"
    told = f"{what} not what is expected"
    for wild, name, fault in ((np.isnan, "NaN", "not-finite"), (np.isinf, "infinite", "wrong-values")):
        if count := int(wild(values).sum()):
            return Difference(
                fault, f"{told}; {count} of your {values.size} {'is' if count == 1 else 'are'} {name}"
            )
    return Difference("wrong-values", told)


def _raised(answer: Answer) -> str:
    line = f" ({answer.line})" if answer.line else ""
    where = f". {answer.where}" if answer.where else ""
    if READ_ONLY in answer.message:
        return f"wrote into the caller's array, which is read-only here{line}"
    return f"raised {answer.error}: {answer.message}{line}{where}"


READ_ONLY = "read-only"
"""What NumPy's errors say of an array that cannot be written."""


def _an(name: str) -> str:
    return f"{'an' if name[:1] in 'aeiouAEIO' else 'a'} {name}"


def _difference_of_tuples(expected: Answer, answer: Answer) -> Difference:
    parts = len(expected.items)
    if answer.kind != "tuple":
        name = _an(answer.type_name) if answer.array is None or answer.kind == "other" else _kind(answer)
        return Difference("wrong-kind", f"returned {name}; expected a tuple of {parts}")
    if len(answer.items) != parts:
        return Difference("wrong-kind", f"returned a tuple of {len(answer.items)}; expected {parts}")
    for i, (want, got) in enumerate(zip(expected.items, answer.items, strict=True)):
        found = difference(want, got)
        if found.fault:
            return found._replace(seen=f"part {i} of the tuple: {found.seen}")
    return Difference()


def _difference_of_values(expected: np.ndarray, values: np.ndarray) -> Difference:
    right = close(expected, values)
    if right.all():
        return Difference()
    wrong = ~right
    if (~np.isfinite(values) & np.isfinite(expected)).any():
        return Difference(
            "not-finite", _not_finite(values, wrong & (np.isnan(values) | np.isfinite(expected)))
        )
    if values.dtype.kind in "bi" and values.ndim == 0:
        shown = expected if expected.dtype.kind == values.dtype.kind else f"{expected:.12g}"
        return Difference("wrong-values", f"returned {values}", f"expected {shown}")
    if values.dtype.kind == "b":
        where = _first(wrong)
        seen = f"{int(wrong.sum())} of {values.size} entries differ, the first{_at(where)}: {values[where]}"
        return Difference("wrong-values", seen, f"expected {expected[where]}")
    with np.errstate(all="ignore"):
        distance = np.where(wrong, np.abs(values.astype(float) - expected.astype(float)), -1.0)
    distance[np.isnan(distance)] = np.inf
    where = tuple(int(i) for i in np.unravel_index(int(distance.argmax()), distance.shape))
    came, wanted = apart(float(values[where]) + 0.0, float(expected[where]) + 0.0)  # no -0
    off = f", off by {distance[where]:.3g}" if np.isfinite(distance[where]) else ""
    seen = f"returned {came}{off}" if values.ndim == 0 else f"{_count(wrong)}returned {came}{_at(where)}{off}"
    return Difference("wrong-values", seen, f"expected {wanted}{pattern(expected, values)}")


def _not_finite(values: np.ndarray, wrong: np.ndarray) -> str:
    """wrong: NaN wherever none belongs, and what else is wrong where a finite number belongs."""
    spoiled = wrong & ~np.isfinite(values)
    where = _first(spoiled)
    if not values.ndim:
        return f"returned {values[where]}"
    kinds = {"NaN": np.isnan(values[spoiled]).any(), "infinite": np.isinf(values[spoiled]).any()}
    n, what = int(spoiled.sum()), " or ".join(name for name, there in kinds.items() if there)
    are, which = ("is", ":") if n == 1 else ("are", "; the first:")
    return f"{n} of {values.size} numbers {are} {what} and should not be{which} {values[where]}{_at(where)}"


def apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with four digits, or with as many as show that they differ."""
    texts = (repr(one), repr(other))
    for digits in range(4, 18):
        texts = f"{one:.{digits}g}", f"{other:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def pattern(expected: np.ndarray, values: np.ndarray) -> str:
    """What a wrong array has to do with the right one, if that is simple: a factor, an offset, a sign."""
    if not np.isfinite(values).all() or not np.isfinite(expected).all():
        return ""
    with np.errstate(all="ignore"):
        return _factor_or_offset(expected, values)


def _factor_or_offset(expected: np.ndarray, values: np.ndarray) -> str:
    large = np.abs(expected) > 1e-6 * np.abs(expected).max()
    if large.sum() < 2:
        return ""
    ratio = values[large] / expected[large]
    if (
        abs(ratio[0]) > 1e-6
        and abs(ratio[0] - 1) > 1e-5
        and np.allclose(ratio, ratio[0], rtol=1e-6)
        and np.allclose(values[~large], 0, atol=1e-9)
    ):
        return f"; every number is {apart(float(ratio[0]), 1.0)[0]} times the right one"
    offset = values - expected
    if abs(offset.flat[0]) > 1e-5 * np.abs(expected).max() and np.allclose(offset, offset.flat[0], rtol=1e-6):
        return f"; every number is {offset.flat[0]:+.4g} away from the right one"
    return ""


def _count(wrong: np.ndarray) -> str:
    n = int(wrong.sum())
    return f"{n} of {wrong.size} numbers {'differs' if n == 1 else 'differ'}; the largest difference: "


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0]) if mask.ndim else ()


def _at(where: tuple[int, ...]) -> str:
    return f" at {list(where)}" if where else ""


def _kind(answer: Answer) -> str:
    assert answer.array is not None
    if answer.kind == "number":
        return "True or False" if answer.array.dtype.kind == "b" else "one number"
    return f"a NumPy array of shape {answer.array.shape}"


def _shapes(expected: np.ndarray, values: np.ndarray) -> str:
    came = f"returned an array of shape {values.shape}" if values.ndim else "returned one number"
    wanted = f"shape {expected.shape}" if expected.ndim else "one number"
    turned = values.swapaxes(-1, -2) if values.ndim >= 2 else values
    swapped = turned.shape == expected.shape and bool(close(expected, turned).all())
    return f"{came}; expected {wanted}" + (SWAPPED if swapped else "")


SWAPPED = ": the last two axes are swapped"


def _dtype_fits(expected: np.dtype, came: np.dtype) -> bool:
    """Same family, and no less precise: float64 for float32 is fine, float32 for float64 is not."""
    if expected.kind == "f" and came.kind == "i" and expected.itemsize == 8:
        return True  # a Python int where a number is asked for
    if expected.kind != came.kind:
        return False
    return expected.kind != "f" or came.itemsize >= expected.itemsize
