"""A lesson on one card: its `card.md`.

# 03 · Softmax

## Formulas

- softmax(*x*)_{i} = e^{xᵢ} / Σ_{j} e^{xⱼ}

## Shapes

- *S* · (n_{q}, n_{k})
  scores, a row for each query

## Remember

- Only gaps between scores count.

## Picture

`plot_temperatures_in_short` in figures.py
"""

import importlib
import re
from collections.abc import Callable
from functools import cache, partial

from sdpa_helpers.course.content import ContentEntry, Paragraph, Section, home_of, page_of
from sdpa_helpers.course.registry import lesson_in
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import Picture

_HEADINGS = ["Formulas", "Shapes", "Remember", "Picture"]
_DRAWN_BY = re.compile(r"`(\w+)` in (\w+)\.py")


@cache
def card_of(lesson: str) -> CheatCard | None:
    """The card of a lesson; None where it has none. PageError says which line of the page cannot be read."""
    page = page_of(lesson, "card")
    if not page.sections:
        return None
    first = page.sections[0]
    if [section.title for section in page.sections] != _HEADINGS:
        raise first.wrong(f"a card has the headings {', '.join(_HEADINGS)}, in this order")
    formulas, shapes, remember, picture = page.sections
    rows = tuple(_shape(shapes, entry) for entry in shapes.of(ContentEntry))
    drawing = _drawing(lesson, picture)
    try:
        return CheatCard(page.title, _lines(formulas), rows, _lines(remember), drawing)
    except ValueError as error:
        raise first.wrong(str(error), 1) from None


def cheat_card_in(folder: str) -> Callable[[], CheatSheet]:
    """The function `cheat_card` of the lesson in a folder."""
    card = card_of(lesson_in(folder))
    assert card is not None

    def cheat_card() -> CheatSheet:
        """The lesson on one card, as the result of a cell."""
        return CheatSheet(card)

    return cheat_card


def _lines(section: Section) -> tuple[str, ...]:
    return tuple(entry.text for entry in section.of(ContentEntry))


def _shape(section: Section, entry: ContentEntry) -> tuple[str, str, str]:
    symbol, _, shape = entry.text.partition(" · ")
    if not shape or not entry.says:
        raise section.wrong("`- symbol · shape` is expected, and indented below it what that is", entry.line)
    return symbol, entry.says, shape


def _drawing(lesson: str, section: Section) -> Callable[[], Picture]:
    named = [_DRAWN_BY.fullmatch(text.text) for text in section.of(Paragraph)]
    if len(named) != 1 or named[0] is None:
        raise section.wrong("one line is expected, which function draws it: `plot_gaps` in figures.py")
    function, module = named[0].groups()
    if not (home_of(lesson) / f"{module}.py").is_file():
        raise section.wrong(f"there is no {module}.py in the lesson's folder")
    return partial(_draw, f"sdpa_helpers.lessons.{home_of(lesson).name}.{module}", function)


def _draw(module: str, function: str) -> Picture:
    # Loaded when it is drawn: the deck reads the shapes of every card, and no figure.
    return getattr(importlib.import_module(module), function)()
