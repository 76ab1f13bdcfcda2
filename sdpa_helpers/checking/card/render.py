"""Show a result: as text that reads well anywhere, as a card in a notebook.

What is wrong comes first, then one example that can be checked by hand, then the cases.
"""

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sdpa_helpers.checking.card import side_by_side, wording
from sdpa_helpers.checking.card.highlight import code_html
from sdpa_helpers.checking.card.markup import code_spans
from sdpa_helpers.checking.card.wording import Finding, Seen, shortened
from sdpa_helpers.checking.diagnose import Result
from sdpa_helpers.checking.helping.shrink import Small

_MARK = {"passed": "✓", "failed": "✗", "forbidden": "⚠", "not-attempted": "○"}
OPEN = "Write your answer, run its cell, then check again."
OPEN_WITH_CODE = "Change the code in the cell above, run it, then check again."


class Shown(ABC):
    """Something that shows itself in a notebook (HTML) and prints as text."""

    @abstractmethod
    def text(self) -> str:
        """Plain text."""

    @abstractmethod
    def html(self) -> str:
        """HTML that brings its own style sheet, and reads well without one."""

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


@dataclass(frozen=True)
class Onward:
    """The way on, after a success."""

    text: str
    """E.g. "next: attention_scores"."""
    href: str
    """From the folder of any notebook of the course."""


@dataclass(frozen=True)
class World:
    """A situation in which what the learner has made holds, or doesn't yet."""

    name: str
    about: str
    is_won: bool


@dataclass(frozen=True)
class Helps:
    """What a card offers beside its verdict. Where marks are given there is none of it."""

    hints: tuple[Hint, ...] = ()
    """Those still to come, in their order."""
    solution: str = ""
    """One right answer; "" where this edition has none."""
    onward: Onward | None = None
    consequence: str = ""
    """What the function does where it is used, in a sentence or two."""
    shows: str = ""
    """HTML that shows it, behind that sentence."""
    squares: tuple[tuple[str, bool], ...] = ()
    """Where wrong versions are to be caught: each one's name, and whether it is."""
    worlds: tuple[World, ...] = ()
    """On a card of a success: those that are won, and those still ahead."""


NO_HELPS = Helps()


def report_text(
    result: Result, forbidden: Sequence[str] = (), small: Small | None = None, remarks: Sequence[str] = ()
) -> str:
    """The verdict on one exercise as plain text. `small`: an example to show; `remarks`: what to say before all."""
    lines = [wording.headline(result, forbidden)]
    lines += [f"  Note: {shortened(remark)}" for remark in remarks[: wording.MOST]]
    if not result.attempted:
        lines += [f"  {seen}" for seen in wording.as_it_came(result)]
        lines.append(f"  {_what_to_do(result)} Stuck? hint({result.exercise.name})")
        return "\n".join(lines)
    found = wording.findings(result)
    lines += ["  Two things:"] if len(found) > 1 else []
    for number, finding in enumerate(found, 1):
        lines.append(f"  {f'{number}. ' if len(found) > 1 else ''}{_finding_text(finding)}")
        lines += [f"    {finding.line}"] if finding.line else []
    if small is not None:
        lines += [f"  {line}" for line in side_by_side.as_text(result.exercise, small)]
    lines += [f"  {text}" for text in wording.all_or_nothing(result)]
    for seen in wording.seen_in_cases(result):
        lines.append(f"  {_mark(seen)} {seen.cases}{seen.names and f' ({seen.names})'}: {seen.text}")
        lines += [f"      {text}" for text in (*seen.notes, *_explaining(seen))]
    passed = wording.passed_cases(result)
    if passed:
        lines.append(f"  ✓ {wording.how_many_passed(result)}: {'; '.join(passed)}")
    if not result.passed:
        lines.append(f"  Stuck? hint({result.exercise.name}) gives the next hint.")
    return "\n".join(lines)


