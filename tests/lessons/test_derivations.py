"""Derivations: every slip is named and refuted by numbers, and a right line may have any form."""

import re
from fractions import Fraction

import numpy as np
import pytest

from sdpa_helpers.checking.card.render import report_text
from sdpa_helpers.checking.diagnose import try_out
from sdpa_helpers.checking.exercise import Misses
from sdpa_helpers.checking.judging.as_it_came import SEEN
from sdpa_helpers.checking.judging.judge import PUBLIC_SEED, truths
from sdpa_helpers.checking.kinds.formula import HIGHEST, read, same
from sdpa_helpers.course.content import PageError
from sdpa_helpers.course.derivation_page import steps_of
from sdpa_helpers.course.registry import find
from sdpa_helpers.lessons.flash_attention.exercises.merge_proof import DERIVATION as MERGE
from sdpa_helpers.lessons.gradients.exercises.score_gradient_proof import DERIVATION as SCORE_GRADIENT
from sdpa_helpers.lessons.variance_proof.exercises.covariance_proof import DERIVATION as COVARIANCE

DERIVATIONS = {"score_gradient_proof": SCORE_GRADIENT, "covariance_proof": COVARIANCE, "merge_proof": MERGE}
EVERY_LINE = [
    (name, n) for name, derivation in DERIVATIONS.items() for n in range(1, len(derivation.steps) + 1)
]


def drawn(name, seed, number=1):
    """The points that a seed draws for a line."""
    return truths(find(name), seed)[number - 1].drawn


def missed(name, number, text):
    """What is said of one line; () of a right one."""
    try:
        DERIVATIONS[name].check_step(number, text, *drawn(name, PUBLIC_SEED, number))
    except Misses as misses:
        return misses.fault, misses.seen, misses.compare
    return ()


@pytest.mark.parametrize(("name", "number"), EVERY_LINE)
def test_every_slip_is_named_and_refuted_by_numbers(name, number):
    for slip in DERIVATIONS[name].steps[number - 1].slips:
        fault, seen, compare = missed(name, number, slip.text)
        assert f"ine {number}" in slip.says
        if slip.name == "average-written-out":  # which is true, and not what the line asks for
            assert (fault, seen, compare) == (slip.name, "D is not in this line", "")
            continue
        assert (fault, seen) == (slip.name, "this line is not right")
        assert "yours gives" in compare


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("score_gradient_proof", 1, "a₁ − a₁²"),
        ("score_gradient_proof", 1, "a1*(1-a1)"),
        ("score_gradient_proof", 1, "a_1 (a_2 + a_3)"),
        ("score_gradient_proof", 2, "− a₁ · a₂"),
        ("score_gradient_proof", 3, "a1 g1 - a1 (a1 g1 + a2 g2 + a3 g3)"),
        ("score_gradient_proof", 4, "g₁a₁ + g₂a₂ + g₃a₃"),
        ("score_gradient_proof", 5, "a1g1 - a1D"),
        ("score_gradient_proof", 5, r"\frac{g1 - D}{1/a1}"),
        ("score_gradient_proof", 5, "(g1 - D)(1/a1)^-1"),
        ("score_gradient_proof", 6, "c dS₁ k₁ + c dS₂ k₂ + c dS₃ k₃"),
        ("score_gradient_proof", 7, "c a1 (g1 - D) q"),
        ("covariance_proof", 1, "μ_q^2 + c_q"),
        ("covariance_proof", 2, "c_q c_k + c_q m_k² + c_k m_q² + m_q² m_k²"),
        ("covariance_proof", 4, "(c_q + m_q**2)*(c_k + m_k**2) - m_q**2*m_k**2"),
        ("covariance_proof", 7, "d v_q v_k + (d² − d) c_q c_k"),
        ("merge_proof", 1, "l_A·f_A"),
        ("merge_proof", 4, "(fA lA oA + fB lB oB)/(lA fA + lB fB)"),
        ("merge_proof", 6, "o_B + a (o_A − o_B)/(a + b)"),
        ("merge_proof", 7, "((a + b) (a o_A + b o_B)/(a + b) + c o_C)/(a + b + c)"),
    ],
)
def test_a_right_line_may_have_any_form(name, number, text):
    assert missed(name, number, text) == ()


