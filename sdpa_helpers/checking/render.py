"""Show a result: as text that reads well anywhere, as a card in a notebook.

What is wrong comes first, then one example that can be checked by hand, then the cases.
"""

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from sdpa_helpers.checking import side_by_side, wording
from sdpa_helpers.checking.diagnose import Result
from sdpa_helpers.checking.markup import code_spans
from sdpa_helpers.checking.shrink import Small
from sdpa_helpers.checking.wording import Finding, Seen, shortened

_MARK = {"passed": "✓", "failed": "✗", "forbidden": "⚠", "not-attempted": "○"}
_EDGE = {"passed": "#009e73", "failed": "#d55e00", "forbidden": "#e69f00", "not-attempted": "#808080"}
_OPEN = "Write your answer in the cell above, run it, then check again."
_BY_YOURSELF = "Write these steps yourself: they are what the exercise is about."


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


@dataclass(frozen=True)
class Hint:
    """One hint of several."""

    number: int
    of: int
    text: str


def report_text(
    result: Result, forbidden: Sequence[str] = (), small: Small | None = None, remarks: Sequence[str] = ()
) -> str:
    """The verdict on one exercise as plain text. `small`: an example to show; `remarks`: what to say before all."""
    lines = [wording.headline(result, forbidden)]
    lines += [f"  Note: {shortened(remark)}" for remark in remarks[: wording.MOST]]
    if not result.attempted:
        lines.append(f"  {_OPEN} Stuck? hint({result.exercise.name})")
        return "\n".join(lines)
    if forbidden:
        lines.append(f"  {_BY_YOURSELF}")
    found = wording.findings(result)
    lines += ["  Two things:"] if len(found) > 1 else []
    for number, finding in enumerate(found, 1):
        lines.append(f"  {f'{number}. ' if len(found) > 1 else ''}{_finding_text(finding)}")
        lines += [f"    {finding.line}"] if finding.line else []
    if small is not None:
        lines += [f"  {line}" for line in side_by_side.as_text(result.exercise, small)]
    for seen in wording.seen_in_cases(result):
        lines.append(f"  {_mark(seen)} {seen.cases}{seen.names and f' ({seen.names})'}: {seen.text}")
        lines += [f"      {text}" for text in _explaining(seen)]
    passed = wording.passed_cases(result)
    if passed:
        lines.append(f"  ✓ {len(passed)} of {len(result.cases)} cases passed: {'; '.join(passed)}")
    if not result.passed:
        lines.append(f"  Stuck? hint({result.exercise.name}) gives the next hint.")
    return "\n".join(lines)


