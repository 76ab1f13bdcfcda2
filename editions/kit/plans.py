"""The plans to teach by, with computed minutes: a lesson's are those of its cells, an exercise's are its own.

In class a lesson takes the minutes of its short and of the long way, as its head says them, and two more for each of
the kit's questions; a short takes its own.
every row is rounded up to five minutes. What a day has left over is its reserve.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat

from editions.kit.words import words_of
from sdpa_helpers.classroom.course_map import title_of
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS, exercises_of, find
from sdpa_helpers.course.tracks import sizes_of, story_minutes, whole_minutes

HERE = Path(__file__).parent
MINUTES_A_QUESTION_IS_DISCUSSED = 2
ROUNDED_TO = 5
MOST_HOMEWORK = 60
"""Minutes of homework for one lesson."""
HARDEST_HOMEWORK = 3


class DoesNotFit(ValueError):
    """A day of a plan is shorter than its rows."""


@dataclass(frozen=True)
class PlanRow:
    """One part of a day."""

    starts: str
    minutes: int
    what: str
    """In Markdown."""
    kind: str
    """lesson, short, do, pause or talk."""


@dataclass(frozen=True)
class Homework:
    """What is done at home after a day."""

    lesson: str
    exercises: tuple[str, ...]
    minutes: int


@dataclass(frozen=True)
class Day:
    """A day, or a session, of a plan."""

    name: str
    starts: str
    ends: str
    rows: tuple[PlanRow, ...]
    reserve: int
    """Minutes that are left over."""
    homework: tuple[Homework, ...] = ()

    def minutes_of(self, *kinds: str) -> int:
        """The minutes of all rows of these kinds."""
        return sum(row.minutes for row in self.rows if row.kind in kinds)


@dataclass(frozen=True)
class Plan:
    """A way through the course."""

    name: str
    title: str
    for_whom: str
    days: tuple[Day, ...]


def plans() -> tuple[Plan, ...]:
    """All plans, computed from the lessons as they are stored. DoesNotFit names the day that is too short."""
    read = tomllib.loads((HERE / "plans.toml").read_text(encoding="utf-8"))
    return tuple(
        Plan(
            name,
            plan["title"],
            plan["for_whom"],
            tuple(_day(day, plan.get("homework", False)) for day in plan["days"]),
        )
        for name, plan in read.items()
    )


def short_minutes(lesson: str) -> int:
    """The minutes of a lesson's short, as its head says them."""
    return whole_minutes(sizes_of(_cells(lesson))["short"])


def minutes_in_class(lesson: str) -> int:
    """Its story, and the discussion of the kit's questions."""
    words = words_of(lesson)
    asked = len(words.questions if words else ())
    return story_minutes(_cells(lesson)) + MINUTES_A_QUESTION_IS_DISCUSSED * asked


def _cells(lesson: str) -> list[Any]:
    return nbformat.read(course_root() / "notebooks" / f"{lesson}.ipynb", as_version=4).cells


def homework_of(lesson: str, done: Sequence[str]) -> Homework:
    """Exercises of a lesson for an hour at home: the central ones, then those of medium difficulty at most that fit."""
    words = words_of(lesson)
    central = words.central if words else ()
    open_to = [exercise for exercise in exercises_of(lesson) if exercise.name not in done]
    first = [exercise for exercise in open_to if exercise.name in central]
    then = [e for e in open_to if e.name not in central and e.difficulty <= HARDEST_HOMEWORK]
    taken, total = set(), 0
    for exercise in (*first, *then):
        if total + exercise.minutes <= MOST_HOMEWORK:
            taken.add(exercise.name)
            total += exercise.minutes
    return Homework(lesson, tuple(e.name for e in open_to if e.name in taken), total)


def _day(day: Mapping[str, Any], with_homework: bool) -> Day:
    now, end = _time(day["starts"]), _time(day["ends"])
    rows = []
    for row in day["rows"]:
        minutes, what = _read_row(row)
        rounded = math.ceil(minutes / ROUNDED_TO) * ROUNDED_TO
        rows.append(PlanRow(f"{now:%H:%M}", rounded, what, next(iter(row))))
        now += timedelta(minutes=rounded)
    reserve = (end - now) // timedelta(minutes=1)
    if reserve < 0:
        raise DoesNotFit(f"{day['name']}: its rows need {-reserve} minutes more than there are")
    done = [name for row in day["rows"] for name in row.get("do", ())]
    lessons = [row["lesson"] for row in day["rows"] if row.get("lesson") in LESSONS] if with_homework else ()
    homework = tuple(homework_of(lesson, done) for lesson in lessons)
    return Day(day["name"], day["starts"], day["ends"], tuple(rows), reserve, homework)


def _read_row(row: Mapping[str, Any]) -> tuple[int, str]:
    """(minutes before rounding, what happens)."""
    if lesson := row.get("lesson"):
        return minutes_in_class(lesson), f"[{title_of(lesson)}]({lesson}.md)"
    if lesson := row.get("short"):
        return short_minutes(lesson), f"The short of [{title_of(lesson)}]({lesson}.md)"
    if names := row.get("do"):
        minutes = sum(find(name).minutes for name in names)
        return minutes, f"Exercise{'s'[: len(names) - 1]}: " + ", ".join(f"`{name}`" for name in names)
    if "pause" in row:
        return row["pause"], row.get("what", "Break")
    return row["talk"], row["for"]


def _time(text: str) -> datetime:
    return datetime.strptime(text, "%H:%M")
