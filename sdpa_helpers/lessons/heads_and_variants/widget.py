"""Lesson 08's widget: a query and a key slide through a text. RoPE turns both; the score knows their distance alone."""

from pathlib import Path

import numpy as np

from sdpa_helpers.show import figures as style
from sdpa_helpers.show.figures import KEY, QUERY, Picture, write
from sdpa_helpers.show.panels import TOUCH, PagePanel

SCRIPT = Path(__file__).with_suffix(".js")

PLACES = 64
BACK = 4  # the key is made so that the score is highest this many tokens back
PLANES = [(theta, BACK * theta) for theta in (100.0 ** -np.array([0, 0.25, 0.5, 0.75])).round(4).tolist()]
"""Angle for each place, and the key's own angle: width 8, with a base of 100 in place of the usual 10,000."""
START = {"m": 20, "n": 13}


def score_at(m: float, n: float) -> float:
    """The score of the query at place m and the key at n, both of length 1 in each plane."""
    turned = [(np.exp(1j * m * theta), np.exp(1j * (n * theta + own))) for theta, own in PLANES]
    return float(sum((q * k.conj()).real for q, k in turned))


def sentence(m: int, n: int) -> str:
    """What the panel shows at the start."""
    return (
        f"The query is at place {m}, the key at {n}: n − m = {write(n - m, 0)}. "
        f"Their score is {write(score_at(m, n), 2)}."
    )


def still_rope() -> Picture:
    """Two planes at two moments: everything has turned, no angle has changed."""
    moments = [(20, 13), (42, 35)]
    shown = [(plane, moment) for plane in (0, 2) for moment in moments]
    fig, axes = style.panels(
        [f"plane {plane + 1}, θ = {PLANES[plane][0]:g}" for plane, _ in shown], size=(10.4, 3.1)
    )
    turn = np.linspace(0, 2 * np.pi, 90)
    for ax, (plane, (m, n)) in zip(axes, shown, strict=True):
        theta, own = PLANES[plane]
        ax.plot(np.cos(turn), np.sin(turn), color=style.GRID, linewidth=1)
        for name, angle, colour, far in (("q", m * theta, QUERY, 0.95), ("k", n * theta + own, KEY, 0.75)):
            towards = np.array([np.cos(angle), np.sin(angle)])
            style.arrow(ax, tuple(far * towards), colour=colour)
            x, y = (far + 0.16) * towards
            ax.text(x, y, name, color=style.INK, ha="center", va="center")
        ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])
        ax.set_xlabel(f"q at {m}, k at {n}", color=style.INK, fontsize=10.5)
        ax.grid(visible=False)
        ax.spines[:].set_visible(False)
    first, second = (write(score_at(m, n), 2) for m, n in moments)
    return style.show(
        fig,
        f"Arrows of a query and a key in two planes of RoPE. With the query at 20 and the key at 13, then with both "
        f"22 places later, all arrows have turned, and the angle between the two of a plane is the same. "
        f"The score is {first} before and {second} after.",
    )


def explore_rope() -> PagePanel:
    """Slide a query, a key, or both: what happens to their score?"""
    given = {"body": "rope", "title": "Two tokens slide through a text", "planes": PLANES, "places": PLACES}
    return PagePanel(given, START, sentence(**START), still_rope, TOUCH, SCRIPT)
