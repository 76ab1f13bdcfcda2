"""Lesson 02: the proof's checker, its experiments against independent computations, its figures for a reader."""

import itertools
import math
import re
from fractions import Fraction

import nbformat
import numpy as np
import pytest
import sympy

from sdpa_helpers.course.cards import card_of
from sdpa_helpers.lessons import variance_proof as lesson
from sdpa_helpers.lessons.variance_proof.proof import expectation
from sdpa_helpers.lessons.variance_proof.typed import as_expression, written


@pytest.fixture(scope="module")
def proof():
    return lesson.Proof()


# The proof ------------------------------------------------------------------------------------------------


def moments_of_two_points(mean, variance):
    """A distribution with this mean and variance: two values, each with probability one half."""
    return [mean - math.sqrt(variance), mean + math.sqrt(variance)]


def test_the_derived_steps_agree_with_a_distribution_counted_case_by_case(proof):
    values = (0.5, 2.0, -1.5, 3.0, 2, 7.0)
    q, k = moments_of_two_points(*values[:2]), moments_of_two_points(*values[2:4])
    products = [a * b for a in q for b in k]
    scores = [
        sum(a * b for a, b in zip(qs, ks, strict=True))
        for qs in itertools.product(q, repeat=3)
        for ks in itertools.product(k, repeat=3)
    ]
    counted = [
        np.mean(products),
        np.mean(np.square(products)),
        np.var(products),
        np.mean(scores),
        np.var(scores),
        7.0 / 2,
        1.0,
    ]
    at = dict(zip(proof.symbols, values, strict=True))
    derived = [float(step.truth.subs(at)) for step in proof.steps.values()]
    np.testing.assert_allclose(derived, counted, rtol=1e-12, atol=1e-12)


def test_the_induction_holds_for_every_number_of_coordinates(proof):
    mq, vq, mk, vk, d, _ = proof.symbols
    one = vq * vk + vq * mk**2 + vk * mq**2
    assert sympy.expand(proof.steps[4].truth - (d + 1) * mq * mk) == 0
    assert sympy.expand(proof.steps[5].truth - (d + 1) * one) == 0
    assert d in proof.steps[5].truth.free_symbols
    assert list(proof.gaps().values()) == [0, 0]


def test_expectation_uses_independence_and_nothing_else():
    x, y, a, b, c = sympy.symbols("x y a b c")
    moments = {x: (1, a, b), y: (1, c, 7)}
    assert expectation(3 * x**2 * y + x * y**2 - 4, moments) == sympy.expand(3 * b * c + 7 * a - 4)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_long_way_gives_the_general_formula(proof, size):
    mq, vq, mk, vk, *_ = proof.symbols
    formula = size * ((vq + mq**2) * (vk + mk**2) - mq**2 * mk**2)
    assert sympy.expand(proof.variance_expanded(size) - formula) == 0


def answers_in_the_notebook(course):
    """The expressions that the lesson's folded answers name, by step."""
    cells = nbformat.read(course / "notebooks" / "02_variance_proof.ipynb", as_version=4).cells
    answer = re.compile(r"\*\*Step (\d)\.\*\*.*?<summary>Answer</summary>\s*`([^`]+)`", re.DOTALL)
    return {int(step): text for cell in cells for step, text in answer.findall(cell.source)}


def test_every_answer_that_the_notebook_gives_is_right(proof, course, capsys):
    answers = answers_in_the_notebook(course)
    assert set(answers) == set(proof.steps)
    names = {str(symbol): symbol for symbol in proof.symbols}
    for number, text in answers.items():
        for answer in (eval(text, {}, names), text):
            proof.check(number, answer)
            assert capsys.readouterr().out.startswith(f"Step {number} is right")


def test_an_open_step_gives_nothing_away(proof, capsys):
    for number in proof.steps:
        proof.check(number, ...)
        assert "no answer yet" in capsys.readouterr().out


