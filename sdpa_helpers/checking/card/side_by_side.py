"""A failing example for a person to read: the call, and beside each other what came back and what was expected.

Matrices are small heat maps in HTML (the larger a number, the deeper its grey: colours belong to queries, keys and
values; a wrong number is bold and has a frame), and aligned columns as text (a wrong number has a *). Only for a
learner's own check: it shows what is expected.
"""

import html
import inspect
import itertools
import math
from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.answers.observe import describe
from sdpa_helpers.checking.card.markup import code_spans
from sdpa_helpers.checking.card.pairs import Cell, Grid, Pair, Side, pairs_of, short
from sdpa_helpers.checking.exercise import Exercise, Inputs
from sdpa_helpers.checking.helping.shrink import Small
from sdpa_helpers.checking.judging.part_names import part_names
from sdpa_helpers.checking.pages.prompt import written

WIDTH = 90
"""Of the text: two sides that need more stand below each other."""

TINT = "128,128,128"
"""Red, green and blue of the tint: thin enough for light and dark paper."""
FRAME = "#d55e00"


def call_of(exercise: Exercise, small: Small) -> list[str]:
    """The arguments as a learner would write them: `Q = [[1, 0]]`."""
    names = inspect.signature(exercise.reference).parameters
    return [
        short(f"{name} = {_value(x, small.inputs)}") for name, x in zip(names, small.inputs, strict=False)
    ]


def _value(value: object, inputs: Inputs) -> str:
    """As `written`; with all digits where another input differs only further to the right."""
    text = written(value)
    if not isinstance(value, np.ndarray):
        return text
    reads_alike = [x for x in inputs if isinstance(x, np.ndarray) and written(x) == text]
    same = all(np.array_equal(value, x, equal_nan=value.dtype.kind == "f") for x in reads_alike)
    return text if same else str(value.tolist())


# ---- as text -------------------------------------------------------------------------------------------------


def as_text(exercise: Exercise, small: Small) -> list[str]:
    """Lines: the call, then for each pair the two sides in columns. [] where nothing differs visibly."""
    pairs = pairs_of(small.answer, small.expected, part_names(exercise))
    if not pairs:
        return []
    lines = [f"For example {', '.join(call_of(exercise, small))}:"]
    for pair in pairs:
        heading = ": ".join(filter(None, (pair.label, f"{pair.count}, marked *" if pair.count else "")))
        lines += [f"  {heading}"] if heading else []
        lines += [f"    {line}" for line in _columns(_block(pair.yours), _block(pair.expected))]
    return lines


def _block(side: Side) -> list[str]:
    lines = [side.title]
    if side.words:
        lines.append(f"  {side.words}")
    if side.number:
        lines.append(f"  {side.number.text}")
    for grid in side.grids:
        lines += [f"  {grid.label}"] if grid.label else []
        lines += [f"  {row}" for row in _rows(grid)]
    return lines + ([f"  ({side.left_out})"] if side.left_out else [])


def _rows(grid: Grid) -> list[str]:
    cells = [cell for row in grid.rows for cell in row]
    right = " " if any(cell.is_wrong for cell in cells) and not grid.is_vector else ""
    written_rows = [[cell.text + ("*" if cell.is_wrong else right) for cell in row] for row in grid.rows]
    if grid.is_vector:
        return [f"[{', '.join(row)}]" for row in written_rows]
    width = max((len(text) for row in written_rows for text in row), default=0)
    return ["  ".join(f"{text:>{width}}" for text in row).rstrip() for row in written_rows]


def _columns(left: list[str], right: list[str]) -> list[str]:
    """Two blocks side by side; one below the other when that is too wide."""
    width = max(map(len, left))
    if width + max(map(len, right)) > WIDTH:
        return left + right
    rows = max(len(left), len(right))
    padded = zip(left + [""] * (rows - len(left)), right + [""] * (rows - len(right)), strict=True)
    return [f"{a:<{width + 4}}{b}".rstrip() for a, b in padded]


# ---- as HTML -------------------------------------------------------------------------------------------------

_FLEX = "display:flex;flex-wrap:wrap;align-items:flex-start"
_SMALL = "font-size:.9em;margin:2px 0"
_TITLE = "font-size:.9em;margin:2px 8px 2px 0;white-space:nowrap"
_SIDE = "margin:0 28px 2px 0"
_BREAKS = "overflow-wrap:anywhere;white-space:pre-wrap"
_TABLE = (
    "border-collapse:separate;border-spacing:2px;margin:0 0 0 -2px;width:auto;border:none;font-size:.95em;"
    "font-variant-numeric:tabular-nums"
)


