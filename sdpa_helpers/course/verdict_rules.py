"""One rule for each kind of hole: claims that share it have the same verdict, whoever makes them.

Two articles say the same thing in other words, or leave out the same thing. Decided one by one, such claims could get
different verdicts. A test holds the ledger to these rules.
"""

from dataclasses import dataclass

from sdpa_helpers.course.claim import Verdict


@dataclass(frozen=True)
class Rule:
    """What is the same about some claims, and the verdict that follows from it."""

    says: str
    verdict: Verdict
    claims: tuple[int, ...]


RULES: tuple[Rule, ...] = (
    Rule("The printed formula has lost its fraction bar, so the scores are multiplied.", "wrong", (3, 19)),
    Rule(
        "A large or small dot product is taken for similarity, where length counts as well.",
        "needs a condition",
        (6, 7, 8, 69, 73),
    ),
    Rule(
        "The variance d_k is claimed, and that coordinates are independent is not said.",
        "needs a condition",
        (10, 75, 118),
    ),
    Rule(
        "Under the assumptions that the article states, the division brings the variance back to 1.",
        "right",
        (16, 40, 43, 47, 81, 121),
    ),
    Rule(
        "Without the scale the weights are said to saturate always: in some rows they do.",
        "needs a condition",
        (13, 27),
    ),
    Rule(
        "Saturation is said to stop gradients: it stops some, in the median row, and not the mean.",
        "needs a condition",
        (15, 39, 79, 115, 120),
    ),
    Rule(
        "Something is said of every row of scores, or of every masked one: a row of −∞ throughout breaks it.",
        "needs a condition",
        (17, 111, 145, 148),
    ),
    Rule("Scores are called square: that is self-attention.", "needs a condition", (18, 57, 116)),
    Rule(
        "The width of the model is taken for d_k, which stays as models get wider.",
        "needs a condition",
        (28, 45),
    ),
    Rule(
        "Something about training, or about trained models, or about what is best is claimed, and neither the article "
        "nor anything we can measure shows it.",
        "not shown",
        (49, 51, 59, 60),
    ),
    Rule("The scale is said to prevent saturation: it makes it rarer.", "needs a condition", (64, 163)),
    Rule(
        "Softmax is said to overflow: its formula does in some dtypes, with the row's maximum subtracted none does.",
        "needs a condition",
        (78, 128),
    ),
    Rule("The scale is called a remedy against overflow, which it does not prevent.", "wrong", (80, 129)),
    Rule("A strict inequality of real numbers becomes an equality in floats.", "needs a condition", (86, 88)),
    Rule(
        "Code that hides where the mask equals 0: what 0 means is not said, and a row that sees nothing becomes NaN.",
        "needs a condition",
        (93, 150),
    ),
    Rule("It is not said whether the raw or the scaled scores are meant.", "needs a condition", (104, 105)),
)


def rule_of(number: int) -> Rule | None:
    """The rule that a claim shares with others; None where it stands alone."""
    return next((rule for rule in RULES if number in rule.claims), None)
