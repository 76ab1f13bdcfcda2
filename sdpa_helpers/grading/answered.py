"""Whether a file that was handed in holds an answer at all: what decides between several files of one learner."""

from collections.abc import Iterator
from pathlib import Path

from sdpa_helpers.checking.code.answer_cells import is_untouched
from sdpa_helpers.course.registry import exercises_of, written_of
from sdpa_helpers.grading.assemble import answer_cells, pristine_notebook
from sdpa_helpers.grading.lift_words import lift_words
from sdpa_helpers.grading.read import MAX_NOTEBOOK_BYTES, Unreadable, read_cells, take
from sdpa_helpers.grading.reading_box import BoxLimits, boxed


def holds_nothing(path: Path, notebook: str, limits: BoxLimits | None = None) -> str:
    """Why a file holds no answer to any exercise of a notebook, e.g. "is empty"; "" when it holds one.

    What is in it is read in a box; a file that no box can read holds none. Never raises because of the file.
    """
    try:
        size = path.stat().st_size
        if size == 0:
            return "is empty"
        if size > MAX_NOTEBOOK_BYTES:
            return "is too large to be read"
        with path.open("rb"):
            pass  # it can be opened
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    pristine_notebook(notebook)  # made here, so that no box makes it anew
    parts = boxed(lambda: _answered(path, notebook), limits).parts
    if not parts or parts[0] == "unreadable":
        return "cannot be read as a notebook"
    return "" if parts[0] is True else "has no answer in it"


def _answered(path: Path, notebook: str) -> Iterator[bool | str]:
    """In the box: whether an answer was touched."""
    pristine = pristine_notebook(notebook)
    try:
        cells = read_cells(path)
    except Unreadable:
        yield "unreadable"
        return
    stubs = answer_cells(pristine)
    code = take(cells, exercises_of(notebook), stubs).answers
    words = lift_words(cells, written_of(notebook), [c.source for c in pristine.cells]).answers
    touched = (not is_untouched(s) and s.strip() != stubs.get(name, "").strip() for name, s in code.items())
    yield any(touched) or any(words.values())
