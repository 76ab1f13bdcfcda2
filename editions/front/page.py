"""Write the site's first page, from the course: its minutes, its lessons, and five lines that were checked just now."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import nbformat

from editions.address import served_at
from editions.front import known
from editions.ledger import page as ledger
from editions.look.pages import templates_in, write_look
from editions.try_it.sums import sum_of
from sdpa_helpers.classroom.course_map import FIRST, FIRST_QUESTION, hours_of, minutes_of, title_of
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.reading_time import checked_in
from sdpa_helpers.course.registry import LESSONS, all_exercises, sheet_of
from sdpa_helpers.course.tracks import STORY

HERE = Path(__file__).parent
TRY = HERE.parent / "try_it" / "static"
TITLE = "Attention, with your mistakes named"
ABOUT = (
    "A course on scaled dot-product attention: you write each line, a trained head runs on it, and a mistake gets its "
    "name. In your browser, nothing to install."
)


@dataclass(frozen=True)
class LessonRow:
    """A lesson in the table."""

    address: str
    title: str
    question: str
    minutes: tuple[str, ...]
    """Of its short and of its long way."""
    writes: str
    """The exercise of its short."""
    worth: float


def write_front(site: Path) -> None:
    """Write `index.html` and what it needs into the site's folder."""
    into = site / "front"
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(HERE / "static", into)
    write_look(site)
    (site / "index.html").write_text(as_html(), encoding="utf-8")


def as_html() -> str:
    """The whole page."""
    root = course_root()
    wrong, unnoticed = known.unnoticed()
    return (
        templates_in(HERE / "templates")
        .get_template("index.html")
        .render(
            title=TITLE,
            about=ABOUT,
            address=served_at(),
            frame=sum_of((TRY / "frame.js").read_bytes()),
            lessons=lessons(root),
            hours=hours_of(root, "short"),
            answers=[known.known(line) for line in known.LINES],
            people=known.people(),
            question=known.question(),
            right=known.right_drink(),
            defined=known.DEFINED,
            wrong=wrong,
            unnoticed=unnoticed,
            exercises=len(all_exercises()),
            claims=len(ledger.entries_of(root)),
        )
    )


def lessons(root: Path) -> list[LessonRow]:
    """The lessons, what each answers, and the minutes of its short and of the long way."""
    found = []
    for lesson in (FIRST, *LESSONS):
        minutes = minutes_of(root, lesson)
        each = tuple(f"{minutes[name]} min" if name in minutes else "" for name in STORY)
        question = FIRST_QUESTION if lesson == FIRST else sheet_of(lesson).question
        cells = nbformat.read(root / "notebooks" / f"{lesson}.ipynb", as_version=4).cells
        writes = next(name for cell in cells for name in checked_in(cell))
        worth = all_exercises()[writes].max_points
        found.append(LessonRow(f"lessons/{lesson}.html", title_of(lesson), question, each, writes, worth))
    return found
