"""Lesson 10, exercise `hunt_fair_comparison`: one line makes a comparison unfair. Which, and what shows it?"""

import numpy as np

from sdpa_helpers.checking.bug_hunt import Hunt
from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.lessons.does_scaling_matter.exercises.fair_comparison import EXERCISE as FAIR


def unfair_comparison(tuning, evaluation):
    """Mean accuracy of each arm at the rate that its tuning chose: (a, r, t), (a, r, s) -> (a,)."""
    by_rate = tuning.mean(axis=-1)
    chosen = by_rate.mean(axis=0).argmax()
    results = evaluation.mean(axis=-1)
    return results[:, chosen]


HUNT = Hunt(
    FAIR,
    unfair_comparison,
    lines=(4,),
    kinds=("numbers", "numbers"),
    innocent={
        3: "Line 3 is fair: it looks at the tuning runs alone, and takes the mean over their seeds.",
        5: "Line 5 is fair: what is reported are runs with other seeds, and their mean.",
        6: "Line 6 takes what `chosen` says. Look at where that comes from.",
    },
)

PROMPT = f"""`hunt_fair_comparison()`: the function below should do what [`fair_comparison`](#fair_comparison) does. It runs, its result looks reasonable, and one line makes it unfair.

{HUNT.code}

Return `(line, inputs)`:

- `line`: the number of the unfair line.
- `inputs`: a tuple `(tuning, evaluation)` for which this code does not return what it should. Small arrays will do: at most 100 numbers in all.

The line is worth a point, and so are inputs that show the bug.
"""


def hunt_fair_comparison():
    """The unfair line's number, and arguments that show it -> (line, inputs)."""
    tuning = np.array([[[0.9], [0.2]], [[0.1], [0.6]]])  # each arm has a rate of its own
    evaluation = np.array([[[0.8], [0.3]], [[0.2], [0.7]]])
    return 4, (tuning, evaluation)


EXERCISE = Exercise(
    name="hunt_fair_comparison",
    lesson="10_does_scaling_matter",
    title="Find what is unfair",
    prompt=PROMPT,
    section=FAIR.section,
    difficulty=2,
    minutes=5,
    reference=hunt_fair_comparison,
    cases=HUNT.cases,
    wrong=HUNT.wrong(
        hunt_fair_comparison()[1],
        hidden=(np.array([[[0.9], [0.2]], [[0.8], [0.6]]]), np.array([[[0.8], [0.3]], [[0.7], [0.2]]])),
        outside=(np.array([0.5, 0.6]), np.array([0.5])),
    ),
    also_right=(
        lambda: (4, ([[[0.5, 0.5], [0.1, 0.1]], [[0.2, 0.2], [0.4, 0.3]]], [[[0.5], [0.1]], [[0.2], [0.4]]])),
    ),
    hints=(
        "A fair comparison gives every arm the same budget, and its own learning rate. How many rates does this code choose?",
        "Which array has a row for each arm, and in which line are the rows put together?",
        "Line 4 takes the mean over the arms first. Make two arms that are best at different rates.",
    ),
)
