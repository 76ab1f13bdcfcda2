"""Lesson 02, exercise `covariance_proof`: when coordinates of a vector go together, line by line."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.derivation import Derivation, any_number, numbers
from sdpa_helpers.checking.kinds.formula import Names, Point
from sdpa_helpers.course.derivation_page import steps_of

PROMPT = r"""`covariance_proof()`: the variance of a score when the coordinates of a vector are correlated with each other, derived one line at a time.

The query is independent of the key. Every coordinate of the query has mean $m_q$ and variance $v_q$, and any two of them have covariance $c_q$; for the key these are $m_k$, $v_k$, $c_k$. Return a tuple of seven texts, one for the right-hand side of each equation:

1. $E[q_1q_2] =$ …
2. $E[q_1k_1\,q_2k_2] =$ …
3. $E[q_1k_1]\cdot E[q_2k_2] =$ …
4. $\mathrm{Cov}(q_1k_1,\, q_2k_2) =$ …
5. the same where both means are 0
6. the same where the key's coordinates are uncorrelated, $c_k = 0$, and the means are any numbers
7. $\mathrm{Var}(q\cdot k) =$ … for $d$ coordinates where both means are 0

The names are `m_q`, `v_q`, `c_q`, `m_k`, `v_k`, `c_k` and, in line 7, `d`. Write formulas as you like: `"2 m_q² + c_k"`, `"c_k + 2*m_q^2"` and `"2m_q**2 + c_k"` are the same. A line may use those before it or start afresh; each earns its share of the points.
"""


def covariance_proof():
    """The right-hand sides of seven equations, as texts -> a tuple of seven."""
    return (
        "c_q + m_q^2",  # 1. E[q₁q₂] =
        "(c_q + m_q^2)(c_k + m_k^2)",  # 2. E[q₁k₁ q₂k₂] =
        "m_q^2 m_k^2",  # 3. E[q₁k₁] E[q₂k₂] =
        "c_q c_k + c_q m_k^2 + c_k m_q^2",  # 4. Cov(q₁k₁, q₂k₂) =
        "c_q c_k",  # 5. with both means 0 =
        "c_q m_k^2",  # 6. with c_k = 0 =
        "d v_q v_k + d (d - 1) c_q c_k",  # 7. Var(q·k), both means 0 =
    )


def places_to_fill_in():
    """The right-hand sides of seven equations, as texts -> a tuple of seven."""
    return (
        "",  # 1. E[q₁q₂] =
        "",  # 2. E[q₁k₁ q₂k₂] =
        "",  # 3. E[q₁k₁] E[q₂k₂] =
        "",  # 4. Cov(q₁k₁, q₂k₂) =
        "",  # 5. with both means 0 =
        "",  # 6. with c_k = 0 =
        "",  # 7. Var(q·k), both means 0 =
    )


_NAMES = ("m_q", "v_q", "c_q", "m_k", "v_k", "c_k")


def _point(values: Iterable[Fraction]) -> Point:
    return dict(zip((*_NAMES, "d"), values, strict=True))


def _draw(rng: np.random.Generator, _number: int) -> Point:
    return _point(any_number(rng) for _ in (*_NAMES, "d"))


SHOWN = (
    _point(numbers("2 3 1 5 4 2 3")),
    _point(numbers("-1 2 -1 3 5 4 4")),
)

DERIVATION = Derivation(
    Names({name: (name.replace("_", ""), name.replace("m_", "μ")) for name in _NAMES} | {"d": ("d", "dk")}),
    SHOWN,
    _draw,
    steps_of("02_variance_proof", "covariance_proof"),
)

ORDER = 100
EXERCISE = Exercise(
    name="covariance_proof",
    lesson="02_variance_proof",
    title="Derive what correlated coordinates do",
    prompt=PROMPT,
    section="5. Break the assumptions, one at a time",
    difficulty=3,
    minutes=12,
    reference=covariance_proof,
    starter=places_to_fill_in,
    cases=DERIVATION.cases,
    wrong=DERIVATION.wrong,
    also_right=(
        DERIVATION.answer(
            "μ_q² + c_q",
            "c_q c_k + c_q m_k² + m_q² c_k + m_q² m_k²",
            "(m_q m_k)²",
            "(c_q + m_q^2)*(c_k + m_k^2) - m_q^2*m_k^2",
            "c_k·c_q",
            "m_k**2 * c_q",
            "d (v_q v_k + (d - 1) c_q c_k)",
        ),
        DERIVATION.answer(
            "(m_q)^2 + c_q",
            "c_q(c_k + m_k^2) + m_q^2 (c_k + m_k^2)",
            "m_q m_k m_q m_k",
            "c_q (c_k + m_k^2) + c_k m_q^2",
            "c_q c_k",
            "c_q m_k m_k",
            "d v_q v_k + d² c_q c_k - d c_q c_k",
        ),
    ),
    hints=(
        "Cov(x, y) = E[xy] − E[x] E[y]. Write it down for q₁ and q₂, and solve it for E[q₁q₂].",
        "The query is independent of the key, so E[q₁k₁q₂k₂] takes apart into the query's half and the key's half. "
        "Multiply them out; line 3 takes one of the four terms away.",
        "Line 4 is `c_q c_k + c_q m_k^2 + c_k m_q^2`, and 5 and 6 put zeros into it. In line 7 there are d variances "
        "`v_q v_k` and d (d − 1) pairs of different coordinates.",
    ),
)
