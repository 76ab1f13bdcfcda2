"""Names for an answer that makes a known mistake in some cases only: all that failed, or a good part of these."""

from collections.abc import Iterator

from sdpa_helpers.checking.candidates import Candidate, agrees, mistake_called, right, singles
from sdpa_helpers.checking.clues import Clue
from sdpa_helpers.checking.conduct import Mistake, Tried
from sdpa_helpers.checking.evidence import tells
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.forms import FORMS

TWO = 2
"""Cases whose numbers have to tell, for a name that some right cases deny."""


def named_by_failures(exercise: Exercise, asked: list[Tried], found: tuple[Clue, ...]) -> tuple[Mistake, ...]:
    """The one known mistake that gives every answer that failed, where others of its answers are right here.

    A right answer denies the mistake, as it would have been wrong: so does one case for two that tell, at most. The
    name that is denied least is the one.
    """
    failed = [t for t in asked if not right(t)]
    if sum(map(_tells, failed)) < TWO:
        return ()
    explains = [one for one in _singles(exercise) if all(agrees(one, t) for t in failed)]
    denials = {one: sum(not agrees(one, t) for t in asked) for one in explains}
    best = {one.names for one in explains if denials[one] == min(denials.values())}
    if len(best) != 1 or 2 * min(denials.values()) >= sum(map(_tells, failed)):
        return ()
    return (mistake_called(exercise, best.pop()[0], failed, found),)


def _singles(exercise: Exercise) -> Iterator[Candidate]:
    return (Candidate(names, function, FORMS[1]) for names, function in singles(exercise))


def _tells(t: Tried) -> bool:
    return t.answer is not None and tells(t.truth.expected, t.answer)
