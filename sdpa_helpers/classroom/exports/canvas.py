"""Canvas: a gradebook CSV as it imports it."""

import re
from typing import Any

from sdpa_helpers.classroom.exports.order import CannotExport, Exported, Order
from sdpa_helpers.classroom.exports.roster import (
    MatchBy,
    Roster,
    Totals,
    as_number,
    match,
    note_without_ids,
    notes_unmatched,
    number_cell,
    points_cell,
    read_roster,
    refuse_strangers,
    squeezed,
    totals_of,
    write_rows,
)
from sdpa_helpers.classroom.files import no_formula

IDENTITY = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]


def export(order: Order) -> Exported:
    """The points of each notebook."""
    return export_points(order, totals_of(order.results(), order.rules))


def export_points(order: Order, learners: list[Totals]) -> Exported:
    """Identity columns, one column per assignment, and the row "Points Possible"."""
    titles = _titles(order)
    worth = {n: max((t.points[n][1] for t in learners if n in t.points), default=0.0) for n in titles}
    if order.roster is None:
        return _without_roster(order, learners, titles, worth)
    return _with_roster(order, learners, titles, worth)


def _titles(order: Order) -> dict[str, str]:
    """Notebook → title of its column in Canvas, e.g. "Homework 1 (4321)", where the names differ."""
    titles = {notebook: notebook for notebook in order.notebooks}
    for text in order.columns:
        name, equals, title = text.partition("=")
        if not equals or name not in order.notebooks or not title:
            known = ", ".join(order.notebooks)
            raise CannotExport(f"--column {text}: expected NOTEBOOK=TITLE with one of {known}")
        titles[name] = title
    return titles


def _without_roster(
    order: Order, learners: list[Totals], titles: dict[str, str], worth: dict[str, float]
) -> Exported:
    rows: list[list[Any]] = [["    Points Possible", "", "", "", "", *map(number_cell, worth.values())]]
    for t in learners:
        number = t.id_in("canvas")
        identity = [t.name, number, "", "", ""] if number else [t.student, "", "", t.student, ""]
        rows.append([*map(no_formula, identity), *(points_cell(t, n, worth[n]) for n in titles)])
    target = order.target("canvas.csv")
    write_rows(target, [*IDENTITY, *titles.values()], rows)
    return Exported((target,), len(learners), note_without_ids(learners, "canvas"))


def _with_roster(
    order: Order, learners: list[Totals], titles: dict[str, str], own: dict[str, float]
) -> Exported:
    assert order.roster is not None
    roster = read_roster(order.roster)
    section = roster.column("Section")
    if roster.column("Student", "LastName") != 0 or roster.column("ID") is None or section is None:
        raise CannotExport(
            '--roster is no Canvas gradebook: it needs the columns "Student", "ID" and "Section"'
        )
    possible = next((r for r in roster.rows if "Points Possible" in r[0]), None)
    header, worth, notes = [], {}, []
    for n, title in titles.items():
        column = _column(roster, title)
        header.append(title if column is None else roster.header[column])
        worth[n] = (as_number(possible[column]) if possible and column is not None else None) or own[n]
        if column is None:
            notes.append(
                f"{n}: the roster has no column called {title!r}; Canvas will ask which assignment it is, or make one"
            )
        elif worth[n] != own[n]:
            notes.append(f"{n}: {own[n]:g} points were scaled to the {worth[n]:g} that its column is worth")
    first = [""] * (section + 1) if possible is None else possible[: section + 1]
    first[0] = first[0] or "    Points Possible"
    people = [r for r in roster.rows if r is not possible and r[0].strip()]
    matched = match(people, learners, _keys(roster))
    refuse_strangers(order.roster, learners, matched)
    rows = [[*first, *map(number_cell, worth.values())]]
    rows += [
        [*row[: section + 1], *(points_cell(matched[i], n, worth[n]) for n in titles)]
        for i, row in enumerate(people)
        if i in matched
    ]
    target = order.target("canvas.csv")
    write_rows(target, [*roster.header[: section + 1], *header], rows, roster.delimiter)
    return Exported((target,), len(matched), (*notes, *notes_unmatched(learners, matched, len(people))))


def _keys(roster: Roster) -> list[MatchBy]:
    """What rows are matched by, the surest first."""
    keys: list[MatchBy] = [
        (roster.column("ID"), lambda t: t.id_in("canvas")),
        (roster.column("SIS Login ID"), lambda t: t.student),
        (roster.column("SIS User ID"), lambda t: t.student),
    ]
    return [*keys, (0, lambda t: t.name)] if roster.header[0] == "Student" else keys


def _column(roster: Roster, title: str) -> int | None:
    """The column with this title, whether or not Canvas put the assignment's id behind it."""
    bare = [re.sub(r"\s*\(\d+\)$", "", h) for h in roster.header]
    letters, wanted = [squeezed(h) for h in bare], squeezed(title)
    for names, name in ((roster.header, title), (bare, title), (letters, wanted)):
        if name in names:
            return names.index(name)
    return next((i for i, name in enumerate(letters) if wanted in name), None)
