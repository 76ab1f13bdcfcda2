"""Lesson 07, exercise `mend_tiled_attention`: a tiled kernel skips too much. Fix it."""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.flash_attention.exercises.tiled_attention import EXERCISE as TILED_ATTENTION

PROMPT = """The cell below holds the code of `hunt_tiled_attention`, bug included. Fix it: one line is enough.

- `mend_tiled_attention(Q, K, V, block_q, block_k, is_causal=False)` should return what [`tiled_attention`](#tiled_attention) returns, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass.
"""


def with_a_bug(Q, K, V, block_q, block_k, is_causal=False):
    """Attention, tile by tile: shape (..., n_q, d_v)."""
    out = np.empty((*Q.shape[:-1], V.shape[-1]))
    for top in range(0, Q.shape[-2], block_q):
        q = Q[..., top : top + block_q, :] / np.sqrt(Q.shape[-1])
        largest = np.full((*q.shape[:-1], 1), -np.inf)
        total = summed = 0.0
        for left in range(0, K.shape[-2], block_k):
            if is_causal and left > top:
                break
            scores = q @ np.swapaxes(K[..., left : left + block_k, :], -1, -2)
            if is_causal:
                seen = np.tri(*scores.shape[-2:], k=top - left, dtype=bool)
                scores = np.where(seen, scores, -np.inf)
            before = largest
            largest = np.maximum(before, scores.max(axis=-1, keepdims=True))
            shrink = np.exp(before - largest)
            exponentials = np.exp(scores - largest)
            total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
            summed = summed * shrink + exponentials @ V[..., left : left + block_k, :]
        out[..., top : top + block_q, :] = summed / total
    return out


def mend_tiled_attention(Q, K, V, block_q, block_k, is_causal=False):
    """Attention, tile by tile: shape (..., n_q, d_v)."""
    out = np.empty((*Q.shape[:-1], V.shape[-1]))
    for top in range(0, Q.shape[-2], block_q):
        q = Q[..., top : top + block_q, :] / np.sqrt(Q.shape[-1])
        largest = np.full((*q.shape[:-1], 1), -np.inf)
        total = summed = 0.0
        for left in range(0, K.shape[-2], block_k):
            if is_causal and left >= top + block_q:
                break
            scores = q @ np.swapaxes(K[..., left : left + block_k, :], -1, -2)
            if is_causal:
                seen = np.tri(*scores.shape[-2:], k=top - left, dtype=bool)
                scores = np.where(seen, scores, -np.inf)
            before = largest
            largest = np.maximum(before, scores.max(axis=-1, keepdims=True))
            shrink = np.exp(before - largest)
            exponentials = np.exp(scores - largest)
            total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
            summed = summed * shrink + exponentials @ V[..., left : left + block_k, :]
        out[..., top : top + block_q, :] = summed / total
    return out


EXERCISE = replace(
    TILED_ATTENTION,
    name="mend_tiled_attention",
    title="Fix the tiled kernel",
    prompt=PROMPT,
    examples=(),
    difficulty=2,
    minutes=4,
    reference=mend_tiled_attention,
    starter=with_a_bug,
    whole=True,
    cases=worth(
        TILED_ATTENTION,
        {"causal, more queries than keys, tall tiles": 1, "causal, more keys than queries": 1},
    ),
    hints=(
        "Which queries does the condition for `break` speak about: the first of the block, or all of them?",
        "A tile may be skipped when no query of the block sees any of its keys. Which query of the block sees furthest?",
        "The queries of the block end before `top + block_q`, so a tile whose first key is `left >= top + block_q` is seen by "
        "none of them.",
    ),
    spared=(),
)
