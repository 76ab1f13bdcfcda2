"""The numbers of a figure as tables, for readers who do not see it: taken from what matplotlib draws, not retold.

`heat_map` and `bars` say what they draw (`record`); lines and points are read from their axes. Of many points some are
shown, evenly chosen and with both ends, and the table says so. Lines over the same places share a table. Where some
have names, those without are only there to be looked at. A figure without such numbers has no table.
"""

import html
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from sdpa_helpers.show.symbols import with_symbols

MOST_POINTS, MOST_ROWS, MOST_COLUMNS, MOST_TABLES = 9, 16, 16, 8
LEAST_POINTS = 3  # a line without a name and with fewer points is a rule or a mark


class NumberTable(NamedTuple):
    """Rows of numbers with names."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Each begins with its name."""


Series = tuple[str, Any]
"""A name, and points (n, 2)."""

_RECORDED: WeakKeyDictionary[Axes, list[NumberTable]] = WeakKeyDictionary()


def record(
    ax: Axes, rows: Sequence[str], columns: Sequence[str], values: Iterable[Iterable[str]], corner: str = ""
) -> None:
    """Keep what a function has drawn into these axes: one row of written numbers for each name."""
    lines = tuple((name, *numbers) for name, numbers in zip(rows, values, strict=True))
    _RECORDED.setdefault(ax, []).append(NumberTable("", (corner, *columns), lines))


def tables_of(figure: Figure) -> list[NumberTable]:
    """The tables of all axes, those of an axes under its title; the last one says how many there are beyond."""
    found = [(ax, table) for ax in figure.axes for table in (_RECORDED.get(ax) or _drawn(ax))]
    told = [
        _bounded(table._replace(caption=_caption(ax, table.caption))) for ax, table in found[:MOST_TABLES]
    ]
    if len(found) > MOST_TABLES:
        last = told[-1]
        told[-1] = last._replace(
            caption=f"{last.caption}. {len(found) - MOST_TABLES} more series are not given"
        )
    return told


def as_html(tables: Sequence[NumberTable]) -> str:
    """Folded; nothing where there are no numbers."""
    if not tables:
        return ""
    inside = "".join(map(_table, tables))
    return f"<details><summary>Numbers as text</summary><div>{inside}</div></details>"


def _table(table: NumberTable) -> str:
    head = "".join(f'<th scope="col">{_cell(name)}</th>' if name else "<td></td>" for name in table.columns)
    body = "".join(
        f'<tr><th scope="row">{_cell(row[0])}</th>{"".join(f"<td>{_cell(x)}</td>" for x in row[1:])}</tr>'
        for row in table.rows
    )
    return (
        f"<table><caption>{_cell(table.caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(text: str) -> str:
    return html.escape(with_symbols(" ".join(text.split())), quote=False)


def _caption(ax: Axes, added: str) -> str:
    title = next((t for t in (ax.get_title("left"), ax.get_title()) if t), "")
    return ": ".join(part for part in (title, added) if part)


def _bounded(table: NumberTable) -> NumberTable:
    """At most so many rows and columns; the caption says what was left out."""
    rows, columns = len(table.rows), len(table.columns) - 1
    if rows <= MOST_ROWS and columns <= MOST_COLUMNS:
        return table
    kept = tuple(row[: MOST_COLUMNS + 1] for row in table.rows[:MOST_ROWS])
    left_out = f"the first {len(kept)} of {rows} rows, {min(columns, MOST_COLUMNS)} of {columns} columns"
    return NumberTable(f"{table.caption} ({left_out})", table.columns[: MOST_COLUMNS + 1], kept)


# ---- lines and points ---------------------------------------------------------------------------------------


def _drawn(ax: Axes) -> list[NumberTable]:
    series = [(str(line.get_label()), np.asarray(line.get_xydata(), dtype=float)) for line in ax.get_lines()]
    series += [
        (str(dots.get_label()), np.asarray(dots.get_offsets(), dtype=float))
        for dots in ax.collections
        if isinstance(dots, PathCollection)
    ]
    finite = [(_name(label), points[np.isfinite(points).all(axis=-1)]) for label, points in series]
    data = [(name, points) for name, points in finite if _is_data(name, points)]
    named = [(name, points) for name, points in data if name]
    return [_points(ax, lines) for lines in _alike(named or data)]


def _name(label: str) -> str:
    return "" if label.startswith("_") else label


def _is_data(name: str, points: Any) -> bool:
    return len(points) > 0 and (bool(name) or len(points) >= LEAST_POINTS)


def _alike(series: Sequence[Series]) -> list[list[Series]]:
    """Series with names and at the same places come together."""
    groups: list[list[Series]] = []
    for name, points in series:
        fits = (g for g in groups if name and g[0][0] and np.array_equal(g[0][1][:, 0], points[:, 0]))
        group = next(fits, None)
        if group is None:
            groups.append([(name, points)])
        else:
            group.append((name, points))
    return groups


def _points(ax: Axes, series: Sequence[Series]) -> NumberTable:
    (name, points), y = series[0], ax.get_ylabel() or "y"
    chosen = np.unique(np.linspace(0, len(points) - 1, min(len(points), MOST_POINTS)).round().astype(int))
    some = f"{len(chosen)} of {len(points)} points" if len(chosen) < len(points) else ""
    columns = [short_name for short_name, _ in series] if len(series) > 1 else [f"{name}: {y}" if name else y]
    numbers = [[short(float(x)) for x in column[chosen, 1]] for _, column in series]
    rows = tuple(zip([short(float(x)) for x in points[chosen, 0]], *numbers, strict=True))
    caption = y if len(series) > 1 else ""
    caption = ", ".join(part for part in (caption, some) if part)
    return NumberTable(caption, (ax.get_xlabel() or "x", *columns), rows)


def short(number: float) -> str:
    """A number in four digits, with a real minus sign; large ones without an exponent."""
    if abs(number) >= 1e4 and abs(number) < 1e7 and number == round(number):
        return f"{number:,.0f}".replace("-", "−")
    return f"{number:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("-", "−").replace("inf", "∞")
