"""Write docs/cheat-sheet.html: the cheat card of every lesson on one page (`make cheat-sheet`, `sdpa cheat-sheet`)."""

from pathlib import Path

from sdpa_helpers.course.cards import card_of
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.places import course_root
from sdpa_helpers.course.registry import LESSONS, sheet_of
from sdpa_helpers.show.cheat_page import MARK, PlacedCard, Symbol, sheet_page

SYMBOLS = (
    Symbol("*n*_{q}, *n*_{k}", "number of queries, of keys"),
    Symbol("*d*_{k}, *d*_{v}", "width of queries and keys, of values"),
    Symbol("*d*_{model}", "width of the vectors *x*"),
    Symbol("*Q*, *q*_{i}", "queries: what is looked for", "(…, n_{q}, d_{k})", "query"),
    Symbol("*K*, *k*_{j}", "keys: what is found", "(…, n_{k}, d_{k})", "key"),
    Symbol("*V*, *v*_{j}", "values: what is handed over", "(…, n_{k}, d_{v})", "value"),
    Symbol("*S*, *s*_{ij}", "scores *QK*^{T}, scaled or not", "(…, n_{q}, n_{k})"),
    Symbol("*W*, *w*_{ij}", "weights; papers: *P* or *A*", "(…, n_{q}, n_{k})", "weight"),
    Symbol("*O*, *o*_{i}", "outputs *WV*", "(…, n_{q}, d_{v})", "out"),
    Symbol("*T*", "temperature: divides scores"),
    Symbol("LSE", "ln Σ_{j} exp *s*_{ij}", "(…, n_{q})"),
    Symbol("mask", "who may attend to whom", "(…, n_{q}, n_{k})"),
)
"""The letters of the table in lesson 00, in fewer words."""


def cheat_sheet() -> str:
    """The page: lessons in the order of the registry, each that has a card."""
    return sheet_page(SYMBOLS, [place for lesson in LESSONS if (place := _place_of(lesson)) is not None])


def _place_of(lesson: str) -> PlacedCard | None:
    card, about = card_of(lesson), sheet_of(lesson)
    return PlacedCard(lesson[:2], about.title, about.question, card) if card else None


def write_sheet(path: Path) -> None:
    """Write the page into a file, new or an older one of ours. OSError where that cannot be, or is another's file."""
    if path.exists() and not path.read_bytes().startswith(MARK.encode()):
        raise FileExistsError(f"{path} is there and no cheat sheet of ours: it stays as it is")
    path.write_text(cheat_sheet(), encoding="utf-8")


if __name__ == "__main__":
    keep(course_root(), "docs/cheat-sheet.html", cheat_sheet())
