"""Who drank how many cups of what, and what the learner's lines should make of it."""

import numpy as np

from sdpa_helpers.course.one_line import LineTask, line_of

CUPS = np.array([[1, 0, 0, 2], [0, 1, 2, 2], [4, 0, 0, 0], [0, 3, 0, 3], [1, 2, 1, 3]])
"""(5, 4): people × drinks."""

line = line_of(
    {
        "tea": lambda: LineTask(CUPS[:, 0], "Right: one number for each person. The axis of drinks is gone."),
        "each": lambda: LineTask(CUPS.sum(axis=1), "Right: axis 1 is summed up, and the people are left."),
        "shares": lambda: LineTask(
            CUPS / CUPS.sum(axis=1, keepdims=True),
            "Right: now each row adds up to 1. Softmax ends with this line.",
        ),
        "apart": lambda: LineTask(
            np.subtract.outer(CUPS.sum(axis=0), CUPS.sum(axis=0)),
            "Right: every drink with every drink. A matrix of scores is made like this, every query with every key.",
        ),
    }
)
