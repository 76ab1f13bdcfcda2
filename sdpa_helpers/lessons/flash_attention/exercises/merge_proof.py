"""Lesson 07, exercise `merge_proof`: why partial results can be merged, in any order, line by line."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.derivation import Derivation, any_number, numbers
from sdpa_helpers.checking.kinds.formula import Names, Point
from sdpa_helpers.course.derivation_page import steps_of

PROMPT = r"""`merge_proof()`: derive how two partial results become one, and what a third one changes.

One query meets its keys in two parts, A and B, and one coordinate of the output is enough to look at. Of part A a kernel has kept its maximum $m_A$, the sum $l_A = \sum_{j\in A} e^{s_j - m_A}$, and the output $o_A = \frac1{l_A}\sum_{j\in A} e^{s_j - m_A}\, v_j$; of part B the same. Let $m$ be the larger maximum, $f_A = e^{m_A - m}$ and $f_B = e^{m_B - m}$. Return a tuple of seven texts, one for the right-hand side of each equation:

1. $\sum_{j\in A} e^{s_j - m} =$ … in terms of `f_A`, `l_A`
2. $\sum_{j\in A\cup B} e^{s_j - m} =$ …
3. $\sum_{j\in A} e^{s_j - m}\, v_j =$ … with `o_A`, too
4. $o =$ … the output for all keys, with `f_A`, `l_A`, `o_A`, `f_B`, `l_B`, `o_B`
5. $e^{\mathrm{LSE}} =$ … in terms of $a = e^{\mathrm{LSE}_A}$ and $b = e^{\mathrm{LSE}_B}$: `a`, `b`
6. $o =$ … once more, with `a`, `b`, `o_A`, `o_B`
7. $o =$ … after a third part C was merged with that, with `a`, `b`, `c`, `o_A`, `o_B`, `o_C`

If line 7 does not tell which two parts came first, the order is free. Write formulas as you like: `"2 l_A (f_A + b)"` and `"2*l_A*f_A + 2*l_A*b"` are the same. A line may use those before it or start afresh; each earns its share of the points.
"""


def merge_proof():
    """The right-hand sides of seven equations, as texts -> a tuple of seven."""
    return (
        "f_A l_A",  # 1. Σ e^(s − m) over A =
        "f_A l_A + f_B l_B",  # 2. Σ e^(s − m) over all =
        "f_A l_A o_A",  # 3. Σ e^(s − m) v over A =
        "(f_A l_A o_A + f_B l_B o_B) / (f_A l_A + f_B l_B)",  # 4. o =
        "a + b",  # 5. e^LSE =
        "(a o_A + b o_B) / (a + b)",  # 6. o =
        "(a o_A + b o_B + c o_C) / (a + b + c)",  # 7. o, with part C =
    )


def places_to_fill_in():
    """The right-hand sides of seven equations, as texts -> a tuple of seven."""
    return (
        "",  # 1. Σ e^(s − m) over A =
        "",  # 2. Σ e^(s − m) over all =
        "",  # 3. Σ e^(s − m) v over A =
        "",  # 4. o =
        "",  # 5. e^LSE =
        "",  # 6. o =
        "",  # 7. o, with part C =
    )


_NAMES = ("f_A", "l_A", "f_B", "l_B", "o_A", "o_B", "o_C", "a", "b", "c")


def _point(values: Iterable[Fraction]) -> Point:
    return dict(zip(_NAMES, values, strict=True))


def _draw(rng: np.random.Generator, number: int) -> Point:
    """The maximum of all is that of A or of B, in turn: one of the factors is 1."""
    values = _point(any_number(rng) for _ in _NAMES)
    return {**values, ("f_A", "f_B")[number % 2]: Fraction(1)}


SHOWN = (
    _point(numbers("1 2 1/2 4 3 5 7 2 1 4")),
    _point(numbers("1/3 6 1 2 -2 4 1 3 5 2")),
)

DERIVATION = Derivation(
    Names({name: (name.replace("_", "").lower(),) for name in _NAMES}),
    SHOWN,
    _draw,
    steps_of("07_flash_attention", "merge_proof"),
)

ORDER = 50
EXERCISE = Exercise(
    name="merge_proof",
    lesson="07_flash_attention",
    title="Derive the merge, and that its order is free",
    prompt=PROMPT,
    section="3. One number: the LSE",
    difficulty=3,
    minutes=10,
    reference=merge_proof,
    starter=places_to_fill_in,
    cases=DERIVATION.cases,
    wrong=DERIVATION.wrong,
    also_right=(
        DERIVATION.answer(
            "l_A · f_A",
            "l_B*f_B + l_A*f_A",
            "o_A (f_A l_A)",
            "o_A f_A l_A/(f_A l_A + f_B l_B) + o_B f_B l_B/(f_A l_A + f_B l_B)",
            "b + a",
            "o_A + b (o_B - o_A)/(a + b)",
            "((a + b) (a o_A + b o_B)/(a + b) + c o_C)/((a + b) + c)",
        ),
        DERIVATION.answer(
            "fA lA",
            "fA lA + fB lB",
            "fA lA oA",
            "(fA lA oA + fB lB oB)/(fA lA + fB lB)",
            "a + b",
            "a oA/(a + b) + b oB/(a + b)",
            "(a oA + (b + c) (b oB + c oC)/(b + c))/(a + b + c)",
        ),
    ),
    hints=(
        "e^(s − m) = e^(s − m_A) · e^(m_A − m), and the second factor is the same for every key of A.",
        "An output times its sum is a sum over values again. Sums of A and B may be added once both were made with the same "
        "m; divide at the end.",
        "Line 4 is `(f_A l_A o_A + f_B l_B o_B) / (f_A l_A + f_B l_B)`. Lines 6 and 7 are the same with `a`, `b` and `c` as "
        "the sums; in 7 the first merge has the sum `a + b`.",
    ),
)
