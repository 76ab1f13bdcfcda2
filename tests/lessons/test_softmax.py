"""Lesson 03: its experiments against independent computations, its figures for what a reader needs."""

import math
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from sdpa_helpers.lessons import softmax as lesson
from sdpa_helpers.lessons.softmax import experiments
from sdpa_helpers.show.figures import Picture
from tests.lessons import pages
from tests.lessons.example import WORDS, soft
from tests.lessons.pictures import unreadable

ALIVE = np.array([0.0, 1.0, 0.0, 0.0, 2.0])
PAGES = np.array([0.92, 0.15, 0.78, 0.45])
PRINTED = np.array([0.52, 0.03, 0.35, 0.10])


def test_rounding_is_that_of_the_dtypes():
    x = np.random.default_rng(0).standard_normal(500) * 10.0 ** np.arange(-50, 50).repeat(5)
    for dtype in ("float16", "float32", "float64"):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(lesson.rounded(x, dtype), x.astype(dtype).astype(float))


@pytest.mark.parametrize(
    ("x", "nearest"),
    [
        (1.0, 1.0),
        (256.0, 256.0),
        (257.0, 256.0),  # halfway: to even
        (259.0, 260.0),
        (-1.005, -1.0078125),
        (3.39e38, 2.0**128 * (1 - 2**-8)),
        (3.4e38, math.inf),
        (-1e39, -math.inf),
        (2.0**-133, 2.0**-133),
        (2.0**-135, 0.0),
        (math.inf, math.inf),
        (0.0, 0.0),
    ],
)
def test_bfloat16_by_hand(x, nearest):
    assert lesson.rounded(x, "bfloat16") == nearest
    assert lesson.rounded(np.full((2, 3), x), "bfloat16").tolist() == [[nearest] * 3] * 2


def test_bfloat16_keeps_nan_and_agrees_with_torch(needs):
    assert np.isnan(lesson.rounded(math.nan, "bfloat16"))
    needs("torch")
    import torch

    x = np.random.default_rng(1).standard_normal(2000).astype(np.float32) * np.float32(1e3)
    by_torch = torch.from_numpy(x).to(torch.bfloat16).to(torch.float64).numpy()
    np.testing.assert_array_equal(lesson.rounded(x, "bfloat16"), by_torch)


@pytest.mark.parametrize(
    ("dtype", "smallest", "largest"),
    [  # half the smallest subnormal; the largest number plus half a step
        ("float16", 2.0**-25, 65520.0),
        ("bfloat16", 2.0**-134, 2.0**128 * (1 - 2.0**-9)),
        ("float32", 2.0**-150, 2.0**128 * (1 - 2.0**-25)),
    ],
)
def test_exp_range_follows_from_the_format(dtype, smallest, largest):
    assert lesson.exp_range(dtype) == pytest.approx((math.log(smallest), math.log(largest)), abs=1e-4)
    assert experiments.sum_limit(4096, dtype) == pytest.approx(math.log(largest / 4096), abs=0.005)


def test_the_limits_that_the_lesson_quotes():
    told = {dtype: [round(v, 2) for v in lesson.exp_range(dtype)] for dtype in lesson.DTYPES}
    assert told == {
        "float16": [-17.33, 11.09],
        "bfloat16": [-92.88, 88.72],
        "float32": [-103.97, 88.72],
        "float64": [-745.13, 709.78],
    }
    assert experiments.sum_limit(4096, "float16") == pytest.approx(2.77, abs=0.005)


def test_running_sums_stand_still_where_a_step_is_two():
    assert [lesson.running_sum(np.ones(4096), dtype) for dtype in lesson.DTYPES] == [2048, 256, 4096, 4096]


def test_softmax_in_float64_is_softmax_and_in_float32_is_numpys():
    x = np.random.default_rng(2).standard_normal((3, 5)) * 5
    for shift in experiments.SHIFTS:
        np.testing.assert_allclose(
            lesson.softmax_in(x, "float64", shift), [soft(row) for row in x], rtol=1e-12
        )
    e = np.exp((y := x.astype(np.float32)) - y.max(axis=-1, keepdims=True))
    np.testing.assert_allclose(lesson.softmax_in(x, "float32"), e / e.sum(axis=-1, keepdims=True), rtol=5e-7)


