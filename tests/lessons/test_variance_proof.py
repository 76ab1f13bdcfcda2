"""Lesson 02: the proof's checker, its experiments against independent computations, its figures for a reader."""

import itertools
import math
import re
from fractions import Fraction
from functools import cache

import nbformat
import numpy as np
import pytest
import sympy

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.course.cards import card_of
from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons import variance_proof as lesson
from sdpa_helpers.lessons.variance_proof import experiments, figures, tables
from sdpa_helpers.lessons.variance_proof.proof import expectation
from sdpa_helpers.lessons.variance_proof.typed import as_expression, written
from sdpa_helpers.show.figures import Picture
from tests.lessons.pages import setup
from tests.lessons.pictures import unreadable


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


# Experiments ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(course):
    """What the lesson's own cells define: they are run here without their questions."""
    cells = nbformat.read(course / "notebooks" / "02_variance_proof.ipynb", as_version=4).cells
    source = {cell.id: cell.source for cell in cells}
    scope = {"lesson": lesson}
    for cell in (
        setup("02_variance_proof"),
        "coins-scores-run",
        "measure-scores",
        "break-scores",
        "break-compare",
        "scales-rows",
        "norm-run",
    ):
        kept = [
            line
            for line in source[cell].split("\n")
            if not re.match(r"lesson\.predict|print|table|broken = |found|dims", line)
        ]
        exec("\n".join(kept), scope)
    return scope


def test_coins_are_counted_completely(page):
    for d in range(1, 6):
        vectors = page["all_vectors"](d)
        assert sorted(map(tuple, vectors)) == sorted(itertools.product([-1, 1], repeat=d))
        scores = experiments.all_coin_scores(d)
        assert sorted(scores) == sorted((vectors @ vectors.T).ravel())
        assert (scores.size, scores.mean(), scores.var(), scores.max()) == (4**d, 0, d, d)


@pytest.mark.parametrize("kind", lesson.DRAWS)
def test_every_kind_of_component_has_mean_0_variance_1_and_the_stated_fourth_moment(kind):
    x = lesson.DRAWS[kind](np.random.default_rng(0), (200_000,))
    assert abs(x.mean()) < 0.01
    assert x.var() == pytest.approx(1, rel=0.01)
    expected = np.mean(x**4) ** 2 - 3
    assert lesson.expected_kurtosis(kind, 1) == pytest.approx(expected, abs=0.25)


def test_samples_do_not_depend_on_how_they_are_cut_into_chunks():
    a, b = lesson.sample_scores(4096, 700, seed=1), lesson.sample_scores(4096, 300, seed=1)
    assert a.shape == (700,)
    np.testing.assert_array_equal(a[:256], b[:256])
    assert a.std() == pytest.approx(64, rel=0.1)


def test_what_the_page_breaks_has_the_mean_and_the_variance_of_theory(page):
    theory = experiments.theory_when_broken(16)
    assert theory["correlated within both"] == (0, 16 + 16 * 15 / 4)
    assert theory["kᵢ correlated with qᵢ"] == (8, 20)
    assert list(page["changes"]) == list(theory)
    broken = {name: page["broken_scores"](change, d_k=16) for name, change in page["changes"].items()}
    for name, (mean, variance) in theory.items():
        assert broken[name].mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / 20000)), name
        assert broken[name].var() == pytest.approx(variance, rel=0.1), name
    assert lesson.unharmed(16, broken) == "correlated within q"


def test_the_ledger_breaks_the_same_assumptions_as_the_page(page):
    same = {
        "none": "none",
        "mean 0.5": "means 0.5",
        "alike in q and k": "correlated within both",
        "q = k": "q = k",
    }
    ledger = experiments.broken_assumptions(16, 20000)
    assert list(ledger) == list(same)
    for name, on_the_page in same.items():
        scores = page["broken_scores"](page["changes"][on_the_page], d_k=16)
        assert ledger[name].mean() == pytest.approx(scores.mean(), abs=7 * math.sqrt(scores.var() / 20000)), (
            name
        )
        assert ledger[name].var() == pytest.approx(scores.var(), rel=0.1), name


def test_the_exact_condition_agrees_with_every_case_counted():
    """Two coordinates of q are one coin, or share it in three of four cases; k's have means; nothing is sampled."""
    queries = [(a, b) for a in (-1, 1) for b in (-1, 1) for _ in range(3 if a == b else 1)]
    keys = [(0.5 + a, 0.5 + b) for a in (-1, 1) for b in (-1, 1)]
    q, k = np.array(queries, float) + 0.5, np.array(keys)
    scores = q @ k.T
    covariance = float(np.cov(q.T, bias=True)[0, 1])
    assert (scores.mean(), scores.var()) == pytest.approx(experiments.exact_moments(2, 0.5, covariance, 0.0))


def test_means_and_correlation_within_q_together_give_600(page):
    r = page["r"]
    assert experiments.exact_moments(64, 0.5, 0.5) == (16, 600)
    both = page["broken_scores"](lambda q, k, a, b: (r * (q + a) + 0.5, k + 0.5))
    found = lesson.interval(both, np.var)
    assert found.low < 600 < found.high