@pytest.mark.parametrize(
    ("name", "number", "text", "fault", "says"),
    [
        ("score_gradient_proof", 1, "a1 + 1", "differs", "at a1 = 0.5: yours gives 1.5, it is 0.25"),
        ("score_gradient_proof", 3, "7", "differs", "yours gives 7, it is 0.05"),
        ("score_gradient_proof", 4, "D", "unreadable", "'d' does not belong here"),
        ("score_gradient_proof", 5, "dS1", "unreadable", "does not belong here"),
        ("score_gradient_proof", 5, "a1 g1/(D - D)", "differs", "yours gives a division by 0, it is 0.05"),
        ("score_gradient_proof", 1, "", "step-open", ""),
        ("score_gradient_proof", 1, None, "unreadable", "in quotes"),
        ("score_gradient_proof", 1, True, "unreadable", "in quotes"),
        ("score_gradient_proof", 1, np.ones(3), "unreadable", "in quotes"),
        ("score_gradient_proof", 2, 0, "weights-taken-as-independent", "yours gives 0, it is −0.15"),
        ("score_gradient_proof", 2, float("nan"), "unreadable", "'nan' does not belong"),
        ("covariance_proof", 4, "d", "unreadable", "'d' does not belong"),
        ("covariance_proof", 4, "10^12^12", "unreadable", "whole number"),
        ("covariance_proof", 4, "1/(0." + "0" * 180 + "1)^11", "differs", "yours gives more than 10¹⁵"),
    ],
)
def test_what_is_said_of_any_other_line(name, number, text, fault, says):
    found, _, compare = missed(name, number, text)
    assert found == fault
    assert says in compare


@pytest.mark.parametrize("name", DERIVATIONS)
def test_points_fit_what_is_derived_from_them(name):
    assert len(drawn(name, "another")) > HIGHEST
    for point in (*DERIVATIONS[name].shown, *drawn(name, PUBLIC_SEED)):
        assert set(point) == set(DERIVATIONS[name].names.spellings)
        if name == "score_gradient_proof":
            assert sum(point[f"a{i}"] for i in (1, 2, 3)) == 1
            assert sum(point[f"dS{i}"] for i in (1, 2, 3)) == 0


@pytest.mark.parametrize(("name", "number"), EVERY_LINE)
def test_a_line_that_is_right_at_points_that_are_known_earns_nothing_under_any_other_seed(name, number):
    derivation, lines = DERIVATIONS[name], list(find(name).reference())
    used = derivation.steps[number - 1].names[0]
    known = (*derivation.shown, *drawn(name, PUBLIC_SEED, number))
    aimed = [f"({used} - {point[used]})" for point in known[:6]]
    line = lines[number - 1] = f"{lines[number - 1]} + {' '.join(aimed)}".replace("- -", "+ ")
    right = read(derivation.steps[number - 1].right, derivation.names)
    assert same(read(line, derivation.names), right, known[:6])
    for seed in (PUBLIC_SEED, "another"):
        verdict = try_out(find(name), lambda: tuple(lines), seed).cases[number - 1].verdict
        assert (verdict.fault, verdict.points) == ("differs", 0)


def numbers_of(derivation, names):
    """The right lines at a point."""
    point = {name: Fraction(float(number)) for name, number in names.items()}
    return [float(read(step.right, derivation.names).at(point)) for step in derivation.steps]


