"""Read one file that was handed in, in boxes: what cannot be read of it costs only itself.

First what counts is taken out of the file, then each answer is analysed. Where a box comes to its end in an analysis,
that exercise is flagged, its answer is graded all the same, and a new box goes on behind it.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sdpa_helpers.course.registry import exercises_of, written_of
from sdpa_helpers.grading import readings
from sdpa_helpers.grading.assemble import answer_cells, pristine_notebook
from sdpa_helpers.grading.lift_words import Words, lift_words
from sdpa_helpers.grading.read import (
    Analysis,
    Lifted,
    Own,
    Taken,
    Unreadable,
    analyse,
    lifted,
    own_of,
    read_cells,
    take,
)
from sdpa_helpers.grading.reading_box import Boxed, BoxLimits, Ended, boxed
from sdpa_helpers.grading.result import Flag

MAX_BOXES = 3
"""For one file; what these do not come to is not analysed."""

UNREAD = "could-not-be-read"
"""The kind of the flag on an answer that no box could analyse."""


@dataclass(frozen=True)
class FileRead:
    """All that the grader knows of a file."""

    lifted: Lifted
    words: Words


def read_file(path: Path, notebook: str, limits: BoxLimits | None = None) -> FileRead:
    """Read the file that was handed in for a notebook, e.g. "01_dot_product".

    Raises Unreadable when nothing can be taken from it, with a sentence for the learner; OSError when the file is
    not there or must not be read.
    """
    path.stat()
    if not os.access(path, os.R_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    pristine_notebook(notebook)  # made here, so that no box makes it anew
    given = limits or BoxLimits()
    box = boxed(partial(_all_of, path, notebook), given)
    taken = _taken(box, notebook, given)
    words = _words(box, notebook, given)
    begun = len(box.parts) > 2  # with the analyses
    analyses, flags = _analyse_all(taken, notebook, Boxed(box.parts[3:], box.ended) if begun else None, given)
    return FileRead(lifted(taken, _own(box, given), analyses, flags), words)


# ---- in the box -------------------------------------------------------------------------------------------


def _all_of(path: Path, notebook: str) -> Iterator[Any]:
    """What counts of the file, the answers in words, the learner's own definitions, then the analyses."""
    pristine = pristine_notebook(notebook)
    try:
        cells = read_cells(path)
    except Unreadable as error:
        yield readings.unreadable_as_json(error)
        return
    taken = take(cells, exercises_of(notebook), answer_cells(pristine))
    yield readings.taken_as_json(taken)
    words = lift_words(cells, written_of(notebook), [c.source for c in pristine.cells])
    yield readings.words_as_json(words)
    yield readings.own_as_json(own_of(taken, [c.source for c in pristine.cells]))
    yield from _analyses(taken, notebook, _names(taken, notebook))


def _analyses(taken: Taken, notebook: str, names: Sequence[str]) -> Iterator[Any]:
    exercises = (exercise for exercise in exercises_of(notebook) if exercise.name in names)
    return (readings.analysis_as_json(analyse(exercise, taken)) for exercise in exercises)


def _names(taken: Taken, notebook: str) -> list[str]:
    return [exercise.name for exercise in exercises_of(notebook) if exercise.name in taken.answers]


# ---- outside of it ----------------------------------------------------------------------------------------


def _taken(box: Boxed, notebook: str, limits: BoxLimits) -> Taken:
    if not box.parts:
        raise Unreadable(f"{_COULD_NOT[box.ended].format(limits=limits)} {_SMALLER}")
    return readings.taken_from_json(box.parts[0], {e.name for e in exercises_of(notebook)})


def _words(box: Boxed, notebook: str, limits: BoxLimits) -> Words:
    names = [e.name for e in written_of(notebook)]
    if len(box.parts) > 1:
        return readings.words_from_json(box.parts[1], names)
    return Words({}, tuple(_unread(name, box.ended, limits) for name in names))


def _own(box: Boxed, limits: BoxLimits) -> Own:
    if len(box.parts) > 2:
        return readings.own_from_json(box.parts[2])
    return Own((), (_unread("definitions beside the answers", box.ended, limits),))


def _analyse_all(
    taken: Taken, notebook: str, begun: Boxed | None, limits: BoxLimits
) -> tuple[dict[str, Analysis], list[Flag]]:
    """The analyses by exercise, and a flag for each that is missing. begun: what the first box has of them."""
    analyses: dict[str, Analysis] = {}
    flags: list[Flag] = []
    boxes, box, todo = 1, begun, _names(taken, notebook)
    while todo:
        if box is not None:
            for name, part in zip(todo, box.parts, strict=False):
                analyses[name] = readings.analysis_from_json(part)
            todo = todo[len(box.parts) :]
            if todo:
                flags.append(_unread(todo[0], box.ended, limits))
                todo = todo[1:]
        if boxes == MAX_BOXES:
            return analyses, [*flags, *(_unread(name, "time", limits) for name in todo)]
        if todo:
            boxes += 1
            box = boxed(partial(_analyses, taken, notebook, todo), limits)
    return analyses, flags


def _unread(name: str, ended: Ended, limits: BoxLimits) -> Flag:
    why = _COULD_NOT[ended].format(limits=limits).replace("The file", "this")
    return Flag(UNREAD, f"{name}: {why[:-1]}: please look")


_SMALLER = (
    "Clear all outputs, delete the cells that are very long, save the notebook, and hand in that file; your instructor "
    "can look at it too."
)
_COULD_NOT = {
    "": "The file could not be read.",
    "time": "The file could not be read within {limits.cpu_seconds} seconds of computing time.",
    "memory": "The file could not be read within {limits.memory_mb} MB of memory.",
    "deadline": "The file could not be read within {limits.wall_seconds:.0f} seconds.",
    "too-much": "The file could not be read: it holds too much.",
    "failed": "The file could not be read.",
}
