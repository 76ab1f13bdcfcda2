"""Lesson 07: what was measured, as lines of text that stand below an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sdpa_helpers.lessons.flash_attention.rungs import Climb

NUMPYS = ("formula", "tiled NumPy")
"""The rungs whose exponentials are NumPy's own, so that their share is known."""


def climb_table(climb: Climb) -> str:
    """Each rung at the longest sequence: time, how many times as fast as the formula, memory, the share of exp."""
    lines = [f"n = {climb.sizes[-1]:,}            time   times as fast      peak   exp's share of the time"]
    exp = float(np.median(climb.exp_seconds))
    for rung, seconds in climb.seconds.items():
        middle = float(np.median(seconds[-1]))
        ratio, low, high = climb.times_as_fast(rung)
        faster = f"{ratio:.1f} ({low:.1f} to {high:.1f})" if rung != "formula" else "1"
        share = f"{100 * exp / middle:.0f}%" if rung in NUMPYS else "not measured"
        lines.append(f"{rung:18}{1e3 * middle:7.1f} ms   {faster:16}{climb.mib[rung][-1]:6.1f} MiB   {share}")
    lines += [f"{rung:18}not measured: {why}" for rung, why in climb.missing.items()]
    return "\n".join(lines)


def errors_table(errors: Mapping[str, float]) -> str:
    """By case: whether the result is right, to 12 digits."""
    width = max(map(len, errors))
    return "\n".join(
        f"{name:{width}}  {'right' if error < 1e-12 else f'wrong by {error:.2g}'}"
        for name, error in errors.items()
    )
