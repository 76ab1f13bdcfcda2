"""Which mistake was made: a name that holds for everything it is said of, or none.

A candidate is a function that makes a known mistake, seen through a form (what was done with its result on the way
out). It is refuted by one case in which it would have answered otherwise, the passed ones included. It is believed
only on evidence: numbers that agree where it differs from the truth. Errors agree too easily to be evidence.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from sdpa_helpers.checking.clues import Clue
from sdpa_helpers.checking.evidence import ENOUGH, evidence_in, off_as_float32
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.forms import FORMS, Form, in_right_kind, kind_of_thing, more_axes
from sdpa_helpers.checking.judge import READ_ONLY, Truth, Verdict, difference, outcome
from sdpa_helpers.checking.observe import Answer


@dataclass(frozen=True)
class Tried:
    """One case, what came back, and what that was worth."""

    truth: Truth
    verdict: Verdict
    answer: Answer | None
    """None where nothing came: the run was stopped, or the result forged."""


@dataclass(frozen=True)
class Mistake:
    """A mistake that was made."""

    name: str
    says: str
    hints: tuple[str, ...] = ()
    section: str = ""
    cases: tuple[str, ...] = ()
    """The failed cases that it explains."""
    line: str = ""
    """The line that shows it, e.g. "line 3: `scores = Q @ K.T`", or ""."""


@dataclass(frozen=True)
class _Candidate:
    names: tuple[str, ...]
    function: object
    form: Form
    alone: tuple[object, ...] = ()
    """For each of two names the function that deviates in nothing but that."""

    def answer(self, truth: Truth) -> Answer:
        return self.form.of(outcome(truth, self.function))


def name_mistakes(
    exercise: Exercise, tried: list[Tried], found: tuple[Clue, ...] = ()
) -> tuple[Mistake, ...]:
    """At most two mistakes that explain every failed case together; () when none are known that do."""
    judged = [t for t in tried if t.answer is not None and t.verdict.status in ("passed", "failed", "error")]
    failed = [t for t in judged if not t.verdict.passed]
    if not failed:
        return ()
    if len({(t.answer.kind, t.answer.type_name) for t in judged if t.answer}) == 1 and (
        only := _kind_only(exercise, judged, failed)
    ):
        return only
    general, rest = _conduct(failed, found)
    if general and not rest:
        return general
    silent = {t.truth.case.name for m in general for t in failed if t.truth.case.name in m.cases}
    asked = [_plain(t) for t in judged if t.truth.case.name not in silent]
    named = _known(exercise, asked, found)
    if not named:
        return ()
    return (*named, *general)[:2] if len(named) + len(general) <= 2 else ()


def _plain(t: Tried) -> Tried:
    assert t.answer is not None
    return Tried(t.truth, t.verdict, in_right_kind(t.truth.expected, t.answer.plain))


# ---- what shows without knowing the exercise --------------------------------------------------------------


def _kind_only(exercise: Exercise, judged: list[Tried], failed: list[Tried]) -> tuple[Mistake, ...]:
    """The right numbers in a thing of the wrong kind; with wrong numbers in it, that and their mistake."""
    every = [kind_of_thing(t.truth.expected, t.answer) for t in failed if t.answer]
    if len({k.name if k else "" for k in every}) != 1 or every[0] is None:
        return ()
    kind, cases = every[0], tuple(t.truth.case.name for t in failed)
    plain = [_plain(t) for t in judged]
    wrong = [t for t in plain if not _right(t)]
    if not wrong:
        return (Mistake(kind.name, f"The numbers are right; the form isn't. {kind.says}", cases=cases),)
    named = _known(exercise, plain, ())
    return (*named, Mistake(kind.name, kind.says, cases=cases)) if len(named) == 1 else ()


def _right(t: Tried) -> bool:
    return t.answer is not None and not difference(t.truth.expected, t.answer).fault


def _conduct(failed: list[Tried], found: tuple[Clue, ...]) -> tuple[tuple[Mistake, ...], list[Tried]]:
    """Mistakes in how it behaves, and the failed cases that they leave unexplained."""
    writes = [t for t in failed if t.verdict.fault == "changed-input" or _read_only(t)]
    moody = [t for t in failed if t.verdict.fault == "differs-each-call"]
    greedy = [t for t in failed if t.verdict.fault == "too-much-memory"]
    nothing = [t for t in failed if t.verdict.fault == "returned-nothing"]
    mistakes = [
        Mistake(name, says, cases=tuple(t.truth.case.name for t in cases), line=_line(kind, found))
        for name, says, cases, kind in (
            ("changes-its-input", WRITES, writes, "writes-argument"),
            ("differs-each-call", MOODY, moody, "where-without-out"),
            ("too-much-memory", GREEDY, greedy, ""),
            ("returned-nothing", NOTHING, nothing, "no-return"),
        )
        if cases
    ]
    explained = {id(t) for t in (*writes, *moody, *greedy, *nothing)}
    return tuple(mistakes), [t for t in failed if id(t) not in explained]


def _read_only(t: Tried) -> bool:
    return t.answer is not None and t.answer.kind == "error" and READ_ONLY in t.answer.message


WRITES = (
    "Your function writes into the caller's array, which others still use. Make a new array: no `+=`, `/=`, `out=` or "
    "`x[...] =` on an argument."
)
MOODY = (
    "Called twice with the same inputs, your function returns two results. Look for memory that was never written "
    "(`np.empty`, `where=` without `out=`), random numbers, or something kept from the last call."
)
GREEDY = "The numbers are right, but more is held in memory at once than the exercise allows."
NOTHING = "Your function ends without `return`, so the caller gets None."


# ---- known mistakes ---------------------------------------------------------------------------------------


def _known(exercise: Exercise, asked: list[Tried], found: tuple[Clue, ...]) -> tuple[Mistake, ...]:
    """The mistakes of the exercise that explain what was asked: one, else a product of two, else two side by side."""
    failed = [t for t in asked if not _right(t)]
    if not failed:
        return ()
    order = sorted(asked, key=lambda t: (_right(t), _size(t.truth)))
    for candidate in _candidates(exercise, failed):
        if _holds(candidate, order) and _believed(candidate, failed, exercise, found):
            return _told(exercise, candidate, failed, found)
    return _side_by_side(exercise, order, failed, found)


def _candidates(exercise: Exercise, failed: list[Tried]) -> Iterator[_Candidate]:
    """Single mistakes first, then those with a form on top, then products of two, then what is only nearly so."""
    known = [((), exercise.reference), *_singles(exercise)]
    fails_on_more_axes = any(_error(t) and more_axes(t.truth) for t in failed)
    forms = [form for form in FORMS if fails_on_more_axes or not form.raises_on_more_axes]
    for form in forms:
        some = known[:1] if form.loosely else known
        yield from (_Candidate(names, function, form) for names, function in some if names or form.name)
    if exercise.mistakes is not None:
        for deviant in exercise.mistakes.deviants(2):
            yield _Candidate(deviant.names, deviant.function, FORMS[1], deviant.alone)
    for form in forms:
        if form.loosely:
            yield from (_Candidate(names, function, form) for names, function in known[1:])


def _singles(exercise: Exercise) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every single mistake: those of the list first."""
    for wrong in exercise.wrong:
        yield (wrong.name,), wrong.function
    if exercise.mistakes is not None:
        yield from ((deviant.names, deviant.function) for deviant in exercise.mistakes.deviants(1))


