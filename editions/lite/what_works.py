"""A page that says what the browser edition can do and what needs an installation, from the notebooks' own tags."""

import json
from pathlib import Path
from typing import NamedTuple

from editions.look.pages import templates_in
from sdpa_helpers.course.needs import WORDS
from sdpa_helpers.course.registry import LESSONS, exercises_of
from sdpa_helpers.desk.outline import outline_of, text_of
from sdpa_helpers.desk.where import notebooks_in

HERE = Path(__file__).parent
TAG = "needs-"


class Section(NamedTuple):
    """A section with cells that do not run in a browser, all for the same reason."""

    heading: str
    needs: str
    cells: int


class Lesson(NamedTuple):
    """What of a lesson runs in a browser."""

    name: str
    title: str
    cells: int
    sections: tuple[Section, ...]

    @property
    def run_here(self) -> int:
        """Cells of code that do."""
        return self.cells - sum(section.cells for section in self.sections)


def what_works(root: Path) -> tuple[Lesson, ...]:
    """Of every lesson, in the order of the course."""
    return tuple(_lesson(path) for path in notebooks_in(root, "notebooks"))


def page(root: Path) -> str:
    """The page, in HTML."""
    exercises = [exercise for lesson in LESSONS for exercise in exercises_of(lesson)]
    return (
        templates_in(HERE)
        .get_template("what_works.html")
        .render(
            lessons=what_works(root),
            exercises=len(exercises),
            points=f"{sum(exercise.max_points for exercise in exercises):g}",
        )
    )


def _lesson(path: Path) -> Lesson:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    heading, lacking = "", {}
    for cell in cells:
        if cell["cell_type"] == "markdown":
            headings = [line for line in text_of(cell).splitlines() if line.startswith("#")]
            heading = headings[-1].lstrip("# ") if headings else heading
        for tag in cell["metadata"].get("tags", []):
            if tag.startswith(TAG):
                key = heading, WORDS[tag.removeprefix(TAG)]
                lacking[key] = lacking.get(key, 0) + 1
    sections = tuple(Section(*key, count) for key, count in lacking.items())
    code = sum(cell["cell_type"] == "code" for cell in cells)
    return Lesson(path.stem, outline_of(path).title, code, sections)
