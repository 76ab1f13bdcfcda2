"""The room's one file, SQLite: what came in is written there before it is answered, so that nothing is lost."""

import json
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from sdpa_helpers.classroom.room.lines import Event
from sdpa_helpers.classroom.room.names import new_name
from sdpa_helpers.course.attempts import Attempt

TABLES = """
create table if not exists settings (name text primary key, value text not null);
create table if not exists learners (who text primary key, name text unique not null);
create table if not exists events (number integer primary key, time real not null, name text not null,
    kind text not null, what text not null, option integer not null, stage text not null, attempt text not null);
create unique index if not exists once on events (name, attempt) where kind = 'check';
"""
KEY_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""None that looks like another."""


class NotARoom(Exception):
    """The file is none of ours; the text says so."""


class Store:
    """The file, for several threads."""

    def __init__(self, path: Path) -> None:
        self.lock = threading.Lock()
        try:
            self.base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self.base.execute("pragma journal_mode=wal")
            self.base.execute("pragma synchronous=normal")
            self.base.executescript(TABLES)
            self.key = self._setting("key", "".join(secrets.choice(KEY_LETTERS) for _ in range(10)))
        except sqlite3.Error as error:
            raise NotARoom(f"{path} cannot be used as a room's file: {error}") from None
        self.learners: dict[str, str] = dict(self.base.execute("select who, name from learners"))

    def join(self) -> tuple[str, str]:
        """A place: (what the learner is known by, the name)."""
        with self.lock:
            who, name = secrets.token_urlsafe(16), new_name(set(self.learners.values()))
            self.base.execute("insert into learners values (?, ?)", (who, name))
            self.learners[who] = name
        return who, name

    def keep(self, event: Event) -> bool:
        """Write it down; False where the same line was sent before."""
        attempt = event.attempt.line() if event.attempt else ""
        row = (event.time, event.who, event.kind, event.what, event.option, event.stage, attempt)
        with self.lock:
            fields = "time, name, kind, what, option, stage, attempt"
            done = self.base.execute(f"insert or ignore into events ({fields}) values (?,?,?,?,?,?,?)", row)
            return done.rowcount > 0

    def events(self) -> Iterator[Event]:
        """All there are, the oldest first."""
        rows = self.base.execute(
            "select time, name, kind, what, option, attempt, stage from events order by number"
        )
        for *plain, attempt, stage in rows:
            yield Event(*plain, attempt=_attempt(attempt), stage=stage)

    def close(self) -> None:
        """Leave the file to others."""
        with self.lock:
            self.base.close()

    def _setting(self, name: str, first: str) -> str:
        self.base.execute("insert or ignore into settings values (?, ?)", (name, first))
        return self.base.execute("select value from settings where name = ?", (name,)).fetchone()[0]


def _attempt(line: str) -> Attempt | None:
    if not line:
        return None
    kept = json.loads(line)
    return Attempt(**{**kept, "mistakes": tuple(kept["mistakes"])})