def card(
    result: Result,
    forbidden: Sequence[str] = (),
    helps: Helps = NO_HELPS,
    small: Small | None = None,
    remarks: Sequence[str] = (),
    printed: str = "",
) -> str:
    """The verdict on one exercise as an HTML card, without `card_style.styled`: it reads well so, too.

    It is low, so that code and card are seen together: a name, a sentence, an example, one line; all else is folded.
    printed: what the answer printed while it was tried.
    """
    state = wording.state_of(result, forbidden)
    parts = [_head(result, forbidden)]
    parts += [
        _paragraph(f"<strong>Note</strong>: {code_spans(shortened(r))}") for r in remarks[: wording.MOST]
    ]
    if not result.attempted:
        parts += [_paragraph(code_spans(seen)) for seen in wording.as_it_came(result)]
        parts.append(_paragraph(_what_to_do(result)))
    else:
        found = wording.findings(result)
        parts += [_findings(found)]
        parts += [_example(result, small)] if small is not None else []
        parts += [squares_html(helps.squares)] if helps.squares else []
        parts += [_consequence(helps)] if helps.consequence else []
        parts += [worlds_html(helps.worlds)] if state == "passed" and helps.worlds else []
        parts += [_first_case(result, is_told=bool(result.mistakes or small))]
    parts.append(_ways(helps, _cases(result, printed) if result.attempted else "", is_done=state == "passed"))
    return framed("".join(parts), state)


def practice_card(result: Result, small: Small | None, note: str, but: str = "") -> str:
    """The same where no points are at stake: how many cases passed, and `note` in the place of what it is worth.

    but: in the place of what is wrong, where nothing is but what this says.
    """
    state = "forbidden" if but else wording.state_of(result, ())
    what = f"{result.exercise.name}: {wording.how_many_passed(result)}"
    pips = f"<p class='about'>{_pips(result, state)}{code_spans(note)}</p>"
    if but:
        return framed(heading("≈", but) + pips + _cases(result), state)
    parts = [heading(_MARK[state], what), pips]
    parts.append(_findings([replace(finding, where="") for finding in wording.findings(result)]))
    parts += [_example(result, small)] if small is not None else []
    parts += [_first_case(result, is_told=bool(result.mistakes or small)), _cases(result)]
    return framed("".join(parts), state)


def worlds_html(worlds: Sequence[World]) -> str:
    """A row of worlds: a sign and a word each, what it asks for on hover."""
    told = "".join(
        f"<li class='{'won' if one.is_won else 'ahead'}' title='{html.escape(one.about)}'>"
        f"<span aria-hidden='true'>{'✓' if one.is_won else '○'}</span> {html.escape(one.name)}"
        f"<span class='unseen'>{', won' if one.is_won else ', still ahead'}</span></li>"
        for one in worlds
    )
    return f"<ul class='plain worlds'>{told}</ul>"


def squares_html(squares: Sequence[tuple[str, bool]]) -> str:
    """A square for each wrong version: those that are caught fall. Opened, it has their names."""
    caught = [name for name, is_caught in squares if is_caught]
    drawn = "".join(
        f"<i class='caught' title='{html.escape(name)}' style='--i:{number}'></i>"
        if is_caught
        else "<i title='alive'></i>"
        for number, (name, is_caught) in enumerate(squares)
    )
    names = ", ".join(map(html.escape, caught))
    told = f"<p>Caught: {names}.</p>" if caught else "<p>None is caught yet.</p>"
    row = f"<span class='squares' aria-hidden='true'>{drawn}</span>"
    return f"<details class='fall'><summary>{squares_text(squares)} {row}</summary>{told}</details>"


def squares_text(squares: Sequence[tuple[str, bool]]) -> str:
    """ "41 of 55 wrong versions are caught"."""
    return f"{sum(is_caught for _, is_caught in squares)} of {len(squares)} wrong versions are caught"


def worlds_text(worlds: Sequence[World]) -> str:
    """ "Worlds: ✓ find ○ many"."""
    signs = [f"{'✓' if one.is_won else '○'} {one.name}" for one in worlds]
    return f"Worlds: {' '.join(signs)}"


