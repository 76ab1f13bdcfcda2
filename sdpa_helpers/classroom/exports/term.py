"""A term's gradebook for a learning system: the total of each learner as one column, by the same modules."""

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sdpa_helpers.classroom.exports import EXPORTS
from sdpa_helpers.classroom.exports.export import note_waiting, some
from sdpa_helpers.classroom.exports.order import CannotExport, Exported, Order
from sdpa_helpers.classroom.exports.roster import Totals
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.tables import EXCUSED
from sdpa_helpers.classroom.term.book import HomeworkMark, TermRow
from sdpa_helpers.grading.result import LmsIdentity

COLUMN = "term total"
"""What the total is called where the system has no other name for it."""


def export_term(
    to: str, order: Order, rows: Sequence[TermRow], folders: Iterable[ResultsFolder], worth: float
) -> Exported:
    """Export the totals to Canvas or Moodle; CannotExport where a system wants exercises or pages."""
    module = importlib.import_module(EXPORTS[to])
    if not hasattr(module, "export_points"):
        raise CannotExport(f"{to} takes no total of a term: export each homework with `sdpa export`")
    known, waiting = _handed_in(folders)
    learners = [_totals(row, worth, known.get(row.learner)) for row in rows if row.total != EXCUSED]
    done: Exported = module.export_points(replace(order, notebooks=(COLUMN,)), learners)
    excused = [row.learner for row in rows if row.total == EXCUSED]
    left_out = [f"left out, excused: {some(excused)}"] if excused else []
    return replace(done, notes=(*done.notes, *left_out, *note_waiting(waiting)))


def _handed_in(folders: Iterable[ResultsFolder]) -> tuple[dict[str, LmsIdentity], int]:
    """Who is who in the learning system, as their files' names said, and how many answers nobody has read."""
    known: dict[str, LmsIdentity] = {}
    waiting = 0
    for folder in folders:
        for result in folder.read_results():
            waiting += result.waiting
            if result.lms:
                known[result.student] = result.lms
    return known, waiting


def _totals(row: TermRow, worth: float, lms: LmsIdentity | None) -> Totals:
    notes = [_note(part, part.homework.name in row.dropped) for part in row.parts]
    points = row.total if not isinstance(row.total, str) else 0.0
    no_mark = {COLUMN: row.total} if isinstance(row.total, str) else {}
    return Totals(row.learner, lms, points={COLUMN: (points, worth)}, no_mark=no_mark, notes=notes)


def _note(part: HomeworkMark, dropped: bool) -> str:
    has = part.cell if isinstance(part.cell, str) else f"{part.cell:g} of {part.most:g}"
    return f"{part.homework.name}: {has}{', does not count' if dropped else ''}"
