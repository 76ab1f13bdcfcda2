"""Lesson 03 on one card."""

from sdpa_helpers.lessons.softmax.figures import plot_temperatures_in_short
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet

CARD = CheatCard(
    "03 · Softmax",
    formulas=(
        "softmax(*x*)_{i} = e^{xᵢ} / Σ_{j} e^{xⱼ}",
        "*w*_{i} / *w*_{j} = e^{xᵢ − xⱼ}",
        "softmax(*x*) = softmax(*x* − max *x*), row by row",
        "softmax(*x* / *T*): sharper for *T* < 1, flatter for *T* > 1",
    ),
    shapes=(
        ("*S*", "scores, a row for each query", "(n_{q}, n_{k})"),
        ("*W*", "weights: softmax along the last axis", "(n_{q}, n_{k})"),
        ("max", "one for each row: keep the axis", "(n_{q}, 1)"),
    ),
    remember=(
        "Only gaps between scores count. A shift changes nothing; a factor is an inverse temperature.",
        "Subtract the **row's own** maximum: the plain formula ends at 11.09 in float16, 88.72 in float32, 709.78 in "
        "float64. Keep the sum in float32.",
        "Weights are positive and sum to 1 for finite scores. A row of −∞ is NaN by the formula, zeros by convention.",
        "Entropy −Σ *w* ln *w* says how sharp a row is: 0 for one key, ln *n* for equal weights.",
        "1/√d_{k} makes the sharpness at the start independent of d_{k}. It prevents neither overflow nor sharp rows.",
    ),
    picture=plot_temperatures_in_short,
)


def cheat_card() -> CheatSheet:
    """The card, as the result of a cell."""
    return CheatSheet(CARD)
