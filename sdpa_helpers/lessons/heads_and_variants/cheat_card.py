"""Lesson 08 on one card."""

from sdpa_helpers.lessons.heads_and_variants.figures import plot_rope_in_short
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet

CARD = CheatCard(
    "08 · Heads and variants",
    formulas=(
        "head_{i} = softmax(*Q*_{i}*K*_{i}ᵀ/√d_{k}) *V*_{i}, side by side, times *W*_{o}",
        "MLA: *q*ᵀ(*U* *c*) = (*U*ᵀ*q*)ᵀ*c*: cache *c* alone",
        "RoPE: (*R*_{m}*q*)ᵀ(*R*_{n}*k*) = *q*ᵀ*R*_{n−m}*k*",
        "linear: φ(*Q*)(φ(*K*)ᵀ*V*), divided by φ(*Q*)Σφ(*k*_{j})",
    ),
    shapes=(
        ("*x*", "tokens, all heads in one row", "(n, h·d)"),
        ("*Q*", "reshape to (n, h, d), then swap", "(h, n, d)"),
        ("*K*, *V*", "GQA: fewer heads, each shared", "(g, n, d)"),
        ("*S*", "the state of linear attention", "(d_{k}, d_{v})"),
    ),
    remember=(
        "`reshape` alone gives the right shape and mixes tokens: cut the width, then move the axis.",
        "Sharing keys and values changes neither scores nor softmax. It shrinks the cache by the size of a group.",
        "A cache changes no result. With one query, `is_causal=True` shows it only key 0.",
        "A `mask_mod` decides who is seen, a `score_mod` changes the score. A sink lets rows sum to less than 1.",
        "Linear attention keeps a state of fixed size, which fills up. The delta rule can overwrite what is in it.",
    ),
    picture=plot_rope_in_short,
)


def cheat_card() -> CheatSheet:
    """The card, as the result of a cell."""
    return CheatSheet(CARD)
