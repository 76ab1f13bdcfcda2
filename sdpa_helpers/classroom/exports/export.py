"""`sdpa export` without its options: see what there is, let the system's own module write it."""

import importlib
from dataclasses import replace

from sdpa_helpers.classroom.exports import EXPORTS
from sdpa_helpers.classroom.exports.order import CannotExport, Exported, Order
from sdpa_helpers.classroom.term.policy import homework_of
from sdpa_helpers.course.registry import LESSONS


def export_folder(to: str, order: Order) -> Exported:
    """Export the results of a folder to one of `EXPORTS`; CannotExport says what to change."""
    order = replace(order, notebooks=_notebooks(order), rules=homework_of(order.folder))
    waiting = sum(result.waiting for result in order.results())
    without: dict[str, list[str]] = {}
    for result in order.results():
        if result.no_mark:
            without.setdefault(result.no_mark, []).append(f"{result.student}, {result.notebook}")
    failed = without.get("grader-failed", [])
    if failed and not order.allow_ungraded:
        raise CannotExport(
            f"the grader itself failed on {len(failed)} of the notebooks ({some(failed)}), which have no mark: run "
            "the same `sdpa grade` again, or leave them out with --allow-ungraded"
        )
    done: Exported = importlib.import_module(EXPORTS[to]).export(order)
    left_out = [f"left without a mark, {word}: {some(who)}" for word, who in without.items()]
    if excused := sorted(order.rules.excused):
        left_out.append(f"left out, excused: {some(excused)}")
    if order.rules.cap is not None and to in ("gradescope", "nbgrader"):
        left_out.append(f"{to} gets all points: the cap of {order.rules.cap:g} is not among them")
    return replace(done, notes=(*done.notes, *left_out, *note_waiting(waiting)))


def note_waiting(waiting: int) -> tuple[str, ...]:
    """What to tell the instructor of answers in words that wait for a reader."""
    told = f"{waiting} answers in words count as 0 points: nobody has read them; see sdpa review"
    return (told,) if waiting else ()


MOST_NAMED = 20
"""Of those without a mark for one reason."""


def some(who: list[str]) -> str:
    """The names, the first of many."""
    more = f"; and {len(who) - MOST_NAMED} more" if len(who) > MOST_NAMED else ""
    return "; ".join(who[:MOST_NAMED]) + more


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
