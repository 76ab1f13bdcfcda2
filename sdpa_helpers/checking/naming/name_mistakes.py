"""Which mistake was made: a name that holds for everything it is said of, or none.

A candidate is a function that makes a known mistake, seen through a form (what was done with its result on the way
out). It is refuted by one case in which it would have answered otherwise. It is believed only on evidence: numbers that
agree where it differs from the truth. Errors agree too easily to be evidence. What gives every answer, the right ones
too, comes first; then what gives all that failed: corners are often handled well, and hide a true name.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np

from sdpa_helpers.checking.answers.observe import Answer, quiet
from sdpa_helpers.checking.code.clues import Clue
from sdpa_helpers.checking.code.edits import RESULT
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.by_luck import numbers_of
from sdpa_helpers.checking.judging.conduct import Mistake, Tried, by_conduct
from sdpa_helpers.checking.judging.judge import Truth, outcome
from sdpa_helpers.checking.naming.as_if import named_as_if
from sdpa_helpers.checking.naming.candidates import (
    Candidate,
    agrees,
    candidates,
    holds,
    is_backed,
    is_error,
    line_showing,
    mistake_called,
    right,
    right_by,
    singles,
    size,
)
from sdpa_helpers.checking.naming.evidence import ENOUGH, evidence_in, off_as_in
from sdpa_helpers.checking.naming.forms import FORMS, Form, Kind, in_right_kind, kind_of_thing, more_axes
from sdpa_helpers.checking.naming.in_part import named_by_failures, named_in_part


def name_mistakes(
    exercise: Exercise, tried: list[Tried], found: tuple[Clue, ...] = ()
) -> tuple[Mistake, ...]:
    """At most two mistakes that explain every failed case together; () when none are known that do."""
    judged = [t for t in tried if t.answer is not None and t.verdict.status in ("passed", "failed", "error")]
    failed = [t for t in judged if not t.verdict.passed]
    if not failed:
        return ()
    with quiet():
        named = _named(exercise, judged, failed, found)
    thrown_away = line_showing("thrown-away", found)
    return tuple(replace(one, line=one.line or thrown_away) for one in named)


def _named(
    exercise: Exercise, judged: list[Tried], failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    if not (exercise.sealed or exercise.is_made) and (only := _kind_only(exercise, judged, failed, found)):
        return only
    general, rest = by_conduct(failed, found, frozenset(wrong.name for wrong in exercise.wrong))
    general = tuple(_in_own_words(exercise, mistake) for mistake in general)
    if not rest:
        return general[:2]
    if exercise.sealed:
        return ()
    if exercise.is_made:
        named = _by_fault(exercise, rest)
        return (*general, *named) if named and len(named) + len(general) <= 2 else ()
    explained = [t for t in failed if t not in rest]
    named = _known(exercise, [_bare(t) for t in judged if t not in explained], found)
    if not named:
        of_errors, rest = by_conduct(rest, found, last=True)
        named = () if rest else tuple(of_errors)
    return (*named, *general) if named and len(named) + len(general) <= 2 else ()


def _by_fault(exercise: Exercise, failed: list[Tried]) -> tuple[Mistake, ...]:
    """The wrong answers that the criteria themselves have named; () unless every failed one has."""
    faults = dict.fromkeys(t.verdict.fault for t in failed)
    if not faults.keys() <= {wrong.name for wrong in exercise.wrong}:
        return ()
    return tuple(
        mistake_called(exercise, fault, [t for t in failed if t.verdict.fault == fault], ())
        for fault in faults
    )


def _bare(t: Tried) -> Tried:
    """The case with what came back, and nothing of how."""
    return replace(t, answer=t.answer.plain if t.answer else None)


def _plain(t: Tried) -> Tried:
    """The same, with the numbers in the kind of thing that was asked for."""
    assert t.answer is not None
    return replace(t, answer=in_right_kind(t.truth.expected, t.answer.plain))


def _kind_only(
    exercise: Exercise, judged: list[Tried], failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    """The right numbers in a thing of the wrong kind; with wrong numbers in it, that and their mistake."""
    returned = [t for t in failed if t.answer and not is_error(t)]
    kinds = [kind_of_thing(t.truth.expected, t.answer) for t in returned if t.answer]
    if len({kind.name if kind else "" for kind in kinds}) != 1 or kinds[0] is None:
        return ()
    kind, cases = kinds[0], tuple(t.truth.case.name for t in returned)
    plain = [_plain(t) for t in judged]
    if all(map(right, plain)):
        return (Mistake(kind.name, f"The numbers are right; the form isn't. {kind.says}", cases=cases),)
    named = _known(exercise, plain, found)
    if len(named) == 1 and _is_itself(exercise, named[0].name, kind, returned[0].truth):
        return named
    return (*named, Mistake(kind.name, kind.says, cases=cases)) if len(named) == 1 else ()


def _is_itself(exercise: Exercise, name: str, kind: Kind, truth: Truth) -> bool:
    """Whether the listed mistake of this name returns a thing of this wrong kind, so that its sentence says enough."""
    listed = [wrong.function for wrong in exercise.wrong if wrong.name == name]
    return any(kind_of_thing(truth.expected, outcome(truth, function)) == kind for function in listed)


def _in_own_words(exercise: Exercise, mistake: Mistake) -> Mistake:
    """A general mistake as the exercise's own list puts it, if it does."""
    listed = next((w for w in exercise.wrong if w.name == mistake.name), None)
    if listed is None:
        return mistake
    return replace(mistake, says=listed.says, hints=listed.hints, section=listed.section)


