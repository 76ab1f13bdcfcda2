"""Lesson 04, exercise `mend_attention_backward`: one line of the backward pass is wrong. Fix it."""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.gradients.exercises.attention_backward import EXERCISE as ATTENTION_BACKWARD

PROMPT = """The cell below holds the code of `hunt_attention_backward`, bug included. Fix it: one line is enough.

- `mend_attention_backward(Q, K, V, grad_output)` should do what [`attention_backward`](#attention_backward) does, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass.
"""


def with_a_bug(Q, K, V, grad_output):
    """Gradients of attention: -> (dQ, dK, dV), shaped like Q, K, V."""
    Q = Q / np.sqrt(Q.shape[-1])
    S = Q @ np.swapaxes(K, -1, -2)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    dA = grad_output @ np.swapaxes(V, -1, -2)
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    dQ = dS @ K
    dK = np.swapaxes(dS, -1, -2) @ Q
    dV = np.swapaxes(A, -1, -2) @ grad_output
    return dQ, dK, dV


def mend_attention_backward(Q, K, V, grad_output):
    """Gradients of attention: -> (dQ, dK, dV), shaped like Q, K, V."""
    Q = Q / np.sqrt(Q.shape[-1])
    S = Q @ np.swapaxes(K, -1, -2)
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A = A / A.sum(axis=-1, keepdims=True)
    dA = grad_output @ np.swapaxes(V, -1, -2)
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    dQ = dS @ K / np.sqrt(Q.shape[-1])
    dK = np.swapaxes(dS, -1, -2) @ Q
    dV = np.swapaxes(A, -1, -2) @ grad_output
    return dQ, dK, dV


EXERCISE = replace(
    ATTENTION_BACKWARD,
    name="mend_attention_backward",
    title="Fix the backward pass",
    prompt=PROMPT,
    examples=(),
    difficulty=3,
    minutes=4,
    reference=mend_attention_backward,
    starter=with_a_bug,
    whole=True,
    cases=worth(ATTENTION_BACKWARD, {"three queries, five keys": 1, "batch and heads": 1}),
    hints=(
        "What is `Q` from line 4 on, and whose gradient is returned first?",
        "Line 3 is one more step of the way forward. On the way back it is one more factor, for `dQ` alone: in `dK` it "
        "is inside `Q` already.",
        "In line 9, `dS @ K / np.sqrt(Q.shape[-1])`.",
    ),
    spared=(),
)
