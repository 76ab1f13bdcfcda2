"""Lesson 02 on one card."""

import numpy as np

from sdpa_helpers.lessons.variance_proof.figures import SCALE_LINES
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import Picture, figure, name_lines, show
from sdpa_helpers.show.symbols import with_index


def draw_spreads() -> Picture:
    """The spread of unrelated scores under three scales."""
    dims = np.array([4, 4096])
    fig, ax = figure(
        "Spread of unrelated scores", x="coordinates dₖ", y="standard deviation", size=(4.3, 3.2)
    )
    spreads = {"1": dims**0.5, "1/√d": dims * 0 + 1.0, "1/d": dims**-0.5}
    for name, spread in spreads.items():
        colour, dash = SCALE_LINES[name]
        ax.loglog(dims, spread, color=colour, linestyle=dash, linewidth=2, label=f"scale {with_index(name)}")
    ax.set_xticks([4, 64, 1024, 4096], ["4", "64", "1024", ""])
    ax.set_yticks([1 / 64, 1 / 8, 1, 8, 64], ["1/64", "1/8", "1", "8", "64"])
    ax.minorticks_off()
    name_lines(ax)
    return show(
        fig,
        "The standard deviation of unrelated scores, for dₖ from 4 to 4096: with scale 1 it rises from 2 to 64, with "
        "1/√dₖ it stays 1, with 1/dₖ it falls from 1/2 to 1/64.",
    )


CARD = CheatCard(
    "Why the scores are scaled",
    formulas=(
        "E[*q*·*k*] = dₖ m_{q} m_{k}",
        "Var(*q*·*k*) = dₖ (v_{q} v_{k} + v_{q} m_{k}^{2} + v_{k} m_{q}^{2})",
        "+ dₖ(dₖ − 1) (c_{q} c_{k} + c_{q} m_{k}^{2} + c_{k} m_{q}^{2})",
        "Var(*q*·*k* / √dₖ) = 1  if all *m* and *c* are 0, all *v* are 1",
    ),
    shapes=(
        ("*q*, *k*", "a query and a key, independent", "(d_k,)"),
        ("m_{q}, v_{q}, m_{k}, v_{k}", "mean and variance of each coordinate", "one number"),
        ("c_{q}, c_{k}", "covariance of two coordinates", "one number"),
        ("*q*·*k*", "a score", "one number"),
    ),
    remember=(
        "A score is a random walk of dₖ steps: its spread grows like √dₖ, and dividing by √dₖ makes it 1 again.",
        "The proof needs independence, means 0 and variances 1. It needs no bell curve and no large dₖ.",
        "With means 0 it is enough that *one* of the two vectors has *uncorrelated* coordinates.",
        "1/√dₖ keeps the *spread* of unrelated scores steady; 1/dₖ keeps the *mean* of matching scores steady.",
    ),
    picture=draw_spreads,
)


def cheat_card() -> CheatSheet:
    """The lesson on one card."""
    return CheatSheet(CARD)
