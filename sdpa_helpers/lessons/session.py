"""What a learner calls in a notebook: `check(f)`, `hint(f)`, `solution(f)`, `progress()`."""

import html
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass

from sdpa_helpers.checking.diagnose import Result, try_out
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.render import Hint, Shown, card, code_spans, report_text
from sdpa_helpers.checking.rules import forbidden_calls
from sdpa_helpers.checking.shrink import Small, example_of
from sdpa_helpers.lessons import saved
from sdpa_helpers.lessons.progress import ProgressTable
from sdpa_helpers.lessons.registry import LESSONS, all_exercises, exercises_of, find, written_of

_mistakes: dict[str, str] = {}  # exercise -> the mistake that its last check found
_hints_shown: dict[str, int] = {}


def check(function: Callable, *, keep: bool = True) -> "CheckReport":
    """Try `function` on every case of the exercise that has its name, and say which mistake was made.

    Returns an object that shows itself in a notebook and prints as text; its `.passed` and `.points` are
    there for scripts. keep=False tries without counting it in `progress()`. Errors: LookupError when no
    exercise has the function's name.
    """
    exercise = _exercise_of(function)
    result = try_out(exercise, function)
    _mistakes[exercise.name] = result.mistake
    if keep:
        saved.keep(exercise.name, result.points)
    small = example_of(result, function)
    report = CheckReport(result, _forbidden_in(function, exercise), _next_hint(exercise), small)
    if os.environ.get("NBGRADER_EXECUTION") and not report.passed:
        raise AssertionError(report.text())  # nbgrader reads an exception as "no points"
    return report


def hint(function: Callable | str) -> Shown:
    """The next hint: first those for the mistake that `check` found, then the exercise's own three."""
    exercise = _exercise_of(function)
    given = _next_hint(exercise)
    _hints_shown[exercise.name] = given.number
    left = given.of - given.number
    more = f"{left} more: run this cell again" if left else "the last one"
    return Note(f"{exercise.name}: hint {given.number} of {given.of} ({more})", given.text, folds=True)


def solution(function: Callable | str) -> Shown:
    """One right answer, as source text. Read it after you tried: the comparison is where the learning is."""
    exercise = _exercise_of(function)
    return Note(f"{exercise.name}: one right answer", inspect.getsource(exercise.reference), is_code=True)


def progress() -> Shown:
    """The whole course: points per exercise, kept across sessions, and where to go next."""
    points = saved.load()
    rows = [(lesson, e, points.get(e.name)) for lesson in LESSONS for e in exercises_of(lesson)]
    return ProgressTable(rows, {lesson: written_of(lesson) for lesson in LESSONS})


def _next_hint(exercise: Exercise) -> Hint:
    mistake = _mistakes.get(exercise.name, "")
    special = next((w.hints for w in exercise.wrong if w.name == mistake), ())
    hints = (*special, *exercise.hints)
    shown = min(_hints_shown.get(exercise.name, 0), len(hints) - 1)
    return Hint(shown + 1, len(hints), hints[shown])


def _exercise_of(function: Callable | str) -> Exercise:
    if isinstance(function, str):
        return find(function)
    name = getattr(function, "__name__", None)
    if name is None:
        raise LookupError(
            f"check needs the function itself, e.g. check(dot_product), but got a {type(function).__name__}. "
            f"There are exercises for: {', '.join(all_exercises())}"
        )
    return find(name)


def _forbidden_in(function: Callable, exercise: Exercise) -> list[str]:
    try:
        given = getattr(function, "__globals__", {})
        return forbidden_calls(inspect.getsource(function), exercise.forbids, given)
    except (OSError, TypeError):  # defined where no source is kept
        return []


@dataclass(frozen=True, repr=False)
class CheckReport(Shown):
    """The verdict on one exercise, case by case."""

    result: Result
    forbidden: list[str]
    next_hint: Hint | None = None
    small: Small | None = None
    """An example of what is wrong."""

    @property
    def passed(self) -> bool:
        """True when every case passed."""
        return self.result.passed

    @property
    def points(self) -> float:
        """Points earned."""
        return self.result.points

    def text(self) -> str:
        """The report as plain text."""
        return report_text(self.result, self.forbidden, self.small)

    def html(self) -> str:
        """The report as a card."""
        return card(self.result, self.forbidden, self.next_hint, self.small)


@dataclass(frozen=True, repr=False)
class Note(Shown):
    """A heading and a text."""

    heading: str
    body: str
    is_code: bool = False
    folds: bool = False

    def text(self) -> str:
        """The note as plain text."""
        return f"{self.heading}\n\n{self.body}"

    def html(self) -> str:
        """The note as HTML."""
        body = f"<pre>{html.escape(self.body)}</pre>" if self.is_code else f"<p>{code_spans(self.body)}</p>"
        heading = f"<strong>{html.escape(self.heading)}</strong>"
        if self.folds:
            return f"<details open><summary>{heading}</summary>{body}</details>"
        return f"<p>{heading}</p>{body}"
