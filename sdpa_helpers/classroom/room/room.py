"""The room itself, without HTTP: who is in it, what they sent, what each page shows."""

import hmac
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from sdpa_helpers.checking.card.render import code_spans
from sdpa_helpers.classroom.room import tally as tallies
from sdpa_helpers.classroom.room.limits import Limits
from sdpa_helpers.classroom.room.lines import Event, LineSubjects, NotALine, asked_of, event_of
from sdpa_helpers.classroom.room.names import color_of
from sdpa_helpers.classroom.room.questions import RoomQuestion, card_words
from sdpa_helpers.classroom.room.store import Store
from sdpa_helpers.classroom.room.tally import BoardRow, Nameless, Stuck, Tally, Time, Told
from sdpa_helpers.classroom.sentences.store import (
    REGISTERED,
    Sentence,
    Sentences,
    for_learners,
    read_sentences,
    tell,
)
from sdpa_helpers.grading.refusal import Refusal

MOST_LEARNERS = 1_000
LINES_AT_ONCE, LINES_A_SECOND = 20, 0.5
"""Who checks every other second all day long is a machine."""
JOINS_AT_ONCE, JOINS_A_SECOND = 250, 1.0
"""From one address: a whole room behind one router joins at once."""


class Refused(Exception):
    """What was asked isn't given; with the status of HTTP."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Poll:
    """A question as everybody sees it."""

    name: str
    text: str
    options: tuple[str, ...]
    answered: tuple[int, int]
    """How many voted in each round."""
    first: tuple[int, ...] = ()
    """Votes by option, where they may be seen."""
    second: tuple[int, ...] = ()
    right: int | None = None
    measured: str = ""
    because: tuple[str, ...] = ()


@dataclass(frozen=True)
class Board:
    """What the projector shows."""

    learners: int
    rows: tuple[BoardRow, ...]
    stage: str
    poll: Poll | None


@dataclass(frozen=True)
class Hand:
    """Somebody who asks for help."""

    name: str
    minutes: int


@dataclass(frozen=True)
class Phone:
    """What the instructor sees besides."""

    board: Board
    stuck: tuple[Stuck, ...]
    times: tuple[Time, ...]
    nameless: tuple[Nameless, ...]
    hands: tuple[Hand, ...]
    slips: tuple[str, ...]
    colors: dict[str, str]
    """Of the names above."""


@dataclass(frozen=True)
class Here:
    """What a learner sees on their own page."""

    name: str
    color: str
    hand: bool
    stage: str
    poll: Poll | None
    voted: int
    """In this round; −1: not yet."""
    slip: str
    told: tuple[Told, ...]
    """By exercise, what the instructor tells of the learner's own last answers."""
    site: bool
    """Whether the course can be opened here, in the browser."""


@dataclass(frozen=True)
class ListedQuestion:
    """A question in a list."""

    name: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """The questions of a lesson."""

    lesson: str
    questions: tuple[ListedQuestion, ...]


