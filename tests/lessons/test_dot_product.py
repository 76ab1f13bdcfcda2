"""Lesson 01: its experiments against independent computations, its figures for what a reader needs."""

import math
from functools import cache

import numpy as np
import pytest

import sdpa_helpers as sdpa
from sdpa_helpers.lessons import dot_product as lesson
from sdpa_helpers.lessons.dot_product import experiments
from sdpa_helpers.lessons.dot_product.figures import plot_overtaking_in_short
from sdpa_helpers.show.figures import Picture
from tests.lessons.example import QUESTIONS, WORDS, K, Q, V, soft
from tests.lessons.pages import source_of
from tests.lessons.pictures import unreadable


@pytest.mark.parametrize(
    ("degrees", "length_k", "score"),
    [(0, 1, 1.0), (60, 5, 2.5), (90, 3, 0.0), (100, 1, -0.17364817766693033), (180, 1, -1.0)],
)
def test_score_at_is_the_product_of_lengths_and_cosine(degrees, length_k, score):
    assert experiments.score_at(degrees, 1.0, length_k) == pytest.approx(score, abs=1e-12)
    assert experiments.score_at(degrees, 3.0, length_k) == pytest.approx(3 * score, abs=1e-12)


def test_the_view_keeps_scores_and_lengths():
    rng = np.random.default_rng(1)
    q, keys = rng.normal(size=64), rng.normal(size=(9, 64))
    along, off = experiments.view_from(q, keys).T
    np.testing.assert_allclose(along * math.dist(q, 0 * q), [sum(q * key) for key in keys], rtol=1e-10)
    np.testing.assert_allclose(np.hypot(along, off), [math.dist(key, 0 * key) for key in keys], rtol=1e-10)
    assert (off >= 0).all()


def test_what_the_lesson_says_about_its_input():
    scores = Q @ K.T
    assert scores.tolist() == [[0, 1, 0, 0, 2], [0, 1.5, 0, -2, 0], [0, 0, 2, 0, 0], [0, -0.5, 0, 2, 2]]
    weights = soft(scores[0])
    assert weights[4] / weights[1] == pytest.approx(math.e)
    assert weights[[0, 2, 3]].sum() == pytest.approx(0.2289, abs=1e-4)
    assert soft(scores[1]).min() > 0
    assert len({len(Q), len(K), K.shape[1], V.shape[1]}) == 4  # every size differs, so a shape names its axis


def test_in_proportion_gives_the_nonsense_that_the_lesson_shows():
    assert experiments.in_proportion(np.array([0, 1.5, 0, -2, 0])).tolist() == [0, -3, 0, 4, 0]


def test_convex_hull_of_a_square_with_points_inside_and_on_its_edges():
    points = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0], [0, 1.5], [2, 2]], dtype=float)
    assert lesson.convex_hull(points).tolist() == [[0, 0], [2, 0], [2, 2], [0, 2]]


def test_distance_outside_is_zero_inside_and_grows_outside():
    square = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], dtype=float)
    points = np.array([[1, 1], [2, 1], [3, 1], [1, -0.5], [-2, 1]], dtype=float)
    assert lesson.distance_outside(square, points).tolist() == [0, 0, 1, 0.5, 2]


def test_random_outputs_stay_inside_and_are_the_same_every_time():
    outputs = experiments.outputs_of_random_queries(K, V, n_q=200)
    assert outputs.shape == (200, 2)
    assert lesson.distance_outside(lesson.convex_hull(V), outputs).max() < 1e-9
    np.testing.assert_array_equal(outputs, experiments.outputs_of_random_queries(K, V, n_q=200))
    # Convexity, without the hull: no direction sees an output beyond the furthest value.
    directions = np.random.default_rng(2).normal(size=(50, 2))
    assert ((outputs @ directions.T).max(axis=0) <= (V @ directions.T).max(axis=0) + 1e-12).all()


def test_the_claim_draws_the_queries_of_the_lesson():
    scope = {"np": np, "sdpa": sdpa, "K": K, "V": V}
    exec(source_of("01_dot_product", "hull-compare").partition("outside =")[0], scope)
    np.testing.assert_allclose(scope["cloud"], experiments.outputs_of_random_queries(K, V), rtol=1e-12)


