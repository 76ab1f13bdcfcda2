"""A sentence that speaks of the code is said only of code that shows it."""

import pytest

from sdpa_helpers.checking.code.clues import backed, clues
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.course.registry import find
from tests.checking.made_up import written

LOOPS = "You go through the heads in a loop and give each the whole mask."
TWO_LOGARITHMS = "You used two different logarithms, log10 for the times."


@pytest.mark.parametrize(
    ("says", "code", "is_backed"),
    [
        (LOOPS, "def f(x):\n    return x @ x", False),
        (LOOPS, "def f(x):\n    return [h for h in x]", True),
        (LOOPS, "def f(x):\n    return each_head(x)", True),
        (LOOPS, "", True),
        (TWO_LOGARITHMS, "def f(x, y):\n    return np.polyfit(np.log10(x), np.log10(y), 1)[1]", False),
        (TWO_LOGARITHMS, "def f(x, y):\n    return np.polyfit(np.log(x), np.log10(y), 1)[0]", True),
        ("You reshaped K where it has to be transposed.", "def f(Q, K):\n    return Q @ K.T", False),
        (
            "You reshaped K where it has to be transposed.",
            "def f(Q, K):\n    return Q @ K.reshape(3, 2)",
            True,
        ),
        ("You divided by √n_q.", "def f(Q, K):\n    return Q @ K.T", True),
    ],
)
def test_what_is_claimed_of_the_code_has_to_be_there(says, code, is_backed):
    assert backed(says, clues(code, "f")) is is_backed


def test_a_result_that_is_thrown_away_is_shown_beside_the_name():
    code = """def masked_softmax(scores, mask):
    s = scores.copy()
    np.where(mask, s, -np.inf)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
    [mistake] = try_out(find("masked_softmax"), written(code, "masked_softmax")).mistakes
    assert mistake.name == "mask-ignored"
    assert mistake.line == "line 3: `np.where(mask, s, -np.inf)` makes something new, and throws it away"


def test_two_pairs_with_the_same_numbers_are_both_not_said():
    def only_the_projections_and_the_scores(d_model, mlp_ratio=4):
        return 4 * d_model

    assert not try_out(find("crossover_length"), only_the_projections_and_the_scores).mistakes
