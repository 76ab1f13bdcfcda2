"""Lesson 07, exercise `merge_proof`: why partial results can be merged, in any order, line by line."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from sdpa_helpers.checking.exercise import Exercise
from sdpa_helpers.checking.kinds.derivation import Derivation, Slip, Step, any_number, numbers
from sdpa_helpers.checking.kinds.formula import Names, Point

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


_SUMS = ("f_A", "l_A", "f_B", "l_B")
_ALL = (*_SUMS, "o_A", "o_B")
_PARTS = ("a", "b", "o_A", "o_B")
_NAMES = (*_ALL, "o_C", "a", "b", "c")


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
    (
        Step(
            "Σ e^(s − m) over A",
            "f_A l_A",
            _SUMS,
            (
                Slip(
                    "sum-left-as-it-was",
                    "l_A",
                    "Line 1 is the sum with A's own maximum. With m it is smaller, by a factor.",
                ),
                Slip(
                    "factor-turned-round",
                    "l_A / f_A",
                    "In line 1 the factor is inverted: e^(s − m) = e^(s − m_A) · e^(m_A − m).",
                ),
                Slip(
                    "factor-added",
                    "f_A + l_A",
                    "In line 1 the factor belongs to every term of the sum: it multiplies.",
                ),
            ),
            "e^(s − m) is e^(s − m_A) times e^(m_A − m), for every key of A.",
        ),
        Step(
            "Σ e^(s − m) over all",
            "f_A l_A + f_B l_B",
            _SUMS,
            (
                Slip(
                    "sums-added-as-they-were",
                    "l_A + l_B",
                    "In line 2 two sums with different maxima are added. Each needs its factor first.",
                ),
                Slip(
                    "only-a-rescaled",
                    "f_A l_A + l_B",
                    "In line 2 part B has no factor. It is 1 only where B has the larger maximum.",
                ),
                Slip(
                    "only-b-rescaled",
                    "l_A + f_B l_B",
                    "In line 2 part A has no factor. It is 1 only where A has the larger maximum.",
                ),
                Slip(
                    "one-factor-for-both",
                    "f_A (l_A + l_B)",
                    "In line 2 both parts have the factor of A. Each has its own maximum, and so its own factor.",
                ),
                Slip(
                    "factors-exchanged",
                    "f_B l_A + f_A l_B",
                    "In line 2 the factors are exchanged: f_A belongs to A.",
                ),
                Slip(
                    "sums-multiplied",
                    "f_A l_A f_B l_B",
                    "In line 2 the sums of two sets of keys are added, not multiplied.",
                ),
            ),
            "A key is in A or in B: line 1 for each, added.",
        ),
        Step(
            "Σ e^(s − m) v over A",
            "f_A l_A o_A",
            _ALL,
            (
                Slip(
                    "output-not-multiplied-back",
                    "f_A o_A",
                    "In line 3 the output was divided by l_A. Multiply by it again to get the sum.",
                ),
                Slip(
                    "factor-left-out",
                    "l_A o_A",
                    "Line 3 is the sum with A's own maximum. The factor from m_A to m is missing.",
                ),
                Slip(
                    "output-itself",
                    "o_A",
                    "Line 3 is A's output: the sum over the values, divided by l_A, and with m_A for m.",
                ),
            ),
            "o_A times l_A is the sum with A's own maximum.",
        ),
        Step(
            "o",
            "(f_A l_A o_A + f_B l_B o_B) / (f_A l_A + f_B l_B)",
            _ALL,
            (
                Slip(
                    "not-divided",
                    "f_A l_A o_A + f_B l_B o_B",
                    "Line 4 has to be divided by the sum of all exponentials, line 2.",
                ),
                Slip(
                    "outputs-averaged",
                    "(o_A + o_B) / 2",
                    "Line 4 is the plain average. A part counts for as much as its sum.",
                ),
                Slip(
                    "outputs-added",
                    "o_A + o_B",
                    "Line 4 adds two averages, and their weights together come to 2.",
                ),
                Slip(
                    "weighted-without-factors",
                    "(l_A o_A + l_B o_B) / (l_A + l_B)",
                    "In line 4 the factors are missing. Without them the parts are weighted with sums of different maxima.",
                ),
                Slip(
                    "weighted-with-factors-alone",
                    "(f_A o_A + f_B o_B) / (f_A + f_B)",
                    "In line 4 the sums l_A and l_B are missing: many keys count for more than few.",
                ),
                Slip(
                    "output-rescaled-and-not-multiplied-back",
                    "(f_A o_A + f_B o_B) / (f_A l_A + f_B l_B)",
                    "In line 4 the outputs were divided by l_A and l_B. Multiply by these again before you divide by the new "
                    "sum.",
                ),
                Slip(
                    "divided-by-the-old-sums",
                    "(f_A l_A o_A + f_B l_B o_B) / (l_A + l_B)",
                    "In line 4 the sum below the line has no factors. It has to be made with the same m as the one above.",
                ),
            ),
            "Line 3 for both parts, added, over line 2.",
        ),
        Step(
            "e^LSE",
            "a + b",
            _PARTS,
            (
                Slip(
                    "lse-added",
                    "a b",
                    "In line 5 the sums are multiplied, as if the LSEs were added. The sums add up.",
                ),
                Slip(
                    "lse-averaged",
                    "(a + b) / 2",
                    "Line 5 is an average. Both sums count in full.",
                ),
                Slip(
                    "larger-alone",
                    "a",
                    "Line 5 is the sum of part A alone. Part B's keys are there, too.",
                ),
            ),
            "e^LSE is the sum of all e^s, with no maximum subtracted: e^LSE_A is that of A.",
        ),
        Step(
            "o, by LSE",
            "(a o_A + b o_B) / (a + b)",
            _PARTS,
            (
                Slip(
                    "shares-exchanged",
                    "(b o_A + a o_B) / (a + b)",
                    "In line 6 the shares are exchanged: a goes with o_A.",
                ),
                Slip(
                    "undivided-by-lse",
                    "a o_A + b o_B",
                    "Line 6 has to be divided by the new sum, line 5.",
                ),
                Slip(
                    "averaged-in-line-six",
                    "(o_A + o_B) / 2",
                    "Line 6 is the plain average, right only where a = b.",
                ),
                Slip(
                    "difference-of-shares",
                    "(a o_A - b o_B) / (a + b)",
                    "In line 6 a sign is flipped: both parts are added.",
                ),
            ),
            "a is e^m f_A l_A, and b is e^m f_B l_B: put them into line 4. The e^m cancels.",
        ),
        Step(
            "o, with part C",
            "(a o_A + b o_B + c o_C) / (a + b + c)",
            ("a", "b", "c", "o_A", "o_B", "o_C"),
            (
                Slip(
                    "sum-of-the-first-merge-forgotten",
                    "((a o_A + b o_B) / (a + b) + c o_C) / (1 + c)",
                    "In line 7 the first merge counts as if its sum were 1. It is a + b, line 5: that is what the LSE is "
                    "kept for.",
                ),
                Slip(
                    "three-averaged",
                    "(o_A + o_B + o_C) / 3",
                    "Line 7 is the plain average of three. Each counts for as much as its sum.",
                ),
                Slip(
                    "merge-averaged-with-c",
                    "((a o_A + b o_B) / (a + b) + o_C) / 2",
                    "Line 7 averages the first merge and C. They count for a + b and for c.",
                ),
                Slip(
                    "c-not-in-the-denominator",
                    "(a o_A + b o_B + c o_C) / (a + b)",
                    "In line 7 the sum of part C is missing below the line.",
                ),
                Slip(
                    "divided-twice",
                    "((a o_A + b o_B) / (a + b) + c o_C) / (a + b + c)",
                    "In line 7 the first merge was divided by a + b already. Multiply it by that again before you add C.",
                ),
            ),
            "Line 6 once more: its first part has the sum a + b and the output of line 6.",
        ),
    ),
)

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
