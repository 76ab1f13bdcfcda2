"""Two wordings of an instructor's sentence, compared by the tries of rooms, as it was registered before."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from pathlib import Path

from sdpa_helpers.classroom.room.lines import Event
from sdpa_helpers.classroom.sentences.store import Sentence, read_sentences
from sdpa_helpers.classroom.sentences.wordings import (
    FILE,
    OUTCOME,
    Registered,
    digest_of,
    read_plans,
    reads_second,
    write_plans,
)
from sdpa_helpers.classroom.teaching.numbers import share
from sdpa_helpers.course.interval import Interval
from sdpa_helpers.course.told import FILE as NAMES
from sdpa_helpers.grading.refusal import Refusal

FEWEST = 40
"""Learners that a plan names: with fewer, hardly any difference between two sentences can be seen."""


@dataclass(frozen=True)
class Tried:
    """Somebody who was told, and tried again."""

    who: str
    time: float
    """Of the next try."""
    again: bool
    """Whether it gave the same answer."""


@dataclass(frozen=True)
class Compared:
    """What came out; both shares and the difference are None before the planned number is reached."""

    plan: Registered
    tried: int
    first: Interval | None = None
    """Of those who read it, who made the same mistake at the next try."""
    second: Interval | None = None
    difference: Interval | None = None
    """Of the second to the first; below 0 the second helps more."""

    @property
    def shown(self) -> bool:
        """Whether chance alone is unlikely to have made it."""
        return self.difference is not None and not self.difference.low <= 0 <= self.difference.high


def names_of(where: Path) -> Path:
    """The names.toml of a run's folder, or beside a room's file."""
    return where / NAMES if where.is_dir() else where.with_name(NAMES)


def sentence_of(names: Path, exercise: str, key: str) -> Sentence:
    """The one that is meant; the first letters of its key will do."""
    found = [
        one for one in read_sentences(names).values() if one.exercise == exercise and one.key.startswith(key)
    ]
    if len(found) != 1:
        raise Refusal(
            f"{names}: {len(found)} sentences for an answer {key}… to {exercise}, and one is expected"
        )
    return found[0]


def register(names: Path, one: Sentence, question: str, learners: int, seed: str) -> Registered:
    """Write the plan; Refusal where there is nothing to compare, or it is written already."""
    if not one.second:
        raise Refusal(f'{names}: [{one.exercise}.{one.key}] has one wording; write the other as second = "…"')
    if learners < FEWEST:
        raise Refusal(
            f"{learners} learners show hardly any difference; plan with {FEWEST} or more, over several terms"
        )
    path, given = names.with_name(FILE), (one.exercise, one.key)
    plans = read_plans(path)
    wordings = digest_of(one.says, one.second)
    if given in plans and plans[given].wordings == wordings:
        raise Refusal(f"{path}: these two are registered already, {plans[given].when[:10]}")
    now = datetime.now().astimezone().isoformat(timespec="milliseconds")
    plan = Registered(" ".join(question.split()), OUTCOME, learners, now, seed, wordings)
    write_plans(path, {**plans, given: plan})
    return plan


def plan_of(names: Path, one: Sentence) -> Registered:
    """Its plan; Refusal where there is none, or it was made for other words."""
    plan = read_plans(names.with_name(FILE)).get((one.exercise, one.key))
    if plan is None:
        raise Refusal(
            f"these wordings were not registered, so nothing is compared: {names.with_name(FILE)} has no plan for "
            f"{one.exercise} {one.key}. `sdpa study register` writes one, before anybody reads them"
        )
    if plan.wordings != digest_of(one.says, one.second):
        raise Refusal(
            f"the wordings are not those that were registered {plan.when[:10]}, so nothing is compared. Put them back, "
            "or register the new ones: what was told before doesn't count then"
        )
    return plan


def tried_in(events: Iterable[Event], one: Sentence, since: float) -> Iterator[Tried]:
    """Everybody of a room who first gave the answer after it was registered, and checked the exercise again."""
    told: dict[str, float] = {}
    done: set[str] = set()
    for event in events:
        if event.kind != "check" or event.attempt is None or event.what != one.exercise or event.who in done:
            continue
        same = event.attempt.answer == one.key
        if event.who in told:
            done.add(event.who)
            if told[event.who] >= since:
                yield Tried(event.who, event.time, same)
        elif same:
            told[event.who] = event.time


def compare(tried: Sequence[Tried], one: Sentence, plan: Registered) -> Compared:
    """The planned number of learners, the earliest; nothing is compared before they are there."""
    if len(tried) < plan.learners:
        return Compared(plan, len(tried))
    counted = sorted(tried, key=lambda each: each.time)[: plan.learners]
    arms: tuple[list[bool], list[bool]] = ([], [])
    for each in counted:
        arms[reads_second(plan.seed, (one.exercise, one.key), each.who)].append(each.again)
    if not all(arms):
        return Compared(plan, len(tried))
    first, second = (share(sum(arm), len(arm)) for arm in arms)
    return Compared(plan, len(tried), first, second, difference(second, first))


def difference(one: Interval, other: Interval) -> Interval:
    """Of two shares, with Newcombe's interval, from Wilson's of either."""
    down = sqrt((one.value - one.low) ** 2 + (other.high - other.value) ** 2)
    up = sqrt((one.high - one.value) ** 2 + (other.value - other.low) ** 2)
    value = one.value - other.value
    return Interval(value, value - down, value + up)