def framed(inside: str, state: wording.State = "not-attempted") -> str:
    """The frame of every card, with the colour of a state."""
    return f"<div class='sdpa-card sdpa-{state}'>{inside}</div>"


def heading(sign: str, text: str, more: str = "") -> str:
    """A card's first line: a sign, what it is about, and HTML at its end."""
    shown = f"<span class='sign'><span class='tick'>{sign}</span></span> <span>{code_spans(text)}</span>"
    return f"<p class='head'><strong>{shown}</strong>{more}</p>"


def hint_buttons(hints: Sequence[Hint]) -> str:
    """Buttons that need no script and no kernel: each opens one hint, and with it the next hint's button."""
    if not hints:
        return ""
    first, rest = hints[0], hints[1:]
    after = f"<div class='ways'>{hint_buttons(rest)}</div>" if rest else ""
    return button(f"Hint {first.number} of {first.of}", _paragraph(code_spans(first.text)) + after)


BUTTON = "<details class='way'>"
"""By this an edition without answers knows stored cards that hold some."""


def button(label: str, inside: str) -> str:
    """A button that opens `inside` below it. label: HTML."""
    return f"{BUTTON}<summary>{label}</summary><div>{inside}</div></details>"


def bar(part: float, whole: float, width: int = 10) -> str:
    """How much is done, as text: ▰▰▰▰▱▱▱▱▱▱. Full only when all is done, empty only when nothing is."""
    filled = int(width * part / whole) if whole else 0
    if part > 0:
        filled = max(filled, 1)
    return "▰" * filled + "▱" * (width - filled)


# ---- parts ---------------------------------------------------------------------------------------------------


def _consequence(helps: Helps) -> str:
    said = code_spans(helps.consequence)
    if not helps.shows:
        return _paragraph(said)
    return f"<details class='seen'><summary>{said}</summary><div>{helps.shows}</div></details>"


def _what_to_do(result: Result) -> str:
    """While nothing is attempted."""
    return OPEN_WITH_CODE if result.exercise.whole else OPEN


def _finding_text(finding: Finding) -> str:
    label = f"{finding.label}, {finding.where}" if finding.where else finding.label
    return f"{label}: {finding.says}" if finding.says else f"{label}."


def _explaining(seen: Seen) -> list[str]:
    about = f"This is about: {seen.about}" if seen.about else ""
    return [text for text in (seen.means, about) if text]


def _mark(seen: Seen) -> str:
    return "✗" if seen.was_run else "○"


def _head(result: Result, forbidden: Sequence[str]) -> str:
    """What came of it; how hard it is and how long it takes only while nothing is tried."""
    exercise, state = result.exercise, wording.state_of(result, forbidden)
    pips = "" if forbidden or state == "not-attempted" else _pips(result, state)
    told = heading(_MARK[state], wording.headline(result, forbidden), pips)
    about = f"Difficulty {exercise.difficulty} of 5, about {exercise.minutes} minutes"
    return told + (f"<p class='about'>{about}</p>" if state == "not-attempted" else "")


def _pips(result: Result, state: wording.State) -> str:
    """A dot for each case, full where it passed: the same as the words say, at a glance."""
    tried = state != "not-attempted"
    kinds = (("right" if c.verdict.passed else "wrong") if tried else "open" for c in result.cases)
    dots = "".join(f"<i class='{kind}'></i>" for kind in kinds)
    return f"<span class='pips' aria-hidden='true'>{dots}</span>"


def _ways(helps: Helps, cases: str, *, is_done: bool) -> str:
    """What was seen, folded, and what to do next: a hint or a right answer, or after a success the way on."""
    ways = [cases] if is_done else [cases, hint_buttons(helps.hints)]
    if is_done and helps.onward:
        onward = helps.onward
        ways.append(
            f"<a class='next' href='{html.escape(onward.href)}'>{html.escape(onward.text)}&nbsp;→</a>"
        )
    if helps.solution:
        label = "Compare with one right answer" if is_done else "Solution"
        ways.append(button(label, code_html(helps.solution)))
    return f"<div class='ways'>{''.join(ways)}</div>" if any(ways) else ""


