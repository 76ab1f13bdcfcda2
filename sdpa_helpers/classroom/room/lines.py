"""What a room takes in: a line of the log, a vote, a hand, a slip. Everything else is refused here."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from sdpa_helpers.course.attempts import Attempt, parsed

MOST_BYTES = 1_000
MOST_ASKED = 4_000
"""Of what the instructor sends: a sentence is longer than a line."""
LONGEST_SLIP = 280
Kind = Literal["check", "vote", "hand", "slip", "ask", "lower"]
"""The last two are the instructor's."""


class NotALine(ValueError):
    """Nothing that a room takes; the text says why."""


@dataclass(frozen=True)
class LineSubjects:
    """What lines may be about."""

    exercises: Mapping[str, float]
    """Name → points."""
    questions: Mapping[str, int]
    """Name, as "03_softmax/one_score_rises" → how many options it has."""
    is_mistake: Callable[[str, str], bool]
    """(exercise, name) → whether a check says such a thing there."""


@dataclass(frozen=True)
class Event:
    """Something that was taken in."""

    time: float
    """By the room's clock."""
    who: str
    """The name, as "blue heron"; "" is the instructor."""
    kind: Kind
    what: str = ""
    """An exercise, a question; the words of a slip; whose hand to lower."""
    option: int = -1
    """Of a vote; of "hand" 1 is up and 0 down."""
    attempt: Attempt | None = None
    """Of a check."""
    stage: str = ""
    """Of "ask": see `STAGES`."""


STAGES = ("first", "discuss", "second", "reveal", "slip", "closed")
"""What the room is asked: to vote, to talk, to vote again, to see; for a slip; nothing."""


def read_body(body: bytes) -> dict[str, object]:
    """A small JSON object."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise NotALine("this is not JSON") from None
    if not isinstance(data, dict):
        raise NotALine("an object is expected")
    return data


def event_of(data: dict[str, object], who: str, known: LineSubjects, now: float) -> Event:
    """What a learner sent, without who it was from; NotALine for what isn't exactly one of the four."""
    if set(data) == {"line"}:
        return _of_log(data["line"], who, known, now)
    if set(data) == {"vote", "option"}:
        return Event(now, who, "vote", *_voted(data["vote"], data["option"], known))
    if set(data) == {"hand"} and isinstance(data["hand"], bool):
        return Event(now, who, "hand", option=int(data["hand"]))
    slip = data.get("slip")
    if set(data) == {"slip"} and isinstance(slip, str) and 0 < len(slip.strip()) <= LONGEST_SLIP:
        return Event(now, who, "slip", " ".join(slip.split()))
    raise NotALine("a line, a vote, a hand or a slip is expected")


def asked_of(data: dict[str, object], known: LineSubjects, now: float) -> Event:
    """What the instructor asks, or whose hand is lowered."""
    stage, question, lower = data.get("stage"), data.get("question"), data.get("lower")
    if set(data) == {"lower"} and isinstance(lower, str):
        return Event(now, "", "lower", lower)
    if set(data) != {"stage", "question"} or stage not in STAGES or not isinstance(question, str):
        raise NotALine("a stage and a question are expected")
    if question not in known.questions and stage not in ("slip", "closed"):
        raise NotALine("the course has no such question")
    return Event(now, "", "ask", question, stage=str(stage))


def _of_log(line: object, who: str, known: LineSubjects, now: float) -> Event:
    attempt = parsed(json.dumps(line).encode())
    if attempt is None:
        raise NotALine("this is no line of the log")
    if attempt.option is not None:
        return Event(now, who, "vote", *_voted(attempt.exercise, attempt.option, known, may_ask=True))
    if attempt.exercise not in known.exercises or not 0 <= attempt.points <= attempt.max:
        raise NotALine("the course has no such exercise")
    # A name is shown to everybody: those that no check gives, somebody has made up.
    true = tuple(name for name in attempt.mistakes if known.is_mistake(attempt.exercise, name))
    return Event(now, who, "check", attempt.exercise, attempt=replace(attempt, mistakes=true))


def _voted(question: object, option: object, known: LineSubjects, may_ask: bool = False) -> tuple[str, int]:
    lowest = -1 if may_ask else 0  # who asked to be shown has not voted
    if not isinstance(question, str) or question not in known.questions or type(option) is not int:
        raise NotALine("the course has no such question")
    if not lowest <= option < known.questions[question]:
        raise NotALine("the question has no such answer")
    return question, option
