"""Build the slides: a file for each lesson with an outline, and a page that leads to them."""

from collections.abc import Sequence
from pathlib import Path

import nbformat

from editions.look.pages import write_look
from editions.slides.deck import Cell, Deck, Lesson, deck_of, in_lines
from editions.slides.outline import lessons, outline_path, read
from editions.slides.page import index_of, page_of
from editions.stored.formulas import draw
from editions.stored.text import all_formulas
from sdpa_helpers.course.places import course_root


def cells_of(lesson: str) -> list[Cell]:
    """The cells of a stored lesson."""
    return list(nbformat.read(course_root() / "notebooks" / f"{lesson}.ipynb", as_version=4).cells)


def decks(names: Sequence[str]) -> list[Deck]:
    """The decks of some lessons; all their formulas are drawn at once."""
    outlines = {name: outline_path(name).read_text(encoding="utf-8") for name in names}
    cells = {name: cells_of(name) for name in names}
    named = [
        cell["source"]
        for name, some in cells.items()
        for cell in some
        if cell["cell_type"] == "markdown" and f": {cell['id']}" in outlines[name]
    ]
    drawn = draw(all_formulas([*outlines.values(), *map(in_lines, named)]))
    return [deck_of(read(text), Lesson(name, cells[name], drawn)) for name, text in outlines.items()]


def build_slides(into: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the decks of some lessons, or of all, and index.html; returns the files."""
    into.mkdir(parents=True, exist_ok=True)
    write_look(into.parent)
    made = decks(names or lessons())
    pages = {f"{deck.lesson}.html": page_of(deck) for deck in made} | {"index.html": index_of(made)}
    for name, page in pages.items():
        (into / name).write_text(page, encoding="utf-8")
    return [into / name for name in pages]
