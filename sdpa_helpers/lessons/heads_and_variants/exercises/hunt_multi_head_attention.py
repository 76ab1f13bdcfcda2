"""Lesson 08, exercise `hunt_multi_head_attention`: one line of multi-head attention is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.heads_and_variants.exercises.mend_multi_head_attention import with_a_bug
from sdpa_helpers.lessons.heads_and_variants.exercises.multi_head_attention import (
    EXERCISE as MULTI_HEAD_ATTENTION,
)

HUNT = Hunt(
    MULTI_HEAD_ATTENTION,
    with_a_bug,
    lines=(11,),
    kinds=("numbers", "numbers", "numbers", "numbers", "numbers", "count"),
    innocent={
        3: "Line 3 is right: it only names the shape (..., n, num_heads, d_head), which cuts the width of each token.",
        4: "Line 4 is right: it cuts the width first and then swaps tokens and heads, so each head has its part of every "
        "token.",
        5: "Line 5 is right: here the last axis of Q is d_head, the width of one head, and that is what belongs under the "
        "root.",
        10: "Line 10 is right: the division makes each row add up to 1, and each head mixes its own values.",
    },
)

PROMPT = f"""`hunt_multi_head_attention()`: the function below should be [`multi_head_attention`](#multi_head_attention). The shape of its result is always right; its numbers are not. One line is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line.
- `inputs`: a tuple with the arguments of one call without a mask, `(x, W_q, W_k, W_v, W_o, num_heads)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers in all.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_multi_head_attention`](#mend_multi_head_attention) below, which holds it.
"""


def hunt_multi_head_attention():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    x = np.array([[1.0, 2.0], [3.0, 4.0]])  # two tokens, two heads of width 1
    return 11, (x, np.eye(2), np.eye(2), np.eye(2), np.eye(2), 2)


EXERCISE = Exercise(
    name="hunt_multi_head_attention",
    lesson="08_heads_and_variants",
    title="Find the bug in multi-head attention",
    prompt=PROMPT,
    section=MULTI_HEAD_ATTENTION.section,
    difficulty=3,
    minutes=7,
    reference=hunt_multi_head_attention,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_multi_head_attention()[1],
        hidden=(np.array([[1.0, 2.0], [3.0, 4.0]]), *[np.eye(2)] * 4, 1),
        outside=(np.array([[1.0, 2.0], [3.0, 4.0]]), *[np.eye(2)] * 4, 3),
    ),
    also_right=(
        lambda: (
            11,
            (
                np.arange(12.0).reshape(3, 4) / 10,
                *(np.eye(4)[p] for p in ([1, 0, 2, 3], [0, 1, 2, 3])),
                *[np.eye(4)] * 2,
                2,
            ),
        ),
        lambda: [11, [[[0, 1], [2, 5]], *[[[1, 0], [0, 1]]] * 4, np.int64(2)]],
    ),
    hints=(
        "Go through it with x of shape (2, 4) and two heads, and write down each shape. Then ask of each reshape which "
        "numbers it puts next to each other.",
        "With one head, or with one token, the code is right. What do two heads and two tokens change?",
        "Line 11 joins the heads without swapping tokens and heads back. Use two tokens, two heads, and identity matrices.",
    ),
)
