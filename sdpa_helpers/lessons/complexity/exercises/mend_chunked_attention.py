"""Lesson 06, exercise `mend_chunked_attention`: attention in blocks of keys forgets something. Fix it."""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.complexity.exercises.chunked_attention import EXERCISE as CHUNKED_ATTENTION

PROMPT = """The cell below holds the code of `hunt_chunked_attention`, bug included. Fix it: two or three lines change, and one or two are new.

- `mend_chunked_attention(Q, K, V, chunk)` should return what [`chunked_attention`](#chunked_attention) returns, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass.
"""


def with_a_bug(Q, K, V, chunk):
    """Attention, `chunk` keys at a time: shape (..., n_q, d_v)."""
    largest = np.full((*Q.shape[:-1], 1), -np.inf)
    total = np.zeros_like(largest)
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for j in range(0, K.shape[-2], chunk):
        block = slice(j, j + chunk)
        scores = Q @ np.swapaxes(K[..., block, :], -1, -2) / np.sqrt(Q.shape[-1])
        largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        exponentials = np.exp(scores - largest)
        total = total + exponentials.sum(axis=-1, keepdims=True)
        out = out + exponentials @ V[..., block, :]
    return out / total


def mend_chunked_attention(Q, K, V, chunk):
    """Attention, `chunk` keys at a time: shape (..., n_q, d_v)."""
    largest = np.full((*Q.shape[:-1], 1), -np.inf)
    total = np.zeros_like(largest)
    out = np.zeros((*Q.shape[:-1], V.shape[-1]))
    for j in range(0, K.shape[-2], chunk):
        block = slice(j, j + chunk)
        scores = Q @ np.swapaxes(K[..., block, :], -1, -2) / np.sqrt(Q.shape[-1])
        before = largest
        largest = np.maximum(before, scores.max(axis=-1, keepdims=True))
        shrink = np.exp(before - largest)
        exponentials = np.exp(scores - largest)
        total = total * shrink + exponentials.sum(axis=-1, keepdims=True)
        out = out * shrink + exponentials @ V[..., block, :]
    return out / total


EXERCISE = replace(
    CHUNKED_ATTENTION,
    name="mend_chunked_attention",
    title="Fix attention in blocks of keys",
    prompt=PROMPT,
    examples=(),
    difficulty=4,
    minutes=8,
    reference=mend_chunked_attention,
    starter=with_a_bug,
    whole=True,
    cases=worth(CHUNKED_ATTENTION, {"chunks that fit": 1, "two thousand queries, five at a time": 1}),
    hints=(
        "What was subtracted from the scores of the first block, and what from those of the second?",
        "All exponentials in a sum need the same maximum. When it grows, what was summed up so far has to shrink: both "
        "`total` and `out`, by the same factor.",
        "Keep the old maximum in `before`. The factor is `np.exp(before - largest)`; at the first block it is exp(−∞) = 0.",
    ),
    spared=(),
)
