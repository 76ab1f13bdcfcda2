"""Points come from minutes and difficulty; cases share them."""

import numpy as np
import pytest

from sdpa_helpers.checking.worth import shares, worth
from sdpa_helpers.course.registry import all_exercises, all_written

EVERY = [*all_exercises().values(), *all_written().values()]


def test_a_point_a_minute_and_a_quarter_more_for_each_step_of_difficulty():
    assert [worth(2, minutes) for minutes in (1, 5, 7, 8, 10, 12, 15, 60)] == [5, 5, 5, 10, 10, 10, 15, 60]
    assert [worth(difficulty, 20) for difficulty in (1, 2, 3, 4, 5)] == [20, 20, 25, 30, 35]


def test_shares_are_quarters_that_add_up():
    assert shares(5, [1, 1, 1]) == (1.75, 1.75, 1.5)
    assert shares(10, [1, 0, 1]) == (5, 0, 5)
    assert shares(10, [2, 1, 1]) == (5, 2.5, 2.5)
    assert shares(5, [1] * 19) == (0.5, *[0.25] * 18)
    assert shares(5, [30] + [1] * 10) == (2.5, *[0.25] * 10)
    assert shares(5, []) == ()
    assert shares(5, [0, 0]) == (0, 0)


def test_where_quarters_are_too_few_they_are_halved():
    assert shares(5, [1] * 40) == (0.125,) * 40


def test_any_weights_share_all_of_it():
    rng = np.random.default_rng(1)
    for _ in range(300):
        points, weights = (
            5 * int(rng.integers(1, 9)),
            [int(n) for n in rng.integers(0, 4, rng.integers(1, 21))],
        )
        shared = shares(points, [*weights, 1])
        assert sum(shared) == points
        assert all(
            (share >= 0.25) == (weight > 0) for share, weight in zip(shared, [*weights, 1], strict=True)
        )
        assert all(4 * share == int(4 * share) for share in shared)


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_every_exercise_is_worth_its_minutes_and_every_case_something(exercise):
    assert exercise.max_points == worth(exercise.difficulty, exercise.minutes)
    assert 0.8 <= exercise.max_points / exercise.minutes <= 1.7
    parts = exercise.criteria if hasattr(exercise, "criteria") else exercise.cases
    assert all(part.points >= 0.25 for part in parts if part.weight)
