"""What is held against an answer: every known wrong answer as it is, in another form, and two at once."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from sdpa_helpers.checking.answers.observe import Answer
from sdpa_helpers.checking.code.clues import Clue, backed
from sdpa_helpers.checking.code.edits import Deviant
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Mistake, Tried
from sdpa_helpers.checking.judging.difference import difference
from sdpa_helpers.checking.judging.judge import Truth, outcome
from sdpa_helpers.checking.naming.another_order import IN_ANOTHER_ORDER, in_another_order
from sdpa_helpers.checking.naming.forms import FORMS, Form, in_right_kind, more_axes


@dataclass(frozen=True)
class Candidate:
    """What may have been done: a function that answers, and the mistakes it is named by."""

    names: tuple[str, ...]
    function: object
    form: Form
    of_two: Deviant | None = None
    """What has two mistakes, where it is one."""

    def answer(self, truth: Truth) -> Answer:
        """What it gives for a case."""
        return self.form.of(outcome(truth, self.function))

    def known(self, truth: Truth) -> Answer:
        """Its answer as it is compared: in the kind that was asked for, as precise as the truth."""
        return _known_answer(truth, self.function, self.form)


@lru_cache(maxsize=1 << 14)
def _known_answer(truth: Truth, function: object, form: Form) -> Answer:
    answer = in_right_kind(truth.expected, form.of(outcome(truth, function)))
    return _as_precise_as(truth.expected, answer)


def right(t: Tried) -> bool:
    """Whether what was tried gave the truth."""
    return t.answer is not None and not difference(t.truth.expected, t.answer).fault


def candidates(
    exercise: Exercise, failed: list[Tried], wanted: Callable[[tuple[str, ...], Form], bool]
) -> Iterator[Candidate]:
    """Single mistakes first, then those with a form on top, then products of two, then what is only nearly so.

    wanted: whether it is worth while to try something of these names, in this form.
    """
    known = [((), exercise.reference), *singles(exercise)]
    fails_on_more_axes = any(is_error(t) and more_axes(t.truth) for t in failed)
    forms = [form for form in FORMS if fails_on_more_axes or not form.raises_on_more_axes]
    for form in forms:
        some = known[:1] if form.loosely or form.alone else known
        for names, function in some:
            if form.name not in names and (names or form.name) and wanted(names, form):
                yield Candidate(names, function, form)
    others = in_another_order(exercise)
    yield from (Candidate(names, function, FORMS[1]) for names, function in others if wanted(names, FORMS[1]))
    if exercise.mistakes is not None:
        for deviant in exercise.mistakes.deviants(2):
            if wanted(deviant.names, FORMS[1]):
                yield Candidate(deviant.names, deviant.function, FORMS[1], deviant)
    for form in forms:
        if form.loosely and not form.alone:
            some = known[1:]
            yield from (Candidate(names, function, form) for names, function in some if wanted(names, form))


def singles(exercise: Exercise) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every single mistake: those of the list first."""
    for wrong in exercise.wrong:
        yield (wrong.name,), wrong.function
    if exercise.mistakes is not None:
        yield from ((deviant.names, deviant.function) for deviant in exercise.mistakes.deviants(1))


def is_backed(exercise: Exercise, names: tuple[str, ...], found: tuple[Clue, ...]) -> bool:
    """Whether what these mistakes say of the code itself is there."""
    return all(backed(mistake_called(exercise, name, [], ()).says, found) for name in names)


def size(truth: Truth) -> int:
    """How large a case is, to begin with small ones."""
    return len(truth.packed)


def holds(candidate: Candidate, asked: Iterable[Tried]) -> bool:
    """Whether it would have answered the same in every case."""
    return all(agrees(candidate, t) for t in asked)


def agrees(candidate: Candidate, t: Tried) -> bool:
    """Whether an answer that makes this mistake would have returned, or raised, the same in this case."""
    assert t.answer is not None
    known = candidate.known(t.truth)
    if known.kind == "error":
        return t.answer.kind == "error" and known.error == t.answer.error
    if t.answer.kind == "error" or candidate.form.raises(t.truth):
        return t.answer.kind == "error" and candidate.form.raises(t.truth)
    answer = in_right_kind(t.truth.expected, t.answer)
    return candidate.form.same(known, answer)


def _as_precise_as(expected: Answer, known: Answer) -> Answer:
    """A known answer in the truth's dtype, so that it is compared as closely as the truth is."""
    if known.kind == "tuple" and len(expected.items) == len(known.items):
        parts = tuple(map(_as_precise_as, expected.items, known.items))
        same = all(a is b for a, b in zip(parts, known.items, strict=True))
        return known if same else replace(known, items=parts)
    want, have = expected.array, known.array
    if (
        want is None
        or have is None
        or have.dtype == want.dtype
        or not want.dtype.kind == have.dtype.kind == "f"
    ):
        return known
    return replace(known, array=have.astype(want.dtype))


def is_error(t: Tried) -> bool:
    """Whether what was tried raised an error."""
    return t.answer is not None and t.answer.kind == "error"


def right_by(candidate: Candidate, t: Tried) -> bool:
    """Whether it says nothing here: it returns the right result."""
    known = candidate.answer(t.truth)
    return not difference(t.truth.expected, known).fault


def mistake_called(
    exercise: Exercise, name: str, failed: list[Tried], found: tuple[Clue, ...], of_form: Form | None = None
) -> Mistake:
    """The mistake of this name in the exercise's own words, or in those that hold for any exercise."""
    cases = tuple(t.truth.case.name for t in failed)
    form = of_form if of_form and of_form.name == name else next((f for f in FORMS if f.name == name), None)
    for wrong in exercise.wrong:
        if wrong.name == name:
            return Mistake(
                name, wrong.says, wrong.hints, wrong.section, cases, line_showing(wrong.clue, found)
            )
    if name in IN_ANOTHER_ORDER:
        return Mistake(name, IN_ANOTHER_ORDER[name], cases=cases)
    assert form is not None, name
    return Mistake(name, form.says, cases=cases, line=line_showing(form.clue, found))


def line_showing(kind: str, found: tuple[Clue, ...]) -> str:
    """The learner's line that has such a clue; "" where none has."""
    return next((clue.line for clue in found if clue.kind == kind), "")
