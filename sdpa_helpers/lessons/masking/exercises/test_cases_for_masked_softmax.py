"""Lesson 05, exercise `test_cases_for_masked_softmax`: test cases that catch its known wrong versions."""

import numpy as np

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import finite, so_many, truth_values
from sdpa_helpers.lessons.masking.exercises.masked_softmax import EXERCISE as MASKED_SOFTMAX

MOST = 4
PROMPT = prompt_of_hunt(
    "masked_softmax",
    MOST,
    "`(scores, mask)`: scores with two to four axes and at most 60 numbers, and True where a query may attend, in the "
    "shape of the scores or one that broadcasts to it.",
    "(([[0, 0, 5]], [[True, True, False]]), [[1/2, 1/2, 0]])",
)


def test_cases_for_masked_softmax():
    """Test cases that catch every known wrong version -> [((scores, mask), expected), ...]."""
    log3 = np.log(3)
    scores = [[0, log3, 5], [1, 1, 7]]
    far_apart = [[1000, 1000, 0], [-1000, -1000 - log3, 3000]]  # the hidden score is the largest
    padding = np.array([[True, True, False, False], [True, True, True, False]]).reshape(2, 1, 1, 4)
    batch = np.array([[1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0]]).reshape(2, 1, 1, 4)
    return [
        ((scores, [[True, True, False], [False, False, False]]), [[1 / 4, 3 / 4, 0], [0, 0, 0]]),
        ((far_apart, [[True, True, True], [True, True, False]]), [[1 / 2, 1 / 2, 0], [3 / 4, 1 / 4, 0]]),
        ((np.zeros((2, 3, 2, 4)), padding), np.broadcast_to(batch, (2, 3, 2, 4))),
    ]


def _promised(inputs):
    so_many(inputs, 2)
    scores, mask = finite(inputs[0], "scores", (2, 4)), truth_values(inputs[1], "mask", (1, 4))
    try:
        fits = np.broadcast_shapes(scores.shape, mask.shape) == scores.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"a mask of shape {mask.shape} does not broadcast to scores of shape {scores.shape}")
    return scores, mask


def _has_empty_row(scores, mask):
    return not np.broadcast_to(mask, scores.shape).any(axis=-1).all()


HUNT = Hunt(
    of=MASKED_SOFTMAX,
    promised=_promised,
    model=test_cases_for_masked_softmax,
    most=MOST,
    blind=(
        BlindSpot("all-seen", lambda cases: all(mask.all() for _, mask in cases)),
        BlindSpot("no-empty-row", lambda cases: not any(_has_empty_row(*case) for case in cases)),
        BlindSpot("small-scores-only", lambda cases: all(np.abs(scores).max() < 80 for scores, _ in cases)),
        BlindSpot("nothing-broadcast", lambda cases: all(s.shape == mask.shape for s, mask in cases)),
    ),
)


def _those(*numbers):
    return lambda: [case for n, case in enumerate(test_cases_for_masked_softmax(), 1) if n in numbers]


EXERCISE = Exercise(
    name="test_cases_for_masked_softmax",
    lesson="05_masking",
    title="Catch every wrong masked softmax",
    prompt=PROMPT,
    section=MASKED_SOFTMAX.section,
    difficulty=3,
    minutes=12,
    reference=test_cases_for_masked_softmax,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "all-seen",
            lambda: [(([[0, np.log(3)]], [[True, True]]), [[1 / 4, 3 / 4]])],
            "Your masks hide nothing, so a version that ignores the mask gets away.",
        ),
        WrongAnswer(
            "no-empty-row",
            _those(2, 3),
            "Every query of yours sees at least one key. What happens to a row that may see nothing is where most "
            "versions differ.",
        ),
        WrongAnswer(
            "small-scores-only",
            _those(1, 3),
            "All your scores are small. Whoever hides keys after the maximum is taken, or with a number that is not "
            "small enough, gets away.",
        ),
        WrongAnswer(
            "nothing-broadcast",
            _those(1, 2),
            "Each of your masks has the shape of its scores. The exercise promises that a mask broadcasts; try a padding "
            "mask of shape `(batch, 1, 1, n_k)`.",
        ),
        WrongAnswer(
            "some-live",
            lambda: [(([[[100, 0]]], [[True, False]]), [[[1, 0]]]), (([[0, 0]], [[False, False]]), [[0, 0]])],
            "You look at every kind of input, and still some wrong versions get through. Read what those alive do: "
            "each one is wrong for some input; make that one.",
        ),
        *usual_mistakes(test_cases_for_masked_softmax, ([[0, 1]], [[0, 1]])),
    ),
    also_right=(
        lambda: test_cases_for_masked_softmax()[::-1],
        lambda: tuple(
            ((np.array(scores, dtype=float), np.array(mask)), np.array(expected))
            for (scores, mask), expected in test_cases_for_masked_softmax()
        ),
    ),
    hints=(
        "When is the maximum taken: before the keys are hidden, or after? And what is 0/0 in a row without any key?",
        "A row that may see nothing beside one that may; a hidden score far above the visible ones, and rows that lie "
        "far apart; a mask with fewer entries than the scores.",
        "`(([[-1000, -1000 - np.log(3), 3000]], [[True, True, False]]), [[3/4, 1/4, 0]])` has a hidden giant. Scores of "
        "`np.zeros((2, 3, 2, 4))` with a mask of shape (2, 1, 1, 4) show how it broadcasts.",
    ),
)