def as_html(exercise: Exercise, small: Small) -> str:
    """The same, with heat maps; "" where nothing differs visibly. Without styles a wrong number is still bold.

    What is wrong in a later part of a tuple is folded where it would need room.
    """
    pairs = pairs_of(small.answer, small.expected, part_names(exercise))
    if not pairs:
        return ""
    inputs = "".join(
        f"<span style='margin:0 14px 0 0'>{_code(text)}</span>" for text in call_of(exercise, small)
    )
    call = f"<div style='{_FLEX};margin:0 0 3px'><strong style='margin:0 12px 0 0'>For example</strong>{inputs}</div>"
    heights = list(itertools.accumulate(map(_rows_of, pairs)))
    is_open = max(1, sum(height <= MOST_ROWS for height in heights))
    shown, later = pairs[:is_open], pairs[is_open:]
    names = " and ".join(pair.label for pair in later)
    folded = (
        f"<details><summary>{names}</summary>{''.join(map(_pair_html, later))}</details>" if later else ""
    )
    return call + "".join(map(_pair_html, shown)) + folded


def matrices_html(yours: np.ndarray, ours: np.ndarray, *called: tuple[str, ...]) -> str:
    """Two arrays beside each other, what differs in a frame; "" where nothing differs visibly.

    called: the names of their rows, and of their columns.
    """

    def named(side: Side, title: str) -> Side:
        """With these names, where it is a matrix."""
        grids = (
            tuple(replace(grid, called=(called[0], called[1])) for grid in side.grids)
            if called
            else side.grids
        )
        return replace(side, title=title, grids=grids)

    pairs = pairs_of(describe(yours), describe(ours))
    both = (
        replace(p, yours=named(p.yours, p.yours.title), expected=named(p.expected, "ours")) for p in pairs
    )
    return "".join(map(_pair_html, both))


MOST_ROWS = 3
"""Of the first matrices of a tuple's parts together, for all of them to be open."""


def _rows_of(pair: Pair) -> int:
    return max((len(grid.rows) for side in (pair.yours, pair.expected) for grid in side.grids), default=1)


def _pair_html(pair: Pair) -> str:
    told = f"<span style='{_SIDE}'>{_code(pair.label)}</span>" if pair.label else ""
    sides = "".join(
        f"<div style='{_SIDE};display:flex'><strong style='{_TITLE}'>{html.escape(side.title)}"
        f"</strong> <div>{_side_html(side)}</div></div>"
        for side in (pair.yours, pair.expected)
    )
    return f"<div style='{_FLEX}'>{told}{sides}</div>"


def _side_html(side: Side) -> str:
    parts = [f"<span style='overflow-wrap:anywhere'>{code_spans(side.words)}</span>"] if side.words else []
    if side.number:
        parts.append(f"<code>{_number(side.number)}</code>")
    for grid in side.grids:
        label = f"<div style='{_SMALL}'>{grid.label}</div>" if grid.label else ""
        matrix = _vector(grid) if grid.is_vector else _table(grid, side.title)
        parts.append(
            f"<div style='display:inline-block;margin:0 10px 0 0'>{label}{matrix}</div>" if label else matrix
        )
    parts += [f"<div style='{_SMALL}'>{side.left_out}</div>"] if side.left_out else []
    return "".join(parts)


def _code(text: str) -> str:
    return f"<code style='{_BREAKS}'>{html.escape(text)}</code>"


def _number(cell: Cell) -> str:
    frame = f"outline:2px solid {FRAME};border-radius:2px;padding:0 3px"
    return f"<strong style='{frame}'>{cell.text}</strong>" if cell.is_wrong else cell.text


def _vector(grid: Grid) -> str:
    return f"<code style='{_BREAKS}'>[{', '.join(_number(cell) for row in grid.rows for cell in row)}]</code>"


def _table(grid: Grid, title: str) -> str:
    wrong = [f"[{i}, {j}]" for i, row in enumerate(grid.rows) for j, cell in enumerate(row) if cell.is_wrong]
    columns = len(grid.rows[0]) if grid.rows else 0
    told = f"{title}{grid.label and ' '}{grid.label}: {len(grid.rows)} rows of {columns}"
    told += f", wrong at {', '.join(wrong)}" if wrong else ""
    names, above = grid.called
    begins = [f"<th style='{_NAME}'>{html.escape(name)}</th>" for name in names] or [""] * len(grid.rows)
    rows = "".join(
        f"<tr style='background:none'>{name}{''.join(map(_cell, row))}</tr>"
        for name, row in zip(begins, grid.rows, strict=False)
    )
    heads = "".join(f"<th style='{_NAME}'>{html.escape(name)}</th>" for name in ("", *above)) if above else ""
    head = f"<thead><tr style='background:none'>{heads}</tr></thead>" if heads else ""
    return f"<table aria-label='{html.escape(told)}' style='{_TABLE}'>{head}<tbody>{rows}</tbody></table>"


_NAME = "text-align:right;padding:1px 6px;border:none;font-size:.9em"


def _cell(cell: Cell) -> str:
    depth = 0.25 if math.isnan(cell.tint) else 0.06 + 0.44 * abs(cell.tint)
    align = "center" if cell.text.isalpha() else "right"
    style = f"text-align:{align};padding:1px 8px;border:none;border-radius:3px;background:rgba({TINT},{depth:.2f})"
    if cell.is_wrong:
        frame = f"outline:2px solid {FRAME};outline-offset:-1px"
        return f"<td style='{style};{frame}'><strong>{cell.text}</strong></td>"
    return f"<td style='{style}'>{cell.text}</td>"
