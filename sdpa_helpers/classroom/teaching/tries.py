"""What logs say: whether a mistake survives the sentence that names it, what an exercise takes, who changed a vote."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sdpa_helpers.classroom.teaching.material import Log, Rounds
from sdpa_helpers.classroom.teaching.numbers import at_least, coin, median_of, share
from sdpa_helpers.course.attempts import PAUSE, Attempt
from sdpa_helpers.course.interval import Interval

FEWEST = 10
"""Learners, below which a share or a median says nothing."""

FEWEST_OTHERS = 50
"""Tries after other sentences, to compare with."""
WITHIN_THE_USUAL = 0.1
"""Sentences that do their work differ by so much among themselves, in the share that they don't reach."""


@dataclass(frozen=True)
class Survival:
    """What became of a mistake after its sentence was read. Each learner counts once, by the first time."""

    exercise: str
    name: str
    told: int
    left: int
    """Who didn't try again."""
    again: int
    """Who tried again and was told the same."""
    share: Interval | None
    """`again` of those who tried again; None where they are too few."""
    others: float = 0.0
    """The same share of all other sentences together."""
    p: float | None = None
    """Of being no worse than these, and what is usual between sentences."""


@dataclass(frozen=True)
class Vote:
    """A question that was voted on twice, by those who did both times."""

    question: str
    learners: int
    right: tuple[int, int]
    """Before the discussion and after it."""
    won: int
    """Who changed to the right answer."""
    lost: int
    """Who changed from it."""
    p: float | None
    """Of as many changing either way; None where too few changed."""


@dataclass(frozen=True)
class Minutes:
    """What an exercise takes until it's green."""

    exercise: str
    stated: float
    learners: int
    logged: Interval | None
    """The median; None where there are too few."""
    p: float | None = None
    """Of as many being above the stated minutes as below."""


def survivals(logs: Iterable[Log]) -> tuple[Survival, ...]:
    """All sentences; those that were read in vain most often come first, and at the end those with too few."""
    found: dict[tuple[str, str], list[bool | None]] = defaultdict(list)
    for log in logs:
        for exercise, tries in _checks(log).items():
            told: set[str] = set()
            for number, attempt in enumerate(tries):
                after = tries[number + 1] if number + 1 < len(tries) else None
                for name in () if attempt.green else set(attempt.mistakes) - told:
                    found[exercise, name].append(None if after is None else name in after.mistakes)
                told |= set(attempt.mistakes)
    tried = sum(again is not None for all_of in found.values() for again in all_of)
    same = sum(again is True for all_of in found.values() for again in all_of)
    made = (_survival(*key, all_of, (same, tried)) for key, all_of in found.items())
    return tuple(
        sorted(
            made, key=lambda one: (-(one.share.value if one.share else -1), -one.told, one.exercise, one.name)
        )
    )


def minutes(logs: Iterable[Log], stated: Mapping[str, float]) -> tuple[Minutes, ...]:
    """All exercises that somebody has done without a pause whose length nobody knows."""
    took: dict[str, list[float]] = defaultdict(list)
    for log in logs:
        for exercise, tries in _checks(log).items():
            if exercise in stated and (time := _until_green(tries)) is not None:
                took[exercise].append(time)
    return tuple(_minutes(name, stated[name], took[name]) for name in stated if name in took)


def votes(rounds: Mapping[str, Rounds], right: Mapping[str, int]) -> tuple[Vote, ...]:
    """All questions whose right answer is known and that somebody voted on twice."""
    found = []
    for question, (first, second) in rounds.items():
        if question not in right or not (both := sorted(first.keys() & second.keys())):
            continue
        pairs = [(first[who] == right[question], second[who] == right[question]) for who in both]
        before, after = (sum(pair[turn] for pair in pairs) for turn in (0, 1))
        won, lost = pairs.count((False, True)), pairs.count((True, False))
        p = coin(won, lost) if won + lost >= FEWEST else None
        found.append(Vote(question, len(both), (before, after), won, lost, p))
    return tuple(found)


def _checks(log: Log) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in sorted(log, key=lambda one: one.time):
        if attempt.option is None:
            found[attempt.exercise].append(attempt)
    return found


def _survival(exercise: str, name: str, all_of: list[bool | None], everywhere: tuple[int, int]) -> Survival:
    again, tried = all_of.count(True), len(all_of) - all_of.count(None)
    counted = (exercise, name, len(all_of), all_of.count(None), again)
    if tried < FEWEST:
        return Survival(*counted, None)
    same, others = everywhere[0] - again, everywhere[1] - tried
    if others < FEWEST_OTHERS:
        return Survival(*counted, share(again, tried))
    usual = same / others
    return Survival(
        *counted, share(again, tried), usual, at_least(again, tried, min(0.99, usual + WITHIN_THE_USUAL))
    )


def _until_green(tries: list[Attempt]) -> float | None:
    """Minutes up to the first green check; None where there's none, or where the log can't know."""
    green = next((number for number, attempt in enumerate(tries) if attempt.green), None)
    if green is None:
        return None
    took = [attempt.minutes for attempt in tries[: green + 1]]
    known = [time for time in took if time is not None and time <= PAUSE]
    return sum(known) if len(known) == len(took) else None


def _minutes(exercise: str, stated: float, took: list[float]) -> Minutes:
    if len(took) < FEWEST:
        return Minutes(exercise, stated, len(took), None)
    p = coin(sum(time > stated for time in took), sum(time < stated for time in took))
    return Minutes(exercise, stated, len(took), median_of(took), p)
