"""A deck as one HTML file that needs no other: reveal.js, the look, the keys and the notes are inside."""

import json
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup
from pygments.formatters import HtmlFormatter

from editions.look.pages import ICON, templates_in
from editions.npm import npm_folder
from editions.slides.deck import Deck
from editions.stored.text import without_files

HERE = Path(__file__).parent


def page_of(deck: Deck) -> str:
    """The whole file of a deck. Without scripts its slides stand one below the other."""
    dist, ends = npm_folder() / "reveal.js" / "dist", accumulate(slide.minutes for slide in deck.slides)
    pages = templates_in(HERE)
    pages.filters["shown"] = lambda text: Markup(without_files(text))
    return pages.get_template("deck.html").render(
        deck=deck,
        slides=zip(deck.slides, ends, strict=True),
        icon=quote(_read(ICON)),
        reveal_style=_read(dist / "reset.css") + _read(dist / "reveal.css"),
        style=_code_style() + _read(HERE / "deck.css"),
        reveal=_read(dist / "reveal.js")
        .replace("</script", "<\\/script")
        .replace("//# sourceMappingURL", "//"),
        script=_read(HERE / "deck.js").replace("LESSON", json.dumps(deck.title)),
    )


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _code_style() -> str:
    light = HtmlFormatter(style="xcode").get_style_defs("pre.code")
    dark = HtmlFormatter(style="github-dark").get_style_defs("html.dark pre.code")
    kept = [line for line in f"{light}\n{dark}".splitlines() if "pre.code ." in line]
    return "\n".join(kept) + "\n"


def index_of(decks: Sequence[Deck]) -> str:
    """The page that leads to every deck."""
    return templates_in(HERE).get_template("index.html").render(decks=decks)
