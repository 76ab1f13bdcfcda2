"""Lesson 02, exercise `covariance_proof`: when coordinates of a vector go together, line by line."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.derivation import Derivation, Slip, Step, any_number, numbers
from sdpa_helpers.checking.kinds.formula import Names, Point

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
    (
        Step(
            "E[q₁q₂]",
            "c_q + m_q^2",
            _NAMES,
            (
                Slip(
                    "taken-as-uncorrelated",
                    "m_q^2",
                    "Line 1 is right where the covariance is 0. It says by how much E[q₁q₂] exceeds the product of the means.",
                ),
                Slip(
                    "covariance-alone",
                    "c_q",
                    "Line 1 is the covariance itself. The product of the two means is missing.",
                ),
                Slip(
                    "mean-square-of-one",
                    "v_q + m_q^2",
                    "Line 1 is E[q₁²], a coordinate with itself. Two different ones share only their covariance.",
                ),
                Slip(
                    "covariance-solved-wrongly",
                    "c_q - m_q^2",
                    "In line 1 a sign is turned round: c_q = E[q₁q₂] − m_q². Solve it for E[q₁q₂].",
                ),
                Slip(
                    "mean-not-squared",
                    "c_q + m_q",
                    "In line 1 two means are multiplied: m_q has to be squared.",
                ),
            ),
            "The definition of a covariance, solved for the mean of the product.",
        ),
        Step(
            "E[q₁k₁q₂k₂]",
            "(c_q + m_q^2)(c_k + m_k^2)",
            _NAMES,
            (
                Slip(
                    "crossed-terms-lost",
                    "c_q c_k + m_q^2 m_k^2",
                    "In line 2 two of four terms are missing: multiply (c_q + m_q²)(c_k + m_k²) out.",
                ),
                Slip(
                    "factors-added",
                    "c_q + m_q^2 + c_k + m_k^2",
                    "In line 2 independence makes the mean of a product a product of means, not a sum.",
                ),
                Slip(
                    "variances-for-covariances",
                    "(v_q + m_q^2)(v_k + m_k^2)",
                    "Line 2 is E[(q₁k₁)²], one coordinate twice. Here there are two, q₁ with q₂ and k₁ with k₂.",
                ),
                Slip(
                    "only-the-covariances",
                    "c_q c_k",
                    "In line 2 the means are missing: use line 1 for the query and once more for the key.",
                ),
                Slip(
                    "only-the-query",
                    "c_q + m_q^2",
                    "Line 2 is the query's half. Multiply by E[k₁k₂], which looks the same.",
                ),
            ),
            "The query is independent of the key, so this is E[q₁q₂] · E[k₁k₂].",
        ),
        Step(
            "E[q₁k₁]·E[q₂k₂]",
            "m_q^2 m_k^2",
            _NAMES,
            (
                Slip(
                    "one-mean-only",
                    "m_q m_k",
                    "Line 3 is one of the two factors. Both have the same value: square it.",
                ),
                Slip(
                    "product-of-means-zero",
                    "0",
                    "Line 3 is 0 only where one of the means is. Keep them general.",
                ),
                Slip(
                    "covariance-in-one-product",
                    "(c_q + m_q^2)(c_k + m_k^2)",
                    "Line 3 repeats line 2. In E[q₁k₁] stands a query coordinate with a key's, and these are independent.",
                ),
                Slip(
                    "mean-squares-for-means",
                    "m_q^2 + m_k^2",
                    "In line 3 the means are multiplied: E[q₁k₁] = m_q m_k.",
                ),
            ),
            "q₁ is independent of k₁, and q₂ of k₂.",
        ),
        Step(
            "Cov(q₁k₁, q₂k₂)",
            "c_q c_k + c_q m_k^2 + c_k m_q^2",
            _NAMES,
            (
                Slip(
                    "nothing-subtracted",
                    "(c_q + m_q^2)(c_k + m_k^2)",
                    "Line 4 is E[q₁k₁q₂k₂] still. A covariance subtracts the product of the means, line 3.",
                ),
                Slip(
                    "means-left-out",
                    "c_q c_k",
                    "Line 4 is right for means 0. With others, a mean of one vector lets the covariance of the other through.",
                ),
                Slip(
                    "covariances-product-left-out",
                    "c_q m_k^2 + c_k m_q^2",
                    "In line 4 the term c_q c_k is missing. It stands in line 2, and line 3 doesn't take it away.",
                ),
                Slip(
                    "means-of-the-wrong-vector",
                    "c_q c_k + c_q m_q^2 + c_k m_k^2",
                    "In line 4 the means are exchanged: the query's covariance meets the key's mean.",
                ),
                Slip(
                    "subtracted-the-other-way",
                    "-(c_q c_k + c_q m_k^2 + c_k m_q^2)",
                    "Line 4 has its sign turned round: line 2 minus line 3.",
                ),
                Slip(
                    "variances-of-one-product",
                    "v_q v_k + v_q m_k^2 + v_k m_q^2",
                    "Line 4 is Var(q₁k₁), a product with itself. Two different ones share only covariances.",
                ),
            ),
            "Line 2 minus line 3.",
        ),
        Step(
            "the covariance, both means 0",
            "c_q c_k",
            _NAMES,
            (
                Slip(
                    "zero-for-zero-means",
                    "0",
                    "Line 5 is 0 only where c_q or c_k is. With means 0 it is enough that one vector has uncorrelated coordinates.",
                ),
                Slip(
                    "covariances-added",
                    "c_q + c_k",
                    "In line 5 the covariances are multiplied, as they are in line 4.",
                ),
            ),
            "Put 0 for m_q and for m_k.",
        ),
        Step(
            "the covariance, c_k = 0",
            "c_q m_k^2",
            _NAMES,
            (
                Slip(
                    "zero-for-one-uncorrelated",
                    "0",
                    "Line 6 is 0 only where the key's mean is. One uncorrelated vector is enough for means 0, and for no others.",
                ),
                Slip(
                    "means-exchanged",
                    "c_q m_q^2",
                    "In line 6 the means are exchanged: the query's covariance meets the key's mean.",
                ),
                Slip(
                    "key-mean-not-squared",
                    "c_q m_k",
                    "In line 6 the key's mean comes in twice, once for each product.",
                ),
                Slip(
                    "query-covariance-alone",
                    "c_q",
                    "In line 6 the key's mean is missing. Put 0 for c_k in line 4: which term is left?",
                ),
            ),
            "Put 0 for c_k in line 4, and leave the means as they are.",
        ),
        Step(
            "Var(q·k), both means 0",
            "d v_q v_k + d (d - 1) c_q c_k",
            (*_NAMES, "d"),
            (
                Slip(
                    "covariances-of-the-sum-left-out",
                    "d v_q v_k",
                    "In line 7 the covariances are missing. The variance of a sum holds those of all pairs.",
                ),
                Slip(
                    "each-pair-once",
                    "d v_q v_k + d (d - 1) c_q c_k / 2",
                    "In line 7 each pair counts twice: the first with the second, and the second with the first.",
                ),
                Slip(
                    "pairs-with-themselves",
                    "d v_q v_k + d^2 c_q c_k",
                    "In line 7 a coordinate is no pair with itself: d of the d² are variances already.",
                ),
                Slip(
                    "one-covariance-per-coordinate",
                    "d v_q v_k + d c_q c_k",
                    "In line 7 there are far more pairs than coordinates. How many have two different numbers?",
                ),
                Slip(
                    "pairs-without-coordinates",
                    "v_q v_k + d (d - 1) c_q c_k",
                    "In line 7 there are d variances, one for each coordinate.",
                ),
            ),
            "d variances of single products, and a covariance for every pair of two different ones.",
        ),
    ),
)

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
