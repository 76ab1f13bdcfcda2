"""Lesson 04's widget: the way back through a row of softmax."""

import numpy as np
import pytest

import sdpa_helpers.lessons.gradients.widget as widget
from sdpa_helpers.lessons.gradients.widget import short, way_back
from tests.lessons.pictures import ARRIVED, PANELS, SCORES, read, shown


@pytest.mark.parametrize("factor", widget.FACTORS)
@pytest.mark.parametrize("row", ["this query", "all equal", "two tied", "saturated"])
def test_the_way_back_is_the_lessons_formula(row, factor):
    scores = widget.starting_scores(np.array(SCORES))[row] * factor
    e = np.exp(scores - scores.max())
    A, dA = e / e.sum(), np.array(ARRIVED)
    found = way_back(scores, dA)
    np.testing.assert_allclose(found.jacobian, np.diag(A) - np.outer(A, A), atol=1e-16)
    np.testing.assert_allclose(found.right, A * (dA - A @ dA), atol=2e-15)
    np.testing.assert_allclose(found.diagonal, A * (1 - A) * dA, atol=2e-15)
    assert widget.total(found.right) == "0"


def test_way_back_agrees_with_complex_steps():
    rng = np.random.default_rng(4)
    for _ in range(5):
        scores, dA = rng.normal(size=5), rng.normal(size=5)
        stepped = np.exp(scores + 1e-30j * np.eye(5))
        slopes = (stepped / stepped.sum(axis=-1, keepdims=True)).imag / 1e-30
        found = way_back(scores, dA)
        np.testing.assert_allclose(found.jacobian, slopes.T, atol=1e-15)
        np.testing.assert_allclose(found.right, slopes @ dA, atol=1e-15)


def test_the_picture_of_the_way_back_writes_these_numbers():
    panel = PANELS["gradients"]()
    state = {"row": "two tied", "factor": 0.1, "arrives": "this query's", "add_0": 3.0, "add_4": -10.0}
    texts = shown(panel, **state)
    scores = np.array([3.0, 0, 0, 8, -2]) * 0.1
    A = np.exp(scores) / np.exp(scores).sum()
    dA = np.array(ARRIVED)
    for i in range(5):
        assert read(texts[f"score-{i}"]) == pytest.approx(scores[i], abs=1e-9)
        assert read(texts[f"A-{i}"]) == pytest.approx(A[i], abs=5.1e-4)
        assert read(texts[f"dA-{i}"]) == dA[i]
        assert read(texts[f"dS-{i}"]) == pytest.approx(A[i] * (dA[i] - A @ dA), abs=5.1e-4)
        assert read(texts[f"diagonal-{i}"]) == pytest.approx(A[i] * (1 - A[i]) * dA[i], abs=5.1e-4)
        for j in range(5):
            assert read(texts[f"J-{i}-{j}"]) == pytest.approx(A[i] * ((i == j) - A[j]), abs=5.1e-4)
    assert texts["dS-sum"] == "0"
    assert read(texts["diagonal-sum"]) == pytest.approx((A * (1 - A) * dA).sum(), abs=5.1e-4)


def test_a_wish_that_is_the_same_for_all_is_no_wish():
    panel = PANELS["gradients"]()
    for row in panel.controls["row"].stops:
        for factor in widget.FACTORS:
            texts = shown(panel, row=row, factor=factor, arrives="7 for all")
            assert {texts[f"dS-{i}"] for i in range(5)} == {"0"}
    assert (
        "The right answer is zero; the diagonal's is not."
        in panel.draw(panel.start | {"arrives": "7 for all"}).text
    )


def test_what_the_lesson_says_about_its_widget():
    found = way_back(SCORES, ARRIVED)
    assert (np.sign(found.right) != np.sign(found.diagonal)).tolist() == [True] * 4 + [False]
    assert found.weights @ ARRIVED == pytest.approx(-4.31, abs=0.01)
    panel = PANELS["gradients"]()
    assert "Largest slope 8e−9 " in panel.draw(panel.start | {"row": "saturated"}).text
    assert "Largest slope 0.250 " in panel.draw(panel.start | {"row": "two tied", "factor": 5.0}).text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.24, "0.240"),
        (-2.0, "−2.000"),
        (9.9996, "10.0"),
        (-57.75, "−57.8"),
        (1234.5, "1234"),
        (4.2e-7, "4e−7"),
        (-4e-18, "−4e−18"),
        (float("inf"), "∞"),
    ],
)
def test_short_numbers(number, text):
    assert short(number) == text


@pytest.mark.parametrize(
    ("words", "scores"), [(["a"], [1]), (["a", "b"], [1, 2, 3]), (list("abcdef"), [0] * 6)]
)
def test_way_back_refuses_what_does_not_fit(words, scores):
    with pytest.raises(ValueError, match="one number of each for 2 to 5 words"):
        widget.explore_way_back(words, scores, scores)
