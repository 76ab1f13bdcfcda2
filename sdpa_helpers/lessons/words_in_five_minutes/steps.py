"""A loss of one number, and the steps down to where it is smallest."""

from collections.abc import Sequence

import numpy as np

from sdpa_helpers.course.one_line import LineTask, line_of
from sdpa_helpers.show.figures import INK, SKY, Picture, figure, show

line = line_of(
    {
        "loss": lambda: LineTask(
            -np.log(0.25), "Right: a share of 1 gives 0, and the smaller the share, the larger the loss."
        ),
        "step": lambda: LineTask(
            1.5 - 0.1 * 2 * (1.5 - 4), "Right: against the gradient, so the loss gets smaller."
        ),
    }
)


def plot_steps(w: Sequence[float]) -> Picture:
    """The loss (w − 4)² of the course's example, and where each step stood on it."""
    fig, ax = figure("Steps down", x="w", y="loss", size=(6.4, 3.0))
    span = max(4.5, max(abs(one - 4) for one in w)) if np.isfinite(w).all() else 4.5
    grid = np.linspace(4 - span, 4 + span, 200)
    ax.plot(grid, (grid - 4) ** 2, color=INK, linewidth=1.2)
    ax.plot(w, [(one - 4) ** 2 for one in w], color=SKY, marker="o", markersize=5, linewidth=1)
    return show(
        fig,
        f"A parabola, smallest at w = 4, and {len(w) - 1} steps on it, from w = {w[0]:.2f} to {w[-1]:.2f}.",
    )