def test_every_known_slip_is_wrong_and_explained(proof, capsys):
    for number, step in proof.steps.items():
        for slip, means in step.slips:
            assert sympy.expand(slip - step.truth) != 0
            proof.check(number, slip)
            assert capsys.readouterr().out == f"Step {number} is not right yet. {means}\n"


def test_another_wrong_step_is_refuted_by_numbers(proof, capsys):
    mq, vq, *_ = proof.symbols
    proof.check(1, 3 * vq + mq)
    assert "Take m_q = 2, v_q = 3, m_k = 5: yours gives 11, the truth is 10." in capsys.readouterr().out
    proof.check(3, 17)
    assert "yours gives 17, the truth is 124" in capsys.readouterr().out
    proof.check(7, 17)
    assert "yet. Yours gives 17, the truth is 1." in capsys.readouterr().out
    proof.check(1, sympy.Symbol("z"))
    assert capsys.readouterr().out.endswith("yours has z.\n")


def test_a_right_step_may_be_written_in_any_form(proof, capsys):
    mq, vq, mk, vk, d, v = proof.symbols
    proof.check(5, (d + 1) * ((vq + mq**2) * (vk + mk**2) - (mq * mk) ** 2))
    proof.check(6, v / (d**0.5) ** 2)
    assert capsys.readouterr().out.count("is right") == 2


def test_a_root_of_d_is_a_slip_with_a_name(proof, capsys):
    *_, d, v = proof.symbols
    proof.check(6, v / d**0.5)
    assert "The standard deviation is divided by √d" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2, "(v_q + μ_q²)(v_k+µ_k^2)"), (2, " (vq + mq ** 2)*(vk + mk ** 2) "), (2, r"$(vq+\mu_{q}^{2})(vk+\mu_k^2)$"),
        (2, "(v_q\n− −μ_q²)(vk+mk·mk)"), (2, "½(2 vq + 2 mq²)(v_k + m_k ^ ( 2 ))"),
        (1, "μ_k μ_q"), (1, "mq × mk"), (1, "mqmk"), (1, "(mq)(mk)"), (1, "[mu_q]*{mu_k}"), (1, r"\mu_q \cdot \mu_k"),
        (1, "m_q m_k"), (2, "v_k v_q + v_k m_q² + v_q m_k² + m_k² m_q²"),
        (3, "VQ VK + VK MQ^2 + VQ MK^2"), (7, "1"), (7, "1.0"), (7, "d_k/dₖ"), (7, "D/d"),
        (4, "(d+1) m_q m_k"), (4, "d m_q m_k + m_q m_k"), (5, "(dₖ+1)·((vq+mq²)(vk+mk²) − (mq mk)²)"),
        (5, "(d + 1)(v_qv_k + v_km_q²+v_qm_k²)"), (5, "(d+1) vq vk (1 + mk²/vk + mq²/vq)"),
        (6, "v/d"), (6, "v d/d^2"), (6, "v ÷ dₖ"),
    ],
)  # fmt: skip
def test_a_string_is_read_as_the_page_prints_it(proof, capsys, number, text):
    proof.check(number, text)
    assert capsys.readouterr().out.startswith(f"Step {number} is right")


@pytest.mark.parametrize("number", range(1, 8))
def test_what_a_step_prints_is_a_right_answer(proof, capsys, number):
    proof.check(number, written(proof.steps[number].truth))
    printed = re.search(r" = ([^=]*)\. SymPy", capsys.readouterr().out)
    assert printed
    assert sympy.expand(as_expression(printed[1], proof.symbols) - proof.steps[number].truth) == 0


def test_names_print_as_they_are_typed(proof):
    assert [str(symbol) for symbol in proof.symbols] == ["m_q", "v_q", "m_k", "v_k", "d", "v"]


