"""`sdpa export` without its options: see what there is, let the system's own module write it."""

import importlib
from dataclasses import replace

from sdpa_helpers.classroom.exports import EXPORTS
from sdpa_helpers.classroom.exports.order import CannotExport, Exported, Order
from sdpa_helpers.lessons.registry import LESSONS


def export_folder(to: str, order: Order) -> Exported:
    """Export the results of a folder to one of `EXPORTS`; CannotExport says what to change."""
    order = replace(order, notebooks=_notebooks(order))
    waiting = sum(result.waiting for result in order.results())
    done: Exported = importlib.import_module(EXPORTS[to]).export(order)
    if not waiting:
        return done
    unread = f"{waiting} answers in words count as 0 points: nobody has read them; see sdpa review"
    return replace(done, notes=(*done.notes, unread))


def _notebooks(order: Order) -> tuple[str, ...]:
    there = {result.notebook for result in order.folder.read_results()}
    for name in order.notebooks:
        if name not in there:
            raise CannotExport(
                f"--notebook {name}: not among the graded ones: {', '.join(sorted(there)) or 'none'}"
            )
    chosen = tuple(name for name in LESSONS if name in (set(order.notebooks) or there))
    if not chosen:
        raise CannotExport(f"{order.folder} holds no results of this course's notebooks")
    return chosen
