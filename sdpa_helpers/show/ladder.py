"""A ladder of three rungs: lines to be put in order, the same with blanks to fill, then the reader's own empty cell.

As the result of a cell, `LadderPanel` shows the rung on which the reader is (`ladder.js`). Whether an order or what was
typed is right is found out in the kernel. A stored output, and a page without a kernel, has the lines as a list, in
the order in which they are offered.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sdpa_helpers.checking.card.card_style import code_colours
from sdpa_helpers.show.panels import module, place_for

if TYPE_CHECKING:
    from sdpa_helpers.show.panels_model import LadderModel

SCRIPT = Path(__file__).with_suffix(".js")

BLANK = "<span data-blank='{}'></span>"
"""Where the field of a blank goes in a line, with its number from 0."""
LONGEST = 200
"""Characters of what is typed into a blank."""


class Line(NamedTuple):
    """A line as the page shows it."""

    html: str
    depth: int = 0
    """How far it is indented."""
    why: str = ""
    """The reason that stands with it, HTML."""


class OrderVerdict(NamedTuple):
    """What is said of an order, or of what was typed."""

    passed: bool
    html: str
    """A card."""
    said: str
    """The same in a few words, to be read aloud."""
    marked: tuple[int, ...] = ()
    """The lines that it is about, by their number among those offered."""


@dataclass(frozen=True)
class Rungs:
    """What a ladder is made of, and who judges."""

    name: str
    title: str
    """Plain text."""
    kind: str
    """ "code" or "proof"; the look of its lines."""
    task: str
    """What to do on the first rung, HTML."""
    head: str
    """The line above all others, which is given; HTML."""
    offered: tuple[Line, ...]
    """Right and wrong lines, in the order in which they are offered."""
    with_blanks: tuple[Line, ...]
    """The right lines in their order, with BLANKs."""
    last: str
    """What to do on the last rung, HTML."""
    answer_line: str
    """The first line of the cell to which the last rung leads."""
    try_order: Callable[[tuple[int, ...]], OrderVerdict] = field(repr=False)
    """Judges lines by their numbers among those offered."""
    try_blanks: Callable[[tuple[str, ...]], OrderVerdict] = field(repr=False)
    """Judges what was typed."""

    @property
    def blanks(self) -> int:
        """How many there are."""
        return sum(line.html.count("data-blank=") for line in self.with_blanks)


class LadderPlace(NamedTuple):
    """Where a reader is."""

    rung: int = 1
    """1 to 3."""
    order: tuple[int, ...] = ()
    """The lines that are in the reader's program, by their numbers among those offered."""
    typed: tuple[str, ...] = ()
    passed: tuple[int, ...] = ()
    """The rungs that were passed."""


def place_in(rungs: Rungs, told: Any) -> LadderPlace:
    """A place as a page or a file tells it; what no place on this ladder can hold is left out."""
    told = told if isinstance(told, dict) else {}
    numbers = {name: _whole(told.get(name)) for name in ("order", "passed")}
    order = tuple(n for n in dict.fromkeys(numbers["order"]) if 0 <= n < len(rungs.offered))
    passed = tuple(sorted({n for n in numbers["passed"] if n in (1, 2)}))
    given = told.get("typed")
    typed = [text[:LONGEST] for text in given if isinstance(text, str)] if isinstance(given, list) else []
    rung = told.get("rung")
    return LadderPlace(rung if rung in (1, 2, 3) else 1, order, tuple(typed[: rungs.blanks]), passed)


def _whole(numbers: Any) -> list[int]:
    return [n for n in numbers if type(n) is int] if isinstance(numbers, list) else []


START = LadderPlace()


@dataclass
class LadderPanel:
    """A ladder as the result of a cell."""

    rungs: Rungs
    place: LadderPlace = START
    """Where the reader was some other day."""
    keep: Callable[[LadderPlace], None] = field(default=lambda _: None, repr=False)
    """Is told where the reader is."""

    def given(self) -> dict[str, Any]:
        """What the module needs to begin. The key is the same for the same ladder: stored outputs stay the same."""
        return self._given

    @cached_property
    def _given(self) -> dict[str, Any]:
        rungs = self.rungs
        data = {
            "body": "ladder",
            "title": rungs.title,
            "kind": rungs.kind,
            "task": rungs.task,
            "head": rungs.head,
            "offered": [line._asdict() for line in rungs.offered],
            "withBlanks": [line._asdict() for line in rungs.with_blanks],
            "last": rungs.last,
            "answerLine": rungs.answer_line,
            "longest": LONGEST,
            "colours": code_colours(".panel"),
        }
        digest = hashlib.sha256(json.dumps([rungs.name, data]).encode()).hexdigest()
        return data | {"key": f"ladder-{rungs.name}-{digest[:8]}"}

    def widget(self) -> "LadderModel":
        """The living panel as an anywidget: for JupyterLab it is made by itself when the ladder is shown."""
        # Imported when the first ladder is shown: anywidget takes its time.
        from sdpa_helpers.show.panels_model import LadderModel

        return LadderModel(module(SCRIPT), self.given(), self.place._asdict(), self._move, self._judge)

    def _move(self, told: Any) -> None:
        self._stand(place_in(self.rungs, told))

    def _stand(self, place: LadderPlace) -> None:
        self.place = place
        self.keep(place)

    def _judge(self, told: Any) -> dict[str, Any]:
        """The verdict on the rung where the page says that the reader is."""
        place = place_in(self.rungs, told)
        if place.rung == 2:
            verdict = self.rungs.try_blanks(place.typed + ("",) * (self.rungs.blanks - len(place.typed)))
        else:
            verdict = self.rungs.try_order(place.order)
        if verdict.passed and place.rung not in place.passed:
            place = place._replace(passed=tuple(sorted((*place.passed, place.rung))))
        self._stand(place)
        return verdict._asdict()

    def still(self) -> str:
        """The lines as a list, in the order in which they are offered."""
        rungs = self.rungs
        items = "".join(f"<li>{_still_line(line, rungs.kind)}</li>" for line in rungs.offered)
        return (
            f"<style>{STILL_STYLE}</style><div class='sdpa-ladder'><p><strong>{rungs.title}: a ladder.</strong> "
            f"Optional practice, no points. {rungs.task} In a notebook you can move them.</p>"
            f"<p class='head'>{_code(rungs.head, rungs.kind)}</p><ul>{items}</ul></div>"
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        self.widget()
        return {"text/plain": repr(self), "text/html": place_for(self.given()["key"], self.still())}

    def __repr__(self) -> str:
        return f"{self.rungs.title}: a ladder of three rungs (optional practice, no points)"


def _still_line(line: Line, kind: str) -> str:
    why = f" <span class='why'>{line.why}</span>" if line.why else ""
    return f"<span style='padding-left:{2 * line.depth}ch'>{_code(line.html, kind)}</span>{why}"


def _code(html: str, kind: str) -> str:
    return f"<code>{html}</code>" if kind == "code" else html


STILL_STYLE = (
    ".sdpa-ladder { max-width: 46rem; } .sdpa-ladder ul { list-style: none; margin: 0; padding: 0; } "
    ".sdpa-ladder li, .sdpa-ladder .head { margin: 4px 0; padding: 5px 10px; border-radius: 6px; } "
    ".sdpa-ladder li, .sdpa-ladder .head { overflow-wrap: anywhere; } "
    ".sdpa-ladder li { border: 1px solid color-mix(in srgb, currentColor 20%, transparent); } "
    ".sdpa-ladder code { background: none; padding: 0; color: inherit; } .sdpa-ladder .why { opacity: .78; } "
    + code_colours(".sdpa-ladder")
)
