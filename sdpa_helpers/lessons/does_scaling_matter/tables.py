"""Lesson 10: what was registered, and what came out of it, as tables."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sdpa_helpers.lessons.does_scaling_matter.registered import REGISTERED, Registered
from sdpa_helpers.lessons.does_scaling_matter.verdicts import outcomes

_MARKS = {"as predicted": "✓ as predicted", "in part": "◐ in part", "otherwise": "✗ otherwise"}
_STYLE = (
    "<style>.sdpa-table{max-width:60rem;container-type:inline-size}"
    ".sdpa-table table{border-collapse:collapse;margin:4px 0 10px;font-size:14px;line-height:1.4;color:inherit}"
    ".sdpa-table th,.sdpa-table td{text-align:left!important;vertical-align:top;padding:6px 14px 6px 0;border:0;"
    "border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent);white-space:normal;max-width:none}"
    ".sdpa-table tr{background:none!important}.sdpa-table td:first-child{white-space:nowrap}"
    ".sdpa-table .verdict{white-space:nowrap;font-weight:600}"
    "@container (max-width:620px){.sdpa-table thead{display:none}.sdpa-table tr,.sdpa-table td{display:block;border:0}"
    ".sdpa-table td{padding:1px 0}.sdpa-table td:first-child{font-weight:600}"
    ".sdpa-table tr{padding:8px 0;border-bottom:1px solid color-mix(in srgb,currentColor 20%,transparent)}}</style>"
)


@dataclass(frozen=True)
class Table:
    """A table as the result of a cell."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in self.head)
        rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in self.rows)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f'<div class="sdpa-table">{_STYLE}{table}</div>'

    def __repr__(self) -> str:
        return "\n".join(" | ".join(row) for row in (self.head, *self.rows))


def _cell(text: str) -> str:
    kind = ' class="verdict"' if text in _MARKS.values() else ""
    written = re.sub(r"(d|W)_([kq])", r"\1<sub>\2</sub>", html.escape(text))
    return f"<td{kind}>{written}</td>"


def _who(prediction: Registered) -> str:
    name = f"article {prediction.who}" if len(prediction.who) == 1 else prediction.who
    claims = ", ".join(map(str, prediction.claims))
    return f"{name} ({claims})" if claims and len(prediction.who) == 1 else name


def predictions_table() -> Table:
    """Who says what, and what that predicts here. Numbers in brackets are those of the ledger."""
    rows = [(_who(prediction), prediction.says, prediction.predicts) for prediction in REGISTERED]
    return Table(("who", "says", "which predicts, for this experiment"), rows)


def verdicts_table() -> Table:
    """The same predictions, and what came out."""
    found = outcomes()
    rows = [
        (_who(p), p.predicts, _MARKS[found[p.name].verdict], found[p.name].found.replace("dₖ", "d_k"))
        for p in REGISTERED
    ]
    return Table(("who", "predicted", "came out", "in numbers"), rows)
