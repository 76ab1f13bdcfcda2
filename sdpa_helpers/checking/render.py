"""Show a result: as text that reads well anywhere, as a card in a notebook."""

import html
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from sdpa_helpers.checking.diagnose import Explained, Result

_LABEL = {"passed": "passed", "failed": "failed", "error": "error", "not-attempted": "open"}
_MARK = {"passed": "✓", "failed": "✗", "error": "✗", "not-attempted": "○", "missing": "○"}
_EDGE = {"passed": "#009e73", "failed": "#d55e00", "error": "#d55e00", "not-attempted": "#808080"}


class Shown(ABC):
    """Something that shows itself in a notebook (HTML) and prints as text."""

    @abstractmethod
    def text(self) -> str:
        """Plain text."""

    @abstractmethod
    def html(self) -> str:
        """HTML that needs no style sheet."""

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}


def report_text(result: Result, forbidden: list[str]) -> str:
    """The verdict on one exercise as plain text."""
    lines = [_headline(result)]
    if result.attempted:
        for case in result.cases:
            lines.append(f"  {_LABEL[case.verdict.status]:<7} {case.verdict.case}")
            lines += [f"          {text}" for text in _sentences(case, result)]
    lines += _closing(result, forbidden)
    return "\n".join(lines)


def card(result: Result, forbidden: list[str], next_hint: "Hint | None" = None) -> str:
    """The verdict on one exercise as an HTML card: readable in light and dark, and without its styles too."""
    exercise = result.exercise
    state = "passed" if result.passed else "failed" if result.attempted else "not-attempted"
    about = f"difficulty {exercise.difficulty} of 5, about {exercise.minutes} minutes"
    parts = [
        f"<p style='margin:4px 0'><strong>{_MARK[state]} {html.escape(_headline(result))}</strong> · {about}</p>"
    ]
    for label, text in _remarks(result, forbidden):
        parts.append(f"<p style='margin:4px 0'><strong>{label}</strong>: {code_spans(text)}</p>")
    if result.attempted:
        rows = "".join(_row(case, result) for case in result.cases)
        parts.append(f"<ul style='margin:4px 0;list-style:none;padding-left:4px'>{rows}</ul>")
    if not result.attempted:
        parts.append(
            "<p style='margin:4px 0'>Write your answer in the cell above, run it, then check again.</p>"
        )
    if next_hint and not result.passed:
        more = f"More hints, one at a time: <code>hint({html.escape(exercise.name)})</code>"
        parts.append(
            f"<details style='margin:6px 0'><summary>Stuck? Open hint {next_hint.number} of {next_hint.of}</summary>"
            f"<p style='margin:4px 0'>{code_spans(next_hint.text)}</p><p style='margin:4px 0'>{more}</p></details>"
        )
    return f"<div style='border-left:6px solid {_EDGE[state]};padding:4px 14px;margin:4px 0'>{''.join(parts)}</div>"


@dataclass(frozen=True)
class Hint:
    """One hint of several."""

    number: int
    of: int
    text: str


def bar(part: float, whole: float, width: int = 10) -> str:
    """How much is done, as text: ▰▰▰▰▱▱▱▱▱▱. Full only when all is done, empty only when nothing is."""
    filled = int(width * part / whole) if whole else 0
    if part > 0:
        filled = max(filled, 1)
    return "▰" * filled + "▱" * (width - filled)


def code_spans(text: str) -> str:
    """Text as HTML: escaped, with `code` between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _headline(result: Result) -> str:
    exercise = result.exercise
    if not result.attempted:
        return f"{exercise.name}: not attempted yet (worth {exercise.max_points:g} points)"
    state = "all cases passed, " if result.passed else ""
    return f"{exercise.name}: {state}{result.points:g} of {exercise.max_points:g} points"


def _sentences(case: Explained, result: Result) -> list[str]:
    """What is said of a failed case. A mistake that explains several cases is shown once, and named at the end."""
    if case.verdict.passed:
        return []
    compare = f" ({case.verdict.compare})" if case.verdict.compare else ""
    seen = f"seen: {case.verdict.seen}{compare}"
    if case.diagnosis in {m.name for m in result.mistakes}:
        first = next(c for c in result.cases if c.diagnosis == case.diagnosis)
        return [seen] if case is first else []
    return [seen, f"meant: {case.means}"] if case.means else [seen]


def _row(case: Explained, result: Result) -> str:
    status = case.verdict.status
    label = f"{_MARK[status]} <strong>{_LABEL[status]}</strong>: {html.escape(case.verdict.case)}"
    items = "".join(f"<li>{code_spans(text)}</li>" for text in _sentences(case, result))
    return f"<li>{label}{f'<ul>{items}</ul>' if items else ''}</li>"


def _remarks(result: Result, forbidden: list[str]) -> list[tuple[str, str]]:
    """What is said about all cases together: the mistake's name and meaning, calls that are not allowed."""
    remarks = []
    for mistake in result.mistakes:
        remarks.append((f"Diagnosis ({mistake.name})", mistake.says))
    if result.pattern:
        remarks.append(("Pattern", result.pattern))
    if forbidden:
        advice = f"{', '.join(forbidden)}. Write the steps yourself; a grader flags this."
        remarks.append(("Not allowed here", advice))
    return remarks


def _closing(result: Result, forbidden: list[str]) -> list[str]:
    lines = [f"  {label}: {text}" for label, text in _remarks(result, forbidden)]
    if not result.attempted:
        lines.append(
            f"  Write your answer in the cell above, run it, then check again. Stuck? hint({result.exercise.name})"
        )
    elif not result.passed:
        lines.append(f"  Stuck? hint({result.exercise.name}) gives the next hint.")
    return lines
