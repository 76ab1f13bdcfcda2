"""A cheat card: what is on it, in HTML and as plain text."""

import pytest

from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import figure, show


def picture():
    return show(figure("Gap", x="gap", y="ratio", size=(4, 2))[0], "The ratio grows like e to the gap.")


CARD = CheatCard(
    "Softmax <1>",
    formulas=("softmax(*x*)_{i} = e^{x} / Σ",),
    shapes=(("*x*", "scores of one query", "(n_{k},)"),),
    remember=("Only gaps count.", "Rows sum to 1.", "Subtract the *maximum*."),
    picture=picture,
)


def test_everything_is_on_it_in_html_and_in_words():
    bundle = CheatSheet(CARD)._repr_mimebundle_()
    page, words = bundle["text/html"], bundle["text/plain"]
    assert "Softmax &lt;1&gt;" in page
    assert "softmax(<em>x</em>)<sub>i</sub> = e<sup>x</sup> / Σ" in page
    assert '<th scope="row"><em>x</em></th><td>scores of one query</td><td>(n<sub>k</sub>,)</td>' in page
    assert page.count("<li>") == 3
    assert "<svg" in page
    assert "x: scores of one query" in words
    assert "The ratio grows like e to the gap." in words


def test_a_card_without_enough_to_remember_is_refused():
    with pytest.raises(ValueError, match="3 to 5 sentences"):
        CheatCard("Softmax", CARD.formulas, CARD.shapes, ("One.",), picture)
