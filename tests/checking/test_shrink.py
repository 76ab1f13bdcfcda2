"""From a failing case to an example that a person can check by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.checking.answers import time_limit
from sdpa_helpers.checking.answers.observe import Answer, observe
from sdpa_helpers.checking.diagnose import assess, try_out
from sdpa_helpers.checking.exercise import Case, Example, Exercise, WrongAnswer
from sdpa_helpers.checking.helping import shrink
from sdpa_helpers.checking.helping.shrink import (
    MAX_CALLS,
    MAX_NUMBERS,
    PATIENCE,
    Search,
    Small,
    example_of,
    first_example,
)
from sdpa_helpers.checking.helping.simpler import numbers_in
from sdpa_helpers.checking.judging.judge import Truth, judge, truths
from sdpa_helpers.course import session
from sdpa_helpers.course.registry import find
from tests.checking.made_up import asking


def exercise(reference: Callable, make: Callable, **more) -> Exercise:
    """One case for whatever is asked."""
    return asking(reference, Case("drawn", make), **more)


def scores(Q, K):
    return Q @ np.swapaxes(K, -1, -2)


def queries_and_keys(rng):
    return rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4))


def smallest_failure(asked: Exercise, function: Callable, truth: Truth, call=observe) -> Small | None:
    """The smallest inputs found for which a function fails as it does in this case."""
    ends = shrink.time.monotonic() + PATIENCE
    return first_example([Search(asked, function, truth, lambda inputs, answer: True, call, ends)])


def smallest(asked: Exercise, function: Callable, **more) -> Small:
    found = smallest_failure(asked, function, truths(asked, "public")[0], **more)
    assert found is not None
    return found


def fails(asked: Exercise, function: Callable, small: Small) -> bool:
    truth = replace(truths(asked, "public")[0], expected=small.expected)
    return not judge(asked, truth, observe(function, small.inputs)).passed


def test_axes_are_cut_consistently_and_numbers_become_small_integers():
    asked = exercise(scores, queries_and_keys)
    small = smallest(asked, lambda Q, K: -scores(Q, K))
    Q, K = small.inputs
    assert Q.shape[-1] == K.shape[-1] <= 2
    assert Q.ndim == 3, "the cases of this exercise have three axes"
    assert numbers_in(small.inputs) <= 8
    for array in small.inputs:
        assert np.array_equal(array, np.rint(array))
        assert np.abs(array).max() <= 3
    assert fails(asked, lambda Q, K: -scores(Q, K), small)
    assert small.expected.array is not None
    assert np.array_equal(small.expected.array, scores(Q, K))


def test_leading_axes_go_where_the_exercise_has_cases_without_them():
    asked = exercise(scores, queries_and_keys)
    flat = Case("two axes", lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=(5, 4))))
    asked = replace(asked, cases=(*asked.cases, flat))
    assert [x.ndim for x in smallest(asked, lambda Q, K: 2 * scores(Q, K)).inputs] == [2, 2]


def test_an_input_without_any_keys_is_searched_too():
    asked = exercise(scores, lambda rng: (rng.normal(size=(3, 2)), np.zeros((0, 2))))
    small = smallest(asked, lambda Q, K: scores(Q, K).max(axis=-1))
    assert small.inputs[1].shape[0] == 0


def test_lengths_that_coincide_by_chance_are_cut_apart():
    """Here the shape (4, 4) is kept by nothing but the second axis: three columns are needed for the failure."""
    asked = exercise(lambda x: x.sum(axis=-1), lambda rng: (rng.normal(size=(4, 4)),))
    small = smallest(asked, lambda x: x.sum(axis=-1) if x.shape[-1] < 3 else x.mean(axis=-1))
    assert small.inputs[0].shape in [(1, 3), (2, 3)]


def test_an_optional_argument_goes_and_one_that_is_needed_stays():
    asked = exercise(lambda x, axis=-1: x.cumsum(axis=axis), lambda rng: (rng.normal(size=(3, 4)), 0))
    assert len(smallest(asked, lambda x, axis=-1: x).inputs) == 1
    assert smallest(asked, lambda x, axis=-1: x.cumsum(axis=-1)).inputs[1] == 0


def test_whole_numbers_become_small_and_go_with_the_axis_they_count():
    asked = exercise(lambda n, d: n * d, lambda rng: (3050, 12))
    assert smallest(asked, lambda n, d: n + 2 * d).inputs != (3050, 12)
    assert max(smallest(asked, lambda n, d: 2 * n * d).inputs) <= 3
    counted = exercise(lambda x, n: x[:n] * n, lambda rng: (rng.normal(size=7), 7))
    x, n = smallest(counted, lambda x, n: x).inputs
    assert len(x) == n == 2


def test_an_index_stays_inside_its_axis():
    asked = exercise(lambda x, at: x * (np.arange(len(x)) < at), lambda rng: (rng.normal(size=7), 5))
    x, at = smallest(asked, lambda x, at: x).inputs
    assert 0 <= at < len(x) <= 3


def test_what_holds_for_the_numbers_stays_so():
    def entropy(w):
        return -(w * np.log(w)).sum(axis=-1)

    asked = exercise(entropy, lambda rng: (rng.dirichlet(np.ones(5), size=3),))
    (w,) = smallest(asked, lambda w: 2 * entropy(w)).inputs
    assert np.array_equal(w.sum(axis=-1), np.ones(len(w)))
    assert set(w.ravel()) <= {0.25, 0.5, 0.75}
    correlated = exercise(lambda n, rho: n * rho**2, lambda rng: (34, 0.757))
    assert abs(smallest(correlated, lambda n, rho: n * rho * 3).inputs[1]) <= 1
    increasing = exercise(lambda n: n, lambda rng: (np.array([64.3, 128.1, 256.7, 512.2]),))
    (n,) = smallest(increasing, lambda n: n * 3).inputs
    assert (np.diff(n) > 0).all()


def test_dtype_layout_and_read_only_stay():
    def changes(x):
        x += 1
        return x

    def make(rng):
        wide = np.zeros((4, 6), dtype=np.float32)
        wide[:, ::2] = rng.normal(size=(4, 3))
        view = wide[:, ::2]
        view.flags.writeable = False
        return (view,)

    small = smallest(exercise(lambda x: x + 1, make), changes)
    assert small.answer.kind == "error"
    assert small.inputs[0].dtype == np.float32
    assert not small.inputs[0].flags.writeable


def test_an_input_on_which_right_answers_disagree_is_none():
    """Ties would be the smallest input here; another right answer shows that they are not asked about."""
    asked = exercise(
        lambda x: x.argmax() * 1.0,
        lambda rng: (np.array([1.2, 1.4, 0.1]),),
        also_right=(lambda x: float(len(x) - 1 - x[::-1].argmax()),),
    )
    (x,) = smallest(asked, lambda x: x.argmin() * 1.0).inputs
    assert len(set(x)) == len(x)


def test_the_way_it_fails_stays():
    """The same error at the same line; an error elsewhere is another story."""

    def picky(x):
        if x.shape[0] > 2:
            raise ValueError("too many")
        return [][len(x)]

    small = smallest(exercise(lambda x: x, lambda rng: (rng.normal(size=4),)), picky)
    assert (small.answer.error, small.answer.message) == ("ValueError", "too many")


def test_the_prompts_example_comes_first_if_it_fails_in_the_same_way():
    example = Example(([[1, 0]], [[2, 3]]))
    asked = exercise(scores, queries_and_keys, examples=(example,))
    assert [x.tolist() for x in smallest(asked, lambda Q, K: scores(Q, K) + 1).inputs] == [[[1, 0]], [[2, 3]]]
    on_batches = smallest(asked, lambda Q, K: Q @ K.T)
    assert on_batches.inputs[0].ndim == 3


def test_the_search_is_bounded_silent_and_the_same_each_time(capsys):
    calls = []

    def loud(Q, K):
        calls.append((Q.shape, K.shape))
        print("called")
        return scores(Q, K) * (1 + (K.shape[-2] > 3))

    asked = exercise(scores, lambda rng: (rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4))))
    first, second = (smallest_failure(asked, loud, truths(asked, "public")[0]) for _ in range(2))
    assert len(calls) <= 2 * MAX_CALLS
    assert capsys.readouterr().out == ""
    assert first is not None
    assert second is not None
    assert all(map(np.array_equal, first.inputs, second.inputs))
    assert first.inputs[1].shape[-2] == 4


def test_the_callers_arrays_are_not_touched():
    asked = exercise(lambda x: x, lambda rng: (rng.normal(size=3),))
    kept = []

    def hoards(x):
        kept.append((x, x.copy()))
        return x * 2

    small = smallest(asked, hoards)
    assert all(np.array_equal(now, then) for now, then in kept)
    assert not any(np.shares_memory(small.inputs[0], x) for x, _ in kept)


class Clock:
    """A clock on which so many seconds go by between two looks, whatever really happens."""

    def __init__(self, seconds: float) -> None:
        self.now, self.seconds, self.looks = 0.0, seconds, 0

    def monotonic(self) -> float:
        self.looks += 1
        self.now += self.seconds
        return self.now

    perf_counter = time = process_time = thread_time = monotonic


CRAWLS, RACES = 0.0, PATIENCE / MAX_CALLS / 2
"""A machine on which nothing takes any time, and one on which every call of the longest search takes 25 ms."""


@pytest.mark.parametrize("seconds", [CRAWLS, RACES], ids=["crawls", "races"])
@pytest.mark.parametrize("name", ["fair_comparison", "paired_interval", "entropy", "multi_head_attention"])
def test_a_card_shows_the_same_on_a_machine_of_any_speed(name, seconds, monkeypatch):
    asked = find(name)
    monkeypatch.setattr(session, "this_notebook", lambda: None)
    before = [session.report_on(asked, wrong.function, None).text() for wrong in asked.wrong[:3]]
    assert any("For example" in text for text in before)
    clock = Clock(seconds)
    for module in (shrink, time_limit):
        monkeypatch.setattr(module, "time", clock)
    assert [session.report_on(asked, wrong.function, None).text() for wrong in asked.wrong[:3]] == before
    assert clock.looks


def test_who_takes_too_long_gets_no_example_rather_than_another_one(monkeypatch):
    asked = exercise(lambda x: x, lambda rng: (rng.normal(size=3),))
    calls = []
    monkeypatch.setattr(shrink, "time", Clock(PATIENCE / 2))
    found = smallest_failure(asked, lambda x: calls.append(x) or 2 * x, truths(asked, "public")[0])
    assert found is None
    assert len(calls) <= 3


def test_large_inputs_are_tried_less_often():
    sizes = []

    def counted(x):
        sizes.append(x.size)
        return x if x.size > 3900 else x + 1

    asked = exercise(lambda x: x + 1, lambda rng: (rng.normal(size=(80, 50)),))
    assert smallest_failure(asked, counted, truths(asked, "public")[0]) is None
    assert sum(sizes[:-1]) < MAX_NUMBERS <= sum(sizes)
    assert len(sizes) < MAX_CALLS


def test_an_answer_that_had_to_be_stopped_in_the_check_gets_no_example():
    asked = exercise(lambda x: x + 0.0, lambda rng: (rng.normal(size=3),))
    asked = replace(asked, cases=(*asked.cases, Case("more", lambda rng: (rng.normal(size=4),))))
    stopped = Answer("stopped", message="after 8 s")
    answers = [observe(lambda x: 2 * x, truths(asked, "public")[0].inputs), stopped]
    result = assess(asked, answers, "public")
    assert example_of(result, lambda x: 2 * x) is None


def test_a_right_answer_has_no_failure():
    asked = exercise(scores, queries_and_keys)
    assert smallest_failure(asked, scores, truths(asked, "public")[0]) is None


def test_where_a_call_had_to_be_stopped_there_is_no_example():
    def stops(function, inputs):
        answer = observe(function, inputs)
        return answer if len(inputs[0]) > 2 else Answer("stopped", message="after 1 s")

    asked = exercise(lambda x: x, lambda rng: (rng.normal(size=5),))
    assert smallest_failure(asked, lambda x: 2 * x, truths(asked, "public")[0], call=stops) is None


# ---- for a whole result ------------------------------------------------------------------------------------


def test_the_example_is_one_of_the_mistake_that_was_named():
    wrong = WrongAnswer("negative-dropped", lambda x: np.maximum(x, 0), "Negative numbers are lost.")
    asked = exercise(lambda x: x + 0.0, lambda rng: (rng.normal(size=9),), wrong=(wrong,))
    result = try_out(asked, wrong.function)
    assert result.mistake == "negative-dropped"
    small = example_of(result, wrong.function)
    assert small is not None
    assert (small.inputs[0] < 0).any()


@pytest.mark.parametrize(
    "function",
    [lambda x: x + 0.0, lambda x: None, lambda x: NotImplemented, lambda x: x[99]],
    ids=["right", "nothing", "stub", "error everywhere"],
)
def test_no_example_where_a_sentence_says_it_all(function):
    asked = exercise(lambda x: x + 0.0, lambda rng: (rng.normal(size=9),))
    assert example_of(try_out(asked, function), function) is None


def test_a_list_is_searched_for_wrong_numbers_and_not_for_being_one():
    asked = exercise(lambda x: x + 0.0, lambda rng: (rng.normal(size=9),))
    assert example_of(try_out(asked, lambda x: x.tolist()), lambda x: x.tolist()) is None

    def wrong(x):
        return np.maximum(x, 0).tolist()

    small = example_of(try_out(asked, wrong), wrong)
    assert small is not None
    assert small.answer.type_name == "list"
    assert (small.inputs[0] < 0).any()


def test_a_case_that_is_right_but_for_the_kind_leaves_the_example_to_the_next():
    """One product alone is the right number, in an array: two of them are not."""
    cases = (Case("one", lambda rng: (rng.normal(size=1),)), Case("many", lambda rng: (rng.normal(size=5),)))
    asked = replace(exercise(lambda x: x.sum(), cases[0].make), cases=cases)
    small = example_of(try_out(asked, lambda x: x), lambda x: x)
    assert small is not None
    assert small.inputs[0].shape == (2,)


def test_no_example_of_what_no_numbers_show():
    def changes(x):
        x += 1
        return x - 1

    asked = exercise(lambda x: x + 0.0, lambda rng: (rng.normal(size=9),))
    result = try_out(asked, changes)
    assert result.mistake == "changes-its-input"
    assert example_of(result, changes) is None


def test_what_follows_from_other_inputs_follows_from_them_in_the_example_too():
    def made(rng):
        x = rng.normal(size=(6, 3))
        return x, x.sum(axis=-1)

    def wrong(x, total):
        return x + total[..., None]

    def parts(x, total):
        return x - total[..., None]

    asked = exercise(parts, made, remade=lambda x, total: (x, x.sum(axis=-1)))
    small = example_of(try_out(asked, wrong), wrong)
    assert small is not None
    x, total = small.inputs
    assert numbers_in(small.inputs) < 10
    np.testing.assert_allclose(total, x.sum(axis=-1))