def test_the_score_gradient_is_what_differences_say():
    """The right lines at one point, against the loss itself moved up and down."""
    rng = np.random.default_rng(4)
    q, keys, g, c = rng.normal(), rng.normal(size=3), rng.normal(size=3), 0.5

    def weights(s):
        return np.exp(s) / np.exp(s).sum()

    def loss(s):
        return g @ weights(s)

    s, step = c * q * keys, 1e-6
    move = np.eye(3) * step
    numeric = [(loss(s + m) - loss(s - m)) / (2 * step) for m in move]
    a = weights(s)
    names = {f"a{i + 1}": a[i] for i in range(3)} | {f"g{i + 1}": g[i] for i in range(3)}
    names |= {f"k{i + 1}": keys[i] for i in range(3)} | {"c": c, "q": q, "D": a @ g}
    names |= {f"dS{i + 1}": numeric[i] for i in range(3)}
    value = numbers_of(SCORE_GRADIENT, names)
    slope = [(weights(s + move[0])[i] - weights(s - move[0])[i]) / (2 * step) for i in (0, 1)]
    by_q = (loss(c * (q + step) * keys) - loss(c * (q - step) * keys)) / (2 * step)
    first = np.array([1, 0, 0])
    by_k = (loss(c * q * (keys + step * first)) - loss(c * q * (keys - step * first))) / (2 * step)
    assert np.allclose(value, [*slope, numeric[0], a @ g, numeric[0], by_q, by_k], atol=1e-8)


def test_the_covariance_is_what_moments_say():
    """Counted over a small distribution: three coins, of which the coordinates share one."""
    values = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    q, k = values[:, :2] + values[:, 2:] + 2, 0.5 * (values[:, :2] - 2 * values[:, 2:]) - 1
    products = np.array([a * b for a in q for b in k])
    m_q, m_k, v_q, v_k = q.mean(), k.mean(), q[:, 0].var(), k[:, 0].var()
    c_q, c_k = (np.cov(x.T, ddof=0)[0, 1] for x in (q, k))
    names = {"m_q": m_q, "v_q": v_q, "c_q": c_q, "m_k": m_k, "v_k": v_k, "c_k": c_k, "d": 2}
    value = numbers_of(COVARIANCE, names)
    both = products.prod(axis=1).mean()
    counted = [(q[:, 0] * q[:, 1]).mean(), both, products[:, 0].mean() ** 2, np.cov(products.T, ddof=0)[0, 1]]
    assert np.allclose(value[:4], counted)
    centred = np.array([(a - m_q) @ (b - m_k) for a in q for b in k])
    assert np.isclose(value[6], centred.var())


def test_lines_of_another_number_are_no_answer():
    exercise = find("score_gradient_proof")
    for value in ("a1", ("a1",) * 6, {"a": 1}, [["a1"] * 7], 3):
        result = try_out(exercise, lambda value=value: value)
        assert result.points == 0
        assert all(c.message for c in result.cases)
    assert try_out(exercise, lambda: list(exercise.reference())).passed


@pytest.mark.parametrize("name", DERIVATIONS)
def test_lines_that_are_still_empty_are_not_attempted(name):
    exercise = find(name)
    result = try_out(exercise, exercise.starter)
    assert (result.attempted, result.points) == (False, 0)
    assert "Write your answer, run its cell" in report_text(result)
    assert SEEN[1:] not in report_text(result)
    first = (exercise.reference()[0], *[""] * (len(exercise.cases) - 1))
    result = try_out(exercise, lambda: first)
    assert (result.attempted, result.points) == (True, exercise.cases[0].points)
    assert "this line is still empty" in report_text(result)


@pytest.mark.parametrize(
    ("page", "says"),
    [
        ("## a + b\n\nThe sum.\n", "line 5: what is right is expected first"),
        ("## a + b\n\n`a + b` in a b\n\n- forgotten\n", "line 7: a slip is written as"),
    ],
)
def test_the_page_of_a_derivation_names_the_line_that_is_wrong(page, says, tmp_path, monkeypatch):
    (tmp_path / "sum_proof.md").write_text(f"# Lines\n\n{page}", encoding="utf-8")
    monkeypatch.setattr("sdpa_helpers.course.content.home_of", lambda lesson: tmp_path)
    with pytest.raises(PageError, match=re.escape(says)):
        steps_of("02_variance_proof", "sum_proof")
