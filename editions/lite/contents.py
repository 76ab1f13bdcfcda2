"""What a learner finds in the browser edition: the lessons and exercises, not yet run, and how far a newcomer is."""

import dataclasses
import json
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

from sdpa_helpers.desk.copy_text import as_saved
from sdpa_helpers.desk.course import CourseState, NextStep, course_state
from sdpa_helpers.desk.outline import outline_of, text_of
from sdpa_helpers.desk.where import FOLDERS, notebooks_in, work_of

KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "python", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.8",
    },
}
"""What JupyterLite writes into a notebook that it opens: a copy that has it already is not changed by being opened."""


def write_contents(root: Path, into: Path) -> None:
    """Write the learner's copies into the folder `into`."""
    for folder in FOLDERS:
        (into / folder).mkdir(parents=True, exist_ok=True)
        for source in notebooks_in(root, folder):
            (into / folder / source.name).write_text(untouched(source), encoding="utf-8")
    ledger = Path("docs", "ledger.json")  # `sdpa.remember()` asks about its claims
    (into / ledger).parent.mkdir(exist_ok=True)
    (into / ledger).write_bytes((root / ledger).read_bytes())


def untouched(source: Path) -> str:
    """A notebook of the course as it is before anything has run, so that no prediction can be read off."""
    notebook = json.loads(source.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    kept = {name: value for name, value in notebook["metadata"].items() if name != "widgets"}
    return as_saved(notebook | {"metadata": kept | KERNEL})


def desk(root: Path) -> dict[str, Any]:
    """What the side bar starts from: a newcomer's course, the names of each lesson's predictions, all stubs."""
    return {
        "state": dataclasses.asdict(newcomer(root)),
        "predictions": {
            path.stem: sorted(outline_of(path).predictions) for path in notebooks_in(root, "notebooks")
        },
        "stubs": {name: text for path in notebooks_in(root, "exercises") for name, text in stubs(path)},
    }


def newcomer(root: Path) -> CourseState:
    """The course before anything was done, with the places that its notebooks have in the browser."""
    with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, SDPA_HOME=empty):
        state = course_state(root)
    before = f"{work_of(root).name}/"
    lessons = [
        dataclasses.replace(
            lesson,
            lesson=lesson.lesson.removeprefix(before),
            exercise=lesson.exercise and lesson.exercise.removeprefix(before),
            changed_beside=False,
        )
        for lesson in state.lessons
    ]
    return CourseState(tuple(lessons), NextStep(lessons[0].name, None))


def stubs(notebook: Path) -> list[tuple[str, str]]:
    """The exercises of a notebook by name, each with what its answer cell begins with."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = [text_of(cell) for cell in cells if cell["cell_type"] == "code"]
    mark = "# exercise: "
    return [
        (text.partition("\n")[0].removeprefix(mark).strip(), text) for text in texts if text.startswith(mark)
    ]
