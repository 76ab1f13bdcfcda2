"""Formulas that were typed: read in any form, compared by exact numbers, and harmless whatever they hold."""

import tracemalloc
from fractions import Fraction

import pytest

from sdpa_helpers.checking.kinds.formula import LONGEST, Names, Unreadable, read, same, written

NAMES = Names({"a1": ("a1",), "m_q": ("mq", "μq"), "D": ("d",), "dS1": ("ds1",)})
POINT = {"a1": Fraction(2), "m_q": Fraction(-3), "D": Fraction(5), "dS1": Fraction(1, 7)}


def value(text):
    return read(text, NAMES).at(POINT)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2 a1 + 1", 5),
        ("a1(1 - a1)", -2),
        ("a₁ − a₁²", -2),
        ("a_1 - a_1**2", -2),
        ("a_{1}·(1−a_{1})", -2),
        ("-a1^2", -4),
        ("(-a1)^2", 4),
        (r"\mu_q \cdot a_1".replace(r"\mu", "μ"), -6),
        ("m_qD", -15),
        ("dS1 D", Fraction(5, 7)),
        ("7dS_1", 1),
        ("a1/D/2", Fraction(1, 5)),
        ("0.5 a1 + .25", Fraction(5, 4)),
        ("2--a1", 4),
        ("a1^0", 1),
        ("(((a1)))^(3)", 8),
        ("$[a1 + 1] {D}$", 15),
        ("M_Q", -3),
        ("D (a1 + 2)**-1", Fraction(5, 4)),
        ("D (a1 + 2)^-1", Fraction(5, 4)),
        ("D a1^(-2)", Fraction(5, 4)),
        ("D a1^{-2}", Fraction(5, 4)),
        ("D a₁⁻²", Fraction(5, 4)),
        (r"\frac{D}{a1 + 2}", Fraction(5, 4)),
        (r"2\dfrac{D}{\frac{a_1}{m_q}} D", Fraction(-75)),
        (r"$m_q^2\,a_1^2$", 36),
        (r"m_q\quad a_1\ D\!\;a1~D", -300),
    ],
)
def test_a_formula_is_read_as_it_is_meant(text, number):
    assert value(text) == number


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("x + 1", "'x' does not belong here. The names here are a1, m_q, D and dS1."),
        ("a2", "'a2' does not belong"),
        ("a1 2", "needs a sign"),
        ("a12", "needs a sign"),
        ("a1 +", "missing at the end"),
        ("* a1", "missing before '*'"),
        ("(a1", "never closed"),
        ("a1)", "never opened"),
        ("a1 = 2", "right of the equals sign"),
        ("a1, D", "without commas"),
        ("a1^D", "whole number"),
        ("a1^--1", "whole number"),
        ("a1^-99", "whole number"),
        ("(a1^4)^-4", "far too high"),
        (r"\frac12", "two pairs of braces"),
        (r"\frac{a1}", "two pairs of braces"),
        ("frac(a1)(D)", "'frac' does not belong"),
        ("a1^1.5", "whole number"),
        ("a1^99", "whole number"),
        ("2^2^2", "whole number"),
        ("(a1^4)^4", "far too high"),
        ("1" * 20, "far too large"),
        ("a1 " * 70, "longer than"),
        ("a1 " * 20, "far too high"),
        ("(" * 30 + "a1" + ")" * 30, "too many brackets"),
        ("__import__('os')", "does not belong"),
        ("a1.real", "'.' does not belong"),
        ("1e9", "'e9' does not belong"),
        ("a1\x00", "does not belong"),
        ("\ud800", "does not belong"),
    ],
)
def test_what_is_no_formula_gets_a_sentence(text, says):
    with pytest.raises(Unreadable, match=None) as caught:
        read(text, NAMES)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_negative_power_of_zero_is_a_division_by_zero():
    assert value("(a1 - 2)^-1") is None


WORST = [
    "(" * 20 + "9999999999" + ")" * 20,
    "9" * 12 + "^12",
    ("9" * 12 + "^12+") * 12 + "1",
    "/".join(["0." + "3" * 12] * 12),
    "+".join(["1/(a1+" + "7" * 9 + ")"] * 9),
    "0." + "1" * 190,
    "(0." + "1" * 180 + ")^12",
    "-" * 199 + "1",
    r"\frac{1}{" * 15 + "0." + "1" * 30 + "}" * 15,
    "(0." + "1" * 180 + ")^-12",
    "+".join("1" * 100),
    "(a1+" * 20 + "1" + ")" * 20,
]


@pytest.mark.parametrize("text", WORST, ids=range(len(WORST)))
def test_nothing_that_fits_costs_time_or_memory(text):
    assert len(text) <= LONGEST
    tracemalloc.start()
    try:
        try:
            formula = read(text, NAMES)
            assert same(formula, formula, [POINT] * 4)
        except Unreadable:
            pass
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_formulas_are_the_same_where_they_agree_everywhere():
    other = {name: number + 1 for name, number in POINT.items()}
    one, two, three = (read(text, NAMES) for text in ("a1 + m_q", "m_q + a1", "a1 - 3"))
    assert same(one, two, [POINT, other])
    assert same(one, three, [POINT])
    assert not same(one, three, [POINT, other])
    assert not same(
        read("2 + 0/(D - 6)", NAMES), read("a1", NAMES), [POINT, other]
    )  # asked at one point alone
    nowhere = read("1/(a1 - a1)", NAMES)
    assert nowhere.at(POINT) is None
    assert not same(nowhere, nowhere, [POINT])
    assert not same(read("a1 (D - 5)/(D - 5)", NAMES), read("a1", NAMES), [POINT])


def test_numbers_are_written_as_a_learner_would():
    shown = {
        "1/2": "0.5",
        "-27/100": "−0.27",
        "2/7": "2/7",
        "3": "3",
        "12345678901/12345678903": "1",
        "1e400": "more than 10¹⁵",
    }
    assert {text: written(Fraction(text)) for text in shown} == shown
