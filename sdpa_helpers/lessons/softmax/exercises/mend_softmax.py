"""Lesson 03, exercise `mend_softmax`: one line of a softmax is wrong. Fix it."""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.softmax.exercises.softmax import EXERCISE as SOFTMAX

PROMPT = """The cell below holds the code of `hunt_softmax`, bug included. Fix it: one line is enough.

- `mend_softmax(x, axis=-1)` should do what [`softmax`](#softmax) does, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass.
"""


def with_a_bug(x, axis=-1):
    """Weights along one axis: x (any shape) -> the same shape."""
    largest = np.max(x, axis=-1, keepdims=True)
    exponentials = np.exp(x - largest)
    total = np.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / total


def mend_softmax(x, axis=-1):
    """Weights along one axis: x (any shape) -> the same shape."""
    largest = np.max(x, axis=axis, keepdims=True)
    exponentials = np.exp(x - largest)
    total = np.sum(exponentials, axis=axis, keepdims=True)
    return exponentials / total


EXERCISE = replace(
    SOFTMAX,
    name="mend_softmax",
    title="Fix the softmax",
    prompt=PROMPT,
    examples=(),
    difficulty=1,
    minutes=3,
    reference=mend_softmax,
    starter=with_a_bug,
    whole=True,
    cases=worth(SOFTMAX, {"the middle axis": 1, "the first axis": 1}),
    hints=(
        "Which of the four lines does not know which axis was asked for?",
        "The maximum and the sum have to run over the same axis: otherwise the numbers of one slice are shifted by different amounts.",
        "In line 3, `axis=axis`.",
    ),
    spared=(),
)
