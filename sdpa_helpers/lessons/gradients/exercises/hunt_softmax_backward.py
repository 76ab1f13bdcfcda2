"""Lesson 04, exercise `hunt_softmax_backward`: one line of the way back through softmax is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.gradients.exercises.mend_softmax_backward import with_a_bug
from sdpa_helpers.lessons.gradients.exercises.softmax_backward import EXERCISE as SOFTMAX_BACKWARD

HUNT = Hunt(
    SOFTMAX_BACKWARD,
    with_a_bug,
    lines=(4,),
    kinds=("numbers", "numbers"),
    innocent={
        3: "Line 3 is right: each gradient counts as much as its weight says.",
        5: "Line 5 is right, once `average` is what its name says: how far each gradient lies above it is what counts.",
    },
    possible=lambda weights, grad_weights: bool(
        (weights >= 0).all()  # 0.33 three times is meant well, and a masked row is all zeros
        and ((np.abs(weights.sum(axis=-1) - 1) < 0.02) | ~weights.any(axis=-1)).all()
    ),
)

PROMPT = f"""`hunt_softmax_backward()`: the function below should go back through a softmax, as [`softmax_backward`](#softmax_backward) does. Here is its code. One line is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line.
- `inputs`: a tuple with the arguments of one call, `(weights, grad_weights)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_softmax_backward`](#mend_softmax_backward) below, which holds it.
"""


def hunt_softmax_backward():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    return 4, (np.array([[0.5, 0.5]]), np.array([[1.0, 3.0]]))


EXERCISE = Exercise(
    name="hunt_softmax_backward",
    lesson="04_gradients",
    title="Find the bug on the way back through softmax",
    prompt=PROMPT,
    section=SOFTMAX_BACKWARD.section,
    difficulty=2,
    minutes=4,
    reference=hunt_softmax_backward,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_softmax_backward()[1],
        hidden=(np.array([[0.5, 0.5]]), np.array([[1.0, -1.0]])),
        outside=(np.array([[0.5, 0.5]]), np.array([[1.0, 3.0, 2.0]])),
    ),
    also_right=(
        lambda: (4, (np.array([0.25, 0.75]), np.array([4.0, 4.0]))),
        lambda: [4, [[[1.0, 0.0]], [[2, 3]]]],
    ),
    hints=(
        "Take two keys with weight 0.5 each and compute every line by hand.",
        "What should come out for a gradient that is the same for all keys? Nothing: a score cannot change all weights at once.",
        "Line 4 divides by the number of keys. Weights `[[0.5, 0.5]]` with gradients that don't average to 0 show it.",
    ),
)
