"""For authors: what the course says about its own lessons, written from their registry and their cells.

The minutes in a lesson's head and at its long way, the neighbors at the end of its short and at its own, which cells
need PyTorch, the map in lesson 00, and the README's table and hours. A new lesson is entered in the registry alone:
`make minutes` does the rest.
"""

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from sdpa_helpers.course.generated import keep, put, tell
from sdpa_helpers.course.needs import WORDS, cells_that_need
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import FIRST, LESSONS, all_exercises, sheet_of
from sdpa_helpers.course.tracks import (
    FOLDED,
    STORY,
    Size,
    Track,
    begins_long_way,
    sizes_of,
    whole_minutes,
)

FIRST_TITLE, FIRST_QUESTION = "Start here", "How does this course work?"

_MINUTES = re.compile(r"^.*\*\*\d+ minutes\*\*.*$", re.MULTILINE)
_LONG_WAY = re.compile(r" ?About \d+ minutes, an estimate[.;].*$")
_MORE: Mapping[Track, str] = {"deeper": "more to go deeper", "claims": "for the claims"}
_ROWS = re.compile(r"(?<=\| lesson \| question \| short \|\n\|---\|---\|---\|\n)(?:\|.*\n)+")
_README_ROWS = re.compile(
    r"(?<=\| lesson \| what it answers \| short \| the long way \|\n\|---\|---\|---\|---\|\n)(?:\|.*\n)+"
)
_HOURS = re.compile(r"^\*\*How long\.\*\*.*$", re.MULTILINE)


def title_of(lesson: str) -> str:
    """A lesson's number and title, e.g. "06 What attention costs"."""
    return f"{lesson[:2]} {FIRST_TITLE if lesson == FIRST else sheet_of(lesson).title}"


def before_and_after(lesson: str) -> tuple[str, str]:
    """The links to the lessons before and after one, in Markdown; "" at an end of the course."""
    course = (FIRST, *LESSONS)
    place = course.index(lesson)
    before = f"[← {title_of(course[place - 1])}]({course[place - 1]}.ipynb)" if place else ""
    last = place + 1 == len(course)
    return before, "" if last else f"next: [{title_of(course[place + 1])} →]({course[place + 1]}.ipynb)"


def head_line(cells: list[NotebookNode]) -> str:
    """The line under a lesson's title: the minutes of its short. The rest stands at the long way, and at the end."""
    return f"About **{whole_minutes(next(iter(sizes_of(cells).values())))} minutes**"


def needs_tags(cells: list[NotebookNode]) -> dict[str, list[str]]:
    """Of each code cell, by its id, the tag that says what it cannot run without, e.g. ["needs-torch"]; [] for most."""
    code = [cell for cell in cells if cell.cell_type == "code"]
    found = cells_that_need([cell.source for cell in code], frozenset(WORDS))
    return {cell.id: [f"needs-{need.what}"] if need else [] for cell, need in zip(code, found, strict=True)}


def tag_cells(cells: list[NotebookNode]) -> None:
    """Write these tags into the cells, beside the tags they have."""
    tags = needs_tags(cells)
    for cell in cells:
        others = [tag for tag in cell.metadata.get("tags", []) if not tag.startswith("needs-")]
        now = others + tags.get(cell.id, [])
        cell.metadata.pop("tags", None)
        if now:
            cell.metadata["tags"] = now


def with_head_line(lesson: str, cells: list[NotebookNode]) -> str:
    """A lesson's first text, with its head line as it is today; ValueError where it has no place for it."""
    told, places = _MINUTES.subn(lambda _: head_line(cells), cells[0].source)
    if places != 1:
        raise ValueError(f"{lesson}: its first cell needs one line with **… minutes**; it has {places}")
    return told


def with_neighbors(lesson: str, last: str) -> str:
    """A lesson's last text; its last line leads to the lessons before and after."""
    text, _, line = last.rpartition("\n")
    if not line.startswith(("[", "next: ")):
        text, line = last + "\n", ""
    return f"{text}\n{' · '.join(filter(None, before_and_after(lesson)))}".lstrip("\n")


def write_long_way(cells: list[NotebookNode]) -> None:
    """Say at the heading of the long way how long it takes, and at the end of the short what comes next."""
    told = sizes_of(cells)
    for at, cell in enumerate(cells):
        if begins_long_way(cell):
            cell.source = f"{_LONG_WAY.sub('', cell.source.rstrip())} {_rest_in_words(told, cells)}"
            last = cells[at - 1]
            if last.cell_type == "markdown" and (lines := last.source.split("\n"))[-1].startswith("next: "):
                last.source = "\n".join([*lines[:-1], _next_of(cells)])


def _rest_in_words(told: Mapping[Track, Size], cells: list[NotebookNode]) -> str:
    """E.g. "About 27 minutes, an estimate; 28 more to go deeper, 5 for the claims. 14 cells need PyTorch."."""
    more = ", ".join(f"{whole_minutes(told[name])} {what}" for name, what in _MORE.items() if name in told)
    count = sum(tags == ["needs-torch"] for tags in needs_tags(cells).values())
    torch = f" {count} cell{'s need' if count != 1 else ' needs'} PyTorch." if count else ""
    return f"About {whole_minutes(told['core'])} minutes, an estimate{'; ' if more else ''}{more}.{torch}"


def _next_of(cells: list[NotebookNode]) -> str:
    """The link to the lesson after this one, as its last cell has it; "" at the end of the course."""
    _, leads_on, after = cells[-1].source.rpartition("next: ")
    return leads_on + after if leads_on else ""


