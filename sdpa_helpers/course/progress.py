"""The whole course at a glance: points per lesson and exercise, predictions, and where to go next."""

import html
from dataclasses import dataclass, field
from itertools import groupby

from sdpa_helpers.checking.card.card_style import styled
from sdpa_helpers.checking.card.render import Shown, World, bar, framed, worlds_html
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.written_exercise import WrittenExercise
from sdpa_helpers.course.foresight import Foresight, in_words
from sdpa_helpers.course.my_attention import FILE
from sdpa_helpers.course.onward import lesson_at, place_of
from sdpa_helpers.course.registry import sheet_of
from sdpa_helpers.course.worlds_won import won_of
from sdpa_helpers.head.won import can_now

Row = tuple[str, Exercise, float | None]
"""(lesson, exercise, best points, or None when it was not tried)."""

READ = "read by a person"
NOTHING_WON = "Each is won by an exercise: the first by every query against every key, in lesson 01."


@dataclass(frozen=True, repr=False)
class ProgressTable(Shown):
    """Points per exercise, in the order of the course."""

    rows: list[Row]
    written: dict[str, tuple[WrittenExercise, ...]] = field(default_factory=dict)
    """Lesson → what is answered in words there; a person reads it, so it has no points here."""
    foresight: dict[str, Foresight] = field(default_factory=dict)
    """Lesson → what came of the learner's predictions there."""
    own: tuple[str, ...] = ()
    """The functions in the learner's my_attention.py."""
    worlds: tuple[World, ...] = ()
    """Those that the learner's attention survives, and those ahead."""
    spent: str = ""
    """A sentence on the time spent, or ""."""

    def text(self) -> str:
        """The table as plain text."""
        lines = [*filter(None, (self._worlds(), can_now(won_of(self.worlds)))), ""]
        for lesson, rows in self._lessons():
            earned, total = _sum(rows)
            foreseen = f", {self.foresight[lesson]}" if lesson in self.foresight else ""
            lines.append(f"{bar(earned, total)}  {lesson:<20} {earned:g} of {total:g} points{foreseen}")
            lines += [f"{_mark(e, points):>14} {e.name:<28} {_state(e, points)}" for _, e, points in rows]
            lines += [f"{'✎':>14} {w.name:<28} {READ}" for w in self.written.get(lesson, ())]
        told = " ".join(filter(None, (in_words(self.foresight), self._own(), self.spent)))
        return "\n".join([*lines, "", self._total(), *([told] if told else []), self._next()])

    def html(self) -> str:
        """The same as a card: how far you are, what is next, a row per lesson with its exercises behind a fold."""
        coming = self._coming()
        is_next = coming[0] if coming else ""
        rows = "".join(
            self._lesson(lesson, rows, is_open=lesson == is_next) for lesson, rows in self._lessons()
        )
        earned, total = _sum(self.rows)
        can = can_now(won_of(self.worlds)) or NOTHING_WON
        won = f"<div class='wide'><strong>{self._worlds()}</strong>{worlds_html(self.worlds)}<div>{can}</div></div>"
        top = f"<div class='top'>{_ring(earned, total)}{won}{self._way_on()}</div>"
        told = " ".join(filter(None, (self._total(), in_words(self.foresight), self._own(), self.spent)))
        below = f"<p class='about'>{told}</p>"
        listed = f"{top}<ul class='plain lessons'>{rows}</ul>{below}"
        return styled(framed(listed, "not-attempted" if coming else "passed"))

    def _lesson(self, lesson: str, rows: list[Row], *, is_open: bool) -> str:
        """One lesson: its name, how much of it is done as a bar and in words, its exercises."""
        written = self.written.get(lesson, ())
        earned, total = _sum(rows)
        solved = sum(_is_done(e, points) for _, e, points in rows)
        foreseen = f" · {self.foresight[lesson]}" if lesson in self.foresight else ""
        summary = f"{solved} of {len(rows)} solved, {earned:g} of {total:g} points{foreseen}"
        listed = "".join(
            f"<li><span class='mark'>{_mark(e, points)}</span>{_link(place_of(lesson, e.name), e.name)} "
            f"<span class='quiet'>{_state(e, points)}{_minutes(e, points)}</span></li>"
            for _, e, points in rows
        ) + "".join(
            f"<li><span class='mark'>✎</span>{_link(place_of(lesson, w.name), w.name)} "
            f"<span class='quiet'>{READ}, about {w.minutes} minutes</span></li>"
            for w in written
        )
        start = "<details open>" if is_open else "<details>"
        folded = f"{start}<summary>{summary}</summary><ul class='plain'>{listed}</ul></details>"
        name = (
            f"<div class='lesson'>{_link(lesson_at(lesson), f'{lesson[:2]} {sheet_of(lesson).title}')}</div>"
        )
        return f"<li class='row'>{name}{_bar(earned, total)}{folded}</li>"

    def _way_on(self) -> str:
        coming = self._coming()
        if coming is None:
            return "<strong>Every exercise is solved.</strong>"
        lesson, exercise = coming
        told = f"next: {exercise.name} <span class='quiet'>about {exercise.minutes} minutes</span>&nbsp;→"
        return f"<a class='next' href='{place_of(lesson, exercise.name)}'>{told}</a>"

    def _lessons(self) -> list[tuple[str, list[Row]]]:
        return [(lesson, list(rows)) for lesson, rows in groupby(self.rows, key=lambda row: row[0])]

    def _total(self) -> str:
        earned, total = _sum(self.rows)
        return f"{earned:g} of {total:g} points."

    def _worlds(self) -> str:
        won = sum(world.is_won for world in self.worlds)
        return f"Your attention survives {won} of {len(self.worlds)} worlds." if self.worlds else ""

    def _own(self) -> str:
        if not self.own:
            return ""
        functions = f"{len(self.own)} of your functions" if len(self.own) > 1 else "one of your functions"
        return f"{FILE} holds {functions}."

    def _coming(self) -> tuple[str, Exercise] | None:
        return next(((lesson, e) for lesson, e, points in self.rows if not _is_done(e, points)), None)

    def _next(self) -> str:
        coming = self._coming()
        if coming is None:
            return "Every exercise is solved."
        lesson, exercise = coming
        return f"Next: {exercise.name}, about {exercise.minutes} minutes, in exercises/{lesson}.ipynb"


