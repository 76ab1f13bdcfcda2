"""The kit on paper: each page of docs/instructors on one sheet of A4, through Chromium's print, and cards to vote with.

python -m editions.kit.paper        # build/print/instructors-kit.pdf, voting-cards.pdf
"""

import re
from pathlib import Path

from markdown_it import MarkdownIt

from editions.kit.pages import pages
from editions.programs import page_to_print
from sdpa_helpers.course.places import course_root

HERE = Path(__file__).parent
CHECKLIST = "day-before.md"
NAME, CARDS = "instructors-kit.pdf", "voting-cards"
SHEET_MM = 271
"""What a sheet of A4 has room for between its margins, in paper.css."""

_FIT = """
() => {
  const room = %s * 96 / 25.4;
  for (const page of document.querySelectorAll("article:not(.plans)")) {
    for (let share = 1; page.getBoundingClientRect().height > room && share > 0.75; share -= 0.01)
      page.style.fontSize = `${share}em`;
  }
}
"""
"""Makes the letters of a page smaller until it fits: how wide they are depends on the machine's fonts."""


def paper(folder: Path) -> str:
    """The whole kit as one page of HTML that needs nothing beside itself; `folder` has the stored pages."""
    order = ["README.md", "plans.md", CHECKLIST, *(name for name in pages() if name[:2].isdigit())]
    sheets = "\n".join(_sheet(name, folder) for name in order)
    style = (HERE / "paper.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The instructor\'s kit</title>'
        f"<style>{style}</style></head><body>{sheets}</body></html>"
    )


def _sheet(name: str, folder: Path) -> str:
    kind = {"README.md": "first", "plans.md": "plans", CHECKLIST: "list"}.get(name, "lesson")
    text = (folder / name).read_text(encoding="utf-8").partition("-->\n")
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text[2] or text[0])
    body = re.sub(
        r'<img src="([^"]+)"([^>]*)>', lambda m: _drawn((folder / m[1]).read_text(encoding="utf-8")), body
    )
    body = re.sub(
        r"<h2>On the board</h2>(.*?)(?=<h2>)",
        r'<div class="board"><h2>On the board</h2>\1</div>',
        body,
        flags=re.DOTALL,
    )
    body = re.sub(r' · <a href="[^"]*">(the lesson|solutions)</a>| \(<a[^>]*>about it</a>\)', "", body)
    body = body.replace("<p><strong>", '<p class="minutes"><strong>', 1) if kind == "lesson" else body
    return f'<article class="{kind}">{body}</article>'


def _drawn(svg: str) -> str:
    """A drawing as part of the page, as wide as its column; its markers are the same in all, so one name will do."""
    return svg.replace('width="640"', 'width="100%"', 1).replace(' height="250"', "", 1)


def print_kit(into: Path) -> Path:
    """Print the kit and the cards into a folder; returns the kit's path. Needs Playwright and a Chromium."""
    into.mkdir(parents=True, exist_ok=True)
    folder = course_root() / "docs" / "instructors"
    with page_to_print() as page:
        page.set_content(paper(folder))
        page.emulate_media(media="print")
        page.evaluate(_FIT % SHEET_MM)
        page.pdf(path=into / NAME, prefer_css_page_size=True, print_background=True, tagged=True)
        page.goto((folder / f"{CARDS}.html").as_uri())
        page.pdf(path=into / f"{CARDS}.pdf", format="A4", print_background=True, tagged=True)
    return into / NAME


if __name__ == "__main__":
    print(print_kit(course_root() / "build" / "print"))
