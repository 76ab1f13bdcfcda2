"""Logs as files bring them: tables of `sdpa attempts --csv`, a learner each, and the file of a room."""

import calendar
import csv
import io
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from sdpa_helpers.classroom.room.lines import Event
from sdpa_helpers.classroom.room.store import NotARoom, Store
from sdpa_helpers.classroom.room.tally import Tally
from sdpa_helpers.classroom.teaching.findings import Heard
from sdpa_helpers.classroom.teaching.material import Log
from sdpa_helpers.course.attempts import Attempt, as_csv, parsed
from sdpa_helpers.grading.refusal import Refusal

MOST_BYTES = 2 * 1024 * 1024
"""Of a table: the log itself is an eighth of that."""
HEADER = as_csv([]).strip().split(",")


def heard(tables: Iterable[Path], rooms: Iterable[Path]) -> Heard:
    """All of them together. A log that is there twice counts once: as a room's, or as the first table's."""
    of_rooms = [of_room(path) for path in rooms]
    logs = [log for room in of_rooms for log in room.logs] + [of_table(path) for path in tables]
    rounds = {question: votes for room in of_rooms for question, votes in (room.rounds or {}).items()}
    kept: list[Log] = []
    seen: set[tuple[object, ...]] = set()
    for log in filter(None, logs):
        keys = {_key(attempt) for attempt in log}
        if 2 * len(keys & seen) < len(keys):
            kept.append(log)
        seen |= keys
    return Heard(tuple(kept), rounds)


def of_table(path: Path) -> Log:
    """The log of one learner. Lines that `sdpa attempts` cannot have written are left out."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} cannot be read as a table: {error}") from None
    if len(data) > MOST_BYTES:
        raise Refusal(f"{path} is larger than any log of this course")
    table = csv.reader(io.StringIO(text, newline=""))
    try:
        if next(table, []) != HEADER:
            raise Refusal(
                f"{path} is no table of `sdpa attempts --csv`: its first line is not {','.join(HEADER)}"
            )
        return tuple(attempt for row in table if (attempt := _attempt(row)))
    except csv.Error as error:
        raise Refusal(f"{path} cannot be read as a table: {error}") from None


def of_room(path: Path) -> Heard:
    """What learners did in a room, and its votes."""
    tally, logs = Tally(), defaultdict[str, list[Attempt]](list)
    for event in events_of(path):
        tally.add(event)
        if event.kind == "check" and event.attempt:
            logs[event.who].append(event.attempt)
    # Names are drawn anew in each room: "blue heron" of Monday isn't that of Tuesday.
    return Heard(tuple(map(tuple, logs.values())), dict(tally.rounds))


def events_of(path: Path) -> Iterator[Event]:
    """All that came into a room, the oldest first."""
    _refuse_what_is_no_room(path)
    try:
        store = Store(path)
    except NotARoom as error:
        raise Refusal(str(error)) from None
    try:
        yield from store.events()
    finally:
        store.close()


def _refuse_what_is_no_room(path: Path) -> None:
    """Before it's opened as one, which would make a room of any database."""
    if not path.is_file():
        raise Refusal(f"there is no file {path}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            base.execute("select time, name, kind, what, option, stage, attempt from events limit 1")
    except sqlite3.Error as error:
        raise Refusal(f"{path} is not the file of a room: {error}") from None


def _attempt(row: list[str]) -> Attempt | None:
    """As the log's own reader takes it: what it refuses in a line it refuses in a row."""
    if len(row) != len(HEADER):
        return None
    when, exercise, points, of, mistakes, tries, minutes, option = row
    try:
        line = {
            "time": calendar.timegm(time.strptime(when, "%Y-%m-%dT%H:%M:%SZ")),
            "exercise": exercise,
            "points": float(points),
            "max": float(of),
            "mistakes": mistakes.split(),
            "tries": int(tries),
        }
        if minutes:
            line["minutes"] = float(minutes)
        if option:
            line["option"] = int(option)
        return parsed(json.dumps(line).encode())
    except (ValueError, OverflowError):
        return None


def _key(attempt: Attempt) -> tuple[object, ...]:
    return int(attempt.time), attempt.exercise, attempt.points, attempt.tries