def test_the_matrices_of_the_lesson_do_what_it_says():
    scope = {"np": np, "K": K}
    exec(source_of("01_dot_product", "sources-run"), scope)
    words = dict(zip(WORDS, scope["X"], strict=True))
    finds = {word: WORDS[(K @ (x @ scope["W_q"])).argmax()] for word, x in words.items() if word != "the"}
    assert finds["big"] == "dogs"
    assert finds["fears"] == "dogs"
    assert finds["cat"] == "fears"
    assert not (words["the"] @ scope["W_q"]).any()


def test_by_hand_is_as_the_table_to_fill_in_says():
    lines = lesson.paper_table(
        ["Ann"], np.array([[0, 1, 2]]), soft([0, 1, 2])[None], np.array([[0.756, 0.91]])
    )
    assert lines.split("\n")[1].split() == ["Ann", "0,", "1,", "2", "0.09,", "0.24,", "0.67", "0.76,", "0.91"]
    assert "0, 1, 2 | 1, 2.72, 7.39 | 11.11 | 0.09, 0.24, 0.67 | (0.76, 0.91)" in source_of(
        "01_dot_product", "by-hand"
    )


def test_every_step_left_out_moves_the_output_and_none_does_where_it_has_nothing_to_do():
    assert min(lesson.moved_without_each_step(Q, K, V, np.tri(4, 5, dtype=bool)).values()) > 0.1
    one_coordinate = lesson.moved_without_each_step(Q[:, :1], K[:, :1], V, np.ones((4, 5), dtype=bool))
    assert one_coordinate["scale"] == one_coordinate["mask"] == 0
    by_hand = np.abs(soft(Q[0] @ K.T) @ V - soft(Q[0] @ K.T / math.sqrt(3)) @ V).max()
    all_seen = lesson.moved_without_each_step(Q[:1], K, V, np.ones((1, 5), dtype=bool))
    assert all_seen["scale"] == pytest.approx(by_hand)
    assert all_seen["compare"] == pytest.approx(
        np.abs(soft(Q[0] @ K.T / math.sqrt(3)) @ V - V.mean(axis=0)).max()
    )


def test_models_that_learned_nothing_favour_no_word():
    weights = lesson.weights_of_random_models(n_words=7, asks=5)
    assert weights.shape == (2000, 7)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-12)
    error = weights.std(axis=0) / math.sqrt(2000)
    assert (np.abs(weights.mean(axis=0) - 1 / 7) < 4 * error).all()
    np.testing.assert_array_equal(weights, lesson.weights_of_random_models(n_words=7, asks=5))


@cache
def pictures() -> dict[str, Picture]:
    scores = Q @ K.T
    weights = np.stack([soft(row) for row in scores])
    cloud = experiments.outputs_of_random_queries(K, V, n_q=50)
    return {
        "products": lesson.plot_products(Q[1], K[1], ["alive", "action", "size"], "cat"),
        "view": lesson.plot_view(Q[:2], K, QUESTIONS[:2], WORDS),
        "angle": lesson.plot_angle_curve([1, 5], [(60, 5), (100, 1)]),
        "dot and cosine": lesson.plot_dot_and_cosine(scores[0], np.array([0, 0.89, 0, 0, 0.71]), WORDS),
        "matrix": lesson.plot_matrix(scores, QUESTIONS, WORDS, "Scores"),
        "rules": lesson.plot_rules(scores[0], WORDS, "alive"),
        "hull": lesson.plot_hull(V, weights @ V, cloud, WORDS, QUESTIONS),
        "turn": lesson.plot_turn(
            np.array([0, 0.4, 0.6, 1]), np.array([3, 3, 4, 4]), np.arange(4.0), "a", "b"
        ),
    }


def test_figures_are_titled_labelled_described_and_small():
    assert unreadable(pictures()) == []


@pytest.mark.parametrize("draw", [lesson.plot_roles, plot_overtaking_in_short], ids=["roles", "cheat card"])
def test_sketches_say_in_words_what_they_show(draw):
    alt = draw().alt
    assert "key" in alt
    assert "score" in alt or "blend" in alt


def test_alt_texts_carry_the_numbers():
    drawn = pictures()
    assert "score, is 1.50" in drawn["products"].alt
    assert "at 60 degrees scores 2.50" in drawn["angle"].alt
    assert "at 100 degrees scores −0.17" in drawn["angle"].alt
    assert "big −2.00" in drawn["matrix"].alt
    assert "0 outside" in drawn["hull"].alt
    assert "from 3.00 to 4.00 at share 0.60" in drawn["turn"].alt
