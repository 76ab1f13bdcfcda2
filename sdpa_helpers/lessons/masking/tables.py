"""Lesson 05: what an experiment found, as lines of text that stand below an answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.lessons.masking.experiments import DETECTORS, Same


def first_that_fails(steps: Mapping[str, Callable[[Any], Any]]) -> str:
    """The name of the first step that raises ValueError; each gets what the one before gave. Else "nowhere"."""
    given = None
    for name, step in steps.items():
        try:
            given = step(given)
        except ValueError:
            return name
    return "nowhere"


def which_value(output: Array, V: Array) -> str:
    """Which of the values an output is, in words."""
    known = {"the first value": V[0], "the last value": V[-1]}
    return next(
        (name for name, value in known.items() if np.allclose(output, value)), "a mixture of all five"
    )


def dtype_table(outcomes: Mapping[str, float | str]) -> str:
    """By dtype of the mask: the weight on the future, or the error that was raised."""
    return "\n".join(
        f"{dtype:8} {outcome if isinstance(outcome, str) else f'{outcome:.3f}'}"
        for dtype, outcome in outcomes.items()
    )


def draws_table(same: Same) -> str:
    """What random inputs say of a boolean and a float mask."""
    return (
        f"bool mask, largest difference below 1e-5:  {same.boolean < 1e-5}\n"
        f"float mask, largest difference:            {same.float_mask:.2f}\n"
        f"weight on the future, mean of 200 draws:   {same.future:.2f}\n"
        f"95% of the draws lie between:             {same.lowest:.2f} and {same.highest:.2f}"
    )


Finite = Sequence[bool]
"""Whether dQ, dK and dV are finite."""


def which_are_nan(finite: Finite) -> str:
    """Which of the gradients dQ, dK, dV are not finite, in words."""
    known = {
        (True, True, True): "none",
        (False, False, True): "those of Q and K",
        (True, True, False): "those of V",
    }
    return known.get((finite[0], finite[1], finite[2]), "all of them")


def health_table(health: Mapping[str, tuple[Any, Finite]]) -> str:
    """By the way of masking: what comes out of rows that see nothing, and which gradients are finite."""
    lines = [f"{'':22} {'empty row':11} dQ finite  dK finite  dV finite"]
    for name, (empty, finite) in health.items():
        word = "NaN" if empty.isnan().any() else "zeros" if not empty.any() else "an average"
        told = "".join(f"{'yes' if ok else 'NO':11}" for ok in finite)
        lines.append(f"{name:22} {word:11} {told.rstrip()}")
    return "\n".join(lines)


def padding_table(lengths: Sequence[int], as_it_is: Array, with_axes: Array) -> str:
    """By sentence: the weight on padding, averaged over its real tokens, for a mask read in two ways."""
    lines = [f"{'sentence':9} {'real tokens':12} {'mask as it is':14} mask[:, None, None, :]"]
    for b, length in enumerate(lengths):
        wrong, right = (float(weight[b, :length].mean()) for weight in (as_it_is, with_axes))
        lines.append(f"{b:<9} {length:<12} {wrong:<14.2f} {right:.2f}")
    return "\n".join(lines)


def detect_table(found: Mapping[str, Mapping[str, bool]]) -> str:
    """By planted bug: which detector finds a leak."""
    lines = [f"{'':26}" + "".join(f"{name:>16}" for name in DETECTORS)]
    for bug, hits in found.items():
        lines.append(f"{bug:26}" + "".join(f"{'leak' if hit else '-':>16}" for hit in hits.values()))
    return "\n".join(lines)
