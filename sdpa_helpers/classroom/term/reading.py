"""Reading a table of TOML: each error names the file, the line and the key, what was expected and what came."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, overload

from sdpa_helpers.grading.refusal import Refusal

_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w-]+)\s*=""")


class BadTerm(Refusal):
    """The policy cannot be read; the text says where, what was expected and what came."""


@dataclass(frozen=True)
class Table:
    """A table, or the whole file."""

    path: Path
    text: str
    holds: dict[str, Any]
    place: tuple[str, ...] = ()
    """The names of the tables that lead to it."""

    def only(self, *known: str) -> None:
        """Refuse keys that nobody reads: a slip would change nothing, and nobody would know."""
        for key in self.holds:
            if key not in known:
                near = get_close_matches(key, known, 1, 0.5)
                expected = f"{near[0]}" if near else f"one of {', '.join(known)}"
                raise self._bad(key, expected, "a key that is none")

    def table(self, key: str) -> "Table":
        """The table with this name; an empty one where there is none."""
        found = self.holds.get(key, {})
        if not isinstance(found, dict):
            raise self._bad(key, "a table", found)
        return Table(self.path, self.text, found, (*self.place, key))

    def tables(self, key: str) -> "dict[str, Table]":
        """The tables in the table with this name."""
        outer = self.table(key)
        return {name: outer.table(name) for name in outer.holds}

    @overload
    def number(
        self, key: str, default: float, *, least: float, most: float = ..., whole: bool = ...
    ) -> float: ...
    @overload
    def number(
        self, key: str, default: None, *, least: float, most: float = ..., whole: bool = ...
    ) -> float | None: ...
    def number(
        self,
        key: str,
        default: float | None,
        *,
        least: float,
        most: float = float("inf"),
        whole: bool = False,
    ) -> float | None:
        """A number in these bounds."""
        if key not in self.holds:
            return default
        found = self.holds[key]
        fits = isinstance(found, int) if whole else isinstance(found, int | float)
        if not fits or isinstance(found, bool) or not least <= found <= most or found == float("inf"):
            bounds = f"from {least:g} to {most:g}" if most < float("inf") else f"of {least:g} or more"
            raise self._bad(key, f"a {'whole ' if whole else ''}number {bounds}", found)
        return found

    def choice(self, key: str, default: str, known: Iterable[str]) -> str:
        """One of these words."""
        found = self.holds.get(key, default)
        if found not in known:
            raise self._bad(key, " or ".join(f'"{word}"' for word in known), found)
        return found

    def time(self, key: str) -> datetime | None:
        """A moment; without a zone it is in this machine's."""
        found = self.holds.get(key)
        if found is None:
            return None
        try:
            moment = datetime.fromisoformat(found) if isinstance(found, str) else found
            if not isinstance(moment, datetime):
                raise ValueError
            return moment.astimezone() if moment.tzinfo is None else moment
        except (ValueError, OverflowError):
            raise self._bad(key, "a date with a time, e.g. 2026-05-01T23:59:00+02:00", found) from None

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        found = self.holds.get(key, [])
        if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
            raise self._bad(key, "a list of texts", found)
        return tuple(found)

    def names(self, key: str, known: Iterable[str]) -> None:
        """Refuse names in a list or table that are none of these."""
        for name in self.holds.get(key, ()):
            if name not in known:
                raise self._bad(key, f"homeworks among {', '.join(known) or 'none'}", name)

    def _bad(self, key: str, expected: str, came: object) -> BadTerm:
        where = f"{self.path}, line {line_of(self.text, (*self.place, key))}"
        shown = came if isinstance(came, str) and came == "a key that is none" else repr(came)
        return BadTerm(f"{where}, {'.'.join((*self.place, key))}: expected {expected}, got {shown}")


def line_of(text: str, place: tuple[str, ...]) -> int:
    """The line of a key or the head of a table; of what stands inside a line, that line."""
    at: tuple[str, ...] = ()
    best, found = 0, 1
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            at = _names(line)
            here = at
        elif match := _KEY.match(line):
            here = (*at, match[1].strip("\"'"))
        else:
            continue
        if len(here) > best and here == place[: len(here)]:
            best, found = len(here), number
    return found


def _names(head: str) -> tuple[str, ...]:
    """The names in a line as [learner."Ada Lovelace"]."""
    try:
        inner, names = tomllib.loads(head), []
    except tomllib.TOMLDecodeError:
        return ()
    while isinstance(inner, dict) and inner:
        ((name, inner),) = inner.items()
        names.append(name)
    return tuple(names)
