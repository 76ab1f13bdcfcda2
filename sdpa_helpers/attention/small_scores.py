"""When no score can be large, softmax needs no maximum, which saves two passes over the scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpa_helpers.attention.walk import is_boolean

if TYPE_CHECKING:
    from sdpa_helpers.attention.layout import Head, Rule

# exp(±30) ≈ 10^±13: far from the ends of float32 (10^±38), also after adding up a million of them.
SMALL_SCORE = 30.0
SMALL_VALUE = 1e18


def scores_are_small(head: Head, rule: Rule, working: Any) -> bool:
    """Whether exp of every score is so far from overflow and underflow that no maximum need be subtracted.

    head: the matrices of one head, or of several. Cauchy and Schwarz: |q · k| ≤ ‖q‖ ‖k‖. Costs n·d to prove, and saves
    two passes over n² scores. For normally distributed vectors the bound is about √d_k + 5. A float mask or a score_mod
    could make anything of a score. NaN makes it false.
    """
    query, key, value = (array.astype(working, copy=False) for array in head)
    if not query.size or changes_scores(rule):
        return False
    return abs(rule.scale) * largest_norm(query) * key_bound(key, value) < SMALL_SCORE


def changes_scores(rule: Rule) -> bool:
    """Whether the rule does more than to hide scores."""
    return rule.score_mod is not None or (rule.mask is not None and not is_boolean(rule.mask))


def key_bound(key: np.ndarray, value: np.ndarray) -> float:
    """The largest ‖k‖; ∞ where the values are so large that weights times values could overflow."""
    if not (key.size and value.size):
        return math.inf
    largest_value = max(float(value.max()), -float(value.min()))
    return largest_norm(key) if largest_value < SMALL_VALUE else math.inf


def largest_norm(vectors: np.ndarray) -> float:
    """At least the largest ‖v‖ of (…, n, d) vectors; NaN where there is one: what is compared with it is never true."""
    largest_square = np.einsum("...nd,...nd->...n", vectors, vectors).max()
    if largest_square < np.finfo(vectors.dtype).tiny:  # squares of small numbers may have become 0
        return math.sqrt(vectors.shape[-1]) * float(np.abs(vectors).max())
    return math.sqrt(largest_square)