class Room:
    """What is kept, and what it amounts to. Its methods are called by several threads."""

    def __init__(
        self,
        store: Store,
        known: LineSubjects,
        asked: dict[str, RoomQuestion],
        site: bool = False,
        names: Path | None = None,
    ) -> None:
        self.store, self.known, self.asked, self.site = store, known, asked, site
        self.names = names
        self._board: tuple[float, Board] | None = None
        self.handed_out: dict[str, str] = {}
        """What goes back with a reply, for learners' own checks."""
        self._tell_from(read_sentences(names) if names else {})
        self._as_of = self._stamps()
        self.lock = threading.Lock()
        self.tally = Tally(names=set(store.learners.values()))
        for event in store.events():
            self.tally.add(event)
        self.lines = Limits(LINES_AT_ONCE, LINES_A_SECOND)
        self.joins = Limits(JOINS_AT_ONCE, JOINS_A_SECOND)

    def join(self, address: str) -> dict[str, str]:
        """A place for somebody new."""
        if not self.joins.allows(address, time.monotonic()):
            raise Refused(429, "too many have joined from there just now; try again in a minute")
        with self.lock:
            if len(self.tally.names) >= MOST_LEARNERS:
                raise Refused(403, "the room is full")
            who, name = self.store.join()
            self.tally.names.add(name)
        return {"who": who, "name": name, "color": color_of(name), **self.handed_out}

    def take(self, data: dict[str, object]) -> dict[str, str] | None:
        """A line, a vote, a hand or a slip of a learner. What the instructor tells goes back for a line."""
        name = self._name(data.pop("who", None))
        if not self.lines.allows(name, time.monotonic()):
            raise Refused(429, "slower, please: a line every two seconds")
        event = event_of(data, name, self.known, time.time())
        with self.lock:
            self._read_what_changed()
            if event.attempt is None:
                self._refuse_what_was_not_asked(event, data)
            self._add(event)
        return (self.handed_out or None) if event.attempt else None

    def ask(self, key: str, data: dict[str, object]) -> None:
        """What the instructor does."""
        self._refuse_strangers(key)
        if set(data) == {"exercise", "answer", "says", "points"}:
            return self._tell(data)
        event = asked_of(data, self.known, time.time())
        with self.lock:
            self._add(event)

    def board(self) -> Board:
        """What the projector shows; computed once a second, however many ask."""
        with self.lock:
            self._read_what_changed()
            now = time.monotonic()
            if self._board is None or now - self._board[0] > 1:
                self._board = now, self._new_board()
            return self._board[1]

    def phone(self, key: str) -> Phone:
        """What the instructor sees."""
        self._refuse_strangers(key)
        now = time.time()
        with self.lock:
            stuck = tallies.stuck(self.tally, now)
            hands = tuple(Hand(name, round((now - at) / 60)) for name, at in self.tally.hands.items())
            board = self._new_board()
            named = {one.name for one in (*stuck, *hands)}
            poll = self._poll(seen=True)
            board = Board(board.learners, board.rows, board.stage, poll)
            slips = tuple(self.tally.slips.values())
            nameless = tallies.nameless(self.tally, self._told_with_points, now)
            colors = {n: color_of(n) for n in named}
            return Phone(board, stuck, tallies.times(self.tally), nameless, hands, slips, colors)

    def questions(self) -> list[Chapter]:
        """What can be asked, by lesson."""
        by_lesson = groupby(self.asked.values(), key=lambda question: question.name.partition("/")[0])
        return [
            Chapter(lesson, tuple(ListedQuestion(q.name, q.plain) for q in found))
            for lesson, found in by_lesson
        ]

    def here(self, who: object) -> Here:
        """What a learner sees."""
        name = self._name(who)
        with self.lock:
            self._read_what_changed()
            t = self.tally
            votes = t.votes(t.question)[t.stage in ("second", "reveal")]
            poll, slip = self._poll(), t.slips.get(name, "")
            hand, voted = name in t.hands, votes.get(name, -1)
            mine = {exercise: works[name] for exercise, works in t.works.items() if name in works}
            told = tuple(
                Told(exercise, code_spans(says), 1)
                for exercise, work in mine.items()
                if not work.green and (says := self._told(exercise, work.answer, name))
            )
            return Here(name, color_of(name), hand, t.stage, poll, voted, slip, told, self.site)

    def _tell(self, data: dict[str, object]) -> None:
        """Keep the instructor's sentence for an answer; one without words takes it back."""
        exercise, answer, says, points = (data[name] for name in ("exercise", "answer", "says", "points"))
        if self.names is None:
            raise Refused(409, "this room keeps no sentences")
        if not isinstance(exercise, str) or not isinstance(answer, str) or not isinstance(says, str):
            raise NotALine("an exercise, an answer and a sentence are expected")
        if not isinstance(points, int | float) or isinstance(points, bool):
            raise NotALine("points are a number")
        with self.lock:
            try:
                self._tell_from(tell(self.names, Sentence(exercise, answer, says, points)))
            except Refusal as error:  # it, or registered.toml, was half edited
                raise Refused(409, str(error)) from None
            except ValueError as error:
                raise NotALine(error.args[0]) from None

    def _tell_from(self, sentences: Sentences) -> None:
        """From now on these are told, and no others."""
        self.sentences, self._board = sentences, None
        if sentences or self.handed_out:
            self.handed_out = {"names": for_learners(sentences)}

    def _stamps(self) -> list[int]:
        """When the files of sentences were last written."""
        files = [self.names, self.names.with_name(REGISTERED)] if self.names else []
        return [file.stat().st_mtime_ns if file.exists() else 0 for file in files]

    def _read_what_changed(self) -> None:
        """A comparison counts from when it was registered on, in a room that is open too."""
        if self.names and (stamps := self._stamps()) != self._as_of:
            self._as_of = stamps
            with suppress(Refusal):  # half edited: what was told goes on
                self._tell_from(read_sentences(self.names))

    def _told(self, exercise: str, answer: str, who: str) -> str:
        """What the instructor tells somebody of an answer, or ""."""
        found = self.sentences.get((exercise, answer))
        return found.told_to(who) if found else ""

    def _told_with_points(self, exercise: str, answer: str) -> tuple[str, float]:
        found = self.sentences.get((exercise, answer))
        return (found.says, found.points) if found else ("", 0.0)

    def _says(self, exercise: str, mistake: str) -> str:
        """The words about a mistake as HTML: the instructor's, or the card's. None of two that are compared: those who
        read the other one would see it on the board."""
        told = self.sentences.get((exercise, mistake))
        if told is None:
            return _words(exercise, mistake)
        return "" if told.seed else code_spans(told.says)

    def _add(self, event: Event) -> None:
        if self.store.keep(event):
            self.tally.add(event)
            if event.kind == "ask":
                self._board = None

    def _refuse_what_was_not_asked(self, event: Event, data: dict[str, object]) -> None:
        t = self.tally
        if (
            event.kind == "vote"
            and "vote" in data
            and (event.what != t.question or t.stage not in ("first", "second"))
        ):
            raise Refused(409, "this isn't asked now")
        if event.kind == "slip" and t.stage != "slip":
            raise Refused(409, "no slips are collected now")

    def _new_board(self) -> Board:
        rows = tallies.board_rows(self.tally, self._says)
        return Board(len(self.tally.names), rows, self.tally.stage, self._poll())

    def _poll(self, seen: bool = False) -> Poll | None:
        """The question that is open. seen: with the votes, which others see with the measurement."""
        t = self.tally
        question = self.asked.get(t.question)
        if question is None or t.stage in ("closed", "slip"):
            return None
        first, second = t.votes(question.name)
        poll = Poll(question.name, question.text, question.options, (len(first), len(second)))
        if t.stage != "reveal" and not seen:
            return poll
        number, q = len(question.options), question
        votes = tallies.counted(first, number), tallies.counted(second, number)
        return Poll(q.name, q.text, q.options, poll.answered, *votes, q.right, q.measured, q.because)

    def _name(self, who: object) -> str:
        name = self.store.learners.get(who) if isinstance(who, str) else None
        if name is None:
            raise Refused(403, "join first")
        return name

    def _refuse_strangers(self, key: str) -> None:
        if not hmac.compare_digest(key.encode(), self.store.key.encode()):
            raise Refused(403, "this page needs the key that `sdpa room` has printed")


@cache
def _words(exercise: str, mistake: str) -> str:
    """What the card says, as HTML."""
    return code_spans(card_words(exercise, mistake))
