"""Lesson 04, exercise `score_gradient_proof`: the gradient of the scores, derived line by line."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.derivation import Derivation, any_number, numbers
from sdpa_helpers.checking.kinds.formula import Names, Point
from sdpa_helpers.course.derivation_page import steps_of

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

_ARRIVING = ("a1", "a2", "a3", "g1", "g2", "g3")
_BACK = ("dS1", "dS2", "dS3", "c", "q", "k1", "k2", "k3")

DERIVATION = Derivation(
    Names({name: (name.lower(),) for name in (*_ARRIVING, "D", *_BACK)}),
    SHOWN,
    _draw,
    steps_of("04_gradients", "score_gradient_proof"),
)

ORDER = 130
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
