"""All cheat cards on one sheet of paper: a page of HTML that needs nothing beside itself, and prints on A4 and Letter.

    html = sheet_page(SYMBOLS, [Place("03", "Softmax", "How do scores …?", CARD)])

Lengths are in `rem`, which is a millimetre in print and a share of the window on a screen (`cheat_page.css`): what
one sees is what one prints. The pictures are SVG in the ink of the page. A few lines of script choose the largest
letters with which everything fits; without them the letters are small enough.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sdpa_helpers.checking.card.card_style import style_sheet
from sdpa_helpers.show.cheat_card import CheatCard
from sdpa_helpers.show.predict import rich

MARK = "<!doctype html><!-- the cheat sheet of the course on scaled dot-product attention -->"
"""How the page begins: a file that does not is another's."""

TITLE = "Scaled dot-product attention on one page"

_FORMULA = (
    '<p class="whole"><b class="out">Attention</b>(<b class="query">Q</b>, <b class="key">K</b>, '
    '<b class="value">V</b>) = <b class="weight">softmax</b><span class="big">(</span><span class="over"><span>'
    '<b class="query">Q</b> <b class="key">K<sup>T</sup></b></span><span>√<span class="root">d<sub>k</sub></span>'
    '</span></span> + <b>M</b><span class="big">)</span> <b class="value">V</b></p>'
)
"""The formula, each symbol with the underline of its role."""


class PlacedCard(NamedTuple):
    """A card and what stands above it."""

    number: str
    title: str
    question: str
    card: CheatCard


class Symbol(NamedTuple):
    """A letter of the whole course, in the marks of `predict.rich`, and the role whose colour underlines it."""

    letter: str
    meaning: str
    shape: str = ""
    role: str = ""


def sheet_page(symbols: Sequence[Symbol], places: Sequence[PlacedCard]) -> str:
    """The page: the formula, its letters, and the cards in two columns."""
    letters = "".join(
        f'<p><i><b class="{role}">{rich(letter)}</b></i><span>{rich(meaning)}</span><small>{rich(shape)}</small></p>'
        for letter, meaning, shape, role in symbols
    )
    half = (len(places) + 1) // 2
    columns = "\n".join(
        f"<div>{''.join(map(_card, column))}</div>" for column in (places[:half], places[half:])
    )
    return (
        f'{MARK}\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{TITLE}</title><style>{style_sheet(_STYLE)}</style></head>\n<body><main>\n"
        f'<header><div><h1>{TITLE}</h1>{_FORMULA}<p class="hint">{_HINT}</p></div>'
        f'<div class="symbols">{letters}</div></header>\n'
        f'<div class="cards">\n{columns}\n</div></main>\n<script>{_FIT}</script></body></html>\n'
    )


_HINT = (
    "M is 0 where a query may attend to a key and −∞ elsewhere. Each row of weights sums to 1: an output is an "
    "average of values."
)

_FIT = """
// Which fonts a machine has, nobody knows beforehand: the largest letters with which all cards fit on the sheet.
function fit() {
  const columns = [...document.querySelectorAll(".cards > div")];
  const tooLong = () => columns.some(c => c.scrollHeight > c.clientHeight + 1 || c.scrollWidth > c.clientWidth + 1);
  const set = size => document.body.style.setProperty("--size", `${size.toFixed(2)}rem`);
  let fits = 1.5, high = 2.9;
  while (high - fits > 0.01) {
    const size = (fits + high) / 2;
    set(size);
    if (tooLong()) high = size;
    else fits = size;
  }
  set(Math.floor(100 * fits) / 100);
}
fit();
for (const event of ["resize", "beforeprint"]) addEventListener(event, fit);
"""


def _card(place: PlacedCard) -> str:
    card = place.card
    formulas = "".join(f'<p class="formula">{rich(formula)}</p>' for formula in card.formulas)
    rows = "".join(
        f'<tr><th scope="row">{rich(symbol)}</th><td>{rich(what)}</td><td>{rich(_indexed(shape))}</td></tr>'
        for symbol, what, shape in card.shapes
    )
    kept = "\n".join(f"<li>{rich(sentence)}</li>" for sentence in card.remember)
    return (
        f"<article><h2><i>{place.number}</i>{html.escape(place.title)}<small>{rich(place.question)}</small></h2>"
        f'<div class="top"><div>{formulas}</div><table><tbody>{rows}</tbody></table></div>'
        f'<div class="picture">{card.picture().svg()}</div><ul>{kept}</ul></article>\n'
    )


def _indexed(shape: str) -> str:
    """Sizes as the field prints them, also where a card has them as code does: n_q is n_{q}."""
    return re.sub(r"\b([nd])_([a-z]+)\b", r"\1_{\2}", shape)


_STYLE = Path(__file__).with_suffix(".css")
