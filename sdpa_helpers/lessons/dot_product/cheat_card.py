"""Lesson 01 on one card."""

from sdpa_helpers.show.cheat_card import CheatCard, CheatSheet
from sdpa_helpers.show.figures import FAINT, INK, KEY, QUERY, Picture, arrow, figure, show


def _overtaken() -> Picture:
    """A key that points along the query, and a longer one that is 60° off and beats it."""
    fig, ax = figure("A longer key overtakes: 1.5 beats 1", x="score, along the query", size=(4.2, 3.4))
    for name, (along, off), shift in (("A", (1.0, 0.0), (-8, 8)), ("B", (1.5, 1.5 * 3**0.5), (-46, -4))):
        ax.plot([along, along], [-0.45, off], ":", color=FAINT, linewidth=1.4)
        ax.plot(along, -0.45, "o", color=INK, markersize=6, clip_on=False)
        arrow(ax, (along, off), f"key {name}", colour=KEY, shift=shift)
    ax.plot([0, 1], [0, 0], color=QUERY, linewidth=7, alpha=0.35, solid_capstyle="butt", zorder=0)
    ax.annotate("query", (0.1, 0), (0, -15), textcoords="offset points", color=INK, fontsize=10.5)
    ax.set(xlim=(-0.1, 3.1), ylim=(-0.45, 2.8), xticks=[0, 0.5, 1, 1.5, 2], yticks=[])
    ax.spines["left"].set_visible(False)
    ax.set_aspect("equal")
    return show(
        fig,
        "Arrows from one point: a query of length 1; key A of length 1 in the same direction, which scores 1; key B "
        "of length 3, 60° off, which reaches 1.5 along the query and scores 1.5.",
    )


CARD = CheatCard(
    "01 · The dot product",
    formulas=(
        "*s*_{ij} = *q*_{i} · *k*_{j} = ‖*q*_{i}‖ ‖*k*_{j}‖ cos θ",
        "*w*_{ij} = exp(*s*_{ij}) / Σ_{m} exp(*s*_{im})",
        "*o*_{i} = Σ_{j} *w*_{ij} *v*_{j}",
    ),
    shapes=(
        ("*Q*", "queries, *x* W_{q}", "(…, n_{q}, d_{k})"),
        ("*K*", "keys, *x* W_{k}", "(…, n_{k}, d_{k})"),
        ("*V*", "values, *x* W_{v}", "(…, n_{k}, d_{v})"),
        ("*S*, *W*", "scores *QK*^{T}; weights, row by row", "(…, n_{q}, n_{k})"),
        ("*O*", "outputs, *WV*", "(…, n_{q}, d_{v})"),
    ),
    remember=(
        "A large score means aligned, or long, or both. A longer key can overtake a better aligned one.",
        "A longer query multiplies all its scores by the same number and keeps their order.",
        "Weights go by differences: a lead of one point means *e* times the weight. A score of 0 is not a weight of 0.",
        "An output is an average of the values: it never leaves their convex hull.",
        "Among keys of equal length, the highest score is the nearest key.",
    ),
    picture=_overtaken,
)


def cheat_card() -> CheatSheet:
    """The lesson on one card."""
    return CheatSheet(CARD)