@pytest.mark.parametrize(
    ("row", "fails_in"),
    [
        ([1, 2, 3], []),
        ([10, 20, 30], ["float16"]),
        ([100, 200, 300], ["float16", "bfloat16", "float32"]),
        ([-200, -201], ["float16", "bfloat16", "float32"]),
    ],
)
def test_where_the_plain_formula_fails(row, fails_in):
    row = np.array(row, dtype=float)
    found = {d: np.isnan(lesson.softmax_in(row, d, "nothing")).any() for d in lesson.DTYPES}
    assert [d for d, failed in found.items() if failed] == fails_in
    assert not any(np.isnan(lesson.softmax_in(row, d)).any() for d in lesson.DTYPES)


def test_the_page_finds_the_same_failures_and_draws_the_same_scores():
    page = pages.run("03_softmax", "scores", "overflow-article-compare", "random-scores")
    for row in ([10, 20, 30], [12.5, 25, 37.5], [100, 200, 300], [-200, -201]):
        plain = {d: np.isnan(lesson.softmax_in(np.array(row), d, "nothing")).any() for d in lesson.DTYPES}
        assert {d: page["fails"](row, d) for d in lesson.DTYPES} == plain
    assert page["fails"]([12.5, 25, 37.5], "float16")
    np.testing.assert_allclose(page["plain"](ALIVE), soft(ALIVE))
    for scaled, size in ((False, 1), (True, 3)):
        by_helper = lesson.random_scores(64, 4, 20_000, scaled=scaled, size=size, seed=[64, 4])
        np.testing.assert_allclose(page["random_scores"](64, 4, scaled=scaled, size=size), by_helper)


def test_the_global_maximum_destroys_a_low_row_in_float32_only():
    rows = np.array([[0.0, 1.0], [200.0, 201.0]])
    assert np.isnan(lesson.softmax_in(rows, "float32", "global maximum")[0]).all()
    np.testing.assert_allclose(lesson.softmax_in(rows, "float64", "global maximum")[0], soft([0, 1]))


def test_failure_map_only_the_row_maximum_is_always_right():
    found = lesson.failure_map(points=21)
    share = {shift: works.mean() for shift, works in found.works.items()}
    assert share["row maximum"] == 1
    assert share["row minimum"] <= share["nothing"] < share["row mean"] < share["global maximum"] < 1
    i, j = 5, 13  # one place, by hand: level 90, gap 75
    assert (found.level[j], found.gap[i]) == (90, 75)
    assert not found.works["nothing"][i, j]  # e⁹⁰ is beyond float32
    assert found.works["global maximum"][i, j]


def test_temperature_and_its_limits():
    for T in (0.3, 1.0, 7.0):
        np.testing.assert_allclose(experiments.with_temperature(ALIVE, [T])[0], soft(ALIVE / T), rtol=1e-12)
    np.testing.assert_allclose(experiments.with_temperature(np.array([2.0, 2, 0]), [1e-3])[0], [0.5, 0.5, 0])
    np.testing.assert_allclose(experiments.with_temperature(ALIVE, [1e9])[0], 0.2)
    assert np.isfinite(experiments.with_temperature(np.array([1e9, 0.0]), [1e-9])).all()


def test_the_search_engine_has_no_temperature():
    inverse = experiments.implied_inverse_temperatures(PAGES, PRINTED)
    assert list(inverse) == ["1, 2", "1, 3", "1, 4", "2, 3", "2, 4", "3, 4"]
    np.testing.assert_allclose(list(inverse.values()), [3.70, 2.83, 3.51, 3.90, 4.01, 3.80], atol=0.01)
    np.testing.assert_allclose(
        list(experiments.implied_inverse_temperatures(PAGES, soft(2.5 * PAGES)).values()), 2.5
    )

    fit = lesson.best_fit(PAGES, PRINTED)
    np.testing.assert_allclose(fit.weights, [0.526, 0.039, 0.328, 0.107], atol=0.001)
    miss = lambda b: ((soft(b * PAGES) - PRINTED) ** 2).sum()  # noqa: E731
    assert miss(fit.inverse_temperature) <= min(miss(b) for b in np.linspace(0, 10, 2001)) + 1e-12
    assert lesson.best_fit(PAGES, soft(2.5 * PAGES)).inverse_temperature == pytest.approx(2.5, abs=1e-5)

    most = lesson.most_it_can_get(PAGES)
    assert most == pytest.approx([1, 0.25, max(soft(b * PAGES)[2] for b in np.linspace(0, 10, 2001)), 0.25])
    assert most[2] < 0.345
    shows = experiments.where_it_shows(PAGES, PRINTED, np.linspace(0, 10, 2001), 0.005)
    assert shows.any(axis=0).tolist() == [True, True, False, True]


