"""Lesson 04, exercise `hunt_attention_backward`: one line of a backward pass is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.gradients.exercises.attention_backward import EXERCISE as ATTENTION_BACKWARD
from sdpa_helpers.lessons.gradients.exercises.mend_attention_backward import with_a_bug

HUNT = Hunt(
    ATTENTION_BACKWARD,
    with_a_bug,
    lines=(9,),
    kinds=("numbers", "numbers", "numbers", "numbers"),
    innocent={
        3: "Scaling the queries first is a good idea, which saves work: the scores are the same. But a line further down forgets that "
        "it was done.",
        8: "Line 8 is right: it is the way back through softmax, and subtracts the average of each row.",
        10: "Line 10 is right. It looks as if the scale were missing, but `Q` has been divided by √d_k in line 3.",
    },
)

PROMPT = f"""`hunt_attention_backward()`: the function below should return the gradients of attention, as [`attention_backward`](#attention_backward) does. Here is its code. One line is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line.
- `inputs`: a tuple with the arguments of one call, `(Q, K, V, grad_output)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_attention_backward`](#mend_attention_backward) below, which holds it.
"""


def hunt_attention_backward():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    return 9, (
        np.array([[1.0, 0.0, 0.0, 0.0]]),
        np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
        np.array([[0.0], [4.0]]),
        np.array([[1.0]]),
    )


EXERCISE = Exercise(
    name="hunt_attention_backward",
    lesson="04_gradients",
    title="Find the bug in a backward pass",
    prompt=PROMPT,
    section=ATTENTION_BACKWARD.section,
    difficulty=4,
    minutes=8,
    reference=hunt_attention_backward,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_attention_backward()[1],
        hidden=(np.ones((1, 1)), np.array([[1.0], [2.0]]), np.array([[0.0], [4.0]]), np.ones((1, 1))),
        outside=(np.ones((1, 2)), np.ones((3, 2)), np.ones((2, 1)), np.ones((1, 1))),
    ),
    also_right=(
        lambda: (9, (np.zeros((1, 2)), np.eye(2), np.array([[0.0], [1.0]]), np.ones((1, 1)))),
        lambda: [9, [[[1, 2]], [[1, 0], [0, 3]], [[0], [1]], [[1]]]],
    ),
    hints=(
        "Beside each line, write the formula that you know for it, and count the factors 1/√d_k. Which lines should have one?",
        "From line 4 on `Q` is another matrix. Which gradient is taken with respect to it, and which should be?",
        "Line 9 gives the gradient at the scaled queries. It shows as soon as d_k is not 1 and some dS is not 0.",
    ),
)
