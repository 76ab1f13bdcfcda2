"""Lesson 04: the picture on its card."""

from sdpa_helpers.show.figures import (
    FAINT,
    INK,
    KEY,
    OUTPUT,
    PAPER,
    QUERY,
    VALUE,
    WEIGHT,
    Picture,
    figure,
    show,
)


def plot_way_back_in_short() -> Picture:
    """The three lines forward, and the gradients that come back along them."""
    fig, ax = figure("Down: forward. Up: backward.", size=(4.4, 3.7))
    ax.set(xlim=(0, 10), ylim=(-0.55, 9.4))
    ax.grid(visible=False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
    places = (
        *((0.4, 8.6, "Q", QUERY), (1.9, 8.6, "K", KEY), (5.6, 8.6, "dQ", QUERY), (7.3, 8.6, "dK", KEY)),
        *((1.1, 5.8, "S", FAINT), (6.4, 5.8, "dS", FAINT), (1.1, 3.0, "A", WEIGHT), (6.4, 3.0, "dA", WEIGHT)),
        *((1.1, 0.2, "O", OUTPUT), (6.4, 0.2, "dO", OUTPUT), (9.4, 0.2, "dV", VALUE)),
    )
    for x, y, name, colour in places:
        box = {"boxstyle": "round,pad=0.35", "facecolor": PAPER, "edgecolor": colour, "linewidth": 2}
        ax.text(x, y, name, color=INK, fontsize=12, ha="center", va="center", bbox=box)
    steps = (
        (8.6, 5.8, "c QKᵀ", "c dS K,  c dSᵀ Q"),
        (5.8, 3.0, "softmax", "A ∘ (dA − D)"),
        (3.0, 0.2, "× V", "dO Vᵀ"),
    )
    look = {"arrowstyle": "-|>", "color": INK, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    for above, below, there, back in steps:
        ax.annotate("", (1.1, below + 0.75), (1.1, above - 0.75), arrowprops=look)
        ax.annotate("", (6.4, above - 0.75), (6.4, below + 0.75), arrowprops=look)
        for x, text in ((1.4, there), (6.7, back)):
            ax.text(x, (above + below) / 2, text, color=INK, fontsize=11, va="center")
    ax.annotate("", (8.6, 0.2), (7.2, 0.2), arrowprops=look)
    ax.text(7.9, 0.55, "Aᵀ dO", color=INK, fontsize=11, ha="center", va="bottom")
    return show(
        fig,
        "Two columns. Down the left, forward: Q and K, scores S = cQKᵀ, weights A by softmax, output O by V. Up the "
        "right, backward: dO gives dV by Aᵀ and dA by Vᵀ; dA gives dS = A∘(dA − D); dS gives dQ and dK.",
    )