ELSEWHERE = "does not belong here. The names here are m_q, v_q, m_k, v_k, d and v."
TOO_LARGE = "a power or a number in it that is far too large, or a division by 0"
NO_SUM = "Only sums, products and powers"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "None is not an answer yet"),
        ("", "The text is empty"), ("$$", "The text is empty"),
        (True, "Write the expression alone, without == or <"), (sympy.Symbol("a") < 3, "without == or <"),
        ((1, 2), "not several"), ([], "not several"), ({"a": 1}, "not several"),
        (len, "That is a function"), (lambda q: q, "That is a function"), (int, "That is a function"),
        (object(), "type object is not an expression"), (b"mq", "type bytes"),
        (np.ones(2), "type ndarray"), (1j, "type complex"),
        (sympy.Matrix([1]), "type MutableDenseMatrix"),
        (math.nan, "not finite, or far too large"), (-math.inf, "not finite"), (10**400, "far too large"),
        (sympy.zoo, TOO_LARGE), (sympy.nan, TOO_LARGE), (sympy.oo, TOO_LARGE), (sympy.Symbol("μ_q") ** 99, TOO_LARGE),
        (sympy.Integer(10) ** 5000, TOO_LARGE), (sympy.exp(1 + sympy.Symbol("a")), NO_SUM), (sympy.I, NO_SUM),
        (sympy.Lambda(sympy.Symbol("a"), 1), NO_SUM),
        ("__import__('os').mkdir('harm')", f"'import' {ELSEWHERE}"), ("lambda: 0", f"'lambda' {ELSEWHERE}"),
        ("E[q²]", f"'e' {ELSEWHERE}"), ("vq = 3", "to the right of the equals sign"), ("1, 2", "without commas"),
        ("mq^mk", "A power here is a whole number"), ("(mq vq mk)^5", "a power in it that is far too high"),
        ("vq/0", "a division by 0"), ("vq/(mq-mq)", "a division by 0"),
    ],
)  # fmt: skip
def test_what_is_no_expression_gets_a_sentence(proof, capsys, answer, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    proof.check(1, answer)
    said = capsys.readouterr().out
    assert said.startswith("Step 1, E[q₁k₁]: ")
    assert says in said
    assert said.count("\n") == 1
    assert not [*tmp_path.iterdir()]


def test_long_products_are_not_multiplied_out_where_a_number_tells(proof, capsys, monkeypatch):
    monkeypatch.setattr(sympy, "expand", lambda *_: pytest.fail("expanded"))
    mq, vq, mk, vk, d, _ = proof.symbols
    proof.check(1, sympy.Mul(*[(mq + vq + mk + vk + d + i) ** 8 for i in range(6)], evaluate=False))
    assert "Step 1 is not right yet. Take m_q = 2" in capsys.readouterr().out


@pytest.mark.parametrize("number", [0, 8, -1, "1", None, [1], 1.5])
def test_a_step_that_there_is_not(proof, capsys, number):
    proof.check(number, "mq")
    assert capsys.readouterr().out == "The steps are 1 to 7.\n"


@pytest.mark.parametrize("answer", [1, 1.0, np.float32(1), np.int64(1), Fraction(1), sympy.Integer(1), "1"])
def test_a_number_of_any_kind_is_a_number(proof, capsys, answer):
    proof.check(7, answer)
    assert capsys.readouterr().out.startswith("Step 7 is right")


def test_the_whole_proof_is_folded(proof):
    page, text = proof.whole()._repr_html_(), proof.whole().text
    assert re.fullmatch("<details><summary>[^<]*</summary><pre>.*</pre></details>", page, re.DOTALL)
    assert repr(proof.whole()) == proof.whole().title
    assert "= (d + 1) (m_k² v_q + m_q² v_k + v_k v_q)" in text
    assert "step 5 − (d + 1) · step 3 = 0" in text
    assert text.count("differs by 0") == 4


def test_the_card_states_what_the_proof_derives(proof):
    on_card = as_expression(
        re.sub("[{}]", "", card_of("02_variance_proof").formulas[1].split("(", 2)[2].split(")")[0]),
        proof.symbols,
    )
    assert sympy.expand(on_card - proof.steps[3].truth) == 0
