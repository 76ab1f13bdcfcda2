"""Lesson 04, exercise `score_gradient_proof`: the gradient of the scores, derived line by line."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.derivation import Derivation, Slip, Step, any_number, numbers
from sdpa_helpers.checking.kinds.formula import Names, Point

PROMPT = r"""`score_gradient_proof()`: derive the gradient of the scores, and from it those of the query and a key, one line at a time.

One query and three keys. Its scores are $s_1, s_2, s_3$, its weights $a = \mathrm{softmax}(s)$, and $g_i = \partial L/\partial a_i$ is what arrives from above. Return a tuple of seven texts, one for the right-hand side of each equation:

1. $\partial a_1/\partial s_1 =$ … in terms of `a1`
2. $\partial a_2/\partial s_1 =$ … in terms of `a1`, `a2`
3. $\partial L/\partial s_1 =$ … the chain rule over all three weights, in terms of `a1`, `a2`, `a3`, `g1`, `g2`, `g3`
4. $D =$ … the average of the $g_i$ under the weights, with the same names
5. $\partial L/\partial s_1 =$ … once more, now short: with `D` and whatever you need of the others
6. $\partial L/\partial q =$ … for one coordinate, `q` of the query and `k1`, `k2`, `k3` of the keys, with `dS1`, `dS2`, `dS3` for the $\partial L/\partial s_i$ and `c` for $1/\sqrt{d_k}$
7. $\partial L/\partial k_1 =$ … for the same coordinate of the first key

