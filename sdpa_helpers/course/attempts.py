"""A log of what was tried, a line each, beside the points of `saved`: for progress(), and for a room that one joined.

A line has what the fields of `Attempt` say: no code, no numbers that a function returned, no names of people. Nothing
here may disturb a check: where the log cannot be written there is none.
"""

import contextlib
import csv
import io
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sdpa_helpers.course import saved

FILE, EARLIER = "attempts.jsonl", "attempts.earlier.jsonl"
MOST_BYTES = 128 * 1024
"""Of each of the two files. A line has some 130, so a thousand checks fit, which is more than the course has; and a
browser, which writes a file as a whole, does that in no time."""
PAUSE = 30.0
"""Minutes: who was away for longer wasn't at work."""
NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}(/[A-Za-z0-9_.-]{1,80})?")
MOST_MISTAKES = 3
KEY = re.compile(r"[0-9a-f]{12}")
"""Of an answer: a hash of what came back, which nobody can read anything from."""


@dataclass(frozen=True)
class Attempt:
    """One check, or the first answer to a prediction."""

    time: float
    """Seconds since 1970, in UTC."""
    exercise: str
    """E.g. "softmax"; of a prediction its lesson too, "03_softmax/one_score_rises"."""
    points: float
    max: float
    mistakes: tuple[str, ...] = ()
    """Their names, as the card tells them."""
    tries: int = 1
    """How many of this exercise there are in the log, with this one."""
    minutes: float | None = None
    """Since the line before, whatever that was about; None in the first."""
    option: int | None = None
    """Of a prediction: which answer was chosen, from 0; −1: asked to be shown. None in a check."""
    answer: str | None = None
    """Of a check that failed for no known reason: twelve letters, the same for all that return the same."""

    @property
    def green(self) -> bool:
        """Whether nothing is left to do."""
        return self.points >= self.max

    @property
    def worked(self) -> float:
        """Minutes that went into it, as far as the log can know."""
        return self.minutes if self.minutes is not None and self.minutes <= PAUSE else 0.0

    def line(self) -> str:
        """As JSON, without a line's end."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return json.dumps(known, separators=(",", ":"))


def log(
    exercise: str,
    points: float,
    of: float,
    mistakes: Iterable[str] = (),
    option: int | None = None,
    answer: str = "",
) -> Attempt | None:
    """Append a line; None where that could not be."""
    folder, now = saved.home(), time.time()
    told = tuple(name for name in mistakes if NAME.fullmatch(name))[:MOST_MISTAKES]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        last, tries = _before(folder, exercise)
        minutes = None if last is None else round(max(now - last, 0) / 60, 1)
        done = Attempt(round(now, 1), exercise, points, of, told, tries + 1, minutes, option, answer or None)
        with (folder / FILE).open("ab") as file:  # one write at the end: two kernels' lines don't mix
            file.write(f"{done.line()}\n".encode())
            full = file.tell() > MOST_BYTES
        if full:
            _rotate(folder)
    except OSError:
        return None
    return done


def read() -> list[Attempt]:
    """All that is there, the oldest first; lines that we did not write are left out."""
    lines = [line for name in (EARLIER, FILE) for line in _bytes(saved.home() / name).split(b"\n")]
    return [attempt for line in lines if (attempt := parsed(line))]


def parsed(line: bytes) -> Attempt | None:
    """An attempt from its line; None where it is none."""
    try:
        kept = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(kept, dict) or not _is_ours(kept):
        return None
    kept["mistakes"] = tuple(kept["mistakes"])
    return Attempt(**kept)


def as_csv(attempts: Iterable[Attempt]) -> str:
    """A table for a spreadsheet: time in UTC, mistakes with spaces between them."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["time", "exercise", "points", "max", "mistakes", "tries", "minutes", "option"])
    for a in attempts:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(a.time))
        rest = ["" if value is None else value for value in (a.minutes, a.option)]
        table.writerow([when, a.exercise, a.points, a.max, " ".join(a.mistakes), a.tries, *rest])
    return out.getvalue()


def in_words(attempts: Iterable[Attempt]) -> str:
    """A sentence on the time spent; "" until there are some minutes of it."""
    spent, tries = defaultdict[str, float](float), Counter[str]()
    for a in attempts:
        spent[a.exercise] += a.worked
        tries[a.exercise] += a.option is None
    checks, minutes = tries.total(), round(sum(spent.values()))
    if minutes < FEWEST_MINUTES or not checks:
        return ""
    longest = max(tries, key=lambda name: (tries[name] > 0, spent[name]))
    times = "one check" if tries[longest] == 1 else f"{tries[longest]} checks"
    took = f"{longest} took longest, {round(spent[longest])} minutes and {times}"
    return f"{_hours(minutes)} at work, {checks} check{'s' if checks > 1 else ''}; {took}."


FEWEST_MINUTES = 5
"""Less time than that says nothing, and what a notebook stores of progress() stays the same."""


def _hours(minutes: int) -> str:
    hours, rest = divmod(minutes, 60)
    return f"{minutes} minutes" if not hours else f"{hours} h {rest} min"


def _before(folder: Path, exercise: str) -> tuple[float | None, int]:
    """(time of the last line, how often an exercise was tried), without reading more than two lines."""
    kept = _bytes(folder / FILE) or _bytes(folder / EARLIER)
    last = _last_with(kept, b"{")
    mark = f'"exercise":{json.dumps(exercise)}'.encode()
    same = _last_with(kept, mark) or _last_with(_bytes(folder / EARLIER), mark)
    return last.time if last else None, same.tries if same else 0


def _last_with(kept: bytes, mark: bytes) -> Attempt | None:
    at = kept.rfind(mark)
    if at < 0:
        return None
    end = kept.find(b"\n", at)
    return parsed(kept[kept.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(kept)])


def _bytes(path: Path) -> bytes:
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""


def _rotate(folder: Path) -> None:
    """The full file becomes the earlier one. Two kernels don't both do that."""
    with saved.alone(folder):
        if (folder / FILE).stat().st_size > MOST_BYTES:
            (folder / FILE).replace(folder / EARLIER)


def _is_ours(kept: dict[str, Any]) -> bool:
    must, may = {"time", "exercise", "points", "max", "mistakes", "tries"}, {"minutes", "option", "answer"}
    if not must <= set(kept) <= must | may:
        return False
    numbers = [kept[name] for name in ("time", "points", "max", *({"minutes"} & set(kept)))]
    names = kept["mistakes"]
    return (
        all(type(n) in (int, float) and 0 <= n <= MOST for n in numbers)
        and type(kept["tries"]) is int
        and 1 <= kept["tries"] <= MOST
        and kept.get("option", 0) in range(-1, saved.MOST_OPTIONS)
        and type(kept.get("option", 0)) is int
        and isinstance(kept.get("answer", ""), str)
        and KEY.fullmatch(kept.get("answer", "0" * 12)) is not None
        and isinstance(names, list)
        and len(names) <= MOST_MISTAKES
        and all(isinstance(name, str) and NAME.fullmatch(name) for name in [kept["exercise"], *names])
    )


MOST = 1e11
"""More than any number in a line is: a time in the year 5138."""
