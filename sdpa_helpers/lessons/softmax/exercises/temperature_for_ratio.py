"""Lesson 03, exercise `temperature_for_ratio`: sharper attention, to order."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer
from sdpa_helpers.checking.products import Factor, Option, Products

PROMPT = """`temperature_for_ratio(score_gap, ratio)`: attention as sharp as you want it.

- `score_gap`: the score of one key minus the score of another. Not 0.
- `ratio`: how many times the other's weight the first key should get. Above 1 for a positive gap, between 0 and 1 for a negative one.
- Returns one number, the temperature $T > 0$ at which softmax$(x/T)$ gives this ratio.

Example: {example:1}: divide the scores by that. With a ratio of $e$ it is {result:2}.
"""


def temperature_for_ratio(score_gap, ratio):
    """The temperature that makes a gap of scores into a ratio of weights."""
    return score_gap / np.log(ratio)


def _in_parts(*, gap, ratio, logarithm, combine, after):
    """temperature_for_ratio in five parts, each of which can be wrong; see MISTAKES."""
    return lambda given, of: after(combine(gap(given), logarithm(ratio(of))))


MISTAKES = Products(
    (
        Factor(
            "gap",
            lambda gap: gap,
            (
                Option("gap-forgotten", lambda gap: 1.0),
                Option("sign-dropped", abs),
                Option("sign-flipped", np.negative),
            ),
        ),
        Factor(
            "ratio",
            lambda ratio: ratio,
            (
                Option("share-not-ratio", lambda ratio: 1 + ratio),
                Option(
                    "share-not-ratio", lambda ratio: 1 / (1 - ratio / (1 + ratio))
                ),  # the same with more rounding
                Option(
                    "share-of-the-first",
                    lambda ratio: ratio / (1 + ratio),
                    "You turned the ratio into a share, ratio / (1 + ratio), before the logarithm. The ratio itself "
                    "belongs there.",
                ),
            ),
        ),
        Factor(
            "logarithm",
            np.log,
            (
                Option("no-logarithm", lambda ratio: ratio),
                Option("relative-increase", lambda ratio: ratio - 1),
                Option("share-not-ratio", np.log1p),
                Option("base-2", np.log2),
                Option("base-10", np.log10),
            ),
        ),
        Factor(
            "combine",
            lambda gap, log: gap / log,
            (
                Option("inverse-temperature", lambda gap, log: log / gap),
                Option("multiplied", lambda gap, log: gap * log),
                Option("subtracted", lambda gap, log: gap - log),
            ),
        ),
        Factor(
            "after",
            lambda t: t,
            (
                Option("square-root", lambda t: np.sqrt(np.abs(t))),
                Option("square-root", lambda t: np.sqrt(t)),
                Option("square", lambda t: t**2),
            ),
        ),
    ),
    _in_parts,
)
"""Mistakes that come together: the inverse temperature, to base 2."""


EXERCISE = Exercise(
    name="temperature_for_ratio",
    lesson="03_softmax",
    title="As sharp as you like",
    prompt=PROMPT,
    examples=(
        Example((1, 10)),
        Example((1, np.e), points=0.0),
    ),
    difficulty=2,
    minutes=10,
    reference=temperature_for_ratio,
    cases=(
        Case(
            "a gap of some units, some times the weight",
            lambda rng: (float(rng.integers(2, 50)), float(rng.integers(3, 90))),
            points=2,
        ),
        Case("any gap, any ratio", lambda rng: (float(rng.uniform(0.2, 0.9)), float(rng.uniform(1.2, 2.2)))),
        Case(
            "behind, so less weight",
            lambda rng: (-float(rng.uniform(1, 3)), float(rng.uniform(0.1, 0.6))),
            says="A key that is behind (negative gap) gets a ratio below 1; the temperature is positive all the "
            "same.",
        ),
        Case(
            "far behind, next to no weight",
            lambda rng: (-float(rng.uniform(5, 50)), 1e-200),
            says="A ratio of 10⁻²⁰⁰ has a logarithm like any other.",
        ),
        Case(
            "almost the same weight",
            lambda rng: (float(rng.uniform(0.2, 0.9)), 1 + 1e-6),
            says="A ratio next to 1 asks for a large temperature.",
        ),
        Case("a large ratio", lambda rng: (float(rng.uniform(5, 50)), 1e200)),
    ),
    wrong=(
        WrongAnswer(
            "inverse-temperature",
            lambda gap, ratio: np.log(ratio) / gap,
            "This is 1/T, the inverse temperature: the factor to multiply scores with. The temperature divides them.",
            ("Does your temperature go up or down when you ask for a larger ratio? Which should it do?",),
        ),
        WrongAnswer(
            "no-logarithm",
            lambda gap, ratio: gap / ratio,
            "You divided by the ratio itself. Weights go with the exponential of scores, so a ratio of weights "
            "is e to the (gap / T): take its logarithm.",
        ),
        WrongAnswer(
            "multiplied",
            lambda gap, ratio: gap * np.log(ratio),
            "You multiplied where the gap has to be divided: gap / T = ln(ratio).",
        ),
        WrongAnswer(
            "gap-forgotten",
            lambda gap, ratio: 1 / np.log(ratio),
            "The gap does not come in: this is right for a gap of 1 only.",
        ),
        WrongAnswer(
            "subtracted",
            lambda gap, ratio: gap - np.log(ratio),
            "This is how much of the gap to take away. The temperature divides the gap: gap / T = ln(ratio).",
        ),
        WrongAnswer(
            "base-2",
            lambda gap, ratio: gap / np.log2(ratio),
            "You took the logarithm to base 2. Softmax uses e: np.log.",
        ),
        WrongAnswer(
            "base-10",
            lambda gap, ratio: gap / np.log10(ratio),
            "You took the logarithm to base 10. Softmax uses e: np.log.",
        ),
        WrongAnswer(
            "share-not-ratio",
            lambda gap, ratio: gap / np.log(1 + ratio),
            "You used 1 + ratio, as for a share of the whole. The ratio of the two weights is given, and its logarithm "
            "is ln(ratio).",
        ),
        WrongAnswer(
            "relative-increase",
            lambda gap, ratio: gap / (ratio - 1),
            "You used ratio − 1, which is near ln(ratio) for ratios near 1 only.",
        ),
        WrongAnswer(
            "square-root",
            lambda gap, ratio: np.sqrt(np.abs(gap / np.log(ratio))),
            "You took a square root. The scores are divided by T itself, not by T².",
        ),
        WrongAnswer(
            "square",
            lambda gap, ratio: (gap / np.log(ratio)) ** 2,
            "You squared the result, as for a d_k with T = √d_k. Return T itself.",
        ),
        WrongAnswer(
            "exponential",
            lambda gap, ratio: np.exp(gap) / ratio,
            "You compared the ratio at T = 1 with the wanted one. Solve e^(gap / T) = ratio for T instead.",
        ),
        WrongAnswer(
            "sign-dropped",
            lambda gap, ratio: abs(gap) / np.log(ratio),
            "One of two signs is dropped, that of the gap or that of the logarithm. For a key that is behind both are "
            "negative: keep both, and they cancel. With one of them the temperature comes out negative.",
        ),
        WrongAnswer(
            "sign-flipped",
            lambda gap, ratio: -gap / np.log(ratio),
            "A temperature below 0 turns the order around. Check the sign of the logarithm.",
        ),
    ),
    also_right=(
        lambda gap, ratio: float(gap / np.log(ratio)),
        lambda gap, ratio: 1 / (np.log(ratio) / gap),
        lambda gap, ratio: gap / (np.log2(ratio) * np.log(2)),
    ),
    hints=(
        "Two keys, scores s and s + gap, temperature T: what is the ratio of their weights?",
        "The sum cancels in the ratio, and e^(gap / T) is left. Set it equal to `ratio` and solve for T.",
        "gap / T = ln(ratio). `np.log` is the natural logarithm.",
    ),
    invariants=(
        Invariant(
            "not-a-positive-temperature",
            "A temperature is positive.",
            lambda inputs, t: bool(t > 0),
        ),
        Invariant(
            "another-ratio",
            "At your temperature e^(gap / T) is not the ratio you were given.",
            lambda inputs, t: bool(np.isclose(inputs[0] / t, np.log(inputs[1]), rtol=1e-6)),
            tells=True,
        ),
    ),
    mistakes=MISTAKES,
)