def card(
    result: Result,
    forbidden: Sequence[str] = (),
    next_hint: "Hint | None" = None,
    small: Small | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """The verdict on one exercise as an HTML card: readable in light and dark, and without its styles too."""
    exercise, state = result.exercise, wording.state_of(result, forbidden)
    about = f"difficulty {exercise.difficulty} of 5, about {exercise.minutes} minutes"
    title = f"<strong>{_MARK[state]} {html.escape(wording.headline(result, forbidden))}</strong>"
    parts = [_paragraph(f"{title} · {about}")]
    parts += [
        _paragraph(f"<strong>Note</strong>: {code_spans(shortened(r))}") for r in remarks[: wording.MOST]
    ]
    if not result.attempted:
        parts.append(_paragraph(_OPEN))
    else:
        parts += [_paragraph(_BY_YOURSELF)] if forbidden else []
        parts += [_findings(wording.findings(result))]
        parts += [_example(result, small)] if small is not None else []
        parts += [_cases(result)]
    if next_hint and not result.passed:
        more = f"More hints, one at a time: <code>hint({html.escape(exercise.name)})</code>"
        fold = f"{_paragraph(code_spans(next_hint.text))}{_paragraph(more)}"
        parts.append(_fold(f"Stuck? Open hint {next_hint.number} of {next_hint.of}", fold))
    style = f"border-left:6px solid {_EDGE[state]};padding:4px 14px;margin:4px 0;max-width:46rem"
    return f"<div style='{style}'>{''.join(parts)}</div>"


def bar(part: float, whole: float, width: int = 10) -> str:
    """How much is done, as text: ▰▰▰▰▱▱▱▱▱▱. Full only when all is done, empty only when nothing is."""
    filled = int(width * part / whole) if whole else 0
    if part > 0:
        filled = max(filled, 1)
    return "▰" * filled + "▱" * (width - filled)


# ---- parts ---------------------------------------------------------------------------------------------------


def _finding_text(finding: Finding) -> str:
    label = f"{finding.label}, {finding.where}" if finding.where else finding.label
    return f"{label}: {finding.says}" if finding.says else f"{label}."


def _explaining(seen: Seen) -> list[str]:
    return [text for text in (seen.means, f"This case is about: {seen.about}" if seen.about else "") if text]


def _mark(seen: Seen) -> str:
    return "✗" if seen.was_run else "○"


_OPEN_ROWS = 4
"""Failed cases that are seen without opening a fold; one more where it would hide only that one."""
_LIST = "margin:4px 0;padding-left:1.2em"
_PLAIN_LIST = "margin:4px 0;list-style:none;padding-left:0"


def _paragraph(inside: str) -> str:
    return f"<p style='margin:5px 0'>{inside}</p>"


def _fold(summary: str, inside: str) -> str:
    return f"<details style='margin:6px 0'><summary>{html.escape(summary)}</summary>{inside}</details>"


def _findings(found: list[Finding]) -> str:
    items = [_finding_html(finding) for finding in found]
    if len(items) < 2:
        return "".join(map(_paragraph, items))
    listed = "".join(f"<li style='margin:3px 0'>{item}</li>" for item in items)
    return f"{_paragraph('<strong>Two things:</strong>')}<ol style='{_LIST}'>{listed}</ol>"


def _finding_html(finding: Finding) -> str:
    where = f", {finding.where}" if finding.where else ""
    says = f": {code_spans(finding.says)}" if finding.says else "."
    line = f"<br>{code_spans(finding.line)}" if finding.line else ""
    return f"<strong>{html.escape(finding.label)}</strong>{where}{says}{line}"


def _example(result: Result, small: Small) -> str:
    shown = side_by_side.as_html(result.exercise, small)
    return (
        f"{_paragraph('<strong>For example</strong>')}<div style='margin:0 0 8px'>{shown}</div>"
        if shown
        else ""
    )


def _cases(result: Result) -> str:
    rows = [_row(seen) for seen in wording.seen_in_cases(result)]
    shown = rows if len(rows) <= _OPEN_ROWS + 1 else rows[:_OPEN_ROWS]
    parts = [f"<ul style='{_PLAIN_LIST}'>{''.join(shown)}</ul>"] if rows else []
    if len(shown) < len(rows):
        rest = f"<ul style='{_PLAIN_LIST}'>{''.join(rows[len(shown) :])}</ul>"
        parts.append(_fold(f"and {len(rows) - len(shown)} more that failed", rest))
    passed = wording.passed_cases(result)
    listed = "".join(f"<li>{html.escape(name)}</li>" for name in passed)
    if passed:
        summary = f"{len(passed)} of {len(result.cases)} cases passed"
        parts.append(_fold(summary, f"<ul style='{_LIST};list-style:none'>{listed}</ul>"))
    return "".join(parts)


def _row(seen: Seen) -> str:
    mark = f"<span style='display:inline-block;width:1.3em;margin-left:-1.3em'>{_mark(seen)}</span>"
    label = f"{mark}<strong>{seen.cases}</strong>{seen.names and f' ({html.escape(seen.names)})'}"
    more = "".join(f"<div>{code_spans(text)}</div>" for text in _explaining(seen))
    style = "margin:3px 0;padding-left:1.3em;overflow-wrap:anywhere"
    return f"<li style='{style}'>{label}: {code_spans(seen.text)}{more}</li>"
