"""Lesson 03, exercise `hunt_softmax`: one line of a softmax is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.softmax.exercises.mend_softmax import with_a_bug
from sdpa_helpers.lessons.softmax.exercises.softmax import EXERCISE as SOFTMAX

HUNT = Hunt(
    SOFTMAX,
    with_a_bug,
    lines=(3,),
    kinds=("numbers", "axis"),
    innocent={
        4: "Line 4 only subtracts what it is given, and a shift changes no weight as long as all numbers that are summed together "
        "get the same one.",
        5: "Line 5 is right: `axis` says along which axis the weights sum to 1, and `keepdims` lines the sums up.",
    },
)

PROMPT = f"""`hunt_softmax()`: the function below should turn scores into weights along `axis`, as [`softmax`](#softmax) does. Here is its code. One line is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line.
- `inputs`: a tuple with the arguments of one call, `(x,)` or `(x, axis)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_softmax`](#mend_softmax) below, which holds it.
"""


def hunt_softmax():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    return 3, (np.array([[0.0, 0.0], [1000.0, 0.0]]), 0)


EXERCISE = Exercise(
    name="hunt_softmax",
    lesson="03_softmax",
    title="Find the bug in a softmax",
    prompt=PROMPT,
    section=SOFTMAX.section,
    difficulty=2,
    minutes=5,
    reference=hunt_softmax,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_softmax()[1],
        hidden=(np.array([[1.0, 2.0], [3.0, 5.0]]), -1),
        outside=(np.array([[1.0, 2.0]]), 7),
    ),
    also_right=(
        lambda: (3, (np.array([[1.0, 2.0], [5.0, 2.0]]), 0)),
        lambda: [np.int64(3), [[[1, 2, 3], [6, 2, 1]], 0]],
    ),
    hints=(
        "Which of the arguments does each line use? Go through them one by one.",
        "Along a row everything is right. What happens along a column, with `axis=0`?",
        "Line 3 always takes the maximum of the last axis. Try a matrix whose rows have different maxima, with `axis=0`.",
    ),
)
