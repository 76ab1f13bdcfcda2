"""Lesson 08, exercise `mend_multi_head_attention`: one line of multi-head attention is wrong. Fix it."""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.heads_and_variants.exercises.multi_head_attention import (
    EXERCISE as MULTI_HEAD_ATTENTION,
)

PROMPT = """The cell below holds the code of `hunt_multi_head_attention`, bug included. Fix it: one line is enough.

- `mend_multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None)` should do what [`multi_head_attention`](#multi_head_attention) does, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass.
"""


def with_a_bug(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Self-attention with heads: x (..., n, d_model), four matrices, bool mask -> (..., n, d_out)."""
    cut = (*x.shape[:-1], num_heads, -1)
    Q, K, V = (np.swapaxes((x @ W).reshape(cut), -2, -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    heads = exponentials / np.where(total == 0, 1.0, total) @ V
    return heads.reshape(*x.shape[:-1], -1) @ W_o


def mend_multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Self-attention with heads: x (..., n, d_model), four matrices, bool mask -> (..., n, d_out)."""
    cut = (*x.shape[:-1], num_heads, -1)
    Q, K, V = (np.swapaxes((x @ W).reshape(cut), -2, -3) for W in (W_q, W_k, W_v))
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    scores = scores if mask is None else np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(largest == -np.inf, 0.0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    heads = exponentials / np.where(total == 0, 1.0, total) @ V
    return np.swapaxes(heads, -2, -3).reshape(*x.shape[:-1], -1) @ W_o


EXERCISE = replace(
    MULTI_HEAD_ATTENTION,
    name="mend_multi_head_attention",
    title="Fix the multi-head attention",
    prompt=PROMPT,
    examples=(),
    difficulty=2,
    minutes=4,
    reference=mend_multi_head_attention,
    starter=with_a_bug,
    whole=True,
    cases=worth(MULTI_HEAD_ATTENTION, {"two leading axes": 1, "all sizes equal": 1}),
    hints=(
        "Write the shape of `heads` beside line 10. Which numbers lie next to each other in it?",
        "Line 4 cuts and then swaps two axes. The way back does the same in reverse order: what comes before the reshape?",
        "In line 11, `np.swapaxes(heads, -2, -3).reshape(*x.shape[:-1], -1) @ W_o`.",
    ),
    spared=(),
)
