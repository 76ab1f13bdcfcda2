"""Lesson 07, exercise `test_cases_for_online_softmax`: test cases that catch its known wrong versions."""

import numpy as np

from sdpa_helpers.checking.catching import BlindSpot, Hunt, prompt_of_hunt, usual_mistakes
from sdpa_helpers.checking.exercise import Exercise, WrongAnswer
from sdpa_helpers.checking.small_inputs import floats, so_many, whole
from sdpa_helpers.lessons.flash_attention.exercises.online_softmax import EXERCISE as ONLINE_SOFTMAX

MOST = 4
PROMPT = prompt_of_hunt(
    "online_softmax",
    MOST,
    "`(scores, block)`: an array of at most 60 scores with one to four axes, some of them −∞ if you like and the others "
    "from −20,000 to 20,000, and a whole number from 1 to 60.",
    "(([0, 0, 0], 2), (0, 3))",
)


def test_cases_for_online_softmax():
    """Test cases that catch every known wrong version -> [((scores, block), expected), ...]."""
    log2, log3 = np.log(2), np.log(3)
    return [
        # rising from block to block, a last block of one, and a row far above the other
        (
            ([[0, 0, log2, log2, log3], [900, 900, -900, 0, 900]], 2),
            ([log3, 900], [3, 3]),
        ),
        # the first block hidden, and a hidden block after it; then a row that sees nothing
        (
            ([[[-np.inf, -np.inf, 0, log3, -np.inf]], [[-np.inf] * 5]], 2),
            ([[log3], [-np.inf]], [[4 / 3], [0]]),
        ),
        # far below zero, one at a time
        (([-2000, log3 - 2000, log2 - 2000], 1), (log3 - 2000, 2)),
    ]


def _promised(inputs):
    so_many(inputs, 2)
    scores, block = floats(inputs[0], "scores", (1, 4)), whole(inputs[1], "block", 1, 60)
    if not (np.isneginf(scores) | (np.abs(scores) <= 20_000)).all():
        raise ValueError("a score is neither −∞ nor between −20,000 and 20,000")
    return scores, block


def _rises(scores, block):
    """Whether some row has its largest score after the first block."""
    rest = scores[..., block:]
    return bool(rest.size and (rest.max(axis=-1) > scores[..., :block].max(axis=-1)).any())


def _far(scores):
    return np.abs(scores[np.isfinite(scores)]).max(initial=0)


HUNT = Hunt(
    of=ONLINE_SOFTMAX,
    promised=_promised,
    model=test_cases_for_online_softmax,
    most=MOST,
    blind=(
        BlindSpot("one-block-only", lambda cases: all(block >= x.shape[-1] for x, block in cases)),
        BlindSpot("nothing-rises", lambda cases: not any(_rises(*case) for case in cases)),
        BlindSpot("nothing-hidden", lambda cases: not any(np.isneginf(x).any() for x, _ in cases)),
        BlindSpot("small-scores-only", lambda cases: all(_far(x) < 80 for x, _ in cases)),
        BlindSpot("one-row-only", lambda cases: all(x.size == x.shape[-1] for x, _ in cases)),
    ),
)


def _those(*numbers):
    return lambda: [case for n, case in enumerate(test_cases_for_online_softmax(), 1) if n in numbers]


EXERCISE = Exercise(
    name="test_cases_for_online_softmax",
    lesson="07_flash_attention",
    title="Catch every wrong online softmax",
    prompt=PROMPT,
    section=ONLINE_SOFTMAX.section,
    difficulty=3,
    minutes=12,
    reference=test_cases_for_online_softmax,
    cases=HUNT.criteria(),
    wrong=(
        WrongAnswer(
            "one-block-only",
            lambda: [(([0, np.log(3)], 2), (np.log(3), 4 / 3)), (([1000, 1000], 5), (1000, 2))],
            "All your scores fit into one block, so nothing is ever carried from one block to the next. Make `block` smaller "
            "than the row.",
        ),
        WrongAnswer(
            "nothing-rises",
            lambda: [(([np.log(3), 0, 0, 0], 2), (np.log(3), 2))],
            "In all your rows the largest score stands in the first block, so nothing ever has to be rescaled. Let a later "
            "block bring a larger one.",
        ),
        WrongAnswer(
            "nothing-hidden",
            _those(1, 3),
            "No score of yours is −∞. A hidden block before the first visible key, or a row of nothing else, is where many "
            "versions fail.",
        ),
        WrongAnswer(
            "small-scores-only",
            _those(2),
            "All your scores are near 0. A maximum that starts at 0, or none at all, shows only far from there, above and "
            "below.",
        ),
        WrongAnswer(
            "one-row-only",
            lambda: [
                (([-np.inf, -2000, -2000, np.log(2) - 2000], 2), (np.log(2) - 2000, 2)),
                (([-np.inf, -np.inf, 0], 1), (0, 1)),
            ],
            "All your scores are one row. A maximum or an axis that rows should not share shows only with several.",
        ),
        WrongAnswer(
            "some-live",
            lambda: [*_those(1)(), (([-np.inf, -np.inf, 0], 2), (0, 1))],
            "You look at every kind of input, and still some wrong versions get through. Read what those alive do: each one "
            "is wrong for some input; make that one.",
        ),
        *usual_mistakes(test_cases_for_online_softmax, ([np.inf, 0.0], 1)),
    ),
    also_right=(
        lambda: test_cases_for_online_softmax()[::-1],
        lambda: tuple(
            ((np.array(scores, dtype=float), np.int64(block)), tuple(map(np.asarray, expected)))
            for (scores, block), expected in test_cases_for_online_softmax()
        ),
    ),
    hints=(
        "List what can go wrong between two blocks: the start, the maximum, the sum, a block that is "
        "hidden, a block that is smaller.",
        "A row that rises from block to block, with numbers such as `np.log(3)`, has a sum that you know exactly. Put rows "
        "near 900 and −2000 beside it, and one that begins with a block of −∞.",
        "`(([[0, 0, np.log(2), np.log(2), np.log(3)], [900, 900, -900, 0, 900]], 2), …)` catches most. Add a hidden first "
        "block, a row of nothing but −∞, and scores near −800 and near −2000.",
    ),
)
