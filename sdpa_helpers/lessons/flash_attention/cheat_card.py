"""Lesson 07 on one card."""

from sdpa_helpers.attention import causal_mask
from sdpa_helpers.lessons.flash_attention.figures import draw_tiles
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import Picture, figure, show


def draw() -> Picture:
    """A causal mask in tiles."""
    fig, ax = figure("A causal mask in tiles of 4 × 4", x="keys", y="queries", size=(4.2, 4.2))
    draw_tiles(ax, causal_mask(16, 16), 4)
    return show(
        fig,
        "A causal mask over 16 tokens in tiles of 4 by 4: the 6 tiles above the diagonal are skipped, the 4 on "
        "it are partly masked, the 6 below it are whole.",
    )


CARD = CheatCard(
    "Flash attention",
    formulas=(
        "*m*′ = max(*m*, *s*), *ℓ*\u200a′ = *ℓ* e^{m − m′} + e^{s − m′}",
        "*o*′ = *o* e^{m − m′} + e^{s − m′} *v*, output = *o* / *ℓ*",
        "LSE = *m* + ln *ℓ* = ln Σ_{j} exp(*s*_{j})",
        "merge: shares exp(LSE_{a} − LSE), exp(LSE_{b} − LSE)",
    ),
    shapes=(
        ("*m*, *ℓ*, LSE", "of each query in a tile", "(B_{q}, 1)"),
        ("*o*", "weighted sum, not yet divided", "(B_{q}, d_{v})"),
        ("scores", "of one tile: all that there ever is", "(B_{q}, B_{k})"),
        ("kept", "for the backward pass", "O, LSE"),
    ),
    remember=(
        "The state is right whatever number you subtract. The maximum only keeps the exponentials in range.",
        "Merging is associative, and its order does not matter: over tiles, over pieces of a cache, over machines.",
        "A tile that no query sees is skipped, and one that is seen whole needs no mask. Only the rest look at pairs.",
        "The same FLOPs, fewer bytes, no approximation. On an H100 the rest is overlap: loads, products and exp.",
        "Test with scores near −200, the largest score last, an empty row, and a comparison that NaN cannot pass.",
    ),
    picture=draw,
)


def cheat_card() -> CheatSheet:
    """The card of this lesson."""
    return CheatSheet(CARD)
