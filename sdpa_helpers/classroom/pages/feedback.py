"""The feedback page of one submission: what passed, which mistake was made, how to go on."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from sdpa_helpers.checking.card.render import code_spans
from sdpa_helpers.grading.result import (
    Graded,
    GradedCase,
    GradedExercise,
    GradedNotebook,
    GradedWords,
    ShownMark,
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
    """What the page shows of one case."""

    name: str
    label: str
    css: str
    message: str
    """Without what the exercise's own note says already."""


@dataclass(frozen=True)
class ShownExercise:
    """What the page shows of one exercise: a note about all of it, and then its cases or its mark."""

    graded: Graded
    note: str = ""
    """The mistake, or the message that all cases have in common."""
    cases: tuple[ShownCase, ...] = ()
    mark: ShownMark | None = None
    cap: str = ""
    """What a named mistake costs, or ""."""


def feedback_page(result: GradedNotebook) -> str:
    """The page as HTML. Everything that came from a submission is escaped."""
    return _template().render(
        result=result,
        exercises=[_exercise(graded) for graded in result.exercises],
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


def _exercise(graded: Graded) -> ShownExercise:
    """What the template shows of an exercise. A sentence that holds for several cases is shown once."""
    if isinstance(graded, GradedWords):
        return ShownExercise(graded, "" if graded.mark else graded.case.message, mark=graded.mark)
    messages, cap = {case.message for case in graded.cases}, _cap(graded)
    if graded.failed:
        return ShownExercise(
            graded, messages.pop(), tuple(_case(replace(c, message=""), "") for c in graded.cases)
        )
    if len(messages) == 1 and (alike := messages.pop()):
        return ShownExercise(graded, alike, cap=cap)
    said = {mistake.name: mistake.says for mistake in graded.mistakes}
    cases = tuple(_case(c, said.get(c.diagnosis, "")) for c in graded.cases)
    return ShownExercise(graded, _in_words(graded), cases, cap=cap)


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
    return ShownCase(case.case, label, css, message)
