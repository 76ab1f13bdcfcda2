"""A small course in a folder of its own, and what a learner does to the copies in work/."""

import json
from pathlib import Path
from typing import Any

from sdpa_helpers.desk.deciding import Done

SOFTMAX = "# exercise: softmax\ndef softmax(x):\n    return NotImplemented"
WORDS = "<!-- exercise: why_scale -->\n*Write your answer here.*"


def markdown(source: str, name: str) -> dict[str, Any]:
    """A cell."""
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}


def code(source: str, name: str) -> dict[str, Any]:
    """A cell that has run."""
    output = {"name": "stdout", "output_type": "stream", "text": ["4\n"]}
    return {"cell_type": "code", "execution_count": 7, "id": name, "metadata": {"tags": ["a"]}, "outputs": [output],
            "source": source.splitlines(keepends=True)}  # fmt: skip


LESSON = [
    markdown("# 03 · Softmax\n\n**45 minutes** · [next](04_gradients.ipynb)", "title"),
    code("2 + 2", "sum"),
]
EXERCISE = [
    markdown("# 03 · Softmax: exercises\n\n[lesson](../notebooks/03_softmax.ipynb)", "title"),
    code(SOFTMAX, "softmax-answer"),
    code("check(softmax)", "softmax-check"),
    markdown(WORDS, "why-scale-answer"),
]


def write(path: Path, cells: list[dict[str, Any]]) -> None:
    """A notebook as the course stores it."""
    about = {
        "kernelspec": {"display_name": "Old", "language": "python", "name": "python3"},
        "widgets": {"a": 1},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def make_course(root: Path) -> Path:
    """Three lessons and an exercise notebook."""
    write(root / "notebooks/00_start_here.ipynb", [markdown("# 00 · Start here", "title")])
    write(root / "notebooks/03_softmax.ipynb", LESSON)
    write(root / "exercises/03_softmax.ipynb", EXERCISE)
    return root


def new_version(root: Path, name: str = "notebooks/03_softmax.ipynb", says: str = "A new paragraph.") -> str:
    """A cell more at the end, as if the course had been updated. Returns what it says."""
    cells = json.loads((root / name).read_text())["cells"]
    write(root / name, [*cells, markdown(says, f"more-{len(cells)}")])
    return says


def edit(path: Path, change: Any) -> None:
    """Change a notebook as a learner does: `change` gets its cells."""
    notebook = json.loads(path.read_text())
    change(notebook["cells"])
    path.write_text(json.dumps(notebook, indent=1) + "\n")


def sources(path: Path) -> list[str]:
    """What its cells say."""
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]


def run(path: Path) -> None:
    """Run its cells, as far as the file shows that."""
    edit(path, lambda cells: cells[-1].update(execution_count=1, outputs=[{"output_type": "stream"}]))


def annotate(path: Path) -> None:
    """A learner's note."""
    edit(path, lambda cells: cells[0]["source"].append("\n\nmy note"))


def everything(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def done(steps) -> dict[str, Done]:
    return {step.copy.name: step.done for step in steps}