def test_normalized_vectors_are_uncorrelated_or_nearly(page):
    """RMSNorm leaves a normal vector uncorrelated; LayerNorm makes the correlation −1/(d − 1), exactly."""
    X = np.random.default_rng(3).standard_normal((40_000, 5))
    for norm, expected in ((page["rms_norm"], 0.0), (page["layer_norm"], -1 / 4)):
        y = norm(X)
        np.testing.assert_allclose((y**2).sum(axis=-1), 5)
        correlations = np.corrcoef(y.T)[~np.eye(5, dtype=bool)]
        np.testing.assert_allclose(correlations, expected, atol=0.02)
        assert abs(np.corrcoef((y**2).T)[0, 1]) > 0.1, "uncorrelated, not independent"


def test_bootstrap_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = [lesson.interval(rng.standard_normal(300), seed=i, resamples=200) for i in range(100)]
    assert all(i.low <= i.value <= i.high for i in found)
    assert 85 <= sum(i.low <= 1 <= i.high for i in found) <= 100


def test_largest_says_the_same_when_intervals_overlap():
    a, b, c = (
        Interval(1, 0.9, 1.1),
        Interval(1.05, 0.95, 1.15),
        Interval(2, 1.9, 2.1),
    )
    assert lesson.largest({"a": a, "b": b}) == "the same"
    assert lesson.largest({"a": a, "b": b, "c": c}) == "c"


def test_a_match_has_the_correlation_that_was_asked_for():
    row = experiments.draw_row(256, n_q=2000, n_k=3)
    matched = row.with_match(0.5)
    assert matched[:, 0].mean() == pytest.approx(128, rel=0.02)
    assert matched[:, 0].var() == pytest.approx(256 * 1.25, rel=0.1)
    np.testing.assert_array_equal(matched[:, 1:], row.scores[:, 1:])
    np.testing.assert_allclose(row.with_match(1.0)[:, 0], row.squares)


def test_the_entropy_share_runs_from_one_key_to_all_equal():
    weights = np.array([[0.25] * 4, [1, 0, 0, 0], [0.5, 0.5, 0, 0]])
    np.testing.assert_allclose(experiments.entropy_share(weights), [1, 0, 0.5], atol=1e-12)


def test_only_one_scale_is_even_handed_and_only_one_keeps_the_match(page):
    rows = page["rows_of_scores"]
    dims = (64, 1024)
    found = experiments.side_by_side({d: rows(d) for d in dims}, {d: rows(d, rho=0.5) for d in dims})
    even, match = ({name: f[what] for name, f in found.items()} for what in ("entropy share", "match score"))
    assert even["1/√d"][0] == pytest.approx(even["1/√d"][1], abs=0.02)
    assert even["1"][1] < 0.5 * even["1"][0]
    assert match["1/d"] == pytest.approx([0.5, 0.5], abs=0.03)
    assert match["1/√d"] == pytest.approx([4, 16], rel=0.05)


def test_the_page_s_rows_are_those_of_the_ledger(page):
    """A key correlated with its query by 0.5 scores d/2 on average; the others spread by √d."""
    mine, theirs = page["rows_of_scores"](64, rho=0.5), experiments.draw_row(64, n_q=2000).with_match(0.5)
    assert mine.shape == (300, 16)
    assert mine[:, 0].mean() == pytest.approx(theirs[:, 0].mean(), rel=0.1)
    assert mine[:, 1:].std() == pytest.approx(theirs[:, 1:].std(), rel=0.05)


def test_the_learned_scale_is_the_lowest_point_of_its_loss():
    scores = experiments.draw_row(64, n_q=200).with_match(0.5)
    best = lesson.learn_scale(scores)
    grid = np.linspace(0, 1, 401)
    losses = [lesson.loss_of_scale(c, scores) for c in grid]
    assert best == pytest.approx(grid[int(np.argmin(losses))], abs=0.003)
    assert lesson.loss_of_scale(best, scores) <= min(losses) + 1e-12
    assert lesson.loss_of_scale(0.0, scores) == pytest.approx(math.log(16))


def test_the_learned_exponent_depends_on_the_world():
    dims = (64, 256, 1024)
    learned = experiments.learned_scales({d: experiments.draw_row(d, n_q=300, seed=9) for d in dims})
    assert lesson.exponent(dims, learned["correlation 0.5"]) == pytest.approx(-1, abs=0.1)
    assert lesson.exponent(dims, learned["correlation 2/√dₖ"]) == pytest.approx(-0.5, abs=0.1)


def test_dividing_by_the_maximum_reverses_caps_and_breaks():
    assert lesson.weights_by_maximum(np.array([-1.0, -2.0, -4.0])).argmax() == 2
    assert np.isnan(lesson.weights_by_maximum(np.array([0.0, -1.0]))).any()
    one = np.zeros(64)
    one[5] = 1000.0
    assert lesson.weights_by_maximum(one)[5] == pytest.approx(math.e / (math.e + 63))


