"""Lesson 05: what an experiment found, as lines of text that stand below an answer."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy import ndarray as Array

from sdpa_helpers.lessons.masking.experiments import Health, Same


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
        f"95 % of the draws lie between:             {same.lowest:.2f} and {same.highest:.2f}"
    )


def health_table(health: Mapping[str, Health]) -> str:
    """By the way of masking: the output of a row that sees nothing, and which gradients are finite."""
    lines = [f"{'':22} {'empty row':11} dQ finite  dK finite  dV finite"]
    for name, found in health.items():
        finite = "".join(f"{'yes' if ok else 'NO':11}" for ok in (found.grad_q, found.grad_k, found.grad_v))
        lines.append(f"{name:22} {found.empty_row:11} {finite.rstrip()}")
    return "\n".join(lines)
