"""The whole course at a glance: points per lesson and exercise, and where to go next."""

import html
from dataclasses import dataclass, field
from itertools import groupby

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.render import Shown, bar
from sdpa_helpers.checking.written_exercise import WrittenExercise

READ = "read by a person"
_LEFT = "style='text-align:left;vertical-align:top'"


@dataclass(frozen=True, repr=False)
class ProgressTable(Shown):
    """Points per exercise, in the order of the course."""

    rows: list[tuple[str, Exercise, float | None]]
    """(lesson, exercise, best points, or None when it was not tried)."""
    written: dict[str, tuple[WrittenExercise, ...]] = field(default_factory=dict)
    """Lesson → what is answered in words there; a person reads it, so it has no points here."""

    def text(self) -> str:
        """The table as plain text."""
        lines = []
        for lesson, rows in self._lessons():
            earned, total = _sum(rows)
            lines.append(f"{bar(earned, total)}  {lesson:<20} {earned:g} of {total:g} points")
            lines += [f"{_mark(e, points):>14} {e.name:<28} {_state(e, points)}" for _, e, points in rows]
            lines += [f"{'✎':>14} {w.name:<28} {READ}" for w in self.written.get(lesson, ())]
        return "\n".join([*lines, "", self._total(), self._next()])

    def html(self) -> str:
        """The table as HTML: a row per lesson, its exercises behind a fold. Links lead from all three folders."""
        coming = self._coming()
        body = ""
        for lesson, rows in self._lessons():
            earned, total = _sum(rows)
            cells = (
                _link("notebooks", lesson, lesson),
                f"<span aria-hidden='true'>{bar(earned, total)}</span> {earned:g} of {total:g} points",
                _exercises(
                    lesson, rows, self.written.get(lesson, ()), is_open=bool(coming) and coming[0] == lesson
                ),
            )
            body += f"<tr>{''.join(f'<td {_LEFT}>{cell}</td>' for cell in cells)}</tr>"
        head = "".join(
            f"<th scope='col' {_LEFT}>{name}</th>" for name in ("lesson", "your best", "exercises")
        )
        following = html.escape(self._next())
        if coming:
            place = f"exercises/{coming[0]}.ipynb"
            following = following.replace(place, _link("exercises", coming[0], place))
        return (
            f"<table style='margin:4px 0'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{self._total()}<br><strong>{following}</strong></p>"
        )

    def _lessons(self) -> list[tuple[str, list[tuple[str, Exercise, float | None]]]]:
        return [(lesson, list(rows)) for lesson, rows in groupby(self.rows, key=lambda row: row[0])]

    def _total(self) -> str:
        earned, total = _sum(self.rows)
        minutes = sum(e.minutes for _, e, points in self.rows if (points or 0) < e.max_points)
        left = f" About {minutes} minutes of exercises are left." if minutes else ""
        return f"{earned:g} of {total:g} points.{left}"

    def _coming(self) -> tuple[str, Exercise] | None:
        return next(((lesson, e) for lesson, e, points in self.rows if (points or 0) < e.max_points), None)

    def _next(self) -> str:
        coming = self._coming()
        if coming is None:
            return "Every exercise is solved."
        lesson, exercise = coming
        return f"Next: {exercise.name}, about {exercise.minutes} minutes, in exercises/{lesson}.ipynb"


def _exercises(
    lesson: str,
    rows: list[tuple[str, Exercise, float | None]],
    written: tuple[WrittenExercise, ...],
    is_open: bool,
) -> str:
    done = sum((points or 0) >= e.max_points for _, e, points in rows)
    listed = "".join(
        f"<li>{_mark(e, points)} <code>{e.name}</code>: {_state(e, points)}, about {e.minutes} minutes</li>"
        for _, e, points in rows
    ) + "".join(f"<li>✎ <code>{w.name}</code>: {READ}, about {w.minutes} minutes</li>" for w in written)
    return (
        f"<details{' open' if is_open else ''}><summary>{done} of {len(rows)} solved</summary>"
        f"<ul style='list-style:none;padding-left:4px;margin:4px 0'>{listed}</ul></details>"
        f"{_link('exercises', lesson, 'open the exercises')}"
    )


def _sum(rows: list[tuple[str, Exercise, float | None]]) -> tuple[float, float]:
    return sum(points or 0 for *_, points in rows), sum(e.max_points for _, e, _ in rows)


def _state(exercise: Exercise, points: float | None) -> str:
    return "not tried yet" if points is None else f"{points:g} of {exercise.max_points:g}"


def _mark(exercise: Exercise, points: float | None) -> str:
    return "○" if points is None else "✓" if points >= exercise.max_points else "◐"


def _link(folder: str, lesson: str, text: str) -> str:
    return f"<a href='../{folder}/{lesson}.ipynb'>{html.escape(text)}</a>"
