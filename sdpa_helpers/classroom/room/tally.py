"""What a room amounts to: events go in, one after the other; out comes what the board and the phone show."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from sdpa_helpers.classroom.room.lines import Event
from sdpa_helpers.course.attempts import Attempt

TRIES_OF_STUCK, WITHIN = 4, 5 * 60.0
"""So many red tries on one exercise within so many seconds: somebody should go there."""
STILL = 15 * 60.0
"""Seconds after which who hasn't checked again is not called stuck any more."""
MOST_ROWS, MOST_MISTAKES, MOST_SLIPS, MOST_NAMELESS = 8, 3, 300, 12


@dataclass
class Work:
    """One learner at one exercise."""

    tries: int = 0
    green: bool = False
    minutes: float = 0.0
    mistakes: tuple[str, ...] = ()
    """Of the last try."""
    answer: str = ""
    """Of the last try, where nobody has named its mistake: the same for all that return the same."""
    reds: tuple[float, ...] = ()
    """When the last tries were red."""
    last: float = 0.0

    def add(self, when: float, attempt: Attempt) -> None:
        """One more try."""
        self.tries, self.last, self.mistakes = self.tries + 1, when, attempt.mistakes
        self.answer = attempt.answer or ""
        self.minutes += attempt.worked if not self.green else 0
        self.green = self.green or attempt.green
        self.reds = () if attempt.green else (*self.reds, when)[-TRIES_OF_STUCK:]

    def is_stuck(self, now: float) -> bool:
        """Whether somebody should go there."""
        quick = len(self.reds) == TRIES_OF_STUCK and self.reds[-1] - self.reds[0] <= WITHIN
        return quick and not self.green and now - self.last <= STILL


@dataclass
class Tally:
    """All that came in, by who and what."""

    names: set[str] = field(default_factory=set)
    """Those who joined."""
    works: dict[str, dict[str, Work]] = field(default_factory=lambda: defaultdict(dict))
    """Exercise → learner → their work."""
    rounds: dict[str, tuple[dict[str, int], dict[str, int]]] = field(default_factory=dict)
    """Question → the first round and the second: learner → option."""
    question: str = ""
    stage: str = "closed"
    hands: dict[str, float] = field(default_factory=dict)
    """Learner → since when."""
    slips: dict[str, str] = field(default_factory=dict)
    """Learner → their words."""

    def add(self, event: Event) -> None:
        """Take in one event."""
        if event.kind == "check" and event.attempt:
            self.works[event.what].setdefault(event.who, Work()).add(event.time, event.attempt)
        elif event.kind == "vote" and event.option >= 0:
            self._vote(event)
        elif event.kind == "hand" and event.option:
            self.hands.setdefault(event.who, event.time)
        elif event.kind in ("hand", "lower"):
            self.hands.pop(event.who or event.what, None)
        elif event.kind == "slip" and (event.who in self.slips or len(self.slips) < MOST_SLIPS):
            self.slips[event.who] = event.what
        elif event.kind == "ask":
            self.question, self.stage = event.what, event.stage

    def votes(self, question: str) -> tuple[dict[str, int], dict[str, int]]:
        """Both rounds of a question."""
        return self.rounds.get(question, ({}, {}))

    def _vote(self, event: Event) -> None:
        first, second = self.rounds.setdefault(event.what, ({}, {}))
        again = self.question == event.what and self.stage in ("second", "reveal")
        (second if again else first)[event.who] = event.option


@dataclass(frozen=True)
class Told:
    """A mistake and how many have it now."""

    name: str
    says: str
    learners: int


@dataclass(frozen=True)
class BoardRow:
    """One exercise on the board."""

    exercise: str
    tried: int
    green: int
    mistakes: tuple[Told, ...]
    """None until half of the room has tried: before that they would point at somebody."""


@dataclass(frozen=True)
class Stuck:
    """Somebody to go to."""

    name: str
    exercise: str
    mistake: str
    tries: int


@dataclass(frozen=True)
class Nameless:
    """An answer that the course has no name for."""

    exercise: str
    key: str
    learners: int
    """Who have it now."""
    says: str = ""
    """What the instructor tells of it."""
    points: float = 0.0
    """The change of points that goes with it."""


@dataclass(frozen=True)
class Time:
    """How long an exercise took, in the middle of those who tried."""

    exercise: str
    minutes: float
    tried: int
    green: int


Says = Callable[[str, str], str]
"""(exercise, mistake) → the card's words."""


def board_rows(tally: Tally, says: Says) -> tuple[BoardRow, ...]:
    """The exercises that were tried last, in the order in which they were begun."""
    newest = sorted(tally.works, key=lambda name: -_last(tally, name))[:MOST_ROWS]
    return tuple(_row(tally, name, says) for name in tally.works if name in newest)


def stuck(tally: Tally, now: float) -> tuple[Stuck, ...]:
    """Who has had four red tries within five minutes, the most tries first."""
    found = [
        Stuck(who, name, " and ".join(work.mistakes), work.tries)
        for name, works in tally.works.items()
        for who, work in works.items()
        if work.is_stuck(now)
    ]
    return tuple(sorted(found, key=lambda one: (-one.tries, one.name)))


def nameless(tally: Tally, told: Callable[[str, str], tuple[str, float]], now: float) -> tuple[Nameless, ...]:
    """The answers that several have now, or somebody who is stuck, and the course has no name for: those of most
    learners first."""
    left = [
        ((name, work.answer), work)
        for name, works in tally.works.items()
        for work in works.values()
        if work.answer and not work.green
    ]
    held = Counter(given for given, _ in left)
    stuck_at = {given for given, work in left if work.is_stuck(now)}
    shown = [given for given, learners in held.items() if learners > 1 or given in stuck_at]
    found = [Nameless(*given, held[given], *told(*given)) for given in shown]
    return tuple(sorted(found, key=lambda one: (-one.learners, one.exercise, one.key))[:MOST_NAMELESS])


def times(tally: Tally) -> tuple[Time, ...]:
    """Minutes by exercise, in the order in which they were begun."""
    return tuple(
        Time(
            name,
            round(median(work.minutes for work in works.values()), 1),
            len(works),
            sum(w.green for w in works.values()),
        )
        for name, works in tally.works.items()
    )


def counted(votes: dict[str, int], options: int) -> tuple[int, ...]:
    """How many chose each option."""
    found = Counter(votes.values())
    return tuple(found[number] for number in range(options))


def _row(tally: Tally, name: str, says: Says) -> BoardRow:
    works = tally.works[name]
    now = Counter(mistake for work in works.values() if not work.green for mistake in _told(work))
    shown = now.most_common() if 2 * len(works) >= len(tally.names) else []
    # Of an answer without a name only what the instructor tells: a key says nothing to anybody.
    answers = {work.answer for work in works.values()}
    words = [Told(mistake, says(name, mistake), learners) for mistake, learners in shown]
    told = [one for one in words if one.says or one.name not in answers][:MOST_MISTAKES]
    return BoardRow(name, len(works), sum(work.green for work in works.values()), tuple(told))


def _told(work: Work) -> tuple[str, ...]:
    return work.mistakes or ((work.answer,) if work.answer else ())


def _last(tally: Tally, name: str) -> float:
    return max(work.last for work in tally.works[name].values())