def _size(truth: Truth) -> int:
    return len(truth.packed)


def _holds(candidate: _Candidate, asked: Iterable[Tried]) -> bool:
    """Whether it would have answered the same in every case."""
    return all(_agrees(candidate, t) for t in asked)


def _agrees(candidate: _Candidate, t: Tried) -> bool:
    assert t.answer is not None
    known = in_right_kind(t.truth.expected, candidate.answer(t.truth))
    if known.kind == "error":
        return t.answer.kind == "error" and known.error == t.answer.error
    if t.answer.kind == "error" or candidate.form.raises(t.truth):
        return t.answer.kind == "error" and candidate.form.raises(t.truth)
    return candidate.form.same(known, t.answer)


def _believed(
    candidate: _Candidate, failed: list[Tried], exercise: Exercise, found: tuple[Clue, ...]
) -> bool:
    """Whether what agrees is more than chance would bring."""
    if candidate.form.loosely and not _as_rounded(candidate, failed, found):
        return False
    evidence = sum(evidence_in(t.truth.expected, t.answer) for t in failed if t.answer)
    if candidate.form.raises_on_more_axes:
        return evidence >= ENOUGH or not candidate.names
    # A few plain numbers are little; but here they agree in every case, and nothing else differs.
    if evidence >= ENOUGH or (evidence > 0 and not candidate.form.name):
        return True
    wrong = [w for w in exercise.wrong if w.name in candidate.names]
    return any(w.errors_tell for w in wrong) or bool(
        {w.clue for w in wrong if w.clue} & {c.kind for c in found}
    )


