"""Arrays as tables, the broadcast ones too."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from sdpa_helpers.show.figures import INK, Picture, cell, cells, panels, show


def draw(arrays: Mapping[str, ArrayLike]) -> Picture:
    """Each array as a table under its name and its shape: a row of numbers lies, a column stands."""
    found = {name: np.asarray(array) for name, array in arrays.items()}
    flat = [
        array.reshape(-1, array.shape[-1]) if array.ndim else array.reshape(1, 1) for array in found.values()
    ]
    titles = [f"{name}: {array.shape}" for name, array in found.items()]
    widths = [max(part.shape[1], 2.6) for part in flat]
    high = max(len(part) for part in flat)
    fig, axes = panels(
        titles, size=(0.55 * sum(widths) + 0.6 * len(flat), 0.5 * high + 0.7), width_ratios=widths
    )
    for ax, part in zip(axes, flat, strict=True):
        cells(ax, [""] * len(part), [""] * part.shape[1])
        ax.set_aspect("equal", anchor="NW")  # an axis of length 1 looks as long as it is
        most = max(np.abs(part).max(), 1e-9)
        for (i, j), number in np.ndenumerate(part):
            cell(ax, i, j, INK, 0.05 + 0.3 * abs(number) / most)
            ax.text(j, i, f"{number:.3g}", color=INK, fontsize=11, ha="center", va="center")
    return show(fig, f"Arrays as tables. {'; '.join(titles)}.")
