"""Lesson 06, exercise `hunt_chunked_attention`: one line of attention in blocks of keys is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.complexity.exercises.chunked_attention import EXERCISE as CHUNKED_ATTENTION
from sdpa_helpers.lessons.complexity.exercises.mend_chunked_attention import with_a_bug

HUNT = Hunt(
    CHUNKED_ATTENTION,
    with_a_bug,
    lines=(
        9,
        11,
        12,
    ),  # the old maximum is lost in 9; in 11 and in 12 a sum made with it is not brought to the new one
    kinds=("numbers", "numbers", "numbers", "count"),
    innocent={
        8: "Line 8 is right: all queries meet one block of keys, scaled by 1/√d_k.",
        10: "Line 10 is right: with the largest score so far no exponential is above 1. But what was summed up before, with another one?",
        13: "Line 13 is right: one division at the end is enough, if both sums were made with the same maximum.",
    },
)

PROMPT = f"""`hunt_chunked_attention()`: the function below should return what [`chunked_attention`](#chunked_attention) returns. It takes the keys, not the queries, `chunk` at a time and keeps running sums, as FlashAttention does. Here is its code. In one place it is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line. Where several lines are wrong together, name one of them.
- `inputs`: a tuple with the arguments of one call, `(Q, K, V, chunk)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_chunked_attention`](#mend_chunked_attention) below, which holds it.
"""


def hunt_chunked_attention():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    return 9, (np.array([[1.0]]), np.array([[0.0], [1.0]]), np.array([[0.0], [1.0]]), 1)


EXERCISE = Exercise(
    name="hunt_chunked_attention",
    lesson="06_complexity",
    title="Find the bug in attention by blocks of keys",
    prompt=PROMPT,
    section=CHUNKED_ATTENTION.section,
    difficulty=4,
    minutes=8,
    reference=hunt_chunked_attention,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_chunked_attention()[1],
        hidden=(np.array([[1.0]]), np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), 1),
        outside=(np.array([[1.0]]), np.array([[0.0], [1.0]]), np.array([[0.0], [1.0], [2.0]]), 1),
    ),
    also_right=(
        lambda: (12, (np.array([[3.0]]), np.array([[0.0], [1.0]]), np.array([[5.0], [1.0]]), 1)),
        lambda: [11, [[[1, 1]], [[0, 0], [0, 0], [1, 2]], [[0], [0], [1]], 2]],
    ),
    hints=(
        "Follow one query through two blocks of one key each. Which maximum was subtracted when?",
        "With the largest score in the first block everything is right. Put it into the second.",
        "When `largest` grows in line 9, `total` and `out` still hold exponentials that were made with the old one. A query of 1 and the keys 0 and 1, one at a time, show it.",
    ),
)
