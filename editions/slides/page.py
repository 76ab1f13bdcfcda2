"""A deck as one HTML file that needs no other: reveal.js, the look, the keys and the notes are inside."""

import html
import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from pygments.formatters import HtmlFormatter

from editions.look.pages import ICON, templates_in
from editions.npm import npm_folder
from editions.slides.deck import Deck, Shown
from editions.stored.text import without_files

HERE = Path(__file__).parent

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:image/svg+xml,{icon}">
<style class="scripted" media="not all">
{reveal_style}
</style>
<style>
{style}
</style>
<script>
document.documentElement.classList.add("scripted");
document.querySelector("style.scripted").media = "all";
</script>
</head>
<body>
<div class="reveal"><div class="slides">
{slides}
</div></div>
<script>
{reveal}
</script>
<script>
{script}
</script>
</body>
</html>
"""


def page_of(deck: Deck) -> str:
    """The whole file of a deck. Without scripts its slides stand one below the other."""
    dist = npm_folder() / "reveal.js" / "dist"
    return _PAGE.format(
        title=html.escape(deck.title),
        icon=quote(_read(ICON)),
        reveal_style=_read(dist / "reset.css") + _read(dist / "reveal.css"),
        style=_code_style() + _read(HERE / "deck.css"),
        slides=without_files(_slides(deck)),
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


def _slides(deck: Deck) -> str:
    so_far, made = 0.0, []
    for slide in deck.slides:
        so_far += slide.minutes
        made.append(
            _slide(slide, f"{slide.minutes:g} min · at the end {so_far:.0f} of {deck.minutes:.0f} min")
        )
    return "\n".join(made)


def _slide(slide: Shown, minutes: str) -> str:
    flag = '<p class="kicker"><span class="flag">Predict</span></p>' if slide.kind == "asks" else ""
    claim = f"<h2>{slide.claim}</h2>" if slide.claim else ""
    looks = ' picture"' if 'class="grows' in slide.body else '"'
    return (
        f'<section><div class="page {slide.kind}{looks}>{flag}{claim}<div class="body">{slide.body}</div></div>'
        f'<aside class="notes"><p class="minutes">{minutes}</p>{slide.notes}</aside></section>'
    )


def index_of(decks: Sequence[Deck]) -> str:
    """The page that leads to every deck."""
    return templates_in(HERE).get_template("index.html").render(decks=decks)
