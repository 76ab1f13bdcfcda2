"""Lesson 05, exercise `hunt_masked_softmax`: one line of a masked softmax is wrong. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.masking.exercises.masked_softmax import EXERCISE as MASKED_SOFTMAX
from sdpa_helpers.lessons.masking.exercises.mend_masked_softmax import with_a_bug

HUNT = Hunt(
    MASKED_SOFTMAX,
    with_a_bug,
    lines=(3,),
    kinds=("numbers", "mask"),
    innocent={
        4: "Line 4 is right: what may not be seen gets 0, and with the right maximum no exponential that counts is above 1.",
        5: "Line 5 is right: hidden keys add 0 to the sum.",
        6: "The guard in line 6 is right: a row that sees nothing gives zeros. Here it only hides what went wrong before.",
    },
)

PROMPT = f"""`hunt_masked_softmax()`: the function below should be a softmax over the keys that each query may see, as [`masked_softmax`](#masked_softmax) is. Here is its code. One line is wrong.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the wrong line.
- `inputs`: a tuple with the arguments of one call, `(scores, mask)`, for which this code does not return what it should. Small inputs will do: at most 100 numbers.

The line is worth a point, and so is an input that shows the bug. To run the code, use the cell of [`mend_masked_softmax`](#mend_masked_softmax) below, which holds it.
"""


def hunt_masked_softmax():
    """The wrong line's number, and arguments that show the bug -> (line, inputs)."""
    return 3, (np.array([[0.0, 1000.0]]), np.array([[True, False]]))


EXERCISE = Exercise(
    name="hunt_masked_softmax",
    lesson="05_masking",
    title="Find the bug in a masked softmax",
    prompt=PROMPT,
    section=MASKED_SOFTMAX.section,
    difficulty=3,
    minutes=6,
    reference=hunt_masked_softmax,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_masked_softmax()[1],
        hidden=(np.array([[0.0, 5.0]]), np.array([[True, False]])),
        outside=(np.array([[0.0, 5.0]]), np.array([[True, False, True]])),
    ),
    also_right=(
        lambda: (3, (np.array([[-900.0, -901.0, 0.0]]), np.array([[True, True, False]]))),
        lambda: [3, [[[1, 2, 2000]], [[True, True, False]]]],
    ),
    hints=(
        "Hidden keys must have no influence at all. Which lines look at them, and do they look before or after the keys are hidden?",
        "A maximum that is too large does no harm as long as it is not far too large. What is exp(−1000)?",
        "Line 3 takes the maximum over hidden keys as well. Hide a key whose score is 1000 above the others.",
    ),
)
