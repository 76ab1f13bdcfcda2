"""When no score can be large, softmax needs no maximum, which saves two passes over the scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention.walk import is_boolean

if TYPE_CHECKING:
    from sdpa_helpers.attention.layout import Head, Rule

# exp(±30) ≈ 10^±13: far from the ends of float32 (10^±38), also after adding up a million of them, and in products
# with values that are no larger and no smaller than these: 10⁻¹² · 10⁻¹³ keeps all its digits, and its sum with 10⁻³⁸.
SMALL_SCORE = 30.0
LEAST_VALUE, SMALL_VALUE = 1e-12, 1e18
# From here on the rounding of a score, and of the LSE beside it, is no small number any more, and exp(score − LSE) may
# come out above 1, at last as ∞: where weights are made again, for gradients, they are held to 1.
ROUGH_SCORE = 1e5


def bound_of_scores(head: Head, rule: Rule, working: Any) -> float:
    """What no score is beyond; ∞ where a float mask or a score_mod could make anything of a score. NaN makes it NaN.

    head: the matrices of one head, or of several. Cauchy and Schwarz: |q · k| ≤ ‖q‖ ‖k‖. Costs n·d to prove. Below
    SMALL_SCORE, exp of every score is so far from overflow and underflow that no maximum need be subtracted, which
    saves two passes over n² scores. For normally distributed vectors the bound is about √d_k + 5.
    """
    query, key, _ = (array.astype(working, copy=False) for array in head)
    if not (query.size and key.size) or changes_scores(rule):
        return math.inf
    return abs(rule.scale) * largest_norm(query) * largest_norm(key)


def changes_scores(rule: Rule) -> bool:
    """Whether the rule does more than to hide scores."""
    return rule.score_mod is not None or (rule.mask is not None and not is_boolean(rule.mask))


def are_moderate(value: np.ndarray) -> bool:
    """Whether the values are so far from overflow, and those that are not 0 from underflow, that weights need no shift.

    exp(score) · value is then as exact as a product of float32 can be, whatever small score it is of.
    """
    sizes = np.abs(value)
    if not sizes.max(initial=0) < SMALL_VALUE:  # or NaN
        return False
    return bool(sizes.min(initial=1) > LEAST_VALUE) or np.count_nonzero(
        sizes > LEAST_VALUE
    ) == np.count_nonzero(sizes)


def largest_norm(vectors: np.ndarray) -> float:
    """At least the largest ‖v‖ of (…, n, d) vectors; NaN where there is one: `<` and `>` with it are never true."""
    largest_square = np.einsum("...nd,...nd->...n", vectors, vectors).max()
    if largest_square < np.finfo(vectors.dtype).tiny:  # squares of small numbers may have become 0
        return math.sqrt(vectors.shape[-1]) * float(np.abs(vectors).max())
    return math.sqrt(largest_square)
