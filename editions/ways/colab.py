"""The notebook for Colab: two cells from the link to a verdict. `python -m editions.ways.colab` writes it.

The wheel brings no torch and limits NumPy only to 2.x, so that Colab's own stay as they are.
"""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from editions.address import repository
from sdpa_helpers.course.exercise_notebook import METADATA, exercise_notebook
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.notebook_cells import SETUP
from sdpa_helpers.course.places import course_root

NOTEBOOK = "editions/ways/colab.ipynb"
EXERCISE = "dot_product"


def wheel_name(version: str) -> str:
    """The file name of the course's wheel."""
    return f"sdpa_helpers-{version}-py3-none-any.whl"


def colab_notebook(version: str, address: str) -> nbformat.NotebookNode:
    """A title, a cell that installs, and one with an exercise and its check.

    address: the repository's, whose release holds the wheel; "": the learner uploads the wheel first.
    """
    name = wheel_name(version)
    source = f"{address}/releases/download/v{version}/{name}" if address else name
    upload = "" if address else f"\n\nUpload `{name}` first (the folder on the left, then the arrow)."
    cells = exercise_notebook("01_dot_product").cells
    prompt = next(cell.source for cell in cells if cell["id"] == "dot-product-prompt")
    answer = next(
        cell.source for cell in cells if cell["id"].startswith("dot-product") and cell.cell_type == "code"
    )
    install = f'%pip install -q "{source}"\n{SETUP}'
    return new_notebook(
        metadata=METADATA,
        cells=[
            new_markdown_cell(f"# Try one exercise on Colab\n\nRun the two cells below.{upload}", id="title"),
            new_code_cell(install, id="install"),
            new_markdown_cell(prompt, id="prompt"),
            new_code_cell(f"{answer}\n\n\ncheck({EXERCISE})", id="answer"),
        ],
    )


def main() -> None:
    """Write the notebook into the repository."""
    import tomllib

    project = tomllib.loads((course_root() / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = nbformat.writes(colab_notebook(project["version"], repository()))
    keep(course_root(), NOTEBOOK, text + "\n")


if __name__ == "__main__":
    main()
