"""Lesson 07, exercise `hunt_tiled_attention`: one line of a tiled kernel is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.flash_attention.exercises.mend_tiled_attention import with_a_bug
from sdpa_helpers.lessons.flash_attention.exercises.tiled_attention import EXERCISE as TILED_ATTENTION

HUNT = Hunt(
    TILED_ATTENTION,
    with_a_bug,
    lines=(9, 10),  # the condition, and the `break` that it guards
    kinds=("numbers", "numbers", "numbers", "count", "count", "flag"),
    innocent={
        5: "Line 5 is right: the scale is applied to the queries, which comes to the same as dividing the scores.",
        6: "Line 6 is right: −∞ is below every score. With 0 a row of scores far below 0 would be lost.",
        13: "Line 13 is right: `k=top - left` moves the triangle to where the tile lies. Row 0 is query `top`, column 0 is key `left`.",
        17: "Line 17 is right: the new maximum is at least the old one, so the factor is at most 1.",
        19: "Line 19 is right: what was summed up shrinks, and the new exponentials are made with the new maximum already.",
        20: "Line 20 is right: the output so far shrinks by the same factor as the sum.",
        21: "Line 21 is right: one division, after the last tile of keys, is enough.",
    },
)

PROMPT = f"""`hunt_tiled_attention()`: the function below should return what [`tiled_attention`](#tiled_attention) returns. It passed its author's test, which was causal, with 1000 queries and tiles of 32 × 32. Here is its code. In one place it is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line.
- `inputs`: a tuple with the arguments of one call, `(Q, K, V, block_q, block_k, is_causal)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_tiled_attention`](#mend_tiled_attention) below, which holds it.
"""


def hunt_tiled_attention():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    return 9, (np.zeros((2, 1)), np.zeros((2, 1)), np.array([[0.0], [1.0]]), 2, 1, True)


EXERCISE = Exercise(
    name="hunt_tiled_attention",
    lesson="07_flash_attention",
    title="Find the bug in a tiled kernel",
    prompt=PROMPT,
    section=TILED_ATTENTION.section,
    difficulty=4,
    minutes=8,
    reference=hunt_tiled_attention,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_tiled_attention()[1],
        hidden=(np.zeros((2, 1)), np.zeros((2, 1)), np.array([[0.0], [1.0]]), 1, 1, True),
        outside=(np.zeros((2, 3)), np.zeros((2, 1)), np.array([[0.0], [1.0]]), 2, 1, True),
    ),
    also_right=(
        lambda: (9, (np.eye(4), np.eye(4), np.eye(4), 3, 2, True)),
        lambda: [np.int64(10), [[[0], [0], [0]], [[0], [0], [0]], [[1], [2], [3]], 3, 1, 1 == 1]],
    ),
    hints=(
        "The code is right for square tiles. What becomes different with tiles of two queries and one key?",
        "Draw a causal mask of 4 × 4, and tiles of 2 × 1 on it. Which of them hold a key that some query sees, and which "
        "does the code visit?",
        "Line 9 leaves out tiles whose first key comes after the block's first query. With `block_q` 2 and `block_k` 1 "
        "query 1 never meets key 1: choose values that differ.",
    ),
)
