"""A lesson on one card: its formulas, the shapes of what is in them, a few sentences to keep, one picture.

    CARD = CheatCard(
        "Softmax",
        formulas=("softmax(*x*)_{i} = e^{xᵢ} / Σ_{j} e^{xⱼ}",),
        shapes=(("*x*", "scores of one query", "(n_k,)"),),
        remember=("Only gaps between scores count.",),
        picture=draw,
    )
    CheatSheet(CARD)                      # as the result of a cell

Texts have the marks of `predict.rich`. Nothing is typeset by the page: a card is the same in every viewer and in print.
"""

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sdpa_helpers.checking.card.card_style import style_sheet
from sdpa_helpers.show.figures import Picture
from sdpa_helpers.show.predict import plain, rich


@dataclass(frozen=True)
class CheatCard:
    """What to keep of a lesson."""

    title: str
    formulas: tuple[str, ...]
    """One to four; a line each."""
    shapes: tuple[tuple[str, str, str], ...]
    """(symbol, what it is, its shape)."""
    remember: tuple[str, ...]
    """Three to five sentences."""
    picture: Callable[[], Picture]
    """Draws one small figure, at most 4.4 inches wide."""

    def __post_init__(self) -> None:
        if not (1 <= len(self.formulas) <= 4 and self.shapes and 3 <= len(self.remember) <= 5):
            raise ValueError(
                f"the card {self.title!r} needs 1 to 4 formulas, shapes, and 3 to 5 sentences to remember; "
                f"it has {len(self.formulas)}, {len(self.shapes)} and {len(self.remember)}"
            )


@dataclass(frozen=True)
class CheatSheet:
    """A card as the result of a cell."""

    card: CheatCard

    def html(self) -> str:
        """The card for a page of any width, light or dark, and for print."""
        card = self.card
        formulas = "".join(f'<p class="formula">{rich(formula)}</p>' for formula in card.formulas)
        rows = "".join(
            f'<tr><th scope="row">{rich(symbol)}</th><td>{rich(what)}</td><td>{rich(shape)}</td></tr>'
            for symbol, what, shape in card.shapes
        )
        kept = "".join(f"<li>{rich(sentence)}</li>" for sentence in card.remember)
        return (
            f'<style>{style_sheet(_SHEET)}</style><div class="sdpa-cheat"><p class="name">{html.escape(card.title)}</p>'
            f'<div class="sides"><div>{formulas}<table><caption>Shapes</caption><tbody>{rows}</tbody></table>'
            f"<ul>{kept}</ul></div><div>{self._picture.html()}</div></div></div>"
        )

    @cached_property
    def _picture(self) -> Picture:
        # Once: a figure that is drawn twice may differ in a byte.
        return self.card.picture()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def __repr__(self) -> str:
        card = self.card
        shapes = (f"{symbol}: {what}, {shape}" for symbol, what, shape in card.shapes)
        lines = (card.title, *card.formulas, *shapes, *card.remember, self._picture.alt)
        return "\n".join(map(plain, lines))


_SHEET = Path(__file__).with_suffix(".css")
