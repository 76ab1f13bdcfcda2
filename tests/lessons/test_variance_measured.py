"""What lesson 02 measures: coins, broken assumptions, the scales, the learned one; its figures and tables."""

import itertools
import math
import re
from functools import cache

import nbformat
import numpy as np
import pytest

from sdpa_helpers.attention import scaled_dot_product_attention
from sdpa_helpers.course.interval import Interval
from sdpa_helpers.lessons import variance_proof as lesson
from sdpa_helpers.lessons.variance_proof import experiments, figures, tables
from sdpa_helpers.show.figures import Picture
from tests.lessons.pages import setup
from tests.lessons.pictures import unreadable


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
