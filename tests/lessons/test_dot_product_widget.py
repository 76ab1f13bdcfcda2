"""Lesson 01's widget: dot products, cosines, and who wins."""

import numpy as np
import pytest

from sdpa_helpers.lessons.dot_product import widget
from tests.lessons.pictures import numbers


@pytest.mark.parametrize("angle", [0, 30, 60, 90, 135, 180])
@pytest.mark.parametrize("length_k", [0.0, 0.1, 2.0, 4.0])
@pytest.mark.parametrize("length_q", [0.0, 1.0, 2.0])
def test_dot_products_and_cosines(angle, length_q, length_k):
    panel = widget.explore_keys()
    shown = numbers(panel, angle=angle, length_q=length_q, length_k=length_k)
    cosine = np.cos(np.radians(angle))
    right = {
        "dot-A": length_q,
        "dot-B": length_q * length_k * cosine,
        "cosine-A": float(length_q > 0),
        "cosine-B": cosine if length_q * length_k > 0 else 0.0,
    }
    assert shown == pytest.approx(right, abs=0.00501)


@pytest.mark.parametrize(
    ("angle", "length_k", "length_q", "by_dot", "by_cosine"),
    [
        (60, 2.0, 1.0, "neither key wins", "key A wins"),
        (60, 2.1, 1.0, "key B wins", "key A wins"),
        (60, 1.9, 2.0, "key A wins", "key A wins"),
        (0, 3.0, 0.1, "key B wins", "neither key wins"),
        (90, 4.0, 1.0, "key A wins", "key A wins"),
        (180, 4.0, 0.0, "neither key wins", "neither key wins"),
    ],
)
def test_who_wins(angle, length_k, length_q, by_dot, by_cosine):
    state = {"angle": angle, "length_k": length_k, "length_q": length_q}
    text = widget.explore_keys().draw(state).text
    assert text.endswith(f"By dot product {by_dot}, by cosine {by_cosine}.")


def test_the_length_that_wins_is_where_the_winner_changes():
    for angle in range(0, 90, 5):
        length = widget.length_that_wins(angle)
        shorter, longer = (widget.duel(angle, 1.0, f * length).dots[1] for f in (1 - 1e-6, 1 + 1e-6))
        assert shorter < 1 < longer
    assert widget.length_that_wins(90) == widget.length_that_wins(120) == np.inf
