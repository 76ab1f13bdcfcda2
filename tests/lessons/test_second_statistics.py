"""The second experiment's statistics, against cases that were worked out by hand."""

import numpy as np
import pytest

from sdpa_helpers.course.holm import holm
from sdpa_helpers.lessons.does_scaling_matter.second.statistics import (
    Difference,
    Seen,
    at_chosen,
    clear,
    difference,
    draws_of,
    edge,
    sooner_is_better,
)


def test_holm_by_hand():
    """Four p: .01 · 4, .02 · 3, .03 · 2, .04 · 1, none smaller than the one before."""
    found = holm({"c": 0.03, "a": 0.01, "d": 0.04, "b": 0.02})
    assert list(found) == ["c", "a", "d", "b"]
    assert found == pytest.approx({"a": 0.04, "b": 0.06, "c": 0.06, "d": 0.06})
    assert holm({"one": 0.04}) == {"one": 0.04}
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


def test_holm_rejects_what_its_step_down_rule_rejects():
    """The textbook's other form: go up the sorted p while p < level / (m − place), and stop for good."""
    rng, level = np.random.default_rng(0), 0.05
    for _ in range(200):
        ps = {str(n): float(p) for n, p in enumerate(rng.random(12) ** 4)}
        rejected = set()
        for place, name in enumerate(sorted(ps, key=lambda name: ps[name])):
            if ps[name] * (len(ps) - place) >= level:
                break
            rejected.add(name)
        assert {name for name, p in holm(ps).items() if p < level} == rejected


def test_a_rate_is_tuned_again_in_every_draw():
    """Two rates, two tuning seeds: a draw that has the first seed alone likes the first rate, and so on."""
    seen = Seen(np.array([[3.0, 0.0], [0.0, 2.0]]), np.array([[10.0, 20.0], [30.0, 50.0]]))
    tuning, both = np.array([[2, 0], [1, 1], [0, 2]]), np.ones((3, 2))
    assert at_chosen(seen, tuning, both).tolist() == [15.0, 15.0, 40.0]
    assert at_chosen(seen, tuning, np.array([[2, 0], [0, 2], [2, 0]])).tolist() == [10.0, 20.0, 30.0]


def test_of_rates_that_tie_the_first_counts():
    seen = Seen(np.array([[1.0], [2.0], [2.0]]), np.array([[5.0], [6.0], [7.0]]))
    assert at_chosen(seen, np.ones((1, 1)), np.ones((1, 1))).tolist() == [6.0]


def test_of_races_that_tie_the_one_with_more_right_counts():
    """None gets to 90%: the second and the third have most right. Five steps weigh more than all that is right."""
    steps, right = np.full((4, 6), 305.0), np.array([[20.0], [60.0], [60.0], [5.0]]) * np.ones((1, 6))
    assert sooner_is_better(steps, right).mean(-1).argmax() == 1
    steps[3, 0] = 300
    assert sooner_is_better(steps, right).mean(-1).argmax() == 3


@pytest.mark.parametrize(
    ("means", "end"),
    [([3, 2, 1], -1), ([1, 2, 3], 1), ([1, 3, 2], 0), ([3, 3, 2], -1), ([90, 90, 5], 0), ([5, 80, 90], 0)],
)
def test_the_edge_is_where_the_best_rate_is_the_first_or_the_last(means, end):
    """Where all that counts is right, no rate beyond can be better."""
    tuning = np.array(means)[:, None] + np.array([[-0.0, 0.0]])
    assert edge(tuning) == end


def test_a_difference_tells_that_an_arm_is_at_the_edge_and_then_nothing_is_clear():
    inner = Seen(np.array([[1.0, 1], [2, 2], [1, 1]]), np.full((3, 4), 20.0))
    outer = Seen(np.array([[3.0, 3], [2, 2], [1, 1]]), np.full((3, 4), 40.0))
    assert not difference(inner, 0.0, 1, 999).edge
    for one, other in ((outer, 0.0), (outer, inner), (inner, outer)):
        found = difference(one, other, 1, 999)
        assert found.edge
        assert clear(found, 0.0) is None
        assert clear(found._replace(edge=False), 0.0) is (found.value > 0)


def test_a_draw_holds_as_many_seeds_as_there_are():
    drawn = draws_of(6, 4000, np.random.default_rng(1))
    assert set(drawn.sum(axis=1)) == {6}
    assert drawn.mean(axis=0) == pytest.approx(np.ones(6), abs=0.06)
    assert drawn.var(axis=0) == pytest.approx(np.full(6, 5 / 6), abs=0.06)


def test_without_tuning_it_is_the_plain_bootstrap_of_paired_differences():
    """One rate: a mean difference over seeds, whose standard error is known."""
    rng = np.random.default_rng(2)
    one, other = rng.normal(1, 1, (1, 40)), rng.normal(0, 1, (1, 40))
    found = difference(Seen(one[:, :3], one), Seen(other[:, :3], other), 0.1)
    gap = (one - other)[0]
    assert found.value == pytest.approx(gap.mean())
    error = gap.std() / np.sqrt(40)
    assert (found.low, found.high) == pytest.approx(
        (gap.mean() - 1.96 * error, gap.mean() + 1.96 * error), abs=0.06
    )


def test_luck_in_tuning_makes_an_interval_wider():
    """Two rates that look alike on tuning seeds and differ by ten on the others: which was chosen was luck."""
    tuning = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.01]])
    evaluation = np.array([[10.0] * 5, [20.0] * 5])
    found = difference(Seen(tuning, evaluation), 0.0, 1.0)
    assert (found.value, found.low, found.high) == (20.0, 10.0, 20.0)


def test_under_no_difference_few_tests_are_small():
    """p is about uniform: of 300 comparisons of equal arms fewer than a tenth are below 0.05."""
    rng = np.random.default_rng(3)
    arms = rng.normal(0, 1, (300, 2, 1, 24))
    small = [difference(*(Seen(arm[:, :6], arm[:, 6:]) for arm in pair), 0, 999).p < 0.05 for pair in arms]
    assert 0.01 < np.mean(small) < 0.1


def test_the_smallest_p_is_a_draws_and_the_largest_is_1():
    sure, none = Seen(np.ones((1, 2)), np.full((1, 3), 9.0)), Seen(np.ones((1, 2)), np.zeros((1, 3)))
    assert difference(sure, 0.0, 1, 999).p == 2 / 1000
    assert difference(none, 0.0, 1, 999).p == 1


@pytest.mark.parametrize(
    ("value", "p", "said"),
    [(3, 0.01, True), (-3, 0.01, False), (1, 0.01, None), (3, 0.06, None), (3, 0.05, None)],
)
def test_clearly_is_sure_and_large_enough(value, p, said):
    assert clear(Difference(value, 0, 0, 0.001, notable=2), p) is said
