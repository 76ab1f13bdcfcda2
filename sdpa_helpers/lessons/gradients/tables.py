"""Lesson 04, gradients: what the notebook prints as a table."""

from collections.abc import Mapping, Sequence

import numpy as np

from sdpa_helpers.lessons.gradients.experiments import Cell, Norms, interval


def table_of_lengths(grid: Mapping[tuple[int, int], Cell], pairs: Sequence[tuple[int, int]]) -> str:
    """Median and mean at the scores and at the queries, with 95% intervals, for some pairs (d_k, n_k)."""
    lines = [f"{'':37}{'no scale':<30}with 1/√dₖ"]
    for d, n in pairs:
        for place in Norms._fields:
            for statistic in (np.median, np.mean):
                found = (interval(getattr(part, place), statistic) for part in grid[d, n])
                told = "   ".join(f"{value:8.2g} [{low:7.2g}, {high:7.2g}]" for value, low, high in found)
                lines.append(f"dₖ = {d:4}, nₖ = {n:4}  {place:7} {statistic.__name__:6} {told}")
    return "\n".join(lines)
