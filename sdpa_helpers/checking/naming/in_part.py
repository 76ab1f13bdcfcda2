"""Names for an answer that makes a known mistake in some cases only: all that failed, or a good part of these."""

from collections.abc import Iterator
from dataclasses import replace

from sdpa_helpers.checking.code.clues import Clue
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.judging.conduct import Mistake, Tried
from sdpa_helpers.checking.naming.candidates import (
    Candidate,
    agrees,
    is_backed,
    is_error,
    mistake_called,
    right,
    singles,
)
from sdpa_helpers.checking.naming.evidence import TWO, tells
from sdpa_helpers.checking.naming.forms import FORMS


def named_by_failures(exercise: Exercise, asked: list[Tried], found: tuple[Clue, ...]) -> tuple[Mistake, ...]:
    """The one known mistake that gives every answer that failed, where others of its answers are right here.

    A right answer denies the mistake, as it would have been wrong: so does one case for two that tell, at most. The
    name that is denied least is the one.
    """
    failed = [t for t in asked if not right(t)]
    if sum(map(tells, failed)) < TWO:
        return ()
    explains = [one for one in _singles(exercise, found) if all(agrees(one, t) for t in failed)]
    denials = {one: sum(not agrees(one, t) for t in asked) for one in explains}
    best = {one.names for one in explains if denials[one] == min(denials.values())}
    if len(best) != 1 or 2 * min(denials.values()) >= sum(map(tells, failed)):
        return ()
    return (mistake_called(exercise, best.pop()[0], failed, found),)


THREE = 3
"""Failed cases for a name of a part, where four fifths and more of what came back agree; else it is another mistake,
that looks the same in some shapes."""


OF_FORM = {form.name for form in FORMS}
"""What would be wrong about every result: nobody rounds in some cases only."""


def named_in_part(exercise: Exercise, asked: list[Tried], found: tuple[Clue, ...]) -> tuple[Mistake, ...]:
    """The one known mistake that gives most of what failed, where none gives all; its sentence says how many."""
    failed = [t for t in asked if not right(t)]
    returned = [t for t in failed if not is_error(t)]
    if sum(map(tells, returned)) < TWO:
        return ()
    gives: dict[str, list[Tried]] = {}
    for one in _singles(exercise, found):
        if one.names[0] in OF_FORM:
            continue
        same = [t for t in returned if agrees(one, t)]
        telling = sum(map(tells, same))
        denied = sum(not agrees(one, t) for t in asked if t not in failed)
        if len(same) == len(failed) or 2 * denied >= telling or 5 * len(same) <= 4 * len(returned):
            continue
        if telling >= THREE or (telling >= TWO and len(same) == len(returned)):
            gives[one.names[0]] = max(gives.get(one.names[0], []), same, key=len)
    most = max(map(len, gives.values()), default=0)
    best = [name for name, same in gives.items() if len(same) == most]
    if len(best) != 1:
        return ()
    mistake = mistake_called(exercise, best[0], gives[best[0]], found)
    return (replace(mistake, says=f"{mistake.says} {_how_many(most, returned, failed)}.{_rest(failed)}"),)


def _how_many(same: int, returned: list[Tried], failed: list[Tried]) -> str:
    of = "that return" if len(returned) < len(failed) else "that failed"
    return f"In {same} of the {len(returned)} cases {of}, your numbers are exactly those of this mistake"


def _rest(failed: list[Tried]) -> str:
    """Where the cases end that return nothing."""
    lines = [t.answer.line for t in failed if t.answer and t.answer.kind == "error"]
    if not lines:
        return ""
    number, _, code = lines[0].partition(": ")
    where = f" in {number}, `{code}`" if len(set(lines)) == 1 and code else ""
    return f" {'The other one stops' if len(lines) == 1 else f'The other {len(lines)} stop'}{where}."


def _singles(exercise: Exercise, found: tuple[Clue, ...]) -> Iterator[Candidate]:
    for names, function in singles(exercise):
        if is_backed(exercise, names, found):
            yield Candidate(names, function, FORMS[1])
