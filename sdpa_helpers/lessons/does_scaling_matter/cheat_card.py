"""Lesson 10 on one card."""

import numpy as np

from sdpa_helpers.lessons.does_scaling_matter.arms import OPTIMIZERS, WIDTHS, Arm
from sdpa_helpers.lessons.does_scaling_matter.results import accuracies, interval
from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import INK, SKY, Picture, figure, name_lines, show


def draw() -> Picture:
    """What is reached with the scale and without, against d_k."""
    fig, ax = figure("A lookup learned in 200 steps", x="dₖ", y="right (%)", size=(4.4, 3.4))
    facts = []
    for scale, colour in (("1/√dₖ", INK), ("1", SKY)):
        for optimizer, dash in zip(OPTIMIZERS, ("-", "--"), strict=True):
            found = np.array([interval(accuracies(Arm(d, scale, optimizer))) for d in WIDTHS])
            label = f"{scale}, {optimizer}" if scale == "1" else f"{scale}, both" if dash == "-" else "_"
            ax.semilogx(WIDTHS, found[:, 0], dash, color=colour, linewidth=2, label=label)
            ax.fill_between(WIDTHS, found[:, 1], found[:, 2], color=colour, alpha=0.2, linewidth=0)
            facts.append(f"{scale}, {optimizer}: {found[0, 0]:.0f}% at 16, {found[-1, 0]:.0f}% at 512")
    ax.set_xticks(WIDTHS, [str(d) for d in WIDTHS])
    ax.minorticks_off()
    ax.set_ylim(0, 105)
    name_lines(ax)
    return show(fig, f"Line chart of accuracy against d_k: {'; '.join(facts)}.")


CARD = CheatCard(
    "Does scaling matter?",
    formulas=(
        "scores = *s* QK^{T}:  *s* = 1, 1/√d_{k}, 1/d_{k}, or learned",
        "QK-norm:  *g* · (q/|q|) · (k/|k|),  *g* learned",
        "guessing a pair:  1/16 + 15/16 · 1/16 = 12%; the most frequent value: 19%",
    ),
    shapes=(
        ("Q", "questions of a list", "(4, d_k)"),
        ("K", "its pairs, name and value together", "(16, d_k)"),
        ("V", "what each pair votes for", "(16, 16)"),
        ("tuning", "losses: rates × seeds", "(11, 3)"),
    ),
    remember=(
        "Without a scale the model learned less and less as d_{k} grew, even at the best learning rate that was tried.",
        "1/√d_{k} was good enough everywhere and the fastest nowhere: QK-norm was sooner in 12 of 12 settings.",
        "1/d_{k} can become as sharp as it likes: queries and keys grow.",
        "A scale changes which learning rate fits. Compare tuned arms, or do not compare.",
        "Tune on some seeds, report on others, and give an interval.",
    ),
    picture=draw,
)


def cheat_card() -> CheatSheet:
    """Lesson 10 on a card, as the result of a cell."""
    return CheatSheet(CARD)