def with_map(text: str, root: Path) -> str:
    """The text of lesson 00 that maps the course, with a row for each lesson, and the hours of all."""
    rows = [f"| {title_of(FIRST)} | {FIRST_QUESTION} | {_minutes(root, FIRST, 'short')} |"]
    rows += [
        f"| [{title_of(lesson)}]({lesson}.ipynb) | {sheet_of(lesson).question} | {_minutes(root, lesson, 'short')} |"
        for lesson in LESSONS
    ]
    return _with_hours(put_rows(_ROWS, rows, text), hours_in_words(root))


def _with_hours(text: str, hours: str) -> str:
    told, places = _HOURS.subn(lambda _: hours, text)
    if places != 1:
        raise ValueError(f"one line that begins with **How long.** was expected, there are {places}")
    return told


def with_table(readme: str, root: Path) -> str:
    """The README, with a row for each lesson, what it answers and how long its story takes, and the hours of all."""
    questions = {FIRST: FIRST_QUESTION} | {lesson: sheet_of(lesson).question for lesson in LESSONS}
    rows = [
        f"| [{title_of(lesson)}](notebooks/{lesson}.ipynb) | {question} "
        f"| {' | '.join(_minutes(root, lesson, track) for track in STORY)} |"
        for lesson, question in questions.items()
    ]
    return put_rows(
        _README_ROWS,
        rows,
        _with_hours(readme, hours_in_words(root, " ([the model](docs/course.md#how-long-it-takes))")),
    )


def hours_in_words(root: Path, model: str = "") -> str:
    """How long the course takes: the shorts, the long way, and the library behind it. model: a link to how we know."""
    exercises = all_exercises().values()
    short, core, folded = hours_of(root, "short"), hours_of(root, "core"), hours_of(root, *FOLDED)
    written = _hours(_halves(sum(exercise.minutes for exercise in exercises)))
    return (
        f"**How long.** About {short} for the shorts: each lesson opens with one, a question, something to "
        f"drag and a few lines of your own. Then {core} more for the long way, which has the reasons and the "
        f"measurements. Then a library: sections that go deeper ({folded}) and {len(exercises)} exercises "
        f"({written}). These are estimates from texts, code and questions{model}. We haven't timed readers yet, so "
        "allow more."
    )


def hours_of(root: Path, *tracks: Track) -> str:
    """How long these tracks of all lessons take together, e.g. "3½ hours"."""
    lessons = [minutes_of(root, lesson) for lesson in (FIRST, *LESSONS)]
    return _hours(_halves(sum(minutes.get(name, 0) for minutes in lessons for name in tracks)))


def _halves(minutes: int) -> int:
    """In half hours, the nearest."""
    return round(minutes / 30)


def _hours(halves: int) -> str:
    """E.g. "3½ hours"."""
    return f"{halves // 2 or ''}{'½' * (halves % 2)} hour{'s' * (halves > 2)}"


def minutes_of(root: Path, lesson: str) -> dict[Track, int]:
    """The minutes of each track of a lesson, as its head says them."""
    return _minutes_in(_path(root, lesson).read_text(encoding="utf-8"))


@lru_cache(maxsize=32)
def _minutes_in(notebook: str) -> dict[Track, int]:
    cells = nbformat.reads(notebook, as_version=4).cells
    return {name: whole_minutes(size) for name, size in sizes_of(cells).items()}


def _minutes(root: Path, lesson: str, track: Track) -> str:
    """E.g. "8 min"; "" where a lesson lacks the track."""
    minutes = minutes_of(root, lesson)
    return f"{minutes[track]} min" if track in minutes else ""


def put_rows(place: re.Pattern[str], rows: list[str], text: str) -> str:
    """A text with these rows in the place of a table's; ValueError where it has no such table, or two."""
    told, places = place.subn(lambda _: "\n".join(rows) + "\n", text + "\n")
    if places != 1:
        raise ValueError(f"one such table was expected, there are {places}")
    return told[:-1]


def _path(root: Path, lesson: str) -> Path:
    return root / "notebooks" / f"{lesson}.ipynb"


def _read(root: Path, lesson: str) -> NotebookNode:
    return nbformat.read(_path(root, lesson), as_version=4)


def write_lesson(root: Path, lesson: str) -> tuple[NotebookNode, bool]:
    """Write a lesson's head line, its tags, its last line and, in lesson 00, the map.

    Returns the notebook, and whether anything in it is new.
    """
    notebook = _read(root, lesson)
    if lesson == FIRST:
        cell = next(cell for cell in notebook.cells if cell.id == "map")
        cell.source = with_map(cell.source, root)
    if notebook.cells[-1].cell_type != "markdown":
        notebook.cells.append(nbformat.v4.new_markdown_cell(id="neighbors"))
    tag_cells(notebook.cells)
    notebook.cells[-1].source = with_neighbors(lesson, notebook.cells[-1].source)
    write_long_way(notebook.cells)
    notebook.cells[0].source = with_head_line(lesson, notebook.cells)
    return notebook, put(_path(root, lesson), nbformat.writes(notebook) + "\n")


def main() -> None:
    """Write what the lessons and the README say about the course, and print what each track takes, as they say it."""
    root = course_root()
    for lesson in (FIRST, *LESSONS):
        notebook, changed = write_lesson(root, lesson)
        told = (
            f"{name} {whole_minutes(size)} min, {size.words} words, {size.lines} lines"
            for name, size in sizes_of(notebook.cells).items()
        )
        tell(f"{lesson}: {'; '.join(told)}", changed)
    keep(root, "README.md", with_table((root / "README.md").read_text(encoding="utf-8"), root))


if __name__ == "__main__":
    sys.exit(main())