def test_entropy():
    rows = np.array([[1.0, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    np.testing.assert_allclose(lesson.entropy(rows), [0, math.log(2), math.log(4)])
    assert not np.signbit(lesson.entropy(rows)).any()


def test_drawing_scores_directly_is_the_same_as_multiplying_queries_and_keys():
    d_k, n_k, rows = 16, 12, 3000
    rng = np.random.default_rng(7)
    q, K = rng.standard_normal((rows, 1, d_k)), rng.standard_normal((rows, d_k, n_k))
    multiplied = experiments.sharpness((q @ K)[:, 0]).largest
    drawn = experiments.sharpness(lesson.random_scores(d_k, n_k, rows, scaled=False)).largest
    levels = np.linspace(0.05, 0.95, 19)
    # Two samples of 3000: their distribution functions differ by less than 0.05 with probability 0.999.
    both = [(np.sort(sample)[:, None] <= levels).mean(axis=0) for sample in (multiplied, drawn)]
    assert np.abs(both[0] - both[1]).max() < 0.05
    scaled = lesson.random_scores(d_k, n_k, rows, scaled=True, size=2.0)
    np.testing.assert_allclose(scaled, lesson.random_scores(d_k, n_k, rows, scaled=False), rtol=1e-12)


def test_sharpness_grows_with_d_k_unless_scaled():
    found = lesson.sweep([4, 64, 1024], 64, rows=500)
    sharp = [v.value for v in found.largest["not scaled"]]
    flat = [v.value for v in found.largest["scaled"]]
    assert sharp == sorted(sharp)
    assert sharp[-1] > 0.99
    assert max(flat) - min(flat) < 0.03
    for lines in (found.largest, found.entropy_share):
        for line in lines.values():
            assert all(v.low <= v.value <= v.high for v in line)


def test_numbers_in_the_reasons_for_answers():
    """Those that the notebook does not measure itself."""
    best = np.sort(lesson.random_scores(64, 128, 20000, scaled=False), axis=1)[:, -2:]
    assert np.median(best[:, 1] - best[:, 0]) == pytest.approx(2, abs=0.1)
    assert math.log(99) < 5
    three_times = lesson.random_scores(64, 128, 20000, scaled=True, size=3**0.5)
    assert np.median(soft_rows(three_times).max(axis=1)) == pytest.approx(0.37, abs=0.005)
    assert 100 * soft(PAGES)[2] == pytest.approx(29, abs=0.5)
    assert math.exp(-200) == pytest.approx(1e-87, rel=0.5)
    assert math.exp(10) == pytest.approx(22000, rel=0.01)


def soft_rows(scores):
    """Softmax of many rows, by the formula."""
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(100):
        found = lesson.interval(rng.standard_normal(200), np.mean)
        covered += found.low <= 0 <= found.high
    assert 85 <= covered <= 100


def test_dropout_keeps_row_sums_on_average_only():
    sums = lesson.dropped_row_sums(np.full((4000, 16), 1 / 16), p=0.1)
    assert sums.mean() == pytest.approx(1, abs=0.01)
    assert sums.std() == pytest.approx(math.sqrt(0.1 / 0.9 / 16), rel=0.05)


def test_the_lesson_needs_no_torch():
    code = "import sys, sdpa_helpers.lessons.softmax; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@cache
def pictures() -> dict[str, Picture]:
    sample = experiments.sharpness(lesson.random_scores(64, 16, 400, scaled=False)).largest
    shifts = ["nothing", "row maximum"]
    return {
        "steps": lesson.plot_steps(ALIVE, WORDS),
        "one score": lesson.plot_one_score_moves(ALIVE, 4, WORDS),
        "ranges": lesson.plot_ranges({d: lesson.exp_range(d) for d in lesson.DTYPES}),
        "failures": lesson.plot_failure_map(lesson.failure_map(points=21, subtracted=shifts)),
        "temperature": lesson.plot_temperature(ALIVE, WORDS),
        "search": lesson.plot_fixed_temperatures(PAGES, PRINTED),
        "sweep": lesson.plot_sweep(lesson.sweep([4, 16, 64], 16, rows=200)),
        "largest": lesson.plot_largest_weights({"one": sample, "another": sample**2}),
    }


def test_figures_are_titled_labelled_described_and_small():
    assert unreadable(pictures(), shared_y=True) == []


def test_alt_texts_carry_the_numbers():
    drawn = pictures()
    assert "exponentials: 1.00, 2.72, 1.00, 1.00, 7.39" in drawn["steps"].alt
    assert "float16 from −17.3 to 11.09" in drawn["ranges"].alt
    assert "row maximum 100%" in drawn["failures"].alt
    assert "nowhere, it never exceeds 32.8%" in drawn["search"].alt
    assert "1/n = 0.20" in drawn["temperature"].alt
