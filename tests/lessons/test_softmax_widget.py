"""Lesson 03's widget: how sharp a row is, and its limits."""

import numpy as np
import pytest

from sdpa_helpers.attention import softmax
from sdpa_helpers.lessons.softmax import widget
from tests.lessons.pictures import numbers


@pytest.mark.parametrize("temperature", [0.01, 0.5, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("n", [2, 16, 64])
def test_sharpness_numbers(temperature, scaled, n):
    panel = widget.explore_temperature()
    shown = numbers(panel, temperature=temperature, scaled=scaled, keys=n, d_k=256, again=1)
    z = widget.unit_scores(n, 1)
    weights = softmax(z * (1 if scaled else 16) / temperature)
    nats = -sum(w * np.log(w) for w in weights if w > 0)
    assert shown["largest"] == pytest.approx(weights.max(), abs=0.000501)
    assert shown["entropy"] == pytest.approx(nats, abs=0.00501)
    assert shown["effective"] == pytest.approx(np.exp(nats), abs=0.0501)


def test_the_limits_of_temperature():
    panel = widget.explore_temperature()
    assert numbers(panel, temperature=0.0) == {"largest": 1.0, "entropy": 0.0, "effective": 1.0}
    for d_k in (1, 4096):
        even = numbers(panel, temperature=np.inf, d_k=d_k, scaled=False, keys=20)
        assert even == {"largest": 0.05, "entropy": 3.0, "effective": 20.0}
    np.testing.assert_array_equal(widget.weights_at(np.array([2.0, 2.0, 0.0]), 0), [0.5, 0.5, 0])


def test_the_root_of_d_k_is_a_temperature_and_scaling_takes_d_k_out():
    panel = widget.explore_temperature()
    plain_row = numbers(panel, d_k=64, scaled=True, temperature=1.0)
    assert numbers(panel, d_k=64, scaled=False, temperature=8.0) == plain_row
    assert all(numbers(panel, d_k=2**i) == plain_row for i in range(13))
    assert numbers(panel, d_k=4096, scaled=False)["effective"] < 1.1 < plain_row["effective"]


def test_more_keys_keep_the_keys_that_were_there():
    few, many = widget.unit_scores(5), widget.unit_scores(6)
    assert set(few) < set(many)
    assert list(many) == sorted(many, reverse=True)
    assert not set(few) & set(widget.unit_scores(5, draw=1))
