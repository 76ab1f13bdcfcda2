"""The class report: what an instructor opens before the next session.

`summarise` counts, `class_page` shows. Names and messages come from outside: the template escapes everything.
"""

import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from pathlib import Path
from statistics import median
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sdpa_helpers.checking.card.render import code_spans
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.classroom.pages.equal_to_solution import FEWEST, LONG_ENOUGH, SHARE, Answered, count_equal
from sdpa_helpers.classroom.pages.flag_kinds import meaning_of
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.grading.result import (
    INSTRUCTOR,
    Graded,
    GradedExercise,
    GradedNotebook,
    GradedWords,
    NamedMistake,
    is_untouched,
)

MAX_BARS = 12
"""Beside the one for all points; more kinds of points than this are put into ranges."""


@dataclass
class Misconception:
    """One known wrong answer, and who gave it."""

    notebook: str
    exercise: str
    name: str
    says: str
    section: str
    by_instructor: bool
    """Whether it is a sentence of names.toml."""
    learners: list[str] = field(default_factory=list)


@dataclass
class UnknownAnswer:
    """A wrong answer that several learners gave and nobody has named."""

    notebook: str
    exercise: str
    digest: str
    """`unknown` in the results of these learners."""
    learners: list[str] = field(default_factory=list)


@dataclass
class ExerciseSummary:
    """How one exercise went.

    points: one entry per learner who tried; failed: case → how many failed it; waiting: whose answer in words
    nobody has read yet, and which therefore has no points.
    """

    name: str
    title: str
    max_points: float
    points: list[float] = field(default_factory=list)
    not_attempted: list[str] = field(default_factory=list)
    failed: Counter = field(default_factory=Counter)
    waiting: list[str] = field(default_factory=list)
    failed_on: list[str] = field(default_factory=list)
    """Whose answer the grader itself failed on, and who therefore have no points."""

    @property
    def hardest(self) -> list[tuple[str, int]]:
        """The cases that most learners failed, or criteria that they did not meet; at most three."""
        return self.failed.most_common(3)


@dataclass
class NotebookSummary:
    """How one notebook went. points: one entry per learner with a mark; nothing: who did not hand it in."""

    name: str
    exercises: dict[str, ExerciseSummary]
    max_points: float = 0.0
    points: list[float] = field(default_factory=list)
    nothing: list[str] = field(default_factory=list)
    no_mark: list[str] = field(default_factory=list)
    """Who handed it in and has no mark: it is unreadable, or the grader itself failed."""
    troubled: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def in_short(self) -> str:
        """Median and extremes in words."""
        if not self.points:
            nobody = "nobody handed it in"
            return (
                f"{_count(len(self.no_mark), 'learner')} handed it in, without a mark"
                if self.no_mark
                else nobody
            )
        full = sum(p == self.max_points for p in self.points)
        waiting = sum(len(e.waiting) for e in self.exercises.values())
        unread = f"; {_count(waiting, 'answer')} in words not read yet" if waiting else ""
        middle = median(self.points)
        half = "all" if middle == self.max_points else f"{middle:g} or more"
        without = f", {len(self.no_mark)} without a mark" if self.no_mark else ""
        whom = "of the others" if without else "of them"
        return (
            f"{_count(len(self.points) + len(self.no_mark), 'learner')} handed it in{without}; half {whom} earned "
            f"{half} of {self.max_points:g} points; {full} earned all{unread}"
        )


@dataclass
class ClassSummary:
    """The whole class."""

    learners: set[str] = field(default_factory=set)
    notebooks: dict[str, NotebookSummary] = field(default_factory=dict)
    misconceptions: list[Misconception] = field(default_factory=list)
    unknown: list[UnknownAnswer] = field(default_factory=list)
    flags: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    answered: dict[str, Answered] = field(default_factory=dict)
    """By learner: how many answers are equal to handed-out ones."""

    @property
    def equal(self) -> list[Answered]:
        """Learners most of whose answers that can tell are equal to handed-out ones; most of them first."""
        listed = (a for a in self.answered.values() if a.listed)
        return sorted(listed, key=lambda a: (-len(a.equal), a.student))


# ---- counting ---------------------------------------------------------------------------------------------


def summarise(results: Iterable[GradedNotebook]) -> ClassSummary:
    """Count a class's results; they are taken one at a time."""
    whole = ClassSummary()
    shown: dict[tuple[str, str, str], Misconception] = {}
    unknown: dict[tuple[str, str, str], UnknownAnswer] = {}
    for result in results:
        student, notebook = result.student, result.notebook
        if notebook not in LESSONS:
            continue
        whole.learners.add(student)
        summary = whole.notebooks.setdefault(notebook, NotebookSummary(notebook, {}))
        summary.max_points = max(summary.max_points, result.max_points)
        for flag in result.flags:
            whole.flags.setdefault(flag.kind, []).append((student, notebook, flag.message))
        if result.status == "missing":
            summary.nothing.append(student)
        else:
            if result.no_mark:
                summary.no_mark.append(student)
            else:
                summary.points.append(result.points)
            if result.status != "graded":
                summary.troubled.append((student, result.status, result.reason))
        if result.status in ("missing", "unreadable"):
            continue
        count_equal(whole.answered, result)
        known = {e.name: e for e in exercises_of(notebook)}
        for graded in result.exercises:
            _add(summary, student, graded)
            exercise = known.get(graded.name)
            if exercise is None or not isinstance(graded, GradedExercise):
                continue
            for mistake in graded.mistakes:
                key = (notebook, graded.name, mistake.name)
                shown.setdefault(key, _misconception(exercise, mistake)).learners.append(student)
            if graded.unknown and not graded.mistakes and not is_untouched(graded):
                key = (notebook, graded.name, graded.unknown)
                unknown.setdefault(key, UnknownAnswer(*key)).learners.append(student)
    whole.notebooks = {n: whole.notebooks[n] for n in LESSONS if n in whole.notebooks}
    order = list(LESSONS)
    whole.misconceptions = sorted(
        shown.values(), key=lambda m: (-len(m.learners), order.index(m.notebook), m.exercise, m.name)
    )
    whole.unknown = sorted(
        (u for u in unknown.values() if len(u.learners) > 1),
        key=lambda u: (-len(u.learners), order.index(u.notebook), u.exercise, u.digest),
    )
    return whole


