"""Lesson 03's panel: how sharp a row is, and its limits, in the page as in Python."""

import itertools

import numpy as np
import pytest

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.softmax import widget
from sdpa_helpers.show.panels import SCAFFOLD, TOUCH

SCRIPTS = (SCAFFOLD, TOUCH, widget.SCRIPT)


@pytest.fixture(scope="module")
def rows(in_node):
    """`rows(T=[…], d_k=[…], scaled=[…], keys=[…], again=[…])`: what the page works out, by these five."""
    given = widget.explore_temperature().given

    def ask(T=(1.0,), d_k=(64,), scaled=(True,), keys=(16,), again=(0,)):
        cases = list(itertools.product(T, d_k, scaled, keys, again))
        states = [
            {
                "stop": widget.TEMPERATURES.index(T),
                "width": widget.WIDTHS.index(d),
                "scaled": int(on),
                "n": n,
                "again": draw,
            }
            for T, d, on, n, draw in cases
        ]
        found = in_node(
            SCRIPTS,
            "data.states.map(s => { const row = rowOf(data.given, s); return { ...row, words: wordsOf(row) } })",
            {"given": given, "states": states},
        )
        return dict(zip(cases, found, strict=True))

    return ask


def test_the_page_shares_out_as_python_does(rows):
    asked = rows((0.01, 0.5, 1.0, 8.0, 100.0), (256,), (True, False), (2, 16, 64), (1,))
    for (T, d_k, scaled, n, draw), row in asked.items():
        right = softmax(widget.row_scores(n, d_k, scaled, draw) / T)
        np.testing.assert_allclose(row["weights"], right, atol=5e-4 if T < 0.1 else 2e-5)
        nats = -sum(w * np.log(w) for w in right if w > 0)
        words = {name: float(row["words"][name]) for name in ("largest", "entropy", "effective")}
        assert words == pytest.approx(
            {"largest": right.max(), "entropy": nats, "effective": np.exp(nats)}, abs=0.051
        )
        assert words["largest"] == pytest.approx(right.max(), abs=0.00052)
        assert words["entropy"] == pytest.approx(nats, abs=0.0051)
        np.testing.assert_allclose(row["marks"], softmax(widget.unit_scores(n, draw)), atol=1e-5)


def test_the_limits_of_temperature(rows):
    ((_, cold),) = rows((0.0,)).items()
    said = [cold["words"][name] for name in ("largest", "entropy", "effective", "divisor")]
    assert said == ["1.000", "0.00", "1.0", "0"]
    for row in rows((np.inf,), (1, 4096), (False,), (20,)).values():
        said = [row["words"][name] for name in ("largest", "entropy", "effective", "divisor")]
        assert said == ["0.050", "3.00", "20.0", "∞"]
    np.testing.assert_array_equal(widget.weights_at(np.array([2.0, 2.0, 0.0]), 0), [0.5, 0.5, 0])


def test_the_root_of_d_k_is_a_temperature_and_scaling_takes_d_k_out(rows):
    (plain_row,) = rows().values()
    (hot,) = rows((8.0,), (64,), (False,)).values()
    np.testing.assert_allclose(hot["weights"], plain_row["weights"], rtol=1e-12)
    every = rows(d_k=widget.WIDTHS).values()
    assert all(row["weights"] == plain_row["weights"] for row in every)
    (sharp,) = rows(d_k=(4096,), scaled=(False,)).values()
    assert float(sharp["words"]["effective"]) < 1.1 < float(plain_row["words"]["effective"])


def test_more_keys_keep_the_keys_that_were_there():
    few, many = widget.unit_scores(5), widget.unit_scores(6)
    assert set(few) < set(many)
    assert list(many) == sorted(many, reverse=True)
    assert not set(few) & set(widget.unit_scores(5, draw=1))
