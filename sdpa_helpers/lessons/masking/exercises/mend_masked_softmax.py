"""Lesson 05, exercise `mend_masked_softmax`: one line of a masked softmax is wrong. Fix it."""

from dataclasses import replace

import numpy as np

from sdpa_helpers.checking.bug_hunt import worth
from sdpa_helpers.lessons.masking.exercises.masked_softmax import EXERCISE as MASKED_SOFTMAX

PROMPT = """The cell below holds the code of `hunt_masked_softmax`, bug included. Fix it: one or two lines are enough.

- `mend_masked_softmax(scores, mask)` should do what [`masked_softmax`](#masked_softmax) does, and is tested on the same cases.
- The two points are for a fix that breaks nothing else: all cases have to pass, including those in which a row sees nothing.
"""


def with_a_bug(scores, mask):
    """Softmax over visible keys: scores (..., n_q, n_k), mask bool -> weights."""
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.where(mask, np.exp(scores - largest), 0.0)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1.0, total)


def mend_masked_softmax(scores, mask):
    """Softmax over visible keys: scores (..., n_q, n_k), mask bool -> weights."""
    largest = np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True)
    exponentials = np.where(mask, np.exp(scores - largest), 0.0)
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1.0, total)


EXERCISE = replace(
    MASKED_SOFTMAX,
    name="mend_masked_softmax",
    title="Fix the masked softmax",
    prompt=PROMPT,
    examples=(),
    difficulty=2,
    minutes=4,
    reference=mend_masked_softmax,
    starter=with_a_bug,
    whole=True,
    cases=worth(MASKED_SOFTMAX, {"hidden keys that would win by far": 2}),
    hints=(
        "Which line looks at keys that may not be seen?",
        "A hidden score of 1000 pushes every visible exponential down to 0. Which scores should the maximum be taken over?",
        "`np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True)`. In a row that sees nothing this is −∞; what do "
        "lines 4 and 6 make of it?",
    ),
    spared=(),
)