Write formulas as you like: `"2 g1 (a2 + g1)"`, `"2*a2*g1 + 2*g1**2"` and `"2a₂g₁ + 2g₁²"` are the same. A product needs no sign between two names. A line may use those before it or start afresh; each earns its share of the points.
"""


def score_gradient_proof():
    """The right-hand sides of seven equations, as texts -> a tuple of seven."""
    return (
        "a1 (1 - a1)",  # 1. ∂a₁/∂s₁ =
        "-a1 a2",  # 2. ∂a₂/∂s₁ =
        "g1 a1 (1 - a1) - g2 a1 a2 - g3 a1 a3",  # 3. ∂L/∂s₁ =
        "a1 g1 + a2 g2 + a3 g3",  # 4. D =
        "a1 (g1 - D)",  # 5. ∂L/∂s₁ =
        "c (dS1 k1 + dS2 k2 + dS3 k3)",  # 6. ∂L/∂q =
        "c dS1 q",  # 7. ∂L/∂k₁ =
    )


def places_to_fill_in():
    """The right-hand sides of seven equations, as texts -> a tuple of seven."""
    return (
        "",  # 1. ∂a₁/∂s₁ =
        "",  # 2. ∂a₂/∂s₁ =
        "",  # 3. ∂L/∂s₁ =
        "",  # 4. D =
        "",  # 5. ∂L/∂s₁ =
        "",  # 6. ∂L/∂q =
        "",  # 7. ∂L/∂k₁ =
    )


def _point(
    a: Sequence[Fraction], g: Sequence[Fraction], k: Sequence[Fraction], c: Fraction, q: Fraction
) -> Point:
    """Values for all names, of which D and dS follow from the weights and what arrives. Weights add up to 1."""
    average = sum((x * y for x, y in zip(a, g, strict=True)), Fraction(0))
    found = {"D": average, "c": c, "q": q}
    for i in range(3):
        found |= {f"a{i + 1}": a[i], f"g{i + 1}": g[i], f"k{i + 1}": k[i]}
        found[f"dS{i + 1}"] = a[i] * (g[i] - average)
    return found


def _draw(rng: np.random.Generator, _number: int) -> Point:
    first, second, c, q, *others = (any_number(rng) for _ in range(10))
    return _point((first, second, 1 - first - second), others[:3], others[3:], c, q)


SHOWN = (
    _point(numbers("1/2 3/10 1/5"), numbers("1 0 2"), numbers("1 2 -1"), Fraction(1, 2), Fraction(3)),
    _point(numbers("1/10 7/10 1/5"), numbers("3 -2 5"), numbers("2 -3 1"), Fraction(1, 4), Fraction(-2)),
)

_WEIGHTS = ("a1", "a2", "a3")
_ARRIVING = (*_WEIGHTS, "g1", "g2", "g3")
_BACK = ("dS1", "dS2", "dS3", "c", "q", "k1", "k2", "k3")

DERIVATION = Derivation(
    Names({name: (name.lower(),) for name in (*_ARRIVING, "D", *_BACK)}),
    SHOWN,
    _draw,
    (
        Step(
            "∂a₁/∂s₁",
            "a1 (1 - a1)",
            _WEIGHTS,
            (
                Slip(
                    "denominator-forgotten",
                    "a1",
                    "In line 1 only the exponential was differentiated. The sum below it has s₁ in it as well, which subtracts a₁².",
                ),
                Slip(
                    "own-weight-forgotten",
                    "1 - a1",
                    "In line 1 the factor a₁ is missing: that is the derivative of ln a₁, not of a₁.",
                ),
                Slip(
                    "only-the-denominator",
                    "-a1^2",
                    "In line 1 only the sum was differentiated. The exponential above it has s₁ in it too, which adds a₁.",
                ),
                Slip(
                    "plus-in-the-derivative",
                    "a1 (1 + a1)",
                    "In line 1 the sum stands in the denominator, so its part comes with a minus: a larger sum makes a weight smaller.",
                ),
            ),
            "Write a₁ as exp(s₁) over a sum, and use the rule for quotients.",
        ),
        Step(
            "∂a₂/∂s₁",
            "-a1 a2",
            _WEIGHTS,
            (
                Slip(
                    "sign-between-weights",
                    "a1 a2",
                    "In line 2 the sign is turned round. When s₁ grows, the other weights have to shrink.",
                ),
                Slip(
                    "weights-taken-as-independent",
                    "0",
                    "In line 2 you let a₂ depend on s₂ alone. But the sum that it is divided by has s₁ in it.",
                ),
                Slip(
                    "diagonal-for-a-neighbour",
                    "a2 (1 - a2)",
                    "Line 2 is the derivative of a₂ by its own score. Here it is by the score of another key.",
                ),
                Slip(
                    "neighbour-without-own-weight",
                    "-a1",
                    "In line 2 the factor a₂ is missing: that is the derivative of ln a₂.",
                ),
            ),
            "s₁ is in a₂ only through the sum in the denominator.",
        ),
        Step(
            "∂L/∂s₁",
            "g1 a1 (1 - a1) - g2 a1 a2 - g3 a1 a3",
            _ARRIVING,
            (
                Slip(
                    "own-path-only",
                    "g1 a1 (1 - a1)",
                    "Line 3 follows only the path through a₁. s₁ moves all three weights, and each passes its share on.",
                ),
                Slip(
                    "paths-added-with-plus",
                    "g1 a1 (1 - a1) + g2 a1 a2 + g3 a1 a3",
                    "In line 3 the paths through a₂ and a₃ carry a minus, from line 2.",
                ),
                Slip(
                    "own-gradient-on-every-path",
                    "0",
                    "Line 3 comes to 0: with the same g on every path, or with none, the three parts cancel. Each path has its own: g₁, g₂, g₃.",
                ),
                Slip(
                    "elementwise-chain",
                    "a1 g1",
                    "Line 3 treats the softmax as if each weight had one score. Multiply each gᵢ by ∂aᵢ/∂s₁ and add.",
                ),
                Slip(
                    "own-square-forgotten",
                    "g1 a1 - g2 a1 a2 - g3 a1 a3",
                    "In line 3 the path through a₁ lacks its −a₁²: use line 1 as a whole.",
                ),
            ),
            "The chain rule: add gᵢ · ∂aᵢ/∂s₁ over all i.",
        ),
        Step(
            "D",
            "a1 g1 + a2 g2 + a3 g3",
            _ARRIVING,
            (
                Slip(
                    "plain-sum",
                    "g1 + g2 + g3",
                    "In line 4 the weights are missing: each gᵢ counts as much as its weight says.",
                ),
                Slip(
                    "plain-mean",
                    "(g1 + g2 + g3)/3",
                    "Line 4 is the plain mean. It has to be the average under the weights, in which gᵢ counts aᵢ.",
                ),
                Slip(
                    "divided-once-more",
                    "(a1 g1 + a2 g2 + a3 g3)/3",
                    "In line 4 nothing is left to divide by: the weights add up to 1 already.",
                ),
                Slip(
                    "one-term-of-the-average",
                    "a1 g1",
                    "Line 4 is one term of the average. Add those of the other two keys.",
                ),
            ),
            "An average under weights that add up to 1 is a sum of products.",
        ),
        Step(
            "∂L/∂s₁ with D",
            "a1 (g1 - D)",
            (*_ARRIVING, "D"),
            (
                Slip(
                    "weight-not-multiplied",
                    "g1 - D",
                    "In line 5 the factor a₁ is missing. It stands in every term of line 3.",
                ),
                Slip(
                    "average-outside-the-bracket",
                    "a1 g1 - D",
                    "In line 5 the factor a₁ belongs to D too: take it out of all terms of line 3.",
                ),
                Slip(
                    "average-added",
                    "a1 (g1 + D)",
                    "In line 5 the average is subtracted: what counts is how far g₁ lies above it.",
                ),
                Slip(
                    "average-written-out",
                    "g1 a1 (1 - a1) - g2 a1 a2 - g3 a1 a3",
                    "Line 5 is true, and as long as line 3. Put D for the sum that you know from line 4.",
                ),
                Slip(
                    "average-left-out",
                    "a1 g1",
                    "In line 5 the average is missing. Raising all gᵢ by the same number may not change this line.",
                ),
                Slip(
                    "the-other-way-round",
                    "a1 (D - g1)",
                    "Line 5 has its sign turned round: a score grows in importance where g₁ lies above the average.",
                ),
            ),
            "Take a₁ out of every term of line 3. What is left is g₁ minus an average.",
            uses="D",
        ),
        Step(
            "∂L/∂q",
            "c (dS1 k1 + dS2 k2 + dS3 k3)",
            (*_ARRIVING, "D", *_BACK),
            (
                Slip(
                    "query-without-scale",
                    "dS1 k1 + dS2 k2 + dS3 k3",
                    "In line 6 the scale is missing. It stands in the scores, so the chain rule brings it back.",
                ),
                Slip(
                    "one-key-only",
                    "c dS1 k1",
                    "Line 6 has one key. The query meets all three, and each score sends something back.",
                ),
                Slip(
                    "query-scaled-twice",
                    "c^2 (dS1 k1 + dS2 k2 + dS3 k3)",
                    "In line 6 the scale stands twice. dSᵢ is the gradient of the scaled score: one factor is left.",
                ),
                Slip(
                    "query-divided-by-the-scale",
                    "(dS1 k1 + dS2 k2 + dS3 k3)/c",
                    "In line 6 c is 1/√dₖ already: multiply by it.",
                ),
                Slip(
                    "gradients-not-used",
                    "c (k1 + k2 + k3)",
                    "Line 6 is the derivative of the sum of the scores. Each of them counts as much as its dSᵢ.",
                ),
            ),
            "q stands in all three scores: add dSᵢ · ∂sᵢ/∂q.",
        ),
        Step(
            "∂L/∂k₁",
            "c dS1 q",
            (*_ARRIVING, "D", *_BACK),
            (
                Slip(
                    "key-without-scale",
                    "dS1 q",
                    "In line 7 the scale is missing, as it would be in the query's gradient.",
                ),
                Slip(
                    "key-for-query",
                    "c dS1 k1",
                    "In line 7 the other factor of the product is left over: s₁ has q k₁ in it, and its derivative by k₁ is q.",
                ),
                Slip(
                    "query-forgotten",
                    "c dS1",
                    "In line 7 the factor q is missing: s₁ has c q k₁ in it, not c k₁.",
                ),
                Slip(
                    "every-score-for-one-key",
                    "c q (dS1 + dS2 + dS3)",
                    "Line 7 adds up all three scores, which gives 0: the dSᵢ of a row always cancel. k₁ stands in s₁ alone.",
                ),
            ),
            "k₁ stands in one score only.",
        ),
    ),
)

EXERCISE = Exercise(
    name="score_gradient_proof",
    lesson="04_gradients",
    title="Derive the gradient of the scores",
    prompt=PROMPT,
    section="4. Without the matrix",
    difficulty=4,
    minutes=15,
    reference=score_gradient_proof,
    starter=places_to_fill_in,
    cases=DERIVATION.cases,
    wrong=DERIVATION.wrong,
    also_right=(
        DERIVATION.answer(
            "a₁ − a₁²",
            "−a₂·a₁",
            "a1 (g1 - a1 g1 - a2 g2 - a3 g3)",
            "g₁a₁ + g₂a₂ + g₃a₃",
            "a_1 * (g_1 - D)",
            "c*dS1*k1 + c*dS2*k2 + c*dS3*k3",
            "q c dS_1",
        ),
        DERIVATION.answer(
            "a1 (a2 + a3)",
            "(1 - a1 - a3)(a2 + a3 - 1)",
            "a1 (a2 (g1 - g2) + a3 (g1 - g3))",
            "g1 + a2 (g2 - g1) + a3 (g3 - g1)",
            "a1 g1 - D a1",
            "c a1 (g1 - D) k1 + c a2 (g2 - D) k2 + c a3 (g3 - D) k3",
            "a1 (g1 - D) q c",
        ),
    ),
    hints=(
        "Begin with a₁ = exp(s₁) / Σ. Where does s₁ occur in a₁, and where in a₂?",
        "Every term of line 3 has a factor a₁. Take it out, and look at what is left: g₁ minus a sum that you know "
        "from line 4.",
        'Lines 1 and 2 are `"a1 (1 - a1)"` and `"-a1 a2"`; line 5 is `"a1 (g1 - D)"`. For 6 and 7, ask in which scores '
        "the letter stands and what it is multiplied by there.",
    ),
)
