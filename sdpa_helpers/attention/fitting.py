"""What a caller said in Python's floats or in float64, made to fit the dtype that scores are computed in.

float32 ends at 10^±38. A scale of 10⁻⁵⁰ is 0 in it, one of 10⁵⁰ is ∞; float64's lowest number is −∞, which would hide a
key that a finite number does not hide. Here, once for all backends:

- a scale far from 1 goes into queries and keys, half of its power of two into each: no digit is lost, and what it
  makes of them is as large as the scores' square root;
- what is finite in a mask, or in what a score_mod gives, stays finite: the largest number there is.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention.layout import Head

if TYPE_CHECKING:
    from sdpa_helpers.attention.layout import Rule

# Scales that stay as they are. Below, q · k may overflow where the score does not; above, q · scale.
LEAST_SCALE, MOST_SCALE = 2.0**-20, 2.0**7
STEP = 126  # 2^±126 is a number of float32, with all its digits


def fitted(arrays: Head, rule: Rule) -> tuple[Head, Rule]:
    """The same call, in numbers that every backend can compute with. What it does has exact gradients."""
    if not is_near(rule.scale):
        arrays, scale = with_near_scale(arrays, rule.scale)
        rule = rule._replace(scale=scale)
    if rule.mask is not None and is_wider(rule.mask, arrays.query):
        rule = rule._replace(mask=narrowed(rule.mask, working_dtype(arrays.query)))
    if rule.score_mod is not None:
        rule = rule._replace(score_mod=with_narrow_scores(rule.score_mod))
    return arrays, rule


# The scale -------------------------------------------------------------------------------------------------


def is_near(scale: float) -> bool:
    """Whether a scale is 0, or near enough to 1 to be used as it is."""
    return LEAST_SCALE <= abs(scale) <= MOST_SCALE or not scale


def with_near_scale(arrays: Head, scale: float) -> tuple[Head, float]:
    """The same scores by a scale near 1. Where that takes a change, half precision becomes float32.

    It does not look at the numbers: all processes of a ring change theirs alike.
    """
    if is_near(scale):
        return arrays, scale
    scale, exponent = math.frexp(scale)
    query, key, value = (as_dtype(x, working_dtype(x)) for x in arrays)
    ours = exponent // 2
    return Head(times_power(query, exponent - ours), times_power(key, ours), value), scale


def times_power(array: Any, exponent: int) -> Any:
    """array · 2^exponent, by factors that float32 can hold."""
    while exponent:
        step = max(-STEP, min(STEP, exponent))
        array, exponent = array * 2.0**step, exponent - step
    return array


# Masks and scores ------------------------------------------------------------------------------------------


def with_narrow_scores(score_mod: Any) -> Any:
    """A score_mod whose numbers, where it gives float64 for float32, are `narrowed`."""

    def narrow(score: Any, *where: Any) -> Any:
        changed = score_mod(score, *where)
        return narrowed(changed, score.dtype) if is_wider(changed, score) else changed

    return narrow


def is_wider(numbers: Any, than: Any) -> bool:
    """Whether they are of float64, and what is computed with them is not."""
    return numbers.dtype.itemsize == 8 > than.dtype.itemsize


def narrowed(numbers: Any, dtype: Any) -> Any:
    """float64 numbers in float32, where what is finite stays finite. Of what lies there only once, a copy of once."""
    if isinstance(numbers, np.ndarray | np.generic):
        return _narrowed_array(np.asarray(numbers), dtype)
    torch = sys.modules["torch"]
    steps = zip(numbers.shape, numbers.stride(), strict=True)
    once = tuple(slice(0, 1) if not step and size else slice(None) for size, step in steps)
    wide, most = numbers[once], torch.finfo(dtype).max
    narrow = wide.to(dtype)
    narrow = torch.where(wide.isinf(), narrow, narrow.clamp(-most, most))  # NaN stays NaN
    return narrow.expand(numbers.shape)


def _narrowed_array(numbers: np.ndarray, dtype: Any) -> np.ndarray:
    once = tuple(slice(0, 1) if step == 0 else slice(None) for step in numbers.strides)
    wide = numbers[once]
    with np.errstate(over="ignore"):
        narrow = np.array(wide, dtype)
    lost = np.isinf(narrow)
    if lost.any():
        lost &= np.isfinite(wide)
        np.copyto(narrow, np.copysign(np.finfo(dtype).max, narrow), where=lost)
    return np.broadcast_to(narrow, numbers.shape)


# Arrays and tensors alike ----------------------------------------------------------------------------------


def working_dtype(array: Any) -> Any:
    """What scores are computed in: float64 for float64, else float32."""
    if isinstance(array, np.ndarray):
        return np.result_type(array.dtype, np.float32)
    torch = sys.modules["torch"]
    return torch.promote_types(array.dtype, torch.float32)


def as_dtype(array: Any, dtype: Any) -> Any:
    """An array or a tensor in another dtype; itself where it is of that one."""
    return array.astype(dtype, copy=False) if isinstance(array, np.ndarray) else array.to(dtype)
