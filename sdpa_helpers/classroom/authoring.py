"""For authors: write solutions/ and exercises/ from the exercises' definitions, execute and store every notebook."""

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from sdpa_helpers.classroom.rubrics import model_answers
from sdpa_helpers.lessons.exercise_notebook import METADATA, exercise_notebook
from sdpa_helpers.lessons.places import course_root
from sdpa_helpers.lessons.registry import LESSONS


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


def make(root: Path, stem: str) -> None:
    """Write the notebooks of one name: the lesson executed again, solutions and exercises made from definitions."""
    path = root / "notebooks" / f"{stem}.ipynb"
    path.write_text(as_text(executed(nbformat.read(path, as_version=4), path.parent)), encoding="utf-8")
    if stem in LESSONS:
        solutions = executed(solved(stem), root / "solutions")
        for cell in solutions.cells:
            if cell.id == "progress":
                cell.outputs = []  # it is about the whole course: the next new exercise would make it false
        (root / "solutions" / path.name).write_text(as_text(solutions), encoding="utf-8")
        (root / "exercises" / path.name).write_text(as_text(exercise_notebook(stem)), encoding="utf-8")


def main(names: list[str]) -> None:
    """Make the notebooks whose file name contains one of `names` (all, without names)."""
    root = course_root()
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        if not names or any(name in path.stem for name in names):
            print(f"making {path.name}", flush=True)
            make(root, path.stem)


if __name__ == "__main__":
    main(sys.argv[1:])
