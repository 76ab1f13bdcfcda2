"""Lesson 03: what an experiment found, as lines of text."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray as Array

from sdpa_helpers.lessons.softmax.experiments import DTYPES, SHIFTS, interval, softmax_in, sum_limit


def failure_table(fails: Callable[[Sequence[float], str], bool], rows: Sequence[Sequence[float]]) -> str:
    """By row of scores: in which dtypes the plain formula fails."""
    lines = ["plain formula   " + "".join(f"{dtype:>10}" for dtype in DTYPES)]
    for row in rows:
        lines.append(
            f"{row!s:16}" + "".join(f"{'NaN' if fails(row, dtype) else 'fine':>10}" for dtype in DTYPES)
        )
    return "\n".join(lines)


def shift_table(rows: Float[Array, "n_q n_k"]) -> str:
    """The first row's weights, by what was subtracted, in two dtypes."""
    lines = ["row 0 by          float32        float64"]
    for shift in SHIFTS:
        found = [softmax_in(rows, dtype, shift)[0].round(3) for dtype in ("float32", "float64")]
        lines.append(f"{shift:16}  {found[0]!s:14} {found[1]}")
    return "\n".join(lines)


def range_table(ranges: Mapping[str, tuple[float, float]], n_k: int) -> str:
    """By dtype: where the exponential is 0, where it is infinite, and where a sum of n_k of them is."""
    lines = [f"dtype      exp is 0 below   infinite above   {n_k:,} equal scores: sum infinite above"]
    for dtype, (low, high) in ranges.items():
        lines.append(f"{dtype:9} {low:12.1f} {high:16.2f} {sum_limit(n_k, dtype):25.2f}")
    return "\n".join(lines)


def near_one_hot_table(largest: Callable[[int, int], Float[Array, "rows"]]) -> str:
    """By number of keys and width: the share of rows with a weight above 0.99. `largest(d_k, n_k)` draws them."""
    lines = ["not scaled: rows with a weight above 0.99, and 95% interval"]
    for n_k in (4, 16, 128, 512):
        for d_k in (64, 512):
            share = interval(100.0 * (largest(d_k, n_k) > 0.99), np.mean)
            lines.append(
                f"n = {n_k:3}, dₖ = {d_k:3}: {share.value:4.1f}%  ({share.low:.1f} to {share.high:.1f})"
            )
    return "\n".join(lines)
