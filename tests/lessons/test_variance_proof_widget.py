"""Lesson 02's widget: measured moments meet the formula, and no bin loses a score."""

import re

import numpy as np
import pytest

from sdpa_helpers.lessons.variance_proof import widget
from sdpa_helpers.lessons.variance_proof.experiments import sample_scores
from tests.lessons.pictures import numbers


@pytest.mark.parametrize("kind", widget.KINDS)
@pytest.mark.parametrize("d", [1, 2, 64, 4096])
@pytest.mark.parametrize("rho", [-1.0, -0.5, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("mean", [-2.0, 0.0, 0.5])
def test_measured_moments_meet_the_formula(kind, d, rho, mean):
    n = 10_000
    sample = widget.correlated_scores(d, kind, rho, mean, draw=5, count=n)
    exact = widget.promised(d, kind, rho, mean)
    error = np.sqrt(exact.variance / n)
    error_of_variance = np.sqrt(max(np.mean((sample - sample.mean()) ** 4) - sample.var() ** 2, 0.0) / n)
    assert sample.mean() == pytest.approx(exact.mean, abs=4.5 * error + 1e-9 * d)
    assert sample.var() == pytest.approx(exact.variance, abs=4.5 * error_of_variance + 1e-6 * d)


@pytest.mark.parametrize(
    ("kind", "d"), [("normal", 1), ("normal", 3), ("normal", 64), ("coins", 3), ("coins", 64)]
)
def test_the_short_cut_has_the_distribution_of_real_vectors(kind, d):
    """Kolmogorov and Smirnov's distance to scores of vectors that were really drawn; 0.1 % of samples lie beyond."""
    n = 10_000
    short = np.sort(widget.correlated_scores(d, kind, draw=9, count=n))
    real = np.sort(sample_scores(d, n, seed=11, kind=kind))
    places = np.concatenate([short, real])
    both = [np.searchsorted(np.round(x, 9), np.round(places, 9), side="right") / n for x in (short, real)]
    assert np.abs(both[0] - both[1]).max() < 1.95 * np.sqrt(2 / n)


def test_correlated_normal_components_really_are():
    rng = np.random.default_rng(4)
    a, e = rng.standard_normal((2, 20_000, 5))
    q, k = 0.5 + a, 0.5 - 0.6 * a + 0.8 * e
    real = np.sort((q * k).sum(axis=-1))
    short = np.sort(widget.correlated_scores(5, "normal", -0.6, 0.5, count=20_000))
    assert np.abs(np.searchsorted(real, short) / 20_000 - np.arange(20_000) / 20_000).max() < 0.02


@pytest.mark.parametrize("scale", ["1", "1/√d", "1/d"])
def test_histogram_numbers(scale):
    panel = widget.explore_scores()
    state = {"d_k": 256, "kind": "dice", "rho": 0.5, "mean": -0.3, "scale": scale, "again": 3}
    factor = {"1": 1.0, "1/√d": 1 / 16, "1/d": 1 / 256}[scale]
    sample = factor * widget.correlated_scores(256, "dice", 0.5, -0.3, draw=3)
    shown = numbers(panel, **state)
    assert shown["mean"] == pytest.approx(sample.mean(), rel=0.006)
    assert shown["variance"] == pytest.approx(sample.var(), rel=0.006)
    assert shown["spread"] == pytest.approx(sample.std(), rel=0.006)
    assert shown["mean-exact"] == pytest.approx(factor * 256 * (0.09 + 0.5), rel=0.006)
    assert shown["variance-bell"] == pytest.approx(256 * factor**2, rel=0.006)
    text = panel.draw(panel.start | state).text
    low, high = (float(x) for x in re.search(r"variance [\d.]+ \(([\d.]+) to ([\d.]+)\)", text).groups())
    assert low < shown["variance"] < high


def test_the_interval_holds_the_exact_variance_about_19_times_of_20():
    found = [widget.measured(widget.correlated_scores(64, draw=draw))[1] for draw in range(300)]
    assert 0.90 < np.mean([v.low <= 64 <= v.high for v in found]) < 0.99


@pytest.mark.parametrize("kind", widget.KINDS)
@pytest.mark.parametrize("d", [1, 2, 3, 64, 1024])
@pytest.mark.parametrize("axis", widget.AXES)
def test_bins_cover_the_axis_and_lose_nobody_inside(kind, d, axis):
    state = widget.explore_scores().start | {"d_k": d, "kind": kind, "axis": axis}
    exact = widget.promised(d, kind)
    low, high = widget.axis_of(state, np.sqrt(d), exact)
    edges = widget.bins_of(low, high, state, 1.0)
    assert edges[0] <= low + 1e-9
    assert edges[-1] >= high - 1e-9
    assert np.ptp(np.diff(edges)) < 1e-9 * high
    assert 5 <= len(edges) <= 60 or d < 4
    if kind == "coins":  # no score lies on an edge
        reachable = np.arange(-d, d + 1, 2)
        assert np.abs(edges[:, None] - reachable).min() > 0.2


def test_coins_that_are_all_alike_have_no_spread():
    panel = widget.explore_scores()
    assert numbers(panel, kind="coins", rho=1.0)["variance"] == 0
    assert numbers(panel, kind="coins", rho=1.0)["mean"] == 64
    assert (
        "100% of the scores lie beyond"
        in panel.draw(panel.start | {"kind": "coins", "rho": 1.0, "axis": "−4 to 4"}).text
    )
