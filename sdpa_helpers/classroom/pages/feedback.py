"""The feedback page of one submission: what is still to do, which mistake was made, how to go on; then what passed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from sdpa_helpers.checking.card.render import code_spans
from sdpa_helpers.grading.result import (
    INSTRUCTOR,
    Graded,
    GradedCase,
    GradedExercise,
    GradedNotebook,
    GradedWords,
    ShownMark,
    is_untouched,
)

_LABELS = {"passed": "passed", "failed": "not yet", "error": "error", "not-attempted": "not attempted",
           "grader-failed": "not marked"}  # fmt: skip
_ABOUT_STATUS = {
    "timeout": "Something in this notebook did not finish in time. What was earned before it counts.",
    "out-of-memory": "Something in this notebook needed more memory than allowed. The rest was graded.",
    "kernel-died": "Something in this notebook ended its run: the Python process ended, or far more was printed "
    "than can be read. What could be graded without it was.",
}


@dataclass(frozen=True)
class ShownCase:
    """What the page shows of one case, or of several of which the same is to be said."""

    names: tuple[str, ...]
    label: str
    css: str
    message: str
    """Without what the exercise's own note says already."""


@dataclass(frozen=True)
class ShownLine:
    """A line of the learner's own answer."""

    number: int
    text: str
    marked: bool
    """Whether what is said names it."""


@dataclass(frozen=True)
class ShownExercise:
    """What the page shows of one exercise: a note about all of it, and then its cases or its mark."""

    graded: Graded
    note: str = ""
    """The mistake, or the message that all cases have in common."""
    cases: tuple[ShownCase, ...] = ()
    """Those that are still to do."""
    passed: tuple[str, ...] = ()
    """The names of the others."""
    mark: ShownMark | None = None
    cap: str = ""
    """What a named mistake costs, or ""."""
    by_instructor: bool = False
    """Whether the note is the instructor's, for an answer that the course has no name for."""
    code: tuple[ShownLine, ...] = ()
    """The learner's answer, where something is to be done about it."""
    said_above: str = ""
    """The exercise whose note says the same, where one above does."""

    @property
    def done(self) -> bool:
        """Whether a line is enough: code that earned all it could, with nothing to be said."""
        whole = all(case.passed for case in self.graded.cases)
        return (
            isinstance(self.graded, GradedExercise)
            and whole
            and not (self.note or self.cap or self.graded.mark)
        )

    @property
    def rank(self) -> int:
        """Its place on the page: what failed, what nobody has tried or read, what earned all of its points."""
        if self.done:
            return 2
        tried = any(case.css == "failed" for case in self.cases) or self.graded.points > 0
        return 0 if tried or (self.note and not is_untouched(self.graded)) else 1


def feedback_page(result: GradedNotebook) -> str:
    """The page as HTML. Everything that came from a submission is escaped."""
    shown = [_exercise(graded, result.answers) for graded in result.exercises]
    ordered = sorted(shown, key=lambda one: one.rank)  # else in the notebook's order
    return _template().render(
        result=result,
        exercises=_each_note_once(one for one in ordered if not one.done),
        done=[one for one in ordered if one.done],
        about_status=_ABOUT_STATUS.get(result.status, ""),
        unread=sum(words.max_points for words in result.words if words.waits),
        no_mark=sum(graded.max_points for graded in result.exercises if graded.failed),
    )


@cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["marked"] = lambda text: Markup(code_spans(text))  # escapes, then sets `code`
    return environment.get_template("feedback.html")


def _exercise(graded: Graded, answers: Mapping[str, str]) -> ShownExercise:
    """What the template shows of an exercise. A sentence that holds for several cases is shown once."""
    if isinstance(graded, GradedWords):
        return ShownExercise(graded, "" if graded.mark else graded.case.message, mark=graded.mark)
    messages, cap = {case.message for case in graded.cases}, _cap(graded)
    code = _own_lines(answers.get(graded.name, ""), messages) if graded.points < graded.max_points else ()
    if graded.failed:
        cases = tuple(_case(replace(c, message=""), "") for c in graded.cases)
        return ShownExercise(graded, messages.pop(), cases)
    by_instructor = any(mistake.by == INSTRUCTOR for mistake in graded.mistakes)
    if len(messages) == 1 and (alike := messages.pop()) and not by_instructor:
        return ShownExercise(graded, alike, cap=cap, code=code if not is_untouched(graded) else ())
    said = {mistake.name: mistake.says for mistake in graded.mistakes}
    cases = _together(_case(c, said.get(c.diagnosis, "")) for c in graded.cases if not c.passed)
    passed = tuple(c.case for c in graded.cases if c.passed)
    note = _in_words(graded)
    code = _own_lines(answers.get(graded.name, ""), [*messages, note]) if code else ()
    return ShownExercise(graded, note, cases, passed, cap=cap, by_instructor=by_instructor, code=code)


def _each_note_once(exercises: Iterable[ShownExercise]) -> Iterator[ShownExercise]:
    """The same, where a note that stands above is only referred to."""
    above: dict[str, str] = {}
    for one in exercises:
        first = above.setdefault(one.note, one.graded.name) if len(one.note) >= _LONG else one.graded.name
        yield one if first == one.graded.name else replace(one, said_above=first)


_LONG = 60
"""Characters of a note from which it is worth looking it up."""


def _together(cases: Iterable[ShownCase]) -> tuple[ShownCase, ...]:
    """The cases of which the same is said as one, where the first of them stands."""
    found: dict[tuple[str, str, str], ShownCase] = {}
    for one in cases:
        key = (one.label, one.css, one.message)
        found[key] = replace(one, names=(*found[key].names, *one.names)) if key in found else one
    return tuple(found.values())


_LINE = re.compile(r"\bline (\d{1,4})\b(?:: `([^`]*)`)?")


def _own_lines(answer: str, told: Iterable[str]) -> tuple[ShownLine, ...]:
    """The answer by lines, with those marked that are named by number, and quoted as they stand there."""
    lines = answer.rstrip().split("\n") if answer.strip() else []
    named = {(int(m[1]), m[2]) for text in told for m in _LINE.finditer(text)}
    marked = {
        n
        for n, quoted in named
        if 0 < n <= len(lines) and (not quoted or lines[n - 1].strip().startswith(quoted))
    }
    return tuple(ShownLine(n, line, n in marked) for n, line in enumerate(lines, 1))


def _cap(graded: GradedExercise) -> str:
    if graded.before_cap is None:
        return ""
    return (
        f"The mistake has a name, and an answer that makes it earns at most {graded.points:g} of these "
        f"{graded.max_points:g} points. Its cases alone came to {graded.before_cap:g}."
    )


def _in_words(graded: GradedExercise) -> str:
    """The mistakes together, or what the numbers show."""
    if len(graded.mistakes) < 2:
        return graded.mistakes[0].says if graded.mistakes else graded.pattern
    first, second = (f"{mistake.says} (Seen in: {', '.join(mistake.cases)}.)" for mistake in graded.mistakes)
    return f"Two things. {first} And: {second}"


def _case(case: GradedCase, says: str) -> ShownCase:
    label = _LABELS.get(case.status, case.status.replace("-", " "))
    not_there = case.status in ("not-attempted", "missing", "grader-failed")
    css = "passed" if case.passed else "open" if not_there else "failed"
    message = case.message.removesuffix(says).strip() if says else case.message
    return ShownCase((case.case,), label, css, message)
