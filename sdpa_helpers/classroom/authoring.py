"""For authors: write solutions/ and exercises/ from the exercises' definitions, execute and store every notebook."""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from sdpa_helpers.classroom.rubrics import model_answers
from sdpa_helpers.course.exercise_notebook import METADATA, exercise_notebook
from sdpa_helpers.course.generated import put, tell
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS


def as_text(notebook: NotebookNode) -> str:
    """The notebook as it is stored: the same bytes whenever it holds the same."""
    return nbformat.writes(notebook) + "\n"


def executed(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """The notebook with its outputs, after a run in a fresh kernel in `folder`.

    Raises nbclient's CellExecutionError when a cell fails.
    """
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        record_timing=False,
        # Not its warning, for each notebook, that it speaks TCP: it does with this process alone, on this machine.
        extra_arguments=["--IPKernelApp.log_level=40"],
        coalesce_streams=True,  # however the kernel cuts what a cell prints, it is stored in one piece
        resources={"metadata": {"path": str(folder)}},
    )
    with tempfile.TemporaryDirectory() as home:  # nobody's own progress gets into what is stored
        client.execute(env=os.environ | {"SDPA_HOME": home})
    notebook.metadata = nbformat.from_dict(METADATA)  # no version of this machine, no widget state
    return notebook


def solved(lesson: str) -> NotebookNode:
    """The notebook of solutions/, not executed."""
    return exercise_notebook(lesson, model_answers(lesson))


def make(root: Path, stem: str) -> bool:
    """Write the notebooks of one name: the lesson executed again, solutions and exercises made from definitions.

    Returns whether that changed any of them.
    """
    path = root / "notebooks" / f"{stem}.ipynb"
    changed = put(path, as_text(executed(nbformat.read(path, as_version=4), path.parent)))
    if stem in LESSONS:
        solutions = executed(solved(stem), root / "solutions")
        for cell in solutions.cells:
            if cell.id == "progress":
                cell.outputs = []  # it is about the whole course: the next new exercise would make it false
        changed |= put(root / "solutions" / path.name, as_text(solutions))
        changed |= put(root / "exercises" / path.name, as_text(exercise_notebook(stem)))
    return changed


def main(names: list[str]) -> None:
    """Make the notebooks whose file name contains one of `names` (all, without names); a line for each.

    SystemExit for a name that none has.
    """
    root = course_root()
    stems = sorted(path.stem for path in (root / "notebooks").glob("*.ipynb"))
    if unknown := [name for name in names if not any(name in stem for stem in stems)]:
        sys.exit(f"no notebook is named like {', '.join(unknown)}; there are {', '.join(stems)}")
    for stem in stems:
        if not names or any(name in stem for name in names):
            tell(stem, make(root, stem))


if __name__ == "__main__":
    main(sys.argv[1:])
