"""When no score can be large, softmax needs no maximum: two passes over the scores less."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sdpa_helpers.attention.layout import Head, Rule

# exp(±30) ≈ 10^±13: far from the ends of float32 (10^±38), also after adding up a million of them.
SMALL_SCORE = 30.0
SMALL_VALUE = 1e18
_ROWS = 512  # at a time: nothing as large as the matrices is made


def scores_are_small(head: Head, rule: Rule, working: Any) -> bool:
    """Whether exp of every score of a head is so far from overflow and underflow that no maximum need be subtracted.

    Cauchy and Schwarz: |q · k| ≤ ‖q‖ ‖k‖. Costs n·d to prove, and saves two passes over n² scores. For normally
    distributed vectors the bound is about √d_k + 5. A float mask could add anything. NaN makes it false.
    """
    query, key, value = head
    if (rule.mask is not None and rule.mask.dtype != bool) or not (query.size and key.size and value.size):
        return False
    bound = abs(rule.scale) * _largest_norm(query, working) * _largest_norm(key, working)
    return bound < SMALL_SCORE and max(float(value.max()), -float(value.min())) < SMALL_VALUE


def _largest_norm(vectors: np.ndarray, working: Any) -> float:
    """The largest ‖v‖; NaN where there is one, so that nothing compared with it comes out true."""
    squares = np.zeros((), working)
    for start in range(0, len(vectors), _ROWS):
        some = vectors[start : start + _ROWS].astype(working, copy=False)
        # Not Python's max: max(0.0, nan) is 0.0, and all scores of that head would count as small.
        squares = np.maximum(squares, np.einsum("nd,nd->n", some, some).max())
    return math.sqrt(squares)
