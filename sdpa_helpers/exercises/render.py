"""Show a result: as text that reads well anywhere, as a card in a notebook."""

import html
import re
from abc import ABC, abstractmethod

from sdpa_helpers.exercises.diagnose import Explained, Result

_LABEL = {"passed": "passed", "failed": "failed", "error": "error", "not-attempted": "open"}
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
            lines += [f"          {text}" for text in _told(case, result)]
    lines += _closing(result, forbidden)
    return "\n".join(lines)


def card(result: Result, forbidden: list[str]) -> str:
    """The verdict on one exercise as an HTML card: readable in light and dark themes."""
    state = "passed" if result.passed else "failed" if result.attempted else "not-attempted"
    rows = ""
    if result.attempted:
        for case in result.cases:
            told = "".join(f"<br>{marked(text)}" for text in _told(case, result))
            label = _LABEL[case.verdict.status]
            rows += f"<li><strong>{label}</strong>: {html.escape(case.verdict.case)}{told}</li>"
    closing = "".join(
        f"<p style='margin:4px 0'>{marked(text.strip())}</p>" for text in _closing(result, forbidden)
    )
    return (
        f"<div style='border-left:6px solid {_EDGE[state]};padding:6px 12px'>"
        f"<p style='margin:4px 0'><strong>{html.escape(_headline(result))}</strong></p>"
        f"<ul style='margin:4px 0'>{rows}</ul>{closing}</div>"
    )


def marked(text: str) -> str:
    """Text as HTML: escaped, with `code` between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def _headline(result: Result) -> str:
    exercise = result.exercise
    if not result.attempted:
        return f"{exercise.name}: not attempted yet (worth {exercise.max_points:g} points)"
    state = "all cases passed, " if result.passed else ""
    return f"{exercise.name}: {state}{result.points:g} of {exercise.max_points:g} points"


def _told(case: Explained, result: Result) -> list[str]:
    """What a failed case tells. A mistake that explains several cases is shown once, and named at the end."""
    if case.verdict.passed:
        return []
    compare = f" ({case.verdict.compare})" if case.verdict.compare else ""
    seen = f"seen: {case.verdict.seen}{compare}"
    if result.mistake and case.diagnosis == result.mistake:
        first = next(c for c in result.cases if c.diagnosis == result.mistake)
        return [seen] if case is first else []
    return [seen, f"meant: {case.means}"] if case.means else [seen]


def _closing(result: Result, forbidden: list[str]) -> list[str]:
    lines = []
    if result.mistake:
        wrong = next(w for w in result.exercise.wrong if w.name == result.mistake)
        lines.append(f"  Diagnosis ({wrong.name}): {wrong.says}")
    if forbidden:
        lines.append(
            f"  Not allowed here: {', '.join(forbidden)}. Write the steps yourself; a grader flags this."
        )
    if not result.attempted:
        lines.append(
            f"  Write your answer in the cell above, run it, then check again. Stuck? hint({result.exercise.name})"
        )
    elif not result.passed:
        lines.append(f"  Stuck? hint({result.exercise.name}) gives the next hint.")
    return lines