def _add(summary: NotebookSummary, student: str, graded: Graded) -> None:
    fresh = ExerciseSummary(graded.name, graded.title, graded.max_points)
    exercise = summary.exercises.setdefault(graded.name, fresh)
    if graded.failed:
        exercise.failed_on.append(student)
    elif is_untouched(graded):
        exercise.not_attempted.append(student)
    elif isinstance(graded, GradedWords):
        if graded.waits:
            exercise.waiting.append(student)
            return
        exercise.points.append(graded.points)
        criteria = graded.mark.criteria if graded.mark else ()
        exercise.failed.update(c.asks for c in criteria if not c.given)
    else:
        exercise.points.append(graded.points)
        exercise.failed.update(case.case for case in graded.cases if not case.passed)


def _misconception(exercise: Exercise, mistake: NamedMistake) -> Misconception:
    section = next((w.section for w in exercise.wrong if w.name == mistake.name), "") or exercise.section
    said = (mistake.name, mistake.says, section, mistake.by == INSTRUCTOR)
    return Misconception(exercise.lesson, exercise.name, *said)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


# ---- showing ----------------------------------------------------------------------------------------------


def class_page(summary: ClassSummary, folder: ResultsFolder) -> str:
    """The page as HTML, to be written into `folder`: its links lead from there to feedback pages and lessons."""
    return (
        environment()
        .get_template("class.html")
        .render(
            summary=summary,
            run=shlex.quote(str(folder.path)),
            lesson=lambda notebook, section="": _lesson_link(folder.path, notebook, section),
            feedback=folder.feedback_link,
            histogram=histogram,
            count=_count,
            meaning_of=meaning_of,
            equal_when=(LONG_ENOUGH, FEWEST, round(100 * SHARE)),
            cockpit=folder.cockpit_page.name if folder.cockpit_page.is_file() else "",
            similar=folder.similar_page.name if folder.similar_page.is_file() else "",
        )
    )


@cache
def environment() -> Environment:
    """Templates that escape what they are given."""
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    made = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["marked"] = lambda text: Markup(code_spans(text))  # escapes, then sets `code`
    return made


def _lesson_link(here: Path, notebook: str, section: str) -> str:
    try:
        path = os.path.relpath(course_root() / "notebooks" / f"{notebook}.ipynb", here.resolve())
    except (FileNotFoundError, ValueError):  # no lessons beside the package, or on another drive
        path = f"{notebook}.ipynb"
    anchor = f"#{quote(section.replace(' ', '-'))}" if section else ""
    return quote(path.replace(os.sep, "/")) + anchor


def bars(exercise: ExerciseSummary) -> list[tuple[str, int]]:
    """(label, number of learners): a bar for each number of points, or for ranges of them, and one for all points.

    Where somebody has half points a range reaches up to its second number, and does not hold it.
    """
    most, whole = exercise.max_points, all(p == int(p) for p in exercise.points)
    step = ceil(most / MAX_BARS) or 1
    below = Counter(int(p // step) for p in exercise.points if p < most)
    starts = range(0, ceil(most), step)
    ends = [min(start + step, ceil(most)) - whole for start in starts]
    labels = [f"{s}" if s == e else f"{s}–{e}" for s, e in zip(starts, ends, strict=True)]
    everything = sum(p >= most for p in exercise.points)
    return [*((label, below[i]) for i, label in enumerate(labels)), (f"{most:g}", everything)]


def histogram(exercise: ExerciseSummary) -> Markup:
    """Learners by points as SVG: readable without colour, and in words for who does not see it."""
    drawn = bars(exercise)
    tallest = max((number for _, number in drawn), default=0) or 1
    step = 34 if max(len(label) for label, _ in drawn) < 4 else 44
    width, height = step * len(drawn), 96
    words = ", ".join(f"{_count(n, 'learner')} at {label}" for label, n in drawn if n) or "nobody tried it"
    label_of_all = f"{exercise.name}: {words}, of {exercise.max_points:g} points"
    parts = []
    for i, (label, number) in enumerate(drawn):
        tall = round(60 * number / tallest, 1)
        middle = i * step + step / 2
        css = "full" if i == len(drawn) - 1 else "part"
        parts.append(
            f'<rect class="{css}" x="{i * step + 4}" y="{76 - tall}" width="{step - 8}" height="{tall}"/>'
        )
        if number:
            parts.append(f'<text x="{middle}" y="{72 - tall}">{number}</text>')
        parts.append(f'<text class="axis" x="{middle}" y="91">{label}</text>')
    return Markup(
        '<svg viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">'
        '<line class="ground" x1="0" x2="{}" y1="76.5" y2="76.5"/>'
    ).format(width, height, width, height, re.sub(r"\s+", " ", label_of_all), width) + Markup(
        "".join(parts) + "</svg>"
    )