def _sum(rows: list[Row]) -> tuple[float, float]:
    return sum(points or 0 for *_, points in rows), sum(e.max_points for _, e, _ in rows)


def _state(exercise: Exercise, points: float | None) -> str:
    return "not tried yet" if points is None else f"{points:g} of {exercise.max_points:g}"


def _mark(exercise: Exercise, points: float | None) -> str:
    return "○" if points is None else "✓" if _is_done(exercise, points) else "◐"


def _is_done(exercise: Exercise, points: float | None) -> bool:
    return (points or 0) >= exercise.max_points


def _minutes(exercise: Exercise, points: float | None) -> str:
    """How long it takes, while it is not done."""
    return "" if _is_done(exercise, points) else f", about {exercise.minutes} minutes"


def _percent(earned: float, total: float) -> int:
    """Drawn length: full only when all is done, empty only when nothing is."""
    return 0 if earned <= 0 else min(max(round(100 * earned / total), 3), 100 if earned >= total else 97)


def _bar(earned: float, total: float) -> str:
    part = _percent(earned, total)
    return f"<div class='bar' aria-hidden='true'><div style='width:{part}%'></div></div>"


def _ring(earned: float, total: float) -> str:
    part = _percent(earned, total)
    return f"<div class='ring' aria-hidden='true' style='--part:{part}%'></div>"


def _link(href: str, text: str) -> str:
    return f"<a href='{href}'>{html.escape(text)}</a>"
