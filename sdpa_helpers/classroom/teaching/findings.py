"""What may be claimed: of all that was looked at, what chance explains in one class of fifty at most."""

from collections.abc import Mapping
from dataclasses import dataclass

from sdpa_helpers.classroom.teaching.exercises import Item, Spread, items, spreads
from sdpa_helpers.classroom.teaching.material import Log, Marks, Rounds
from sdpa_helpers.classroom.teaching.tries import Minutes, Survival, Vote, minutes, survivals, votes
from sdpa_helpers.course.holm import holm

LEVEL = 0.02
"""Stricter than usual: exercises and sentences differ a little even where none is at fault, which Holm can't know."""
THIRD = 1 / 3
"""An exercise whose correlation is below this share of the usual one is worth a look."""
WORSE = 0.2
"""A sentence that fails so much more often than the others."""
LONGER = 1.5
"""Times the stated minutes, or one part in so many."""


@dataclass(frozen=True)
class Told:
    """What is known of the course beside the class."""

    minutes: Mapping[str, float]
    """By exercise."""
    right: Mapping[str, int]
    """By question, the option that was measured."""


@dataclass(frozen=True)
class Heard:
    """What logs and a room brought."""

    logs: tuple[Log, ...] = ()
    rounds: Mapping[str, Rounds] | None = None


@dataclass(frozen=True)
class Finding:
    """Something worth acting on."""

    about: str
    says: str
    do: str
    p: float
    """Corrected for all that was looked at."""


@dataclass(frozen=True)
class Evidence:
    """All there is to see of a class."""

    learners: int
    logs: int
    items: tuple[Item, ...]
    spreads: tuple[Spread, ...]
    survivals: tuple[Survival, ...]
    votes: tuple[Vote, ...]
    minutes: tuple[Minutes, ...]
    findings: tuple[Finding, ...]
    """The surest first."""
    looked: int
    """At how many things; each makes a claim about any other harder."""


def evidence(marks: Marks, heard: Heard, told: Told) -> Evidence:
    """What grades and logs say together."""
    parts = (
        items(marks),
        spreads(marks),
        survivals(heard.logs),
        votes(heard.rounds or {}, told.right),
        minutes(heard.logs, told.minutes),
    )
    tested = [(one, one.p) for part in parts for one in part if one.p is not None]
    corrected = holm({number: p for number, (_, p) in enumerate(tested)})
    claimed = [
        Finding(*words, corrected[number])
        for number, (one, _) in enumerate(tested)
        if corrected[number] < LEVEL and (words := _words(one)) is not None
    ]
    ordered = tuple(sorted(claimed, key=lambda one: (one.p, one.about)))
    return Evidence(len(marks.learners), len(heard.logs), *parts, ordered, len(tested))


def _words(one: Item | Spread | Survival | Vote | Minutes) -> tuple[str, str, str] | None:
    """(about, says, do) where it is large enough to matter; chance is looked at elsewhere."""
    match one:
        case Item():
            return _of_item(one)
        case Spread():
            return _of_spread(one)
        case Survival():
            return _of_survival(one)
        case Vote():
            return _of_vote(one)
        case Minutes():
            return _of_minutes(one)


def _of_item(one: Item) -> tuple[str, str, str] | None:
    if one.rest is None or one.fair >= THIRD * one.usual:
        return None
    says = (
        f"Points for `{one.exercise}` have little to do with those for the rest (r = {one.fair:.2f}, "
        f"as if half had it right; {one.usual:.2f} is usual here)."
    )
    return (
        one.exercise,
        says,
        "Read five answers with few points, by learners with many, and its prompt again.",
    )


def _of_spread(one: Spread) -> tuple[str, str, str] | None:
    says = (
        f"`{one.mistake.name}` in `{one.mistake.exercise}` is a mistake of the strongest: {one.made[-1]} of "
        f"{one.of[-1]} in the first quarter of the class, {one.made[0]} of {one.of[0]} in the last."
    )
    return (
        one.mistake.exercise,
        says,
        "Look for what leads those astray who read closely: prompt, example, case.",
    )


def _of_survival(one: Survival) -> tuple[str, str, str] | None:
    if one.share is None or one.share.value < one.others + WORSE:
        return None
    says = (
        f"After the sentence for `{one.name}` in `{one.exercise}`, {one.again} of {one.told - one.left} made the "
        f"same mistake at the next try ({one.share.value:.0%}; {one.others:.0%} with the other sentences)."
    )
    return one.exercise, says, "Rewrite this sentence, or its hint; next term shows whether it helped."


def _of_vote(one: Vote) -> tuple[str, str, str] | None:
    if one.lost <= one.won:
        return None
    says = (
        f"Talking about {one.question} led away from the right answer: {one.lost} of {one.learners} left it, "
        f"{one.won} came to it."
    )
    return one.question, says, "Ask it again after the measurement, and let those explain who changed."


def _of_minutes(one: Minutes) -> tuple[str, str, str] | None:
    if one.logged is None or one.stated / LONGER < one.logged.value < one.stated * LONGER:
        return None
    says = f"`{one.exercise}` takes {one.logged.value:.0f} minutes, where {one.stated:g} are stated."
    return one.exercise, says, "Plan with what it takes, and change `minutes` on its page."
