"""Build the slides: a file a lesson, and a page that leads to them."""

from collections.abc import Sequence
from pathlib import Path

import nbformat

from editions.slides.blocks import all_formulas
from editions.slides.deck import Cell, Deck, deck_of, texts_of
from editions.slides.formulas import draw
from editions.slides.page import index_of, page_of
from sdpa_helpers.course.places import course_root


def cells_of(lesson: str) -> list[Cell]:
    """The cells of a stored lesson."""
    return list(nbformat.read(course_root() / "notebooks" / f"{lesson}.ipynb", as_version=4).cells)


def lessons() -> list[str]:
    """Every lesson that has a notebook, in the order of the course."""
    return [path.stem for path in sorted((course_root() / "notebooks").glob("*.ipynb"))]


def decks(names: Sequence[str]) -> list[Deck]:
    """The decks of some lessons; all their formulas are drawn at once."""
    cells = {name: cells_of(name) for name in names}
    drawn = draw(all_formulas(text for some in cells.values() for text in texts_of(some)))
    return [deck_of(name, some, drawn) for name, some in cells.items()]


def build_slides(into: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the decks of some lessons, or of all, and index.html; returns the files."""
    into.mkdir(parents=True, exist_ok=True)
    made = decks(names or lessons())
    pages = {f"{deck.lesson}.html": page_of(deck) for deck in made} | {"index.html": index_of(made)}
    for name, page in pages.items():
        (into / name).write_text(page, encoding="utf-8")
    return [into / name for name in pages]