def _paragraph(inside: str) -> str:
    return f"<p>{inside}</p>"


def _findings(found: list[Finding]) -> str:
    items = [_finding_html(finding, len(found)) for finding in found]
    if len(items) < 2:
        return "".join(map(_paragraph, items))
    return f"<ol>{''.join(f'<li>{item}</li>' for item in items)}</ol>"


def _finding_html(finding: Finding, of: int) -> str:
    where = f", {finding.where}" if finding.where else ""
    first, _ = finding.in_short(of)
    says = f": {code_spans(first)}" if first else "."
    line = f" <span class='line'>{code_spans(finding.line)}</span>" if finding.line else ""
    return f"<strong>{html.escape(finding.label)}</strong>{where}{says}{line}"


def _example(result: Result, small: Small) -> str:
    shown = side_by_side.as_html(result.exercise, small)
    return f"<div class='example'>{shown}</div>" if shown else ""


def _first_case(result: Result, *, is_told: bool) -> str:
    """One case of those that failed, where neither a name nor an example says what is wrong."""
    seen = next(iter(wording.seen_in_cases(result)), None)
    if is_told or seen is None:
        return ""
    label = f"<strong>{seen.cases}</strong>{seen.names and f' ({html.escape(seen.names)})'}"
    return f"<ul class='plain'><li><span class='mark'>{_mark(seen)}</span>{label}: {code_spans(seen.text)}</li></ul>"


def _cases(result: Result, printed: str = "") -> str:
    """Behind one line: the rest of what the names say, what was seen case by case, what was printed."""
    found = wording.findings(result)
    rest = [(finding.label, finding.in_short(len(found))[1]) for finding in found]
    folded = "".join(
        _paragraph(f"<strong>{html.escape(label)}</strong>: {code_spans(more)}")
        for label, more in rest
        if more
    )
    folded += "".join(map(_paragraph, wording.all_or_nothing(result)))
    rows = [_row(seen) for seen in wording.seen_in_cases(result)]
    folded += f"<ul class='plain'>{''.join(rows)}</ul>" if rows else ""
    if passed := wording.passed_cases(result):
        mark = "<span class='mark'>✓</span>" if rows else ""
        listed = "".join(f"<li>{mark}{html.escape(name)}</li>" for name in passed)
        folded += f"<ul class='plain'>{listed}</ul>"
    folded += (
        f"<p>Your function printed:</p><pre class='code'>{html.escape(printed)}</pre>" if printed else ""
    )
    told = _failed(result) if rows else wording.how_many_passed(result)
    told += ", and what it printed" if printed else ""
    return f"<details class='cases'><summary>{html.escape(told)}</summary><div>{folded}</div></details>"


def _failed(result: Result) -> str:
    """ "All 11 cases fail, 6 with an error"."""
    failed = [case.verdict for case in result.cases if not case.verdict.passed]
    errors = sum(verdict.fault == "raised-error" for verdict in failed)
    unit = wording.unit_of(result.exercise)
    every = 1 < len(failed) == len(result.cases)
    many = f"All {len(failed)} {unit}" if every else f"{len(failed)} of {len(result.cases)} {unit}"
    how = "aren't met" if result.exercise.is_made else "fail" if len(failed) > 1 else "fails"
    return f"{many} {how}{f', {errors} with an error' if errors > 0 else ''}"


def _row(seen: Seen) -> str:
    label = f"<strong>{seen.cases}</strong>{seen.names and f' ({html.escape(seen.names)})'}"
    more = "".join(f"<div>{code_spans(text)}</div>" for text in _explaining(seen))
    notes = "".join(f"<div>{code_spans(note)}</div>" for note in seen.notes)
    more += f"<div class='notes'>{notes}</div>" if notes else ""
    return f"<li><span class='mark'>{_mark(seen)}</span>{label}: {code_spans(seen.text)}{more}</li>"
