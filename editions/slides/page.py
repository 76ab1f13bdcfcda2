"""A deck as one HTML file that needs no other: reveal.js, the look, the keys and the notes are inside."""

import html
import json
from collections.abc import Sequence
from pathlib import Path

from pygments.formatters import HtmlFormatter

from editions.npm import npm_folder
from editions.slides.deck import Deck, Slide
from editions.slides.text import without_files

HERE = Path(__file__).parent

AIRY = 330
"""Less than this is little for a slide."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
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
    """The whole file of a deck."""
    dist = npm_folder() / "reveal.js" / "dist"
    style = "\n".join(
        (_read(dist / "reset.css"), _read(dist / "reveal.css"), _code_style(), _read(HERE / "deck.css"))
    )
    return _PAGE.format(
        title=html.escape(deck.title),
        style=style,
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
    return "\n".join(kept)


def _slides(deck: Deck) -> str:
    """Sections of slides that belong together, as reveal.js wants them: one column a section in the overview."""
    columns: list[list[str]] = []
    so_far = 0.0
    for slide in deck.slides:
        so_far += slide.minutes
        if slide.starts or not columns:
            columns.append([])
        columns[-1].append(_slide(slide, so_far, deck.minutes))
    return "\n".join(f"<section>\n{chr(10).join(column)}\n</section>" for column in columns)


def _slide(slide: Slide, so_far: float, whole: float) -> str:
    kicker = (
        f'<p class="kicker">{slide.section}</p>' if slide.section and slide.heading != slide.section else ""
    )
    heading = f"<h2>{slide.heading}</h2>" if slide.heading else ""
    body = "\n".join(block.html for block in slide.blocks)
    look = " ".join(
        (slide.kind, *(["airy"] if _is_airy(slide) else []), *(["whole"] if "grows panel" in body else []))
    )
    minutes = f"{_minutes(slide.minutes)} · at the end {_minutes(so_far)} of {_minutes(whole)}"
    notes = f'<p class="minutes">{minutes}</p>{"".join(slide.say)}'
    return (
        f'<section data-cell="{slide.cell}"><div class="page {look}">{kicker}{heading}'
        f'<div class="body">{body}</div></div><aside class="notes">{notes}</aside></section>'
    )


def _is_airy(slide: Slide) -> bool:
    """Whether so little stands on it that its letters may be larger."""
    grows = any('class="grows' in block.html for block in slide.blocks)
    return slide.kind in ("text", "look") and not grows and sum(block.height for block in slide.blocks) < AIRY


def _minutes(minutes: float) -> str:
    return f"{minutes:.0f} min" if minutes >= 5 else f"{minutes:.1f} min"


def index_of(decks: Sequence[Deck]) -> str:
    """The page that leads to every deck."""
    rows = "".join(
        f'<li><a href="{deck.lesson}.html">{html.escape(deck.title)}</a> '
        f"<span>{len(deck.slides)} slides · {deck.minutes:.0f} minutes</span></li>"
        for deck in decks
    )
    return _read(HERE / "index.html").replace("<!-- decks -->", rows)