# ---- known mistakes ---------------------------------------------------------------------------------------


def _known(exercise: Exercise, asked: list[Tried], found: tuple[Clue, ...]) -> tuple[Mistake, ...]:
    """The mistakes of the exercise that explain what was asked: one, else a product of two, else two side by side."""
    failed = [t for t in asked if not right(t)]
    if not failed:
        return ()
    wrong = set(map(id, failed))
    order = sorted(asked, key=lambda t: (id(t) not in wrong, size(t.truth)))
    evidence, most = evidence_in(failed), 1 if _never_changes(asked) else 2
    holding = (
        candidate
        for candidate in candidates(exercise, failed, _believable(exercise, evidence, found))
        if len(candidate.names) <= most
        and holds(candidate, order)
        and _believed(candidate, failed, found)
        and is_backed(exercise, candidate.names, found)
    )
    first = next(holding, None)
    if first is not None and not _another_two(first, holding):
        return _told(exercise, first, failed, found)
    return (
        (most == 2 and _side_by_side(exercise, order, failed, found))
        or _constant(exercise, order, failed, found)
        or _last(exercise, asked, failed, found)
        or named_by_failures(exercise, asked, found)
        or named_as_if(exercise, asked)
        or named_in_part(exercise, asked, found)
    )


def _never_changes(asked: list[Tried]) -> bool:
    """Whether one number is all that ever came back: two mistakes that undo what depends on the input give it, too.

    Not so where True and False are asked for: a mask may show everything in many ways.
    """
    numbers = [numbers_of(t) for t in asked]
    masks = any(t.truth.expected.array is not None and t.truth.expected.array.dtype == bool for t in asked)
    return (
        not masks
        and len(numbers) > 1
        and len(numbers[0]) == 1
        and all(some == numbers[0] for some in numbers)
    )


def _another_two(first: Candidate, others: Iterable[Candidate]) -> bool:
    """Whether two other mistakes give the same: then nothing tells which two were made."""
    return len(first.names) == 2 and any(
        len(other.names) == 2 and set(other.names).isdisjoint(first.names) for other in others
    )


