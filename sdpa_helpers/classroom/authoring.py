"""For authors: execute and store every notebook, and write exercises/ from solutions/ (`make notebooks`).

The student's version is made by nbgrader's own preprocessors, so that a site which runs nbgrader on
solutions/ hands out the same notebooks.
"""

import copy
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from sdpa_helpers.checking.written_exercise import STUB as TEXT_STUB
from sdpa_helpers.lessons.places import course_root

STUB = "return NotImplemented  # replace this line with your answer"
_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def student_version(solved: NotebookNode) -> NotebookNode:
    """A copy without solutions and outputs: what a learner fills in."""
    from nbconvert.exporters.exporter import ResourcesDict
    from nbgrader.preprocessors import ClearOutput, ClearSolutions
    from traitlets.config import Config

    notebook = copy.deepcopy(solved)
    for preprocessor in (
        ClearSolutions(config=Config(ClearSolutions={"code_stub": {"python": STUB}, "text_stub": TEXT_STUB})),
        ClearOutput(),
    ):
        notebook, _ = preprocessor.preprocess(notebook, ResourcesDict())
    notebook.metadata = nbformat.from_dict(_METADATA)
    return notebook


def write_exercises(root: Path) -> list[Path]:
    """Write exercises/<name>.ipynb for every notebook in solutions/."""
    written = []
    for path in sorted((root / "solutions").glob("*.ipynb")):
        target = root / "exercises" / path.name
        target.write_text(as_text(student_version(nbformat.read(path, as_version=4))), encoding="utf-8")
        written.append(target)
    return written


def as_text(notebook: NotebookNode) -> str:
    """The notebook as it is stored: the same bytes whenever it holds the same."""
    return nbformat.writes(notebook) + "\n"


def execute(path: Path) -> None:
    """Run a notebook in a fresh kernel, in its own folder, and store it with its outputs.

    Raises nbclient's CellExecutionError when a cell fails; the file is then left as it was.
    """
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    with tempfile.TemporaryDirectory() as home:  # nobody's own progress gets into what is stored
        client.execute(env=os.environ | {"SDPA_HOME": home})
    notebook.metadata = nbformat.from_dict(_METADATA)  # no version of this machine, no widget state
    path.write_text(as_text(notebook), encoding="utf-8")


def main(names: list[str]) -> None:
    """Execute and store the notebooks whose file name contains one of `names` (all, without names)."""
    root = course_root()
    for path in sorted([*(root / "notebooks").glob("*.ipynb"), *(root / "solutions").glob("*.ipynb")]):
        if not names or any(name in path.stem for name in names):
            print(f"executing {path.relative_to(root)}", flush=True)
            execute(path)
    for path in write_exercises(root):
        print(f"wrote {path.relative_to(root)}")


if __name__ == "__main__":
    main(sys.argv[1:])