@pytest.mark.parametrize("d", [4, 7, 64])
def test_the_probe_reads_the_scale(d):
    right = {
        name for name, f in experiments.SUSPECTS.items() if lesson.scale_probe(f, d) == pytest.approx(d**-0.5)
    }
    assert right == {"divides by √d", "d^¼ in q and in k"}
    assert lesson.scale_probe(scaled_dot_product_attention, d) == pytest.approx(d**-0.5)
    assert lesson.scale_probe(experiments.SUSPECTS["multiplies by √d"], d) == pytest.approx(d**0.5)


def test_the_article_s_data_are_blind_and_can_be_mended():
    Q, K = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    V = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    scales = [2**-0.5, 1, 0.5, 10]
    np.testing.assert_allclose(lesson.outputs_by_scale(Q, K, V, scales), [[[3, 4]]] * 4, rtol=1e-12)
    V[2, 1] = 9
    outputs = lesson.outputs_by_scale(Q, K, V, scales)[:, 0, 1]
    assert min(abs(a - b) for a, b in itertools.combinations(outputs, 2)) > 0.01


# Figures --------------------------------------------------------------------------------------------------


@cache
def pictures() -> dict[str, Picture]:
    dims = (16, 64, 256)
    rows = {d: experiments.draw_row(d, n_q=100) for d in dims}
    scores = np.random.default_rng(1).standard_normal((3, 500))
    matched = {d: row.with_match(0.5) for d, row in rows.items()}
    kurtosis = {
        kind: [lesson.excess_kurtosis(lesson.sample_scores(d, 2000, kind=kind)) for d in dims]
        for kind in lesson.DRAWS
    }
    expected = {kind: [lesson.expected_kurtosis(kind, d) for d in dims] for kind in lesson.DRAWS}
    one = {kind: lesson.sample_scores(1, 2000, kind=kind) for kind in lesson.DRAWS}
    return {
        "walks": lesson.plot_walks(np.random.default_rng(2).choice([-1, 1], size=(30, 256)).cumsum(axis=1)),
        "growth": lesson.plot_growth(
            dims, [lesson.interval(s * d**0.5) for s, d in zip(scores, dims, strict=True)]
        ),
        "shapes": lesson.plot_shapes(one, dims, kurtosis, expected),
        "broken": lesson.plot_broken(64, experiments.broken_assumptions(64, 2000)),
        "side by side": lesson.plot_side_by_side({d: row.scores for d, row in rows.items()}, matched),
        "learned": lesson.plot_learned(dims, experiments.learned_scales(rows)),
        "maximum": lesson.plot_maximum([(4, 2, 1), (-1, -2, -4), (0, -1, -3)]),
        "probe": lesson.plot_probe(),
        "card": figures.plot_spreads_in_short(),
    }


def test_figures_are_titled_labelled_described_and_small():
    assert unreadable(pictures(), most=120_000) == []
    assert not [n for n, p in pictures().items() if "nan" in p.alt.lower().replace("nothing but nan", "")]


def test_alt_texts_carry_the_numbers():
    drawn = pictures()
    assert "−1, −2, −4: softmax 0.71, 0.26, 0.04, after division 0.04, 0.11, 0.84" in drawn["maximum"].alt
    assert (
        "scores 0, −1, −3: softmax 0.71, 0.26, 0.04, after division nothing but NaN" in drawn["maximum"].alt
    )
    assert "divides by √d: 0.5, 0.25, 0.125, 0.0625" in drawn["probe"].alt
    assert "q = k: mean 8.0" in drawn["broken"].alt
    assert "√256 = 16" in drawn["walks"].alt


# Texts ----------------------------------------------------------------------------------------------------


def test_tables_hold_the_numbers_that_they_are_given():
    scores = np.random.default_rng(4).standard_normal(4000)
    assert tables.mean_and_variance(32 * scores + 100).startswith("mean 10")
    assert "variance 1 (95% interval 1 to 1)" in tables.mean_and_variance(scores)
    coins = tables.table_of_coins({2: experiments.all_coin_scores(2)})
    assert coins.split("\n")[1].split() == ["2", "16", "0", "2", "2"]
    growth = tables.table_of_growth([4096], [Interval(64.04, 62.5, 65.5)])
    assert growth.split("\n")[1].split() == ["4,096", "64", "64.0", "62.5", "to", "65.5"]
    broken = tables.table_of_breaks(dict.fromkeys(("none", "q = k"), scores))
    assert [line.split()[-1] for line in broken.split("\n")[1:]] == ["64", "128"]
    losses = tables.table_of_losses({"a world": {"1": 51.44, "learned": 0.6}})
    assert losses.split("\n")[1].split() == ["a", "world", "51.4", "0.6"]


def test_the_card_states_what_the_proof_derives(proof):
    on_card = as_expression(
        re.sub("[{}]", "", card_of("02_variance_proof").formulas[1].split("(", 2)[2].split(")")[0]),
        proof.symbols,
    )
    assert sympy.expand(on_card - proof.steps[3].truth) == 0