def _last(
    exercise: Exercise, asked: list[Tried], failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    """What can be said where no known answer agrees: matrices alone are right, or the source holds a trap."""
    form = next(form for form in FORMS if form.raises_on_more_axes)
    with_more = [t for t in asked if more_axes(t.truth)]
    no_numbers = all(t.verdict.fault in ("raised-error", "wrong-shape") for t in failed)
    if no_numbers and failed == with_more and 2 <= len(failed) <= len(asked) - 2:
        return (mistake_called(exercise, form.name, failed, found),)
    if line := line_showing("where-without-out", found):
        return (replace(UNWRITTEN, cases=tuple(t.truth.case.name for t in failed), line=line),)
    return ()


UNWRITTEN = Mistake(
    "where-without-out",
    "`where=` without `out=` computes some entries and leaves in the others what lay in memory: any number, or NaN. "
    "Give it an array to start from, e.g. `out=np.zeros_like(x)`.",
)


def _believable(
    exercise: Exercise, evidence: float, found: tuple[Clue, ...]
) -> Callable[[tuple[str, ...], Form], bool]:
    """Whether so much evidence is enough for these names, in this form: more than chance would bring."""
    shown = {clue.kind for clue in found}
    telling = {w.name for w in exercise.wrong if w.errors_tell or w.clue in shown}

    def believable(names: tuple[str, ...], form: Form) -> bool:
        if evidence >= ENOUGH or (form.name and not names):  # numbers that are right but for the form
            return True
        if form.raises_on_more_axes:
            return False
        # A few plain numbers are little; but here they agree in every case, and nothing else differs.
        return (evidence > 0 and not form.name) or not telling.isdisjoint(names)

    return believable


def _believed(candidate: Candidate, failed: list[Tried], found: tuple[Clue, ...]) -> bool:
    """Whether what agrees is of this form."""
    if candidate.form.loosely and not _as_rounded(candidate, failed, found):
        return False
    if candidate.form.name and not candidate.names and not candidate.form.raises_on_more_axes:
        # the numbers are the right ones, and it was the form that made them fail
        return all(_changes(candidate.form, t.truth.expected) for t in failed)
    return True


def _changes(form: Form, expected: Answer) -> bool:
    """Whether a result in this form is another one; what only loses digits is for `_as_rounded` to say."""
    return form.loosely or not FORMS[1].same(expected, form.of(expected))


def _as_rounded(candidate: Candidate, failed: list[Tried], found: tuple[Clue, ...]) -> bool:
    pairs = [(candidate.answer(t.truth), t.answer) for t in failed if t.answer]
    dtype = np.float16 if candidate.form.clue == "float16" else np.float32
    return off_as_in(dtype, pairs, shown=any(clue.kind == candidate.form.clue for clue in found))


def _told(
    exercise: Exercise, candidate: Candidate, failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    """A candidate as mistakes, each with the failed cases in which the answer needs it."""
    told_of = (*candidate.names, candidate.form.name) if candidate.form.name else candidate.names
    names = tuple(dict.fromkeys(told_of))  # the same mistake in two places is said once
    if len(names) == 1:
        return (mistake_called(exercise, names[0], failed, found, candidate.form),)
    told = []
    for name in names:
        needing = [t for t in failed if not _explained_without(exercise, candidate, name, t)]
        if needing:  # else it changes nothing here, and is not said
            told.append(mistake_called(exercise, name, needing, found, candidate.form))
    return tuple(sorted(told, key=lambda mistake: -len(mistake.cases)))  # what shows most often comes first


def _explained_without(exercise: Exercise, candidate: Candidate, name: str, t: Tried) -> bool:
    """Whether the other mistake alone would have answered the same."""
    if name == candidate.form.name:
        return agrees(Candidate(candidate.names, candidate.function, FORMS[0]), t)
    others = tuple(n for n in candidate.names if n != name)
    two = candidate.of_two
    function = two.alone[two.names.index(others[0])] if two and others else exercise.reference
    return agrees(Candidate(others, function, candidate.form), t)


def _side_by_side(
    exercise: Exercise, asked: list[Tried], failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    """Two mistakes, each of which gives the answer wherever it differs from the truth."""
    explains = {}
    for names, function in singles(exercise):
        candidate = Candidate(names, function, FORMS[0])
        if is_backed(exercise, names, found) and all(
            agrees(candidate, t) or right_by(candidate, t) for t in asked
        ):
            here = [t for t in failed if agrees(candidate, t)]
            if here and evidence_in(here) >= ENOUGH:
                explains[names] = here
    for one, other in combinations(explains, 2):
        together = {id(t) for t in (*explains[one], *explains[other])}
        if len(together) == len(failed) and not _exclude(exercise, one[0], other[0]):
            rest = [t for t in explains[other] if t not in explains[one]]
            return (
                mistake_called(exercise, one[0], explains[one], found),
                mistake_called(exercise, other[0], rest, found),
            )
    return ()


def _exclude(exercise: Exercise, *names: str) -> bool:
    """Whether two mistakes are other values of one place: an answer that makes either here and there makes neither."""
    pairs = exercise.mistakes
    if pairs is None:
        return False
    one, other = ([edits for name, edits in pairs.listed if name == wanted] for wanted in names)
    places = [{edit.before for edit in edits} for edits in (*one, *other)]
    return bool(one and other) and len({*map(frozenset, places)}) == 1 and RESULT not in places[0]


def _constant(
    exercise: Exercise, asked: list[Tried], failed: list[Tried], found: tuple[Clue, ...]
) -> tuple[Mistake, ...]:
    """The one mistake of the list that gives the number which comes back wherever the answer fails.

    Elsewhere the answer may be right in a way of its own: what it does there is not what fails.
    """
    numbers = numbers_of(failed[0])
    if len(numbers) != 1 or any(numbers_of(t) != numbers for t in failed):
        return ()
    same = [t for t in asked if numbers_of(t) == numbers]
    singles = (Candidate((wrong.name,), wrong.function, FORMS[0]) for wrong in exercise.wrong)
    explains = [candidate.names[0] for candidate in singles if holds(candidate, same)]
    enough = sum(map(_differing, failed)) >= MANY_DIFFER
    return (mistake_called(exercise, explains[0], failed, found),) if len(explains) == 1 and enough else ()


MANY_DIFFER = 8
"""So many entries of one number that are not the right ones: more than an answer gets by chance."""


def _differing(t: Tried) -> int:
    values, expected = t.answer.array if t.answer else None, t.truth.expected.array
    alike = values is not None and expected is not None and values.shape == expected.shape
    return int((values != expected).sum()) if alike else 0