def _as_rounded(candidate: _Candidate, failed: list[Tried], found: tuple[Clue, ...]) -> bool:
    pairs = [(candidate.answer(t.truth), t.answer) for t in failed if t.answer]
    return off_as_float32(pairs, shown=any(clue.kind == "float32" for clue in found))


def _error(t: Tried) -> bool:
    return t.answer is not None and t.answer.kind == "error"


def _told(
    exercise: Exercise, candidate: _Candidate, failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    """A candidate as mistakes, each with the failed cases in which the answer needs it."""
    names = (*candidate.names, candidate.form.name) if candidate.form.name else candidate.names
    if len(names) == 1:
        return (_mistake(exercise, names[0], failed, found),)
    told = []
    for name in names:
        needing = [t for t in failed if not _explained_without(exercise, candidate, name, t)]
        if needing:  # else it changes nothing here, and is not said
            told.append(_mistake(exercise, name, needing, found))
    return tuple(told)


def _explained_without(exercise: Exercise, candidate: _Candidate, name: str, t: Tried) -> bool:
    """Whether the other mistake alone would have answered the same."""
    if name == candidate.form.name:
        return _agrees(_Candidate(candidate.names, candidate.function, FORMS[0]), t)
    others = tuple(n for n in candidate.names if n != name)
    function = candidate.alone[candidate.names.index(others[0])] if others else exercise.reference
    return _agrees(_Candidate(others, function, candidate.form), t)


def _side_by_side(
    exercise: Exercise,
    asked: list[Tried],
    failed: list[Tried],
    found: tuple[Clue, ...],
) -> tuple[Mistake, ...]:
    """Two mistakes, each of which gives the answer wherever it differs from the truth."""
    explains = {}
    for names, function in _singles(exercise):
        candidate = _Candidate(names, function, FORMS[0])
        if all(_agrees(candidate, t) or _right_by(candidate, t) for t in asked):
            here = [t for t in failed if _agrees(candidate, t)]
            if here and sum(evidence_in(t.truth.expected, t.answer) for t in here if t.answer) >= ENOUGH:
                explains[names] = here
    for one, other in combinations(explains, 2):
        together = {id(t) for t in (*explains[one], *explains[other])}
        if len(together) == len(failed):
            rest = [t for t in explains[other] if t not in explains[one]]
            return (
                _mistake(exercise, one[0], explains[one], found),
                _mistake(exercise, other[0], rest, found),
            )
    return ()


def _right_by(candidate: _Candidate, t: Tried) -> bool:
    """Whether it says nothing here: it returns the right result."""
    known = candidate.answer(t.truth)
    return not difference(t.truth.expected, known).fault


def _mistake(exercise: Exercise, name: str, failed: list[Tried], found: tuple[Clue, ...]) -> Mistake:
    cases = tuple(t.truth.case.name for t in failed)
    form = next((f for f in FORMS if f.name == name), None)
    for wrong in exercise.wrong:
        if wrong.name == name:
            return Mistake(name, wrong.says, wrong.hints, wrong.section, cases, _line(wrong.clue, found))
    if exercise.mistakes is not None and (says := exercise.mistakes.says(name)):
        return Mistake(name, says, cases=cases)
    assert form is not None, name
    return Mistake(name, form.says, cases=cases, line=_line(form.clue, found))


def _line(kind: str, found: tuple[Clue, ...]) -> str:
    return next((clue.line for clue in found if clue.kind == kind), "")
