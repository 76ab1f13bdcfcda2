"""`sdpa review` without its options: write the notebook, open JupyterLab on it, bring in the marks when it ends."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from sdpa_helpers.classroom.files import write_text
from sdpa_helpers.classroom.results_folder import ResultsFolder
from sdpa_helpers.classroom.review.apply_marks import GRADEBOOK
from sdpa_helpers.classroom.review.session import answers_of
from sdpa_helpers.classroom.rubrics import model_answers
from sdpa_helpers.classroom.sentences.command import givers
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import all_written
from sdpa_helpers.grading.refusal import Refusal

_CELL = """\
# Press Shift+Enter: the panel opens below, and takes the keyboard. Press ? there for its keys.
from sdpa_helpers.classroom.review.panel import review

review(".")"""

_NAMING = """\
# Answers in code that the course has no name for: one sentence for all who gave the same one.
from sdpa_helpers.classroom.review.naming import naming

naming(".")"""

_ABOUT = """\
# Review of written answers

Run the first cell. Every mark is saved as soon as it shows, and stays when the batch is graded again; so is a sentence
about an answer in code, in `names.toml`.
`w` in the panel brings both into the grades, the feedback pages and the gradebook. `sdpa review` does the same
when JupyterLab ends (Ctrl-C in its terminal), and so does the next `sdpa grade`."""


class NothingToReview(Refusal):
    """Nothing in the folder waits for a person; the text says why that may be."""


def write_notebook(folder: ResultsFolder) -> Path:
    """Write the notebook with the panel into an --out folder; raises NothingToReview."""
    answers, nameless = answers_of(folder.read_results()), givers(folder.read_results())
    if not answers and not nameless:
        raise NothingToReview(
            f"{folder} holds no written answers: nobody handed in a notebook with an exercise in words, or nothing was "
            "written in its cells; and all mistakes in code have a name"
        )
    notebook = new_notebook(
        cells=[
            *([new_code_cell(_CELL, id="panel")] if answers else ()),
            *([new_code_cell(_NAMING, id="naming")] if nameless else ()),
            new_markdown_cell(_ABOUT, id="about"),
            *(_question(name) for name in dict.fromkeys(answer.key.exercise for answer in answers)),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    write_text(folder.review_notebook, nbformat.writes(notebook) + "\n")
    return folder.review_notebook


def _question(name: str) -> NotebookNode:
    """A question and its model answer, whose formulas Jupyter sets."""
    exercise = all_written()[name]
    model = model_answers(exercise.lesson).get(name, "")
    return new_markdown_cell(
        f"## {exercise.title}\n\n{exercise.prompt}\n\n### A model answer\n\n{model}", id=name
    )


def open_lab(folder: ResultsFolder, flags: list[str], gradebook: str | None) -> int:
    """JupyterLab on the notebook, until it ends; returns its exit status. `flags` are passed on to it."""
    settings = os.environ | ({GRADEBOOK: gradebook} if gradebook else {})
    with contextlib.suppress(FileNotFoundError):
        known = [str(course_root() / ".jupyter"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
        settings |= {"JUPYTER_CONFIG_PATH": os.pathsep.join(filter(None, known))}
    as_root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    command = [
        sys.executable, "-m", "jupyter", "lab", f"--LabApp.default_url=/doc/tree/{folder.review_notebook.name}",
        f"--ServerApp.root_dir={folder.path.resolve()}", *as_root, *flags,
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=folder.path, env=settings) as lab, _leaving_to(lab):
        return lab.wait()


@contextlib.contextmanager
def _leaving_to(lab: subprocess.Popen) -> Iterator[None]:
    """Ctrl-C is for JupyterLab, which asks; what ends us ends it, so that marks can be brought in afterwards."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: lab.terminate()),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
