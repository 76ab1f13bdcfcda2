"""Moodle: a grading worksheet as its assignment takes it back."""

from typing import Any

from sdpa_helpers.classroom.exports.order import CannotExport, Exported, Order
from sdpa_helpers.classroom.exports.roster import (
    TOTAL,
    MatchBy,
    Roster,
    Totals,
    as_number,
    match,
    note_without_ids,
    notes_unmatched,
    number_cell,
    read_roster,
    refuse_strangers,
    scaled_to,
    totals_of,
    write_rows,
)
from sdpa_helpers.classroom.files import no_formula

COLUMNS = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade", "Grade can be changed",
           "Last modified (submission)", "Last modified (grade)", "Feedback comments"]  # fmt: skip


def export(order: Order) -> Exported:
    """The points of each notebook."""
    return export_points(order, totals_of(order.results(), order.rules))


def export_points(order: Order, learners: list[Totals]) -> Exported:
    """One grade for each learner: that of the one notebook, or the total of several."""
    which = order.notebooks[0] if len(order.notebooks) == 1 else TOTAL
    if order.roster is None:
        return _without_roster(order, learners, which)
    return _with_roster(order, learners, which)


def _without_roster(order: Order, learners: list[Totals], which: str) -> Exported:
    rows: list[list[Any]] = []
    for t in learners:
        points = t.of(which)
        if points:
            identifier = f"Participant {t.id_in('moodle')}" if t.id_in("moodle") else t.student
            grade = [number_cell(points[0]), number_cell(points[1]), "Yes", "-", "-", _comment(t)]
            rows.append([*map(no_formula, (identifier, t.name, "", "")), *grade])
    target = order.target("moodle.csv")
    write_rows(target, COLUMNS, rows)
    maximum = ", ".join(sorted({row[5] for row in rows}))
    unscaled = f"without --roster: grades are of {maximum}, whatever the assignment is worth in Moodle"
    return Exported((target,), len(rows), (*note_without_ids(learners, "moodle"), unscaled))


def _with_roster(order: Order, learners: list[Totals], which: str) -> Exported:
    assert order.roster is not None
    roster = read_roster(order.roster)
    grade = roster.column("Grade")
    if grade is None or roster.column("Identifier") is None:
        raise CannotExport(
            '--roster is no grading worksheet of Moodle: it needs the columns "Identifier" and "Grade"'
        )
    maximum, may = roster.column("Maximum grade", "Maximum Grade"), roster.column("Grade can be changed")
    comment = roster.column("Feedback comments")
    matched = match(roster.rows, learners, _keys(roster))
    refuse_strangers(order.roster, learners, matched)
    rows, notes, scales = [], [], set()
    for i, row in enumerate(roster.rows):
        points = matched[i].of(which) if i in matched else None
        if points is None:
            continue
        if may is not None and row[may].strip().lower() == "no":
            notes.append(f"{matched[i].student}: Moodle says that this grade cannot be changed; left out")
            continue
        worth = (as_number(row[maximum]) if maximum is not None else None) or points[1]
        if worth != points[1]:
            scales.add((points[1], worth))
        changed = list(row)
        changed[grade] = number_cell(scaled_to(points, worth))
        if comment is not None and not row[comment].strip():
            changed[comment] = _comment(matched[i])
        rows.append(changed)
    notes += [
        f"{own:g} points were scaled to the {worth:g} of the assignment" for own, worth in sorted(scales)
    ]
    target = order.target("moodle.csv")
    write_rows(target, roster.header, rows, roster.delimiter)
    return Exported((target,), len(rows), (*notes, *notes_unmatched(learners, matched, len(roster.rows))))


def _keys(roster: Roster) -> list[MatchBy]:
    """What rows are matched by, the surest first."""
    return [
        (
            roster.column("Identifier"),
            lambda t: f"Participant {t.id_in('moodle')}" if t.id_in("moodle") else "",
        ),
        (roster.column("ID number"), lambda t: t.student),
        (roster.column("Email address"), lambda t: t.student),
        (roster.column("Full name"), lambda t: t.name),
    ]


def _comment(learner: Totals) -> str:
    """What the learner reads beside the grade: our own words only, as Moodle shows them as HTML."""
    return "; ".join(learner.notes)
