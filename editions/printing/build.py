"""Build the PDFs: one of each lesson, and the cheat sheet's."""

import html
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Page

from editions.printing.sheet import sheet_of
from editions.programs import page_to_print
from editions.slides.build import cells_of
from editions.stored.formulas import draw
from editions.stored.text import all_formulas
from sdpa_helpers.course.places import course_root

CHEAT_SHEET = "cheat-sheet"

_SMALL = 'style="width:100%;margin:0 20mm;font:8pt system-ui,sans-serif;color:#4b5763;display:flex;justify-content:'


def lessons() -> list[str]:
    """Every lesson that has a notebook, in the order of the course."""
    return [path.stem for path in sorted((course_root() / "notebooks").glob("*.ipynb"))]


def build_print(into: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write the PDFs of some lessons, or of all, and of the cheat sheet; returns the files.

    Raises:
        playwright's Error: there is no Chromium.
    """
    into.mkdir(parents=True, exist_ok=True)
    wanted = list(names or (*lessons(), CHEAT_SHEET))
    cells = {name: cells_of(name) for name in wanted if name != CHEAT_SHEET}
    drawn = draw(
        all_formulas(c["source"] for some in cells.values() for c in some if c["cell_type"] == "markdown")
    )
    with page_to_print() as page:
        for name, some in cells.items():
            title = some[0]["source"].split("\n")[0].lstrip("# ")
            page.set_content(sheet_of(title, some, drawn))
            _print_lesson(page, title, into / f"{name}.pdf")
        if CHEAT_SHEET in wanted:
            page.goto((course_root() / "docs" / f"{CHEAT_SHEET}.html").as_uri())
            page.pdf(
                path=into / f"{CHEAT_SHEET}.pdf",
                prefer_css_page_size=True,
                print_background=True,
                tagged=True,
            )
    return [into / f"{name}.pdf" for name in wanted]


def _print_lesson(page: Page, title: str, path: Path) -> None:
    page.pdf(
        path=path,
        prefer_css_page_size=True,
        print_background=True,
        display_header_footer=True,
        header_template=f'<div {_SMALL}space-between"><span>{html.escape(title)}</span>'
        "<span>Scaled dot-product attention</span></div>",
        footer_template=f'<div {_SMALL}flex-end"><span><span class="pageNumber"></span> / '
        '<span class="totalPages"></span></span></div>',
        outline=True,
        tagged=True,
    )
