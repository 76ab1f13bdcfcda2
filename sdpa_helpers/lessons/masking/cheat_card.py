"""Lesson 05 on one card."""

from sdpa_helpers.lessons.masking.figures import plot_masks_in_short
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet

CARD = CheatCard(
    "05 · Masking",
    formulas=(
        "*S*′_{ij} = *S*_{ij} if query *i* may attend to key *j*, else −∞",
        "*W* = softmax(*S*′): hidden keys weigh 0, and the others keep their ratios",
        "causal: *j* ≤ *i*; with a cache: *j* ≤ *n*_{cached} + *i*",
    ),
    shapes=(
        ("causal", "query *i* sees the keys 0 … *i*", "(n_{q}, n_{k})"),
        ("padding", "which keys of a sentence are real", "(batch, 1, 1, n_{k})"),
        ("both", "`causal & padding`", "(batch, 1, n_{q}, n_{k})"),
        ("scores", "what a mask must broadcast to", "(batch, heads, n_{q}, n_{k})"),
    ),
    remember=(
        "Hide the score before softmax, not the weight after it.",
        "A mask means nothing without its convention. Here, and in torch's fused call, True = may attend; "
        "`nn.MultiheadAttention` means the opposite.",
        "Two silent traps: a float mask of 0 and 1 is added, and a (batch, keys) mask is read as (queries, keys).",
        "A row that sees nothing must give zeros, forward and backward. Hide with −∞, not with a large finite number.",
        "Test for leaks: move keys and values, and look at gradients too.",
    ),
    picture=plot_masks_in_short,
)


def cheat_card() -> CheatSheet:
    """The card, as the result of a cell."""
    return CheatSheet(CARD)
